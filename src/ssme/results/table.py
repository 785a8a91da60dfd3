"""Results as tables: one way to a data frame, to JSON, to print and to a notebook.

`tabulate` makes the table of an evaluation: one row per model, group and metric. A group may have
no labeled row, or none of a class that a metric needs. Labels alone then say nothing about it, and
whoever works with labels alone would fall back on their overall value. The table does so too:
``labels_only_from`` is

    "group"   the value is that of the group's own labeled rows
    "all"     the value is that of all labeled rows
    "none"    neither determines it, and the value is NaN

How much there is behind an estimate: ``shrinkage`` is the share of a group's estimates that comes
from all rows rather than from its own labels, and ``effective_labels`` the evidence as a number of
labels. With n labels in all (Kish's effective number of those with weights) and w the width of an
interval,

    effective_labels = n (w of labels alone on all rows / w of the estimate)^2,

as many labels as labels alone would need for an interval as narrow as the estimate's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np

from ssme.arrays import FloatArray
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.wording import make_printable, shorten

if TYPE_CHECKING:
    from ssme.metrics.base import Metric
    from ssme.results.evaluation import Evaluation
    from ssme.results.groups import Group

F = TypeVar("F", bound=Callable[..., Any])


class Block(NamedTuple):
    """One metric on one group: ``ours`` and ``alone`` are value, low and high (3, M) of each model.

    Where the group's labels do not determine the metric, ``alone`` is that of all labeled rows;
    ``source`` (M,) says where it comes from. ``widths`` (M,) are of labels alone on all rows.
    """

    evaluation: Evaluation
    group: Group
    metric: Metric
    ours: FloatArray
    alone: FloatArray
    source: list[str]
    widths: FloatArray

    def count_effective(self) -> list[float]:
        """The effective labels of each model."""
        n_labels, pairs = (
            self.evaluation.n_random_labels,
            zip(self.widths, self.ours.T, strict=True),
        )
        return [
            compute_effective_labels(n_labels, alone, high - low) for alone, (_, low, high) in pairs
        ]


class TableColumn(NamedTuple):
    """A column of the table: ``find`` gives its value for each model (M,), or one for all.

    With a ``title`` documents show it too, with cells of this ``kind`` (`ssme.show.sections`).
    """

    name: str
    meaning: str
    find: Callable[[Block], Any]
    title: str = ""
    kind: str = "number"


TABLE = (
    TableColumn("model", "the model", lambda block: block.evaluation.data.models),
    TableColumn("group", 'the group, "all" for all rows', lambda block: block.group.name),
    TableColumn("metric", "the metric", lambda block: block.metric.name),
    TableColumn("estimate", "the estimate", lambda block: block.ours[0]),
    TableColumn("low", "lower end of its interval", lambda block: block.ours[1]),
    TableColumn("high", "upper end of its interval", lambda block: block.ours[2]),
    TableColumn("labels_only", "the value from labeled rows alone", lambda block: block.alone[0]),
    TableColumn("labels_only_low", "lower end of its interval", lambda block: block.alone[1]),
    TableColumn("labels_only_high", "upper end of its interval", lambda block: block.alone[2]),
    TableColumn(
        "labels_only_from",
        '"group" where that is from the group\'s own labels; "all" where they do not determine it, '
        'and it is from the labels of all rows; "none" where there is no value',
        lambda block: block.source,
    ),
    TableColumn("n_labeled", "labeled rows of the group", lambda block: block.group.n_labeled),
    TableColumn("n_unlabeled", "its unlabeled rows", lambda block: block.group.n_unlabeled),
    TableColumn(
        "shrinkage",
        "share of the group's estimates that comes from all rows",
        lambda block: block.group.shrinkage,
    ),
    TableColumn(
        "effective_labels",
        "labels that labels alone would need for an interval as narrow",
        Block.count_effective,
    ),
    TableColumn("method", "the method", lambda block: block.evaluation.method),
    TableColumn(
        "positive_class",
        "the positive one of two classes; None where it is unknown, and with more classes",
        lambda block: None if (name := block.evaluation.data.positive) is None else str(name),
    ),
)
"""The table in a frame, in CSV, in JSON and in documents: a new column is one entry here."""
COLUMNS = tuple(each.name for each in TABLE)


def lists_columns(function: F) -> F:
    """Write the columns of the table into the docstring of ``function``, in place of a mark."""
    listed = "\n".join(f"    {each.name} : {each.meaning}" for each in TABLE)
    function.__doc__ = cleandoc(function.__doc__ or "").replace("**columns", listed.lstrip())
    return function


def tabulate(evaluation: Evaluation, level: float) -> Iterator[dict[str, Any]]:
    """The rows of the table: groups, in each of them metrics, in each of them models."""
    overall = [_stack_ends(estimate, level) for estimate in evaluation.labels_only[0]]
    for g, group in enumerate(evaluation.groups):
        for m, metric in enumerate(evaluation.metrics):
            alone = _stack_ends(evaluation.labels_only[g][m], level)
            own = np.isfinite(alone[0])
            alone = np.where(own, alone, overall[m])
            source = np.where(np.isfinite(alone[0]), "all", "none")
            source = np.where(own & (g > 0), "group", source)
            ours = _stack_ends(evaluation.estimates[g][m], level)
            widths = overall[m][2] - overall[m][1]
            block = Block(evaluation, group, metric, ours, alone, source.tolist(), widths)
            columns = []
            for each in TABLE:
                found = each.find(block)
                found = found.tolist() if isinstance(found, np.ndarray) else found
                several = isinstance(found, list | tuple)
                columns.append(found if several else [found] * len(source))
            for row in zip(*columns, strict=True):
                yield dict(zip(COLUMNS, row, strict=True))


def _stack_ends(estimate: Estimate, level: float) -> FloatArray:
    """Value and both ends of the interval (3, M)."""
    return np.stack([estimate.value, *estimate.interval(level)])


def nest_estimates(rows: Iterable[Mapping[str, Any]], names: str) -> dict[str, Any]:
    """Metric -> name of a model -> estimate, low and high, as `dvc metrics` reads them.

    ``names`` is the key of a row that names what was estimated; groups are left out.
    """
    found: dict[str, Any] = {}
    for row in rows:
        if row["group"] == "all":
            metric = found.setdefault(row.get("metric") or row["measure"], {})
            metric[row[names]] = {key: row[key] for key in ("estimate", "low", "high")}
    nested: dict[str, Any] = to_plain_values(found)
    return nested


def compute_effective_labels(n_labels: float, alone: float, width: float) -> float:
    """Labels that labels alone need for intervals of ``width``; NaN where that is mere rounding."""
    rounding = 1e-9 * alone
    return float(n_labels * (alone / width) ** 2) if width > rounding else float("nan")


def count_effective_labels(evaluation: Evaluation, metric: str | None = None) -> float:
    """Labels that labels alone would need for intervals as narrow: n (w_0 / w)^2.

    The median over models, by one metric (default: the first) on all rows; NaN where an interval is
    missing. n is the number of labels, or Kish's effective number of those with weights.
    """
    m = evaluation.metric_index(evaluation.metrics[0].name if metric is None else metric)
    both = (evaluation.estimates[0][m], evaluation.labels_only[0][m])
    (low, high), (low_0, high_0) = (estimate.interval(evaluation.level) for estimate in both)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (high_0 - low_0) / (high - low)
    ratio = ratio[np.isfinite(ratio)]
    n = evaluation.n_random_labels
    return float(n * np.median(ratio) ** 2) if ratio.size and n else float("nan")


# -------------------------------------------------------------------------------------------------
# Records of results


class Row:
    """Base of the frozen dataclasses that contain a result.

    ``derived`` names properties, and methods without arguments, that `to_dict` adds to the fields.
    """

    derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; NaN and infinities become None."""
        shown = [each.name for each in fields(self) if each.repr]  # type: ignore[arg-type]
        values = {name: getattr(self, name) for name in (*shown, *self.derived)}
        return {k: to_plain_values(v() if callable(v) else v) for k, v in values.items()}


