"""What labels of suggested rows say about a metric beyond the model.

Rows that `ssme suggest` chose are unlike the rest, and the model's coefficients, fitted to them,
may be off for the rest. The probabilities of the draw are known, so that the labels still tell by
how much. With psi_i(k) the change of the metrics m(W) of all classifiers if row i were known to be
of class k (`ssme.metrics.influence`), e_i = psi_i(y_i) - E_W psi_i, the label of row i standing for
w_i of the N rows,

    R = sum_i w_i e_i                        the weighted residual, unbiased for the model's bias,
    V = sum_i w_i (w_i - 1) C_i              its variance, C_i = Cov psi_i (half under W, half seen)
    B = N sum_i w_i C_i / n_0                that of the bias: the noise of n_0 labels at random,

the best guess of the bias given R is B (B + V)^-1 R, and what is left of it has the covariance
B - B (B + V)^-1 B, which the draws get as noise. `guess_bias` computes both.

This is done for ROC AUC. For accuracy, `differences` does the same with the differences between
classifiers, where C_i has a formula. `SuggestedLabels` chooses between the two and moves the
estimate.

n_0 = 300 was chosen on the sets of ``benchmarks.decide.suggestion``: runs 0
to 9 of rows drawn for ROC AUC and at random, runs 0 to 3 of rows drawn for the best model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.constants import CorrectionConstants
from ssme.methods.auto.differences import correct_differences
from ssme.methods.base import Estimate
from ssme.methods.beliefs.direct import compute_root
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.influence import measure_influence
from ssme.metrics.kinds import Decision, Ranking, Rows

__all__ = ["BiasGuess", "SuggestedLabels", "guess_bias"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SuggestedLabels:
    """The labels of suggested rows, beside W of rows that stand for all.

    ``soft`` (n, K) is W of all rows of the data, ``rows`` are those that stand for all, and a label
    of the ``labeled`` rows stands for ``shares`` (r,) of all rows.
    """

    data: ScoreSet
    soft: FloatArray
    rows: IntArray
    labeled: IntArray
    shares: FloatArray
    constants: CorrectionConstants

    @classmethod
    def of(
        cls, data: ScoreSet, soft: FloatArray, rows: IntArray, constants: CorrectionConstants
    ) -> SuggestedLabels | None:
        """The labels of ``data``; None where they did not come in rounds or scores are missing."""
        weights = data.design.weights
        if data.design.rounds is None or weights is None or data.weights is not None:
            return None
        labeled = np.flatnonzero(data.labeled)
        if not np.isfinite(data.scores[np.union1d(rows, labeled)]).all():
            return None
        return cls(data, soft, rows, labeled, weights[labeled] / data.n_rows, constants)

    def move(
        self, metric: Metric, estimate: Estimate, still: float, seed: np.random.SeedSequence
    ) -> Estimate:
        """``estimate`` moved by the best guess of the model's bias, where the metric has one.

        ``still`` is the share of the bias that the residual correction has not taken out already.
        """
        kind = metric.kind
        if isinstance(kind, Decision) and kind.share_of == Rows() and self.data.n_models > 1:
            return _move_estimate(metric, estimate, still * self._correct(kind.threshold), 0.0)
        if isinstance(kind, Ranking) and kind.statistic == "roc_auc":
            guess = self._guess_bias(metric)
            assert estimate.draws is not None
            rng = np.random.default_rng(seed)
            noise = guess.draw_left(rng.standard_normal(estimate.draws.shape))
            return _move_estimate(metric, estimate, still * guess.step, still * noise)
        return estimate

    def _correct(self, threshold: float) -> FloatArray:
        """What to add to the accuracies (M,) of decisions at ``threshold``."""
        data, rows, labeled = self.data, self.rows, self.labeled
        return correct_differences(
            predicted_classes(data.scores[rows], threshold),
            self.soft[rows],
            predicted_classes(data.scores[labeled], threshold),
            self.soft[labeled],
            data.labels[labeled],
            self.shares,
            self.constants.bias_labels,
        )

    def _guess_bias(self, metric: Metric) -> BiasGuess:
        """The bias of a metric of W, from a part of the rows that stand for all."""
        data, labeled = self.data, self.labeled
        shown = np.union1d(self.rows[: self.constants.influence_rows], labeled)
        return guess_bias(
            metric,
            data.scores[shown],
            self.soft[shown],
            np.searchsorted(shown, labeled),
            data.labels[labeled],
            self.shares * shown.size,
            self.constants.ranking_bias_labels,
        )


def _move_estimate(
    metric: Metric, estimate: Estimate, step: FloatArray, noise: FloatArray | float
) -> Estimate:
    """``estimate`` moved by ``step`` (M,), with ``noise`` added to its draws."""
    assert estimate.draws is not None
    value = np.clip(estimate.value + step, metric.low, metric.high)
    moved = np.clip(estimate.draws + step + noise, metric.low, metric.high)
    return replace(estimate, value=value, draws=moved)


@dataclass(frozen=True, eq=False)
class BiasGuess:
    """The model's bias: its best guess ``step`` (M,), to be added to the metrics.

    ``left`` (M, M) is the covariance of what is left of the bias.
    """

    step: FloatArray
    left: FloatArray

    def draw_left(self, normal: FloatArray) -> FloatArray:
        """Noise (D, M) with the covariance of what is left, from standard normal (D, M)."""
        out: FloatArray = normal @ compute_root(self.left)
        return out


def guess_bias(
    metric: Metric,
    scores: FloatArray,
    soft: FloatArray,
    known: NDArray[np.int64],
    labels: NDArray[np.int64],
    weights: FloatArray,
    bias_labels: float,
    least_variance: float = 1e-8,
) -> BiasGuess:
    """Guess the bias of the metrics of ``soft``, on rows of which some are labeled.

    Parameters
    ----------
    metric : Metric
        The metric.
    scores, soft : arrays (n, M, K) and (n, K)
        Scores and W of rows that stand for all, labeled ones among them.
    known, labels : arrays (r,) of int
        Places of the labeled rows, and their labels.
    weights : array (r,)
        How many of these n rows each label stands for.
    bias_labels : float
        n_0: how many labels drawn at random have as much noise as the model has bias.
    least_variance : float
        Added to V, so that it can be inverted where classifiers are alike.
    """
    asked = np.zeros(len(soft), dtype=bool)
    asked[known] = True
    psi = measure_influence(metric, scores, soft, None, asked, 0.0)[known]
    own = soft[known]
    mean = np.einsum("rk,rkm->rm", own, psi)
    off = psi[np.arange(known.size), labels] - mean
    each = np.einsum("rk,rkm,rkl->rml", own, psi, psi) - mean[:, :, None] * mean[:, None, :]
    spread = weights * np.maximum(weights - 1.0, 0.0)
    noise = 0.5 * (np.einsum("r,rml->ml", spread, each) + (off * spread[:, None]).T @ off)
    noise += least_variance * np.eye(len(noise))
    bias = len(soft) / bias_labels * np.einsum("r,rml->ml", weights, each)
    gain = np.linalg.solve(bias + noise, bias).T
    left = bias - gain @ bias
    return BiasGuess(gain @ (weights @ off), 0.5 * (left + left.T))
