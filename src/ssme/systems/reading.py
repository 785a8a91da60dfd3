"""From a table of systems, items, judges and people to `JudgedRows`.

Wide: a row per answer of a system to an item, a column per judge. Long: a row per verdict, with a
column that names the judge; rows of one system, item and repeat are put together first.

`ssme.systems.verdicts` makes numbers from 0 to 1 of what people and judges say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.arrays import refuse_rounded_ids
from ssme.data.readers import logs, sources
from ssme.data.readers.columns import USUAL_NAMES
from ssme.data.readers.reading import match_columns
from ssme.data.readers.tables import Table
from ssme.data.values import EXACT_INTEGER, factorize, is_missing, reads_as_number, to_objects
from ssme.data.writing import make_frame
from ssme.errors import InputError, name_argument, warn
from ssme.schema import SystemOptions
from ssme.systems import pairs, rates
from ssme.systems.verdicts import (
    Verdicts,
    find_unit,
    read_preferences,
    read_verdicts,
    refuse_several_scales,
    scale_judge,
)
from ssme.wording import quote

USUAL = {
    "system": ("system", "model"),
    "item": ("item", "item_id", "prompt", "prompt_id", "question", "question_id"),
    "first": ("system_a", "model_a"),
    "second": ("system_b", "model_b"),
}
"""Columns that are recognized by their names."""
USUAL_LABELS = ("human", "label", "labels", "y", "y_true", "truth")
JUDGES, PEOPLE = "judge_*", "human_*"
ANSWERS = ("output", "response", "answer")
EPOCHS = ("epoch", "repeat")
VERDICTS = ("verdict", "score", "grade", "rating")
OF_RATES = ("groups", "positive", "grades", "cut", "bounds", "pass_k", "label_error")
"""Options that comparisons of two answers do not have."""


@dataclass(frozen=True, eq=False)
class SystemTable:
    """Judged rows with their names.

    ``unit`` are the lowest and the highest outcome in the unit of the labels, ``groups`` the values
    (n,) by column, ``labels`` (n, P) what each of the ``people`` says, from 0 to 1, and ``lengths``
    (n,) how long the answers are. ``n_copies`` rows equal an earlier one in every column.
    """

    rows: rates.JudgedRows
    systems: tuple[str, ...]
    items: tuple[str, ...]
    judges: tuple[str, ...]
    groups: dict[str, np.typing.NDArray[np.object_]]
    unit: tuple[float, float]
    people: tuple[str, ...]
    labels: FloatArray
    lengths: FloatArray | None = None
    n_copies: int = 0

    @property
    def measure(self) -> str:
        """What a system has most of all: a pass rate, a mean, or a win rate."""
        if self.rows.seconds is not None:
            return pairs.WIN_RATE
        return "pass_rate" if self.rows.binary else "mean"


def read_systems(source: Any, options: SystemOptions) -> SystemTable:
    """The table in a file or frame, read as the options say."""
    table = _open(source)
    if options.labels_file is not None:
        with name_argument("labels_file"):
            checked = _open(options.labels_file)
            _refuse_suggested(checked, ())
        table = _join_labels(table, checked, options)
    people = _find_people(table, options)
    _refuse_suggested(table, people)
    item = _find(table, options, "item")
    pair = _find_pair(table, options)
    if pair is not None:
        return _read_pairs(table, people, pair, item, options)
    system = _find(table, options, "system")
    groups = tuple(table.require(name, "a group", "groups") for name in options.groups or ())
    if options.judge is None:
        judges = _find_judges(table, options, {*people, system, item, *groups})
    else:
        told = (*people, *groups, *([options.length] if options.length else ()))
        table, judges = _spread(table, options, (system, item), told)
    labels = _read_people(table, people, options)
    unit = find_unit(labels, options)
    scaled = [
        scale_judge(read_verdicts(table.read_values(name), name, options), labels, unit)
        for name in judges
    ]
    codes, names = _name_codes(table, (system,), "all")
    items, item_names = _name_codes(table, (item,), None)
    if system is not None and item is not None:
        _refuse_versions(table, system, (system, item, *_find_repeats(table, options)))
    outcomes = _average(labels.numbers, *unit)
    verdicts = np.stack(scaled, axis=1)
    _refuse_copies_of_labels(judges, verdicts, outcomes)
    rows = rates.JudgedRows(verdicts, outcomes, codes, items, labels.kind == "passes")
    return SystemTable(
        rows,
        names,
        item_names,
        tuple(judges),
        {name: to_objects([str(v) for v in table.read_values(name).tolist()]) for name in groups},
        unit,
        people,
        labels.scale(*unit).reshape(table.n_rows, len(people)),
        _read_lengths(table, options, {*people, *judges}),
        _count_copies(table, (system, item)),
    )


SUGGESTED = ("probability", "round", "reason")
UNUSED = ("weight", "weights", "sample_weight", "label_weight")


def _refuse_suggested(table: Table, taken: Sequence[str]) -> None:
    """Refuse labels that were not drawn at random, and name weights, which are not used."""
    found = [name for name in SUGGESTED if name in table.columns and name not in taken]
    if len(found) > 1:
        raise InputError(
            f"{table.what} has {quote(found)}, as `ssme suggest` writes: its labels would count as "
            "a random sample",
            hint="have people judge rows at random; if they did, leave these columns out",
        )
    weights = [name for name in UNUSED if name in table.columns and name not in taken]
    if weights:
        warn(f"column {weights[0]!r} is not used: every row counts the same")


def _count_copies(table: Table, keys: Sequence[str | None], *, fewest: int = 5) -> int:
    """Rows that are copies: where those with the same ``keys`` are equal in every other column."""
    import pandas as pd

    if keys[-1] is None:
        return 0
    frame = pd.DataFrame({name: factorize(table.read_values(name))[0] for name in table.columns})
    repeated = frame.duplicated([name for name in keys if name is not None])
    number = int(repeated.sum())
    return number if number >= fewest and frame.duplicated()[repeated].all() else 0


def _read_lengths(table: Table, options: SystemOptions, taken: set[str]) -> FloatArray | None:
    """How long each answer is: a number, or the characters of its text."""
    name = options.length
    if name is None:
        name = next((n for n in ANSWERS if n in table.columns and n not in taken), None)
        if name is None:
            return None
    values = table.read_values(table.require(name, "the answers", "length"))
    pairs_of = zip(values.tolist(), is_missing(values).tolist(), strict=True)
    texts = [str(value) if not missing else "" for value, missing in pairs_of]
    if all(reads_as_number(text) for text in texts if text):
        if options.length is None:
            return None  # answers that are numbers have no length
        return np.array([float(text) if text else np.nan for text in texts])
    return np.array([float(len(text)) if text else np.nan for text in texts])


def _open(source: Any) -> Table:
    """The table in a frame, a dict, a file, or logs of evaluation harnesses."""
    several = source if isinstance(source, list | tuple) else [source]
    if len(several) == 1 and not isinstance(several[0], str | Path):
        only = several[0]
        return Table(make_frame(only) if isinstance(only, dict) else only)
    paths = [sources.find_local_path(path) for path in several]
    if len(paths) == 1 and not logs.is_log(paths[0]):
        return Table(sources.open_table(paths[0]), str(paths[0]))
    columns = {name: to_objects(values) for name, values in logs.gather_logs(paths).items()}
    return Table(make_frame(columns), ", ".join(map(str, paths)))


def _join_labels(table: Table, people: Table, options: SystemOptions) -> Table:
    """``table`` with the labels that ``people`` has for some of its rows."""
    import pandas as pd

    labels = _find_people(people, options)
    names = {role: _find(table, options, role) for role in USUAL}
    # the same role may have another name there: model in the labels, system in a log
    known = [(name, _find_role(people, role, name)) for role, name in names.items() if name]
    known += [(n, n if n in people.columns else None) for n in _find_repeats(table, options)]
    there = {name: other for name, other in known if other is not None}
    for name in USUAL_NAMES["id"] if names["item"] not in there else ():
        if name not in people.columns:
            continue
        # ids name answers, as those of `read_logs` do, or items
        ids = {str(value) for value in people.read_values(name)}
        if name in table.columns and (
            names["item"] is None or ids & {str(value) for value in table.read_values(name)}
        ):
            there[name] = name
        elif names["item"] is not None:
            there[names["item"]] = name
        break
    keys = list(there)
    if not keys:
        raise InputError(
            f"{people.what} has no column of {table.what} to join by",
            hint="give its columns of systems and items, or of ids, the names that they have there",
        )
    rows = pd.DataFrame({key: [str(v) for v in table.read_values(key)] for key in keys})
    told = pd.DataFrame({key: [str(v) for v in people.read_values(there[key])] for key in keys})
    answers = rows
    if options.judge is not None:  # an answer has a row for each judge
        tell = dict.fromkeys([*keys, *(name for name, _ in known)])
        answers = pd.DataFrame({name: table.read_values(name).astype(object) for name in tell})
        answers = rows[~answers.duplicated()]
    for frame, what in ((told, people.what), (answers, table.what)):
        repeated = frame.duplicated()
        if repeated.any():
            where = ", ".join(f"{key} {frame[key][repeated].iloc[0]!r}" for key in keys)
            raise InputError(
                f"{what} has more than one row for {where}",
                hint="add the columns that tell these rows apart to the table of labels, such as "
                "those of the system, the item and the epoch",
            )
    for label in labels:
        told[label] = people.read_values(label).astype(object)
    unknown = told.merge(rows.drop_duplicates(), on=keys, how="left", indicator=True)
    strange = unknown["_merge"] == "left_only"
    if strange.any():
        where = ", ".join(f"{key} {unknown[key][strange].iloc[0]!r}" for key in keys)
        at = int(np.flatnonzero(strange)[0])
        key = next((key for key in keys if told[key][at] not in set(rows[key])), keys[0])
        listed = quote(tuple(rows[key].drop_duplicates()), limit=5)
        raise InputError(
            f"{people.what} has {where}, and {table.what} has not",
            hint=f"write names as there; column {key!r} has {listed}",
        )
    joined = rows.merge(told, on=keys, how="left")
    for name in labels:
        before = (
            ~is_missing(table.read_values(name)) if name in table.columns else np.zeros(1, bool)
        )
        if before.any():
            lost = int((before & joined[name].isna().to_numpy()).sum())
            warn(
                f"the labels of {people.what} replace those of {table.what}, and {lost:,} rows "
                "that are labeled there only count as unlabeled"
            )
    return table.assign({name: to_objects(joined[name].tolist()) for name in labels}, labels)


def _find_repeats(table: Table, options: SystemOptions) -> list[str]:
    """The columns that number the repeats of an answer, if there are any."""
    if options.repeat is not None:
        return [table.require(options.repeat, "numbers of repeats", "repeat")]
    return [name for name in EPOCHS if name in table.columns]


def _find_role(table: Table, role: str, name: str) -> str | None:
    """The column of a table of labels that has the role of the column ``name`` elsewhere."""
    return next((each for each in (name, *USUAL[role]) if each in table.columns), None)


def _find(table: Table, options: SystemOptions, role: str) -> str | None:
    named = getattr(options, role)
    if named is not None:
        return table.require(named, f"the column `{role}`", role)
    return next((name for name in USUAL[role] if name in table.columns), None)


def _find_pair(table: Table, options: SystemOptions) -> tuple[str, str] | None:
    """The columns with the two systems that a row compares; None where each row is one answer."""
    first, second = _find(table, options, "first"), _find(table, options, "second")
    if first is None or second is None:
        if options.first is not None or options.second is not None:
            raise InputError(
                "`first` and `second` name the columns with the two systems that a row compares, "
                "and one of them was given",
                hint="give both",
            )
        return None
    if options.system is not None:
        return None
    for name in OF_RATES:
        if getattr(options, name) not in (None, ()):
            raise InputError(
                f"`{name}` was given, and each row compares two answers",
                hint="leave it out, or name the column of one system with `system`",
            )
    return first, second


def _read_pairs(
    table: Table,
    people: Sequence[str],
    pair: tuple[str, str],
    item: str | None,
    options: SystemOptions,
) -> SystemTable:
    """A table whose rows compare two answers to one item."""
    if options.judge is None:
        judges = _find_judges(table, options, {*people, item, *pair})
    else:
        table, judges = _spread(table, options, (*pair, item), people)
    codes, names = _name_codes(table, pair, "")
    first, second = codes.reshape(2, -1)
    same = first == second
    if same.any():
        at = int(same.argmax())
        raise InputError(
            f"row {at} of {table.what} compares {names[first[at]]!r} with itself",
            hint="leave out such rows",
        )

    def read(columns: Sequence[str]) -> FloatArray:
        parts = [read_preferences(table, name, pair) for name in columns]
        return np.stack(parts, axis=1)

    labels, verdicts = read(people), read(judges)
    _check_looked(labels, people)
    items, item_names = _name_codes(table, (item,), None)
    outcomes = _average(labels, 0.0, 1.0)
    _refuse_copies_of_labels(judges, verdicts, outcomes)
    rows = rates.JudgedRows(verdicts, outcomes, first, items, binary=False, seconds=second)
    unit, known = (0.0, 1.0), (tuple(judges), dict[str, np.typing.NDArray[np.object_]]())
    copies = _count_copies(table, (*pair, item))
    return SystemTable(
        rows, names, item_names, *known, unit, tuple(people), labels, n_copies=copies
    )


def _find_people(table: Table, options: SystemOptions) -> tuple[str, ...]:
    """The columns of human labels."""
    if options.label is not None:
        return tuple(_expand(table, options.label, "label", set()))
    usual = [name for name in USUAL_LABELS if name in table.columns]
    found = usual[:1] or [name for name in table.columns if fnmatchcase(name, PEOPLE)]
    if not found:
        raise table.explain_no_column(
            "column of human labels",
            "name it with `label`, such as `label='human'`, or give a table of verdicts with "
            "`labels_file`",
        )
    return tuple(found)


def _read_people(table: Table, people: Sequence[str], options: SystemOptions) -> Verdicts:
    """What all people say, (n, P) on one scale."""
    values = [table.read_values(name) for name in people]
    together = to_objects([value for column in values for value in column.tolist()])
    what = people[0] if len(people) == 1 else ", ".join(people)
    refuse_several_scales(options)
    found = read_verdicts(together, what, options, of_people=True)
    _check_looked(found.numbers, people)
    return found._replace(numbers=found.numbers.reshape(len(people), -1).T)


def _check_looked(labels: FloatArray, people: Sequence[str]) -> None:
    if not np.isfinite(labels).any():
        raise InputError(
            f"no row has a value in {', '.join(people)!r}, where people say what they think",
            hint="have a person judge 30 rows at random",
        )


def _refuse_copies_of_labels(
    judges: Sequence[str], verdicts: FloatArray, outcomes: FloatArray
) -> None:
    """Refuse judges that say something about rows with a label only, as copies of labels do."""
    unlabeled = ~np.isfinite(outcomes)
    silent = ~np.isfinite(verdicts[unlabeled]).any(axis=0)
    if unlabeled.any() and silent.any():
        raise InputError(
            f"{judges[int(silent.argmax())]!r} has verdicts only on rows with a label",
            hint="have it grade all rows, or leave it out",
        )


def _average(numbers: FloatArray, low: float, high: float) -> FloatArray:
    """The mean label (n,) of the people who judged a row, from 0 to 1."""
    given = np.isfinite(numbers)
    count = given.sum(axis=1)
    total = np.where(given, (numbers - low) / (high - low), 0.0).sum(axis=1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _find_judges(table: Table, options: SystemOptions, taken: set[str | None]) -> list[str]:
    """The columns of judges, patterns expanded; in a long table that of verdicts."""
    taken = {*taken, options.judge}
    if options.judges is not None:
        return _expand(table, options.judges, "judges", taken)
    found = [name for name in table.columns if fnmatchcase(name, JUDGES) and name not in taken]
    if options.judge is not None:
        usual = [name for name in VERDICTS if name in table.columns and name not in taken]
        found = usual[:1] or found
    if not found:
        raise table.explain_no_column(
            "column of verdicts",
            "name columns of judges with `judges`, or, where each row is one verdict, the column "
            "of verdicts with `judges` and that of judges with `judge`",
        )
    return found


def _expand(table: Table, names: Sequence[str], option: str, taken: set[str | None]) -> list[str]:
    """The columns that are named, those that match a pattern if they are not ``taken``."""
    found: list[str] = []
    for name in names:
        matched = match_columns(name, table.columns, option, taken)
        for column in matched:
            table.require(column, "verdicts", option)
            if column in taken:
                raise InputError(f"the column {column!r} cannot be a judge: it has another role")
        found += [column for column in matched if column not in found]
    return found


def _spread(
    table: Table, options: SystemOptions, keys: Sequence[str | None], rest: Sequence[str]
) -> tuple[Table, list[str]]:
    """A long table with one row per answer and one column per judge, and the judges.

    ``keys`` are the columns of system and item, ``rest`` those of labels and groups.
    """
    import pandas as pd

    verdicts = _find_judges(table, options, {*keys, *rest})
    if len(verdicts) > 1 or keys[-1] is None:
        raise InputError(
            f"`judge={options.judge!r}` says that each row is one verdict, which takes one column "
            "of verdicts and a column that names the item",
            hint="name them with `judges` and `item`",
        )
    judge = table.require(str(options.judge), "names of judges", "judge")
    _refuse_empty(table, judge)
    by = [name for name in (*keys, *_find_repeats(table, options)) if name is not None]
    names = dict.fromkeys([*by, *rest, judge, verdicts[0]])
    frame = pd.DataFrame({name: table.read_values(name).astype(object) for name in names})
    repeated = frame.duplicated([*by, judge])
    grouped = frame.groupby(by, sort=False)[list(rest)]
    several = (grouped.nunique() > 1).any()
    if repeated.any() or several.any():
        what = f"two values of {several.idxmax()!r}"
        if repeated.any():
            what = f"two verdicts of {frame[judge][repeated].iloc[0]!r}"
        raise InputError(
            f"{table.what} has {what} for one {' and '.join(by)}",
            hint="name the column that numbers the repeats with `repeat`, or correct the table",
        )
    wide = frame.pivot(index=by, columns=judge, values=verdicts[0])
    judges = [str(name) for name in wide.columns]
    wide.columns = pd.Index(judges)
    return Table(wide.join(grouped.first()).reset_index(), table.what), judges


def _name_codes(
    table: Table, columns: Sequence[str | None], default: str | None
) -> tuple[IntArray, tuple[str, ...]]:
    """Codes of the values of columns, one after the other, and their names, in this order."""
    if columns[0] is None:
        if default is not None:
            return np.zeros(table.n_rows, dtype=np.int64), (default,)
        return np.arange(table.n_rows), tuple(str(i) for i in range(table.n_rows))
    parts = [table.read_values(column) for column in columns if column is not None]
    for column, values in zip(filter(None, columns), parts, strict=True):
        _refuse_empty(table, column)
        with name_argument(column):
            refuse_rounded_ids(values, EXACT_INTEGER)
    together = parts[0]
    if len(parts) > 1:
        together = to_objects([value for values in parts for value in values.tolist()])
    codes, distinct = factorize(together)
    names = tuple(str(value) for value in distinct)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"the column {columns[0]!r} has {twice} as a number and as text",
            hint="write names in one way",
        )
    return codes, names


def _refuse_versions(table: Table, system: str, keys: Sequence[str]) -> None:
    """Refuse decimal numbers as names of systems that answer an item twice: 1.10 may be 1.1."""
    names = table.read_values(system)
    if names.dtype.kind != "f":
        return
    seen: set[tuple[Any, ...]] = set()
    for row in zip(*(table.read_values(key).tolist() for key in keys), strict=True):
        if row in seen:
            problem = f"system {row[0]} has several answers to item {row[1]!r}"
            hint = "write names of systems as text, such as v1.10, since 1.1 and 1.10 are one "
            hint += "number; number the repeats of one system with `repeat`"
            raise InputError(problem, hint=hint)
        seen.add(row)


def _refuse_empty(table: Table, column: str) -> None:
    missing = is_missing(table.read_values(column))
    if missing.any():
        raise InputError(f"the column {column!r} is empty in row {int(missing.argmax())}")
