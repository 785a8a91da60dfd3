"""The fields of a `ScoreSet` from judges' columns: answers, ratings and, beside them, scores."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ssme.data.answer_classes import (
    find_classes_of_answers,
    refuse_unsure_labels,
    spell_labels,
)
from ssme.data.answers import (
    Judge,
    Said,
    as_columns,
    listen,
    make_answer_scores,
    tell_unanswered,
)
from ssme.data.arrays import check_arrays, stack_scores
from ssme.data.class_order import name_order, refuse_unknown_positive
from ssme.data.labels import RawLabels, observe
from ssme.data.layout import Layout
from ssme.data.options import AnswerOptions
from ssme.data.ratings import find_grades, is_grading, make_rating_scores
from ssme.data.row_order import refuse_other_order
from ssme.data.simplex import to_simplex
from ssme.data.validation import refuse_duplicates
from ssme.data.values import FloatArray
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = ["make_judged_arrays", "make_judged_fields"]


def make_judged_arrays(
    answers: object | None,
    ratings: object | None,
    scores: Mapping[str, object] | None,
    labels: object | None,
    options: AnswerOptions,
    *,
    models: Sequence[str] | None = None,
    **rows: Any,
) -> dict[str, Any]:
    """The fields of a `ScoreSet` from arrays; see `ScoreSet.from_answers`."""
    given = {"answers": answers, "ratings": ratings, "scores": scores}
    parts = [
        (f"the {kind} of {str(name)!r}", values)
        for kind, table in given.items()
        if isinstance(table, Mapping)
        for name, values in table.items()
    ]
    refuse_other_order([*parts, ("the labels", labels)])
    columns, n = ({}, None) if answers is None else as_columns(answers, models)
    graded, n_rated = ({}, None) if not ratings else as_columns(ratings, None)
    probabilities: FloatArray | None = None
    names: Sequence[str] = ()
    n_scored = None
    if scores:
        probabilities, names = stack_scores(scores, None)
        n_scored = len(probabilities)
    sizes = {size for size in (n, n_rated, n_scored) if size is not None}
    if len(sizes) != 1:
        raise InputError(
            "neither answers nor ratings were given"
            if not sizes
            else f"answers, ratings and scores of different lengths: {quote(sorted(sizes))}",
            allowed="one entry per row for every judge, None where there is none",
            fix="align the rows" if sizes else f"give answers or {argument('ratings', '{...}')}",
        )
    count = sizes.pop()
    raw = observe(labels, count, options.unlabeled)
    return make_judged_fields(
        columns, graded, (names, probabilities), raw, options, n=count, **rows
    )


def make_judged_fields(
    answers: Mapping[str, Any],
    ratings: Mapping[str, Any],
    scores: tuple[Sequence[str], FloatArray | None],
    labels: RawLabels,
    options: AnswerOptions,
    *,
    n: int,
    layout: Layout | None = None,
    **rows: Any,
) -> dict[str, Any]:
    """The fields of a `ScoreSet`, everything checked.

    ``scores`` are the names of models with probabilities and their scores (n, M) or (n, M, K);
    ``rows`` holds weights, groups, ids and the rest of `check_arrays`.
    """
    names = [*scores[0], *answers, *ratings]
    refuse_duplicates(names, "model", "each judge and model once")
    if not answers and not ratings:
        raise InputError(
            "neither answers nor ratings were given",
            allowed="at least one judge",
            fix="scores alone are read by ScoreSet.from_arrays or ScoreSet.from_frame",
        )
    refuse_unsure_labels(labels, options)
    known = [*(options.classes or ()), *(options.grades or ())]
    said = [listen(of, n, name, options.unsure, known) for name, of in answers.items()]
    rated = [listen(of, n, name, options.unsure, known) for name, of in ratings.items()]
    grades, graded, classes = _settle_scale(said, rated, labels, options)
    layout = layout or Layout("answers")
    order = layout.order or name_order(classes, listed=options.lists_classes, compared=True)
    order = "listed" if graded else order
    if order == "unknown" and len(classes) == 2:
        _refuse_without_positive(scores, rated, classes)
    labels = spell_labels(labels, classes)
    parts: list[FloatArray] = []
    if scores[1] is not None:
        parts.append(_stack_probabilities(scores[1], list(scores[0]), classes, options))
    judges: dict[str, Judge] = {}
    for each in said:
        parts.append(make_answer_scores(each, classes)[:, None])
        judges[each.judge] = Judge("answers", classes)
    for each in rated:
        values, judges[each.judge] = make_rating_scores(each, grades, options.cut, graded=graded)
        parts.append(values[:, None])
    _refuse_silent(said + rated)
    layout = replace(layout, judges=_find_understood(said, rated, judges), order=order)
    told = replace(
        options, models=names, classes=classes, positive=None, logits=False, normalize=False
    )
    joined = np.concatenate(parts, axis=1)
    _refuse_unanswered(joined, rows.get("ids"))
    return {**check_arrays(joined, labels, told, layout=layout, **rows), "judges": judges}


def _refuse_without_positive(
    scores: tuple[Sequence[str], FloatArray | None],
    rated: Sequence[Said],
    classes: tuple[Hashable, ...],
) -> None:
    """Refuse grades and scores of the positive class where nothing says which class that is."""
    if rated:
        refuse_unknown_positive(classes, f"high grades of {rated[0].judge!r} mean that class")
    if scores[1] is not None and scores[1].ndim == 2:
        refuse_unknown_positive(classes, f"scores of {scores[0][0]!r} are its probability")


def _settle_scale(
    said: Sequence[Said], rated: Sequence[Said], labels: RawLabels, options: AnswerOptions
) -> tuple[tuple[Hashable, ...], bool, tuple[Hashable, ...]]:
    """The grades, whether the truth is a grade too, and the classes."""
    for name in ("grades", "cut"):
        if getattr(options, name) is not None and not rated:
            raise InputError(
                f"{argument(name, repr(getattr(options, name)))} was given without ratings",
                allowed=f"{argument(name)} beside {argument('ratings')}",
                fix="name the columns of ratings, or leave it out",
            )
    if not rated:
        return (), False, find_classes_of_answers(said, labels, options.classes, options.positive)
    grades = find_grades(rated, options.grades)
    if len(grades) > 2 and is_grading(labels, grades, options.classes):
        return grades, True, grades
    two = find_classes_of_answers(said, labels, options.classes, options.positive)
    if len(two) != 2:
        raise InputError(
            f"the {len(two)} classes {quote(two)} do not fit ratings on the scale {quote(grades)}",
            allowed="two classes, or the grades themselves as classes",
            fix=f"list {argument('classes', '[...]')}, or {argument('grades', '[...]')}",
        )
    return grades, False, two


def _stack_probabilities(
    scores: FloatArray, names: list[str], classes: Sequence[Hashable], options: AnswerOptions
) -> FloatArray:
    """(n, M, K) of the models that give probabilities."""
    listed = options.classes is not None or options.grades is not None
    ordered = all(isinstance(name, int) or str(name).isdigit() for name in classes)
    if scores.ndim == 3 and not (listed or ordered):
        raise InputError(
            f"the scores of {quote(names)} have one column per class, and nothing says which of "
            f"the classes {quote(classes)} each of them is",
            allowed="text classes with their order given",
            fix="list all classes in the order of the scores, the positive one of two last: "
            f"{argument('classes', '[...]')}",
        )
    out = to_simplex(scores, names, logits=options.logits, normalize=options.normalize)
    if out.shape[2] != len(classes):
        raise InputError(
            f"the scores of {quote(names)} are over {out.shape[2]} classes, and the answers over "
            f"the {len(classes)} classes {quote(classes)}",
            allowed="one score per class, or P(positive) for two classes",
            fix=f"list all classes in the order of the scores: {argument('classes', '[...]')}",
        )
    return out


def _refuse_silent(said: Sequence[Said]) -> None:
    for each in said:
        if not each.raw.values:
            raise InputError(
                f"judge {each.judge!r} has no answer on any row"
                + (f", and is unsure on {each.unsure:,}" if each.unsure else ""),
                allowed="at least one answer per judge",
                fix="leave the judge out",
            )


def _refuse_unanswered(scores: FloatArray, ids: Any) -> None:
    silent = np.all(np.isnan(scores).any(axis=2), axis=1)
    if silent.any():
        rows = np.flatnonzero(silent)
        named = "" if ids is None else f" (id {np.asarray(ids, dtype=object)[rows[0]]!r})"
        raise tell_unanswered(
            f"row {rows[0]}{named} has no answer of any judge"
            + (f", nor have {rows.size - 1:,} further rows" if rows.size > 1 else "")
        )


def _find_understood(
    said: Sequence[Said], rated: Sequence[Said], judges: Mapping[str, Judge]
) -> dict[str, str]:
    facts = {}
    if said:
        facts["answers of"] = ", ".join(each.judge for each in said)
    if rated:
        one = judges[rated[0].judge]
        facts["ratings of"] = ", ".join(each.judge for each in rated)
        facts["grades, lowest first"] = quote(one.values, limit=20)
        if one.cut is not None:
            facts["positive from grade"] = str(one.cut)
    unsure = {each.judge: each.unsure for each in [*said, *rated] if each.unsure}
    if unsure:
        facts["unsure"] = ", ".join(f"{name}: {count:,} rows" for name, count in unsure.items())
    return facts
