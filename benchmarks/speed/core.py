"""SSME against the same work written with scikit-learn, one core each, in one run.

    python -m benchmarks.speed.core

1. 1,020 rows x 7 classifiers, 20 labels: 20 EM steps and 100 draws of four metrics. The rival does
   what a user would write: `KernelDensity` per class and step, then scikit-learn's metric functions
   per draw and classifier.
2. What a further EM step costs at that size.
3. One EM step at 4,000 rows x 7 dimensions, both ways.
4. Peak memory of one exact KDE step at 50,000 rows x 7 dimensions, in a process of its own.

Data are generated. Times are CPU seconds of one thread (medians where quick), so that a busy
machine disturbs them less; only ratios are to be compared between machines.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.accuracy.causes import average_over_draws
from benchmarks.speed import _common
from benchmarks.speed._common import write_rows
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.ssme import SsmeMethod
from ssme.metrics import get_metric
from ssme.mixture.kde import KdeClasses, select_bandwidth
from ssme.mixture.model import stack_alr

measure_seconds = partial(_common.measure_seconds, choose=np.median)
METRICS = ("accuracy", "ece", "roc_auc", "average_precision")
N_STEPS, N_DRAWS = 20, 100

MEMORY_SCRIPT = """
import resource
import numpy as np
from ssme.mixture.kde import select_bandwidth
from ssme.mixture.kde import KdeClasses
from ssme.mixture.kernels import TiledKernel
rng = np.random.default_rng(0)
points = rng.normal(size=(50_000, 7))

def exact(kernel, points, queries):
    return TiledKernel(kernel, points, points if queries is None else queries)

