"""The semi-supervised mixture P(y, s) = P(y) P(s | y): options, the two presets, one fit.

``paper``: Gaussian KDE with the improved Sheather-Jones bandwidth on the pooled rows, EM to
convergence from the class shares of the labels, labeled rows fixed to their label.
``public_code``, as the paper's public code does: a quarter of the normal-reference bandwidth and 20
steps. From the second step on labeled rows weigh ten times and follow the fitted posterior, and the
priors of a step are the class shares of one random assignment. Only exact 0 and 1 are clipped.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ssme.arrays import FloatArray, IntArray
from ssme.errors import ConvergenceWarning, InputError, warn
from ssme.executors import import_torch
from ssme.mixture.gaussian_mixture import GaussianClasses
from ssme.mixture.kde import ClassDensities, KdeClasses, select_bandwidth
from ssme.mixture.kernels import choose_kernel_sums
from ssme.progress import track

# -------------------------------------------------------------------------------------------------
# Where EM starts: hard assignments of the unlabeled rows.
#
# - ``draw``: one label per row drawn from the mean score of the classifiers (the paper's choice)
# - ``knn``: the majority among the k = 5 nearest labeled rows (the paper's alternative)
#
# Source: Shanmugam et al. 2025, sec. 3.1 and app. D (robustness to initializations).


STARTS = ("draw", "knn")


def draw_probabilities(scores: FloatArray) -> FloatArray:
    """Mean over classifiers (n, K); where no classifier has a score, the mean of other rows."""
    present = np.isfinite(scores)
    count = present.sum(axis=1)
    mean: FloatArray = np.where(present, scores, 0.0).sum(axis=1) / np.maximum(count, 1)
    scored = count[:, 0] > 0
    mean[~scored] = mean[scored].mean(axis=0) if scored.any() else 1.0 / scores.shape[2]
    return mean


def draw_start(probabilities: FloatArray, rng: Generator) -> FloatArray:
    """One-hot rows (n, K), each class drawn from ``probabilities`` (n, K)."""
    upper = np.cumsum(probabilities, axis=1)
    drawn = (rng.random(len(upper))[:, None] * upper[:, -1:] >= upper[:, :-1]).sum(axis=1)
    return np.eye(upper.shape[1])[drawn]


def start_by_neighbors(
    points: FloatArray, labels: IntArray, n_classes: int, n_neighbors: int = 5
) -> FloatArray:
    """One-hot rows (n, K) by the vote of the nearest labeled rows; ties to the nearer ones.

    Distances over missing coordinates are means over those that both rows have.
    """
    labeled = np.flatnonzero(labels >= 0)
    if labeled.size == 0:
        problem = "init='knn' with no labeled row"
        raise InputError(problem, hint="label some rows, or start with init='draw'")
    nearest = _find_nearest(points, points[labeled], min(n_neighbors, labeled.size))
    ballots = np.eye(n_classes)[labels[labeled][nearest]]
    nearness = 1.0 + 1e-3 / np.arange(1, nearest.shape[1] + 1)
    votes = np.einsum("ijk,j->ik", ballots, nearness)
    return np.eye(n_classes)[votes.argmax(axis=1)]


def _find_nearest(rows: FloatArray, references: FloatArray, k: int) -> NDArray[np.intp]:
    """Indices (n, k) of the nearest ``references``, nearest first."""
    seen, seen_there = np.isfinite(rows), np.isfinite(references)
    a, b = np.where(seen, rows, 0.0), np.where(seen_there, references, 0.0)
    squared = (a**2) @ seen_there.T - 2.0 * a @ b.T + seen @ (b**2).T
    shared = seen.astype(np.float64) @ seen_there.T
    with np.errstate(divide="ignore", invalid="ignore"):
        mean_squared = np.where(shared > 0, squared / shared, np.inf)
    return np.argsort(mean_squared, axis=1, kind="stable")[:, :k]


# -------------------------------------------------------------------------------------------------
# Which density models P(s | y): by name, or chosen by size and dimension with the reason kept.
#
# ``kde_dims`` is where kernels stop being a density estimate: with n = 1,000 rows in more
# dimensions than that, each point's own kernel outweighs all others at any sensible bandwidth,
# and EM keeps its first guess. On cifar10 (81 dimensions) a flow or full Gaussians err by 1.0
# points of accuracy where the KDE errs by 1.8; on civilcomments (7) and multinli (8) the KDE errs
# least (benchmarks/results/densities.csv). Beyond ``kde_dims`` a flow needs at least
# ``flow_rows_per_dim`` rows per dimension, complete rows, and torch; where one of these is
# missing, Gaussians take its place.


DENSITIES = ("kde", "gmm", "flow", "auto")


def choose_density(options: MixtureOptions, points: FloatArray) -> tuple[str, str]:
    """The density of the options and why; "auto" goes by the shape of ``points`` (n, d)."""
    if options.density != "auto":
        return options.density, "asked for"
    n, d = points.shape
    if d <= options.kde_dims:
        return "kde", f"{d} dimensions, at most {options.kde_dims}"
    wide = f"{d} dimensions, more than {options.kde_dims}"
    if n < options.flow_rows_per_dim * d:
        return "gmm", f"{wide}, and {n} rows, too few for a flow"
    if np.isnan(points).any():
        return "gmm", f"{wide}, and scores are missing"
    if find_spec("torch") is None:
        return "gmm", f"{wide}, and torch (extra `flow`) is not installed"
    return "flow", f"{wide}, and {n} rows"


def make_densities(
    density: str,
    points: FloatArray,
    labels: IntArray,
    start: FloatArray,
    options: MixtureOptions,
    rng: Generator,
    sample_weight: FloatArray | None,
) -> ClassDensities:
    """The class densities over ``points``, ready for EM."""
    device = options.device
    if density == "gmm":
        if device is not None:
            raise InputError(option="device", value=device, must="be left out with density 'gmm'")
        return GaussianClasses(points, options.covariance, components=options.components, rng=rng)
    if density == "flow":
        import_torch("density 'flow'")
        from ssme.mixture.flow import FlowClasses

        return FlowClasses(points, labels, start, rng, sample_weight=sample_weight, device=device)
    bandwidth = select_bandwidth(
        points, options.bandwidth, across=options.across, weights=sample_weight
    )
    return KdeClasses(points, bandwidth, options.kernel, partial(choose_kernel_sums, device=device))


# -------------------------------------------------------------------------------------------------
# The one semi-supervised EM loop, for every density.
#
# Maximizes, over priors pi and class densities f_k,
#
#     sum_labeled w_i log[pi_{y_i} f_{y_i}(s_i)] + lambda_U sum_unlabeled w_i log sum_k pi_k
#     f_k(s_i)
#
# E-step: gamma_ik = pi_k f_k(s_i) / sum_l pi_l f_l(s_i); labeled rows keep their label.
# M-step: pi_k = sum_i v_i gamma_ik / sum_i v_i, and f_k refitted to the weights v_i gamma_ik, with
# v_i = w_i on labeled rows and lambda_U w_i on unlabeled ones.
#
# With densities fitted by maximum likelihood the objective never falls. A KDE is not: each point
# is part of its own density, so its objective may fall; convergence is therefore judged by the
# responsibilities, and the objective is kept for inspection.
#
# Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data", NeurIPS
# 2025, alg. 1 (whose text puts lambda_U on the labeled counts in two places; its objective,
# followed here, puts it on the unlabeled rows). Dempster, Laird, Rubin 1977.


@dataclass(frozen=True)
class EmRules:
    """How the loop runs.

    It stops when no responsibility moves by more than ``tol``, or after ``max_iter`` steps with a
    `ConvergenceWarning`; with ``tol=None`` after exactly ``max_iter``. An unlabeled row weighs
    ``lambda_u``, a labeled one ``labeled_weight`` from the step ``weighted_from`` on (1 before it).
    Without ``clamp`` labeled rows have their label in the first step only. The priors of the first
    step are the class shares of the labels (``label_priors``) if every class has one, or those of
    every step are the shares of one random assignment (``drawn_priors``).
    """

    lambda_u: float = 1.0
    max_iter: int = 1000
    tol: float | None = 1e-4
    labeled_weight: float = 1.0
    weighted_from: int = 1
    clamp: bool = True
    label_priors: bool = True
    drawn_priors: bool = False


@dataclass(frozen=True, eq=False)
class EmFit:
    """Where the loop ended: ``responsibilities`` (n, K), ``priors`` (K,), how it got there."""

    responsibilities: FloatArray
    priors: FloatArray
    objective_history: FloatArray
    n_iter: int
    converged: bool | None


def run_em(
    densities: ClassDensities,
    start: FloatArray,
    labels: IntArray,
    rules: EmRules,
    rng: Generator,
    sample_weight: FloatArray | None = None,
) -> EmFit:
    """Run EM from the responsibilities ``start`` (n, K); ``labels`` (n,) are -1 where unknown."""
    labeled, unlabeled = np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    given = np.ones(len(labels)) if sample_weight is None else sample_weight
    plain_weight = np.where(labels >= 0, 1.0, rules.lambda_u) * given
    full_weight = np.where(labels >= 0, rules.labeled_weight, rules.lambda_u) * given
    responsibilities = _clamp(start, labels, labeled)
    history: list[float] = []
    converged: bool | None = None if rules.tol is None else False
    for step in track(range(1, rules.max_iter + 1), "EM steps"):
        row_weight = full_weight if step >= rules.weighted_from else plain_weight
        weights = row_weight[:, None] * responsibilities
        totals = np.ones(len(weights)) @ weights
        priors = totals / totals.sum()
        if rules.drawn_priors:
            upper = np.cumsum(_clamp(responsibilities, labels, labeled), axis=1)
            assigned = (rng.random(len(upper))[:, None] >= upper[:, :-1]).sum(axis=1)
            priors = np.bincount(assigned, minlength=upper.shape[1]) / len(upper)
        elif rules.label_priors and step == 1:
            counted = np.bincount(labels[labeled], given[labeled], minlength=len(priors))
            priors = counted / counted.sum() if (counted > 0).all() else priors
        log_density = densities.update(weights)
        posterior, log_evidence = compute_posterior(log_density, priors)
        with np.errstate(divide="ignore"):
            own = log_density[labeled, labels[labeled]] + np.log(priors[labels[labeled]])
        history.append(
            float(row_weight[labeled] @ own + row_weight[unlabeled] @ log_evidence[unlabeled])
        )
        moved = _clamp(posterior, labels, labeled) if rules.clamp else posterior
        change = np.abs((moved - responsibilities).T).max(initial=0.0)
        responsibilities = moved
        if rules.tol is not None and change <= rules.tol:
            converged = True
            break
    if converged is False:
        warn(
            f"EM stopped after {rules.max_iter} steps with responsibilities still moving by "
            f"{change:.2g} (tol {rules.tol:g}); raise max_iter or tol.",
            ConvergenceWarning,
        )
    return EmFit(responsibilities, priors, np.array(history), len(history), converged)


def compute_posterior(log_density: FloatArray, priors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(y | s) (n, K) and log sum_k pi_k f_k (n,); the prior where every density is zero."""
    # one line per class: loops over two or three classes would be as short as that
    joint = np.ascontiguousarray(log_density.T)
    with np.errstate(divide="ignore"):
        joint = joint + np.log(priors)[:, None]
    top = joint.max(axis=0)
    nowhere = np.flatnonzero(np.isneginf(top))
    top[nowhere] = 0.0
    joint -= top
    np.exp(joint, out=joint)
    joint[:, nowhere] = priors[:, None]
    total = joint.sum(axis=0)
    joint /= total
    log_evidence: FloatArray = np.log(total)
    log_evidence += top
    log_evidence[nowhere] = -np.inf
    return joint.T, log_evidence


