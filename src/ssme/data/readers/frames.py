"""From a data frame to a `ScoreSet`: columns, then raw table, then the checked set.

    frame --Table--> columns (`find_columns`) --> raw table (`wide`, `long`) --> ScoreSet

Parts are taken from what the caller names, else from a column's usual name; a frame that can be
read in two ways is refused with the choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssme.data.arrays import check_arrays
from ssme.data.design import LabelRounds
from ssme.data.labels import RawLabels, name_order
from ssme.data.layout import Layout
from ssme.data.readers import long, wide
from ssme.data.readers.answers import find_judges, name_answers, read_answers
from ssme.data.readers.columns import USUAL_NAMES, Columns, find_roles, warn_of_guesses
from ssme.data.readers.join import (
    find_own_label_column,
    join_design,
    joins_by_id,
    name_labels_source,
)
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.raw import RawTable
from ssme.data.readers.sources import READERS
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, argument
from ssme.options import accept_all
from ssme.wording import quote

__all__ = ["find_columns", "from_answers", "from_frame", "read_columns", "read_table"]


def from_frame(frame: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """Read a native frame; see `ScoreSet.from_frame`."""
    return read_table(Table(frame), labels, ReadOptions.of(options, "from_frame"))


def from_answers(frame: Any, labels: object | None = None, **options: Any) -> ScoreSet:
    """Read a native frame of answers; see `ScoreSet.from_answers`."""
    told = ReadOptions(**accept_all(ReadOptions, options, "from_answers"))
    table = Table(frame).drop(told.ignore or ())
    told, labels = name_label_column(table, told, labels)
    told = name_answers(table, labels, told)
    told.refuse_words_of_judges()
    return read_answers(table, labels, told)


def read_table(
    table: Table, labels: object | None, options: ReadOptions, *, source: str | None = None
) -> ScoreSet:
    """The set in ``table``; ``labels`` as in `ScoreSet.from_frame`."""
    table = table.drop(options.ignore or ())
    options, labels = name_label_column(table, options, labels)
    if options.judged:
        return read_answers(table, labels, options, source=source)
    columns, raw = _find(table, options, labels)
    rows = _read_rows(table, columns, options, labels, raw)
    return _build(rows, table, columns, options, labels, source)


def find_columns(table: Table, options: ReadOptions, labels: object | None = None) -> Columns:
    """Which columns of ``table`` hold what, without reading more of it than that takes.

    Parameters
    ----------
    table : Table
        Some rows of a source.
    options : ReadOptions
        What the caller said about it.
    labels : optional
        Labels kept elsewhere, as in `ScoreSet.from_frame`.
    """
    table = table.drop(options.ignore or ())
    options, labels = name_label_column(table, options, labels)
    if options.judged:
        return find_judges(table, labels, options)
    return _find(table, options, labels)[0]


def read_columns(
    table: Table, columns: Columns, options: ReadOptions, *, source: str | None = None
) -> ScoreSet:
    """The set in ``table``, whose columns `find_columns` has found before."""
    if options.judged:
        return read_answers(table, options.labels, replace(options, layout="wide"), source=source)
    rows = _read_rows(table, columns, options, None, None)
    return _build(rows, table, columns, options, None, source)


def _find(
    table: Table, options: ReadOptions, labels: object | None
) -> tuple[Columns, RawLabels | None]:
    """The columns and, where they had to be looked at, the labels of the rows."""
    roles = find_roles(table, options, labels)
    layout = options.layout or detect_layout(table, roles, options)
    _refuse_other_layout(layout, options)
    given = labels is not None
    if layout == "long":
        return long.find_scores(table, roles, options, given=given), None
    raw = wide.observe_labels(table, roles, options, labels)
    return wide.find_scores(table, roles, options, raw, given=given), raw


def _read_rows(
    table: Table,
    columns: Columns,
    options: ReadOptions,
    labels: object | None,
    raw: RawLabels | None,
) -> RawTable:
    if columns.kind == "long":
        return long.read(table, columns, options, labels)
    if raw is None:
        raw = wide.observe_labels(table, columns, options, labels)
    return wide.read(table, columns, options, raw)


def _build(
    rows: RawTable,
    table: Table,
    columns: Columns,
    options: ReadOptions,
    labels: object | None,
    source: str | None,
) -> ScoreSet:
    of_long = tuple(c for c in (columns.model, columns.class_, columns.score) if c is not None)
    apart = joins_by_id(labels)
    design = join_design(labels, rows.ids, options, columns.id) if apart else rows.design
    added = find_own_label_column(table, options) if isinstance(design, LabelRounds) else None
    layout = Layout(
        kind=columns.kind,
        columns=dict.fromkeys(rows.models, of_long) if columns.kind == "long" else columns.scores,
        label=columns.label if labels is None else options.label or added,
        id=columns.id,
        weight=columns.weight,
        design=columns.design,
        groups=tuple(columns.groups.values()),
        ignored=(*(options.ignore or ()), *(n for n in columns.ignored if n != added)),
        labels_source=name_labels_source(labels),
        source=source,
        order=None
        if rows.classes is None
        else name_order(rows.classes, listed=options.lists_classes),
        skipped=columns.skipped,
    )
    fields = check_arrays(
        rows.scores,
        rows.labels,
        replace(options, models=rows.models, classes=rows.classes),
        weights=rows.weights,
        groups=rows.groups,
        ids=rows.ids,
        design=design,
        layout=layout,
        frame_library=table.library,
    )
    warn_of_guesses(columns, options)
    return ScoreSet(**fields)


def name_label_column(
    table: Table, options: ReadOptions, labels: object | None
) -> tuple[ReadOptions, object | None]:
    """A text given as ``labels`` names a column; a file is given as a path."""
    if labels is None:
        labels = options.labels
    if not isinstance(labels, str):
        return options, labels
    if options.label is not None and options.label != labels:
        raise InputError(
            f"two label columns: {argument('labels', repr(labels))} and "
            f"{argument('label', repr(options.label))}",
            allowed="one label column",
            fix="name it once; a file with labels is given as a pathlib.Path",
        )
    if labels not in table.columns and Path(labels).suffix.lower() in READERS:
        raise InputError(
            f"{table.what} has no column {labels!r}",
            allowed="the name of a column, or a pathlib.Path of a file",
            fix=f"for the file pass pathlib.Path({labels!r})",
        )
    return replace(options, label=labels), None


def _tell_only_for(layout: str, options: ReadOptions) -> list[str]:
    """Options given that make sense in one layout only."""
    names = ("model", "class_", "score") if layout == "long" else ("pattern",)
    given = [argument(name) for name in names if getattr(options, name) is not None]
    if layout == "wide" and isinstance(options.models, Mapping):
        given.append(f"{argument('models')} as a mapping")
    return given


def _refuse_other_layout(layout: str, options: ReadOptions) -> None:
    other = "wide" if layout == "long" else "long"
    foreign = _tell_only_for(other, options)
    if foreign:
        raise InputError(
            f"{', '.join(foreign)} for the {layout} layout",
            allowed=f"options of the {layout} layout; {', '.join(foreign)} is for {other}",
            fix="wide has one column per model, long one row per score: choose one",
        )


def detect_layout(table: Table, roles: Columns, options: ReadOptions) -> str:
    """``"long"`` if there are a column of models and a score column, else ``"wide"``."""
    if _tell_only_for("long", options) or _tell_only_for("wide", options):
        return "long" if _tell_only_for("long", options) else "wide"
    model = table.find(None, USUAL_NAMES["model"], "model")
    score = table.find(None, USUAL_NAMES["score"], "score")
    if model is None or score is None:
        return "wide"
    classes = {name for name in table.columns if name.lower() in USUAL_NAMES["class_"]}
    taken = roles.roles | roles.set_aside | {model, score} | classes
    others = [c for c in table.columns if c not in taken and table.find_kind(c) == "number"]
    if table.find_kind(model) != "other":
        others.append(model)
    if others:
        raise InputError(
            f"{table.what} reads as long (model column {model!r}, score column {score!r}) or as "
            f"wide (one column per model: {quote([score, *others])})",
            allowed="one layout",
            fix=f"say {argument('layout', repr('long'))} or {argument('layout', repr('wide'))}, "
            f"and for wide list the score columns with {argument('models', '[...]')}",
        )
    return "long"
