"""The same numbers in any kind of array or column give the same bits, from input to estimate."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import ssme

N, MODELS = 40, ("a", "b", "c")
RNG = np.random.default_rng(3)
TRUTH = RNG.integers(0, 2, N)
SCORES = 1.0 / (1.0 + np.exp(-2.0 * (TRUTH[:, None] - 0.5) - RNG.normal(size=(N, 3))))
SCORES = SCORES.astype(np.float16).astype(np.float64)  # exact in every width
LABELS = np.where(np.arange(N) < 14, TRUTH, -1)
HOLES = np.where(np.arange(N * 3).reshape(N, 3) % 11 == 5, np.nan, SCORES)


def numbers(scores: Any, labels: Any = None, **options: Any) -> list[list[Any]]:
    if labels is None and not isinstance(scores, pd.DataFrame | pl.DataFrame):
        labels = np.where(LABELS < 0, np.nan, LABELS)
        options = {"models": MODELS, **options}
    result = ssme.evaluate(
        scores, labels, method="ensemble", metrics=["accuracy", "roc_auc"], **options
    )
    kept = ("model", "metric", "estimate", "low", "high", "labels_only")
    return [[row[name] for name in kept] for row in result.rows()]


def read_only(values: np.ndarray) -> np.ndarray:
    made = values.copy()
    made.flags.writeable = False
    return made


def strided(values: np.ndarray) -> np.ndarray:
    wide = np.zeros((2 * len(values), 7))
    wide[::2, 6:0:-2] = values
    return wide[::2, 6:0:-2]


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "float16": lambda values: values.astype(np.float16),
    "float32": lambda values: values.astype(np.float32),
    "long double": lambda values: values.astype(np.longdouble),
    "big-endian": lambda values: values.astype(">f8"),
    "big-endian float32": lambda values: values.astype(">f4"),
    "Fortran order": np.asfortranarray,
    "read-only": read_only,
    "strided backwards": strided,
    "objects": lambda values: values.astype(object),
    "lists": lambda values: values.tolist(),
    "a masked array without a mask": np.ma.masked_array,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [SCORES, HOLES], ids=["whole", "with holes"])
def test_arrays(kind: str, values: np.ndarray) -> None:
    assert numbers(KINDS[kind](values)) == numbers(values)


def test_masked_cells_are_missing() -> None:
    masked = np.ma.masked_array(np.where(np.isnan(HOLES), 0.9, HOLES), mask=np.isnan(HOLES))
    assert numbers(masked) == numbers(HOLES)


def test_masked_labels_are_missing() -> None:
    masked = np.ma.masked_array(TRUTH, mask=LABELS < 0)
    assert numbers(SCORES, masked, models=MODELS) == numbers(SCORES)


def test_memory_mapped_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "scores.npy", SCORES)
    assert numbers(np.load(tmp_path / "scores.npy", mmap_mode="r")) == numbers(SCORES)


LABEL_KINDS: dict[str, Callable[[], Any]] = {
    "int8": lambda: (LABELS.astype(np.int8), -1),
    "big-endian integers": lambda: (LABELS.astype(">i4"), -1),
    "floats with NaN": lambda: (np.where(LABELS < 0, np.nan, LABELS), None),
    "objects with None": lambda: (np.where(LABELS < 0, None, LABELS.astype(object)), None),
    "pandas Int64": lambda: (pd.Series(LABELS).where(LABELS >= 0).astype("Int64"), None),
    "pandas boolean": lambda: (pd.Series(LABELS).where(LABELS >= 0).astype("boolean"), None),
    "pandas category": lambda: (pd.Series(LABELS).where(LABELS >= 0).astype("category"), None),
    "Arrow int64": lambda: (pd.Series(LABELS).where(LABELS >= 0).astype("int64[pyarrow]"), None),
    "polars with nulls": lambda: (
        pl.Series([int(y) if y >= 0 else None for y in LABELS], dtype=pl.Int16),
        None,
    ),
}


@pytest.mark.parametrize("kind", LABEL_KINDS)
def test_labels(kind: str) -> None:
    labels, unlabeled = LABEL_KINDS[kind]()
    options = {} if unlabeled is None else {"unlabeled": unlabeled}
    assert numbers(SCORES, labels, models=MODELS, **options) == numbers(SCORES)


def pandas_frame(kind: str, label: str) -> pd.DataFrame:
    frame = pd.DataFrame(HOLES, columns=list(MODELS)).astype(kind)
    return frame.assign(label=pd.Series(LABELS).where(LABELS >= 0).astype(label))


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pandas_frame("float64", "float64"),
    "pandas nullable": lambda: pandas_frame("Float64", "Int64"),
    "pandas nullable float32": lambda: pandas_frame("Float32", "Int8"),
    "pandas on Arrow": lambda: pandas_frame("double[pyarrow]", "int64[pyarrow]"),
    "pandas on Arrow float32": lambda: pandas_frame("float[pyarrow]", "int8[pyarrow]"),
    "polars with nulls": lambda: pl.DataFrame(
        {
            **{name: [None if v != v else v for v in HOLES[:, j]] for j, name in enumerate(MODELS)},
            "label": [int(y) if y >= 0 else None for y in LABELS],
        }
    ),
    "polars with NaN": lambda: pl.DataFrame(
        {
            **{name: HOLES[:, j] for j, name in enumerate(MODELS)},
            "label": [int(y) if y >= 0 else None for y in LABELS],
        }
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind: str) -> None:
    assert numbers(FRAMES[kind]()) == numbers(HOLES)
