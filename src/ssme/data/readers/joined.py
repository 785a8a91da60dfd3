"""Several files as one table: joined by id, or put below each other.

    old.csv   id, label, score          id, label, old, new
    new.csv   id, score           ->

Files with the same ids are joined: a column that differs between them is kept once for each file,
under the name of the file, with the name of the column after it where several columns differ.
Labels fill each other's gaps. Files with the same columns and different ids are parts of one table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme import schema, wording
from ssme.data import arrays, grouping
from ssme.data.readers.columns import USUAL_NAMES, find_design_column, list_usual_groups
from ssme.data.readers.sources import find_local_path, open_table
from ssme.data.readers.tables import ArrayFrame, Table, spread_lists
from ssme.data.values import as_objects, is_missing
from ssme.errors import InputError, warn

LONGEST_ID = 64
"""Characters of a text that may be the name of a row; a longer one is a text to classify."""
LOOKED_AT = 1_000
"""Rows that are looked at before the whole column is."""
FEWEST = 10
"""Fewer rows may differ by chance."""
AGREED = ("weight", "cluster", "design", "round", "reason")
"""Roles of columns that, where they have a usual name, are the same in every file."""
_SCORE = re.compile(
    r"[\s'\"]*[+-]?(\d*\.\d+(e[+-]?\d+)?%?|\d+(e-\d+|%))[\s'\"]*", re.ASCII | re.IGNORECASE
)
_NAMED_ID = re.compile(r"(?:^|[_\-. ])id$|[a-z]I[dD]$", re.IGNORECASE)

Values = NDArray[Any]


def find_row_names(table: Table, taken: Sequence[str] = ()) -> str | None:
    """The one column that names the rows by its values: each short and different from all others.

    A column of numbers has to be named like an id too (``patient_id``) or be the first one. Where
    several columns do, the one that is named so is meant, or else the only one without spaces.
    """
    if table.n_rows < FEWEST:
        return None
    found = [name for name in table.columns if name not in taken and _names_rows(table, name)]
    named = [name for name in found if _NAMED_ID.search(name)]
    words = [name for name in found if not any(" " in str(v) for v in table.read_values(name))]
    return next((of[0] for of in (found, named, words) if len(of) == 1), None)


def _names_rows(table: Table, name: str) -> bool:
    is_text = table.is_text(name)
    if not is_text and not _NAMED_ID.search(name) and name != next(iter(table.columns)):
        return False
    values = table.read_values(name)
    head = values[:LOOKED_AT].tolist()
    scores = sum(isinstance(each, str) and bool(_SCORE.fullmatch(each)) for each in head)
    if 2 * scores >= len(head) and not _NAMED_ID.search(name):
        return False  # scores with text among them, which are refused later
    for part in (values[:LOOKED_AT], values):
        known = part.tolist()
        if is_text:
            fits = all(isinstance(each, str) and 0 < len(each) <= LONGEST_ID for each in known)
        else:
            fits = all(isinstance(each, int | float) and each % 1 == 0 for each in known)
        if not fits or len(set(known)) < len(known):
            return False
    return True


def open_tables(
    paths: Sequence[str | Path], options: schema.ReadOptions
) -> tuple[Table, schema.ReadOptions]:
    """The files as one table, and the options with the names that its columns have there."""
    tables: dict[str, Table] = {}
    for path in paths:
        file = find_local_path(path)
        table = Table(open_table(file, options), str(file))
        table, spread = spread_lists(table, replace(options, models=None))
        if spread.models is not None:
            problem = f"{file} has lists of class scores, and {len(paths)} files were given"
            hint = "write one column per model and class, or evaluate each file separately"
            raise InputError(problem, hint=hint)
        left_out = [name for name in options.ignore or () if name in table.columns]
        tables[_name_file(file, tables)] = table.drop(left_out)
    options = replace(options, ignore=None)
    column = _find_shared_id(tables, options)
    ids = {stem: as_objects(table.read_ids(column)) for stem, table in tables.items()}
    for stem, values in ids.items():
        arrays.as_ids(values, tables[stem].n_rows)
    shared = set.intersection(*(set(values.tolist()) for values in ids.values()))
    if shared:
        return _join(tables, ids, shared, column, options)
    if len({frozenset(table.columns) for table in tables.values()}) > 1:
        raise InputError(
            f"no value of {column!r} is in all of {_list_files(tables)}, and their columns differ",
            hint="check that the files write ids in the same way, or name another column with `id`",
        )
    first = next(iter(tables.values()))
    below = {}
    for name in first.columns:
        parts = [table.read_values(name) for table in tables.values()]
        same = len({part.dtype.kind for part in parts}) == 1
        below[name] = np.concatenate(parts if same else [as_objects(part) for part in parts])
    return _make_table(below, tables), options


def _name_file(file: Path, taken: Mapping[str, Any]) -> str:
    """The name of the file without suffix, with its folder where two files share it."""
    name = file.stem if file.stem not in taken else f"{file.parent.name}_{file.stem}"
    while name in taken:
        name += "_"
    return name


def _list_files(tables: Mapping[str, Table]) -> str:
    return wording.quote([table.what for table in tables.values()])


def _make_table(columns: Mapping[str, Values], tables: Mapping[str, Table]) -> Table:
    return Table(ArrayFrame(columns), " and ".join(table.what for table in tables.values()))


def _find_shared_id(tables: Mapping[str, Table], options: schema.ReadOptions) -> str:
    if options.id is not None:
        for table in tables.values():
            table.require(options.id, "id column", "id")
        return options.id
    found = {
        table.find(None, USUAL_NAMES["id"], "id") or find_row_names(table)
        for table in tables.values()
    }
    name = found.pop()
    if found or name is None:
        problem = f"{len(tables)} files were given, but no id column to join them by was found"
        raise InputError(problem, hint="name a column that all of them have with `id`")
    return name


def _join(
    tables: Mapping[str, Table],
    ids: Mapping[str, Values],
    shared: set[Any],
    column: str,
    options: schema.ReadOptions,
) -> tuple[Table, schema.ReadOptions]:
    first = next(iter(tables))
    kept = np.array([each in shared for each in ids[first].tolist()])
    names = ids[first][kept]
    lost = {stem: len(values) - len(names) for stem, values in ids.items()}
    labels = {options.label} if options.label else set(USUAL_NAMES["label"])
    if any(lost.values()):
        usual = {name for role in AGREED for name in USUAL_NAMES[role]}
        _refuse_labels_alone(tables, {column} | labels | usual, lost)
    found: dict[str, dict[str, Values]] = {}
    for stem, table in tables.items():
        place = {each: row for row, each in enumerate(ids[stem].tolist())}
        rows = [place[each] for each in names.tolist()]
        for name in table.columns:
            if name != column:
                found.setdefault(name, {})[stem] = table.read_values(name)[rows]
    differing: list[str] = []
    columns: dict[str, Values] = {column: names}
    for name, versions in found.items():
        one, *rest = versions.values()
        if name in labels or (name.lower() in labels and options.label is None):
            columns[name] = _merge_labels(name, versions, names)
        elif all(_is_same(one, other) for other in rest):
            columns[name] = one
        else:
            differing.append(name)
    if (
        any(lost.values())
        and not differing
        and all(len(each) == len(tables) for each in found.values())
    ):
        raise InputError(
            f"{len(names):,} rows are in all of {_list_files(tables)}, which have the same columns",
            hint="remove repeated rows from parts of one table; if the files are of several "
            "models, call the columns of scores after them",
        )
    _refuse_differing_roles(differing, options, tables)
    if any(lost.values()):
        told = ", ".join(f"{count:,} of {tables[stem].what}" for stem, count in lost.items())
        warn(f"rows whose id is not in every file are left out: {told}")
    renamed: dict[str, list[str]] = {}
    for name in differing:
        for stem, values in found[name].items():
            alone = sum(stem in found[each] for each in differing) == 1
            new = stem if alone else f"{stem}_{name}"
            while new in columns or new in found:
                new += "_"
            columns[new] = values
            renamed.setdefault(name, []).append(new)
    changes: dict[str, Any] = {"id": column}
    for option in ("models", "answers", "ratings"):
        listed = getattr(options, option)
        if listed is not None and not isinstance(listed, Mapping):
            changes[option] = [new for name in listed for new in renamed.get(name, [name])]
    return _make_table(columns, tables), replace(options, **changes)


def _refuse_labels_alone(
    tables: Mapping[str, Table], not_scores: set[str], lost: Mapping[str, int]
) -> None:
    """Refuse a file of labels of some rows, by which all unlabeled rows would be left out."""
    for stem, table in tables.items():
        others = sum(lost.values()) - lost[stem]
        if others and set(table.columns) <= not_scores:
            raise InputError(
                f"{table.what} has only ids and labels, and {others:,} rows of other files are not "
                "in it",
                hint="give it as `labels_file`, so that these rows count as unlabeled",
            )


def _is_same(one: Values, other: Values) -> bool:
    gaps, same = is_missing(one), is_missing(other)
    return bool(np.array_equal(gaps, same) and (one[~gaps] == other[~gaps]).all())


def _merge_labels(name: str, versions: Mapping[str, Values], ids: Values) -> Values:
    merged: Values = np.full(len(ids), None, dtype=object)
    for stem, values in versions.items():
        gaps = is_missing(values)
        objects = as_objects(values)
        before = np.array([each is not None for each in merged])
        for row in np.flatnonzero(before & ~gaps):
            if merged[row] != objects[row]:
                raise InputError(
                    f"{name!r} of row {ids[row]!r} is {merged[row]!r} in one file and "
                    f"{objects[row]!r} in {stem!r}",
                    hint="correct one of them, or leave one empty",
                )
        fill = ~before & ~gaps
        merged[fill] = objects[fill]
    return merged


def _refuse_differing_roles(
    differing: Sequence[str], options: schema.ReadOptions, tables: Mapping[str, Table]
) -> None:
    """Refuse weights, groups, clusters and designs of which each file says something else."""
    roles = {options.weight, options.cluster, find_design_column(options)}
    roles |= set(list_usual_groups(differing) if options.groups is None else ())
    roles |= set(grouping.list_named_columns(options.groups or (), differing))
    usual = {name for role in AGREED for name in USUAL_NAMES[role]}
    roles |= {name for name in differing if name.lower() in usual}
    wrong = [name for name in differing if name in roles]
    if wrong:
        problem = f"column {wrong[0]!r} has different values for one id in {_list_files(tables)}"
        raise InputError(problem, hint="make the files agree on it, or leave it out of all but one")