def _clamp(responsibilities: FloatArray, labels: IntArray, labeled: NDArray[np.intp]) -> FloatArray:
    out = responsibilities.copy(order="K")
    out[labeled] = 0.0
    out[labeled, labels[labeled]] = 1.0
    return out


@dataclass(frozen=True)
class MixtureOptions(EmRules):
    """Every choice of the SSME fit besides the rules of EM; `PRESETS` names two full sets of them.

    ``refit_steps`` are those of a bootstrap refit; the public code's whole fit takes as many.
    """

    density: str = "kde"
    kernel: str = "gaussian"
    bandwidth: str | float = "isj"
    across: str = "smallest"
    covariance: str = "full"
    components: int = 1
    device: str | None = None
    init: str = "draw"
    clip: float = 1e-6
    clip_only_exact: bool = False
    n_neighbors: int = 5
    refit_steps: int = 20
    kde_dims: int = 20
    flow_rows_per_dim: int = 10


PRESETS: dict[str, MixtureOptions] = {
    "paper": MixtureOptions(),
    "public_code": MixtureOptions(
        bandwidth="public_code",
        max_iter=20,
        tol=None,
        labeled_weight=10.0,
        weighted_from=2,
        clamp=False,
        label_priors=False,
        drawn_priors=True,
        clip=1e-4,
        clip_only_exact=True,
    ),
}


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """The fitted mixture: EM's end, the densities it ended with, and why these were taken."""

    em: EmFit
    densities: ClassDensities
    density: str
    reason: str

    def compute_posterior_at(self, points: FloatArray) -> FloatArray:
        """P(y | s) (m, K) of other rows ``points`` (m, d)."""
        return compute_posterior(self.densities.at(points), self.em.priors)[0]

    def describe(self) -> dict[str, Any]:
        """Facts for the result's notes."""
        return {
            "converged": self.em.converged,
            "n_iter": self.em.n_iter,
            "objective_history": self.em.objective_history,
            "priors": self.em.priors,
            "density": self.density,
            "density_reason": self.reason,
            **self.densities.describe(),
        }


