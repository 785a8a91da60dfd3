"""From any source of scores to a `ScoreSet`: source -> columns -> rows -> checked set.

Roles are taken from what the caller names, else from a column's usual name; a table that can be
read in two ways is refused with the choices.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ssme.data.arrays import Layout, check_arrays
from ssme.data.design import LabelRounds
from ssme.data.grouping import find_clustered
from ssme.data.judges import make_judged_fields
from ssme.data.labels import convert_as_labels, name_order
from ssme.data.readers import columns as layouts
from ssme.data.readers import sources, wide
from ssme.data.readers.arrays import read_arrays
from ssme.data.readers.joined import find_row_names, open_tables
from ssme.data.readers.rows import Rows
from ssme.data.readers.tables import Table, is_frame, spread_lists
from ssme.data.scoreset import ScoreSet
from ssme.data.values import to_objects
from ssme.errors import InputError, translate_foreign_errors
from ssme.options import accept_all, list_declared
from ssme.schema import FILE_OPTIONS, ArrayOptions, ReadOptions
from ssme.wording import quote

# -------------------------------------------------------------------------------------------------
# The kinds of sources.


def as_score_set(source: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """A `ScoreSet` from a path, a data frame, a dataset, arrays or a set already made.

    ``labels`` and ``options`` are those of `ScoreSet.read`, `ScoreSet.from_frame` or
    `ScoreSet.from_arrays`; a set already made takes new ``labels`` and ``unlabeled`` only.
    """
    if isinstance(source, ScoreSet):
        if set(options) - {"unlabeled"} or (options and labels is None):
            problem = f"{', '.join(options)} cannot be given for a ScoreSet that is already made"
            raise InputError(problem, hint="give the options where the ScoreSet is made")
        return source if labels is None else source.with_labels(labels, **options)
    if isinstance(source, str | Path):
        return read(source, labels, options)
    if is_frame(source):
        return from_frame(source, labels, options)
    if is_dataset(source):
        return from_huggingface(source, labels, options)
    return ScoreSet.from_arrays(source, labels, **options)


def reading_options(source: Any) -> list[str]:
    """Names of the options that `as_score_set` may take for ``source``; a set is of any kind."""
    tables = [each.name for each in list_declared(ReadOptions)]
    arrays = [each.name for each in list_declared(ArrayOptions)]
    arrays += ["weights", "groups", "ids", "clusters"]
    if isinstance(source, ScoreSet | str | Path):
        return list(dict.fromkeys([*tables, *arrays]))
    if not is_frame(source) and not is_dataset(source):
        return arrays
    return [name for name in tables if name not in (*FILE_OPTIONS, "labels_file")]


def read(path: str | Path, labels: object | None, options: dict[str, Any]) -> ScoreSet:
    """A `ScoreSet` from a file; see `ScoreSet.read`."""
    file = sources.find_local_path(path)
    with translate_foreign_errors(f"reading {file}"):
        reader = sources.find_reader(file, ReadOptions(format=options.get("format")).format)
        if reader.open is None:
            arrays = {name: value for name, value in options.items() if name != "format"}
            return read_arrays(file, labels, arrays)
        given = ReadOptions.of(options, f"the reader of {file}")
        table = Table(sources.open_table(file, given), str(file))
        if reader.lists:
            table, given = spread_lists(table, given)
        return read_table(table, labels, given, source=str(file))


def read_several(
    paths: Sequence[str | Path], labels: object | None, options: dict[str, Any]
) -> ScoreSet:
    """A `ScoreSet` from several files of tables, joined by id; see `ssme.data.readers.joined`."""
    given = ReadOptions.of(options, "the reader of several files")
    with translate_foreign_errors(f"reading {quote(paths)}"):
        table, given = open_tables(paths, given)
        return read_table(table, labels, given, source=table.what)


def from_frame(frame: Any, labels: object | None, options: Mapping[str, Any]) -> ScoreSet:
    """Read a native frame; see `ScoreSet.from_frame`."""
    given = ReadOptions.of(options, "from_frame")
    sources.refuse_file_options(given, "", "a data frame")
    return read_table(Table(frame), labels, given)


def from_answers(frame: Any, labels: object | None, options: Mapping[str, Any]) -> ScoreSet:
    """Read a native frame of answers; see `ScoreSet.from_answers`."""
    given = ReadOptions(**accept_all(ReadOptions, options, "from_answers"))
    table = Table(frame).drop(given.ignore or ())
    given, labels = _name_label_column(table, given, labels)
    if not given.judged:
        roles = layouts.find_roles(table, given, labels)
        given = layouts.name_answers(
            table, roles, given, lambda: Rows(table, roles, given, labels).labels
        )
    given.refuse_words_of_judges()
    return read_table(table, labels, replace(given, ignore=None))


def is_dataset(value: object) -> bool:
    """Whether ``value`` is a ``datasets.Dataset``, or a dictionary of splits of one."""
    if isinstance(value, dict):
        return bool(value) and all(is_dataset(each) for each in value.values())
    return hasattr(value, "features") and (
        hasattr(value, "with_format") or hasattr(value, "to_pandas")
    )


def from_huggingface(dataset: Any, labels: object | None, options: Mapping[str, Any]) -> ScoreSet:
    """Read ``dataset`` by its own methods; see `ScoreSet.from_huggingface`."""
    given = ReadOptions.of(options, "from_huggingface")
    sources.refuse_file_options(given, "", "a dataset")
    if isinstance(labels, str) and given.label is None:
        given, labels = replace(given, label=labels), None
    if isinstance(dataset, dict):
        problem = f"a dictionary of splits: {quote(list(dataset))}"
        raise InputError(problem, hint=f"pass one split: dataset[{next(iter(dataset), 'train')!r}]")
    with translate_foreign_errors("reading the dataset"):
        rows: Any = dataset.with_format("arrow") if hasattr(dataset, "with_format") else None
        if hasattr(rows, "__getitem__"):
            table = Table(rows[:], "the dataset")
        elif hasattr(dataset, "to_pandas"):
            table = Table(dataset.to_pandas(), "the dataset")
        else:
            problem = f"a {type(dataset).__name__} does not fit in memory as it is"
            raise InputError(problem, hint="load it with streaming=False")
        if labels is None and given.labels_file is None:
            table, given = _name_classes(dataset, table, given)
        table, given = spread_lists(table, given)
        return read_table(table, labels, given)


def _name_classes(dataset: Any, table: Table, options: ReadOptions) -> tuple[Table, ReadOptions]:
    """The codes of a ``ClassLabel`` as its names; -1 is how it writes a missing label."""
    label = table.find(options.label, layouts.USUAL_NAMES["label"], "label")
    features = getattr(dataset, "features", None) or {}
    names = getattr(features.get(label), "names", None)
    if label is None or names is None or options.classes is not None:
        return table, options
    codes = table.read_values(label)
    found = [None if code is None or code != code or code < 0 else int(code) for code in codes]
    beyond = [code for code in found if code is not None and code >= len(names)]
    if beyond:
        problem = f"label {beyond[0]} of a ClassLabel with {len(names)} names"
        raise InputError(problem, hint="check the features of the dataset; -1 means no label")
    values = to_objects([None if code is None else names[code] for code in found])
    return table.assign({label: values}), replace(options, classes=tuple(names))


# -------------------------------------------------------------------------------------------------
# From a table to the set.


def read_table(
    table: Table, labels: object | None, options: ReadOptions, *, source: str | None = None
) -> ScoreSet:
    """The set in ``table``; ``labels`` as in `ScoreSet.from_frame`."""
    named, options = options, expand_patterns(options, table.columns)
    table = table.drop(options.ignore or ())
    matched = _list_matched(named, options)
    options, labels = _name_label_column(table, options, labels)
    columns, rows = _find(table, options, labels, matched, names_rows=True)
    rows = rows or Rows(table, columns, options, labels)
    return _build(table, columns, rows, options, labels, source)


def find_columns(
    table: Table, options: ReadOptions, labels: object | None = None
) -> layouts.Columns:
    """Which columns of ``table`` hold what; it may be some rows of a source."""
    named, options = options, expand_patterns(options, table.columns)
    table = table.drop(options.ignore or ())
    matched = _list_matched(named, options)
    return _find(table, *_name_label_column(table, options, labels), matched)[0]


def expand_patterns(options: ReadOptions, columns: Sequence[str]) -> ReadOptions:
    """Replace names with ``*`` or ``?`` that are not columns by the columns that they match.

    Columns to ignore are matched by no other option.
    """
    found: dict[str, Any] = {}
    for option in ("ignore", "models", "answers", "ratings", "groups"):
        names = getattr(options, option)
        if names is None or isinstance(names, Mapping) or not any({*"*?"} & {*n} for n in names):
            continue
        left_out = found.get("ignore", options.ignore or ()) if option != "ignore" else ()
        matched = (match_columns(name, columns, option, left_out) for name in names)
        found[option] = list(dict.fromkeys(chain.from_iterable(matched)))
    return replace(options, **found) if found else options


def match_columns(
    name: str, columns: Sequence[str], option: str, left_out: Collection[str | None] = ()
) -> list[str]:
    """The columns that ``name`` matches by its ``*`` or ``?``; itself without, or if it is one."""
    if name in columns or not {*"*?"} & {*name}:
        return [name]
    matched = [each for each in columns if fnmatchcase(each, name) and each not in left_out]
    if not matched:
        listed = quote(columns, limit=20)
        must = "match a column"
        raise InputError(option=option, value=name, must=must, hint=f"the columns are {listed}")
    return matched


def _list_matched(named: ReadOptions, expanded: ReadOptions) -> frozenset[str]:
    """The models that a pattern matched, and that are not named."""
    return frozenset(expanded.models or ()) - frozenset(named.models or ())


def read_columns(table: Table, columns: layouts.Columns, options: ReadOptions) -> ScoreSet:
    """The set in ``table``, whose columns `find_columns` has found before."""
    return _build(table, columns, Rows(table, columns, options, None), options, None, None)


def _name_label_column(
    table: Table, options: ReadOptions, labels: object | None
) -> tuple[ReadOptions, object | None]:
    """A text given as ``labels`` names a column; a file is given as a path."""
    if labels is None:
        labels = options.labels_file
    if not isinstance(labels, str):
        return options, labels
    if options.label is not None and options.label != labels:
        problem = f"two label columns: `labels={labels!r}` and `label={options.label!r}`"
        raise InputError(problem, hint="name it once; a file with labels is a pathlib.Path")
    if labels not in table.columns and sources.find_suffix(Path(labels)) in sources.READERS:
        problem = f"{table.what} has no column {labels!r}"
        raise InputError(problem, hint=f"for the file pass pathlib.Path({labels!r})")
    return replace(options, label=labels), None


def _find(
    table: Table,
    options: ReadOptions,
    labels: object | None,
    matched: frozenset[str],
    *,
    names_rows: bool = False,
) -> tuple[layouts.Columns, Rows | None]:
    """The columns and, where labels had to be looked at, the rows.

    ``matched`` are the models that are not named, but match a pattern.
    ``names_rows`` looks for a column of ids by its values, which takes all rows of the source.
    """
    roles, rows, given = layouts.find_roles(table, options, labels), None, labels is not None

    def name_rows(columns: layouts.Columns) -> layouts.Columns:
        if not names_rows or columns.is_long or columns.id is not None:
            return columns
        listed = (
            [] if options.models is None or isinstance(options.models, Mapping) else options.models
        )
        return replace(columns, id=find_row_names(table, [*columns.names, *listed]))

    if options.judged:
        columns = name_rows(layouts.find_judge_columns(table, roles, options))
        if options.models is not None:
            rows = Rows(table, columns, options, labels)
            plain = replace(options, answers=None, ratings=None)
            found = wide.find_scores(table, roles, plain, rows.labels, matched, given=given)
            columns = replace(columns, scores=found.scores, classes=found.classes)
        return columns.with_ignored(table), rows
    if layouts.find_layout(table, roles, options) == "long":
        columns = layouts.find_long_columns(table, roles, options).with_ignored(table)
        if columns.label is None and not given and columns.ignored:
            layouts.refuse_without_labels(table)
        return columns, None
    roles = name_rows(roles)
    rows = Rows(table, roles, options, labels)
    return wide.find_scores(table, roles, options, rows.labels, matched, given=given), rows


def find_repeating(table: Table, columns: layouts.Columns) -> tuple[str, ...]:
    """The ignored columns of some rows of a wide table that look like clusters there."""
    if columns.cluster is not None or not columns.scores:
        return ()
    scores = wide.read_scores(table, columns)
    if columns.classes is None:
        scores = np.stack([1.0 - scores, scores], axis=2)
    ignored = {name: table.read_values(name) for name in columns.ignored}
    return tuple(find_clustered(ignored, scores))


def _take_agreeing(rows: Rows, names: Sequence[str]) -> dict[str, Any]:
    """The values (n,) of the columns that were read and have one value on all lines of an id."""
    found = {}
    for name in names:
        if name in rows.table.columns:
            with suppress(InputError):
                found[name] = rows.take(name)
    return found


def _build(
    table: Table,
    columns: layouts.Columns,
    rows: Rows,
    options: ReadOptions,
    labels: object | None,
    source: str | None,
) -> ScoreSet:
    models, scores, classes = tuple(columns.scores), None, None
    answers = {name: table.read_values(name) for name in columns.answers}
    ratings = {name: table.read_values(name) for name in columns.ratings if not columns.is_long}
    if columns.is_long:
        scores, models, classes = rows.read_long()
        if options.judged:
            found = {name: scores[:, m, 0] for m, name in enumerate(models)}
            answers, ratings = ({}, found) if columns.ratings else (found, {})
            models, scores = (), None
        elif classes is None:
            scores = scores[:, :, 0]
    elif models:
        scores, classes = wide.read_scores(table, columns), columns.classes
    if classes is not None:
        classes = tuple(options.classes or convert_as_labels(classes, rows.labels.values))
    design: Any = None if columns.design is None else rows.take_floats(columns.design)
    labels_from = str(labels) if isinstance(labels, Path) else f"a given {type(labels).__name__}"
    if rows.joined is not None:
        design = rows.joined.join_design()
    added = (
        layouts.find_own_label_column(table, options) if isinstance(design, LabelRounds) else None
    )
    long = tuple(name for name in (columns.model, columns.class_, columns.score) if name)
    single = {**columns.scores, **{name: (name,) for name in (*answers, *ratings)}}
    order = None
    if classes is not None and not (options.judged and options.classes is not None):
        order = name_order(classes, listed=options.lists_classes, compared=options.judged)
    layout = Layout(
        kind=columns.kind,
        columns=dict.fromkeys((*models, *answers, *ratings), long) if columns.is_long else single,
        label=columns.label if labels is None else options.label or added,
        id=columns.id,
        weight=columns.weight,
        design=columns.design,
        groups=tuple(columns.groups.values()),
        ignored=(*(options.ignore or ()), *(n for n in columns.ignored if n != added)),
        labels_source=None if labels is None or labels is False else labels_from,
        source=source,
        order=order,
        skipped=columns.skipped,
        cluster=columns.cluster,
    )
    per_row: Mapping[str, Any] = {
        "weights": None if columns.weight is None else rows.take_floats(columns.weight),
        "groups": {name: rows.take(column) for name, column in columns.groups.items()},
        "ids": rows.ids,
        "clusters": None if columns.cluster is None else rows.take(columns.cluster),
        "design": design,
        "layout": layout,
        "frame_library": table.library,
    }
    if options.judged:
        options = replace(options, classes=options.classes or classes)
        fields = make_judged_fields(
            answers, ratings, (models, scores), rows.labels, options, n=rows.n, **per_row
        )
    else:
        options = replace(options, models=models, classes=classes or options.classes)
        fields = check_arrays(scores, rows.labels, options, **per_row)
    layouts.warn_of_guesses(columns, options)
    if columns.cluster is None:
        named = [name for name in (*columns.ignored, *columns.groups.values()) if name != added]
        clustered = find_clustered(_take_agreeing(rows, named), fields["scores"])
        fields["layout"] = replace(fields["layout"], clustered=clustered)
    return ScoreSet(**fields)
