"""What judges say about each other without labels, and the pool of all judges on any rows.

d_j is the share of rows on which judge j differs from the plurality of the *others* (ties shared
out), D its mean. Judges err together on hard rows, so that errors exceed disagreement:

    logit e_j = logit d_j + gap,        w_j = log[ (1 - e_j)(K - 1) / e_j ],

w_j the weight of an answer if errors were independent. They are not: m answers count as
m / (1 + (m - 1) rho), and how sharp the pool of all answers should be is settled by agreement too:

    z_ik = alpha_k + b l_ik,    l_ik = sum_j w_j e_ijk / (1 + (m_i - 1) rho),

b such that the mean error of the votes under W = softmax(z) is sigma(logit D + gap), alpha such
that W has the class shares p. What labels may change (`ssme.methods.regression`) is linear,

    z_ik + beta b l_ik  +  sum_j v_j b w e_ijk / (1 + (m_i - 1) rho)  +  s_k b l_ik  +  a_k,

beta the sharpness, v_j the weight of judge j (w the mean weight), s_k how much answers of class k
are worth, a_k the share of class k. The columns of beta, v and s are centered so that, to first
order, they leave the class shares as they are. Labeled rows have intercepts d of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import EvidenceEncoders
from ssme.methods.regression import Features, softmax
from ssme.methods.votes import measure_disagreement
from ssme.metrics.base import FloatArray


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
    def estimate(
        cls,
        evidence: FloatArray,
        votes: FloatArray,
        constants: AnswerConstants,
        stated: FloatArray | None = None,
    ) -> JudgeAgreement:
        """From evidence and votes (n, M, K) of all rows, and class shares (K,) if ``stated``."""
        n_classes = votes.shape[2]
        differs, counts = measure_disagreement(votes)
        differs = np.where(counts > 0, differs, 0.0)
        mean = float((differs * counts).sum() / counts.sum()) if counts.any() else 0.5
        mean = min(max(mean, 0.003), 0.9)
        few = constants.few_answers
        differs = (differs * counts + mean * few) / (counts + few)
        gap = constants.gap - constants.gap_per_class * (n_classes - 2)
        errors, error = _expect_error(differs, gap), float(_expect_error(np.array(mean), gap))
        weights = np.log((1.0 - errors) * (n_classes - 1) / errors)
        weights = np.maximum(weights, constants.least_weight)
        if stated is None:
            # rare classes are answered too seldom
            shares = votes.sum(axis=(0, 1)) / votes.sum()
            shares = shares + constants.share_mix * error * (1.0 / n_classes - shares)
        else:
            shares = stated.copy()
        shares = np.maximum(shares, constants.least_share / n_classes)
        shares /= shares.sum()
        pool = np.einsum("nmk,m->nk", evidence, weights)
        pool *= discount_dependence(evidence, constants.dependence)[:, None]
        log_b = _match_error(pool, shares, votes, error, constants) + constants.log_b_up
        offset = calibrate_offset(np.exp(log_b) * pool, shares, constants.share_steps)
        return cls(weights, shares, offset, log_b, error, mean)


def _expect_error(share: FloatArray, gap: float) -> FloatArray:
    """sigma(logit d + gap)."""
    inside = np.clip(share, 0.003, 0.95)
    odds = inside / (1.0 - inside) * np.exp(gap)
    return odds / (1.0 + odds)


def discount_dependence(evidence: FloatArray, dependence: float) -> FloatArray:
    """1 / (1 + (m - 1) rho) (n,), m the number of judges with evidence (n, M, K) on a row."""
    answering = (evidence != 0.0).any(axis=2).sum(axis=1)
    return 1.0 / (1.0 + dependence * np.maximum(answering - 1, 0))


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
    constants: AnswerConstants,
) -> float:
    """log b at which the votes' mean error under W is ``error``, within its bounds."""
    by_class, (low, high) = votes.sum(axis=1), constants.log_b
    for _ in range(constants.bisections):
        middle = 0.5 * (low + high)
        z = np.exp(middle) * pool
        w = softmax(calibrate_offset(z, shares, constants.share_steps) + z)
        if 1.0 - float((w * by_class).sum() / by_class.sum()) > error:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@dataclass(frozen=True, eq=False)
