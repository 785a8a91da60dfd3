"""Weighted kernel sums, the O(n^2) core of every KDE: one interface, several engines.

    log_sums(W)[i, c] = log sum_j W[j, c] k(|q_i - x_j|)

for queries q (m, d), points x (n, d) and weights W (n, C), all in units of the bandwidth. Kernel
profiles, as in scikit-learn: gaussian exp(-r^2/2), exponential exp(-r), epanechnikov (1 - r^2)_+.

- `DenseKernel` computes the kernel matrix once and reuses it: an EM step is one product. Where
  most entries are below 1e-30 it is kept in sparse form without them, and sums too small for
  that are redone, so that the relative error stays below n 1e-10. On a line (one dimension) it
  is also kept as a product of two thin factors, for sums that only a posterior needs.
- `TiledKernel` recomputes it in cache-sized tiles, on all cores: constant memory for any n.
- `SparseKernel` keeps the neighbors within a radius set by a stated error.
- `TorchKernel` does the tiles in torch, on the CPU or a GPU, and
  `ssme.mixture.triton_kernels.TritonKernel` in one fused pass on an NVIDIA GPU.

All sum linearly and redo in the log domain the entries that underflow. Squared distances come
from one matrix product with the norms folded in as two extra columns; where its cancellation
error (about eps max |x|^2) could reach 1e-10 they come from explicit differences instead.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from scipy.special import gammaln, logsumexp

from ssme.arrays import FloatArray
from ssme.executors import choose_torch_device

# -------------------------------------------------------------------------------------------------
# Kernel sums over neighbors alone: a k-d tree finds them once, every EM step reuses them.
#
# Pairs farther apart than R bandwidths are left out, R being where the kernel falls to
#
#     k(R) = ERROR / n,
#
# so the sums of a row lose less than ERROR times the mean weight of the points. A point's own
# kernel puts at least its own weight into its row; hence no posterior moves by more than ERROR,
# and where a sum is above 1% of the mean weight its relative error is below 100 ERROR = 1e-6.
# Rows with smaller sums are redone over all points in the log domain. The Epanechnikov kernel is
# zero beyond R = 1, so there nothing is lost.


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
        values = _evaluate(kernel, near["v"] ** 2)
        self._matrix: Any = csr_array((values, (near["i"], near["j"])), shape=self._pairs.shape)

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        floor = WORTH_REDOING * weights.mean(axis=0)
        return self._pairs.log_with_fixes(self._matrix @ weights, weights, floor, relative)


KERNELS = ("gaussian", "epanechnikov", "exponential")

DENSE_BYTES = 320 << 20
"""Largest kernel matrix kept in memory: n = 6,400 points at float64."""
QUERY_TILE, POINT_TILE = 128, 1024
"""A tile of 1 MB stays in the cache while it is exponentiated and multiplied."""
DROPPED = 1e-30
"""Kernel entries below this are left out of a sparse matrix."""
SPARSE_BELOW = 0.15
"""Share of entries above `DROPPED` below which a sparse product is the faster one."""
TINY = 1e-280
"""Linear sums below this have lost digits to underflow."""
TINY_SHARE = 1e-20
"""Sums below this share of the total weight have lost digits to dropped entries."""
GEMM_ERROR = 1e-10
FACTOR_ERROR = 1e-13
"""Largest error of an entry of the factored kernel matrix."""
FACTOR_BELOW = 0.5
"""Rank, as a share of n, below which the factored product is the faster one."""


class KernelSums(Protocol):
    """Kernel sums at fixed queries over fixed points, for changing weights."""

    name: str

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        """Log sums (m, C) for ``weights`` (n, C) >= 0; -inf where all of a column is zero.

        ``relative=True`` allows -inf also for an entry that is smaller than another one of its
        row by a factor above 1e20: all that a posterior needs, and much cheaper.
        """


def log_kernel_volume(kernel: str, n_dims: int) -> float:
    """Log of the kernel's integral over R^d, so that k / volume is a density."""
    log_ball = 0.5 * n_dims * np.log(np.pi) - gammaln(0.5 * n_dims + 1.0)
    if kernel == "gaussian":
        return float(0.5 * n_dims * np.log(2.0 * np.pi))
    if kernel == "exponential":
        return float(log_ball + gammaln(n_dims + 1.0))
    return float(log_ball + np.log(2.0 / (n_dims + 2.0)))


