"""Numbers of every method and every default, as they are: kept, so that no change goes unseen.

    python -m tests.reference.make_kept_numbers

Run it where a change of numbers is meant; the difference in ``fixtures/kept_numbers.json`` then
shows in the commit which numbers changed and by how much.
"""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

import ssme
from ssme.errors import InputError, SsmeWarning
from ssme.methods.registry import method_class, method_names
from ssme.metrics import default_metrics, metric_names

FIXTURE = Path(__file__).parent / "fixtures" / "kept_numbers.json"
QUICK: dict[str, dict[str, Any]] = {"ssme": {"n_bootstrap": 2}}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "ssme, normal mixtures": ("ssme", {"n_bootstrap": 2, "density": "gmm"}),
    "ssme, kernels of the public code": ("ssme", {"n_bootstrap": 2, "preset": "public_code"}),
    "ssme, kernels": ("ssme", {"n_bootstrap": 2, "density": "kde"}),
}
"""The same with other options, which other parts of the source compute."""
EVERY_METRIC = ("labeled", "ensemble")
"""Methods that are asked for all metrics; the others for the default ones."""


def made_set(n_classes: int) -> ssme.ScoreSet:
    """Three models of falling skill, labels for a quarter, weights, a group and holes."""
    rng = np.random.default_rng(n_classes)
    n, m = 80, 3
    y = rng.integers(0, n_classes, n)
    skill = np.linspace(2.5, 0.8, m)[None, :, None]
    logits = skill * (y[:, None, None] == np.arange(n_classes)) + rng.normal(size=(n, m, n_classes))
    scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    labels = np.where(np.arange(n) < 20, y, -1)
    return ssme.ScoreSet.from_arrays(
        scores, labels, unlabeled=-1, groups={"half": np.arange(n) % 2}, classes=range(n_classes)
    )


def numbers_of(name: str, n_classes: int) -> dict[str, list[float | None]]:
    """{model, metric, group: [estimate, low, high, labels only]}; empty where it refuses."""
    data = made_set(n_classes)
    method, options = VARIANTS.get(name, (name, QUICK.get(name, {})))
    spec = method_class(method).spec
    asked = spec.metrics or (
        metric_names(n_classes=n_classes) if method in EVERY_METRIC else default_metrics(n_classes)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        try:
            result = ssme.evaluate(data, method=method, metrics=list(asked), options=options)
        except InputError:
            return {}
    return {
        f"{row['model']}, {row['metric']}, {row['group']}": [
            None if row[name] is None or row[name] != row[name] else float(f"{row[name]:.8g}")
            for name in ("estimate", "low", "high", "labels_only")
        ]
        for row in result.rows()
    }


def defaults() -> dict[str, Any]:
    """Every default of every method's options, constants inside them included."""
    return {name: written(method_class(name)()) for name in method_names()}


def written(value: Any) -> Any:
    """A value as JSON holds it: options and constants by their names."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: written(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {re.sub(" at 0x[0-9a-f]+", "", str(name)): written(of) for name, of in value.items()}
    if isinstance(value, list | tuple):
        return [written(each) for each in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if isinstance(value, int | float | str | None) else type(value).__name__


def make() -> dict[str, Any]:
    return {
        "defaults": defaults(),
        "numbers": {
            name: {str(k): numbers_of(name, k) for k in (2, 3)}
            for name in (*method_names(), *VARIANTS)
        },
    }


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(make(), indent=0, sort_keys=True) + "\n")
