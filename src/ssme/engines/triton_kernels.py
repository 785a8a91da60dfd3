"""Gaussian kernel sums in one fused pass on an NVIDIA GPU: no pair ever reaches memory.

    sums[i, c] = sum_j w[j, c] 2^(-|u_i - v_j|^2),      u, v = sqrt(log2(e) / 2) x

A program keeps QUERIES rows and runs over all points in tiles of POINTS, in float32; each lane
adds up its own sums, two weight columns a pass, and lanes are added once, at the end. Queries are
taken in the order of a k-d tree, so the rows of a program are neighbors, and around the first of
them, o, the exponent is a product:

    -|u - v|^2 = -|u - o|^2 - |v - o|^2 + 2 (u - o).(v - o)

d + 3 multiply-adds and one base-2 exponential per pair. It cancels by about 2^-22 |u - o|^2 for
the pairs that matter; where rows of a program lie farther apart than `NEAR` (squared), differences
are taken instead, at d operations more. Either way a sum's relative error stays below 1e-4.
A float32 sum underflows some 13 bandwidths away from all weight: such sums are redone in float64
in the log domain by `TorchKernel`.
"""

import math
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from scipy.spatial import cKDTree

from ssme.engines.kernels import FloatArray
from ssme.engines.torch_kernels import TorchKernel

__all__ = ["BLOCK", "TritonKernel"]

LOST = 1e-30
"""Float32 sums below this have lost digits to underflow."""
LEAF = 16
"""Queries in a leaf of the tree that orders them; a tile's rows should be about as many."""
NEAR = 200.0
"""Squared distance (in u) to the first of the rows up to which products are exact enough."""
PADDING = 256
"""Rows are padded to a multiple of this; a tile's sides divide it."""
BLOCK = {"QUERIES": 16, "POINTS": 128, "num_warps": 4, "maxnreg": 168}
"""Rows and points of a tile: the fastest of those timed on an H200 (benchmarks/speed/gpu.py)."""


@triton.jit  # type: ignore[untyped-decorator]
def _gaussian_sums(  # type: ignore[no-untyped-def]
    queries,
    points,
    mass_a,
    mass_b,
    sums_a,
    sums_b,
    n_queries,
    n_points,
    DIMS: tl.constexpr,
    QUERIES: tl.constexpr,
    POINTS: tl.constexpr,
    PRODUCT: tl.constexpr,
):
    first = tl.program_id(0) * QUERIES
    row = first + tl.arange(0, QUERIES)
    lane = tl.arange(0, POINTS)
    own = tl.zeros((QUERIES,), dtype=tl.float32)
    for k in tl.static_range(DIMS):
        mine = tl.load(queries + k * n_queries + row) - tl.load(queries + k * n_queries + first)
        own -= mine * mine
    total_a = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
    total_b = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
    for start in range(0, n_points, POINTS):
        column = start + lane
        if PRODUCT:
            other = tl.zeros((POINTS,), dtype=tl.float32)
            for k in tl.static_range(DIMS):
                origin = tl.load(queries + k * n_queries + first)
                theirs = tl.load(points + k * n_points + column) - origin
                other -= theirs * theirs
            power = own[:, None] + other[None, :]
            for k in tl.static_range(DIMS):
                origin = tl.load(queries + k * n_queries + first)
                mine = 2.0 * (tl.load(queries + k * n_queries + row) - origin)
                theirs = tl.load(points + k * n_points + column) - origin
                power += mine[:, None] * theirs[None, :]
        else:
            power = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
            for k in tl.static_range(DIMS):
                mine = tl.load(queries + k * n_queries + row)
                theirs = tl.load(points + k * n_points + column)
                difference = mine[:, None] - theirs[None, :]
                power -= difference * difference
        value = tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [power], dtype=tl.float32, is_pure=True, pack=1
        )
        total_a += value * tl.load(mass_a + column)[None, :]
        total_b += value * tl.load(mass_b + column)[None, :]
    tl.store(sums_a + row, tl.sum(total_a, axis=1))
    tl.store(sums_b + row, tl.sum(total_b, axis=1))


class TritonKernel:
    """Gaussian kernel sums at ``queries`` over ``points`` on a CUDA device."""

    def __init__(self, points: FloatArray, queries: FloatArray, device: Any) -> None:
        self.name = f"triton {device}"
        self._exact = TorchKernel("gaussian", points, queries, device)
        self._device = device
        order = cKDTree(queries, leafsize=LEAF).indices
        self._order = torch.as_tensor(order.copy(), device=device)
        scale = math.sqrt(math.log2(math.e) / 2.0)
        center = points.mean(axis=0)
        in_order = (queries[order] - center) * scale
        first = in_order[np.arange(len(order)) // LEAF * LEAF]
        apart = np.einsum("ij,ij->i", in_order - first, in_order - first)
        self.product = bool(np.quantile(apart, 0.99) <= NEAR)
        self._queries = self._lines(in_order)
        self._points = self._lines((points - center) * scale)

    def _lines(self, rows: FloatArray) -> Any:
        return _padded(torch.as_tensor(rows, device=self._device).to(torch.float32).T)

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        mass = torch.as_tensor(weights, device=self._device)
        sums = self.sums(mass.to(torch.float32).T).T
        lost = sums < LOST
        rows = torch.nonzero(lost.all(dim=1) if relative else lost.any(dim=1))[:, 0]
        logs = torch.log(sums.double())
        if len(rows):
            logs[rows] = self._exact.log_domain(rows, mass)
        out: FloatArray = logs.cpu().numpy()
        return out

    def sums(self, mass: Any, block: dict[str, int] = BLOCK) -> Any:
        """Linear float32 sums (C, m) on the device for ``mass`` (C, n), two columns a pass."""
        mass = _padded(mass)
        n_queries, n_points = self._queries.shape[1], self._points.shape[1]
        found = torch.empty(len(mass), n_queries, dtype=torch.float32, device=self._device)
        for a in range(0, len(mass), 2):
            b = min(a + 1, len(mass) - 1)
            _gaussian_sums[(n_queries // block["QUERIES"],)](
                self._queries,
                self._points,
                mass[a],
                mass[b],
                found[a],
                found[b],
                n_queries,
                n_points,
                DIMS=len(self._points),
                PRODUCT=self.product,
                **block,
            )
        out = torch.empty_like(found[:, : len(self._order)])
        out[:, self._order] = found[:, : len(self._order)]
        return out


def _padded(lines: Any) -> Any:
    """Lines (r, n) with zeros up to a multiple of `PADDING`: tiles then need no masks."""
    return torch.nn.functional.pad(lines, (0, -lines.shape[1] % PADDING)).contiguous()
