"""The pool of all judges and what labels may change about it, on any rows.

    z_ik = alpha_k + b l_ik                                                offset, without labels
         + beta b l_ik  +  sum_j v_j b w e_ijk loud_i  +  s_k b l_ik  +  a_k           theta

beta changes the sharpness, v_j the weight of judge j (w the mean weight), s_k how much answers of
class k are worth, a_k the share of class k. The columns of beta, v and s are centered so that, to
first order, they leave the class shares as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.methods.answers.agreement import JudgeAgreement, compute_loudness, softmax
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.regression import CoefficientBlock
from ssme.methods.answers.voices import Voices
from ssme.metrics.base import FloatArray

__all__ = ["AnswersDesign"]


@dataclass(frozen=True, eq=False)
class AnswersDesign:
    """Everything that turns scores into P(y), but theta."""

    voices: Voices
    agreement: JudgeAgreement
    center: FloatArray
    constants: AnswerConstants

    @classmethod
    def of(cls, voices: Voices, scores: FloatArray, constants: AnswerConstants) -> AnswersDesign:
        """From the scores (n, M, K) of all rows, of which as many are used as it takes."""
        n, n_models, n_classes = scores.shape
        used = np.unique(np.linspace(0, n - 1, min(n, constants.agreement_rows)).astype(np.int64))
        evidence, votes = voices.compute_evidence(scores[used]), voices.cast_votes(scores[used])
        agreement = JudgeAgreement.of(evidence, votes, constants, voices.shares)
        bare = cls(voices, agreement, np.zeros((n_classes, 1 + n_models + n_classes)), constants)
        offset, columns = bare._make_columns(evidence)
        w = softmax(offset)
        spread = np.diag(w.sum(axis=0)) - w.T @ w
        mean = np.einsum("nk,nkp->np", w, columns)
        moved = np.einsum("nk,nkp->kp", w, columns) - w.T @ mean
        center = np.linalg.pinv(spread, rcond=1e-9) @ moved
        return cls(voices, agreement, center, constants)

    @property
    def blocks(self) -> tuple[CoefficientBlock, ...]:
        """The families of theta."""
        n_models, n_classes = len(self.voices.each), len(self.agreement.shares)
        ends = np.cumsum([0, 1, n_models, n_classes, n_classes]).tolist()
        names = ("b", "v", "s", "a")
        return tuple(
            CoefficientBlock(slice(start, stop), name)
            for name, start, stop in zip(names, ends[:-1], ends[1:], strict=True)
        )

    def make_scales(self, widening: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> FloatArray:
        """Prior scale (P,) of theta; ``widening`` multiplies those of b, of v and s, and of a."""
        of, n_models = self.constants, len(self.voices.each)
        shares = of.sd_share * self.agreement.error / self.agreement.shares
        rated = of.sd_share_rated + of.sd_share_curve * self.voices.curve
        shares = np.clip(shares, *of.sd_share_range) + rated * self.voices.rated
        return np.concatenate(
            [
                [widening[0] * of.sd_b],
                np.full(n_models, widening[1] * of.sd_v),
                np.full(shares.size, widening[1] * of.sd_s),
                widening[2] * shares,
            ]
        )

    def make_features(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Offset (r, K) and columns (r, K, P) of rows with ``scores`` (r, M, K)."""
        offset, columns = self._make_columns(self.voices.compute_evidence(scores))
        n, n_classes = offset.shape
        shares = np.broadcast_to(np.eye(n_classes), (n, n_classes, n_classes))
        return offset, np.concatenate([columns - self.center, shares], axis=2)

    def compute_posterior(self, scores: FloatArray, theta: FloatArray) -> FloatArray:
        """W (n, K) at ``theta`` (P,), so many rows at a time."""
        n, _, n_classes = scores.shape
        out: FloatArray = np.empty((n, n_classes))
        step = max(1, self.constants.batch_cells // (n_classes * theta.size))
        for start in range(0, n, step):
            offset, columns = self.make_features(scores[start : start + step])
            out[start : start + step] = softmax(offset + columns @ theta)
        return out

    def _make_columns(self, evidence: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Offset (r, K) and the columns (r, K, 1 + M + K) of beta, v and s, not yet centered."""
        weights, b = self.agreement.weights, float(np.exp(self.agreement.log_b))
        loud = b * compute_loudness(evidence, self.constants.dependence)
        own = evidence.transpose(0, 2, 1) * loud[:, None, None]
        base: FloatArray = own @ weights
        n_classes = base.shape[1]
        by_class = base[:, :, None] * np.eye(n_classes)
        columns = np.concatenate([base[:, :, None], own * weights.mean(), by_class], axis=2)
        return self.agreement.offset + base, columns
