"""The kind of a metric: the facts that decide how methods, intervals and streams treat it.

A metric's name is for people. What the library does with a metric is decided by its kind alone,
which is declared where the metric is made:

=============  ====================================================================================
`Decision`     a statistic of the confusion table of decisions at a threshold (accuracy, F1, costs)
`Ranking`      how well the scores order the rows (ROC AUC, average precision)
`Calibration`  how far the scores are from frequencies, in bins
`Loss`         a mean over rows of a number that depends on the scores and the true class
`Custom`       anything else
=============  ====================================================================================

Each kind says by ``choose_labels_interval(n_classes)`` which interval the metric has when only the
labeled rows are used; `ssme.methods.beliefs` computes it. Two metrics whose ``settle`` kinds
are equal are the same metric under two names: with two classes, for example, all three averages of
ROC AUC are one number, and get the same interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Literal, NamedTuple, Protocol

from ssme.arrays import FloatArray
from ssme.options import Declared, Enumeration, Flag, Whole, option, optional

DEFAULT_THRESHOLD = 0.5
"""P(1) from which class 1 of two classes is predicted, unless a metric says otherwise."""

Binning = Literal["quantile", "uniform"]
Norm = Literal["l1", "l2", "max"]
Target = Literal["positive", "top_label", "top_label_by_class", "classwise"]


class Tables(Protocol):
    """Confusion tables of D labelings and M classifiers, seen through their sums.

    The full table of K classes has K * K cells, and there is one for each labeling and classifier.
    Almost every metric needs its diagonal and its margins only, which grow with K.
    """

    @property
    def hits(self) -> FloatArray:
        """Mass (D, M, K) of the rows of each class that are predicted as that class."""

    @property
    def occurring(self) -> FloatArray:
        """Mass (D, M, K) of the rows of each true class."""

    @property
    def predicted(self) -> FloatArray:
        """Mass (D, M, K) of the rows predicted as each class."""

    def total_of(self, values: FloatArray) -> FloatArray:
        """Sum (D, M) over all rows of ``values[true class, predicted class]``."""


Statistic = Callable[[Tables], FloatArray]
"""Confusion tables -> values (D, M); NaN where undefined."""


class Rows(NamedTuple):
    """The rows that a share is a share of: all, or those of one true or one predicted class.

    Parameters
    ----------
    true : int or None
        Number of the true class, or None for every class.
    predicted : int or None
        Number of the predicted class, or None for every class.
    """

    true: int | None = None
    predicted: int | None = None


class ProportionInterval(NamedTuple):
    """The metric is the share of ``rows`` that are right: Wilson's interval on their number."""

    rows: Rows
    threshold: float


class CalibrationInterval(NamedTuple):
    """From the mean signed gap of the ``target`` score up to the error with chance taken out."""

    target: Target


class ConfusionInterval(NamedTuple):
    """Quantiles of ``statistic`` over confusion tables drawn from a Dirichlet distribution."""

    statistic: Statistic
    threshold: float


class PlainInterval(Enum):
    """Intervals that depend on nothing but the values and the labeled rows."""

    ROW_SHARES = "Wilson's, as the values are shares of the rows that every classifier scored"
    ROC_AUC = "Newcombe's, on the numbers of positive and negative rows of two classes"
    AVERAGE_PRECISION = "the logit interval of Boyd, Eng and Page, on the number of positive rows"
    BOOTSTRAP = "quantiles over reweighted rows, on the number of labeled rows"
    NONE = "with few labels the value is mostly chance, and no known interval is right"


LabelsInterval = ProportionInterval | CalibrationInterval | ConfusionInterval | PlainInterval


@dataclass(frozen=True)  # kinds without fields are equal if they are of the same class
class Kind:
    """What a metric is: the base of the kinds, which are `Decision` to `Custom` of this module.

    By default a kind does not depend on the number of classes, and has from labels alone the
    interval that needs no knowledge of the metric: that of the bootstrap.
    """

    def settle(self, n_classes: int) -> Kind | SettledCalibration:
        """Fill in everything that depends on the number of classes.

        Parameters
        ----------
        n_classes : int
            Number of classes of the data.
        """
        return self

    def choose_labels_interval(self, n_classes: int) -> LabelsInterval:
        """Choose the type of interval that the metric has from labels alone.

        Parameters
        ----------
        n_classes : int
            Number of classes of the data.
        """
        return PlainInterval.BOOTSTRAP


