"""Tables of answers and ratings: one column per judge, or one row per answer.

    wide   id, ann, bob, ...           what each judge said of the row
    long   id, judge, answer           one row per answer; labels may stand on every row of an id

Columns are those that the caller names with ``answers`` and ``ratings``. Where none is named,
`from_answers` takes every column that has no other part, and refuses one that says nothing that the
labels or other columns say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.design import LabelRounds
from ssme.data.judges import UNSURE, make_judged_fields
from ssme.data.labels import RawLabels, name_order, spell_class
from ssme.data.layout import Layout
from ssme.data.readers import long, wide
from ssme.data.readers.columns import USUAL_NAMES, Columns, find_roles, warn_of_guesses
from ssme.data.readers.join import (
    find_own_label_column,
    join_design,
    joins_by_id,
    name_labels_source,
)
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.data.values import as_objects, factorize, is_missing
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = ["find_judges", "name_answers", "read_answers"]

WIDE = "wide, answers"
"""The layout with one column per judge."""

LONG = "long, one row per answer"

JUDGES = ("judge", "judges", "annotator", "rater", "worker", "labeler", *USUAL_NAMES["model"])
ANSWERS = ("answer", "answers", "vote", "choice", "annotation", "response", "verdict")
RATINGS = ("rating", "ratings", "grade", "stars")
"""Usual names of the columns of a long table."""

ROWS = (*USUAL_NAMES["id"], "row", "item", "item_id", "question_id")
"""Usual names of the column that names the rows, where judges answer."""


def read_answers(
    table: Table, labels: object | None, options: ReadOptions, *, source: str | None = None
) -> ScoreSet:
    """The set of judges in ``table``; ``labels`` as in `ScoreSet.from_frame`."""
    roles, judge = _find_parts(table, labels, options)
    warn_of_guesses(roles, options)
    if judge is None:
        return _read_wide(table, roles, options, labels, source)
    named = [*(options.answers or ()), *(options.ratings or ())]
    return _read_long(table, roles, options, labels, source, judge, named[0])


def find_judges(table: Table, labels: object | None, options: ReadOptions) -> Columns:
    """Which columns of ``table`` hold what: those of classifiers first, then those of judges."""
    roles, judge = _find_parts(table, labels, options)
    if judge is not None:
        return replace(roles, kind="long", model=judge)
    scores: dict[str, tuple[str, ...]] = {}
    kind, classes = WIDE, None
    if options.models is not None:
        raw = wide.observe_labels(table, roles, options, labels)
        plain = replace(options, answers=None, ratings=None)
        found = wide.find_scores(table, roles, plain, raw, given=labels is not None)
        scores, classes = dict(found.scores), found.classes
    scores |= {name: (name,) for name in [*(options.answers or ()), *(options.ratings or ())]}
    return replace(roles, kind=kind, scores=scores, classes=classes)


def _find_parts(
    table: Table, labels: object | None, options: ReadOptions
) -> tuple[Columns, str | None]:
    """Label, id, weight and groups, and the column of judges of a long table."""
    if options.class_ is not None or options.score is not None:
        raise InputError(
            f"{argument('class_')} or {argument('score')} was given beside columns of answers",
            allowed="one column per judge, or a column of judges and one of answers",
            fix="leave it out",
        )
    roles = find_roles(table, options, labels)
    named = [*(options.answers or ()), *(options.ratings or ())]
    for name in named:
        table.require(name, "answers", "answers" if name in (options.answers or ()) else "ratings")
        if name in roles.roles:
            asked = argument("answers" if name in (options.answers or ()) else "ratings")
            raise InputError(
                f"column {name!r} is named both for answers and as label, id, weight or group",
                allowed="one part per column",
                fix=f"leave it out of {asked}, or name another one for the other part",
            )
    judge = _judge_column(table, options)
    if judge is not None and (len(named) != 1 or options.models is not None):
        raise InputError(
            f"{len(named)} columns of answers beside the column of judges {judge!r}"
            if len(named) != 1
            else f"{argument('models')} beside the column of judges {judge!r}",
            allowed="in the long layout one column of answers; in the wide one no column of judges",
            fix=f"name one column, or say {argument('layout', repr('wide'))}",
        )
    return roles, judge


def name_answers(table: Table, labels: object | None, options: ReadOptions) -> ReadOptions:
    """``options`` with the columns of answers, where the caller named none."""
    if options.answers is not None or options.ratings is not None:
        return options
    roles = find_roles(table, options, labels)
    free = [name for name in table.columns if name not in roles.roles | roles.set_aside]
    judge = _judge_column(table, options)
    if judge is not None:
        found = table.find(None, ANSWERS, "answers")
        if found is not None:
            return replace(options, answers=(found,))
        found = table.find(None, RATINGS, "ratings")
        if found is not None:
            return replace(options, ratings=(found,))
        raise InputError(
            f"{table.what} has a column of judges {judge!r} and no column of answers with a usual "
            f"name; its columns are {quote(table.columns, limit=20)}",
            allowed=f"one column of answers, named by {argument('answers')}",
            fix=f"say {argument('answers', '[...]')}",
        )
    kept = [name for name in free if name not in (options.models or ())]
    if not kept:
        raise InputError(
            f"{table.what} has no column left for answers",
            allowed="one column per judge",
            fix=f"name the columns with {argument('answers', '[...]')}",
        )
    _refuse_strangers(table, kept, wide.observe_labels(table, roles, options, labels))
    return replace(options, answers=tuple(kept))


def _refuse_strangers(table: Table, names: Sequence[str], raw: RawLabels) -> None:
    """Refuse columns that were not named and never say what labels or two other columns say."""
    said = {name: _spell_values(table.read_values(name)) for name in names}
    counts = Counter(text for texts in said.values() for text in texts)
    known = {spell_class(value) for value in raw.values}
    known |= {text for text, count in counts.items() if count > 1 and not raw.values}
    alike = [name for name in names if said[name] & known]
    stranger = next((name for name in names if said[name] and name not in alike), None)
    if stranger is None or not alike:
        return
    listed = argument("answers", "[" + ", ".join(map(repr, alike)) + "]")
    raise InputError(
        f"column {stranger!r} holds {quote(sorted(said[stranger]), limit=3)} and nothing that "
        f"{'a label says' if raw.values else 'other judges say'}, and was not named",
        allowed="columns of answers beside those that have another part",
        fix=f"name the columns of answers: {listed}; or say {argument('groups', [stranger])}, "
        f"{argument('ignore', [stranger])}, or {argument('model', repr(stranger))} if it names "
        "the judges of a table with one row per answer",
    )


def _spell_values(values: NDArray[Any]) -> set[str]:
    """What stands in a column, as classes are spelled, without what means "unsure"."""
    found = {spell_class(value) for value in factorize(values)[1]}
    return {text for text in found if text.lower() not in UNSURE}


def _judge_column(table: Table, options: ReadOptions) -> str | None:
    """The column of judges of a long table; None for a wide one."""
    if options.layout == "wide":
        return None
    if options.model is not None or options.layout == "long":
        found = table.find(options.model, JUDGES, "model")
        return found if found is not None else table.require("judge", "column of judges", "model")
    named = [*(options.answers or ()), *(options.ratings or ())]
    usual = [name for name in table.columns if name.lower() in JUDGES and name not in named]
    return usual[0] if len(usual) == 1 and len(named) <= 1 and options.models is None else None


def _read_wide(
    table: Table, roles: Columns, options: ReadOptions, labels: object | None, source: str | None
) -> ScoreSet:
    raw = wide.observe_labels(table, roles, options, labels)
    scored: tuple[str, ...] = ()
    probabilities, of, order = None, {}, None
    if options.models is not None:
        plain = replace(options, answers=None, ratings=None)
        columns = wide.find_scores(table, roles, plain, raw, given=labels is not None)
        found = wide.read(table, columns, plain, raw)
        scored, probabilities, of = tuple(found.models), found.scores, dict(columns.scores)
        if options.classes is None and found.classes is not None:
            listed = options.lists_classes
            order = name_order(found.classes, listed=listed, compared=True)
            options = replace(options, classes=found.classes)
    judged = [*(options.answers or ()), *(options.ratings or ())]
    of |= {name: (name,) for name in judged}
    used = roles.roles | {column for columns in of.values() for column in columns}
    ids = None if roles.id is None else table.read_ids(roles.id)
    design = _read_design(table, roles, options, labels, ids)
    layout = _describe_layout(WIDE, table, roles, options, labels, source, of, used, design)
    fields = make_judged_fields(
        {name: table.read_values(name) for name in options.answers or ()},
        {name: table.read_values(name) for name in options.ratings or ()},
        (scored, probabilities),
        raw,
        options,
        n=table.n_rows,
        weights=None if roles.weight is None else table.read_floats(roles.weight),
        groups={name: table.read_values(column) for name, column in roles.groups.items()},
        ids=ids,
        design=design,
        layout=replace(layout, order=order),
        frame_library=table.library,
    )
    return ScoreSet(**fields)


def _read_long(
    table: Table,
    roles: Columns,
    options: ReadOptions,
    labels: object | None,
    source: str | None,
    judge: str,
    answer: str,
) -> ScoreSet:
    id = roles.id or table.find(None, ROWS, "id")
    if id is None:
        id = table.require("id", long.LAYOUT.format("id column"), "id")
    roles = replace(roles, id=id)
    required = "an id and a judge on every row"
    id_codes, ids = long.factorize_column(table, id, required)
    judge_codes, distinct = long.factorize_column(table, judge, required)
    judges = tuple(str(name) for name in distinct)
    raw = long.observe_labels(table, roles, options, labels, id_codes, ids)
    answered = _gather_by_judge(table.read_values(answer), id_codes, ids, judge_codes, judges)
    ratings = options.ratings is not None
    used = roles.roles | {judge, answer}
    design = (
        join_design(labels, ids, options, id)
        if joins_by_id(labels)
        else long.take_weights_by_id(table, roles.design, id_codes, ids)
    )
    fields = make_judged_fields(
        {} if ratings else answered,
        answered if ratings else {},
        ((), None),
        raw,
        options,
        n=len(ids),
        weights=long.take_weights_by_id(table, roles.weight, id_codes, ids),
        groups={
            name: long.take_constant_by_id(table, column, id_codes, ids)
            for name, column in roles.groups.items()
        },
        ids=ids,
        design=design,
        layout=_describe_layout(
            LONG,
            table,
            roles,
            options,
            labels,
            source,
            dict.fromkeys(judges, (judge, answer)),
            used,
            design,
        ),
        frame_library=table.library,
    )
    return ScoreSet(**fields)


def _gather_by_judge(
    answers: NDArray[Any],
    id_codes: NDArray[np.int64],
    ids: NDArray[np.object_],
    judge_codes: NDArray[np.int64],
    judges: Sequence[str],
) -> dict[str, NDArray[np.object_]]:
    """What each judge said of each row; an answer that is given twice is refused."""
    _refuse_one_name_with_blanks(judges)
    cells = id_codes * len(judges) + judge_codes
    counts = np.bincount(cells)
    if counts.max() > 1:
        place = int(np.argmax(counts > 1))
        twice = [
            f"{'nothing' if is_missing(as_objects([value]))[0] else repr(value)} at row {row}"
            for row, value in enumerate(answers)
            if cells[row] == place
        ]
        many = int((counts > 1).sum()) - 1
        more = f"; {many:,} more cells have several" if many else ""
        raise InputError(
            f"id {ids[place // len(judges)]!r} has {counts[place]} answers of "
            f"{judges[place % len(judges)]!r}: {', '.join(twice[:4])}{more}",
            allowed="one answer per row and judge",
            fix="keep one of them, or give repeated answers a judge's name of their own",
        )
    values: NDArray[np.object_] = np.full((len(ids), len(judges)), None, dtype=object)
    values[id_codes, judge_codes] = as_objects(answers)
    return {name: values[:, m] for m, name in enumerate(judges)}


def _refuse_one_name_with_blanks(judges: Sequence[str]) -> None:
    """Refuse names of judges that differ in blanks around them only: one judge, cut in two."""
    seen: dict[str, str] = {}
    for name in judges:
        first = seen.setdefault(name.strip(), name)
        if first != name:
            raise InputError(
                f"the judges {first!r} and {name!r} differ in blanks only",
                allowed="one name for each judge",
                fix="remove the blanks",
            )


def _read_design(
    table: Table, roles: Columns, options: ReadOptions, labels: object | None, ids: Any
) -> Any:
    if joins_by_id(labels):
        return join_design(labels, ids, options, roles.id)
    return None if roles.design is None else table.read_floats(roles.design)


def _describe_layout(
    kind: str,
    table: Table,
    roles: Columns,
    options: ReadOptions,
    labels: object | None,
    source: str | None,
    columns: Mapping[str, tuple[str, ...]],
    used: frozenset[str],
    design: object,
) -> Layout:
    added = find_own_label_column(table, options) if isinstance(design, LabelRounds) else None
    return Layout(
        kind=kind,
        columns=columns,
        label=roles.label if labels is None else options.label or added,
        id=roles.id,
        weight=roles.weight,
        design=roles.design,
        groups=tuple(roles.groups.values()),
        ignored=tuple(name for name in table.columns if name not in {*used, added}),
        labels_source=name_labels_source(labels),
        source=source,
    )
