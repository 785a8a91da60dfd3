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
from ssme.methods.label_draws import ResamplingSettings
from ssme.methods.registry import find_method_class, method_names
from ssme.metrics import default_metrics, get_metric, metric_names
from ssme.mixture.model import MixtureOptions
from ssme.options import list_declared

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


WIDELY = ("auto", "answers", "labeled", "ppi", "dawid_skene", "weighted_ensemble", "agreement")
"""Methods whose numbers are kept on the further sets too."""
FURTHER = ("weights and holes", "judges", "grades", "no labels", "labels by class", "labels drawn")
"""Sets beside those of two and three classes, which other parts of the source compute."""


def made_set(kind: str) -> ssme.ScoreSet:
    """One of the sets, ``"2"`` and ``"3"`` being those of so many classes."""
    if kind in ("judges", "grades"):
        return judged_set(grades=kind == "grades")
    n_classes = int(kind) if kind.isdigit() else 2
    data = plain_set(n_classes)
    rng = np.random.default_rng(len(kind))
    if kind == "weights and holes":
        scores = np.where(rng.random(data.scores.shape[:2])[:, :, None] < 0.15, np.nan, data.scores)
        weights = rng.integers(1, 4, data.n_rows).astype(float)
        return data.replace(scores=scores, weights=weights)
    if kind == "no labels":
        return data.with_labels(None)
    if kind == "labels by class":
        return data.with_design("by_class")
    if kind == "labels drawn":
        return data.with_design(np.where(data.scores[:, 0, 1] > 0.5, 2.0, 6.0))
    return data


def plain_set(n_classes: int) -> ssme.ScoreSet:
    """Three models of falling skill, labels for a quarter of the rows and a group."""
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


def judged_set(*, grades: bool) -> ssme.ScoreSet:
    """Four judges who leave rows out and share what is hard: three answers, or grades of 1 to 5."""
    rng = np.random.default_rng(7)
    n, m = 90, 4
    y = rng.integers(0, 2 if grades else 3, n)
    hard = rng.normal(size=(n, 1))
    labels = [int(each) if row < 24 else None for row, each in enumerate(y)]
    names = [f"judge {j}" for j in range(m)]
    silent = rng.random((n, m)) < 0.1
    if grades:
        felt = 3.0 + 1.2 * (2 * y[:, None] - 1) + 0.5 * hard + 0.8 * rng.normal(size=(n, m))
        given = np.clip(np.round(felt), 1, 5).astype(object)
    else:
        right = rng.normal(size=(n, m)) < np.linspace(1.5, 0.5, m) - 0.7 * hard
        wrong = (y[:, None] + rng.integers(1, 3, (n, m))) % 3
        given = np.where(right, y[:, None], wrong).astype(object)
    given[silent] = None
    said = {name: list(given[:, j]) for j, name in enumerate(names)}
    if grades:
        return ssme.ScoreSet.from_answers(None, labels, ratings=said)
    return ssme.ScoreSet.from_answers(said, labels, classes=[0, 1, 2])


def evaluated(name: str, kind: str) -> ssme.Evaluation | None:
    """A method on one of the sets; None where it refuses."""
    data = made_set(kind)
    method, options = VARIANTS.get(name, (name, QUICK.get(name, {})))
    spec = find_method_class(method).spec
    every = method in EVERY_METRIC and kind in ("2", "3")
    known = metric_names(n_classes=data.n_classes) if every else default_metrics(data.n_classes)
    asked = spec.metrics or (["accuracy", "f1_macro"] if data.judges else known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        try:
            return ssme.evaluate(data, method=method, metrics=list(asked), options=options)
        except InputError:
            return None


def numbers_of(name: str, kind: str) -> dict[str, list[float | None]]:
    """{model, metric, group: [estimate, low, high, labels only]}; empty where it refuses."""
    result = evaluated(name, kind)
    return {
        f"{row['model']}, {row['metric']}, {row['group']}": [
            None if row[name] is None or row[name] != row[name] else float(f"{row[name]:.8g}")
            for name in ("estimate", "low", "high", "labels_only")
        ]
        for row in (result.rows() if result is not None else [])
    }


def sets_of(name: str) -> tuple[str, ...]:
    """The sets on which the numbers of a method are kept."""
    return ("2", "3", *(FURTHER if name in WIDELY else ()))


def defaults() -> dict[str, Any]:
    """Every default of every method's options, constants inside them included, and of settings
    that are no options."""
    methods = {name: written(find_method_class(name)()) for name in method_names()}
    return methods | {
        made.__name__: written(made()) for made in (MixtureOptions, ResamplingSettings)
    }


def ranges() -> dict[str, dict[str, str]]:
    """What every option of every method allows, in words."""
    return {
        name: {each.name: each.kind.describe() for each in list_declared(find_method_class(name))}
        for name in method_names()
    }


def metrics_declared() -> dict[str, Any]:
    """Range, direction, kind and definition of every metric."""
    known = {name: get_metric(name) for name in metric_names()}
    return {
        name: {
            each.name: _shown(getattr(metric, each.name))
            for each in fields(metric)
            if each.name not in ("plan", "data")
        }
        for name, metric in known.items()
    }


def _shown(value: Any) -> Any:
    """A value as JSON holds it; a kind with its fields, a function by its name."""
    names = _list_fields(value)
    if names is not None:
        return {type(value).__name__: {name: _shown(getattr(value, name)) for name in names}}
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return getattr(value, "__name__", value)


def _list_fields(value: Any) -> list[str] | None:
    """Names of the fields of a dataclass, a named tuple or a kind without fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return [each.name for each in fields(value)]
    return list(value._fields) if isinstance(value, tuple) and hasattr(value, "_fields") else None


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
        "ranges": ranges(),
        "metrics": metrics_declared(),
        "numbers": {
            name: {kind: numbers_of(name, kind) for kind in sets_of(name)}
            for name in (*method_names(), *VARIANTS)
        },
    }


if __name__ == "__main__":
    FIXTURE.write_text(json.dumps(make(), indent=0, sort_keys=True) + "\n")
