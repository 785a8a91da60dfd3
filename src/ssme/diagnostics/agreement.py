"""How far classifiers agree: beyond chance, and as far as their own scores claim. No labels needed.

Draw a class from the scores a of one classifier and one from the scores b of another. They are the
same with probability E<a, b>, and by chance, from the mean scores alone, <E a, E b>; the excess

    Σ_k Cov(a_k, b_k)

is the numerator of Cohen's kappa (Educational and Psychological Measurement 20, 1960) for scores
instead of votes. With C the covariance matrix of a classifier's scores over rows, and C∘C' the
product of entries,

- for independent classifiers it has mean 0 and variance Σ C_a∘C_b / n, and pairs are uncorrelated;
- for calibrated classifiers that err independently it is Σ_kl C_a[k,l] C_b[k,l] / π_k, because a
  calibrated score has E[a_l | class k] = E[a_l a_k] / π_k; shared errors only add to it.

Pairs count by the rows that both have, those without any such row not at all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.metrics.base import FloatArray

__all__ = ["PairAgreement", "measure_agreement"]


@dataclass(frozen=True)
class PairAgreement:
    """Means over pairs of classifiers; ``z`` are in standard errors of independent classifiers."""

    seen: float
    by_chance: float
    claimed: float
    z_seen: float
    z_claimed: float
    z_best_pair: float


def measure_agreement(scores: FloatArray) -> PairAgreement:
    """Agreement of ``scores`` (n, M, K), at least two classifiers; NaN where missing."""
    held = np.where(np.isfinite(scores[:, :, 0]), 1.0, 0.0)
    count = np.maximum(held.sum(axis=0), 1.0)
    known = np.where(held[:, :, None] > 0.0, scores, 0.0)
    share: FloatArray = known.sum(axis=0) / count[:, None]  # (M, K)
    centered = (held[:, :, None] * (known - share)).transpose(1, 0, 2)  # (M, n, K)
    spread = np.stack([x.T @ x / n for x, n in zip(centered, count, strict=True)])  # (M, K, K)
    prior = share.mean(axis=0)[:, None]
    relative = np.divide(spread, prior, out=np.zeros_like(spread), where=prior > 0.0)

    pair = np.triu_indices(len(share), 1)
    common = (held.T @ held)[pair]
    weight = common / max(float(common.mean()), 1.0)
    rows = np.maximum(common, 1.0)
    excess = _sum_products(centered, centered)[pair] / rows
    variance = np.maximum(_sum_products(spread, spread)[pair], 0.0) / rows
    claimed = _sum_products(relative, spread)[pair]
    chance = float((weight * (share @ share.T)[pair]).mean())
    error = np.where(common > 0.0, np.sqrt(variance), 0.0)
    total = float(np.sqrt((weight**2 * variance).sum()))
    best = np.divide(excess, error, out=np.zeros_like(excess), where=error > 0.0).max()
    return PairAgreement(
        seen=chance + float((weight * excess).mean()),
        by_chance=chance,
        claimed=chance + float((weight * claimed).mean()),
        z_seen=float((weight * excess).sum()) / total if total > 0.0 else 0.0,
        z_claimed=float((weight * claimed).sum()) / total if total > 0.0 else 0.0,
        z_best_pair=float(best),
    )


def _sum_products(a: FloatArray, b: FloatArray) -> FloatArray:
    """Sum of products of entries (M, M) of every a[i] with every b[j]."""
    out: FloatArray = a.reshape(len(a), -1) @ b.reshape(len(b), -1).T
    return out
