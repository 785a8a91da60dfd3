"""Which rows are reported on together: values of columns, numbers in bins, intersections.

    sex                       a group for every value of a column
    age:quantiles=4           four groups of about equally many rows
    age:edges=30/50           below 30, from 30 to below 50, 50 and more
    sex+age:edges=30/50       a group for every combination that occurs

A text that is itself the name of a column means that column. A grouping splits all rows into
groups; those of fewer than ``least_rows`` rows, and the smallest ones beyond ``most_groups``, are
put together into one group whose name says how many they were.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.values import factorize, reads_as_number
from ssme.errors import InputError
from ssme.options import parse_number
from ssme.wording import quote, suggest_nearest

MOST_QUANTILES = 1000
MARKS = ("+", ":quantiles=", ":edges=")
GRAMMAR = (
    "a column, column:quantiles=4, column:edges=30/50, or several of these joined by + "
    "(sex+age:quantiles=4)"
)


class GroupValue(NamedTuple):
    """The group of a row by one column: ``column=value``, ``age<30`` or ``30<=age<50``.

    Groups are sorted by ``kind``, the type of the value, and ``order``, the value or its bin.
    """

    name: str
    kind: str
    order: Any


@dataclass(frozen=True)
class Binning:
    """One column of a grouping: by its values, by quantiles or by edges."""

    column: str
    quantiles: int | None = None
    edges: tuple[float, ...] | None = None

    @property
    def binned(self) -> bool:
        """Whether the values have to be numbers."""
        return self.quantiles is not None or self.edges is not None

    @property
    def text(self) -> str:
        """As it is written in a grouping."""
        if self.quantiles is not None:
            return f"{self.column}:quantiles={self.quantiles}"
        if self.edges is not None:
            return f"{self.column}:edges={'/'.join(map(_format_number, self.edges))}"
        return self.column

    def settle(self, values: NDArray[np.object_]) -> Binning:
        """The same with the edges that the quantiles of ``values`` (n,) give."""
        if self.binned:
            numbers = self.read_numbers(values)
        if self.quantiles is None:
            return self
        known = numbers[~np.isnan(numbers)]
        if not known.size:
            return Binning(self.column, edges=())
        inner = np.unique(np.quantile(known, np.arange(1, self.quantiles) / self.quantiles))
        return Binning(self.column, edges=tuple(inner[inner > known.min()].tolist()))

    def read_numbers(self, values: NDArray[np.object_]) -> FloatArray:
        """``values`` as numbers, NaN where missing; text is refused with its row."""
        out = np.full(len(values), np.nan)
        texts = []
        for row, value in enumerate(values.tolist()):
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                out[row] = value
            elif value is not None:
                texts.append((row, value))
        if texts:
            row, value = next((each for each in texts if not reads_as_number(each[1])), texts[0])
            problem = f"{self.text!r} needs numbers, but row {row} of {self.column!r} is {value!r}"
            raise InputError(problem, hint=f"pass `by={self.column!r}` for one group per value")
        return out

    def find_value(self, value: Any) -> GroupValue:
        """The group of one value of the column; ``edges`` have to be settled."""
        if self.edges is None or value is None or value != value:
            plain = None if value is None or (self.binned and value != value) else value
            shown = repr(plain) if plain == "None" else plain  # text, not a missing value
            order = 0 if plain is None else plain  # None cannot be compared
            return GroupValue(f"{self.column}={shown}", str(type(plain)), order)
        place, column = int(np.searchsorted(self.edges, value, side="right")), self.column
        ends = [_format_number(edge) for edge in self.edges]
        if not ends:
            name = f"{column}: any number"
        elif place == 0:
            name = f"{column}<{ends[0]}"
        elif place == len(ends):
            name = f"{column}>={ends[-1]}"
        else:
            name = f"{ends[place - 1]}<={column}<{ends[place]}"
        return GroupValue(name, str(int), place)


@dataclass(frozen=True)
class GroupBy:
    """One grouping of the rows: a column, or the intersections of several."""

    text: str
    parts: tuple[Binning, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it looks at."""
        return tuple(part.column for part in self.parts)

    def settle(self, columns: Mapping[str, NDArray[np.object_]]) -> GroupBy:
        """The same with quantiles turned into the edges that ``columns`` give."""
        parts = tuple(part.settle(columns[part.column]) for part in self.parts)
        return GroupBy(self.text, parts)

    @property
    def fixed_text(self) -> str:
        """The grouping as text whose groups do not depend on the rows."""
        return "+".join(part.text for part in self.parts)