class AnswersDesign:
    """Everything that turns scores into P(y), but theta = (beta, v, s, a)."""

    encoders: EvidenceEncoders
    agreement: JudgeAgreement
    center: FloatArray
    constants: AnswerConstants

    @classmethod
    def estimate(
        cls, encoders: EvidenceEncoders, scores: FloatArray, constants: AnswerConstants
    ) -> AnswersDesign:
        """From the scores (n, M, K) of all rows; of many, evenly spaced ones are looked at."""
        _, n_models, n_classes = scores.shape
        scores = scores[space_rows(len(scores), constants.agreement_rows)]
        evidence, votes = encoders.compute_evidence(scores), encoders.cast_votes(scores)
        agreement = JudgeAgreement.estimate(evidence, votes, constants, encoders.shares)
        bare = cls(encoders, agreement, np.zeros((n_classes, 1 + n_models + n_classes)), constants)
        features = bare._make_features(evidence, None)
        w, columns = softmax(features.offset), features.dense
        spread = np.diag(w.sum(axis=0)) - w.T @ w
        mean = np.einsum("nk,nkp->np", w, columns)
        moved = np.einsum("nk,nkp->kp", w, columns) - w.T @ mean
        center = np.linalg.pinv(spread, rcond=1e-9) @ moved
        return cls(encoders, agreement, center, constants)

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Places of beta, v, s and a, and of the intercepts d of labeled rows."""
        n_models, n_classes = len(self.encoders.each), len(self.agreement.shares)
        ends = np.cumsum([0, 1, n_models, n_classes, n_classes, n_classes]).tolist()
        return tuple(slice(*each) for each in pairwise(ends))

    def make_scales(self, widening: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> FloatArray:
        """Prior scale of theta and d; ``widening`` multiplies those of b, of v and s, and of a."""
        constants, n_models = self.constants, len(self.encoders.each)
        shares = constants.sd_share * self.agreement.error / self.agreement.shares
        rated = constants.sd_share_rated + constants.sd_share_curve * self.encoders.curve
        shares = np.clip(shares, *constants.sd_share_range) + rated * self.encoders.rated
        return np.concatenate(
            [
                [widening[0] * constants.sd_b],
                np.full(n_models, widening[1] * constants.sd_v),
                np.full(shares.size, widening[1] * constants.sd_s),
                widening[2] * shares,
                np.ones(shares.size),
            ]
        )

    def make_features(self, scores: FloatArray, spread: FloatArray | None = None) -> Features:
        """Features of rows with ``scores`` (r, M, K); ``spread`` (K,) is the scale of d, if any."""
        return self._make_features(self.encoders.compute_evidence(scores), spread)

    def compute_posterior(self, scores: FloatArray, theta: FloatArray) -> FloatArray:
        """W (n, K) at ``theta`` (P,), so many rows at a time."""
        n, _, n_classes = scores.shape
        out: FloatArray = np.empty((n, n_classes))
        step = max(1, self.constants.batch_cells // (n_classes * theta.size))
        for start in range(0, n, step):
            part = slice(start, start + step)
            out[part] = self.make_features(scores[part]).compute_posteriors(theta[None])[0]
        return out

    def _make_features(self, evidence: FloatArray, spread: FloatArray | None) -> Features:
        """Features of rows with ``evidence`` (r, M, K)."""
        weights, b = self.agreement.weights, float(np.exp(self.agreement.log_b))
        discount = b * discount_dependence(evidence, self.constants.dependence)
        by_judge = evidence.transpose(0, 2, 1) * discount[:, None, None]
        base: FloatArray = by_judge @ weights
        n_classes = base.shape[1]
        by_class = base[:, :, None] * np.eye(n_classes)
        columns = np.concatenate([base[:, :, None], by_judge * weights.mean(), by_class], axis=2)
        *_, a, d = self.blocks
        shifts = [(a, np.ones(n_classes))] + ([] if spread is None else [(d, spread)])
        return Features(
            offset=self.agreement.offset + base,
            dense=columns - self.center,
            dense_at=slice(0, a.start),
            shifts=tuple(shifts),
        )


def space_rows(n: int, most: int) -> NDArray[np.int64]:
    """At most ``most`` of ``n`` rows, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
