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
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaln, logit

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.methods.auto import pool
from ssme.methods.auto.constants import Constants, RegimesConstants
from ssme.methods.auto.model import (
    compute_label_shift,
    compute_label_spread,
    compute_posterior,
    make_features,
    make_regression,
)
from ssme.methods.regression import Regression, log_softmax


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

    summary: pool.ScoreSummary
    labels: KnownLabels
    constants: Constants
    design: str | None = None

    @cached_property
    def equal_shares(self) -> FloatArray:
        """log p (K,) of equally frequent classes."""
        return np.full(self.summary.n_classes, -np.log(self.summary.n_classes))

    @cached_property
    def stated_shares(self) -> FloatArray:
        """log p (K,): of the mean scores, nearer to equal where scores state no error."""
        stated = self.statedness
        return log_softmax(stated * np.log(self.summary.shares) + (1 - stated) * self.equal_shares)

    @cached_property
    def statedness(self) -> float:
        """From 0, where classifiers answer 0 or 1, to 1, where their scores state an error."""
        low, high = self.constants.prior.stated
        error = pool.find_relative_error(self.summary, 1.0)
        return float(np.clip((error - low) / (high - low), 0.0, 1.0))

    @cached_property
    def class_weighted(self) -> FloatArray:
        """Pool weights w (M,), labels counting as if their classes had the stated shares."""
        counts = np.bincount(self.labels.classes, minlength=self.summary.n_classes)
        wanted = np.exp(self.stated_shares) * self.labels.classes.size
        return self.weigh_classifiers((wanted / np.maximum(counts, 1))[self.labels.classes])

    def weigh_classifiers(self, row_weights: FloatArray | None) -> FloatArray:
        """Pool weights w (M,), where ``row_weights`` (n,) say how often each label counts."""
        labels, power = self.labels, self.constants.pool.label_power
        about = (labels.q, labels.present, labels.classes, self.summary.standing, power)
        return pool.weigh_by_labels(*about, row_weights)

    @cached_property
    def usual_pooling(self) -> pool.PoolRule:
        """The pool of most regimes, with weights that suit how rows were chosen for labeling."""
        by_class = self.design == "by_class"
        weights = self.class_weighted if by_class else self.weigh_classifiers(self.labels.weights)
        return pool.PoolRule(self.summary.standing, weights, self.stated_shares)

    def pool_at_large(self, pooling: pool.PoolRule) -> FloatArray:
        """log pi (n, K) of the rows of the summary; rules with the same weights share it."""
        key = pooling.weights.tobytes()
        if key not in self._pooled:
            self._pooled[key] = pooling(self.summary.q, self.summary.present)
        return self._pooled[key]

    @cached_property
    def _pooled(self) -> dict[bytes, FloatArray]:
        return {}

    @cached_property
    def usual_prior(self) -> pool.TemperaturePrior:
        """The prior of log b: from the stated error, or from agreement where none is stated."""
        prior = pool.predict_temperature(self.summary, self.rho, self.constants.prior)
        if self.agreed is None:
            return prior
        return replace(prior, center=self.agreed + self.statedness * (prior.center - self.agreed))

    @cached_property
    def agreed(self) -> float | None:
        """The log b about equal class shares that agreement implies; None where it implies none."""
        summary, constants = self.summary, self.constants.agreement
        offset = constants.offset + constants.offset_few / summary.n_effective
        pooling = pool.PoolRule(summary.standing, summary.standing, self.stated_shares)
        log_pi, equal = self.pool_at_large(pooling), self.equal_shares
        found = pool.predict_agreed_temperature(summary, log_pi, equal, offset, constants)
        return None if found is None else found + self.agreement_miss

    @property
    def agreement_miss(self) -> float:
        """How much larger than the log b that agreement implies the right one usually is."""
        few, apart = 1.0 / self.summary.n_effective, logit(self.summary.mean_disagreement)
        return float(np.dot(self.constants.agreement.line, (1.0, few, self.rho, apart)))

    @property
    def conflict(self) -> float | None:
        """kappa: log b by agreement minus log b by what the scores state; None without either."""
        if self.agreed is None or self.statedness == 0.0:
            return None
        return self.agreed - self.usual_prior.center

    @cached_property
    def correlation(self) -> float:
        """rho, the correlation of the classifiers within classes; NaN where it is unknown."""
        summary = self.summary
        few = summary.n_models < LEAST_CORRELATED or len(summary.q) < 2
        if few or self.statedness == 0.0 or not summary.present.all():
            return float("nan")
        return pool.measure_correlation(summary.q, pool.add_evidence(summary.q), summary.standing)

    @property
    def rho(self) -> float:
        """The correlation, nearer to the usual one where scores state no error."""
        usual, found = self.constants.prior.usual_rho, self.correlation
        return usual + self.statedness * (found - usual) if np.isfinite(found) else usual


LEAST_CORRELATED = 3
"""Fewer classifiers than this have no correlation that tells anything."""