weights = rng.dirichlet([1.0, 1.0], 50_000)
classes = KdeClasses(points, select_bandwidth(points, "isj"), "gaussian", exact)
assert np.isfinite(classes.update(weights)).all()
print(classes.describe()["engine"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)
"""


def simulate_scores(n: int, n_models: int = 7, n_labeled: int = 20) -> ScoreSet:
    """Correlated, over-confident binary classifiers of a rare class."""
    rng = np.random.default_rng(20251115)
    y = (rng.random(n) < 0.2).astype(np.int64)
    y[:2] = 0, 1
    shared = 2.5 * (2 * y - 1) - 1 + 1.5 * rng.normal(size=n)
    logits = shared[:, None] + 1.2 * rng.normal(size=(n, n_models))
    p = 1 / (1 + np.exp(-1.3 * logits))
    labels = np.where(np.arange(n) < n_labeled, y, UNLABELED)
    models = tuple(f"model_{j}" for j in range(n_models))
    return ScoreSet(np.stack([1 - p, p], axis=2), labels, models, (0, 1))


def run_ours(data: ScoreSet, steps: int = N_STEPS) -> list[np.ndarray]:
    """The public-code preset: ``steps`` EM steps, 100 draws of four metrics."""
    method = SsmeMethod(preset="public_code", max_iter=steps, n_draws=N_DRAWS, n_bootstrap=0)
    belief = method.fit(data, np.random.default_rng(0))
    return average_over_draws(belief, [get_metric(m).plan(data.scores) for m in METRICS])


def with_intervals(data: ScoreSet) -> object:
    """What `ssme.evaluate` does beyond that: refits and resampled rows behind the intervals."""
    belief = SsmeMethod(preset="public_code").fit(data, np.random.default_rng(0))
    return belief.estimate([get_metric(m) for m in METRICS], [None])


def with_scikit_learn(data: ScoreSet) -> list[np.ndarray]:
    """The same with `KernelDensity` and scikit-learn's metric functions."""
    from sklearn.calibration import calibration_curve
    from sklearn.metrics import accuracy_score, average_precision_score, roc_auc_score

    rng = np.random.default_rng(0)
    positive = data.scores[:, :, 1]
    points = np.log(data.scores[:, :, 0] / positive)
    h = float(select_bandwidth(points, "public_code").values[0])
    labeled = data.labeled
    drawn = (rng.random(len(points)) < positive.mean(axis=1)).astype(int)
    gamma = np.eye(2)[np.where(labeled, data.labels, drawn)]
    weight = np.where(labeled, 10.0, 1.0)
    for _ in range(N_STEPS):
        gamma = run_kernel_density_step(points, weight[:, None] * gamma, h)
    values = np.empty((N_DRAWS, len(METRICS), data.n_models))
    for d in range(N_DRAWS):
        y = np.where(labeled, data.labels, rng.random(len(gamma)) < gamma[:, 1])
        for j in range(data.n_models):
            p = positive[:, j]
            true, predicted = calibration_curve(y, p, n_bins=10, strategy="quantile")
            values[d, :, j] = (
                accuracy_score(y, p > 0.5),
                np.abs(true - predicted).mean(),
                roc_auc_score(y, p),
                average_precision_score(y, p),
            )
    return list(values.mean(axis=0))


def run_kernel_density_step(points: np.ndarray, weights: np.ndarray, h: float) -> np.ndarray:
    """Responsibilities after one M-step and E-step with scikit-learn's `KernelDensity`."""
    from sklearn.neighbors import KernelDensity

    prior = weights.sum(axis=0) / weights.sum()
    log_joint = np.empty_like(weights)
    for k in range(weights.shape[1]):
        used = weights[:, k] > 0
        density = KernelDensity(bandwidth=h).fit(points[used], sample_weight=weights[used, k])
        log_joint[:, k] = density.score_samples(points) + np.log(prior[k])
    joint = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return joint / joint.sum(axis=1, keepdims=True)


def main() -> None:
    rows: list[tuple[str, float, str]] = []

    def tell(what: str, value: float, unit: str) -> None:
        rows.append((what, value, unit))
        print(f"{what:<64} {value:10.4g} {unit}", flush=True)

    with threadpool_limits(1):
        data = simulate_scores(1020)
        estimates = run_ours(data)
        fast = measure_seconds(lambda: run_ours(data), 7)
        reference: list[np.ndarray] = []
        slow = measure_seconds(lambda: reference.extend(with_scikit_learn(data)))
        gap = max(float(np.abs(a - b).max()) for a, b in zip(estimates, reference, strict=True))
        tell("20 steps, 100 draws, 4 metrics, 1,020 x 7: ssme", fast, "s")
        tell("the same with scikit-learn", slow, "s")
        tell("ratio", slow / fast, "x")
        tell("largest difference of an estimate (two random runs)", gap, "")
        tell(
            "intervals included, which the rival has not",
            measure_seconds(lambda: with_intervals(data)),
            "s",
        )
        longer = measure_seconds(lambda: run_ours(data, N_STEPS + 200), 5)
        tell("a further EM step", 1000 * (longer - fast) / 200, "ms")

        points = stack_alr(simulate_scores(4000).scores)
        weights = np.random.default_rng(0).dirichlet([1.0, 1.0], 4000)
        for h in (0.1, 0.5):
            classes = KdeClasses(points, select_bandwidth(points, h))
            build = measure_seconds(lambda c=classes: c.update(weights))
            step = measure_seconds(lambda c=classes: c.update(weights), 5)
            rival = measure_seconds(lambda h=h: run_kernel_density_step(points, weights, h))
            tell(f"EM step at 4,000 x 7, h = {h}: ssme ({classes.describe()['engine']})", step, "s")
            tell(f"building its kernel matrix once, h = {h}", build - step, "s")
            tell(f"the same step with scikit-learn, h = {h}", rival, "s")
            tell(f"ratio, h = {h}", rival / step, "x")
    engine, gigabytes = (
        subprocess.run([sys.executable, "-c", MEMORY_SCRIPT], capture_output=True, check=True)
        .stdout.decode()
        .rsplit(maxsplit=1)
    )
    tell(f"peak memory of a step at 50,000 x 7 ({engine})", float(gigabytes), "GB")
    digits = ((what, f"{value:.4g}", unit) for what, value, unit in rows)
    write_rows("speed_core", ["what", "value", "unit"], digits)


if __name__ == "__main__":
    main()