def fit_mixture(
    points: FloatArray,
    labels: IntArray,
    guess: FloatArray,
    options: MixtureOptions,
    rng: Generator,
    sample_weight: FloatArray | None = None,
) -> MixtureFit:
    """Fit P(y, s) to ``points`` (n, d), NaN where missing.

    ``labels`` (n,) are -1 where unknown; ``guess`` (n, K) are the probabilities that
    ``init="draw"`` draws from.
    """
    start = _start(points, labels, guess, options, rng)
    density, reason = choose_density(options, points)
    densities = make_densities(density, points, labels, start, options, rng, sample_weight)
    em = run_em(densities, start, labels, options, rng, sample_weight)
    return MixtureFit(em, densities, density, reason)


def refit_responsibilities(
    fitted: MixtureFit,
    points: FloatArray,
    labels: IntArray,
    guess: FloatArray,
    options: MixtureOptions,
    rng: Generator,
    sample_weight: FloatArray | None = None,
) -> FloatArray:
    """Responsibilities (n, K) of a fit to rows reweighted by the Bayesian bootstrap.

    Kernels, bandwidth and flow of ``fitted`` are kept; start, priors and class densities are new
    (weighted-likelihood bootstrap: Newton and Raftery, JRSS B 56, 1994).
    """
    weights = rng.standard_exponential(len(labels))
    if sample_weight is not None:
        weights *= sample_weight
    start = _start(points, labels, guess, options, rng)
    rules = replace(options, max_iter=min(options.max_iter, options.refit_steps), tol=None)
    densities = copy(fitted.densities)
    return run_em(densities, start, labels, rules, rng, weights).responsibilities