@dataclass(frozen=True, eq=False)
class View:
    """A regime's version of the model: pool, prior of log b, and log E_r of the scores.

    ``least_shift`` is the least scale of the label intercepts.
    """

    pooling: pool.PoolRule
    prior: pool.TemperaturePrior
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


def look_usual(situation: Situation) -> View:
    """The pool sharpened about the stated shares, by about as much as the stated error predicts."""
    evidence = log_conflict_density(situation, False)
    return View(situation.usual_pooling, situation.usual_prior, evidence)


def look_distorted(situation: Situation) -> View | None:
    """All scores are sound ones raised to some power: only agreement says how sharp they are.

    A power works about equal class shares, so its inverse does too, which repairs stated shares.
    """
    if situation.agreed is None or situation.statedness == 0.0:
        return None
    shares = situation.equal_shares
    evidence = log_conflict_density(situation, True) + float(np.log(situation.statedness))
    scale = situation.constants.regimes.distorted_scale
    prior = pool.TemperaturePrior(situation.agreed, scale)
    pooling = replace(situation.usual_pooling, log_share=shares)
    return View(pooling, prior, evidence)


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
        log_conflict_density(situation, False) + compute_design_bonus(counts),
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


def log_density_of_chosen(known: FloatArray, everywhere: FloatArray, shift: FloatArray) -> float:
    """log S of labeled rows with W ``known`` (r, K), chosen by class with intercepts (K,)."""
    lift = np.exp(shift - shift.max())
    return float(np.log((known @ lift) / (everywhere.mean(axis=0) @ lift)).sum())


USUAL = "usual"

REGIMES: dict[str, Callable[[Situation], View | None]] = {
    USUAL: look_usual,
    "distorted": look_distorted,
    "selected": look_selected,
}
"""Regimes in the order in which they are tried: each gives its view of a situation, or None."""

MEANINGS = {
    USUAL: "the classifiers are as classifiers usually are",
    "distorted": "all scores are much too flat or much too sharp",
    "selected": "rows were chosen for labeling by their class",
}
"""What completes "The labels fit a world in which ..."."""


@dataclass(frozen=True, eq=False)
class FittedRegime:
    """A regime with its mode on the labels.

    ``log_scores`` is log P(r) E_r, known before the labels, and ``log_labels`` is log Z_r S_r;
    ``at_large`` (n, K) is log pi of the rows of the summary.
    """

    name: str
    log_scores: float
    log_labels: float
    view: View
    mode: FloatArray
    regression: Regression
    at_large: FloatArray


def fit_regimes(situation: Situation) -> list[FittedRegime]:
    """Fit every regime that applies to the situation; the usual one comes first."""
    fitted = []
    for name, look in REGIMES.items():
        chance = situation.constants.regimes.prior.get(name, 0.0)
        view = look(situation) if chance > 0.0 else None
        if view is not None:
            log_scores = view.log_evidence + float(np.log(chance))
            fitted.append(_fit(name, log_scores, view, situation))
    return fitted


def weigh_regimes(
    fitted: Sequence[FittedRegime], negligible: float, label_power: float = 1.0
) -> FloatArray:
    """Probabilities (R,), a label counting ``label_power`` times; those below negligible are 0."""
    logs = np.array([fit.log_scores + label_power * fit.log_labels for fit in fitted])
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    chance[chance < negligible] = 0.0
    return chance / chance.sum()


def choose_draw_shares(
    fitted: Sequence[FittedRegime], n_labeled: int, constants: RegimesConstants
) -> FloatArray:
    """Share (R,) of the draws that each regime gets.

    The larger of its probability and of the one in which a label counts n / (n + 75) times: models
    that are not exact make labels surer than they are.
    """
    power = n_labeled / (n_labeled + constants.sharing)
    share = np.maximum(
        weigh_regimes(fitted, constants.negligible),
        weigh_regimes(fitted, constants.negligible, power),
    )
    return share / share.sum()


def _fit(name: str, log_scores: float, view: View, situation: Situation) -> FittedRegime:
    summary, labels, log_share = situation.summary, situation.labels, view.pooling.log_share
    at_large = situation.pool_at_large(view.pooling)
    known = view.pooling(labels.q, labels.present)
    least = (
        situation.constants.regimes.selected_shift
        if situation.design == "by_class"
        else view.least_shift
    )
    model = situation.constants.model
    chance = model.chance if situation.design is None else np.inf
    spread = compute_label_spread(at_large, known, chance, least)
    features = make_features(labels.q, known, log_share, spread)
    regression = make_regression(
        features, labels.classes, labels.weights, view.prior, summary.n_effective, model
    )
    mode = regression.find_mode()
    log_labels = regression.log_evidence(mode)
    if least > 0.0 and labels.classes.size:
        w = compute_posterior(labels.q, known, log_share, mode)
        everywhere = compute_posterior(summary.q, at_large, log_share, mode)
        shift = compute_label_shift(regression, mode)
        log_labels += log_density_of_chosen(w, everywhere, shift)
    return FittedRegime(name, log_scores, log_labels, view, mode, regression, at_large)
