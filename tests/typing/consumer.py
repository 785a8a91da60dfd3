"""What a user of the library writes: it must pass mypy --strict and pyright as it stands.

``make types`` checks it with mypy, ``make package-matrix`` with both against the installed wheel.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import ssme


def accuracy_of(path: Path) -> dict[str, float]:
    data: ssme.ScoreSet = ssme.ScoreSet.read(path, "label", id="id", decimal=None)
    result: ssme.Evaluation = ssme.evaluate(data, metrics=["accuracy"], level=0.9, random_state=1)
    return {str(row["model"]): float(row["estimate"]) for row in result.rows()}


def pick(scores: np.ndarray[tuple[int, int], np.dtype[np.float64]], labels: list[int]) -> str:
    result = ssme.evaluate(scores, labels, method="ensemble", metrics="accuracy", unlabeled=-1)
    sentence: str = result.choose("accuracy").sentence()
    return sentence


def refuse() -> str | None:
    try:
        ssme.evaluate("nothing.csv")
    except ssme.InputError as error:
        return error.hint
    return None


def names(data: ssme.ScoreSet) -> tuple[str, ...]:
    models: tuple[str, ...] = data.models
    n: int = data.n_rows
    return models[:n]
