"""Kernel sums over neighbors alone: a k-d tree finds them once, every EM step reuses them.

Pairs farther apart than R bandwidths are left out, R being where the kernel falls to

    k(R) = ERROR / n,

so the sums of a row lose less than ERROR times the mean weight of the points. A point's own kernel
puts at least its own weight into its row; hence no posterior moves by more than ERROR, and where a
sum is above 1 % of the mean weight its relative error is below 100 ERROR = 1e-6. Rows with smaller
sums are redone over all points in the log domain. The Epanechnikov kernel is zero beyond R = 1, so
there nothing is lost.
"""

from __future__ import annotations

import numpy as np

from ssme.engines.kernels import FloatArray, Pairs

__all__ = ["ERROR", "SparseKernel", "are_neighbors_few", "find_radius"]

ERROR = 1e-8
WORTH_REDOING = 0.01
"""Sums below this share of the mean weight are redone in the log domain."""
MOST_NEIGHBORS = 20_000_000
"""Pairs kept in memory: 12 bytes each, and 24 more while they are found."""
SPARSE_SHARE = 0.05
"""Share of all pairs below which a sparse product beats recomputed tiles."""
PROBES = 256


def find_radius(kernel: str, n_points: int) -> float:
    """Distance in bandwidths beyond which the kernel is below ``ERROR / n_points``."""
    depth = np.log(max(n_points, 1) / ERROR)
    if kernel == "gaussian":
        return float(np.sqrt(2.0 * depth))
    return float(depth) if kernel == "exponential" else 1.0


def are_neighbors_few(kernel: str, points: FloatArray, queries: FloatArray) -> bool:
    """Whether neighbors are few enough to be kept, judged by some of the queries."""
    from scipy.spatial import cKDTree

    probes = queries[:: max(1, len(queries) // PROBES)]
    counts = cKDTree(points).query_ball_point(
        probes, find_radius(kernel, len(points)), return_length=True
    )
    expected = float(np.mean(counts)) * len(queries)
    return expected <= min(MOST_NEIGHBORS, SPARSE_SHARE * len(queries) * len(points))


class SparseKernel:
    """The kernel matrix of neighbors in compressed rows, built once."""

    name = "sparse"

    def __init__(self, kernel: str, points: FloatArray, queries: FloatArray) -> None:
        from scipy.sparse import csr_array
        from scipy.spatial import cKDTree

        self._pairs = Pairs(kernel, points, queries)
        near = cKDTree(queries).sparse_distance_matrix(
            cKDTree(points), find_radius(kernel, len(points)), output_type="ndarray"
        )
        if kernel == "gaussian":
            values = np.exp(-0.5 * near["v"] ** 2)
        elif kernel == "exponential":
            values = np.exp(-near["v"])
        else:
            values = np.maximum(1.0 - near["v"] ** 2, 0.0)
        self._matrix = csr_array((values, (near["i"], near["j"])), shape=self._pairs.shape)

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        floor = WORTH_REDOING * weights.mean(axis=0)
        return self._pairs.log_with_fixes(self._matrix @ weights, weights, floor, relative)
