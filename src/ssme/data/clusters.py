"""Columns that look as if their values said which rows belong together.

An analysis of variance of each model's score over the values of a column (Fisher, 1925): with G
values of about m rows each, and mean squares B between and W within them,

    F = B / W,        correlation of rows with one value = (B - W) / (B + (m - 1) W).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ssme.data.values import factorize

FEWEST, LARGEST = 10, 30
"""Fewest distinct values, and most rows of one on average, of a column of clusters."""
CORRELATION, SIGNIFICANCE = 0.2, 1e-4
"""Correlation of the rows of a cluster from which it matters, and how sure it has to be."""
MOST_ROWS = 100_000
"""Rows up to which columns are looked at."""
NAMES = (
    *("case", "conversation", "document", "dialog", "episode", "example", "household", "image"),
    *("item", "patient", "person", "prompt", "question", "sample", "scene", "session", "site"),
    *("speaker", "subject", "task", "thread", "user", "video"),
)
"""What clusters are often named after; whole numbers are clusters in such columns alone."""


def find_clustered(
    columns: Mapping[str, NDArray[np.object_]], scores: NDArray[np.float64]
) -> dict[str, int]:
    """The ``columns`` whose values repeat and within which ``scores`` (n, M, K) hardly differ.

    Each comes with its number of distinct values.
    """
    if len(scores) > MOST_ROWS:
        return {}
    flat = scores[:, :, 1:].reshape(len(scores), -1)
    return {
        name: len(factorize(values)[1])
        for name, values in columns.items()
        if _is_clustered(name, values, flat)
    }


def _is_clustered(name: str, values: NDArray[np.object_], scores: NDArray[np.float64]) -> bool:
    from scipy.special import fdtrc

    kind = np.asarray(values).dtype.kind
    sample = next((value for value in values if value is not None and value == value), None)
    whole = kind in "iu" or (isinstance(sample, int) and not isinstance(sample, bool))
    if not (isinstance(sample, str) or (whole and any(word in name.lower() for word in NAMES))):
        return False
    codes, distinct = factorize(values)
    n, n_values = int((codes >= 0).sum()), len(distinct)
    if n < len(codes) or not FEWEST <= n_values < n or not n / n_values <= LARGEST:
        return False
    sizes = np.bincount(codes).astype(np.float64)
    mean_size = (n - (sizes**2).sum() / n) / (n_values - 1)
    if mean_size < 1.2:
        return False
    for column in scores.T:
        if not np.isfinite(column).all():
            continue
        means = np.bincount(codes, column) / sizes
        between = float((sizes * (means - column.mean()) ** 2).sum()) / (n_values - 1)
        within = float(((column - means[codes]) ** 2).sum()) / (n - n_values)
        total = between + (mean_size - 1.0) * within
        if total <= 0.0 or (between - within) / total < CORRELATION:
            continue
        ratio = between / within if within > 0.0 else np.inf
        if not np.isfinite(ratio) or fdtrc(n_values - 1, n - n_values, ratio) < SIGNIFICANCE:
            return True
    return False