class Answer(Row):
    """A result in words: `sentence` is what print shows, a notebook adds the table of `frame`."""

    library: str = "pandas"
    remarks: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Describe the result in words."""
        raise NotImplementedError

    def frame(self, library: str | None = None) -> Any:
        """The rows as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).
        """
        return build_frame(self._list_columns(), library or self.library)

    def _list_rows(self) -> Sequence[Mapping[str, Any]]:
        return ()

    def _list_columns(self) -> dict[str, list[Any]]:
        rows = self._list_rows()
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def __str__(self) -> str:
        return make_printable(self.sentence())

    def _repr_html_(self) -> str:
        columns = self._list_columns()
        table = ""
        if columns:
            table = _cut_frame(columns).to_html(index=False, border=0, max_rows=SHOWN_ROWS)
        first, *rest = (
            f"<p>{escape(make_printable(text))}</p>" for text in (self.sentence(), *self.remarks)
        )
        return "".join([first, table, *rest])


@dataclass(frozen=True, eq=False, repr=False)
class RowTable(Answer):
    """An answer that is its table: ``rows`` of the class ``of`` with a ``heading`` above them."""

    columns: ClassVar[list[str]]
    heading: ClassVar[str]
    rows: tuple[Any, ...]
    level: float
    library: str = "pandas"
    remarks: tuple[str, ...] = field(default=(), kw_only=True)

    def __init_subclass__(cls, of: type[Row], heading: str) -> None:
        cls.columns, cls.heading = [each.name for each in fields(of)], heading  # type: ignore[arg-type]

    def sentence(self) -> str:
        """What the rows and columns are."""
        return self.heading.format(self)

    def _list_columns(self) -> dict[str, list[Any]]:
        return {name: [getattr(row, name) for row in self.rows] for name in self.columns}

    def __repr__(self) -> str:
        table = _cut_frame(self._list_columns()).to_string(index=False, max_rows=SHOWN_ROWS)
        return "\n".join([self.sentence(), table, *map(make_printable, self.remarks)])

    __str__ = __repr__

    def __len__(self) -> int:
        return len(self.rows)


def to_plain_values(value: Any) -> Any:
    """``value`` as JSON knows it: arrays to lists, NaN and infinities to None."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, Row):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(k): to_plain_values(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return to_plain_values(value.tolist())
    if isinstance(value, (list, tuple)):
        return [to_plain_values(v) for v in value]
    if isinstance(value, np.generic):
        return to_plain_values(value.item())
    return str(value)


