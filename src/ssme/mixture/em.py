"""The one semi-supervised EM loop, for every density.

Maximizes, over priors pi and class densities f_k,

    sum_labeled w_i log[pi_{y_i} f_{y_i}(s_i)] + lambda_U sum_unlabeled w_i log sum_k pi_k f_k(s_i)

E-step: gamma_ik = pi_k f_k(s_i) / sum_l pi_l f_l(s_i); labeled rows keep their label.
M-step: pi_k = sum_i v_i gamma_ik / sum_i v_i, and f_k refitted to the weights v_i gamma_ik, with
v_i = w_i on labeled rows and lambda_U w_i on unlabeled ones.

With densities fitted by maximum likelihood the objective never falls. A KDE is not: each point
is part of its own density, so its objective may fall; convergence is therefore judged by the
responsibilities, and the objective is kept for inspection.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data", NeurIPS
2025, alg. 1 (whose text puts lambda_U on the labeled counts in two places; its objective, followed
here, puts it on the unlabeled rows). Dempster, Laird, Rubin 1977.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.densities.base import ClassDensities, FloatArray
from ssme.errors import ConvergenceWarning
from ssme.progress import track

__all__ = ["EmFit", "EmRules", "compute_posterior", "run_em"]


@dataclass(frozen=True)
class EmRules:
    """How the loop runs.

    Attributes
    ----------
    lambda_u : weight of an unlabeled row in the objective.
    max_iter, tol : stop when no responsibility moves by more than ``tol``, or after ``max_iter``
        steps, with a `ConvergenceWarning`. ``tol=None``: exactly ``max_iter`` steps, no warning.
    labeled_weight : weight of a labeled row; 1 in the paper, 10 in its public code.
    weighted_from : the first step in which labeled rows have that weight, counted from 1; before
        it they weigh 1. The public code fits its first step without the weight.
    clamp : labeled rows keep their label in every step; False (the public code): only in the
        first, and follow the fitted posterior from then on.
    label_priors : the priors of the first step are the class shares of the labeled rows (algorithm
        1 of the paper) instead of those of the start; without a label of every class, the latter.
    drawn_priors : priors are the class shares of one random assignment per step, in which labeled
        rows have their label (the public code), instead of the expected shares.
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
    labels: NDArray[np.int64],
    rules: EmRules,
    rng: np.random.Generator,
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
            priors = _draw_class_shares(_clamp(responsibilities, labels, labeled), rng)
        elif rules.label_priors and step == 1:
            priors = _count_class_shares(labels[labeled], given[labeled], otherwise=priors)
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
        warnings.warn(
            f"EM stopped after {rules.max_iter} steps with responsibilities still moving by "
            f"{change:.2g} (tol {rules.tol:g}); raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
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


def _clamp(
    responsibilities: FloatArray, labels: NDArray[np.int64], labeled: NDArray[np.intp]
) -> FloatArray:
    out = responsibilities.copy(order="K")
    out[labeled] = 0.0
    out[labeled, labels[labeled]] = 1.0
    return out


def _count_class_shares(
    labels: NDArray[np.int64], weight: FloatArray, *, otherwise: FloatArray
) -> FloatArray:
    """Class shares (K,) of the labeled rows, or ``otherwise`` where a class has no label."""
    totals = np.bincount(labels, weight, minlength=len(otherwise))
    return totals / totals.sum() if (totals > 0).all() else otherwise


def _draw_class_shares(responsibilities: FloatArray, rng: np.random.Generator) -> FloatArray:
    upper = np.cumsum(responsibilities, axis=1)
    assigned = (rng.random(len(upper))[:, None] >= upper[:, :-1]).sum(axis=1)
    shares: FloatArray = np.bincount(assigned, minlength=upper.shape[1]) / len(upper)
    return shares