@dataclass(frozen=True)
class Pooling:
    """Which groups are too small or too many to be reported on their own."""

    least_rows: int = 1
    most_groups: int = 200

    def choose_kept(self, sizes: IntArray, text: str) -> BoolArray:
        """Which of the groups with ``sizes`` rows are not pooled; the larger ones."""
        large = sizes >= self.least_rows
        if sizes.size and not large.any():
            problem = f"no group of {text!r} has {self.least_rows:,} rows; the largest has "
            problem += f"{sizes.max():,}"
            raise InputError(problem, hint="give a smaller `min_group_rows`, or coarser groups")
        if large.sum() > self.most_groups:
            large[np.argsort(-sizes, kind="stable")[self.most_groups :]] = False
        return large


class Divided(NamedTuple):
    """A group of a grouping: its name, its rows, and how many groups were pooled in it."""

    name: str
    rows: IntArray
    pooled: int


def parse_group_by(text: str, known: Iterable[str], option: str = "by") -> GroupBy:
    """Read a grouping of the columns ``known``; ``option`` is where it was given, for messages."""
    names = list(known)
    if text in names:
        return GroupBy(text, (Binning(text),))
    try:
        parts = tuple(_parse_part(part.strip(), names, option) for part in text.split("+"))
    except InputError as error:
        raise error.at(f"`{option}={text!r}`") from None
    columns = [part.column for part in parts]
    if len(set(columns)) < len(columns):
        raise InputError(f"`{option}={text!r}` names a column twice")
    return GroupBy(text, parts)


def list_named_columns(texts: Sequence[str], known: Iterable[str]) -> tuple[str, ...]:
    """The columns that groupings name, each once; a text without a rule is a column as it is."""
    names = list(known)
    found: list[str] = []
    for text in texts:
        plain = text in names or not any(mark in text for mark in MARKS)
        found += (text,) if plain else parse_group_by(text, names, "groups").columns
    return tuple(dict.fromkeys(found))


def find_values(
    group_by: GroupBy, columns: Mapping[str, NDArray[np.object_]]
) -> tuple[list[tuple[GroupValue, ...]], IntArray]:
    """The groups of a settled grouping, in order, and which of them each row is in."""
    first, *others = group_by.parts
    names, codes = _split_column(first, columns[first.column])
    listed: list[tuple[GroupValue, ...]] = [(name,) for name in names]
    for part in others:
        names, own = _split_column(part, columns[part.column])
        joint, codes = np.unique(codes * len(names) + own, return_inverse=True)
        listed = [
            (*listed[before], names[second])
            for before, second in zip(*np.divmod(joint, len(names)), strict=True)
        ]
    return listed, codes


def name_group(values: Sequence[GroupValue]) -> str:
    """The name of a group: its values, joined."""
    return " & ".join(value.name for value in values)


def name_pooled(text: str, count: int) -> str:
    """The name of groups that were put together."""
    return f"{text}: {count:,} smaller group{'s' if count > 1 else ''} together"


def divide(
    group_by: GroupBy, columns: Mapping[str, NDArray[np.object_]], pooling: Pooling
) -> list[Divided]:
    """The groups of a settled grouping in order, small ones together at the end."""
    listed, codes = find_values(group_by, columns)
    sizes = np.bincount(codes, minlength=len(listed))
    order = np.argsort(codes, kind="stable")
    rows = np.split(order, np.cumsum(sizes)[:-1]) if len(listed) else []
    kept = pooling.choose_kept(sizes, group_by.text)
    groups = [Divided(name_group(listed[g]), rows[g], 0) for g in np.flatnonzero(kept).tolist()]
    left = np.flatnonzero(~kept)
    if left.size:
        together = np.sort(np.concatenate([rows[g] for g in left]))
        groups.append(Divided(name_pooled(group_by.text, left.size), together, left.size))
    return groups


def _parse_part(part: str, known: list[str], option: str) -> Binning:
    if part in known:
        return Binning(part)
    column, colon, rule = part.rpartition(":")
    column, (name, equals, value) = column.strip(), rule.partition("=")
    name, value = name.strip(), value.strip()
    if colon and equals and name == "quantiles":
        if not value.isascii() or not value.isdigit() or not 2 <= int(value) <= MOST_QUANTILES:
            problem = f"quantiles={value} is not a whole number between 2 and {MOST_QUANTILES:,}"
            raise InputError(problem, hint="write quantiles=4 for four groups of equally many rows")
        found = Binning(column, quantiles=int(value))
    elif colon and equals and name == "edges":
        found = Binning(column, edges=_parse_edges(value))
    elif colon and equals and column in known:
        problem = f"there is no rule {name!r}"
        hint = suggest_nearest(name, ["quantiles", "edges"]) or f"write {GRAMMAR}"
        raise InputError(problem, hint=hint)
    else:
        found = Binning(part)
    if found.column not in known:
        listed = f"there are {quote(known)}" if known else "the data has no groups"
        read = f"pass `groups={found.column!r}` when you read the data"
        raise InputError(
            f"there is no group column {found.column!r}; {listed}",
            hint=suggest_nearest(found.column, known)
            or (read if option == "by" else f"write {GRAMMAR}"),
        )
    return found