def choose_kernel_sums(
    kernel: str, points: FloatArray, queries: FloatArray | None = None, *, device: str | None = None
) -> KernelSums:
    """The engine that fits the size; with a ``device`` ("cuda", "cpu"), torch's on that device.

    Without one: dense while the kernel matrix fits, beyond that the neighbors alone where they
    are few enough, else tiles.
    """
    queries = points if queries is None else queries
    if device is not None:
        where = choose_torch_device(device, f"device={device!r}")
        if where.type == "cuda" and kernel == "gaussian":
            try:
                from ssme.mixture.triton_kernels import TritonKernel
            except ImportError:  # Triton comes with torch on Linux only
                return TorchKernel(kernel, points, queries, where)
            return TritonKernel(points, queries, where)
        return TorchKernel(kernel, points, queries, where)
    if queries.shape[0] * points.shape[0] * 8 <= DENSE_BYTES:
        return DenseKernel(kernel, points, queries)

    from scipy.spatial import cKDTree

    probes = queries[:: max(1, len(queries) // PROBES)]
    radius = find_radius(kernel, len(points))
    counts = cKDTree(points).query_ball_point(probes, radius, return_length=True)
    most = min(MOST_NEIGHBORS, SPARSE_SHARE * len(queries) * len(points))
    if float(np.mean(counts)) * len(queries) <= most:
        return SparseKernel(kernel, points, queries)
    return TiledKernel(kernel, points, queries)


def _evaluate(kernel: str, squared: FloatArray) -> FloatArray:
    """The unnormalized kernel at squared distances, in their place."""
    if kernel == "epanechnikov":
        np.subtract(1.0, squared, out=squared)
        return np.maximum(squared, 0.0, out=squared)
    if kernel == "gaussian":
        squared *= -0.5
    else:
        np.negative(np.sqrt(squared, out=squared), out=squared)
    return np.exp(squared, out=squared)


class DenseKernel:
    """The kernel matrix computed once; every further sum is one matrix product."""

    def __init__(self, kernel: str, points: FloatArray, queries: FloatArray) -> None:
        self._pairs = Pairs(kernel, points, queries)
        self._matrix: Any = self._pairs.compute_values(slice(None), slice(None))
        self.name = "dense"
        kept = self._matrix >= DROPPED
        if np.count_nonzero(kept) < SPARSE_BELOW * kept.size:
            from scipy.sparse import csr_array

            # no other copy of the matrix is made
            ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
            columns = (np.flatnonzero(kept) % kept.shape[1]).astype(np.int32)
            self._matrix = csr_array((self._matrix[kept], columns, ends), kept.shape)
            self.name = "dense, small entries dropped"
        on_a_line = kernel == "gaussian" and points.shape[1] == 1 and queries is points
        self._factor = _factorize(self._matrix) if on_a_line and self.name == "dense" else None

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        if relative and self._factor is not None:
            sums = np.maximum(self._factor @ (self._factor.T @ weights), 0.0)
            floor = weights.sum(axis=0) * FACTOR_ERROR / GEMM_ERROR
            return self._pairs.log_with_fixes(sums, weights, floor, relative)
        sums = self._matrix @ weights
        floor = TINY if self.name == "dense" else TINY_SHARE * weights.sum(axis=0)
        return self._pairs.log_with_fixes(sums, weights, floor, relative)


class TiledKernel:
    """Exact sums tile by tile, rows of tiles on threads: time O(n m), memory of one tile each."""

    name = "tiled"

    def __init__(self, kernel: str, points: FloatArray, queries: FloatArray) -> None:
        self._pairs = Pairs(kernel, points, queries)

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        from threadpoolctl import threadpool_limits

        m, n = self._pairs.shape
        sums = np.zeros((m, weights.shape[1]))

        def add_up(start: int) -> None:
            rows = slice(start, start + QUERY_TILE)
            for first in range(0, n, POINT_TILE):
                columns = slice(first, first + POINT_TILE)
                sums[rows] += self._pairs.compute_values(rows, columns) @ weights[columns]

        with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as threads:
            list(threads.map(add_up, range(0, m, QUERY_TILE)))
        return self._pairs.log_with_fixes(sums, weights, TINY, relative)


class Pairs:
    """Kernel values of blocks of (query, point) pairs."""

    def __init__(self, kernel: str, points: FloatArray, queries: FloatArray) -> None:
        center = points.mean(axis=0)
        self._kernel = kernel
        self._points = points - center
        self._queries = queries - center
        self.shape = (queries.shape[0], points.shape[0])
        point_norms = np.einsum("ij,ij->i", self._points, self._points)
        query_norms = np.einsum("ij,ij->i", self._queries, self._queries)
        largest = max(point_norms.max(initial=0.0), query_norms.max(initial=0.0))
        self._is_product = largest * np.finfo(np.float64).eps < GEMM_ERROR
        if self._is_product:
            ones_points, ones_queries = np.ones(self.shape[1]), np.ones(self.shape[0])
            self._right = np.column_stack([-2.0 * self._points, point_norms, ones_points]).T.copy()
            self._left = np.column_stack([self._queries, ones_queries, query_norms])

    def compute_values(self, rows: slice, columns: slice) -> FloatArray:
        """Kernel values of a block."""
        if self._is_product:
            squared: FloatArray = self._left[rows] @ self._right[:, columns]
            np.maximum(squared, 0.0, out=squared)
        else:
            squared = _square_differences(self._queries[rows], self._points[columns])
        return _evaluate(self._kernel, squared)

    def log_with_fixes(
        self, sums: FloatArray, weights: FloatArray, floor: float | FloatArray, relative: bool
    ) -> FloatArray:
        """Logs of linear ``sums``; those below ``floor`` summed again, in the log domain."""
        lost = sums < floor
        rows = np.flatnonzero(lost.all(axis=1) if relative else lost.any(axis=1))
        with np.errstate(divide="ignore"):
            out: FloatArray = np.log(sums)
            log_weights = np.log(weights)
        if self._kernel == "epanechnikov" or rows.size == 0:
            return out
        step = max(1, (POINT_TILE * QUERY_TILE) // max(1, self.shape[1]))
        for start in range(0, rows.size, step):
            some = rows[start : start + step]
            squared = _square_differences(self._queries[some], self._points)
            logs = -0.5 * squared if self._kernel == "gaussian" else -np.sqrt(squared)
            for c in range(weights.shape[1]):
                out[some, c] = logsumexp(logs + log_weights[:, c], axis=1)
        return out


def _factorize(matrix: FloatArray) -> FloatArray | None:
    """F (n, r) with F F' equal to the positive ``matrix`` to `FACTOR_ERROR`, where r is small.

    Cholesky with pivoting: what is left over is positive too, so its diagonal bounds it.
    """
    from scipy.linalg.lapack import dpstrf

    packed, pivots, rank, _ = dpstrf(matrix, tol=FACTOR_ERROR, lower=1)
    if rank > FACTOR_BELOW * len(matrix):
        return None
    out: FloatArray = np.empty((len(matrix), rank))
    out[pivots - 1] = np.tril(packed)[:, :rank]
    return out


def _square_differences(queries: FloatArray, points: FloatArray) -> FloatArray:
    from scipy.spatial.distance import cdist

    return cdist(queries, points, "sqeuclidean")


# -------------------------------------------------------------------------------------------------
# Kernel sums in torch, float64, block by block of queries: the CPU's threads or a GPU.
#
# The same sums as `ssme.mixture.kernels.TiledKernel`. Squared distances come from differences, one
# coordinate at a time, so nothing cancels; sums that underflow are redone in the log domain, on the
# same device.


BLOCK_PAIRS = {"cpu": 1 << 20, "cuda": 1 << 27}
"""Pairs (query, point) at once: 8 MB of float64 on a CPU, 1 GB on a GPU."""


class TorchKernel:
    """Exact float64 sums in blocks of queries."""

    def __init__(self, kernel: str, points: FloatArray, queries: FloatArray, device: Any) -> None:
        import torch

        self.name = f"torch {device}"
        self._kernel, self._device = kernel, device
        self._points = torch.as_tensor(points, device=device)
        self._queries = torch.as_tensor(queries, device=device)

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        import torch

        mass = torch.as_tensor(weights, device=self._device)
        sums = torch.cat(
            [self._compute_values(rows) @ mass for rows in self._split_blocks(self._queries)]
        )
        lost = sums < TINY
        rows = torch.nonzero(lost.all(dim=1) if relative else lost.any(dim=1))[:, 0]
        logs = torch.log(sums)
        if self._kernel != "epanechnikov" and len(rows):
            logs[rows] = self.log_sums_at(rows, mass)
        return logs.cpu().numpy()

    def log_sums_at(self, rows: Any, mass: Any) -> Any:
        """Log sums at some ``rows`` of the queries by log-sum-exp."""
        import torch

        log_mass = torch.log(mass)
        parts = []
        for block in self._split_blocks(self._queries[rows]):
            exponents = self._compute_exponents(block)
            columns = [torch.logsumexp(exponents + column, dim=1) for column in log_mass.T]
            parts.append(torch.stack(columns, dim=1))
        return torch.cat(parts)

    def _split_blocks(self, queries: Any) -> Any:
        size = BLOCK_PAIRS[self._device.type] // max(1, len(self._points))
        return queries.split(max(1, size))

    def _compute_values(self, queries: Any) -> Any:
        if self._kernel == "epanechnikov":
            return (1.0 - self._measure_square_distances(queries)).clamp_(min=0.0)
        return self._compute_exponents(queries).exp_()

    def _compute_exponents(self, queries: Any) -> Any:
        squared = self._measure_square_distances(queries)
        return squared.mul_(-0.5) if self._kernel == "gaussian" else squared.sqrt_().neg_()

    def _measure_square_distances(self, queries: Any) -> Any:
        import torch

        squared = torch.zeros(
            len(queries), len(self._points), dtype=queries.dtype, device=self._device
        )
        for mine, theirs in zip(queries.T, self._points.T, strict=True):
            difference = mine[:, None] - theirs[None, :]
            squared.addcmul_(difference, difference)
        return squared
