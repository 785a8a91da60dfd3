"""Votes and the mean score: what classifiers say together, before any method.

A classifier votes for the class that metrics of decisions count as its prediction, ties included
(`ssme.metrics.predicted_classes`). A classifier without a score for a row casts no vote.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ssme.arrays import FloatArray
from ssme.metrics import confusion, kinds


def cast_votes(scores: FloatArray, threshold: float = kinds.DEFAULT_THRESHOLD) -> FloatArray:
    """Votes (n, M, K) of ``scores`` (n, M, K): one per classifier and row, or none at all."""
    predicted = confusion.predicted_classes(scores, threshold)
    return (predicted[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)


def compute_share_correct(votes: FloatArray, mass: FloatArray) -> FloatArray:
    """Probability (n, M) that each vote is right if ``mass`` (n, K) is P(y); NaN without a vote."""
    right = np.einsum("nmk,nk->nm", votes, mass)
    return np.where(votes.sum(axis=2) > 0, right, np.nan)


def average_scores(scores: FloatArray) -> FloatArray:
    """Mean over classifiers (n, K) of ``scores`` (n, M, K); equal shares where none has one."""
    total = np.where(np.isfinite(scores), scores, 0.0).sum(axis=1)
    whole = total.sum(axis=1, keepdims=True)
    return np.divide(total, whole, out=np.full_like(total, 1.0 / total.shape[1]), where=whole > 0.0)


def fill_missing(scores: FloatArray) -> FloatArray:
    """``scores`` (n, M, K) without NaN; unchanged where nothing is missing."""
    present = np.isfinite(scores)
    if present.all():
        return scores
    return np.where(present, scores, average_scores(scores)[:, None, :])


def measure_disagreement(
    votes: np.typing.NDArray[Any], copies: FloatArray | None = None, tie: float = 1e-9
) -> tuple[FloatArray, FloatArray]:
    """How often (M,) each vote is not the plurality of the others', and the rows (M,) behind it.

    ``votes`` (n, M, K) are 0 or 1; ties, votes closer than ``tie``, are shared out. ``copies``
    (M, M) says how far two classifiers are copies, which cannot vouch for each other. NaN where no
    row has votes of the classifier and of another.
    """
    n_models = votes.shape[1]
    total = votes.sum(axis=1, dtype=np.float64)
    counts = None
    if copies is not None and (copies.sum(axis=1) > 1.0).any():
        counts = (1.0 - copies) / copies.sum(axis=1)
    out, n_rows = np.full(n_models, np.nan), np.zeros(n_models)
    for j in range(n_models):
        own = votes[:, j]
        others = total - own if counts is None else np.einsum("nmk,m->nk", votes, counts[j])
        most = others.max(axis=1)
        known = own.any(axis=1) & (most > 0.0)
        n_rows[j] = known.sum()
        if n_rows[j]:
            leading = (others >= most[:, None] - tie)[known]
            agreed = (leading & (own[known] > 0)).any(axis=1) / leading.sum(axis=1)
            out[j] = 1.0 - agreed.mean()
    return out, n_rows
