"""The answer: each classifier's metrics with intervals, beside labels alone, and the doubts.

An `Evaluation` holds values and joint draws; it answers questions (`frame`, `interval`,
`compare`, `ranking`) and keeps what is needed to make it again (`settings`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.doubt import Doubt
from ssme.errors import InputError
from ssme.methods.base import Belief, BoolArray, Estimate
from ssme.metrics.base import FloatArray, Metric
from ssme.results.comparison import Comparison, OneModel, Ranking, difference, rank
from ssme.results.frames import LIBRARIES, build_frame, frame_text
from ssme.wording import printable
from ssme.writing import write_text

if TYPE_CHECKING:
    from ssme.plots import Plots

__all__ = ["ALL", "COLUMNS", "Evaluation", "Group"]

ALL = "all"
"""Name of the group that holds every row."""

COLUMNS = (
    "model",
    "group",
    "metric",
    "estimate",
    "low",
    "high",
    "labels_only",
    "n_labeled",
    "n_unlabeled",
    "method",
)
"""Columns of `Evaluation.frame`, one row per model, group and metric."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rows evaluated together: all of them, or those with one value in a group column."""

    name: str
    rows: BoolArray | None
    n_labeled: int
    n_unlabeled: int


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Estimates [group][metric] of every classifier, and what they rest on.

    Attributes
    ----------
    data : the ScoreSet evaluated.
    method : name of the method.
    belief : what the method believes; ``belief.notes`` holds facts of the fit.
    metrics, groups : the axes of ``estimates``.
    estimates : one `Estimate` per group and metric, each for all classifiers.
    labels_only : the same from the labeled rows alone.
    level : coverage the intervals are made for.
    doubts : coded checks that fired, most severe first.
    settings : everything needed to run it again, as plain values.
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

    @property
    def posterior(self) -> FloatArray | None:
        """P(y = k | scores) per row (n, K); None for methods that estimate metrics directly."""
        return self.belief.posterior

    def frame(self, library: str | None = None) -> Any:
        """The tidy table with columns `COLUMNS`, in the frame library the data came in.

        ``library`` is "pandas", "polars" or "pyarrow"; by default that of the input.
        """
        ours = self.data.frame_library if self.data.frame_library in LIBRARIES else LIBRARIES[0]
        return build_frame(self._columns(), library or ours)

    def _columns(self) -> dict[str, list[Any]]:
        rows = list(self.rows())
        return {name: [row[name] for row in rows] for name in COLUMNS}

    def rows(self, metric: str | None = None, group: str | None = None) -> Iterator[dict[str, Any]]:
        """The table row by row: `COLUMNS`, then the interval of labels alone.

        With ``metric`` or ``group``, only theirs.
        """
        for g, group_ in enumerate(self.groups):
            for m, metric_ in enumerate(self.metrics):
                if metric not in (None, metric_.name) or group not in (None, group_.name):
                    continue
                value = self.estimates[g][m].value
                low, high = self.estimates[g][m].interval(self.level)
                alone = self.labels_only[g][m]
                alone_low, alone_high = alone.interval(self.level)
                for j, model in enumerate(self.data.models):
                    yield {
                        "model": model,
                        "group": group_.name,
                        "metric": metric_.name,
                        "estimate": float(value[j]),
                        "low": float(low[j]),
                        "high": float(high[j]),
                        "labels_only": float(alone.value[j]),
                        "n_labeled": group_.n_labeled,
                        "n_unlabeled": group_.n_unlabeled,
                        "method": self.method,
                        "labels_only_low": float(alone_low[j]),
                        "labels_only_high": float(alone_high[j]),
                    }

    def estimate(self, metric: str | None = None, group: str = ALL) -> Estimate:
        """The `Estimate` of one metric (may be left out when there is only one) on one group."""
        return self.estimates[self.group_index(group)][self.metric_index(metric)]

    def metric_index(self, metric: str | None) -> int:
        """Position of ``metric``; None is allowed when only one was evaluated."""
        names = [m.name for m in self.metrics]
        if metric is None and len(names) == 1:
            return 0
        if metric not in names:
            raise InputError(
                f"metric {metric!r} was not evaluated" if metric else "no metric was named",
                allowed=", ".join(names),
            )
        return names.index(metric)

    def group_index(self, group: str) -> int:
        """Position of ``group``."""
        names = [g.name for g in self.groups]
        if group not in names:
            raise InputError(f"group {group!r} was not evaluated", allowed=", ".join(names))
        return names.index(group)

    def model_index(self, model: str) -> int:
        """Position of ``model``."""
        if model not in self.data.models:
            raise InputError(f"there is no model {model!r}", allowed=", ".join(self.data.models))
        return self.data.models.index(model)

    def compare(
        self,
        metric: str | None = None,
        a: str | None = None,
        b: str | None = None,
        *,
        group: str = ALL,
        groups: tuple[str, str] | None = None,
    ) -> Comparison:
        """Paired differences of classifiers: ``a`` minus ``b``, with P(a better than b).

        Without ``b``: ``a`` against every other; without both: every pair. Without ``metric``: all
        of them. With ``groups=(g, h)``: each classifier on g minus the same classifier on h.
        """
        wanted = range(len(self.metrics)) if metric is None else [self.metric_index(metric)]
        if groups is not None:
            names = self.data.models if a is None else (a,)
            sides = [(groups[0], model, groups[1], model) for model in names]
        else:
            sides = [(group, one, group, two) for one, two in self._pairs(a, b)]
        rows = []
        for m in wanted:
            for group_a, model_a, group_b, model_b in sides:
                here = self.estimates[self.group_index(group_a)][m]
                there = self.estimates[self.group_index(group_b)][m]
                same_group = groups is None
                rows.append(
                    difference(
                        (model_a, model_b) if same_group else (group_a, group_b),
                        OneModel.of(here, self.model_index(model_a), self.level),
                        OneModel.of(there, self.model_index(model_b), self.level),
                        metric=self.metrics[m].name,
                        where=group if same_group else model_a,
                        greater_is_better=self.metrics[m].greater_is_better,
                        level=self.level,
                    )
                )
        return Comparison(tuple(rows), self.level)

    def ranking(self, metric: str | None = None, group: str = ALL) -> Ranking:
        """All classifiers by ``metric``, best first: P(best), expected rank, rank interval."""
        chosen = self.metrics[self.metric_index(metric)]
        if chosen.greater_is_better is None:
            raise InputError(
                f"metric {chosen.name!r} does not say whether greater is better",
                fix="make it with greater_is_better=True or False "
                "(ssme.metrics.custom.from_callable)",
            )
        return rank(
            self.data.models,
            self.estimate(metric, group),
            metric=chosen.name,
            where=group,
            greater_is_better=chosen.greater_is_better,
            level=self.level,
        )

    def _pairs(self, a: str | None, b: str | None) -> list[tuple[str, str]]:
        models = self.data.models
        if a is None and b is not None:
            raise InputError(f"b={b!r} was given without a", fix="name both, a alone, or neither")
        if a is None:
            return [(one, two) for i, one in enumerate(models) for two in models[i + 1 :]]
        return [(a, two) for two in ((b,) if b is not None else models) if two != a]

    def class_index(self, name: Any = None) -> int:
        """Position of class ``name``; by default the last, the positive class of two."""
        if name is None:
            return self.data.n_classes - 1
        names = [str(each) for each in self.data.classes]
        if str(name) not in names:
            raise InputError(f"there is no class {name!r}", allowed=", ".join(names))
        return names.index(str(name))

    @property
    def plot(self) -> Plots:
        """Pictures by name, such as ``r.plot.estimates()``; `ssme.plots.Plots` lists them."""
        from ssme.plots import Plots

        return Plots(self)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a report to ``path``: .html (one self-contained file), .md or .json."""
        from ssme.report import write_report

        return write_report(self, path, title=title)

    def to_mlflow(self, *, tracker: Any = None, report: str = "report.html") -> None:
        """Log metrics with their bounds, settings and the report to MLflow's active run."""
        from ssme.integrations.mlflow import log_evaluation

        log_evaluation(self, tracker=tracker, report=report)

    def to_dict(self) -> dict[str, Any]:
        """Everything but rows and draws as plain values; NaN becomes None."""
        return {
            "settings": dict(self.settings),
            "notes": _plain(dict(self.belief.notes)),
            "doubts": [_plain(vars(doubt)) for doubt in self.doubts],
            "estimates": [_plain(row) for row in self.rows()],
        }

    def to_json(self, path: str | Path | None = None) -> str:
        """`to_dict` as JSON text; written to ``path`` where given."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def _repr_html_(self) -> str:
        from ssme.results.notebook import evaluation_html

        return evaluation_html(self)

    def __repr__(self) -> str:
        head = (
            f"Evaluation of {self.data.n_models} models by {self.method!r}: "
            f"{self.groups[0].n_labeled} labeled and {self.groups[0].n_unlabeled} unlabeled rows"
        )
        lines = [head, frame_text(self._columns())]
        lines += [printable(str(doubt)) for doubt in self.doubts]
        return "\n".join(lines)


def _plain(value: Any) -> Any:
    """``value`` as JSON knows it: arrays to lists, NaN and infinities to None."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)
