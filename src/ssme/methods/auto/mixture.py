"""Which regime? Each is fitted to the labels, and the labels weigh them.

    P(r | scores, labels)  proportional to  P(r) E_r Z_r S_r

- P(r) as `RegimesConstants.prior` says;
- E_r, the density of what the scores alone show (`regimes.evidence`);
- Z_r, the marginal likelihood of the labels, by Laplace over the coefficients of the mode;
- S_r = prod_i [ sum_k e^(d_k) W_k(x_i) ] / [ sum_k e^(d_k) mean W_k ] over the labeled rows where
  labels were chosen by class, one otherwise: the density of the labeled rows' *scores*, which tells
  "labels chosen by class" from "the classes have other shares" (a retrospective likelihood is a
  prospective one times this factor; Prentice and Pyke, Biometrika 66, 1979).

One regime has no pool: "stated", in which every classifier is right as often as it says. It is
held against the usual one by the accuracies on the labels,

    Z_stated = Z_usual N(R_stated; 0, S) / N(R_usual; 0, S),

R being accuracy on the labels minus the one expected, S its covariance over labels drawn from the
usual W, plus a tolerance.

Draws are shared out over the regimes by the larger of that and of what is left of it if a label
counts less, P(r) E_r (Z_r S_r)^p with p = n / (n + 75), scaled to sum one. Models that are not
exact make labels surer than they are (within a regime draws have a power for that, too), and a few
labels that speak against a regime by chance would leave out its world altogether.

The evidence of "stated" is the roughest: S is that of a W which is wrong where this regime is
right, and smaller than it should be. So where draws are shared out, what the labels say against it
counts only as far as it exceeds 6 min(1, 20/n)^2 on the scale of log Z.

`fit_regimes` fits all regimes that apply, `weigh_regimes` gives their probabilities, and
`choose_draw_shares` shares out the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ssme.methods.auto.constants import RegimesConstants
from ssme.methods.auto.model import (
    CoefficientDesign,
    LabelEvidence,
    as_labeled,
    compute_label_spread,
    find_mode,
    log_evidence,
)
from ssme.methods.auto.regimes import REGIMES, Situation, View
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes

__all__ = [
    "FittedRegime",
    "StatedFit",
    "choose_draw_shares",
    "fit_regimes",
    "shrink_stated_evidence",
    "weigh_regimes",
]


@dataclass(frozen=True, eq=False)
class FittedRegime:
    """A regime with its mode on the labels.

    ``log_scores`` is the logarithm of P(r) E_r, what is known before the labels, and ``log_labels``
    that of Z_r S_r, what the labels say.
    """

    name: str
    log_scores: float
    log_labels: float
    view: View
    mode: FloatArray
    evidence: LabelEvidence


@dataclass(frozen=True)
class StatedFit:
    """The regime without a pool, which has nothing to fit; fields as in `FittedRegime`."""

    log_scores: float
    log_labels: float
    name: str = "stated"


def fit_regimes(situation: Situation) -> list[FittedRegime | StatedFit]:
    """Fit every regime that applies to the situation; the usual one comes first."""
    prior = situation.constants.regimes.prior
    fitted: list[FittedRegime] = []
    for regime in REGIMES:
        chance = prior.get(regime.name, 0.0)
        view = regime.look(situation) if chance > 0.0 else None
        if view is not None:
            fit = _fit(regime.name, view, situation)
            fitted.append(replace(fit, log_scores=fit.log_scores + float(np.log(chance))))
    chance = prior.get(StatedFit.name, 0.0)
    if chance == 0.0 or situation.answers_only:
        return list(fitted)
    usual = fitted[0]
    log_scores = usual.log_scores + float(np.log(chance / prior[usual.name]))
    log_labels = usual.log_labels + _compare_stated(usual, situation)
    return [*fitted, StatedFit(log_scores, log_labels)]


def weigh_regimes(
    fitted: Sequence[FittedRegime | StatedFit], negligible: float, label_power: float = 1.0
) -> FloatArray:
    """Probabilities (R,) of the regimes, where a label counts ``label_power`` times.

    Probabilities below ``negligible`` become zero.
    """
    logs = np.array([fit.log_scores + label_power * fit.log_labels for fit in fitted])
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    chance[chance < negligible] = 0.0
    out: FloatArray = chance / chance.sum()
    return out


def choose_draw_shares(
    fitted: Sequence[FittedRegime | StatedFit], n_labeled: int, of: RegimesConstants
) -> FloatArray:
    """Share (R,) of the draws that each regime gets."""
    usual = fitted[0].log_labels

    def shrink(fit: FittedRegime | StatedFit) -> FittedRegime | StatedFit:
        if fit.name != StatedFit.name:
            return fit
        ratio = shrink_stated_evidence(fit.log_labels - usual, n_labeled, of)
        return replace(fit, log_labels=usual + ratio)

    lenient = [shrink(fit) for fit in fitted]
    power = n_labeled / (n_labeled + of.sharing)
    share = np.maximum(
        weigh_regimes(fitted, of.negligible), weigh_regimes(lenient, of.negligible, power)
    )
    out: FloatArray = share / share.sum()
    return out


def shrink_stated_evidence(log_ratio: float, n_labeled: int, of: RegimesConstants) -> float:
    """``log_ratio``, which is log(Z_stated / Z_usual), moved towards zero.

    What is overlooked where draws are shared out is 6 min(1, 20/n)^2, and never more than the ratio
    says against "stated".
    """
    most, few = of.stated_leniency
    overlooked = most * (few / max(n_labeled, few)) ** 2
    return max(log_ratio, min(0.0, log_ratio + overlooked))


def _fit(name: str, view: View, situation: Situation) -> FittedRegime:
    """The regime at its mode; ``log_scores`` is that of E_r alone, without P(r)."""
    summary, labels = situation.summary, situation.labels
    at_large = view.pooling(summary.q, summary.present)
    known = view.pooling(labels.q, labels.present)
    least = situation.constants.regimes.selected_shift if situation.by_class else view.least_shift
    chance = view.model.chance if situation.design is None else np.inf
    spread = compute_label_spread(at_large, known, chance, least)
    shape = (view.pooling.log_share, view.model, summary.n_effective)
    design = CoefficientDesign(known, labels.q, *shape)
    evidence = LabelEvidence.of(design, labels.classes, view.prior, spread, labels.weights)
    mode = find_mode(evidence)
    log_labels = log_evidence(evidence, mode)
    if least > 0.0 and labels.size:
        w = design.compute_posterior(mode, slice(None))
        everywhere = CoefficientDesign(at_large, summary.q, *shape).compute_posterior(
            mode, slice(None)
        )
        log_labels += _measure_labeled_scores(w, everywhere, evidence.compute_label_shift(mode))
    return FittedRegime(name, view.log_evidence, log_labels, view, mode, evidence)


def _measure_labeled_scores(w: FloatArray, everywhere: FloatArray, shift: FloatArray) -> float:
    """log S_r, from W (n, K) of the labeled rows, W of rows at large and the label intercepts.

    ``shift`` (K,) are the intercepts d.
    """
    lift = np.exp(shift - shift.max())
    return float(np.log((w @ lift) / (everywhere.mean(axis=0) @ lift)).sum())


def _compare_stated(usual: FittedRegime, situation: Situation) -> float:
    """log N(R_stated; 0, S) - log N(R_usual; 0, S): what the labels say for "stated"."""
    labels = situation.labels
    if labels.size == 0:
        return 0.0
    answers, rows = predicted_classes(labels.q), np.arange(labels.size)[:, None]
    count = np.maximum(labels.present.sum(axis=0), 1)
    log_pi = usual.view.pooling(labels.q, labels.present)
    shape = (usual.view.pooling.log_share, usual.view.model, situation.summary.n_effective)
    w = CoefficientDesign(log_pi, labels.q, *shape).compute_posterior(usual.mode, slice(None))
    w = as_labeled(w, usual.evidence.compute_label_shift(usual.mode))
    expected = w[rows, answers] * labels.present
    same = answers[:, :, None] == answers[:, None, :]
    both = np.where(same, w[rows, answers][:, :, None], 0.0)
    both -= w[rows, answers][:, :, None] * w[rows, answers][:, None, :]
    pairs = labels.present[:, :, None] & labels.present[:, None, :]
    covariance = (both * pairs).sum(axis=0) / np.outer(count, count)
    covariance[np.diag_indices_from(covariance)] += situation.constants.regimes.stated_tolerance**2
    right = ((answers == labels.classes[:, None]) & labels.present).sum(axis=0) / count
    stated = (labels.q.max(axis=2) * labels.present).sum(axis=0) / count
    precision = np.linalg.inv(covariance)
    residuals = [right - stated, right - expected.sum(axis=0) / count]
    one, other = (-0.5 * float(r @ precision @ r) for r in residuals)
    return one - other
