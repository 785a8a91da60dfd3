"""Kernel sums in torch, float64, block by block of queries: the CPU's threads or a GPU.

The same sums as `ssme.engines.kernels.TiledKernel`. Squared distances come from differences, one
coordinate at a time, so nothing cancels; sums that underflow are redone in the log domain, on the
same device.
"""

from __future__ import annotations

from typing import Any

from ssme.engines.executors import choose_torch_device
from ssme.engines.kernels import TINY, FloatArray, KernelSums

BLOCK_PAIRS = {"cpu": 1 << 20, "cuda": 1 << 27}
"""Pairs (query, point) at once: 8 MB of float64 on a CPU, 1 GB on a GPU."""


def choose_torch_kernel_sums(
    kernel: str, points: FloatArray, queries: FloatArray, device: str
) -> KernelSums:
    """The fused Triton kernel where it applies (Gaussian, NVIDIA GPU), else blocks."""
    where = choose_torch_device(device, f"device={device!r}")
    if where.type == "cuda" and kernel == "gaussian":
        try:
            from ssme.engines.triton_kernels import TritonKernel
        except ImportError:  # Triton comes with torch on Linux only
            return TorchKernel(kernel, points, queries, where)
        return TritonKernel(points, queries, where)
    return TorchKernel(kernel, points, queries, where)


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
        if self._kernel == "gaussian":
            return squared.mul_(-0.5)
        return squared.sqrt_().neg_()

    def _measure_square_distances(self, queries: Any) -> Any:
        import torch

        squared = torch.zeros(
            len(queries), len(self._points), dtype=queries.dtype, device=self._device
        )
        for mine, theirs in zip(queries.T, self._points.T, strict=True):
            difference = mine[:, None] - theirs[None, :]
            squared.addcmul_(difference, difference)
        return squared
