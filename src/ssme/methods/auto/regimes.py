"""Regimes: ways the world can be. ``auto`` is their mixture, weighed by the labels.

    P(r | scores, labels)  proportional to  P(r) E_r Z_r S_r                    (`auto.mixture`)

A `Regime` looks at a `Situation` and gives its `View`: its pool, its prior and E_r, the evidence
of the scores alone. `REGIMES` lists all of them in the order in which they are tried. To add one,
write its ``look`` function, enter it there, and give it a prior probability in
`RegimesConstants.prior`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ssme.methods.auto.constants import Constants, ModelConstants
from ssme.methods.auto.pool import (
    GEOMETRIC,
    PoolRule,
    add_evidence,
    make_equal_shares,
    measure_correlation,
    weigh_by_labels,
)
from ssme.methods.auto.prior import (
    ScoreSummary,
    TemperaturePrior,
    are_answers_hard,
    predict_agreed_temperature,
    predict_temperature,
)
from ssme.metrics.base import FloatArray


@dataclass(frozen=True, eq=False)
class KnownLabels:
    """The labeled rows of a fit: clipped scores ``q`` (n, M, K) and their ``classes`` (n,).

    ``present`` (n, M) says where classifiers have a score. ``weights`` (n,) say how often each
    label counts in the likelihood; None where all count once.
    """

    q: FloatArray
    present: NDArray[np.bool_]
    classes: NDArray[np.int64]
    weights: FloatArray | None = None

    @property
    def size(self) -> int:
        """How many rows are labeled."""
        return int(self.classes.size)


@dataclass(frozen=True, eq=False)
class Situation:
    """What every regime can look at: a summary of all scores, the labels and the constants.

    ``design`` says how rows were chosen for labeling; it is None where nobody said. What several
    regimes need is computed once, when the first of them asks for it.
    """

    summary: ScoreSummary
    labels: KnownLabels
    constants: Constants
    design: str | None = None

    @property
    def by_class(self) -> bool:
        """Whether rows were chosen for labeling by their class, as the user says."""
        return self.design == "by_class"

    @cached_property
    def stated_shares(self) -> FloatArray:
        """log p (K,): of the mean scores, or equal where classifiers answer 0 or 1."""
        if self.constants.pool.stated_shares and not self.answers_only:
            return np.log(self.summary.shares)
        return make_equal_shares(self.summary.n_classes)

    @property
    def answers_only(self) -> bool:
        """Whether the classifiers answer 0 or 1, so that their scores state no error."""
        return are_answers_hard(self.summary, self.constants.prior)

    @cached_property
    def label_weights(self) -> FloatArray:
        """Pool weights w (M,) of the classifiers, from the labels as they are."""
        return self.weigh_classifiers(self.labels.weights)

    @cached_property
    def class_weighted(self) -> FloatArray:
        """Pool weights w (M,), labels counting as if their classes had the stated shares."""
        counts = np.bincount(self.labels.classes, minlength=self.summary.n_classes)
        wanted = np.exp(self.stated_shares) * self.labels.size
        return self.weigh_classifiers((wanted / np.maximum(counts, 1))[self.labels.classes])

    def weigh_classifiers(self, row_weights: FloatArray | None) -> FloatArray:
        """Pool weights w (M,), where ``row_weights`` (n,) say how often each label counts."""
        of, trust = self.labels, self.constants.pool.label_trust
        standing = self.summary.standing
        return weigh_by_labels(of.q, of.present, of.classes, standing, trust, row_weights)

    @cached_property
    def usual_pooling(self) -> PoolRule:
        """The pool of most regimes, with weights that suit how rows were chosen for labeling."""
        weights = self.class_weighted if self.by_class else self.label_weights
        members = self.constants.pool.members
        return PoolRule(self.summary.standing, weights, self.stated_shares, members)

    @cached_property
    def usual_prior(self) -> TemperaturePrior:
        """The prior of log b: from the stated error, or from agreement where none is stated."""
        of, few = self.constants.prior, 1.0 / self.summary.n_effective
        if self.answers_only and self.agreed is not None:
            return TemperaturePrior(self.agreed, of.hard_scale + of.scale_few * few)
        return predict_temperature(self.summary, of)

    @cached_property
    def label_free_log_pool(self) -> FloatArray:
        """log pi (n, K) of the rows of the summary, without the help of labels."""
        standing, members = self.summary.standing, self.constants.pool.members
        pooling = PoolRule(standing, standing, self.stated_shares, members)
        return pooling(self.summary.q, self.summary.present)

    @cached_property
    def agreed(self) -> float | None:
        """The log b about equal class shares that agreement implies; None where it implies none."""
        of = self.constants.agreement
        offset = of.offset + of.offset_few / self.summary.n_effective
        equal = make_equal_shares(self.summary.n_classes)
        return predict_agreed_temperature(self.summary, self.label_free_log_pool, equal, offset, of)

    @property
    def conflict(self) -> float | None:
        """kappa: log b by agreement minus log b by what the scores state; None without either."""
        if self.agreed is None or self.answers_only:
            return None
        return self.agreed - self.usual_prior.center

    @cached_property
    def correlation(self) -> float:
        """rho, the correlation of the classifiers within classes; NaN where it cannot be told."""
        summary, of = self.summary, self.constants.independence
        few = summary.n_models < of.least_models or len(summary.q) < 2
        if few or self.answers_only or not summary.present.all():
            return float("nan")
        return measure_correlation(summary.q, add_evidence(summary.q), summary.standing, of)


@dataclass(frozen=True, eq=False)
class View:
    """A regime's version of the model for one data set.

    ``pooling`` makes one score of many, ``prior`` is that of log b, and ``model`` has the scales of
    the coefficients. ``log_evidence`` is log E_r, of the scores alone. ``least_shift`` is the least
    scale of the label intercepts.
    """

    pooling: PoolRule
    prior: TemperaturePrior
    model: ModelConstants
    log_evidence: float
    least_shift: float = 0.0


@dataclass(frozen=True)
class Regime:
    """One way the world can be.

    ``meaning`` completes "The labels fit a world in which ..."; ``look`` gives its view of a
    situation, None where it does not apply.
    """

    name: str
    meaning: str
    look: Callable[[Situation], View | None]


# -------------------------------------------------------------------------------------------------
# How well the scores alone fit a regime: the densities of two label-free statistics.
#
# - kappa, the conflict of the two witnesses (log b by agreement minus log b by what scores state):
#   Student t_4 about its usual mean where scores are what they usually are, much wider where they
#   have been distorted;
# - rho, the correlation of the classifiers within classes: normal about its usual mean, or about
#   zero where errors are independent.


def log_conflict_density(situation: Situation, distorted: bool) -> float:
    """Log density of kappa, usual or ``distorted``; zero where there is no kappa."""
    of, kappa = situation.constants.regimes, situation.conflict
    if kappa is None:
        return 0.0
    if distorted:
        scale = of.distorted_conflict
        return float(-0.5 * (kappa / scale) ** 2 - np.log(scale * np.sqrt(2.0 * np.pi)))
    mean, scale = of.usual_conflict
    offset = (kappa - mean) / scale
    return float(-2.5 * np.log1p(offset**2 / 4.0) - np.log(scale) + np.log(0.375))


def log_correlation_density(situation: Situation, independent: bool) -> float:
    """Log density of rho, usual or where errors are ``independent``; zero where there is no rho."""
    rho, of = situation.correlation, situation.constants
    if not np.isfinite(rho):
        return 0.0
    mean, scale = of.independence.usual_rho
    if independent:
        mean, scale = 0.0, of.regimes.independent_rho
    return float(-0.5 * ((rho - mean) / scale) ** 2 - np.log(scale))


def log_usual_density(situation: Situation) -> float:
    """Log density of both where scores are what they usually are."""
    return log_conflict_density(situation, False) + log_correlation_density(situation, False)


# -------------------------------------------------------------------------------------------------
# Usual: the classifiers are as those of the sets that the prior was fitted to.
#
# The pool of all classifiers is sharpened about the class shares that the scores state, by about as
# much as their stated error predicts.


def look_usual(situation: Situation) -> View:
    """The usual pool, with the usual prior of its sharpness."""
    evidence = log_usual_density(situation)
    of = situation.constants
    return View(situation.usual_pooling, situation.usual_prior, of.model, evidence)


USUAL = Regime("usual", "the classifiers are as classifiers usually are", look_usual)


# -------------------------------------------------------------------------------------------------
# Distorted: all scores are sound ones raised to some power, much too flat or much too sharp.
#
# A power works about equal class shares, q proportional to p^s, so its inverse does too: b sharpens
# about equal shares, which repairs the stated shares as well. Answers survive any power, so the
# center of log b comes from agreement alone.


def look_distorted(situation: Situation) -> View | None:
    """The usual pool about equal shares, with a prior from agreement; None without agreement."""
    of, few = situation.constants, 1.0 / situation.summary.n_effective
    if situation.agreed is None or situation.answers_only:
        return None
    shares = make_equal_shares(situation.summary.n_classes)
    evidence = log_conflict_density(situation, True) + log_correlation_density(situation, False)
    scale = of.regimes.distorted_scale + of.regimes.distorted_scale_few * few
    prior = TemperaturePrior(situation.agreed, scale)
    return View(replace(situation.usual_pooling, log_share=shares), prior, of.model, evidence)


DISTORTED = Regime("distorted", "all scores are much too flat or much too sharp", look_distorted)


# -------------------------------------------------------------------------------------------------
# Shares: the classifiers were made where the classes had other shares than here.
#
# The shifts a of the classes are then much freer than usual, and log b has a wider prior. All
# else is as in the usual regime.


def look_shares(situation: Situation) -> View:
    """The usual view, with wider priors of log b and of the shifts of the classes."""
    of = situation.constants
    evidence = log_usual_density(situation)
    prior = TemperaturePrior(situation.usual_prior.center, of.regimes.shares_scale)
    freer = replace(of.model, sd_a=of.regimes.shares_shift)
    return View(situation.usual_pooling, prior, freer, evidence)


SHARES = Regime("shares", "the classes have other shares than the scores state", look_shares)


# -------------------------------------------------------------------------------------------------
# Added: classifiers err independently given the class, so their evidence adds up.
#
# Real classifiers share their hard rows and a pool averages them; independent ones, as simulated
# ones and raters who do not know of each other, multiply,
#
#     W_k  proportional to  p_k prod_j (q_jk / p_k)^b',
#
# the geometric pool with b = b' M. With weak correlation rho the evidence of M classifiers counts
# as M / (1 + (M - 1) rho). Where agreement can tell, b is the one at which the classifiers err as
# often as their disagreement implies when errors are independent.


def look_added(situation: Situation) -> View | None:
    """The geometric pool, with a prior from agreement; None where rho cannot be told."""
    rho, of, summary = situation.correlation, situation.constants, situation.summary
    if not np.isfinite(rho):
        return None
    pooling = PoolRule(summary.counts, summary.counts, situation.stated_shares, GEOMETRIC)
    offset = of.agreement.offset_independent
    log_pi = pooling(summary.q, summary.present)
    center = predict_agreed_temperature(summary, log_pi, pooling.log_share, offset, of.agreement)
    if center is None:
        m = 1.0 / float((summary.counts**2).sum())
        center = float(np.log(m / (1.0 + (m - 1.0) * max(rho, 0.0))))
    prior = TemperaturePrior(center, of.regimes.added_scale)
    evidence = log_correlation_density(situation, True) - np.log(
        of.regimes.distorted_conflict * 2.5
    )
    return View(pooling, prior, of.model, float(evidence))


ADDED = Regime("added", "the classifiers err independently of each other", look_added)


# -------------------------------------------------------------------------------------------------
# Selected: rows were chosen for labeling by their class, as many cases as controls, say.
#
# Label intercepts are then wide, and the classifiers' label weights come from labels that count
# as if their classes had the stated shares: else class-weighted classifiers win, and their shares
# with them. The scores of the labeled rows bear witness too (`mixture`): had labels been drawn by
# class, they would be distributed as sum_k e^(d_k) W_k(x) times the scores at large.


def look_selected(situation: Situation) -> View | None:
    """The usual view with wide label intercepts; None without labels or with a known design."""
    if situation.design is not None or situation.labels.size == 0:
        return None
    of = situation.constants
    evidence = log_usual_density(situation)
    counts = np.bincount(situation.labels.classes, minlength=situation.summary.n_classes)
    pooling = replace(situation.usual_pooling, weights=situation.class_weighted)
    shift = of.regimes.selected_shift
    return View(
        pooling,
        situation.usual_prior,
        of.model,
        evidence + compute_design_bonus(counts),
        least_shift=shift,
    )


def compute_design_bonus(counts: NDArray[np.int64]) -> float:
    """Log evidence of the counts (K,) of labels by class, were they fixed by design.

    Half of such designs take equally many of every class. Where the counts are as equal as can be
    that design explains them wholly, while labels drawn at random hit them by chance only, and no
    intercept had to be fitted for it.
    """
    n, n_classes = int(counts.sum()), len(counts)
    if n < n_classes or counts.max() - counts.min() > 1:
        return float(np.log(0.5))
    share = counts / n
    chance = gammaln(n + 1.0) - gammaln(counts + 1.0).sum()
    chance += (counts * np.log(share, where=share > 0.0, out=np.zeros(n_classes))).sum()
    return float(np.log(0.5) - chance + 0.5 * (n_classes - 1) * np.log(n / n_classes))


SELECTED = Regime("selected", "rows were chosen for labeling by their class", look_selected)


# -------------------------------------------------------------------------------------------------
# All regimes, in the order in which they are tried.


REGIMES: tuple[Regime, ...] = (USUAL, DISTORTED, SHARES, ADDED, SELECTED)

MEANINGS = {regime.name: regime.meaning for regime in REGIMES} | {
    "stated": "every classifier is right as often as its own scores say"
}
"""What is so in each regime; "stated" has no pool and stands in `mixture`."""
