"""Effective sample size: how many labels alone would do as well.

As the paper defines it (appendix B.3): for n = 10, 15, ..., 1000 labels, 50 samples each, take the
mean absolute error of labels alone; the effective sample size of a method is the n whose error is
nearest to the method's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.bench.splits import split_rows
from ssme.data.scoreset import ScoreSet
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

__all__ = ["SIZES", "effective_sample_size", "labels_only_curve"]

SIZES = tuple(range(10, 1001, 5))


def labels_only_curve(
    data: ScoreSet,
    metrics: tuple[str, ...],
    *,
    dataset: str,
    samples: int = 50,
    sizes: tuple[int, ...] = SIZES,
    seed: int = 0,
) -> dict[str, NDArray[np.float64]]:
    """Compute the mean absolute error of labels alone for several numbers of labels.

    Parameters
    ----------
    data : ScoreSet
        A data set in which every row has a label.
    metrics : tuple of str
        The metrics.
    dataset : str
        Name of the data set, which is part of the seed.
    samples : int
        Number of random samples of labels.
    sizes : tuple of int
        The numbers of labels.
    seed : int
        Seed of the samples.

    Returns
    -------
    dict
        From the name of a metric to the error at each size.

    Examples
    --------
    >>> import numpy as np
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": np.linspace(0, 1, 200)}, np.arange(200) > 90)
    >>> curve = labels_only_curve(data, ("accuracy",), dataset="example", samples=2, sizes=(20, 50))
    >>> curve["accuracy"].shape
    (2,)
    """
    chosen = [get_metric(name) for name in metrics]
    errors = [np.zeros((samples, len(sizes))) for _ in chosen]
    for sample in range(samples):
        largest = min(max(sizes), data.n_rows // 2)
        split = split_rows(data.labels, largest, 0, sample, seed=seed, dataset=dataset)
        mass = one_hot_mass(data.labels[split.truth], data.n_classes)
        truth = [metric(data.scores[split.truth], mass)[0] for metric in chosen]
        for s, size in enumerate(sizes):
            rows = split.labeled[:size]
            mass = one_hot_mass(data.labels[rows], data.n_classes)
            for metric, error, exact in zip(chosen, errors, truth, strict=True):
                value = metric(data.scores[rows], mass)[0]
                error[sample, s] = np.nanmean(np.abs(value - exact))
    named = zip(chosen, errors, strict=True)
    return {metric.name: np.nanmean(error, axis=0) for metric, error in named}


def effective_sample_size(
    mae: float, curve: NDArray[np.float64], sizes: tuple[int, ...] = SIZES
) -> int:
    """Find the number of labels with which labels alone have a given error.

    Parameters
    ----------
    mae : float
        The mean absolute error.
    curve : array
        Mean absolute error of labels alone at each size, as `labels_only_curve` gives it.
    sizes : tuple of int
        The numbers of labels.

    Returns
    -------
    int
        The size whose error is nearest to ``mae``.

    Examples
    --------
    >>> import numpy as np
    >>> effective_sample_size(0.05, np.array([0.1, 0.05, 0.02]), (20, 50, 100))
    50
    """
    return int(sizes[int(np.nanargmin(np.abs(curve - mae)))])


def add_effective_sample_size(summary: Any, curves: dict[str, dict[str, Any]]) -> Any:
    """``summary`` with a column ``ess``; ``curves`` are `labels_only_curve` by data set."""
    out = summary.copy()
    out["ess"] = [
        effective_sample_size(row.mae, curves[row.dataset][row.metric])
        for row in summary.itertuples()
    ]
    return out
