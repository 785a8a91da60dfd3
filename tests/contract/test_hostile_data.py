"""Tiny, constant, denormal and one-class data: every method answers or refuses; numpy is silent.

Warnings other than our own are errors here: a RuntimeWarning of numpy says nothing to a user.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import ssme
from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, SsmeWarning
from ssme.methods.registry import find_method_class, method_names
from ssme.metrics import default_metrics

QUICK = {"ssme": {"n_bootstrap": 1}}


def made_set(scores: FloatArray, labels: np.ndarray, weights: FloatArray | None = None) -> ScoreSet:
    models = tuple(f"m{j}" for j in range(scores.shape[1]))
    classes = tuple(range(scores.shape[2]))
    return ScoreSet(scores=scores, labels=labels, models=models, classes=classes, weights=weights)


def usual(n: int = 30, n_models: int = 3, n_classes: int = 2) -> FloatArray:
    rng = np.random.default_rng(0)
    return rng.dirichlet(np.ones(n_classes), (n, n_models))


def binary(p: FloatArray) -> FloatArray:
    return np.stack([1.0 - p, p], axis=2)


def labels(n: int, known: int, n_classes: int = 2) -> np.ndarray:
    return np.where(np.arange(n) < known, np.arange(n) % n_classes, -1)


HOSTILE: dict[str, Callable[[], ScoreSet]] = {
    "one row": lambda: made_set(usual(1), np.array([1])),
    "two rows, one labeled": lambda: made_set(usual(2), np.array([0, -1])),
    "three rows, two labeled": lambda: made_set(usual(3), np.array([0, 1, -1])),
    "one classifier": lambda: made_set(usual(n_models=1), labels(30, 8)),
    "labels of one class": lambda: made_set(usual(), np.where(np.arange(30) < 8, 1, -1)),
    "one label": lambda: made_set(usual(), np.where(np.arange(30) < 1, 1, -1)),
    "all labeled": lambda: made_set(usual(), labels(30, 30)),
    "constant one half": lambda: made_set(np.full((30, 3, 2), 0.5), labels(30, 8)),
    "constant and sure": lambda: made_set(binary(np.ones((30, 3))), labels(30, 8)),
    "constant but one classifier": lambda: made_set(
        np.concatenate([np.full((30, 2, 2), 0.5), usual(n_models=1)], axis=1), labels(30, 8)
    ),
    "answers of 0 or 1": lambda: made_set(binary(usual()[:, :, 1].round()), labels(30, 8)),
    "denormal scores": lambda: made_set(
        binary(np.where(np.arange(90).reshape(30, 3) % 2 == 0, 5e-324, 1e-310)), labels(30, 8)
    ),
    "nearly equal scores": lambda: made_set(
        binary(0.5 + 1e-16 * np.arange(90).reshape(30, 3)), labels(30, 8)
    ),
    "two distinct scores": lambda: made_set(
        binary(np.where(np.arange(90).reshape(30, 3) % 3 == 0, 0.2, 0.9)), labels(30, 8)
    ),
    "copies": lambda: made_set(np.repeat(usual(n_models=1), 3, axis=1), labels(30, 8)),
    "missing scores": lambda: made_set(
        np.where(np.arange(30)[:, None, None] % 3 == np.arange(3)[:, None], np.nan, usual()),
        labels(30, 8),
    ),
    "many classes, few rows": lambda: made_set(usual(12, 3, 6), labels(12, 6, 6)),
    "weight on one row": lambda: made_set(
        usual(), labels(30, 8), np.where(np.arange(30) == 3, 1.0, 1e-300)
    ),
    "tiny weights": lambda: made_set(usual(), labels(30, 8), np.full(30, 1e-300)),
    "huge weights": lambda: made_set(usual(), labels(30, 8), np.full(30, 1e150)),
    "no weight on labels": lambda: made_set(
        usual(), labels(30, 8), np.where(np.arange(30) < 8, 0.0, 1.0)
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("name", method_names())
def test_numbers_in_range_or_undefined_or_a_refusal_and_no_foreign_warning(
    name: str, case: str
) -> None:
    data = HOSTILE[case]()
    asked = find_method_class(name).spec.metrics or (*default_metrics(data.n_classes), "log_loss")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SsmeWarning)
        try:
            result = ssme.evaluate(data, method=name, metrics=list(asked), options=QUICK.get(name))
        except InputError:
            return
        rows = list(result.rows())
    for row in rows:
        if np.isfinite(row["estimate"]) and np.isfinite(row["low"]):
            assert row["low"] <= row["estimate"] <= row["high"], row
    assert len(rows) == len(asked) * data.n_models
