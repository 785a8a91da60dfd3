"""Metrics of decisions, read off confusion tables.

A metric that is a ratio of sums of the table's cells is, for a posterior, the ratio of their
expectations (plug-in). Undefined cells follow scikit-learn's ``zero_division=np.nan``: precision of
a class never predicted, recall of a class that never occurs and F1 of a class that does neither are
NaN; a macro or weighted mean is over the classes where the term is defined. Matthews' coefficient
is NaN when either margin has one class only (scikit-learn returns 0 there).

A new metric of this family is one statistic, a function of `Tables`, and one call of
`decision_metric`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ssme.arrays import FloatArray
from ssme.errors import InputError, UnsupportedError
from ssme.metrics import confusion
from ssme.metrics.base import Metric, MetricPlan
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Decision, Loss, Rows, Statistic, Tables


def _plan(scores: FloatArray, *, kind: Decision, multiclass: bool) -> MetricPlan:
    if isinstance(kind.statistic, MeanWorth):  # a mean over rows: one product for all labelings
        worth = kind.statistic.make_table(scores.shape[2])
        predicted = confusion.predicted_classes(scores, kind.threshold)
        value = np.stack([of_class[predicted] for of_class in worth], axis=1)
        value.transpose(0, 2, 1)[predicted < 0] = 0.0
        return confusion.plan_mean(value, confusion.find_present_rows(scores))
    if not multiclass:
        confusion.require_binary(scores)
    tables = confusion.plan_tables(scores, kind.threshold)
    return lambda mass: kind.statistic(tables(mass))


# Statistics: of confusion `Tables`, values (D, M).


def compute_share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """`compute_ratio` of a part to its whole, which rounding must not bring above one."""
    return np.minimum(confusion.compute_ratio(part, whole), 1.0)


def compute_class_terms(of: str, tables: Tables) -> FloatArray:
    """Precision, recall or F1 of each class (D, M, K); NaN where a class gives none."""
    if of == "recall":
        return compute_share(tables.hits, tables.occurring)
    if of == "precision":
        return compute_share(tables.hits, tables.predicted)
    return compute_share(2.0 * tables.hits, tables.occurring + tables.predicted)


@dataclass(frozen=True)
class ClassTerm:
    """The statistic ``of`` (precision, recall or f1) of class number ``k``."""

    of: str
    k: int

    def __call__(self, tables: Tables) -> FloatArray:
        terms = compute_class_terms(self.of, tables)
        if self.k >= terms.shape[2]:
            problem = f"{self.of} of class number {self.k} with {terms.shape[2]} classes"
            hint = f"choose a class number from 0 to {terms.shape[2] - 1}"
            raise UnsupportedError(problem, hint=hint)
        return terms[:, :, self.k]

    @property
    def share_of(self) -> Rows | None:
        """The rows that it is a share of, where it is one."""
        return {"recall": Rows(true=self.k), "precision": Rows(predicted=self.k)}.get(self.of)


CLASS_METRICS = {
    "precision": ("Precision", "share of the rows predicted as {name} that are of this class"),
    "recall": ("Recall", "share of the rows of class {name} that are predicted as it"),
    "f1": ("F1", "2 TP / (2 TP + FP + FN) of class {name}"),
}
"""Title and definition of each metric that one class has."""


@dataclass(frozen=True)
class MeanWorth:
    """Mean over rows of ``worth[true class][predicted class]``, or of what it gives for K."""

    worth: tuple[tuple[float, ...], ...] | Callable[[int], FloatArray]

    def __call__(self, tables: Tables) -> FloatArray:
        total = tables.occurring.sum(axis=2)
        table = self.make_table(tables.occurring.shape[2])
        return np.clip(
            confusion.compute_ratio(tables.total_of(table), total), table.min(), table.max()
        )

    def make_table(self, n_classes: int) -> FloatArray:
        """Worth (K, K)."""
        if callable(self.worth):
            return self.worth(n_classes)
        if len(self.worth) != n_classes:
            size = len(self.worth)
            problem = f"a {size} x {size} cost matrix with {n_classes} classes"
            raise UnsupportedError(problem, hint=f"give a {n_classes} x {n_classes} matrix")
        return np.array(self.worth)


def _measure_distances(n_classes: int) -> FloatArray:
    """|k - l| / (K - 1) (K, K), the share of a scale of K grades between two of them."""
    place = np.linspace(0.0, 1.0, n_classes)
    return np.abs(place[:, None] - place)


@dataclass(frozen=True)
class ClassMean:
    """Mean of precision, recall or f1 over the classes that have one.

    ``weighted`` by how often each occurs; NaN where no class has one.
    """

    of: str
    weighted: bool = False

    def __call__(self, tables: Tables) -> FloatArray:
        terms = compute_class_terms(self.of, tables)
        defined = ~np.isnan(terms)
        part = np.where(defined, tables.occurring if self.weighted else 1.0, 0.0)
        return compute_share((np.where(defined, terms, 0.0) * part).sum(axis=2), part.sum(axis=2))


def _matthews(tables: Tables) -> FloatArray:
    occurring, predicted = tables.occurring, tables.predicted
    hits = tables.hits.sum(axis=2)
    covariance = hits * occurring.sum(axis=2) - (occurring * predicted).sum(axis=2)
    return np.clip(
        confusion.compute_ratio(
            covariance, np.sqrt(_measure_spread(occurring) * _measure_spread(predicted))
        ),
        -1.0,
        1.0,
    )


def _measure_spread(margin: FloatArray) -> FloatArray:
    """n^2 - sum_k n_k^2, as a sum of products, so that it is exactly zero for one class."""
    out: FloatArray = (margin * (margin.sum(axis=2, keepdims=True) - margin)).sum(axis=2)
    return np.maximum(out, 0.0)


ACCURACY = Decision(MeanWorth(np.eye), share_of=Rows())
"""The kind of accuracy, at its usual threshold."""


def decision_metric(
    statistic: Statistic,
    *,
    name: str,
    share_of: Rows | None = None,
    multiclass: bool = True,
    of_positive: bool | None = None,
    **facts: Any,
) -> Metric:
    """Make a metric of decisions from a statistic of confusion tables.

    Parameters
    ----------
    statistic : callable
        ``statistic(tables)`` returns values (D, M). The tables have the attributes ``hits``,
        ``occurring`` and ``predicted``, the mass (D, M, K) of each class that is predicted
        rightly, that is true and that is predicted, and the method ``total_of(values)``, the
        sum (D, M) of ``values[true class, predicted class]`` over all rows.
    name : str
        Key in tables.
    share_of : Rows, optional
        The rows of which the metric is the share that are right, where it is one (default: those
        that the statistic names). The interval from labels alone is then Wilson's; otherwise
        confusion tables are drawn.
    multiclass : bool
        False where the metric is defined for two classes only (default True).
    of_positive : bool, optional
        Whether the value for two classes depends on which of them is the positive one (default:
        where the metric is defined for two classes only).
    **facts
        Other fields of `Metric`: ``title`` (default ``name``), ``definition``, ``low``, ``high``,
        ``greater_is_better`` and ``of_order``.

    Returns
    -------
    Metric
        Its kind is a `Decision` at the default threshold.

    Examples
    --------
    Cohen's kappa, the agreement of true and predicted classes beyond chance:

    >>> import numpy as np
    >>> from ssme.metrics import decision_metric, one_hot_mass
    >>> def kappa(tables):
    ...     total = tables.occurring.sum(axis=2)
    ...     agreed = tables.hits.sum(axis=2) / total
    ...     chance = (tables.occurring * tables.predicted).sum(axis=2) / total**2
    ...     return (agreed - chance) / (1 - chance)
    >>> metric = decision_metric(kappa, name="cohen_kappa", low=-1.0)
    >>> scores = np.array([[[0.6, 0.4]], [[0.1, 0.9]], [[0.8, 0.2]], [[0.9, 0.1]]])
    >>> metric(scores, one_hot_mass(np.array([0, 1, 1, 0]), 2))
    array([[0.5]])
    """
    kind = Decision(statistic, share_of=share_of or getattr(statistic, "share_of", None))
    return Metric(
        name=name,
        plan=partial(_plan, kind=kind, multiclass=multiclass),
        kind=kind,
        multiclass=multiclass,
        of_positive=not multiclass if of_positive is None else of_positive,
        **{"title": name, **facts},
    )


# -------------------------------------------------------------------------------------------------
# How far answers agree with the truth beyond chance, how far grades are off, and who wins.
#
# With the confusion table C[k, l] of true and predicted classes as shares, r_k and c_l its margins,
#
#     Cohen's kappa       (sum_k C_kk - sum_k r_k c_k) / (1 - sum_k r_k c_k)
#     quadratic kappa     1 - sum C_kl (k - l)^2 / sum r_k c_l (k - l)^2
#     grade error         sum C_kl |k - l| / (K - 1)
#     win rate            sum_k r_k k / (K - 1)
#
# Quadratic kappa and grade error take the classes as ordered grades. The win rate is a share of the
# true classes, of the rows that a judge answered: where the class says which of two systems is
# better, it is how often the second one wins, a tie between them counting half.
#
# Cohen, Educational and Psychological Measurement 20, 1960, and Psychological Bulletin 70, 1968.


def _kappa(tables: Tables) -> FloatArray:
    total = tables.occurring.sum(axis=2)
    agreed = compute_share(tables.hits.sum(axis=2), total)
    chance = compute_share((tables.occurring * tables.predicted).sum(axis=2), total**2)
    return np.clip(confusion.compute_ratio(agreed - chance, 1.0 - chance), -1.0, 1.0)


def _quadratic_kappa(tables: Tables) -> FloatArray:
    squares = _measure_distances(tables.occurring.shape[2]) ** 2
    total = tables.occurring.sum(axis=2)
    expected = np.einsum("dmk,kl,dml->dm", tables.occurring, squares, tables.predicted)
    return np.clip(
        1.0 - confusion.compute_ratio(tables.total_of(squares) * total, expected), -1.0, 1.0
    )


def _plan_win_rate(scores: FloatArray) -> MetricPlan:
    place = np.linspace(0.0, 1.0, scores.shape[2])
    return confusion.linear_plan(np.where(np.isnan(scores), np.nan, place))


_OF_TWO: dict[str, Any] = {"multiclass": False}

# fmt: off
_DECISIONS: tuple[tuple[str, str, Statistic, str, dict[str, Any]], ...] = (
    ("accuracy", "Accuracy", ACCURACY.statistic,
     "share of rows whose predicted class is the true class", {"share_of": Rows()}),
    ("balanced_accuracy", "Balanced accuracy", ClassMean("recall"),
     "mean over the classes that occur of their recall", {}),
    ("precision", "Precision", ClassTerm("precision", 1),
     "share of the rows predicted positive that are positive", _OF_TWO),
    ("recall", "Recall", ClassTerm("recall", 1),
     "share of the positive rows that are predicted positive", _OF_TWO),
    ("specificity", "Specificity", ClassTerm("recall", 0),
     "share of the negative rows that are predicted negative", _OF_TWO),
    ("f1", "F1", ClassTerm("f1", 1),
     "2 TP / (2 TP + FP + FN) of the positive class", _OF_TWO),
    ("f1_macro", "F1 (macro)", ClassMean("f1"),
     "mean over classes of F1; a class that neither occurs nor is predicted is left out", {}),
    ("f1_micro", "F1 (micro)", ACCURACY.statistic,
     "F1 of the counts pooled over classes, which is the accuracy", {"share_of": Rows()}),
    ("f1_weighted", "F1 (weighted)", ClassMean("f1", weighted=True),
     "mean over classes of F1, weighted by how often each class occurs", {}),
    ("precision_macro", "Precision (macro)", ClassMean("precision"),
     "mean of precision over the classes that are predicted at least once", {}),
    ("recall_macro", "Recall (macro)", ClassMean("recall"),
     "mean of recall over the classes that occur; equals balanced accuracy", {}),
    ("matthews_corrcoef", "Matthews correlation", _matthews,
     "correlation of the true and the predicted class (Gorodkin's R_K for more than two)",
     {"low": -1.0}),
    ("cohen_kappa", "Cohen's kappa", _kappa,
     "agreement of the predicted with the true class beyond chance", {"low": -1.0}),
    ("quadratic_kappa", "Quadratic kappa", _quadratic_kappa,
     "the same for ordered classes: squared distances compared with those by chance",
     {"low": -1.0, "of_order": True}),
    ("grade_error", "Grade error", MeanWorth(_measure_distances),
     "mean distance of the predicted from the true class on the ordered scale, as a share of the "
     "scale", {"greater_is_better": False, "of_order": True}),
)
# fmt: on
"""Name, title, statistic, definition and further facts of each metric of confusion tables."""

DECISION_METRICS: tuple[Metric, ...] = (
    *(
        decision_metric(statistic, name=name, title=title, definition=definition, **facts)
        for name, title, statistic, definition, facts in _DECISIONS
    ),
    Metric(
        name="win_rate",
        title="Win rate",
        plan=_plan_win_rate,
        kind=Loss(),
        greater_is_better=None,
        definition="share of rows whose true class is the last of two; a middle class, a tie, "
        "counts half",
        of_positive=True,
        of_order=True,
    ),
)


# -------------------------------------------------------------------------------------------------
# Metrics that are made on demand: of one class, and at another threshold.


def make_class_metric(name: str, k: int) -> Metric:
    """Precision, recall or F1 (``name``) of class number ``k`` among any number of classes."""
    if name not in CLASS_METRICS:
        problem = f"there is no metric {name!r} of one class"
        raise InputError(problem, hint=f"choose {', '.join(CLASS_METRICS)}, such as `recall[{k}]`")
    title, definition = CLASS_METRICS[name]
    return decision_metric(
        ClassTerm(name, k),
        name=f"{name}[{k}]",
        title=f"{title} of class {k}",
        definition=definition.format(name=k),
        data={"name": f"{name}[{k}]"},
    )


def at_threshold(metric: Metric, threshold: float) -> Metric:
    """Make the decision metric ``metric`` predict class 1 when ``P(1) >= threshold``.

    Parameters
    ----------
    metric : Metric
        A metric of decisions that this module made.
    threshold : float
        A number from 0 to 1.

    Returns
    -------
    Metric
        ``metric`` itself at the default threshold; otherwise one whose name ends in ``@threshold``.

    Examples
    --------
    >>> from ssme.metrics import at_threshold, get_metric
    >>> at_threshold(get_metric("f1"), 0.25).title
    'F1 at 0.25'
    """
    if not isinstance(metric.kind, Decision) or not isinstance(metric.plan, partial):
        problem = f"a threshold was given for `{metric.name}`, which is not a metric of decisions"
        hint = "leave the threshold out, or choose a metric of decisions, such as `accuracy`"
        raise InputError(problem, hint=hint)
    if not 0.0 <= threshold <= 1.0:
        raise InputError(
            f"the threshold of metric `{metric.name}` is {threshold!r}, not a number from 0 to 1",
            hint="pass the probability of class 1 from which it is predicted",
        )
    if threshold == DEFAULT_THRESHOLD:
        return metric
    kind = replace(metric.kind, threshold=float(threshold))
    shown = np.format_float_positional(threshold, trim="-")
    return replace(
        metric,
        name=f"{metric.name}@{shown}",
        title=f"{metric.title} at {shown}",
        plan=partial(metric.plan, kind=kind),
        kind=kind,
        multiclass=False,
        of_positive=True,
        definition=f"{metric.definition}; class 1 is predicted when P(1) >= {shown}",
    )
