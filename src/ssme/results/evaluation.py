"""The answer in numbers: each classifier's metrics with intervals, beside labels alone.

A `BaseEvaluation` holds values and joint draws and answers questions about them. It draws, prints
and writes no pictures: `ssme.evaluation.Evaluation`, which users get, adds these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ssme.data.scoreset import ScoreSet, tell_positive
from ssme.diagnostics.doubt import Doubt
from ssme.errors import InputError, argument
from ssme.methods.base import Belief, Estimate
from ssme.methods.parts.label_draws import kish
from ssme.metrics.base import FloatArray, Metric
from ssme.options import Number, Option, accept
from ssme.results.comparison import (
    Comparison,
    Difference,
    ModelRanking,
    OneModel,
    compare_two,
    rank_models,
)
from ssme.results.frames import LIBRARIES, build_frame, render_frame_text
from ssme.results.groups import ALL, Group, StreamPass
from ssme.results.notebook import render_table
from ssme.results.reliability import Record, find_record
from ssme.results.table import COLUMNS, SHOWN_COLUMNS, Row, tabulate
from ssme.wording import make_printable, quote, suggest_nearest
from ssme.writing import write_text

__all__ = ["ALL", "COLUMNS", "BaseEvaluation", "Group", "StreamPass", "to_plain_values"]

LEVEL = Option(
    "level",
    Number(0.0, 1.0, open_least=True, open_most=True),
    0.95,
    "Coverage of the intervals.",
)


@dataclass(frozen=True, eq=False)
class BaseEvaluation:
    """The numbers of an evaluation; see `ssme.Evaluation`, which has the same and can be drawn.

    Attributes
    ----------
    data : ScoreSet
        Scores and labels.
    method : str
        Name of the method.
    belief : Belief
        What the fitted method believes about the missing labels.
    metrics : tuple of Metric
        The metrics.
    groups : tuple of Group
        The groups; the first one is all rows.
    estimates, labels_only : tuple
        An `Estimate` for each group and metric, by the method and from labels alone.
    level : float
        Coverage of the intervals.
    doubts : tuple of Doubt
        Reasons to trust the result less.
    settings : mapping
        How the result was made.
    streamed : StreamPass or None
        What was counted where rows were streamed.
    """

    data: ScoreSet
    method: str
    belief: Belief
    metrics: tuple[Metric, ...]
    groups: tuple[Group, ...]
    estimates: tuple[tuple[Estimate, ...], ...]
    labels_only: tuple[tuple[Estimate, ...], ...]
    level: float
    doubts: tuple[Doubt, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    streamed: StreamPass | None = None

    @property
    def posterior(self) -> FloatArray | None:
        """P(y = k | scores) per row (n, K); None for methods that estimate metrics directly."""
        return self.belief.posterior

    @property
    def sample(self) -> ScoreSet | None:
        """The sample of rows that a streamed evaluation was fitted to; None for one in memory."""
        return self.data if self.streamed is not None else None

    @property
    def n_rows(self) -> int:
        """How many rows were evaluated; of a streamed evaluation, more than ``data`` holds."""
        whole = self.groups[0]
        return whole.n_labeled + whole.n_unlabeled

    @property
    def n_random_labels(self) -> float:
        """How many labels of rows drawn at random have intervals as wide as the labels at hand.

        Kish's effective number of labels with weights, such as those of suggested rows.
        """
        data, own = self.data, self.data.label_weights
        if data.design.weights is None or own is None:
            return float(self.groups[0].n_labeled)
        rows = np.ones(data.n_rows) if data.weights is None else data.weights
        return float(kish(own[data.labeled, None])[0] * data.n_rows / kish(rows[:, None])[0])

    def rows(
        self, metric: str | None = None, group: str | None = None, *, level: float | None = None
    ) -> Iterator[dict[str, Any]]:
        """The table row by row, as dictionaries with the keys of `frame`'s columns.

        Parameters
        ----------
        metric, group : str, optional
            Only the rows of this metric, of this group.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Yields
        ------
        dict
            One row per model, group and metric.

        Examples
        --------
        >>> import ssme
        >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
        >>> [row["metric"] for row in r.rows()][:2]
        ['accuracy', 'ece']
        """
        if metric is not None:
            self.metric_index(metric)
        if group is not None:
            self.group_index(group)
        for row in self._compute_table(self.level if level is None else level):
            if metric in (None, row["metric"]) and group in (None, row["group"]):
                yield dict(row)

    def frame(self, library: str | None = None, *, level: float | None = None) -> Any:
        """The table: one row per model, group and metric.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).
        level : float, optional
            Coverage of the intervals (default: that of the evaluation). Nothing is fitted anew.

        Returns
        -------
        frame
            With the columns ``model``, ``group``, ``metric``; ``estimate`` with its interval
            ``low`` and ``high``; ``labels_only`` with ``labels_only_low`` and
            ``labels_only_high``, which is what the labeled rows say by themselves;
            ``labels_only_from``, which is "group" where that comes from the group's own labels,
            "all" where it comes from the labels of all rows (always so for the group "all", and
            for a group whose own labels do not determine it), "none" where there is no value;
            ``n_labeled`` and ``n_unlabeled`` rows of the group; ``borrowed``, the share of the
            group's estimates that comes from all rows; ``effective_labels``, as many labels as
            labels alone would need for an interval as narrow; ``method``; ``positive_class``, the
            positive one of two classes (None where nothing says it, and with more classes).

        Examples
        --------
        >>> import ssme
        >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
        >>> r.frame().columns[:6].tolist()
        ['model', 'group', 'metric', 'estimate', 'low', 'high']
        >>> narrow, wide = r.frame(level=0.5), r.frame(level=0.99)
        >>> bool((narrow["high"] <= wide["high"]).all())
        True
        """
        rows = self._compute_table(self.level if level is None else level)
        columns = {name: [row[name] for row in rows] for name in COLUMNS}
        return build_frame(columns, library or self._library)

    def estimate(self, metric: str | None = None, group: str = ALL) -> Estimate:
        """Value, draws and interval of one metric on one group, for all classifiers.

        Parameters
        ----------
        metric : str, optional
            May be left out where only one metric was evaluated.
        group : str
            Name of the group (default "all").

        Returns
        -------
        Estimate
            ``value`` (n_models,), ``draws`` (n_draws, n_models) or None, ``interval(level)``.
        """
        return self.estimates[self.group_index(group)][self.metric_index(metric)]

    def compare(
        self,
        metric: str | None = None,
        a: str | None = None,
        b: str | None = None,
        *,
        group: str = ALL,
        groups: tuple[str, str] | None = None,
        level: float | None = None,
    ) -> Comparison:
        """Paired differences of classifiers: ``a`` minus ``b``, with P(a better than b).

        Parameters
        ----------
        metric : str, optional
            The metric to compare by (default: each of them).
        a, b : str, optional
            Two classifiers. Without ``b``, ``a`` is compared with every other one; without both,
            every pair is compared.
        group : str
            Compare on the rows of this group (default "all").
        groups : tuple of two str, optional
            Compare each classifier (or ``a``) on the first group with itself on the second.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        Comparison
            ``rows`` holds one `Difference` each; ``frame()`` gives them as a table.

        Examples
        --------
        >>> import ssme
        >>> scores = {"good": [0.9, 0.8, 0.3, 0.2], "bad": [0.4, 0.6, 0.7, 0.5]}
        >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
        >>> r.compare("accuracy", "good", "bad").rows[0].difference > 0
        True
        """
        level = self._check_level(level)
        wanted = range(len(self.metrics)) if metric is None else [self.metric_index(metric)]
        if groups is not None:
            names = self.data.models if a is None else (a,)
            sides = [(groups[0], model, groups[1], model) for model in names]
        else:
            sides = [(group, one, group, two) for one, two in self._list_pairs(a, b)]
        rows: list[Difference] = []
        remarks = []
        for m in wanted:
            before = len(rows)
            where = group if groups is None else " and ".join(groups)
            record = self.find_record(self.metrics[m], where)
            for group_a, model_a, group_b, model_b in sides:
                first = self.estimates[self.group_index(group_a)][m]
                second = self.estimates[self.group_index(group_b)][m]
                same_group = groups is None
                rows.append(
                    compare_two(
                        (model_a, model_b) if same_group else (group_a, group_b),
                        OneModel.of(first, self.model_index(model_a), level),
                        OneModel.of(second, self.model_index(model_b), level),
                        metric=self.metrics[m].name,
                        where=group if same_group else model_a,
                        greater_is_better=self.metrics[m].greater_is_better,
                        level=level,
                        record=record,
                        same_rows=same_group,
                    )
                )
            if not all(np.isnan(row.p_better) for row in rows[before:]):
                remarks.append(record.describe("better"))
        said = tuple(filter(None, remarks))
        return Comparison(tuple(rows), level, self._library, remarks=said)

    def ranking(
        self, metric: str | None = None, group: str = ALL, *, level: float | None = None
    ) -> ModelRanking:
        """All classifiers by one metric, best first.

        Parameters
        ----------
        metric : str, optional
            May be left out where only one metric was evaluated.
        group : str
            Rank on the rows of this group (default "all").
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        ModelRanking
            ``rows`` holds one `Rank` per classifier: estimate, probability of being the best,
            expected rank and the interval of the rank; ``frame()`` gives them as a table.

        Examples
        --------
        >>> import ssme
        >>> scores = {"bad": [0.4, 0.6, 0.7, 0.5], "good": [0.9, 0.8, 0.3, 0.2]}
        >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
        >>> [rank.model for rank in r.ranking().rows]
        ['good', 'bad']
        """
        chosen = self.metrics[self.metric_index(metric)]
        if chosen.greater_is_better is None:
            raise InputError(
                f"metric {chosen.name!r} does not say whether greater is better",
                fix="make it with greater_is_better=True or False "
                "(ssme.metrics.custom.from_callable)",
            )
        return rank_models(
            self.data.models,
            self.estimate(metric, group),
            metric=chosen.name,
            where=group,
            greater_is_better=chosen.greater_is_better,
            level=self._check_level(level),
            record=self.find_record(chosen, group),
            library=self._library,
        )

    def find_record(self, metric: Metric, group: str = ALL) -> Record:
        """What was measured of probabilities that the method gives for ``metric``.

        Parameters
        ----------
        metric : Metric
            The metric that models are compared by.
        group : str
            The group that they are compared on; nothing was measured on groups (default "all"),
            nor for judges.

        Returns
        -------
        Record
            How often such probabilities were true in the benchmarks, or that nobody measured it.
        """
        if group != ALL:
            return Record(self.method, f"{metric.name} on a group of rows")
        if self.data.judges:
            return Record(self.method, f"{metric.name} of answers and ratings")
        n_labeled = self.groups[0].n_labeled
        return find_record(self.method, metric, self.data.n_classes, n_labeled)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but rows and draws as plain values.

        Returns
        -------
        dict
            Values that JSON can hold; NaN becomes None.
        """
        return {
            "settings": to_plain_values(dict(self.settings)),
            "notes": to_plain_values(self.belief.facts.describe()),
            "doubts": [to_plain_values(vars(doubt)) for doubt in self.doubts],
            "estimates": [to_plain_values(row) for row in self.rows()],
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """`to_dict` as JSON text.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well, whole or not at all.

        Returns
        -------
        str
            The text.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def metric_index(self, metric: str | None) -> int:
        """Find the position of a metric.

        Parameters
        ----------
        metric : str or None
            Name of the metric; None where only one was evaluated.

        Returns
        -------
        int
            Position in ``metrics``.
        """
        names = [m.name for m in self.metrics]
        if metric is None and len(names) == 1:
            return 0
        if metric is None:
            raise InputError(
                "no metric was named, and several were evaluated",
                allowed=quote(names),
                fix=f"name one, such as {argument('metric', repr(names[0]))}",
            )
        return _find_position(metric, names, "metric {!r} was not evaluated")

    def group_index(self, group: str) -> int:
        """Find the position of a group.

        Parameters
        ----------
        group : str
            Name of the group.

        Returns
        -------
        int
            Position in ``groups``.
        """
        return _find_position(group, [g.name for g in self.groups], "group {!r} was not evaluated")

    def model_index(self, model: str) -> int:
        """Find the position of a model.

        Parameters
        ----------
        model : str
            Name of the model.

        Returns
        -------
        int
            Position in ``data.models``.
        """
        return _find_position(model, list(self.data.models), "there is no model {!r}")

    def class_index(self, name: Any = None) -> int:
        """Find the position of a class.

        Parameters
        ----------
        name : object, optional
            The class (default: the positive one of two, the last one of more).

        Returns
        -------
        int
            Position in ``data.classes``.
        """
        if name is None and self.data.n_classes == 2 and not self.data.ordered:
            raise InputError(
                f"nothing says which of the classes {quote(self.data.classes)} is positive",
                fix=f"name the class, such as {argument('class_name', repr(self.data.classes[1]))}",
            )
        if name is None:
            return self.data.n_classes - 1
        return _find_position(
            str(name), [str(c) for c in self.data.classes], "there is no class {!r}"
        )

    def _list_pairs(self, a: str | None, b: str | None) -> list[tuple[str, str]]:
        models = self.data.models
        if a is None and b is not None:
            raise InputError(f"b={b!r} was given without a", fix="name both, a alone, or neither")
        if a is None:
            return [(one, two) for i, one in enumerate(models) for two in models[i + 1 :]]
        if a == b:
            raise InputError(
                f"a and b are both {a!r}",
                allowed="two different models",
                fix="name two of " + quote(models) + ", or a alone",
            )
        return [(a, two) for two in ((b,) if b is not None else models) if two != a]

    @property
    def _library(self) -> str:
        library = self.data.frame_library
        return library if library in LIBRARIES else LIBRARIES[0]

    def _check_level(self, level: float | None) -> float:
        if level is None:
            return self.level
        return float(accept(LEVEL, level))

    def _compute_table(self, level: float) -> tuple[Row, ...]:
        """The table at ``level``, computed once."""
        level = self._check_level(level)
        if level not in self._tables:
            self._tables[level] = tuple(
                tabulate(
                    self.data.models,
                    self.groups,
                    self.metrics,
                    self.estimates,
                    self.labels_only,
                    level=level,
                    n_labels=self.n_random_labels,
                    method=self.method,
                    positive=None if self.data.positive is None else str(self.data.positive),
                )
            )
        return self._tables[level]

    @cached_property
    def _tables(self) -> dict[float, tuple[Row, ...]]:
        return {}

    def _repr_html_(self) -> str:
        notes = [str(doubt) for doubt in self.doubts]
        if len(self.groups) > 1:
            notes = [f"{len(self.groups) - 1} groups in .frame()", *notes]
        metrics = [metric.name for metric in self.metrics]
        return render_table(
            self._write_head(), self.rows(group=ALL), self.data.models, metrics, notes
        )

    def _write_head(self) -> str:
        """What was evaluated, in one line."""
        whole = self.groups[0]
        return (
            f"Evaluation of {self.data.n_models} models by {self.method!r}: {whole.n_labeled:,} "
            f"labeled and {whole.n_unlabeled:,} unlabeled rows, {self.data.n_classes} classes"
            f"{tell_positive(self.data)}, {self.level * 100:g} % intervals"
        )

    def __repr__(self) -> str:
        rows = self._compute_table(self.level)
        lines = [
            self._write_head(),
            render_frame_text({name: [row[name] for row in rows] for name in SHOWN_COLUMNS}),
        ]
        lines += [make_printable(str(doubt)) for doubt in self.doubts]
        return "\n".join(lines)


def _find_position(name: str, names: list[str], problem: str) -> int:
    if name not in names:
        raise InputError(
            problem.format(name),
            allowed=quote(names),
            fix=suggest_nearest(name, names) or None,
        )
    return names.index(name)


def to_plain_values(value: Any) -> Any:
    """``value`` as JSON knows it: arrays to lists, NaN and infinities to None."""
    if isinstance(value, Mapping):
        return {str(k): to_plain_values(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return to_plain_values(value.tolist())
    if isinstance(value, (list, tuple)):
        return [to_plain_values(v) for v in value]
    if isinstance(value, np.generic):
        return to_plain_values(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)
