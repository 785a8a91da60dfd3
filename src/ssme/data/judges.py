"""Answers and ratings: classes and grades that judges give instead of probabilities.

A judge (a person, a language model, a classifier of which only the predicted class was kept) gives
one class per row, is unsure, or gives nothing. A rater gives a grade on an ordered scale. In a
`ssme.ScoreSet` both are scores, so that every metric and report can read them, and a `Judge` says
what they mean:

    answer l             score 1 for class l, 0 for the others
    grade g of G, cut c  P(positive) = 1/2 (g + 1/2) / c                below the cut,
                                       1/2 + 1/2 (g - c + 1/2) / (G - c)  from the cut on
    unsure, missing      NaN

so that the decision at 1/2 is "at or above the cut", and the order is that of the grades. The
numbers between mean nothing: a method that knows judges uses the order only, and no metric of
probabilities is computed of them.

Classes that nobody lists are those among labels and answers. What is hardly meant as a class is
refused: a class written in two ways, a number that is not whole, a code for "no answer", a judge
who gives no class of the labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Literal

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.arrays import Layout, check_arrays, refuse_other_order, stack_scores, to_simplex
from ssme.data.labels import (
    DIGITS,
    RawLabels,
    name_order,
    observe,
    order_classes,
    sort_names,
    spell_class,
)
from ssme.data.values import refuse_duplicates, to_objects
from ssme.errors import InputError
from ssme.schema import AnswerOptions
from ssme.wording import quote, suggest_nearest

Classes = tuple[Hashable, ...]

UNSURE = ("unsure", "abstain")
"""Texts that mean "unsure", in any capitals and with any punctuation around them, unless one of
them is a class."""

PUNCTUATION = " .,;:!?\"'`*()[]"
"""What a judge may write around a class."""

BOOLEANS = {"false": "0", "true": "1", "0": "false", "1": "true"}
"""How the other one of 0 and 1, or false and true, is spelled."""

NO_CLASSES = frozenset(
    (
        *("-1", "-", "--", "?", "N/A", "n/a", "#N/A", "NA", "<NA>", "NaN", "nan", "None", "null"),
        *("idk", "not sure", "undecided", "cannot tell", "can't tell", "cannot determine"),
        *("don't know", "dont know", "do not know", "i don't know", "i do not know"),
    )
)
"""Codes and texts that, unless a label has them, mean "no answer" rather than a class; -1 with 1
alone is a class."""

LIST_ALL = "list all classes with `classes=[...]`"

FEW_ANSWERS = 10
"""With fewer answers, or labels, a judge may use another set of classes by chance."""

LETTER_GRADES = frozenset("ABCDEF")
"""Grades whose order is known. That of other letters is not the alphabet's: L, M, H or F, P."""

LONGEST_SCALE = 101
"""Whole-number scales up to this length include the grades that nobody gave."""


