"""Possible truths: labels of all rows that agree with one joint draw of a metric.

A draw says what the metric m of every classifier may truly be. Among all labelings that give these
values the one nearest to the belief W tilts it along the influences psi of the labels,

    W_d(k | i)  ~  W(k | i) exp( sum_j l_j psi_ij(k) ),     l such that m(W_d) = draw d

(least Kullback-Leibler distance to first order). Labels drawn from W_d are a world in which the
classifiers are as good as the draw says, and row by row as the belief thinks likely.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.methods.beliefs import draw_labels
from ssme.metrics.base import FloatArray, Metric
from ssme.suggest.constants import TiltConstants

__all__ = ["draw_truth", "tilt_belief"]


def tilt_belief(
    metric: Metric,
    scores: FloatArray,
    belief: FloatArray,
    weights: FloatArray | None,
    influence: FloatArray,
    wanted: FloatArray,
    constants: TiltConstants | None = None,
) -> FloatArray:
    """W_d (n, K): ``belief`` (n, K) tilted until the metric is as ``wanted`` (M,).

    ``influence`` (n, K, M) is psi at ``belief``; a NaN in ``wanted`` asks for nothing.
    """
    of = constants or TiltConstants()
    plan = metric.plan(scores)
    known = np.isfinite(wanted)
    psi = influence[:, :, known]
    steps = np.zeros(int(known.sum()))
    tilted = belief
    for _ in range(of.steps):
        mass = tilted if weights is None else tilted * weights[:, None]
        missing = wanted[known] - plan(mass[None])[0][known]
        if not np.isfinite(missing).all() or np.abs(missing).max(initial=0.0) < of.near:
            break
        mean = np.einsum("nk,nkm->nm", tilted, psi)
        flat = psi.reshape(-1, psi.shape[2])
        covariance = (flat * tilted.reshape(-1, 1)).T @ flat - mean.T @ mean
        covariance += np.eye(len(covariance)) * of.ridge * max(np.trace(covariance), 1e-12)
        steps = steps + np.linalg.solve(covariance, missing)
        push = np.clip(psi @ steps, -of.strongest, of.strongest)
        tilted = belief * np.exp(push - push.max(axis=1, keepdims=True))
        tilted = tilted / tilted.sum(axis=1, keepdims=True)
    return tilted


def draw_truth(
    tilted: FloatArray, labels: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """A class (n,) for every row: its label where it has one, else drawn from ``tilted``."""
    drawn = draw_labels(tilted, 1, rng)[0]
    out: NDArray[np.int64] = np.where(labels >= 0, labels, drawn)
    return out
