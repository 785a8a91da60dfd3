"""Gaussian kernel sums in one fused pass on an NVIDIA GPU: no pair ever reaches memory.

    sums[i, c] = sum_j w[j, c] 2^(-|u_i - v_j|^2),      u, v = sqrt(log2(e) / 2) x

A program keeps QUERIES rows and runs over all points in tiles of POINTS: per pair d
differences, d multiply-adds, one base-2 exponential and two multiply-adds (two weight columns a
pass) in float32; each lane adds up its own sums, and lanes are added once, at the end. Distances
come from differences, so float32 does not cancel: for coordinates up to 100 bandwidths the
relative error of a sum is below 1e-4. A float32 sum underflows some 13 bandwidths away from all
weight: such sums are redone in float64 in the log domain by `TorchKernel`.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl

from ssme.engines.kernels import FloatArray
from ssme.engines.torch_kernels import TorchKernel

__all__ = ["BLOCK", "TritonKernel"]

LOST = 1e-30
"""Float32 sums below this have lost digits to underflow."""
PADDING = 256
"""Rows are padded to a multiple of this; a tile's sides divide it."""
BLOCK = {"QUERIES": 16, "POINTS": 128, "num_warps": 4}
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
):
    row = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    lane = tl.arange(0, POINTS)
    total_a = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
    total_b = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
    for start in range(0, n_points, POINTS):
        column = start + lane
        squared = tl.zeros((QUERIES, POINTS), dtype=tl.float32)
        for k in tl.static_range(DIMS):
            mine = tl.load(queries + k * n_queries + row)
            theirs = tl.load(points + k * n_points + column)
            difference = mine[:, None] - theirs[None, :]
            squared += difference * difference
        value = tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [-squared], dtype=tl.float32, is_pure=True, pack=1
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
        self._device, self._n_queries = device, len(queries)
        center, scale = points.mean(axis=0), math.sqrt(math.log2(math.e) / 2.0)

        def coordinates(rows: FloatArray) -> Any:
            moved = torch.as_tensor((rows - center) * scale, device=device)
            return _padded(moved.to(torch.float32).T)

        self._points, self._queries = coordinates(points), coordinates(queries)

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
        out = torch.empty(len(mass), n_queries, dtype=torch.float32, device=self._device)
        for a in range(0, len(mass), 2):
            b = min(a + 1, len(mass) - 1)
            _gaussian_sums[(n_queries // block["QUERIES"],)](
                self._queries,
                self._points,
                mass[a],
                mass[b],
                out[a],
                out[b],
                n_queries,
                n_points,
                DIMS=len(self._points),
                **block,
            )
        return out[:, : self._n_queries]


def _padded(lines: Any) -> Any:
    """Lines (r, n) with zeros up to a multiple of `PADDING`: tiles then need no masks."""
    return torch.nn.functional.pad(lines, (0, -lines.shape[1] % PADDING)).contiguous()
