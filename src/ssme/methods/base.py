"""What a method is: beliefs about the missing labels, and what it declares it can do.

    ScoreSet --Method.fit--> Belief --estimate(metrics, rows)--> Estimate per group and metric

A `Method` is a frozen dataclass of options with a `spec`. Its belief answers for any metric its
spec declares; asking for more is an `UnsupportedError`, raised by `check_supported` up front.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import cleandoc
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, UnsupportedError
from ssme.metrics import get_metric
from ssme.metrics.base import Metric
from ssme.metrics.kinds import DEFAULT_THRESHOLD, find_threshold, is_same_metric
from ssme.options import Declared
from ssme.wording import quote


@dataclass(frozen=True)
class MethodSpec:
    """What a method declares about itself: `ssme methods` prints it, and `evaluate` enforces it.

    Parameters
    ----------
    name, title : str
        The name that ``method=`` takes, and a name for people.
    source : str
        The paper or page that the method is from.
    does, assumes, fails : str
        Full sentences for the report and the documentation: what the method does, what it assumes
        and where it is unreliable.
    binary, multiclass : bool
        Whether the method is made for two classes, and for more than two.
    metrics : tuple of str, optional
        Names of the metrics that the method can estimate; None where it can estimate every metric,
        also a user's own. A metric is one of them if it is of the same kind, whatever its name.
    any_threshold : bool
        Whether the method can estimate ``metrics`` at every threshold of the decisions.
    needs_labels : bool
        Whether the method needs at least one label.
    gives_intervals, gives_posterior, groups : bool
        Whether what the method returns has intervals, has P(y | s) of single rows, and can be
        asked about groups.
    missing_scores : bool
        Whether a classifier may have no score for some rows.
    designs : tuple of str
        The ways of choosing rows for labeling that the method allows for. A method that learns
        P(y | s) by likelihood allows for all that depend on the scores alone, by weights or
        without: which rows were chosen then says nothing about P(y | s).
    widens_to_labels : bool
        Whether an interval is widened to contain the value of labels alone where the two contradict
        each other (`Estimate.find_contradictions`).
    """

    name: str
    title: str
    source: str
    does: str = ""
    assumes: str = ""
    fails: str = ""
    binary: bool = True
    multiclass: bool = True
    metrics: tuple[str, ...] | None = None
    any_threshold: bool = False
    needs_labels: bool = True
    gives_intervals: bool = True
    gives_posterior: bool = True
    groups: bool = True
    missing_scores: bool = True
    designs: tuple[str, ...] = ("random",)
    widens_to_labels: bool = False

    def can_estimate(self, metric: Metric, n_classes: int) -> bool:
        """Say whether the method can estimate ``metric`` of data with ``n_classes`` classes."""
        return self.metrics is None or any(
            is_same_metric(
                get_metric(name).kind, metric.kind, n_classes, any_threshold=self.any_threshold
            )
            for name in self.metrics
        )


@dataclass(frozen=True, eq=False)
class Convergence:
    """How an iterative fit ended; ``converged`` is None after a fixed number of steps."""

    converged: bool | None
    n_iter: int | None = None
    objective_history: FloatArray | None = None

    def as_facts(self, **values: Any) -> Facts:
        """Those of a method that makes one iterative fit."""
        shown = {**values, "converged": self.converged, "n_iter": self.n_iter}
        return Facts(values=shown, fits={"": self})


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts:
    """What a fit reports: plain ``values`` by name, and how its iterative ``fits`` ended.

    A fit is named after its classifier, or ``""`` where there is one for all of them.
    ``is_mixture`` says whether one mixture of all classifiers' scores was fitted.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    fits: Mapping[str, Convergence] = field(default_factory=dict)
    is_mixture: bool = False

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        """Ways the world can be that are not the usual one: name -> probability, meaning."""
        return {}

    @property
    def recalibrates(self) -> bool:
        """Whether the method expects scores that state too small an error, and corrects them."""
        return False

    @property
    def agreement_conflict(self) -> float | None:
        """log of the sharpness that agreement implies, minus that which confidence implies."""
        return None

    @property
    def conflict_scale(self) -> float:
        """Scale of that difference over sets like this one."""
        return 0.0

    @property
    def error_correlation(self) -> float | None:
        """How far the scores of the classifiers correlate within a class; None where unknown."""
        return None

    @property
    def independent_views(self) -> float | None:
        """How many classifiers check each other, copies as one; None where copies count in full."""
        return None

    @property
    def expects_shared_errors(self) -> bool:
        """Whether the method takes judges to find the same rows hard, whatever they answer."""
        return False

    def describe(self) -> dict[str, Any]:
        """The facts as plain values by name: ``values``, or the fields of a subclass."""
        if self.values:
            return dict(self.values)
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.kw_only}


