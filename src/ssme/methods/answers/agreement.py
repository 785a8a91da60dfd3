"""What judges say about each other, before any label is seen.

d_j is the share of rows on which judge j differs from the plurality of the *others* (ties shared
out), D its mean. Judges err together on hard rows, so that errors exceed disagreement:

    logit e_j = logit d_j + gap,        w_j = log[ (1 - e_j)(K - 1) / e_j ],

w_j the weight of an answer if errors were independent. They are not: m answers count as
m / (1 + (m - 1) rho), and how sharp the pool of all answers should be is settled by agreement too:

    z_ik = alpha_k + b l_ik,    l_ik = sum_j w_j e_ijk / (1 + (m_i - 1) rho),

b such that the mean error of the votes under W = softmax(z) is sigma(logit D + gap), alpha such
that W has the class shares p. Shares and sharpness are thereby apart: what labels say about one
does not disturb the other. p are the shares of the votes, moved a little towards equal ones, for
rare classes are answered too seldom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.methods.answers.constants import AnswerConstants
from ssme.metrics.base import FloatArray

__all__ = ["JudgeAgreement", "calibrate_offset", "measure_disagreement", "softmax"]


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """Weights (M,), shares (K,), offset alpha (K,), log b and mean error that agreement says."""

    weights: FloatArray
    shares: FloatArray
    offset: FloatArray
    log_b: float
    error: float
    disagreement: float

    @classmethod
    def of(
        cls,
        evidence: FloatArray,
        votes: FloatArray,
        of: AnswerConstants,
        stated: FloatArray | None = None,
    ) -> JudgeAgreement:
        """From evidence and votes (n, M, K) of all rows, labeled or not.

        ``stated`` (K,) are class shares that say more than the votes do.
        """
        n_classes = votes.shape[2]
        own, counts = measure_disagreement(votes)
        mean = float((own * counts).sum() / counts.sum()) if counts.any() else 0.5
        mean = min(max(mean, 0.003), 0.9)
        own = (own * counts + mean * of.few_answers) / (counts + of.few_answers)
        gap = of.gap - of.gap_per_class * (n_classes - 2)
        errors, error = _take_beyond(own, gap), float(_take_beyond(np.array(mean), gap))
        weights = np.log((1.0 - errors) * (n_classes - 1) / errors)
        weights = np.maximum(weights, of.least_weight)
        if stated is None:
            shares = votes.sum(axis=(0, 1)) / votes.sum()
            shares = shares + of.share_mix * error * (1.0 / n_classes - shares)
        else:
            shares = stated.copy()
        shares = np.maximum(shares, of.least_share / n_classes)
        shares /= shares.sum()
        pool = pool_evidence(evidence, weights, of.dependence)
        log_b = _match_error(pool, shares, votes, error, of) + of.log_b_up
        offset = calibrate_offset(np.exp(log_b) * pool, shares, of.share_steps)
        return cls(weights, shares, offset, log_b, error, mean)


def _take_beyond(share: FloatArray, gap: float) -> FloatArray:
    inside = np.clip(share, 0.003, 0.95)
    odds = inside / (1.0 - inside) * np.exp(gap)
    out: FloatArray = odds / (1.0 + odds)
    return out


def measure_disagreement(votes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """d (M,) and the rows (M,) it rests on: those that another judge answered too."""
    total, n_models = votes.sum(axis=1), votes.shape[1]
    own, counts = np.zeros(n_models), np.zeros(n_models)
    for j in range(n_models):
        others = total - votes[:, j]
        both = (votes[:, j].sum(axis=1) > 0) & (others.sum(axis=1) > 0)
        if both.any():
            others = others[both]
            top = others == others.max(axis=1, keepdims=True)
            share = top / top.sum(axis=1, keepdims=True)
            own[j] = 1.0 - float((share * votes[both, j]).sum(axis=1).mean())
            counts[j] = both.sum()
    return own, counts


def pool_evidence(evidence: FloatArray, weights: FloatArray, dependence: float) -> FloatArray:
    """l (n, K): weighted evidence of all judges, allowing for how many speak on a row."""
    total: FloatArray = np.einsum("nmk,m->nk", evidence, weights)
    return total * compute_loudness(evidence, dependence)[:, None]


def compute_loudness(evidence: FloatArray, dependence: float) -> FloatArray:
    """1 / (1 + (m - 1) rho) (n,), m the number of judges that say something on a row."""
    speaking = (evidence != 0.0).any(axis=2).sum(axis=1)
    out: FloatArray = 1.0 / (1.0 + dependence * np.maximum(speaking - 1, 0))
    return out


def softmax(z: FloatArray) -> FloatArray:
    """exp(z) / sum exp(z) over the last axis."""
    out: FloatArray = np.exp(z - z.max(axis=-1, keepdims=True))
    out /= out.sum(axis=-1, keepdims=True)
    return out


def calibrate_offset(z: FloatArray, shares: FloatArray, steps: int = 100) -> FloatArray:
    """alpha (K,) with which softmax(alpha + z) has the mean ``shares``, by iterative scaling."""
    offset = np.log(shares)
    for _ in range(steps):
        step = np.log(shares) - np.log(np.maximum(softmax(offset + z).mean(axis=0), 1e-12))
        offset = offset + step
        if np.abs(step).max() < 1e-4:
            break
    return offset


def _match_error(
    pool: FloatArray,
    shares: FloatArray,
    votes: FloatArray,
    error: float,
    of: AnswerConstants,
) -> float:
    """log b at which the votes' mean error under W is ``error``, within its bounds."""
    by_class, (low, high) = votes.sum(axis=1), of.log_b
    for _ in range(of.bisections):
        middle = 0.5 * (low + high)
        z = np.exp(middle) * pool
        w = softmax(calibrate_offset(z, shares, of.share_steps) + z)
        if 1.0 - float((w * by_class).sum() / by_class.sum()) > error:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)
