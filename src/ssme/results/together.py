"""The classifiers as one set: do they err on the same rows (algorithmic monoculture)?

Let row i be wrong for classifier j where its predicted class is not the true one, and W_i the
number of classifiers that are wrong on it. Each of these is a function of the rows' mass, so each
is estimated by the method itself, with its draws, as any metric is:

    error of j, joint error of j and l         shares of rows on which j is, j and l both are wrong
    error correlation of j and l               correlation of the two indicators of being wrong
    all wrong, all right, P(W = w)             shares of rows
    vote                                       share of rows whose most frequent prediction is right
    if independent                             prod_j (error of j): all wrong, if errors had nothing
                                               to do with each other
    effective number                           M / (1 + (M - 1) mean correlation): so many
                                               independent classifiers have a mean error that varies
                                               as much (Kish's design effect)

Adding classifiers. Over all subsets of m of the M classifiers, the mean share of rows on which all
m are wrong is a_m = sum_w P(W = w) C(w, m) / C(M, m). With r_m = a_m / a_(m-1), the chance that one
more is wrong where m - 1 all are, 1 / (1 - r_m) grows linearly in m if chances of being wrong are
Beta distributed over rows. The last two values are extended by one step to r_(M+1):

    all wrong with one more = a_M r_(M+1).

It is what another classifier *like these* would give, trained as they were; not one that is made to
differ. Only rows that every classifier scored count.

A model of the labels may be off in one direction on a set, whatever its draws say; labels alone are
not. Each estimate and its draws are moved a little towards labels alone, by the share

    w = k v / (k v + sum max(V, V_0)),     v = sum V,     k = 0.1,

V and V_0 being the variances of the draws and of labels alone, summed over the values of one
metric, so that shares still sum to one. k was chosen on runs 0 to 4 of
``benchmarks.decide.monoculture``: it costs 4% of error on average, where 0.4 costs 20%.

Shares P(W = w) are known next to exactly for the rows at hand where the classifiers agree on most
of them, and the draws of their share then contain little but the sampling of rows. On other rows of
the same sets it misses by more than that, so draws of shares are spread by 1.35 about the estimate
(chosen on runs 0 to 24 of the development sets, and on runs up to 59 of subj, where the interval of
the share that all get right contained it in 7 of the first 10 as it was and in 9 with 1.35).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from ssme.arrays import FloatArray
from ssme.errors import InputError, UnsupportedError
from ssme.methods import base, registry
from ssme.methods.draws import average_defined
from ssme.metrics import confusion, kinds
from ssme.metrics.base import Metric, MetricPlan
from ssme.results.table import Answer, Row
from ssme.show.sections import Column, Section

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

FIGURE_NAMES = {
    "all_wrong": "all wrong",
    "all_right": "all right",
    "if_independent": "all wrong if independent",
    "vote": "majority vote right",
    "correlation": "mean error correlation",
    "effective_number": "effective number",
    "with_one_more": "all wrong with one more",
}
"""The numbers about all models together, and what they are called."""
SHOWN_PAIRS = 5
"""Pairs of models shown; JSON has all."""


@dataclass(frozen=True)
class TogetherConstants:
    """Numbers that decide the estimates of a set of classifiers."""

    leaning: float = 0.1  # k: how much estimates lean on labels alone
    widening: float = 1.35  # factor of the spread of the draws of shares P(W = w)


@dataclass(frozen=True)
class Figure(Row):
    """One number about the set with its interval, and the same from the labeled rows alone."""

    estimate: float
    low: float
    high: float
    labels_only: float
    labels_only_low: float
    labels_only_high: float

    @property
    def triple(self) -> tuple[float, float, float]:
        """The estimate and its interval."""
        return self.estimate, self.low, self.high


@dataclass(frozen=True)
class PairErrors(Row):
    """Share of rows on which both classifiers are wrong, and the correlation of their errors."""

    a: str
    b: str
    both_wrong: Figure
    correlation: Figure


@dataclass(frozen=True)
class SetProfile(Answer):
    """The classifiers as one set, as `ssme.Evaluation.set_profile` gives it.

    Attributes
    ----------
    all_wrong, all_right : Figure
        Shares of rows on which every classifier is wrong, or right.
    if_independent : Figure
        What ``all_wrong`` would be if the classifiers erred independently.
    vote : Figure
        Share of rows on which the most frequent prediction is right.
    correlation : Figure
        Mean correlation of errors over pairs.
    effective_number : Figure
        Number of independent classifiers that the set is worth.
    with_one_more : Figure
        ``all_wrong`` with one more classifier like these.
    wrong_counts : tuple of Figure
        Share of rows on which exactly 0, 1, ... of them are wrong.
    pairs : tuple of PairErrors
        Every pair.
    models : tuple of str
        The classifiers.
    where, method : str
        The group of rows, and the method.
    level : float
        Coverage of the intervals.
    """

    all_wrong: Figure
    all_right: Figure
    if_independent: Figure
    vote: Figure
    correlation: Figure
    effective_number: Figure
    with_one_more: Figure
    wrong_counts: tuple[Figure, ...]
    pairs: tuple[PairErrors, ...]
    models: tuple[str, ...]
    where: str
    method: str
    level: float
    library: str = field(default="pandas", repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """One row per number about all classifiers together."""
        return [{"figure": name, **vars(figure)} for name, figure in self._list_figures().items()]

    def _list_figures(self) -> dict[str, Figure]:
        counts = {f"{w} wrong": figure for w, figure in enumerate(self.wrong_counts)}
        return {**{name: getattr(self, name) for name in FIGURE_NAMES}, **counts}

    def _list_rows(self) -> Sequence[Mapping[str, Any]]:
        return self.rows()

    def list_sections(self) -> list[Section]:
        """The set as a whole, and the pairs whose errors are correlated most."""
        figures = self._list_figures()
        whole = (
            Column("models", [FIGURE_NAMES.get(name, name) for name in figures]),
            Column("estimate", [each.triple for each in figures.values()], "value"),
            Column(
                "labels only",
                [
                    (each.labels_only, each.labels_only_low, each.labels_only_high)
                    for each in figures.values()
                ],
                "value",
            ),
        )
        pairs = sorted(
            self.pairs, key=lambda pair: -np.nan_to_num(pair.correlation.estimate, nan=-2)
        )[:SHOWN_PAIRS]
        correlated = (
            Column("model", [pair.a for pair in pairs]),
            Column("other model", [pair.b for pair in pairs]),
            Column("both wrong", [pair.both_wrong.triple for pair in pairs], "value"),
            Column("correlation", [pair.correlation.triple for pair in pairs], "value"),
        )
        about = "Rows that both models get wrong, and the correlation of their errors."
        return [
            Section("together", "All models together", (self.sentence(),), whole),
            Section("pairs", "Pairs whose errors are correlated most", (about,), correlated),
        ]

    def sentence(self) -> str:
        """Describe the profile in two sentences."""
        shared, number = self.all_wrong, self.effective_number
        return (
            f"All {len(self.models)} models are wrong on {shared.estimate:.1%} of the rows "
            f"({shared.low:.1%} to {shared.high:.1%}); with independent errors "
            f"it would be {self.if_independent.estimate:.2%}. The effective number of independent "
            f"models is {number.estimate:.1f} ({number.low:.1f} to {number.high:.1f}); with one "
            f"more like them, all would be wrong on {self.with_one_more.estimate:.1%} of the rows."
        )


def profile_set(
    evaluation: Evaluation, group: str, level: float, constants: TogetherConstants | None = None
) -> SetProfile:
    """Estimate how the classifiers of an evaluation err together."""
    constants = constants or TogetherConstants()
    data, n_models = evaluation.data, evaluation.data.n_models
    if n_models < 2:
        raise InputError("there is only one classifier, and two or more are needed")
    one_by_one = UnsupportedError(
        f"method {evaluation.method!r} looks at each classifier by itself",
        hint="use one with a posterior for all classifiers, such as auto, or labeled",
    )
    if registry.find_method_class(evaluation.method).spec.metrics is not None:
        raise one_by_one
    rows = evaluation.groups[evaluation.group_index(group)].rows
    threshold = evaluation.settings.get("threshold") if data.n_classes == 2 else None
    threshold = kinds.DEFAULT_THRESHOLD if threshold is None else threshold
    by_name = _make_set_metrics(n_models, threshold, one_by_one)
    metrics = list(by_name.values())
    ours = evaluation.belief.estimate(metrics, [rows])[0]
    alone = [base.Estimate(np.full(1, np.nan)) for _ in metrics]
    if data.n_labeled:
        labeled = registry.get_method("labeled").fit(data, np.random.default_rng(0))
        alone = labeled.estimate(metrics, [rows])[0]
    figures = {}
    for (name, metric), one, other in zip(by_name.items(), ours, alone, strict=True):
        leaning = _lean_on_labels(metric, one, other, constants.leaning)
        if name == "shares" and evaluation.posterior is not None and leaning.draws is not None:
            spread = leaning.value + constants.widening * (leaning.draws - leaning.value)
            leaning = base.Estimate(leaning.value, np.clip(spread, metric.low, metric.high))
        ends, ends_alone = (_stack_ends(metric, each, level) for each in (leaning, other))
        if ends_alone.shape != ends.shape:
            ends_alone = np.full(ends.shape, np.nan)
        figures[name] = [Figure(*six) for six in np.concatenate([ends, ends_alone]).T.tolist()]
    shares = figures["shares"]
    pairs = zip(
        combinations(data.models, 2), figures["both"], figures["correlations"], strict=False
    )
    return SetProfile(
        all_wrong=shares[n_models],
        all_right=shares[0],
        if_independent=figures["independent"][0],
        vote=figures["vote"][0],
        correlation=figures["correlations"][-1],
        effective_number=figures["number"][0],
        with_one_more=figures["more"][0],
        wrong_counts=tuple(shares),
        pairs=tuple(PairErrors(*names, both, related) for names, both, related in pairs),
        models=tuple(data.models),
        where=group,
        method=evaluation.method,
        level=level,
        library=evaluation.library,
    )


def _lean_on_labels(
    metric: Metric, ours: base.Estimate, alone: base.Estimate, leaning: float
) -> base.Estimate:
    """``ours`` moved a little towards ``alone`` where labels alone determine it.

    An estimate from labels alone is left as it is, with the interval that it has.
    """
    if ours.bounds is not None or ours.draws is None or alone.draws is None:
        return ours
    if alone.value.shape != ours.value.shape:
        return ours
    step = alone.value - ours.value
    known = np.isfinite(step) & np.isfinite(ours.draws).any(axis=0)
    known &= np.isfinite(alone.draws).any(axis=0)
    if not known.any():
        return ours
    variance, variance_alone = (
        np.nanvar(draws[:, known], axis=0) for draws in (ours.draws, alone.draws)
    )
    lean, noise = leaning * variance.sum(), np.maximum(variance, variance_alone).sum()
    step = np.where(known, step, 0.0) * (lean / (lean + noise) if noise > 0.0 else 0.0)
    value, draws = (np.clip(x + step, metric.low, metric.high) for x in (ours.value, ours.draws))
    return base.Estimate(value, draws)


def _stack_ends(metric: Metric, estimate: base.Estimate, level: float) -> FloatArray:
    """Value and both ends (3, values), Wilson's of shares, else the quantiles of the draws.

    Joint draws of labels alone have pseudo-rows in them.
    """
    if not isinstance(metric.kind, RowShares):
        estimate = base.Estimate(estimate.value, estimate.draws)
    return np.stack([estimate.value, *estimate.interval(level)])


# -------------------------------------------------------------------------------------------------
# What is counted: metrics of the whole set, not of each classifier.

NEARLY_ONE = 1.0 - 1e-9


class RowShares(kinds.Custom):
    """Metrics of a set whose values are shares of rows."""

    def choose_labels_interval(self, n_classes: int) -> kinds.LabelsInterval:
        return kinds.PlainInterval.ROW_SHARES


def _make_set_metrics(
    n_models: int, threshold: float, one_by_one: UnsupportedError
) -> dict[str, Metric]:
    """The metrics of a set of ``n_models``; ``one_by_one`` is raised where a method takes it apart.

    Each reads values (D, V) off the sums of D labelings, or leaves these as they are.
    """

    def make(
        counted: str,
        read: Callable[..., FloatArray] | None = None,
        low: float = 0.0,
        high: float = 1.0,
    ) -> Metric:
        def plan(scores: FloatArray) -> MetricPlan:
            if scores.shape[1] != n_models:
                raise one_by_one
            add_up = _plan_shares(scores, threshold, counted.split())
            return lambda mass: add_up(mass)[0] if read is None else read(*add_up(mass))

        kind, better = kinds.Custom() if read else RowShares(), True if counted == "vote" else None
        return Metric(*("set", "Set", plan, kind, low, high), greater_is_better=better, of_set=True)

    return {
        "shares": make("numbers"),
        "both": make("both"),
        "vote": make("vote"),
        "independent": make("errors", lambda errors: errors.prod(axis=1, keepdims=True)),
        "correlations": make("errors both", _compute_correlations, -1.0),
        "number": make("errors both", _compute_effective_number, 1.0, float(n_models)),
        "more": make("numbers", _extrapolate_one_more),
    }


def _plan_shares(
    scores: FloatArray, threshold: float, counted: Sequence[str]
) -> Callable[[FloatArray], list[FloatArray]]:
    """Prepare shares of the complete rows of ``scores`` (n, M, K) for any mass (D, n, K).

    What is ``counted``: "numbers", P(W = w) (D, M + 1); "errors" of each classifier (D, M), "both"
    of each pair, and "vote", right votes (D, 1).
    """
    n_models, n_classes = scores.shape[1:]
    complete = np.isfinite(scores).all(axis=(1, 2))
    predicted = confusion.predicted_classes(scores[complete], threshold)
    wrong = predicted[:, :, None] != np.arange(n_classes)  # (r, M, K)
    columns = []
    for name in counted:
        if name == "numbers":
            columns.append(wrong.sum(axis=1)[:, None] == np.arange(n_models + 1)[:, None])
        elif name == "errors":
            columns.append(wrong)
        elif name == "both":
            first, second = np.triu_indices(n_models, 1)
            columns.append(wrong[:, first] & wrong[:, second])
        else:
            votes = (predicted[:, :, None] == np.arange(n_classes)).sum(axis=1)
            winners = votes == votes.max(axis=1, keepdims=True)  # ties are shared
            columns.append((winners / winners.sum(axis=1, keepdims=True))[:, None])
    ends = np.cumsum([each.shape[1] for each in columns])
    table = np.concatenate(columns, axis=1).transpose(0, 2, 1).astype(np.float64)
    table = np.ascontiguousarray(table).reshape(-1, ends[-1])

    def add_up(mass: FloatArray) -> list[FloatArray]:
        kept = mass if complete.all() else mass[:, complete]
        total = kept.sum(axis=(1, 2))[:, None]
        sums = kept.reshape(len(kept), -1) @ table
        shares = np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0.0)
        return np.split(np.clip(shares, 0.0, 1.0), ends[:-1], axis=1)

    return add_up


def _compute_correlations(errors: FloatArray, both: FloatArray) -> FloatArray:
    """Correlation of errors (D, pairs + 1): every pair, and the mean over the defined ones."""
    first, second = np.triu_indices(errors.shape[1], 1)
    a, b = errors[:, first], errors[:, second]
    scale = np.sqrt(a * (1.0 - a) * b * (1.0 - b))
    related = np.full_like(scale, np.nan)
    np.divide(both - a * b, scale, out=related, where=scale > 1e-12)
    related = np.clip(related, -1.0, 1.0)
    return np.column_stack([related, average_defined(related.T)])


def _compute_effective_number(errors: FloatArray, both: FloatArray) -> FloatArray:
    mean = np.maximum(_compute_correlations(errors, both)[:, -1:], 0.0)
    return errors.shape[1] / (1.0 + (errors.shape[1] - 1.0) * mean)


def _extrapolate_one_more(numbers: FloatArray) -> FloatArray:
    """All wrong with one more classifier (D, 1), from the curve over subsets."""
    m = numbers.shape[1] - 1
    sizes = (m - 2, m - 1, m)
    ways = np.array([[comb(w, size) / comb(m, size) for w in range(m + 1)] for size in sizes])
    a = ways @ numbers.T
    ratios = np.divide(a[1:], a[:-1], out=np.zeros_like(a[1:]), where=a[:-1] > 0.0)
    before, last = 1.0 / (1.0 - np.minimum(ratios, NEARLY_ONE))
    ratio = 1.0 - 1.0 / (last + np.maximum(last - before, 0.0))
    return (a[2] * ratio)[:, None]
