"""Data sets by name; datasets.csv says where each is from, its licence and how to get it.

Fully labeled score sets for the benchmark. Files are looked for in ``SSME_DATA`` (by default
``../shared/data``), one ``NAME.npz`` each with ``scores`` (n, M, K), ``y``, ``model_names`` and
``group_*`` columns. Synthetic sets are made on the spot. The sets whose predictions are not public
(MIMIC-IV, OGB, the paper's AG News) take the user's own prediction file: nothing else carries
their name.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, make_unknown_name_error


@dataclass(frozen=True)
class Dataset:
    """One named data set; ``kind`` says how it is got: from a "file", "made", or your "own"."""

    name: str
    title: str
    source: str
    licence: str
    obtain: str
    kind: str
    in_paper: str


with Path(__file__).with_name("datasets.csv").open(encoding="utf-8", newline="") as _file:
    DATASETS = {row["name"]: Dataset(**row) for row in csv.DictReader(_file)}


def dataset_names(kind: str | None = None) -> tuple[str, ...]:
    """Names of the data sets, or of those of one kind ("file", "made" or "own")."""
    return tuple(name for name, entry in DATASETS.items() if kind in (None, entry.kind))


def data_folder() -> Path:
    """The folder that the variable ``SSME_DATA`` names; without it ``../shared/data``."""
    return Path(os.environ.get("SSME_DATA", Path("..") / "shared" / "data"))


def load_dataset(name: str, path: str | Path | None = None) -> ScoreSet:
    """A fully labeled data set by its name, read from ``path`` where it is not public.

    Where its file is not there, the error says how to get it.
    """
    if name not in DATASETS:
        raise make_unknown_name_error(
            "data set",
            name,
            DATASETS,
            "`python -m benchmarks.datasets` describes each",
        )
    entry = DATASETS[name]
    if path is not None:
        return ScoreSet.read(path)
    if entry.kind == "made":
        return _MADE[name]()
    if entry.kind == "own":
        raise InputError(
            f"the predictions of {name!r} are not public",
            hint=f"make your own (source: {entry.source}) and call "
            f"load_dataset({name!r}, path='predictions.parquet')",
        )
    file = data_folder() / f"{name}.npz"
    if not file.exists():
        raise InputError(
            f"{file} does not exist",
            hint=f"set SSME_DATA to its folder (now {data_folder()}); get it: {entry.obtain}; "
            f"source: {entry.source}",
        )
    return ScoreSet.read(file)


def _make_gaussian() -> ScoreSet:
    from benchmarks.datasets.synthetic import gaussian_set

    return gaussian_set(20_000, np.full(5, 1.0), rng=np.random.default_rng(0))


def _make_semisynthetic() -> ScoreSet:
    from benchmarks.datasets.adult import semisynthetic_set

    return semisynthetic_set(0)


_MADE: dict[str, Callable[[], ScoreSet]] = {
    "adult_semisynthetic": _make_semisynthetic,
    "gaussian": _make_gaussian,
}