@dataclass(frozen=True)
class Decision(Kind):
    """A metric of decisions: of the confusion table of true and predicted classes.

    Parameters
    ----------
    statistic : callable
        ``statistic(tables)`` returns the values (D, M) of confusion `Tables`. Two decision metrics
        with the same statistic and threshold are the same metric.
    threshold : float
        P(1) from which class 1 of two classes is predicted. Among more than two classes the
        largest score decides, and the threshold is `DEFAULT_THRESHOLD`.
    share_of : Rows or None
        Set where the metric is the share of these rows that are right. Its interval from labels
        alone is then that of a proportion; otherwise tables are drawn.
    """

    statistic: Statistic
    threshold: float = DEFAULT_THRESHOLD
    share_of: Rows | None = None

    def choose_labels_interval(self, n_classes: int) -> LabelsInterval:
        if self.share_of is not None:
            return ProportionInterval(self.share_of, self.threshold)
        return ConfusionInterval(self.statistic, self.threshold)


@dataclass(frozen=True)
class Ranking(Kind):
    """A metric of the order that the scores put the rows in.

    Parameters
    ----------
    statistic : {"roc_auc", "average_precision"}
        What is computed for one class against others.
    average : {"macro", "weighted", "one_vs_one"}
        How more than two classes are averaged: each class against the rest, all counting the same
        or by how often they occur, or each class against each other. Two classes need none.
    """

    statistic: Literal["roc_auc", "average_precision"]
    average: Literal["macro", "weighted", "one_vs_one"] = "macro"

    def settle(self, n_classes: int) -> Ranking:
        return replace(self, average="macro") if n_classes == 2 else self

    def choose_labels_interval(self, n_classes: int) -> LabelsInterval:
        if n_classes > 2:
            return PlainInterval.BOOTSTRAP
        is_auc = self.statistic == "roc_auc"
        return PlainInterval.ROC_AUC if is_auc else PlainInterval.AVERAGE_PRECISION


@dataclass(frozen=True)
class Calibration(Declared, Kind):
    """A calibration error; what is None depends on the number of classes."""

    n_bins: int | None = optional(
        "Number of bins.", Whole(least=1), usual="10 for two classes, 15 for more"
    )
    binning: Binning | None = optional(
        "Bins of equal mass or of equal width.",
        Enumeration("quantile", "uniform"),
        usual="quantile for two classes, uniform for more",
    )
    weighted: bool | None = optional(
        "Whether bins count by the weight of their rows.", Flag(), usual="for more than two classes"
    )
    norm: Norm = option(
        "l1",
        "Mean, root mean square or maximum of the gaps of the bins.",
        Enumeration("l1", "l2", "max"),
    )
    target: Target | None = optional(
        "The score that is checked: P(1), the largest score, the largest score in bins of rows of "
        "one predicted class each, or the score of every class, averaged over classes.",
        Enumeration("positive", "top_label", "top_label_by_class", "classwise"),
        usual="positive for two classes, top_label for more",
    )

    def settle(self, n_classes: int) -> SettledCalibration:
        two = n_classes == 2
        return SettledCalibration(
            n_bins=self.n_bins or (10 if two else 15),
            binning=self.binning or ("quantile" if two else "uniform"),
            weighted=(not two) if self.weighted is None else self.weighted,
            norm=self.norm,
            target=self.target or ("positive" if two else "top_label"),
        )

    def choose_labels_interval(self, n_classes: int) -> LabelsInterval:
        settled = self.settle(n_classes)
        if settled.norm != "l1" or settled.target == "classwise":
            return PlainInterval.NONE
        return CalibrationInterval(settled.target)


class SettledCalibration(NamedTuple):
    """A calibration error with nothing left open; the fields are those of `Calibration`."""

    n_bins: int
    binning: Binning
    weighted: bool
    norm: Norm
    target: Target

    def count_bins(self, n_classes: int) -> int:
        """Bins of one column of scores, times the predicted classes where each has its bins."""
        return self.n_bins * (n_classes if self.target == "top_label_by_class" else 1)


class Loss(Kind):
    """A mean over rows of a number that depends on the scores and the true class of a row."""


class Custom(Kind):
    """A metric about which nothing further is known."""


def find_threshold(kind: Kind) -> float:
    """The threshold of the decisions that ``kind`` judges; the default where it judges none."""
    return kind.threshold if isinstance(kind, Decision) else DEFAULT_THRESHOLD


def is_same_metric(one: Kind, other: Kind, n_classes: int, *, any_threshold: bool = False) -> bool:
    """Whether two kinds are one metric for ``n_classes``.

    `Loss` and `Custom` do not say what is computed, so two of them are never known to be one.
    """
    if isinstance(one, Loss | Custom):
        return False
    if any_threshold and isinstance(one, Decision) and isinstance(other, Decision):
        return replace(one, threshold=other.threshold) == other
    return one.settle(n_classes) == other.settle(n_classes)
