"""Values that somebody might put into a config file or after an option, sound and not."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

TEXTS = (
    *("", " ", "y", "label", "a", "b", "a,b", "auto", "ensemble", "labeled", "accuracy", "f1@0.3"),
    *("0", "1", "-1", "0.5", "1e400", "nan", "inf", "true", "false", "null", "None", "2.0", "1_0"),
    *("{model}:{class}", "wide", "long", ";", "\t", "=1+1", "--help", "-", "é", "\u202e", "\ufdd0"),
    *(
        "\x1b[31m",
        "\x00",
        "x" * 3000,
        "a\nb",
        "../..",
        "/nowhere/x.csv",
        "s3://b/k",
        "accuracy>=0.9",
    ),
    *("n_draws=5", "n_draws=x", "=", "a=b=c", "memory", "stream", "cloud", "tcp://127.0.0.1:1"),
)
NUMBERS = (0, 1, -1, 2, 20, 2**31, 2**63, 10**30, 0.0, 0.5, 0.95, 1.0, 1.5, -0.0, 1e-300, 1e300)


def make_text(rng: np.random.Generator) -> str:
    """Text, as an option of the command line gets it."""
    if rng.random() < 0.7:
        return str(TEXTS[rng.integers(len(TEXTS))])
    if rng.random() < 0.5:
        return str(NUMBERS[rng.integers(len(NUMBERS))])
    return json.dumps(make_plain_value(rng))


def make_plain_value(rng: np.random.Generator, depth: int = 0) -> Any:
    """A value as a config file holds it."""
    choice = rng.random()
    if choice < 0.35:
        return str(TEXTS[rng.integers(len(TEXTS))])
    if choice < 0.6:
        return NUMBERS[rng.integers(len(NUMBERS))]
    if choice < 0.7:
        return bool(rng.integers(2))
    if choice < 0.75:
        return None
    if depth > 2:
        return float(rng.choice([float("inf"), float("nan")]))
    items = [make_plain_value(rng, depth + 1) for _ in range(rng.integers(0, 4))]
    if choice < 0.88:
        return items
    return {str(TEXTS[rng.integers(len(TEXTS))]): item for item in items}
