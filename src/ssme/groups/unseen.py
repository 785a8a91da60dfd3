"""Rates of which a group shows no case: how large may they be among others like its rows?

A classifier that predicts class k for no row of a group finds none of its n cases of k there: its
recall is 0 in every draw. That is no proof for the people whom the rows stand for. With no case
among n seen, and all rates alike probable before, a rate has the distribution Beta(1, n): at most
"three in n" with 95 % probability. Likewise where it predicts k for every row, whose recall is 1.
"""

from __future__ import annotations

import numpy as np

from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import Decision

__all__ = ["leave_end"]


def leave_end(
    metric: Metric,
    scores: FloatArray,
    soft: FloatArray,
    draws: FloatArray,
    seed: np.random.SeedSequence,
) -> FloatArray:
    """``draws`` (D, M) that are as far from 0 or 1 as a rate without a case seen may be.

    ``scores`` (r, M, K) and ``soft`` (r, K) are those of the group's rows. Draws of metrics that
    are no share of the rows of a true class stay as they are, and so do those of classifiers that
    predict that class for some of the rows and for others not.
    """
    kind = metric.kind
    if not isinstance(kind, Decision) or kind.share_of is None or kind.share_of.true is None:
        return draws
    k, present = kind.share_of.true, np.isfinite(scores).all(axis=2)
    predicted = (predicted_classes(scores, kind.threshold) == k) & present
    always = (predicted == present).all(axis=0) & present.any(axis=0)
    either = (always | ~predicted.any(axis=0)) & present.any(axis=0)
    if not either.any():
        return draws
    cases = (soft[:, k, None] * present).sum(axis=0)
    unseen = np.random.default_rng(seed).beta(1.0, np.maximum(cases, 1.0), draws.shape)
    far = np.where(always, np.minimum(draws, 1.0 - unseen), np.maximum(draws, unseen))
    out: FloatArray = np.where(either, far, draws)
    return out
