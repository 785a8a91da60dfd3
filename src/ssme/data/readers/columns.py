"""Which columns of a table hold what: one description, whoever reads the table.

what the caller names, else usual names  ->  label, id, weight, groups  (`find_roles`)
layouts (`wide`, `long`)                 ->  the score columns of each model
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ssme.data.design import DESIGNS
from ssme.data.grouping import list_named_columns
from ssme.data.labels import RawLabels
from ssme.data.layout import GROUP_PREFIX, list_reasons
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.tables import Table
from ssme.data.values import FloatArray, is_missing, make_plain, refuse_duplicates
from ssme.errors import InputError, SsmeWarning, argument
from ssme.wording import quote

__all__ = [
    "USUAL_NAMES",
    "Columns",
    "explain_no_model",
    "find_design",
    "find_design_column",
    "find_roles",
    "is_index",
    "refuse_two_designs",
    "refuse_without_labels",
    "warn_of_guesses",
]

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "labels", "y", "y_true", "target", "truth"),
    "id": ("id", "ids", "row_id", "example_id"),
    "weight": ("weight", "weights", "sample_weight"),
    "design": ("label_weight",),
    "probability": ("probability",),
    "round": ("round",),
    "reason": ("reason",),
    "model": ("model", "model_name", "classifier"),
    "class_": ("class", "class_name"),
    "score": ("score", "probability", "prob"),
}


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what.

    Attributes
    ----------
    label, id, weight, design : str or None
        Columns of the labels, names and weights of rows, and of the weights of labels.
    groups : dict
        From the name of a group to its column.
    set_aside : frozenset of str
        Label columns that labels given apart replace.
    kind : str
        ``"wide"``, ``"wide by class"`` or ``"long"``; empty until the score columns are found.
    scores : dict
        Wide: from model to its columns, one, or one per class in the order of ``classes``.
    classes : tuple or None
        Wide: the classes as the column names write them; None for one column per model.
    model, class_, score : str or None
        Long: the columns of models, classes and scores.
    ignored : tuple of str
        Columns that are left out.
    skipped : dict
        From a column of ``ignored`` that could be a model only if it were named to the reason.
    """

    label: str | None = None
    id: str | None = None
    weight: str | None = None
    design: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    set_aside: frozenset[str] = frozenset()
    kind: str = ""
    scores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[Hashable, ...] | None = None
    model: str | None = None
    class_: str | None = None
    score: str | None = None
    ignored: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)

    @property
    def roles(self) -> frozenset[str]:
        """Columns that hold a label, id, weight, design or group."""
        named = (self.label, self.id, self.weight, self.design, *self.groups.values())
        return frozenset(name for name in named if name is not None)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of a wide table."""
        return tuple(self.scores)

    @property
    def names(self) -> list[str]:
        """All columns that have to be read, each once; scores come first."""
        wide = [name for of in self.scores.values() for name in of]
        others = (self.model, self.class_, self.score, self.id, self.label)
        named = [*wide, *others, self.weight, self.design, *self.groups.values()]
        return list(dict.fromkeys(name for name in named if name is not None))


def find_roles(table: Table, options: ReadOptions, labels: object | None) -> Columns:
    """Label, id, weight and group columns; labels given apart leave no part for a label column."""
    label = None
    if labels is None:
        label = table.find(options.label, USUAL_NAMES["label"], "label")
    groups = _find_groups(table, options)
    id = table.find(options.id, USUAL_NAMES["id"], "id")
    weight = table.find(options.weight, USUAL_NAMES["weight"], "weight")
    design = find_design(table, options) if labels is None else None
    named = [name for name in (label, id, weight, design, *groups.values()) if name is not None]
    parts = ", ".join(map(argument, ("label", "id", "weight", "design", "groups")))
    refuse_duplicates(named, "column", f"one part ({parts}) per column")
    replaced = [
        name
        for name in table.columns
        if name.lower() in USUAL_NAMES["label"] or name == options.label
    ]
    set_aside = frozenset(replaced if labels is not None else ())
    return Columns(label, id, weight, design, groups, set_aside)


def find_design(table: Table, options: ReadOptions) -> str | None:
    """The column with the weights of labels: the one named, else the one with the usual name."""
    named = find_design_column(options)
    column = table.find(named, USUAL_NAMES["design"], "design")
    if named is None and column is not None:
        refuse_two_designs(options, column, table.what)
    return column


def find_design_column(options: ReadOptions) -> str | None:
    """The column of the weights of labels, where the caller named one."""
    is_column = isinstance(options.design, str) and options.design not in DESIGNS
    return options.design if is_column else None


def refuse_two_designs(options: ReadOptions, column: str, what: str) -> None:
    """Refuse a design that is said beside a ``column`` that holds the weights of labels."""
    if options.design is None:
        return
    said = options.design if isinstance(options.design, str) else "as an array"
    raise InputError(
        f"{argument('design', said)} was given, and {what} has a column {column!r}, which by its "
        "name holds the weights of labels",
        allowed="one of them",
        fix=f"give {argument('design', column)}, or rename the column",
    )


def _find_groups(table: Table, options: ReadOptions) -> dict[str, str]:
    if options.groups is not None:
        named = list_named_columns(options.groups, table.columns)
        groups = {name: table.require(name, "group column", "groups") for name in named}
        for name in groups.values():
            _refuse_empty_group(table, name)
        return groups
    found = [
        name
        for name in table.columns
        if name == "group" or (name.startswith(GROUP_PREFIX) and name != GROUP_PREFIX)
    ]
    groups = {name.removeprefix(GROUP_PREFIX): name for name in found}
    if len(groups) < len(found):
        raise InputError(
            f"{table.what} has two columns for one group: {quote(found)}",
            allowed="one column per group",
            fix=f"name the columns to report on with {argument('groups')}, or rename one",
        )
    return groups


def _refuse_empty_group(table: Table, name: str) -> None:
    if is_missing(table.read_values(name)).all():
        raise InputError(
            f"group column {name!r} of {table.what} is empty on all {table.n_rows:,} rows",
            allowed="a column that puts some rows into a group",
            fix=f"name another column with {argument('groups')}, or check how the file was made",
        )


def refuse_without_labels(table: Table) -> None:
    """No label column: refused as long as some column might have been meant."""
    raise InputError(
        f"{table.what} has no label column with a usual name; its columns are "
        f"{quote(table.columns, limit=20)}",
        allowed=f"a label column named by {argument('label')}, or {argument('labels')} given apart",
        fix=f"say {argument('label', repr('...'))}, or {argument('labels', False)} if nothing is "
        "labeled",
    )


def explain_no_model(
    table: Table, name: str, labels: RawLabels | None = None, *, least_rows: int = 10
) -> str:
    """Why a column of numbers or booleans is not taken for a model unless it is named, else "".

    It is empty or constant, has two values (a group, a flag, a vote) or copies the labels. Where
    values are not whole numbers, fewer than ``least_rows`` rows tell nothing.
    """
    values = table.read_floats(name)
    head = values[:1000][~np.isnan(values[:1000])]
    if (head != np.rint(head)).any() and (np.unique(head).size > 2 or values.size < least_rows):
        return ""
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    empty = "" if known.all() else " or empty"
    if distinct.size < 2:
        return f"always {make_plain(distinct[0])}{empty}" if distinct.size else "empty"
    copied = labels and _compare_with_labels(values, known, distinct, labels)
    if copied:
        return copied
    if distinct.size == 2:
        low, high = map(make_plain, distinct)
        return f"only {low} and {high}{', or empty' if empty else ''}"
    return ""


def _compare_with_labels(
    values: FloatArray, known: NDArray[np.bool_], distinct: FloatArray, labels: RawLabels
) -> str:
    """Whether whole numbers are the labels, or the opposite of two, wherever there are both."""
    texts = [str(int(each) if isinstance(each, bool) else each) for each in labels.values]
    if len(texts) < 2 or not all(re.fullmatch(r"-?\d{1,15}", text) for text in texts):
        return ""
    classes = np.array([*map(float, texts), np.nan])
    both = known & (labels.codes >= 0)
    label, value = classes[labels.codes[both]], values[both]
    if np.unique(label).size < 2 or (distinct != np.rint(distinct)).any():
        return ""
    if (value == label).all():
        return "equal to the label wherever there is one"
    opposite = len(texts) == 2 and (value == classes[0] + classes[1] - label).all()
    return "the opposite of the label wherever there is one" if opposite else ""


def warn_of_guesses(columns: Columns, options: ReadOptions) -> None:
    """Warn of columns that were skipped, and of weights that only their name told of."""
    if columns.skipped:
        warnings.warn(
            f"not taken for models: {list_reasons(columns.skipped)}. If some of them are models, "
            f"list all models with {argument('models', '[...]')}; if not, leave them out with "
            f"{argument('ignore', '[...]')}",
            SsmeWarning,
            stacklevel=2,
        )
    if columns.weight is not None and options.weight is None:
        name = repr(columns.weight)
        warnings.warn(
            f"column {name} is taken for the weights of the rows, by its name. Confirm it with "
            f"{argument('weight', name)}, or leave it out with {argument('ignore', f'[{name}]')}",
            SsmeWarning,
            stacklevel=2,
        )


def is_index(table: Table, name: str) -> bool:
    """Whether a column without a name is an index that was written with the table, or is empty.

    One that holds numbers like scores or votes is refused: a model would be lost. One that is 0 on
    every row is the index of rows that were put together one by one.
    """
    if name.strip() and not name.startswith("Unnamed: "):
        return False
    if table.find_kind(name) != "number":
        return True
    values = table.read_floats(name)
    known = values[~np.isnan(values)]
    counted = np.array_equal(values, np.arange(values.size))
    votes = np.isin(known, (0.0, 1.0)).all() and known.any() and not counted
    if not known.size or ((known % 1 == 0).all() and not votes):
        return True
    row = int(np.argmax(~np.isnan(values)))
    raise InputError(
        f"column {table.columns.index(name) + 1} has no name ({name!r}) and holds "
        f"{make_plain(values[row])!r} at row {row}, which may be a score",
        allowed="a name for every column of scores",
        fix="name the column, or leave it out with " + argument("ignore", f"[{name!r}]"),
    )