def _parse_edges(value: str) -> tuple[float, ...]:
    try:
        edges = tuple(parse_number(each) for each in value.split("/"))
    except ValueError:
        problem = f"edges={value} are not numbers with / between them"
        hint = "write edges=30/50 for below 30, 30 to 50, 50 and more"
        raise InputError(problem, hint=hint) from None
    if any(high <= low for low, high in itertools.pairwise(edges)):
        problem = f"edges={value} do not increase"
        hint = f"write edges={'/'.join(map(_format_number, sorted(set(edges))))}"
        raise InputError(problem, hint=hint)
    return edges


def _split_column(part: Binning, values: NDArray[np.object_]) -> tuple[list[GroupValue], IntArray]:
    """The groups of one column in order, and which each row is in; each value is named once."""
    if part.binned:
        part.read_numbers(values)
    listed = values.tolist()
    found: dict[tuple[type, Any], GroupValue] = {}
    for value in listed:
        mark = (type(value), value)
        if mark not in found:
            found[mark] = part.find_value(value)
    ordered = sorted(set(found.values()), key=lambda value: (value.kind, value.order))
    place = {value: number for number, value in enumerate(ordered)}
    number = {mark: place[value] for mark, value in found.items()}
    codes = np.fromiter(
        (number[type(value), value] for value in listed), dtype=np.int64, count=len(listed)
    )
    return ordered, codes


def _format_number(number: float) -> str:
    return f"{number:.0f}" if number == int(number) and abs(number) < 1e15 else repr(number)


# -------------------------------------------------------------------------------------------------
# Columns that look as if their values said which rows belong together.
#
# An analysis of variance of each model's score over the values of a column (Fisher, 1925): with G
# values of about m rows each, and mean squares B between and W within them,
#
#     F = B / W,        correlation of rows with one value = (B - W) / (B + (m - 1) W).


FEWEST, LARGEST = 10, 30
"""Fewest distinct values, and most rows of one on average, of a column of clusters."""
CORRELATION, SIGNIFICANCE = 0.2, 1e-4
"""Correlation of the rows of a cluster from which it matters, and how sure it has to be."""
MOST_ROWS = 100_000
"""Rows up to which columns are looked at."""
NAMES = (
    *("case", "conversation", "document", "dialog", "episode", "example", "household", "image"),
    *("item", "patient", "person", "prompt", "question", "sample", "scene", "session", "site"),
    *("speaker", "subject", "task", "thread", "user", "video"),
)
"""What clusters are often named after; whole numbers are clusters in such columns alone."""


def find_clustered(
    columns: Mapping[str, NDArray[np.object_]], scores: FloatArray
) -> dict[str, int]:
    """The ``columns`` whose values repeat and within which ``scores`` (n, M, K) hardly differ.

    Each comes with its number of distinct values.
    """
    if len(scores) > MOST_ROWS:
        return {}
    flat = scores[:, :, 1:].reshape(len(scores), -1)
    return {
        name: len(factorize(values)[1])
        for name, values in columns.items()
        if _is_clustered(name, values, flat)
    }


def _is_clustered(name: str, values: NDArray[np.object_], scores: FloatArray) -> bool:
    from scipy.special import fdtrc

    kind = np.asarray(values).dtype.kind
    sample = next((value for value in values if value is not None and value == value), None)
    whole = kind in "iu" or (isinstance(sample, int) and not isinstance(sample, bool))
    if not (isinstance(sample, str) or (whole and any(word in name.lower() for word in NAMES))):
        return False
    codes, distinct = factorize(values)
    n, n_values = int((codes >= 0).sum()), len(distinct)
    if n < len(codes) or not FEWEST <= n_values < n or not n / n_values <= LARGEST:
        return False
    sizes = np.bincount(codes).astype(np.float64)
    mean_size = (n - (sizes**2).sum() / n) / (n_values - 1)
    if mean_size < 1.2:
        return False
    for column in scores.T:
        if not np.isfinite(column).all():
            continue
        means = np.bincount(codes, column) / sizes
        between = float((sizes * (means - column.mean()) ** 2).sum()) / (n_values - 1)
        within = float(((column - means[codes]) ** 2).sum()) / (n - n_values)
        total = between + (mean_size - 1.0) * within
        if total <= 0.0 or (between - within) / total < CORRELATION:
            continue
        ratio = between / within if within > 0.0 else np.inf
        if not np.isfinite(ratio) or fdtrc(n_values - 1, n - n_values, ratio) < SIGNIFICANCE:
            return True
    return False
