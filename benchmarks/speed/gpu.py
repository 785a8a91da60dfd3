"""The exact mixture on an NVIDIA GPU: 100 EM steps at 200,000 rows, 7 scores, two classes.

    python -m benchmarks.speed.gpu [--rows 200000] [--steps 100] [--exact-steps 10] [--tune]
        [--out benchmarks/results]

Prints and writes gpu.csv: the card's measured float32 rate and copy bandwidth, the fused kernel's
time per step and its share of the float32 instruction rate (``--tune``: for many tile shapes), the
EM run end to end, and how far its posteriors are from those of the same steps in float64 on the
same card (all rows) and on the CPU (20,000 rows).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.experiment import RESULTS, read_arguments
from benchmarks.speed._common import write_rows
from ssme.mixture.kde import Bandwidth, KdeClasses
from ssme.mixture.kernels import TiledKernel, choose_kernel_sums
from ssme.mixture.model import EmFit, EmRules, run_em

DIMS = 7
N_LABELED = 100
BANDWIDTH = 0.3
SHAPES = ((8, 128, 4), (16, 64, 4), (32, 32, 4), (64, 32, 8), (16, 32, 2))
TILES = [
    {"QUERIES": queries, "POINTS": points, "num_warps": warps, "UNROLL": unroll} | limit
    for queries, points, warps in SHAPES
    for unroll in (1, 2, 4)
    for limit in ({}, {"maxnreg": 128})
]


def make_problem(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits of seven classifiers of uneven quality, labels of the first rows, a first guess."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(np.int64)
    common = rng.normal(size=(n, 1))
    noise = rng.normal(size=(n, DIMS)) * np.linspace(0.8, 1.6, DIMS)
    points = (2.0 * y[:, None] - 1.0) * 1.2 + 0.8 * common + noise
    labels = np.where(np.arange(n) < N_LABELED, y, -1)
    first = 1.0 / (1.0 + np.exp(-points.mean(axis=1)))
    start = np.eye(2)[(rng.random(n) < first).astype(int)]
    return points, labels, start


def measure_seconds(run: Callable[[], Any], repeats: int = 5) -> float:
    """Median time of ``run`` on the device, after one warm-up."""
    import torch

    times = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))


def fit_em(n: int, steps: int, engine: Any) -> tuple[EmFit, str, float]:
    points, labels, start = make_problem(n)
    densities = KdeClasses(
        points, Bandwidth(np.full(DIMS, BANDWIDTH), "fixed", "each"), "gaussian", engine
    )
    began = time.perf_counter()
    fit = run_em(
        densities, start, labels, EmRules(max_iter=steps, tol=None), np.random.default_rng(0)
    )
    return fit, densities.describe()["engine"], time.perf_counter() - began


def measure_card() -> dict[str, float]:
    """What this card does: float32 rate of a matrix product without tensor cores, copies."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    a = torch.randn(8192, 8192, device="cuda")
    rate = 2 * 8192**3 / measure_seconds(lambda: a @ a)
    big = torch.randn(1 << 29, device="cuda")
    copy = torch.empty_like(big)
    bandwidth = 2 * big.numel() * 4 / measure_seconds(lambda: copy.copy_(big))
    properties = torch.cuda.get_device_properties(0)
    clock = torch.cuda.clock_rate() * 1e6
    return {
        "float32_flops": rate,
        "copy_bytes_per_s": bandwidth,
        "multiprocessors": properties.multi_processor_count,
        "clock_hz": clock,
    }


