"""Small generated sets: two classes, ten classes, groups; names that try to break out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(2)> '",
    "</script></style><b>",
    "{{ 7 * 7 }} ${x} `|*_",
    "مصنف من اليمين \u202e reversed",
    "long " * 1000,
)

UNPRINTABLE = (
    "bell \x07 and null \x00",
    "\x1b[31mred\x1b[0m",
    "\x9b31m one-byte escape",
    "not a character \ufffe\uffff",
    "line\u2028paragraph\u2029",
    "half \ud800 a pair \udcff",
    "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}" * 60,
    "a\r\nb\tc",
    "z" + "\u0301\u0323" * 300,
    "\\",
    " ",
)
"""Names that a terminal would obey, or that a drawing library or an encoding cannot take."""


def binary_set(
    models: tuple[str, ...] = ("forest", "logistic", "tree"),
    n: int = 300,
    n_labeled: int = 40,
    seed: int = 0,
) -> ScoreSet:
    """Models of falling skill on two balanced classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    skill = np.linspace(3.0, 0.5, len(models))
    logit = skill * (y[:, None] - 0.5) + rng.normal(size=(n, len(models)))
    scores = 1.0 / (1.0 + np.exp(-logit))
    return ScoreSet.from_arrays(scores, _some(y, n_labeled), models=models)


def many_class_set(n_classes: int = 10, n_models: int = 4, n: int = 400, seed: int = 0) -> ScoreSet:
    """Softmax scores over many classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    hit = (y[:, None] == np.arange(n_classes)).astype(float)
    logit = hit[:, None, :] * np.linspace(4.0, 2.0, n_models)[None, :, None]
    logit = logit + rng.normal(size=logit.shape)
    scores = np.exp(logit) / np.exp(logit).sum(axis=2, keepdims=True)
    return ScoreSet.from_arrays(scores, _some(y, 80), models=[f"net_{j}" for j in range(n_models)])


def grouped_set(seed: int = 0) -> ScoreSet:
    """Two group columns, one with a hostile value."""
    data = binary_set(n=400, n_labeled=60, seed=seed)
    rng = np.random.default_rng(seed)
    site = np.array(["north", "south", "<b>east</b>"], dtype=object)[rng.integers(0, 3, 400)]
    age = np.array(["young", "old"], dtype=object)[rng.integers(0, 2, 400)]
    return data.replace(groups={"site": site, "age": age})


def hostile_set() -> ScoreSet:
    """Model names that try to be markup, code or a nuisance."""
    return binary_set(HOSTILE, n=200)


def _some(y: NDArray[np.int64], n_labeled: int) -> NDArray[np.float64]:
    return np.where(np.arange(len(y)) < n_labeled, y, np.nan)