# -------------------------------------------------------------------------------------------------
# Frames of pandas, polars or pyarrow


LIBRARIES = ("pandas", "polars", "pyarrow")
SHOWN_ROWS = 40


def build_frame(columns: Mapping[str, Sequence[Any]], library: str = "pandas") -> Any:
    """``columns`` as a frame of ``library``.

    Half of a surrogate pair, which may come out of a damaged file name, cannot be stored by Arrow:
    pandas keeps such a name as a Python object, polars and pyarrow get it with the half escaped.
    """
    if library not in LIBRARIES:
        raise InputError(option="library", value=library, must=f"be one of {', '.join(LIBRARIES)}")
    if library == "pandas":
        import pandas as pd

        kept = {
            name: pd.Series(list(values), dtype=object)
            if any(map(_is_broken, values))
            else list(values)
            for name, values in columns.items()
        }
        return pd.DataFrame(kept, columns=list(columns))
    import narwhals as nw

    safe = {
        name: [make_printable(v) if _is_broken(v) else v for v in values]
        for name, values in columns.items()
    }
    return nw.from_dict(safe, backend=cast(Any, library)).to_native()


def _is_broken(value: Any) -> bool:
    return isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value)


def _cut_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """The columns that people see, safe for a terminal: one probability for each event."""
    safe = {
        name: [shorten(v) if isinstance(v, str) else v for v in values]
        for name, values in columns.items()
        if not name.endswith("_raw")
    }
    return build_frame(safe).round(4)
