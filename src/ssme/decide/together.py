"""The classifiers as one set: do they err on the same rows (algorithmic monoculture)?

`set_metrics` says what is counted of the set (errors of two, of all, of the majority vote), and how
the effect of one more classifier is extrapolated. Each is a function of the rows' mass, so each is
estimated by the method itself, with its draws, as any metric is.

A model of the labels may be off in one direction on a set, whatever its draws say; labels alone are
not. Each estimate and its draws are moved a little towards labels alone, by the share

    w = k v / (k v + sum max(V, V_0)),     v = sum V,     k = 0.1,

V and V_0 being the variances of the draws and of labels alone, summed over the values of one line
of `set_metrics`, so that shares still sum to one. k was chosen on runs 0 to 4 of
``benchmarks.decide.monoculture``: it costs 4 % of error on average, where 0.4 costs 20 %.

Shares P(W = w) are known next to exactly for the rows at hand where the classifiers agree on most
of them, and the draws of their share then hold little but the sampling of rows. On other rows of
the same sets it misses by more than that, so draws of shares are spread by 1.35 about the estimate
(chosen on runs 0 to 24 of the development sets, and on runs up to 59 of subj, where the share that
all get right held in 7 of the first 10 as it was and in 9 of them with 1.35).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ssme.decide.set_metrics import OneByOneError, RowShares, list_pairs, make_set_metrics
from ssme.errors import InputError, UnsupportedError
from ssme.methods.base import Belief, Estimate, GroupRows
from ssme.methods.registry import find_method_class, get_method
from ssme.metrics.base import FloatArray, Metric
from ssme.metrics.kinds import DEFAULT_THRESHOLD
from ssme.results.evaluation import ALL, BaseEvaluation, to_plain_values
from ssme.results.frames import build_frame_of_rows
from ssme.results.notebook import ToldInWords
from ssme.results.sections import Section, format_value

__all__ = ["Figure", "PairErrors", "SetProfile", "profile_set"]


@dataclass(frozen=True)
class TogetherConstants:
    """Numbers that decide the estimates of a set of classifiers."""

    leaning: float = 0.1
    """k: how much estimates lean on labels alone."""

    widening: float = 1.35
    """Factor of the spread of the draws of shares P(W = w)."""


@dataclass(frozen=True)
class Figure:
    """One number about the set, beside what labels alone say.

    Attributes
    ----------
    estimate, low, high : float
        The estimate with its interval.
    labels_only, labels_only_low, labels_only_high : float
        The same from the labeled rows alone; NaN where they do not determine it.
    """

    estimate: float
    low: float
    high: float
    labels_only: float
    labels_only_low: float
    labels_only_high: float


@dataclass(frozen=True)
class PairErrors:
    """How two classifiers err together.

    Attributes
    ----------
    a, b : str
        The classifiers.
    both_wrong : Figure
        Share of rows on which both are wrong.
    correlation : Figure
        Correlation of their errors.
    """

    a: str
    b: str
    both_wrong: Figure
    correlation: Figure


@dataclass(frozen=True)
class SetProfile(ToldInWords):
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
    library: str = "pandas"

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per number about all classifiers together.

        Returns
        -------
        list of dict
            The rows.
        """
        named = {name: getattr(self, name) for name in WHOLE}
        counts = {f"{w} wrong": figure for w, figure in enumerate(self.wrong_counts)}
        return [{"figure": name, **asdict(figure)} for name, figure in {**named, **counts}.items()]

    def frame(self, library: str | None = None) -> Any:
        """Return the rows as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).

        Returns
        -------
        data frame
            One line per row.
        """
        return build_frame_of_rows(self.rows(), library or self.library)

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as plain values.

        Returns
        -------
        dict
            Values that JSON can hold; NaN becomes None.
        """
        found = asdict(self)
        del found["library"]
        out: dict[str, Any] = to_plain_values(found)
        return out

    def list_sections(self) -> tuple[Section, Section]:
        """Write the sections that every output shows.

        Returns
        -------
        tuple of Section
            The set as a whole, and the pairs whose errors are most alike.
        """
        pairs = sorted(
            self.pairs, key=lambda pair: -np.nan_to_num(pair.correlation.estimate, nan=-2)
        )
        return (
            Section(
                "together",
                "All models together",
                (self.sentence(),),
                ("models", "estimate", "labels only"),
                tuple(
                    (
                        FIGURE_NAMES.get(row["figure"], row["figure"]),
                        format_value(row["estimate"], row["low"], row["high"]),
                        format_value(
                            row["labels_only"], row["labels_only_low"], row["labels_only_high"]
                        ),
                    )
                    for row in self.rows()
                ),
            ),
            Section(
                "pairs",
                "Pairs whose errors are most alike",
                ("Rows that both models get wrong, and the correlation of their errors.",),
                ("model", "other model", "both wrong", "correlation"),
                tuple(
                    (pair.a, pair.b, *map(_format_estimate, (pair.both_wrong, pair.correlation)))
                    for pair in pairs[:SHOWN_PAIRS]
                ),
            ),
        )

    def sentence(self) -> str:
        """Describe the profile in two sentences.

        Returns
        -------
        str
            The sentences.
        """
        shared, apart, number = self.all_wrong, self.if_independent, self.effective_number
        return (
            f"All {len(self.models)} models are wrong on {shared.estimate:.1%} of the rows "
            f"({shared.low:.1%} to {shared.high:.1%}); independent ones would be on "
            f"{apart.estimate:.2%}. They are worth {number.estimate:.1f} independent models "
            f"({number.low:.1f} to {number.high:.1f}); with one more like them, all would be wrong "
            f"on {self.with_one_more.estimate:.1%} of the rows."
        )


FIGURE_NAMES = {
    "all_wrong": "all wrong",
    "all_right": "all right",
    "if_independent": "all wrong if independent",
    "vote": "majority vote right",
    "correlation": "mean error correlation",
    "effective_number": "effective number",
    "with_one_more": "all wrong with one more",
}
"""What the numbers about all models together are called."""
SHOWN_PAIRS = 5
"""Pairs of models shown; JSON has all."""

WHOLE = (
    "all_wrong",
    "all_right",
    "if_independent",
    "vote",
    "correlation",
    "effective_number",
    "with_one_more",
)
"""The numbers about the whole set."""


def _format_estimate(figure: Figure) -> str:
    return format_value(figure.estimate, figure.low, figure.high)


def profile_set(
    evaluation: BaseEvaluation,
    group: str = ALL,
    *,
    level: float | None = None,
    constants: TogetherConstants | None = None,
) -> SetProfile:
    """Estimate how the classifiers of an evaluation err together.

    Parameters
    ----------
    evaluation : Evaluation
        Two classifiers or more, and a belief about the labels.
    group : str, default "all"
        The rows.
    level : float, optional
        Coverage of the intervals (default: that of the evaluation).
    constants : TogetherConstants, optional
        Numbers that change a result.

    Returns
    -------
    SetProfile

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> profile_set(r).models
    ('a', 'b')
    """
    of = constants or TogetherConstants()
    data, level = evaluation.data, evaluation.level if level is None else level
    n_models = data.n_models
    if n_models < 2:
        raise InputError("there is only one classifier", allowed="two classifiers or more")
    if find_method_class(evaluation.method).spec.metrics is not None:
        raise _tell_one_by_one(evaluation.method)
    rows = evaluation.groups[evaluation.group_index(group)].rows
    asked = evaluation.settings.get("threshold") if data.n_classes == 2 else None
    metrics = make_set_metrics(n_models, DEFAULT_THRESHOLD if asked is None else asked)
    ours = _estimate(evaluation.belief, metrics, rows, evaluation.method)
    alone = _estimate_from_labels_alone(evaluation, metrics, rows)
    figures = {}
    for (name, metric), one, other in zip(metrics.items(), ours, alone, strict=True):
        leaning = _lean_on_labels(metric, one, other, of)
        if name == "shares" and evaluation.posterior is not None:
            leaning = _widen(metric, leaning, of.widening)
        figures[name] = _make_figures(metric, leaning, other, level)
    shares, pairs = figures["shares"], list_pairs(n_models)
    return SetProfile(
        all_wrong=shares[n_models],
        all_right=shares[0],
        if_independent=figures["apart"][0],
        vote=figures["vote"][0],
        correlation=figures["correlations"][-1],
        effective_number=figures["number"][0],
        with_one_more=figures["more"][0],
        wrong_counts=tuple(shares),
        pairs=tuple(
            PairErrors(data.models[a], data.models[b], both, related)
            for (a, b), both, related in zip(
                pairs, figures["both"], figures["correlations"], strict=False
            )
        ),
        models=tuple(data.models),
        where=group,
        method=evaluation.method,
        level=level,
        library=data.frame_library,
    )


def _estimate(
    belief: Belief, metrics: dict[str, Metric], rows: GroupRows, method: str
) -> list[Estimate]:
    try:
        return belief.estimate(list(metrics.values()), [rows])[0]
    except OneByOneError:
        raise _tell_one_by_one(method) from None


def _tell_one_by_one(method: str) -> UnsupportedError:
    return UnsupportedError(
        f"method {method!r} looks at each classifier by itself",
        allowed="methods with one posterior for all classifiers, and labeled",
        fix="use for example auto (`ssme methods`)",
    )


def _estimate_from_labels_alone(
    evaluation: BaseEvaluation, metrics: dict[str, Metric], rows: GroupRows
) -> list[Estimate]:
    if evaluation.data.n_labeled == 0:
        return [Estimate(np.full(1, np.nan)) for _ in metrics]
    belief = get_method("labeled").fit(evaluation.data, np.random.default_rng(0))
    return belief.estimate(list(metrics.values()), [rows])[0]


def _lean_on_labels(
    metric: Metric, ours: Estimate, alone: Estimate, of: TogetherConstants
) -> Estimate:
    """``ours`` moved a little towards ``alone`` where labels alone determine it.

    An estimate from labels alone is left as it is, with the interval that it has.
    """
    if ours.bounds is not None:
        return ours
    if ours.draws is None or alone.draws is None or alone.value.shape != ours.value.shape:
        return ours
    apart = alone.value - ours.value
    known = np.isfinite(apart) & np.isfinite(ours.draws).any(axis=0)
    known &= np.isfinite(alone.draws).any(axis=0)
    if not known.any():
        return ours
    mine, theirs = (np.nanvar(draws[:, known], axis=0) for draws in (ours.draws, alone.draws))
    lean, noise = of.leaning * mine.sum(), np.maximum(mine, theirs).sum()
    step = np.where(known, apart, 0.0) * (lean / (lean + noise) if noise > 0.0 else 0.0)
    value, draws = (np.clip(x + step, metric.low, metric.high) for x in (ours.value, ours.draws))
    return Estimate(value, draws)


def _widen(metric: Metric, estimate: Estimate, factor: float) -> Estimate:
    """``estimate`` with draws spread by ``factor`` about its value."""
    if estimate.draws is None:
        return estimate
    spread = estimate.value + factor * (estimate.draws - estimate.value)
    return Estimate(estimate.value, np.clip(spread, metric.low, metric.high))


def _make_figures(metric: Metric, ours: Estimate, alone: Estimate, level: float) -> list[Figure]:
    """One `Figure` per value; quantiles of the draws are the intervals, or Wilson's of shares."""
    mine, theirs = (_read(metric, each, level) for each in (ours, alone))
    if theirs.shape[1] != mine.shape[1]:
        theirs = np.full(mine.shape, np.nan)
    both = np.concatenate([mine, theirs]).T
    return [Figure(*map(float, six)) for six in both]


def _read(metric: Metric, estimate: Estimate, level: float) -> FloatArray:
    """Value and both ends (3, values); joint draws of labels alone have pseudo-rows in them."""
    value = estimate.value
    if not isinstance(metric.kind, RowShares):
        estimate = Estimate(value, estimate.draws)
    return np.stack([value, *estimate.interval(level)])