def _start(
    points: FloatArray, labels: IntArray, guess: FloatArray, options: MixtureOptions, rng: Generator
) -> FloatArray:
    if options.init == "draw":
        return draw_start(guess, rng)
    return start_by_neighbors(points, labels, guess.shape[1], options.n_neighbors)


# -------------------------------------------------------------------------------------------------
# Additive log-ratio: s_k = log(p_k / p_K), k = 1..K-1, from the simplex to R^(K-1).
#
# With two classes s_1 = log(p_1 / p_2) is one logit.
#
# The logarithm is infinite at exact zeros, so probabilities are clipped first, on purpose:
# every entry below ``eps`` becomes ``eps`` and the row is divided by its sum, so that the order
# of classifiers' scores is kept and |s_k| never exceeds log(1/eps). ``only_exact=True`` touches
# exact zeros only (and so exact ones), as the paper's public code does with eps = 1e-4.
#
# Source: Aitchison, "The statistical analysis of compositional data", JRSS B 44, 1982.


def clip_simplex(
    probabilities: FloatArray, eps: float = 1e-6, *, only_exact: bool = False
) -> FloatArray:
    """``probabilities`` (..., K) with no entry below ``eps``, summing to one; NaN stays NaN."""
    n_classes = probabilities.shape[-1]
    if not 0.0 < eps < 1.0 / n_classes:
        raise InputError(option="eps", value=eps, must=f"be between 0 and 1/{n_classes}")
    too_small = probabilities <= 0.0 if only_exact else probabilities < eps
    floored = np.where(too_small, eps, probabilities)
    return floored / floored.sum(axis=-1, keepdims=True)


def alr(probabilities: FloatArray) -> FloatArray:
    """(..., K) strictly positive probabilities -> (..., K-1) log-ratios to the last class."""
    logs = np.log(probabilities)
    return logs[..., :-1] - logs[..., -1:]


def stack_alr(scores: FloatArray, eps: float = 1e-6, *, only_exact: bool = False) -> FloatArray:
    """Scores (n, M, K) of M classifiers -> points (n, M (K-1)); NaN where a score is missing."""
    ratios = alr(clip_simplex(scores, eps, only_exact=only_exact))
    return ratios.reshape(scores.shape[0], -1)