@dataclass(frozen=True)
class Judge:
    """What the scores of one model of a `ssme.ScoreSet` mean, where they are not probabilities.

    It gives one of the ``values``: a class, or a grade on a scale from the lowest to the highest,
    of which those from the ``cut`` on count as the positive one of two classes.
    """

    kind: Literal["answers", "ratings"]
    values: tuple[Hashable, ...]
    cut: Hashable | None = None

    def decode(self, scores: FloatArray) -> np.typing.NDArray[np.object_]:
        """The answers (n,) that scores (n, K) represent; None where missing."""
        return to_objects([*self.values, None])[self.find_codes(scores)]

    def find_codes(self, scores: FloatArray) -> IntArray:
        """Place (n,) in ``values`` of each answer, from scores (n, K); -1 where missing."""
        if self.cut is None:
            codes = np.argmax(scores, axis=1)
        else:
            codes = np.abs(scores[:, 1, None] - self._grade_scores).argmin(axis=1)
        return np.where(np.isnan(scores[:, 0]), -1, codes).astype(np.int64)

    def compute_scores(self, codes: IntArray) -> FloatArray:
        """The scores (n, K) of ``codes`` (n,): the inverse of `find_codes`."""
        if self.cut is None:
            one_hot: FloatArray = (codes[:, None] == np.arange(len(self.values))).astype(np.float64)
            one_hot[codes < 0] = np.nan
            return one_hot
        positive = np.append(self._grade_scores, np.nan)[codes]
        return np.stack([1.0 - positive, positive], axis=1)

    def encode(self, answers: JudgeAnswers) -> IntArray:
        """Place (n,) in ``values`` of each answer as it was written; -1 where missing."""
        place = {spell_class(name): index for index, name in enumerate(self.values)}
        if set(place) in ({"0", "1"}, {"false", "true"}):
            place |= {BOOLEANS[text]: index for text, index in place.items()}
        texts = [spell_class(value) for value in answers.raw.values]
        unknown = [
            v for v, text in zip(answers.raw.values, texts, strict=True) if text not in place
        ]
        if unknown:
            one, many = ("class", "classes") if self.kind == "answers" else ("grade", "grades")
            others = f" (and {len(unknown) - 1} other such values)" if len(unknown) > 1 else ""
            near = suggest_nearest(unknown[0], self.values)
            others = f"{others}; the {many} are {quote(self.values)}"
            problem = f"{answers.locate(unknown[0])} is not a {one}{others}"
            hint = f"{near}correct it, list `{many}=[...]`, or declare `unsure={unknown[0]!r}`"
            raise InputError(problem, hint=hint)
        return answers.raw.recode([place[text] for text in texts])

    @property
    def _grade_scores(self) -> FloatArray:
        """P(positive) (G,) that represents each grade; from the cut on it is above 1/2."""
        cut = self.values.index(self.cut)
        n_above = len(self.values) - cut
        below, above = (np.arange(cut) + 0.5) / cut, (np.arange(n_above) + 0.5) / n_above
        return np.concatenate([0.5 * below, 0.5 + 0.5 * above])


@dataclass(frozen=True, eq=False)
class JudgeAnswers:
    """One judge's answers as found; ``unsure`` is the number of rows on which it was unsure."""

    judge: str
    raw: RawLabels
    unsure: int

    def locate(self, value: Hashable) -> str:
        return f"answer {value!r} of {self.judge!r} at row {self.raw.find_first_row(value)}"


def observe_answers(
    values: np.typing.NDArray[Any], n: int, judge: str, options: AnswerOptions
) -> JudgeAnswers:
    """The ``values`` that ``judge`` gave on ``n`` rows, without blanks around text."""
    if values.dtype.kind in "OU":
        stripped = [each.strip() if isinstance(each, str) else each for each in values.tolist()]
        values = to_objects(stripped)
    try:
        raw = observe(values, n)
    except InputError as error:
        raise error.at(f"answers of {judge!r}") from None
    unsure = {spell_class(value) for value in find_unsure(raw.values, options)}
    sure = [spell_class(value) not in unsure for value in raw.values]
    codes = raw.recode(np.where(sure, np.cumsum(sure) - 1, -1).tolist())
    n_unsure = int(((codes < 0) & (raw.codes >= 0)).sum())
    return JudgeAnswers(judge, RawLabels(codes, tuple(compress(raw.values, sure))), n_unsure)


def find_unsure(values: Sequence[Hashable], options: AnswerOptions) -> list[Hashable]:
    """Those of ``values`` that mean "unsure": declared, or `UNSURE` and no declared class or grade.

    Of a declared code that is a class too nobody can say what it means, so that it is refused.
    """
    known = [*(options.classes or ()), *(options.grades or ())]
    texts = {spell_class(name) for name in known}
    codes = {spell_class(code) for code in options.unsure or ()}
    for code in sorted(codes & texts):
        problem = f"`unsure={code!r}` is also a class ({quote(known)})"
        raise InputError(problem, hint="choose another value")
    return [
        value
        for value in values
        if (text := spell_class(value)) in codes
        or (text not in texts and isinstance(value, str) and strip_punctuation(value) in UNSURE)
    ]