GroupRows = IntArray | BoolArray | None
"""The rows of a group: their numbers in ascending order, a mask over all rows, or None for all.
Numbers take as much memory as the group has rows, whatever the number of groups."""
Predictor = Callable[[FloatArray], FloatArray]
"""P(y | s) (n, K) of rows ``scores`` (n, M, K) that a method has not seen; picklable."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """One metric on one set of rows for every classifier: value, joint draws, interval.

    ``draws`` (D, M) are joint over classifiers, and draw d is the same state of the world in every
    metric and group of one belief. Closed-form intervals are ``bounds(level) -> (low, high)``.

    For P(better), P(best) and the expected regret draws are drawn towards the estimates by
    ``pair_factor``, and shares of draws are taken to the power ``best_exponent`` for P(best),
    ``worst_exponent`` for P(worst) of one group among others: below one, tails that an interval
    needs make a method less careful about which of two is better, and no favorite too sure.

    ``contains`` (M,) are values that the interval is widened to contain at every level, NaN for
    no value.
    """

    value: FloatArray
    draws: FloatArray | None = None
    bounds: Callable[[float], tuple[FloatArray, FloatArray]] | None = None
    pair_factor: float = 1.0
    best_exponent: float = 1.0
    worst_exponent: float = 1.0
    contains: FloatArray | None = None

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends (M,), the value between them; NaN where the method gives none."""
        low, high = self._find_ends(level)
        if self.contains is None:
            return low, high
        widened = np.isfinite(self.contains)
        return (
            np.where(widened, np.minimum(low, self.contains), low),
            np.where(widened, np.maximum(high, self.contains), high),
        )

    def find_contradictions(self, alone: Estimate, level: float = 0.95) -> BoolArray:
        """Where (M,) this estimate and labels ``alone`` exclude each other, widened or not.

        The value of labels alone is outside the interval of this estimate, and the value of this
        estimate is outside the closed-form interval of labels alone.
        """
        if alone.bounds is None:
            return np.zeros(self.value.shape, dtype=bool)
        (low, high), (least, most) = self._find_ends(level), alone.bounds(level)
        out: BoolArray = (alone.value < low) | (alone.value > high)
        return out & ((self.value < least) | (self.value > most))

    def _find_ends(self, level: float) -> tuple[FloatArray, FloatArray]:
        if self.bounds is not None:
            return self.bounds(level)
        if self.draws is None:
            nothing = np.full_like(self.value, np.nan)
            return nothing, nothing.copy()
        tail = (1.0 - level) / 2.0
        low, high = np.full(self.value.shape, np.nan), np.full(self.value.shape, np.nan)
        known = np.isfinite(self.value) & np.isfinite(self.draws).any(axis=0)
        if known.any():
            shown = self.draws[:, known]
            quantile = np.quantile if np.isfinite(shown).all() else np.nanquantile
            ends = quantile(shown, [tail, 1.0 - tail], axis=0)
            low[known] = np.minimum(ends[0], self.value[known])
            high[known] = np.maximum(ends[1], self.value[known])
        return low, high


Estimates = list[list[Estimate]]
"""Those of each metric in each group: [group][metric]."""


@runtime_checkable
class Belief(Protocol):
    """What a fitted method believes."""

    @property
    def posterior(self) -> FloatArray | None:
        """P(y = k | scores) per row (n, K), labeled rows one-hot; None for direct methods."""

    @property
    def predictor(self) -> Predictor | None:
        """P(y | s) as a function of the scores of other rows; None if the method has none."""

    @property
    def clamps_labels(self) -> bool:
        """Whether an estimate takes a labeled row's label as its class, not the posterior."""

    @property
    def narrows_with_rows(self) -> bool:
        """Whether the draws vary by unknown labels and sampled rows alone, so that their spread
        falls with the square root of the number of rows."""

    @property
    def facts(self) -> Facts:
        """What the fit reports: convergence, bandwidth, fitted parameters, engine used."""

    def estimate(self, metrics: Sequence[Metric], rows: Sequence[GroupRows]) -> Estimates:
        """Estimates [group][metric]; each entry of ``rows`` says which rows are in the group."""


class SilentOnRows:
    """What a belief has in common with others that say nothing about single rows.

    It has no posterior, there are no classes of rows to be clamped, and unlabeled rows are not
    drawn.
    """

    posterior: ClassVar[None] = None
    predictor: ClassVar[None] = None
    clamps_labels: ClassVar[bool] = False
    narrows_with_rows: ClassVar[bool] = False


@runtime_checkable
class DrawsPosterior(Protocol):
    """A belief whose posterior itself is drawn, so that groups can be estimated from it."""

    @property
    def soft(self) -> FloatArray:
        """P(y = k | scores) per row (n, K), whatever the row's label."""

    @property
    def label_shift(self) -> FloatArray:
        """What (K,) the log-odds of labeled rows have beyond this: zero where labels are random."""

    def draw_posteriors(self, rows: IntArray) -> FloatArray:
        """P(y | s) (D, r, K) of ``rows`` in every draw, labeled rows as all others."""


