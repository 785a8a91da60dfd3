"""The split of a run: rows that a method sees, with and without their label, and the others.

Per run r the rows are split at random into two halves. From the first, n_l rows keep their label
(at least one of each class) and n_u lose it. The second half gives the truth. The split of run r
depends on the seed, the data set and r alone, so every method and metric meets the same rows, and
the labels of n_l = 20 are among those of n_l = 50.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError, argument

__all__ = ["Split", "split_rows"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """Row numbers of one run.

    Attributes
    ----------
    labeled, unlabeled : array of int
        Rows that a method sees with and without their label.
    truth : array of int
        The held-out half, on which the truth is computed.
    """

    labeled: IntArray
    unlabeled: IntArray
    truth: IntArray


def split_rows(
    labels: IntArray, n_labeled: int, n_unlabeled: int, run: int, *, seed: int, dataset: str
) -> Split:
    """Split the rows of a data set at random into halves, with one label of each class first.

    The labeled rows, followed by the unlabeled ones, are the same rows in the same order however
    many of them are labeled, also with no labels.

    Parameters
    ----------
    labels : array of int
        Labels of all rows.
    n_labeled, n_unlabeled : int
        Numbers of labeled and unlabeled rows.
    run : int
        Number of the run; each run has another split.
    seed : int
        Seed of the splits.
    dataset : str
        Name of the data set, which is part of the seed.

    Returns
    -------
    Split

    Raises
    ------
    InputError
        If the half is too small or lacks a class.

    Examples
    --------
    >>> import numpy as np
    >>> split = split_rows(np.arange(40) % 2, 5, 10, 0, seed=0, dataset="example")
    >>> len(split.labeled), len(split.unlabeled), len(split.truth)
    (5, 10, 20)
    """
    rng = np.random.default_rng([seed, zlib.crc32(dataset.encode()), run])
    order = rng.permutation(len(labels))
    half, truth = order[: len(labels) // 2], order[len(labels) // 2 :]
    classes, first = np.unique(labels[half], return_index=True)
    missing = set(np.unique(labels).tolist()) - set(classes.tolist())
    if missing or 0 < n_labeled < len(classes):
        raise InputError(
            f"data set {dataset!r} cannot give every class a label: {len(classes)} classes in the "
            f"half, {argument('n_labeled', n_labeled)}"
            + (f", classes {sorted(missing)} absent" if missing else ""),
            fix="ask for more labels, or merge rare classes",
        )
    if n_labeled + n_unlabeled > len(half):
        raise InputError(
            f"data set {dataset!r} has {len(half)} rows in its half, the protocol asks for "
            f"{argument('n_labeled', n_labeled)} and {argument('n_unlabeled', n_unlabeled)}",
            fix=f"use at most {len(half) - n_labeled} unlabeled rows"
            if n_labeled < len(half)
            else f"ask for at most {len(half) - (n_unlabeled > 0)} labels",
        )
    one_each = half[np.sort(first)]
    rest = np.delete(half, np.sort(first))
    ordered = np.concatenate([one_each, rest])
    return Split(ordered[:n_labeled], ordered[n_labeled : n_labeled + n_unlabeled], truth)
