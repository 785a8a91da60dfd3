"""Discrete predictions of every classifier, as votes that do not depend on the order of classes.

A classifier votes for the class with the highest score (for two classes: the one above 1/2). Ties
share the vote evenly, so that relabeling the classes changes nothing; a classifier without a score
for a row casts no vote. Decisions of two classes at another threshold are votes too, without ties.
"""

from __future__ import annotations

import numpy as np

from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import DEFAULT_THRESHOLD

__all__ = ["cast_votes", "compute_share_correct"]


def cast_votes(scores: FloatArray, threshold: float = DEFAULT_THRESHOLD) -> FloatArray:
    """Votes (n, M, K) of ``scores`` (n, M, K): one per classifier and row, or none at all."""
    if threshold != DEFAULT_THRESHOLD:
        decided = predicted_classes(scores, threshold)[:, :, None] == np.arange(scores.shape[2])
        out: FloatArray = decided.astype(np.float64)
        return out
    present = np.isfinite(scores).all(axis=2, keepdims=True)
    filled = np.where(present, scores, -1.0)
    top = (filled == filled.max(axis=2, keepdims=True)) & present
    votes: FloatArray = top / np.maximum(top.sum(axis=2, keepdims=True), 1)
    return votes


def compute_share_correct(votes: FloatArray, mass: FloatArray) -> FloatArray:
    """Probability (n, M) that each vote is right if ``mass`` (n, K) is P(y); NaN without a vote."""
    right = np.einsum("nmk,nk->nm", votes, mass)
    out: FloatArray = np.where(votes.sum(axis=2) > 0, right, np.nan)
    return out
