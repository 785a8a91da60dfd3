"""Gaussian kernel sums in one fused pass on an NVIDIA GPU: no pair ever reaches memory.

    sums[i, c] = sum_j w[j, c] 2^(-|u_i - v_j|^2),      u, v = sqrt(log2(e) / 2) x

A program keeps QUERIES rows and runs over all points in tiles of POINTS, in float32; each lane
adds up its own sums, two weight columns a pass, and lanes are added once, at the end. Queries are
taken in the order of a k-d tree, so the rows of a program are neighbors, and around their mean o
the exponent is a product:

    -|u - v|^2 = -|u - o|^2 - |v - o|^2 + 2 (u - o).(v - o)

d + 3 multiply-adds and one base-2 exponential per pair. It cancels by about 2^-22 |u - o|^2 for
the pairs that matter; where rows of a program lie farther apart than `NEAR` (squared), differences
are taken instead, at d operations more. Either way a sum's relative error stays below 1e-4.
A float32 sum underflows some 13 bandwidths away from all weight: such sums are redone in float64
in the log domain by `TorchKernel`.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl
from scipy.spatial import cKDTree

from ssme.arrays import FloatArray
from ssme.mixture.kernels import TorchKernel

LOST = 1e-30
"""Float32 sums below this have lost digits to underflow."""
NEAR = 200.0
"""Mean squared distance (in u) of a program's rows from their mean up to which products are
exact enough, in 99% of the programs."""
PADDING = 256
"""Rows are padded to a multiple of this; a tile's sides divide it."""
BLOCK = {"QUERIES": 16, "POINTS": 32, "UNROLL": 4, "num_warps": 2, "maxnreg": 128}
"""Rows and points of a tile, tiles per turn of the loop: the fastest of those timed on an H200
(benchmarks/speed/gpu.py --tune)."""


@triton.jit  # type: ignore[untyped-decorator]
def _sum_gaussians(  # type: ignore[no-untyped-def]
    queries,
    origins,
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
    UNROLL: tl.constexpr,
    PRODUCT: tl.constexpr,
):
    block, n_blocks = tl.program_id(0), tl.num_programs(0)
    row = block * QUERIES + tl.arange(0, QUERIES)
    lane = tl.arange(0, POINTS)
    own = tl.zeros((QUERIES,), dtype=tl.float32)
    for k in tl.static_range(DIMS):
        origin = tl.load(origins + k * n_blocks + block)
        mine = tl.load(queries + k * n_queries + row) - origin
        own -= mine * mine
    total_a = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
    total_b = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
    for start in tl.range(0, n_points, POINTS, loop_unroll_factor=UNROLL):
        column = start + lane
        if PRODUCT:
            other = tl.zeros((POINTS,), dtype=tl.float32)
            for k in tl.static_range(DIMS):
                origin = tl.load(origins + k * n_blocks + block)
                theirs = tl.load(points + k * n_points + column) - origin
                other -= theirs * theirs
            power = own[:, None] + other[None, :]
            for k in tl.static_range(DIMS):
                origin = tl.load(origins + k * n_blocks + block)
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
        order = cKDTree(queries, leafsize=BLOCK["QUERIES"]).indices
        self._order = torch.as_tensor(order.copy(), device=device)
        scale = math.sqrt(math.log2(math.e) / 2.0)
        center = points.mean(axis=0)
        in_order = (queries[order] - center) * scale
        self._queries = self._make_lines(in_order)
        blocks = self._queries.unflatten(1, (-1, BLOCK["QUERIES"]))
        apart = (blocks - blocks.mean(dim=2, keepdim=True)).square().sum(dim=0)
        self.product = bool(torch.quantile(apart.mean(dim=1), 0.99) <= NEAR)
        self._points = self._make_lines((points - center) * scale)

    def _make_lines(self, rows: FloatArray) -> Any:
        return _pad(torch.as_tensor(rows, device=self._device).to(torch.float32).T)

    def log_sums(self, weights: FloatArray, *, relative: bool = False) -> FloatArray:
        mass = torch.as_tensor(weights, device=self._device)
        sums = self.compute_sums(mass.to(torch.float32).T).T
        lost = sums < LOST
        rows = torch.nonzero(lost.all(dim=1) if relative else lost.any(dim=1))[:, 0]
        logs = torch.log(sums.double())
        if len(rows):
            logs[rows] = self._exact.log_sums_at(rows, mass)
        return logs.cpu().numpy()

    def compute_sums(self, mass: Any, block: dict[str, int] = BLOCK) -> Any:
        """Linear float32 sums (C, m) on the device for ``mass`` (C, n), two columns a pass."""
        mass = _pad(mass)
        n_queries, n_points = self._queries.shape[1], self._points.shape[1]
        origins = self._queries.unflatten(1, (-1, block["QUERIES"])).mean(dim=2)
        found = torch.empty(len(mass), n_queries, dtype=torch.float32, device=self._device)
        for a in range(0, len(mass), 2):
            b = min(a + 1, len(mass) - 1)
            _sum_gaussians[(n_queries // block["QUERIES"],)](
                self._queries,
                origins,
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


def _pad(lines: Any) -> Any:
    """Lines (r, n) with zeros up to a multiple of `PADDING`: tiles then need no masks."""
    return torch.nn.functional.pad(lines, (0, -lines.shape[1] % PADDING)).contiguous()