def main() -> None:
    import torch

    from ssme.mixture.kernels import TorchKernel
    from ssme.mixture.triton_kernels import BLOCK, TritonKernel

    arguments = read_arguments(
        __doc__, rows=200_000, steps=100, tune=False, exact_steps=10, out=RESULTS
    )
    n, device = arguments.rows, torch.device("cuda")
    found: dict[str, object] = {"device": torch.cuda.get_device_name(0), "rows": n, "dims": DIMS}
    limits = measure_card()
    found |= limits

    points, _, start = make_problem(n)
    scaled = points / BANDWIDTH
    fused = TritonKernel(scaled, scaled, device)
    mass = torch.as_tensor(start + 0.01, dtype=torch.float32, device=device).T.contiguous()
    best, shape, product = np.inf, dict(BLOCK), fused.product
    for block in TILES if arguments.tune else [dict(BLOCK)]:
        for form in (True, False) if arguments.tune else (product,):
            fused.product = form
            took = measure_seconds(partial(fused.compute_sums, mass, block), repeats=3)
            print(f"{block} {'product' if form else 'difference'}: {1e3 * took:.2f} ms", flush=True)
            if took < best:
                best, shape, product = took, block, form
    fused.product = product
    BLOCK.clear()
    BLOCK.update(shape)
    instructions = DIMS + 3 if fused.product else 2 * DIMS + 2
    peak = limits["multiprocessors"] * 128 * limits["clock_hz"]
    flops = n * n * (2 * instructions - 1 if fused.product else 3 * DIMS + 4)
    found |= {
        "tile": str(shape).replace(",", ""),
        "form": "product" if product else "difference",
        "kernel_s": best,
        "float32_instructions_per_pair": instructions,
        "share_of_instruction_rate": n * n * instructions / best / peak,
        "share_of_matmul_flops": flops / best / limits["float32_flops"],
        "exponentials_per_s": n * n / best,
    }

    rows = np.random.default_rng(1).choice(n, 2000, replace=False)
    weights = mass.T.double().cpu().numpy()
    on_gpu = fused.log_sums(weights)[rows]
    on_cpu = TiledKernel("gaussian", scaled, scaled[rows]).log_sums(weights)
    found["log_sums_max_difference_from_cpu"] = float(np.abs(on_gpu - on_cpu).max())
    block64 = TorchKernel("gaussian", scaled, scaled[rows], device).log_sums(weights)
    found["torch_float64_max_difference_from_cpu"] = float(np.abs(block64 - on_cpu).max())

    engine = partial(choose_kernel_sums, device="cuda")
    fit_em(2000, 2, engine)
    _, name, took = fit_em(n, arguments.steps, engine)
    found |= {"engine": name, "em_steps": arguments.steps, "em_s": took}
    small, _, _ = fit_em(20_000, arguments.steps, engine)
    cpu, cpu_name, cpu_took = fit_em(20_000, arguments.steps, choose_kernel_sums)
    gap = np.abs(small.responsibilities - cpu.responsibilities)
    found |= {
        "em_20000_max_difference_from_cpu": float(gap.max()),
        "em_20000_cpu_engine": cpu_name,
        "em_20000_cpu_s": cpu_took,
    }
    if arguments.exact_steps:
        fast, _, _ = fit_em(n, arguments.exact_steps, engine)
        exact, exact_name, exact_took = fit_em(
            n, arguments.exact_steps, partial(_compute_in_float64, device=device)
        )
        gap = np.abs(exact.responsibilities - fast.responsibilities)
        found |= {
            "float64_engine": exact_name,
            "float64_em_steps": arguments.exact_steps,
            "float64_em_s": exact_took,
            "float64_max_difference": float(gap.max()),
            "float64_mean_difference": float(gap.mean()),
        }
    for key, value in found.items():
        print(f"{key}: {value:.6g}" if isinstance(value, float) else f"{key}: {value}", flush=True)
    write_rows("gpu", ["figure", "value"], found.items(), folder=arguments.out)


def _compute_in_float64(kernel: str, points: Any, queries: Any = None, *, device: Any) -> Any:
    from ssme.mixture.kernels import TorchKernel

    return TorchKernel(kernel, points, points if queries is None else queries, device)


if __name__ == "__main__":
    main()
