"""What a regime is: one way the world can be, as a version of the recalibration model.

A regime says how scores become one (its pool), how sharp that pool should be before any label is
seen (its prior), which coefficients are freer than usual, and how well it explains the scores by
themselves (its evidence without labels). The labels then weigh it by their marginal likelihood
(`mixture`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import Constants, ModelConstants
from ssme.methods.auto.independence import add_evidence, measure_correlation
from ssme.methods.auto.pool import weigh_by_labels
from ssme.methods.auto.pool_rule import PoolRule, make_equal_shares
from ssme.methods.auto.prior import (
    TemperaturePrior,
    are_answers_hard,
    predict_agreed_temperature,
    predict_temperature,
)
from ssme.methods.auto.summary import ScoreSummary
from ssme.metrics.base import FloatArray

__all__ = ["KnownLabels", "Regime", "Situation", "View"]


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
