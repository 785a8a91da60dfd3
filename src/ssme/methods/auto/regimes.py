"""Regimes: ways the world can be, each fitted to the labels and weighed by them.

    P(r | scores, labels)  proportional to  P(r) E_r Z_r S_r

- P(r) as `RegimesConstants.prior` says;
- E_r, the density of what the scores alone show;
- Z_r, the marginal likelihood of the labels (`Regression.log_evidence`);
- S_r = prod_i [ sum_k e^(d_k) W_k(x_i) ] / [ sum_k e^(d_k) mean W_k ] over the labeled rows where
  labels were chosen by class, one otherwise: the density of the labeled rows' *scores* (a
  retrospective likelihood is a prospective one times this; Prentice and Pyke, Biometrika 66, 1979).

A regime looks at a `Situation` and gives its `View`: its pool, its prior and E_r. To add one, write
its ``look`` function, enter it in `REGIMES` and `MEANINGS` and give it a prior probability.

"stated" has no pool: every classifier is right as often as it says. It is held against the usual
regime by the accuracies on the labels, Z_stated = Z_usual N(R_stated; 0, S) / N(R_usual; 0, S), R
being accuracy minus the one expected and S its covariance under the usual W, plus a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.methods.auto.constants import Constants, ModelConstants, RegimesConstants
from ssme.methods.auto.model import (
    add_label_shift,
    compute_label_shift,
    compute_label_spread,
    compute_posterior,
    make_features,
    make_regression,
)
from ssme.methods.auto.pool import (
    GEOMETRIC,
    PoolRule,
    ScoreSummary,
    TemperaturePrior,
    add_evidence,
    measure_correlation,
    predict_agreed_temperature,
    predict_scale,
    predict_temperature,
    weigh_by_labels,
)
from ssme.methods.regression import Regression
from ssme.metrics.confusion import predicted_classes


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """The labeled rows of a fit: clipped scores ``q`` (n, M, K), ``present`` (n, M), ``classes``.

    ``weights`` (n,) say how often each label counts in the likelihood; None where all count once.
    ``clusters`` (n,) are those of the rows, None where no two of them are in one.
    """

    q: FloatArray
    present: BoolArray
    classes: IntArray
    weights: FloatArray | None = None
    clusters: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Situation:
    """What every regime can look at: a summary of all scores, the labels and the constants.

    ``design`` says how rows were chosen for labeling; it is None where this is not known.
    """

    summary: ScoreSummary
    labels: KnownLabels
    constants: Constants
    design: str | None = None

    @cached_property
    def equal_shares(self) -> FloatArray:
        """log p (K,) of equally frequent classes."""
        return np.full(self.summary.n_classes, -np.log(self.summary.n_classes))

    @cached_property
    def stated_shares(self) -> FloatArray:
        """log p (K,): of the mean scores, or equal where classifiers answer 0 or 1."""
        if self.constants.pool.stated_shares and not self.answers_only:
            return np.log(self.summary.shares)
        return self.equal_shares

    @property
    def answers_only(self) -> bool:
        """Whether the classifiers answer 0 or 1, so that their scores state no error."""
        return self.summary.stated_error < self.constants.prior.least_error

    @cached_property
    def class_weighted(self) -> FloatArray:
        """Pool weights w (M,), labels counting as if their classes had the stated shares."""
        counts = np.bincount(self.labels.classes, minlength=self.summary.n_classes)
        wanted = np.exp(self.stated_shares) * self.labels.classes.size
        return self.weigh_classifiers((wanted / np.maximum(counts, 1))[self.labels.classes])

    def weigh_classifiers(self, row_weights: FloatArray | None) -> FloatArray:
        """Pool weights w (M,), where ``row_weights`` (n,) say how often each label counts."""
        labels, trust = self.labels, self.constants.pool.label_trust
        standing = self.summary.standing
        return weigh_by_labels(
            labels.q, labels.present, labels.classes, standing, trust, row_weights
        )

    @cached_property
    def usual_pooling(self) -> PoolRule:
        """The pool of most regimes, with weights that suit how rows were chosen for labeling."""
        by_class = self.design == "by_class"
        weights = self.class_weighted if by_class else self.weigh_classifiers(self.labels.weights)
        members = self.constants.pool.members
        return PoolRule(self.summary.standing, weights, self.stated_shares, members)

    @cached_property
    def usual_prior(self) -> TemperaturePrior:
        """The prior of log b: from the stated error, or from agreement where none is stated."""
        constants, rho = self.constants.prior, self.correlation
        if not np.isfinite(rho):
            rho = self.constants.independence.usual_rho[0]
        if self.answers_only and self.agreed is not None:
            return TemperaturePrior(self.agreed, predict_scale(self.summary, rho, constants))
        return predict_temperature(self.summary, rho, constants)

    @cached_property
    def agreed(self) -> float | None:
        """The log b about equal class shares that agreement implies; None where it implies none."""
        summary, constants = self.summary, self.constants.agreement
        offset = constants.offset + constants.offset_few / summary.n_effective
        members = self.constants.pool.members
        pooling = PoolRule(summary.standing, summary.standing, self.stated_shares, members)
        log_pi, equal = pooling(summary.q, summary.present), self.equal_shares
        return predict_agreed_temperature(summary, log_pi, equal, offset, constants)

    @property
    def conflict(self) -> float | None:
        """kappa: log b by agreement minus log b by what the scores state; None without either."""
        if self.agreed is None or self.answers_only:
            return None
        return self.agreed - self.usual_prior.center

    @cached_property
    def correlation(self) -> float:
        """rho, the correlation of the classifiers within classes; NaN where it is unknown."""
        summary, constants = self.summary, self.constants.independence
        few = summary.n_models < constants.least_models or len(summary.q) < 2
        if few or self.answers_only or not summary.present.all():
            return float("nan")
        return measure_correlation(summary.q, add_evidence(summary.q), summary.standing, constants)


@dataclass(frozen=True, eq=False)
class View:
    """A regime's version of the model: pool, prior of log b, scales, and log E_r of the scores.

    ``least_shift`` is the least scale of the label intercepts.
    """

    pooling: PoolRule
    prior: TemperaturePrior
    model: ModelConstants
    log_evidence: float
    least_shift: float = 0.0


def log_conflict_density(situation: Situation, distorted: bool) -> float:
    """Log density of kappa: t_4, wider where log b is uncertain, or normal where ``distorted``."""
    constants, kappa = situation.constants.regimes, situation.conflict
    if kappa is None:
        return 0.0
    if distorted:
        scale = constants.distorted_conflict
        return float(-0.5 * (kappa / scale) ** 2 - np.log(scale * np.sqrt(2.0 * np.pi)))
    scale = float(np.hypot(constants.usual_conflict, situation.usual_prior.scale))
    offset = kappa / scale
    return float(-2.5 * np.log1p(offset**2 / 4.0) - np.log(scale) + np.log(0.375))


def log_correlation_density(situation: Situation, independent: bool) -> float:
    """Log density of rho, normal about its usual mean, or about zero where ``independent``."""
    rho, constants = situation.correlation, situation.constants
    if not np.isfinite(rho):
        return 0.0
    mean, scale = constants.independence.usual_rho
    if independent:
        mean, scale = 0.0, constants.regimes.independent_rho
    return float(-0.5 * ((rho - mean) / scale) ** 2 - np.log(scale))


def log_usual_density(situation: Situation) -> float:
    """Log density of both where scores are what they usually are."""
    return log_conflict_density(situation, False) + log_correlation_density(situation, False)


def look_usual(situation: Situation) -> View:
    """The pool sharpened about the stated shares, by about as much as the stated error predicts."""
    evidence, model = log_usual_density(situation), situation.constants.model
    return View(situation.usual_pooling, situation.usual_prior, model, evidence)


def look_distorted(situation: Situation) -> View | None:
    """All scores are sound ones raised to some power: only agreement says how sharp they are.

    A power works about equal class shares, so its inverse does too, which repairs stated shares.
    """
    constants, few = situation.constants, 1.0 / situation.summary.n_effective
    if situation.agreed is None or situation.answers_only:
        return None
    shares = situation.equal_shares
    evidence = log_conflict_density(situation, True) + log_correlation_density(situation, False)
    scale = constants.regimes.distorted_scale + constants.regimes.distorted_scale_few * few
    prior = TemperaturePrior(situation.agreed, scale)
    pooling = replace(situation.usual_pooling, log_share=shares)
    return View(pooling, prior, constants.model, evidence)


def look_shares(situation: Situation) -> View:
    """Classes have other shares than the scores state: freer class shifts, wider log b."""
    constants = situation.constants
    prior = TemperaturePrior(situation.usual_prior.center, constants.regimes.shares_scale)
    freer = replace(constants.model, sd_a=constants.regimes.shares_shift)
    return View(situation.usual_pooling, prior, freer, log_usual_density(situation))


def look_added(situation: Situation) -> View | None:
    """Classifiers err independently given the class, so their evidence adds up: the geometric pool.

    Without a b from agreement, M classifiers with correlation rho count as M / (1 + (M - 1) rho).
    """
    rho, constants, summary = situation.correlation, situation.constants, situation.summary
    if not np.isfinite(rho):
        return None
    pooling = PoolRule(summary.counts, summary.counts, situation.stated_shares, GEOMETRIC)
    offset = constants.agreement.offset_independent
    log_pi = pooling(summary.q, summary.present)
    center = predict_agreed_temperature(
        summary, log_pi, pooling.log_share, offset, constants.agreement
    )
    if center is None:
        m = 1.0 / float((summary.counts**2).sum())
        center = float(np.log(m / (1.0 + (m - 1.0) * max(rho, 0.0))))
    prior = TemperaturePrior(center, constants.regimes.added_scale)
    evidence = log_correlation_density(situation, True) - float(
        np.log(constants.regimes.distorted_conflict * 2.5)
    )
    return View(pooling, prior, constants.model, evidence)


def look_selected(situation: Situation) -> View | None:
    """Rows were chosen for labeling by class: wide label intercepts, labels weighed by class.

    Else class-weighted classifiers would win, and their shares with them.
    """
    if situation.design is not None or situation.labels.classes.size == 0:
        return None
    counts = np.bincount(situation.labels.classes, minlength=situation.summary.n_classes)
    return View(
        replace(situation.usual_pooling, weights=situation.class_weighted),
        situation.usual_prior,
        situation.constants.model,
        log_usual_density(situation) + compute_design_bonus(counts),
        least_shift=situation.constants.regimes.selected_shift,
    )


def compute_design_bonus(counts: IntArray) -> float:
    """Log evidence of the counts (K,) of labels by class, were they fixed by design.

    Half of such designs take equally many of every class, which explains equal counts wholly, while
    labels drawn at random hit them by chance only.
    """
    n, n_classes = int(counts.sum()), len(counts)
    if n < n_classes or counts.max() - counts.min() > 1:
        return float(np.log(0.5))
    share = counts / n
    chance = gammaln(n + 1.0) - gammaln(counts + 1.0).sum()
    chance += (counts * np.log(share, where=share > 0.0, out=np.zeros(n_classes))).sum()
    return float(np.log(0.5) - chance + 0.5 * (n_classes - 1) * np.log(n / n_classes))


USUAL, STATED = "usual", "stated"

REGIMES: dict[str, Callable[[Situation], View | None]] = {
    USUAL: look_usual,
    "distorted": look_distorted,
    "shares": look_shares,
    "added": look_added,
    "selected": look_selected,
}
"""Regimes with a pool, in the order in which they are tried: each gives its view of a situation, or
None where it does not apply."""

MEANINGS = {
    USUAL: "the classifiers are as classifiers usually are",
    "distorted": "all scores are much too flat or much too sharp",
    "shares": "the classes have other shares than the scores state",
    "added": "the classifiers err independently of each other",
    "selected": "rows were chosen for labeling by their class",
    STATED: "every classifier is right as often as its own scores say",
}
"""What completes "The labels fit a world in which ..."."""


@dataclass(frozen=True, eq=False)
class FittedRegime:
    """A regime with its mode on the labels.

    ``log_scores`` is log P(r) E_r, known before the labels, and ``log_labels`` is log Z_r S_r.
    """

    name: str
    log_scores: float
    log_labels: float
    view: View
    mode: FloatArray
    regression: Regression


@dataclass(frozen=True)
class StatedFit:
    """The regime without a pool, which has nothing to fit; fields as in `FittedRegime`."""

    log_scores: float
    log_labels: float
    name: str = STATED


def fit_regimes(situation: Situation) -> list[FittedRegime | StatedFit]:
    """Fit every regime that applies to the situation; the usual one comes first."""
    prior = situation.constants.regimes.prior
    fitted: list[FittedRegime] = []
    for name, look in REGIMES.items():
        chance = prior.get(name, 0.0)
        view = look(situation) if chance > 0.0 else None
        if view is not None:
            log_scores = view.log_evidence + float(np.log(chance))
            fitted.append(_fit(name, log_scores, view, situation))
    chance = prior.get(STATED, 0.0)
    if chance == 0.0 or situation.answers_only:
        return list(fitted)
    usual = fitted[0]
    log_scores = usual.log_scores + float(np.log(chance / prior[usual.name]))
    log_labels = usual.log_labels + _compare_stated(usual, situation)
    return [*fitted, StatedFit(log_scores, log_labels)]


def weigh_regimes(
    fitted: Sequence[FittedRegime | StatedFit], negligible: float, label_power: float = 1.0
) -> FloatArray:
    """Probabilities (R,), a label counting ``label_power`` times; those below negligible are 0."""
    logs = np.array([fit.log_scores + label_power * fit.log_labels for fit in fitted])
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    chance[chance < negligible] = 0.0
    return chance / chance.sum()


def choose_draw_shares(
    fitted: Sequence[FittedRegime | StatedFit], n_labeled: int, constants: RegimesConstants
) -> FloatArray:
    """Share (R,) of the draws that each regime gets.

    The larger of its probability and of the one in which a label counts n / (n + 75) times: models
    that are not exact make labels surer than they are.
    """
    usual = fitted[0].log_labels
    lenient = [
        replace(
            fit,
            log_labels=usual + shrink_stated_evidence(fit.log_labels - usual, n_labeled, constants),
        )
        if fit.name == STATED
        else fit
        for fit in fitted
    ]
    power = n_labeled / (n_labeled + constants.sharing)
    share = np.maximum(
        weigh_regimes(fitted, constants.negligible),
        weigh_regimes(lenient, constants.negligible, power),
    )
    return share / share.sum()


def shrink_stated_evidence(log_ratio: float, n_labeled: int, constants: RegimesConstants) -> float:
    """log(Z_stated / Z_usual) moved towards zero by at most 6 min(1, 20/n)^2: it is rough."""
    most, few = constants.stated_leniency
    overlooked = most * (few / max(n_labeled, few)) ** 2
    return max(log_ratio, min(0.0, log_ratio + overlooked))


def _fit(name: str, log_scores: float, view: View, situation: Situation) -> FittedRegime:
    summary, labels, log_share = situation.summary, situation.labels, view.pooling.log_share
    at_large = view.pooling(summary.q, summary.present)
    known = view.pooling(labels.q, labels.present)
    least = (
        situation.constants.regimes.selected_shift
        if situation.design == "by_class"
        else view.least_shift
    )
    chance = view.model.chance if situation.design is None else np.inf
    spread = compute_label_spread(at_large, known, chance, least)
    features = make_features(labels.q, known, log_share, spread)
    regression = make_regression(
        features, labels.classes, labels.weights, view.prior, summary.n_effective, view.model
    )
    mode = regression.find_mode()
    log_labels = regression.log_evidence(mode)
    if least > 0.0 and labels.classes.size:
        shift = compute_label_shift(regression, mode)
        lift = np.exp(shift - shift.max())
        w = compute_posterior(labels.q, known, log_share, mode)
        everywhere = compute_posterior(summary.q, at_large, log_share, mode)
        log_labels += float(np.log((w @ lift) / (everywhere.mean(axis=0) @ lift)).sum())
    return FittedRegime(name, log_scores, log_labels, view, mode, regression)


def _compare_stated(usual: FittedRegime, situation: Situation) -> float:
    """log N(R_stated; 0, S) - log N(R_usual; 0, S): what the labels say for "stated"."""
    labels, pooling = situation.labels, usual.view.pooling
    if labels.classes.size == 0:
        return 0.0
    answers, rows = predicted_classes(labels.q), np.arange(labels.classes.size)[:, None]
    count = np.maximum(labels.present.sum(axis=0), 1)
    log_pi = pooling(labels.q, labels.present)
    w = compute_posterior(labels.q, log_pi, pooling.log_share, usual.mode)
    w = add_label_shift(w, compute_label_shift(usual.regression, usual.mode))
    chosen = w[rows, answers]
    same = answers[:, :, None] == answers[:, None, :]
    both = np.where(same, chosen[:, :, None], 0.0) - chosen[:, :, None] * chosen[:, None, :]
    pairs = labels.present[:, :, None] & labels.present[:, None, :]
    covariance = (both * pairs).sum(axis=0) / np.outer(count, count)
    covariance[np.diag_indices_from(covariance)] += situation.constants.regimes.stated_tolerance**2
    right = ((answers == labels.classes[:, None]) & labels.present).sum(axis=0) / count
    stated = (labels.q.max(axis=2) * labels.present).sum(axis=0) / count
    expected = (chosen * labels.present).sum(axis=0) / count
    precision = np.linalg.inv(covariance)
    one, other = (-0.5 * float(r @ precision @ r) for r in (right - stated, right - expected))
    return one - other