def strip_punctuation(text: str) -> str:
    """``text`` in small letters, without punctuation around it."""
    return text.casefold().strip(PUNCTUATION) or text


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
    parts = [
        (f"the {kind} of {str(name)!r}", values)
        for kind, table in {"answers": answers, "ratings": ratings, "scores": scores}.items()
        if isinstance(table, Mapping)
        for name, values in table.items()
    ]
    refuse_other_order([*parts, ("the labels", labels)])
    answered = {} if answers is None else _as_columns(answers, models)
    rated = _as_columns(ratings, None) if ratings else {}
    names: Sequence[str] = ()
    probabilities: FloatArray | None = None
    sizes = {len(values) for values in (*answered.values(), *rated.values())}
    if scores:
        probabilities, names = stack_scores(scores, None)
        sizes.add(len(probabilities))
    if len(sizes) > 1:
        problem = f"answers, ratings and scores have different lengths: {quote(sorted(sizes))}"
        raise InputError(problem, hint="give one entry per row, None where there is no answer")
    n = max(sizes, default=0)
    raw = observe(labels if n else None, n, options.unlabeled)
    return make_judged_fields(answered, rated, (names, probabilities), raw, options, n=n, **rows)


def _as_columns(answers: object, models: Sequence[str] | None) -> dict[str, np.typing.NDArray[Any]]:
    """Columns by judge of an array (n, M) or of a mapping from judge to values."""
    if not isinstance(answers, Mapping):
        table = np.asarray(answers, dtype=object)
        if table.ndim != 2 or 0 in table.shape:
            problem = f"answers must have shape (n, M), got {table.shape}"
            hint = "for one judge pass answers[:, None]; for one row per answer, a data frame"
            raise InputError(problem, hint=hint)
        n_judges = table.shape[1]
        names = models or [f"judge_{m}" for m in range(1, n_judges + 1)]
        if len(names) != n_judges:
            problem = f"`models` must have a name for each of {n_judges} judges, got {quote(names)}"
            raise InputError(problem, hint="name every judge")
        return {str(name): table[:, m] for m, name in enumerate(names)}
    given = {str(name): np.asarray(values, dtype=object) for name, values in answers.items()}
    for name in given if models is None else models:
        if name not in given:
            problem = f"there is no judge {name!r}; the judges are {quote(given)}"
            raise InputError(problem, hint=suggest_nearest(name, given) or "name judges as given")
        if given[name].ndim != 1:
            problem = f"answers of {name!r} must have shape (n,), got {given[name].shape}"
            raise InputError(problem, hint="give the class; probabilities go to `scores`")
    return given if models is None else {name: given[name] for name in models}


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
    ``rows`` has weights, groups, ids and the rest of `check_arrays`.
    """
    scored, probabilities = scores
    names = [*scored, *answers, *ratings]
    refuse_duplicates(names, "model")
    if not answers and not ratings:
        problem = "neither answers nor ratings were given"
        raise InputError(problem, hint="read scores alone with ScoreSet.from_arrays or from_frame")
    for value in find_unsure(labels.values, options):
        problem = (
            f"label {value!r} at row {labels.find_first_row(value)} is what `unsure` declares, so "
            "it is not a class"
        )
        hint = f"declare `unlabeled={value!r}` if it means no label, or {LIST_ALL}"
        raise InputError(problem, hint=hint)
    said = [observe_answers(values, n, name, options) for name, values in answers.items()]
    rated = [observe_answers(values, n, name, options) for name, values in ratings.items()]
    rater, classes = _find_scale(said, rated, labels, options)
    layout = layout or Layout("answers")
    order = layout.order or name_order(classes, listed=options.lists_classes, compared=True)
    order = "listed" if rater is not None and rater.cut is None else order
    if order == "unknown" and len(classes) == 2:
        why = ""
        if rated:
            why = f"high grades of {rated[0].judge!r} mean that class"
        elif probabilities is not None and probabilities.ndim == 2:
            why = f"scores of {scored[0]!r} are its probability"
        if why:
            problem = f"it is not known which of {quote(classes)} is the positive class; {why}"
            hint = f"pass `positive={classes[-1]!r}` or `positive={classes[0]!r}`"
            raise InputError(problem, hint=hint)
    parts: list[FloatArray] = []
    if probabilities is not None:
        parts.append(_check_probabilities(probabilities, scored, classes, options))
    judges = dict.fromkeys(answers, Judge("answers", classes))
    judges |= dict.fromkeys(ratings, rater) if rater is not None else {}
    for each in [*said, *rated]:
        judge = judges[each.judge]
        parts.append(judge.compute_scores(judge.encode(each))[:, None])
        if not each.raw.values:
            unsure = f", and is unsure on {each.unsure:,}" if each.unsure else ""
            problem = f"judge {each.judge!r} has no answer on any row{unsure}"
            raise InputError(problem, hint="leave it out")
    joined = np.concatenate(parts, axis=1)
    refuse_unanswered(joined, rows.get("ids"))
    # labels as the classes are written: the label "1.0" is of the class 1
    written, by_text = (
        {str(name) for name in classes},
        {spell_class(name): name for name in classes},
    )
    values = [v if str(v) in written else by_text.get(spell_class(v), v) for v in labels.values]
    kept = tuple(dict.fromkeys(values))
    fields = check_arrays(
        joined,
        RawLabels(labels.recode([kept.index(value) for value in values]), kept),
        replace(
            options, models=names, classes=classes, positive=None, logits=False, normalize=False
        ),
        layout=replace(layout, judges=_describe(said, rated, judges), order=order),
        **rows,
    )
    return {**fields, "judges": judges}


def refuse_unanswered(scores: FloatArray, ids: Any = None, first_row: int = 0) -> None:
    """Refuse rows of scores (n, M, K) without an answer of any judge; rows are from ``first_row``.

    Such rows say nothing about any judge.
    """
    silent = np.flatnonzero(np.isnan(scores[:, :, 0]).all(axis=1))
    if silent.size:
        named = "" if ids is None else f" (id {np.asarray(ids, dtype=object)[silent[0]]!r})"
        row = f"row {first_row + silent[0]}{named}"
        which = f"{row} has" if silent.size == 1 else f"{silent.size:,} rows, first {row}, have"
        problem = f"{which} no answer from any judge"
        raise InputError(problem, hint="drop these rows")


def _check_probabilities(
    scores: FloatArray, names: Sequence[str], classes: Classes, options: AnswerOptions
) -> FloatArray:
    """(n, M, K) of the models that give probabilities."""
    listed = options.classes is not None or options.grades is not None
    ordered = all(isinstance(name, int) or str(name).isdigit() for name in classes)
    if scores.ndim == 3 and not (listed or ordered):
        problem = f"scores of {quote(names)} have one column per class, in an unknown order"
        hint = "list `classes=[...]` in the order of the scores, the positive one last"
        raise InputError(problem, hint=hint)
    out = to_simplex(scores, list(names), logits=options.logits, normalize=options.normalize)
    if out.shape[2] != len(classes):
        problem = f"scores of {quote(names)} have {out.shape[2]} classes, answers {quote(classes)}"
        hint = "list all classes in the order of the scores: `classes=[...]`"
        raise InputError(problem, hint=hint)
    return out


def _describe(
    said: Sequence[JudgeAnswers], rated: Sequence[JudgeAnswers], judges: Mapping[str, Judge]
) -> dict[str, str]:
    """What was understood, title -> text."""
    unsure = [f"{e.judge}: {e.unsure:,} rows" for e in [*said, *rated] if e.unsure]
    facts = {
        "answers of": ", ".join(each.judge for each in said),
        "ratings of": ", ".join(each.judge for each in rated),
        "unsure": ", ".join(unsure),
    }
    if rated:
        scale = judges[rated[0].judge]
        facts["grades, lowest first"] = quote(scale.values, limit=20)
        facts["positive from grade"] = "" if scale.cut is None else str(scale.cut)
    return {title: text for title, text in facts.items() if text}


def _find_scale(
    said: Sequence[JudgeAnswers],
    rated: Sequence[JudgeAnswers],
    labels: RawLabels,
    options: AnswerOptions,
) -> tuple[Judge | None, Classes]:
    """What raters can give, None without any, and the classes.

    Without a declared cut, grades above the middle of the scale are positive; there is no cut where
    the truth is a grade too.
    """
    if not rated:
        for name in ("grades", "cut"):
            if getattr(options, name) is not None:
                problem = f"`{name}={getattr(options, name)!r}` was given without ratings"
                raise InputError(problem, hint="name the columns of `ratings`, or leave it out")
        return None, _find_classes(said, labels, options)
    grades = _find_grades(rated, options.grades)
    graded = len(grades) > 2 and _is_graded(labels, grades, options.classes)
    classes = grades if graded else _find_classes(said, labels, options)
    if len(classes) != 2 and not graded:
        problem = f"the classes {quote(classes)} do not fit ratings on the scale {quote(grades)}"
        hint = "list two classes or the grades with `classes=[...]`, or `grades=[...]`"
        raise InputError(problem, hint=hint)
    if len(grades) < 2:
        problem = f"the only grade of {rated[0].judge!r} is {grades[0]!r}"
        raise InputError(problem, hint="list all grades in order with `grades=[...]`")
    texts, place = [spell_class(grade) for grade in grades], (len(grades) + 1) // 2
    if options.cut is not None:
        if spell_class(options.cut) not in texts[1:]:
            raise InputError(
                option="cut",
                value=options.cut,
                must=f"be a grade above the lowest: {quote(grades[1:])}",
                hint="name the lowest grade that counts as the positive class",
            )
        place = texts.index(spell_class(options.cut))
    return Judge("ratings", grades, None if graded else grades[place]), classes


def _find_classes(
    said: Sequence[JudgeAnswers], labels: RawLabels, options: AnswerOptions
) -> Classes:
    """The classes, listed or those that occur among labels and answers, in their order."""
    if options.classes is not None:
        names = tuple(options.classes)
        _refuse_repeated(names, "classes")
    else:
        for each in said:
            _refuse_strange(each, said, labels)
        names = _list_occurring(said, labels)
    if len(names) < 2:
        raise InputError(
            f"labels and answers have {len(names)} class{'' if len(names) == 1 else 'es'} only"
            + (f": {quote(names)}" if names else ""),
            hint="list all classes (of two, the positive one last): `classes=[...]`",
        )
    if options.positive is None:
        return names
    positive = [name for name in names if spell_class(name) == spell_class(options.positive)]
    if len(names) == 2 and positive:
        return tuple(sorted(names, key=lambda name: name == positive[0]))
    hint = f"{suggest_nearest(options.positive, names)}name one of two classes, or leave it out"
    labeled = labels.texts
    strange = [(e, v) for e in said for v in e.raw.values if spell_class(v) not in labeled]
    if options.classes is None and labeled and strange:
        each, value = strange[0]
        count = int((each.raw.codes == each.raw.values.index(value)).sum())
        hint += (
            f"; {each.locate(value)} (in {count:,} row{'s' * (count > 1)}) is not a label: "
            "correct it, or pass `unsure` if it means that the judge is unsure"
        )
    problem = f"`positive={options.positive!r}` does not fit the classes {quote(names)}"
    raise InputError(problem, hint=hint)


def _refuse_repeated(names: Classes, option: str) -> None:
    """Refuse classes or grades that are listed twice: 1 and "1" read the same."""
    texts = [spell_class(name) for name in names]
    for place, text in enumerate(texts):
        first = texts.index(text)
        if first != place:
            problem = f"`{option}` has one value twice: {names[first]!r} and {names[place]!r}"
            raise InputError(problem, hint="leave one of them out")


def _refuse_strange(answers: JudgeAnswers, said: Sequence[JudgeAnswers], labels: RawLabels) -> None:
    """Refuse answers that are hardly classes, and a judge on another scale than the labels.

    Hardly classes are numbers that are not whole, and codes for no answer. Another scale has a
    judge with 10 answers that are all outside the classes of the labels, or one that a judge gives
    who also gives those, if labels have two classes or more; and one who gives whole numbers other
    than 0 and 1 while at least 10 labels are all 0 or 1, which are grades.
    """
    labeled, own = labels.texts, answers.raw.texts
    signs = labeled.union(*(each.raw.texts for each in said)) == {"-1", "1"}
    for value in answers.raw.values:
        text = spell_class(value)
        if isinstance(value, float):
            problem = (
                f"{answers.locate(value)} is not a whole number, so it is unlikely to be a class"
            )
            hint = f"give probabilities as scores, grades as `ratings`, or {LIST_ALL}"
            raise InputError(problem, hint=hint)
        coded = text in NO_CLASSES or strip_punctuation(text) in NO_CLASSES
        if coded and text not in labeled and not signs:
            problem = f"{answers.locate(value)} looks like a code for no answer and is not a label"
            hint = f"declare `unsure={value!r}`, or {LIST_ALL} if it is one"
            raise InputError(problem, hint=hint)
    known = labeled.union(*(each.raw.texts for each in said if each.raw.texts & labeled))
    numbers = all(map(DIGITS.fullmatch, own))
    binary = labeled <= {"0", "1"} and int((labels.codes >= 0).sum()) >= FEW_ANSWERS
    graded = numbers and len(own - {"0", "1"}) > 1 and binary
    foreign = not own & known and int((answers.raw.codes >= 0).sum()) >= FEW_ANSWERS
    spelled_otherwise = own | labeled <= set(BOOLEANS)
    if graded or (foreign and len(labeled) > 1 and not spelled_otherwise):
        grades = f"if they are grades, pass `ratings=[{answers.judge!r}]`; else " if numbers else ""
        said_, labels_ = quote(sorted(own)), quote(labels.values)
        problem = f"the answers of {answers.judge!r} are {said_}, but the labels are {labels_}"
        hint = f"{grades}write answers and labels in the same way, or {LIST_ALL}"
        raise InputError(problem, hint=hint)


def _list_occurring(said: Sequence[JudgeAnswers], labels: RawLabels) -> Classes:
    """All values, each once; as the labels write them where both do."""
    by_text: dict[str, Hashable] = {}
    for value in [*labels.values, *sort_names(v for each in said for v in each.raw.values)]:
        by_text.setdefault(spell_class(value), value)
    seen: dict[str, str] = {}
    for text, value in by_text.items():
        first = seen.setdefault(strip_punctuation(text), text)
        if first != text:
            where = next(
                (each.locate(value) for each in said if value in each.raw.values), f"label {text!r}"
            )
            problem = f"{where} differs from the class {first!r} only in case or punctuation"
            hint = f"write each class in one way, or {LIST_ALL} if they differ"
            raise InputError(problem, hint=hint)
    values = list(by_text.values())
    if values and set(by_text) <= set(BOOLEANS):
        return _spell_as_first(values)
    return order_classes(values, compared=True)


def _spell_as_first(values: Sequence[Hashable]) -> Classes:
    """0 and 1, or False and True, as the first of ``values`` is written; those of labels are first.

    One of False and True alone stays alone: it may be a class with any other name.
    """
    first = values[0]
    if isinstance(first, bool):
        return (False, True) if len(values) > 1 else (first,)
    if spell_class(first) in ("0", "1"):
        return ("0", "1") if isinstance(first, str) else (0, 1)
    kept = [value for value in values if spell_class(value) in ("false", "true")]
    if len(kept) == 1 and len(values) > 1:
        other = "false" if spell_class(kept[0]) == "true" else "true"
        kept.append(other.upper() if str(first).isupper() else other.capitalize())
    return tuple(sorted(kept, key=spell_class))


def _find_grades(rated: Sequence[JudgeAnswers], grades: Sequence[Hashable] | None) -> Classes:
    """The grades from the lowest to the highest.

    Declared; or whole numbers from the least to the largest that occurs, those between that nobody
    gave included up to `LONGEST_SCALE`; or other numbers as they occur; or `LETTER_GRADES`, of
    which A is the highest.
    """
    if grades is not None:
        _refuse_repeated(tuple(grades), "grades")
        return tuple(grades)
    values = list(dict.fromkeys(value for each in rated for value in each.raw.values))
    texts = {spell_class(value): value for value in values}
    if not texts:
        problem = f"there is no grade among the ratings of {quote([each.judge for each in rated])}"
        raise InputError(problem, hint="check the columns of ratings")
    if all(text.lstrip("+-").isdigit() for text in texts):
        _refuse_two_scales(rated)
        whole = sorted(int(text) for text in texts)
        if whole[-1] - whole[0] < LONGEST_SCALE:
            return tuple(range(whole[0], whole[-1] + 1))
        return tuple(whole)
    numbers = [value for value in texts.values() if isinstance(value, int | float)]
    if len(numbers) == len(texts):
        return tuple(sorted(numbers))
    if set(texts) <= LETTER_GRADES:
        return tuple(sorted(values, key=spell_class, reverse=True))
    problem = f"the order of the grades {quote(values)} is not known"
    raise InputError(problem, hint="list them from the lowest to the highest: `grades=[...]`")


def _refuse_two_scales(rated: Sequence[JudgeAnswers], *, least: int = 20, times: int = 5) -> None:
    """Refuse raters of whole numbers who cannot mean the same scale, such as 1-5 and 1-100.

    Refused is a rater of ``least`` grades or more, of which three differ, whose highest is at most
    one in ``times`` of that of another rater, if more than half of what the other gave lies above
    it: on a short scale a strict rater may give low grades only.
    """
    many: dict[str, np.typing.NDArray[Any]] = {}
    for each in rated:
        numbers = np.array([int(spell_class(value)) for value in each.raw.values])
        given = numbers[each.raw.codes[each.raw.codes >= 0]]
        if given.size >= least:
            many[each.judge] = given
    for low, given in many.items():
        top = int(given.max())
        for high, others in many.items():
            wider = 0 < times * top <= others.max() and np.median(others) > top
            if wider and np.unique(given).size > 2:
                problem = f"{low!r} gives grades up to {top} and {high!r} up to {others.max()}"
                hint = "put them on one scale, or list it with `grades=[...]`"
                raise InputError(problem, hint=hint)


def _is_graded(
    labels: RawLabels, grades: Sequence[Hashable], classes: Sequence[Hashable] | None
) -> bool:
    """Whether the truth is a grade on the same scale, rather than one of two classes."""
    texts = [spell_class(grade) for grade in grades]
    if classes is not None:
        if len(classes) == 2:
            return False
        if [spell_class(name) for name in classes] == texts:
            return True
        problem = f"the classes {quote(classes)} do not fit ratings on the scale {quote(grades)}"
        hint = "list two classes, or the grades themselves in the same order"
        raise InputError(problem, hint=hint)
    found = labels.texts
    on_scale = found <= set(texts)
    if not on_scale and len(found) > 2:
        problem = f"labels {quote(labels.values)} do not fit ratings on the scale {quote(grades)}"
        hint = "list all grades in order with `grades=[...]`, or correct the labels"
        raise InputError(problem, hint=hint)
    if not on_scale or (found and found <= {"0", "1"}):
        return False
    if len(found) > 2:
        return True
    scale = f"ratings are on the scale {quote(grades)}"
    if labels.values:
        problem = f"labels {quote(labels.values)} may be classes or grades: {scale}"
    else:
        problem = f"{scale}, and without labels the classes are unknown"
    hint = "pass `classes=[...]`: two classes, the positive one last, or all grades in order"
    raise InputError(problem, hint=hint)