def number_rows(rows: GroupRows, n_rows: int) -> IntArray:
    """The numbers, in ascending order, of the rows of a group among ``n_rows`` rows."""
    if rows is None:
        return np.arange(n_rows)
    return np.flatnonzero(rows) if rows.dtype == bool else np.asarray(rows, dtype=np.int64)


EXAMPLE = """Examples
--------
>>> import ssme
>>> scores = {{"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}}
>>> method = ssme.{method}({options})
>>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
{name!r}"""


class DeclaredMethod(Declared):
    """The options of a method; with ``example`` options its docstring ends with an example."""

    spec: ClassVar[MethodSpec]

    def __init_subclass__(cls, example: str | None = None, **keywords: Any) -> None:
        if example is not None:
            shown = EXAMPLE.format(method=cls.__name__, options=example, name=cls.spec.name)
            cls.__doc__ = f"{cleandoc(cls.__doc__ or '')}\n\n{shown}"
        super().__init_subclass__(**keywords)


class Method(Protocol):
    """Options plus ``fit``. Implementations are frozen dataclasses, one per file."""

    spec: ClassVar[MethodSpec]

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> Belief:
        """Form beliefs about the labels of ``data``; all randomness comes from ``rng``."""


def refuse_without_order(data: ScoreSet, metrics: Sequence[Metric]) -> None:
    """Refuse metrics that need a positive class, or ordered classes, where nothing says which."""
    needing = [metric.name for metric in metrics if metric.needs_order(data.n_classes)]
    if data.ordered or not needing:
        return
    verb = "needs" if len(needing) == 1 else "need"
    names = ", ".join(needing)
    if data.n_classes == 2:
        low, high = data.classes
        raise InputError(
            f"{names} {verb} the positive class, and it is unknown which of "
            f"{quote(data.classes)} is positive",
            hint=f"pass `positive={high!r}` or `positive={low!r}`",
        )
    raise InputError(
        f"{names} {verb} the order of the classes, which is unknown for {quote(data.classes)}",
        hint="list them from the lowest to the highest: `classes=[...]`",
    )


def check_supported(spec: MethodSpec, data: ScoreSet, metrics: Sequence[Metric]) -> None:
    """Refuse, with reasons, what ``spec`` does not declare."""
    kind = "binary" if data.n_classes == 2 else "multiclass"
    method, another = f"method {spec.name!r}", "use another method (`ssme methods` lists them)"
    if not getattr(spec, kind):
        problem = f"{method} does not support {kind} data ({data.n_classes} classes)"
        raise UnsupportedError(problem, hint=another)
    if spec.needs_labels and data.n_labeled == 0:
        problem = f"{method} needs labels and none of the {data.n_rows} rows has one"
        hint = "label some rows, or use a label-free method (`ssme methods` lists them)"
        raise UnsupportedError(problem, hint=hint)
    if data.design.kind is not None and data.design.kind not in spec.designs:
        designs = ", ".join(map(repr, spec.designs))
        raise UnsupportedError(
            f"{method} cannot use labels chosen with `design={data.design.kind!r}`, only with "
            f"{designs}",
            hint=another,
        )
    if not spec.missing_scores and not np.isfinite(data.scores).all():
        row, model = np.argwhere(~np.isfinite(data.scores).all(axis=2))[0]
        problem = f"{method} needs every score and {data.models[model]!r} has none for row {row}"
        hint = "drop such rows, or use a method that allows missing scores (`ssme methods`)"
        raise UnsupportedError(problem, hint=hint)
    refuse_without_order(data, metrics)
    raters = [name for name, judge in data.judges.items() if judge.cut is not None]
    for metric in metrics:
        if raters and find_threshold(metric.kind) != DEFAULT_THRESHOLD:
            raise UnsupportedError(
                f"metric {metric.name!r} has a threshold for probabilities, and {raters[0]!r} "
                "gives ratings",
                hint="pass `cut=...`, the lowest grade that counts as positive, or evaluate "
                "classifiers and raters separately",
            )
        if not spec.can_estimate(metric, data.n_classes):
            at = "any threshold" if spec.any_threshold else f"the threshold {DEFAULT_THRESHOLD}"
            known = ", ".join(spec.metrics or ())
            problem = f"{method} cannot estimate {metric.name!r}, only {known} of decisions at {at}"
            hint = "ask for fewer metrics or use another method (`ssme methods`)"
            raise UnsupportedError(problem, hint=hint)
        if metric.of_probabilities and len(data.judges) == data.n_models:
            raise UnsupportedError(
                f"metric {metric.name!r} is one of probabilities, and all {data.n_models} models "
                "give answers or ratings",
                hint="ask for accuracy, cohen_kappa, precision or recall; roc_auc of ratings",
            )
        if not getattr(metric, kind):
            raise UnsupportedError(
                f"metric {metric.name!r} is not defined for {kind} data ({data.n_classes} classes)",
                hint="`ssme metrics` lists which metrics fit which data; matrices of costs and "
                "utilities need a row and a column for each class",
            )
