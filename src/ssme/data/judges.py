"""Answers and ratings: what a judge says about a row when it gives no probabilities.

A judge (a person, a language model, a classifier of which only the predicted class was kept) says
one class per row, says that it is unsure, or says nothing. A rater says a grade on an ordered
scale. In a `ssme.ScoreSet` both are scores, so that every metric and report can read them, with a
`Judge` beside them that says what they are:

    answer l             score 1 for class l, 0 for the others
    grade g of G, cut c  P(positive) = 1/2 (g + 1/2) / c                below the cut,
                                       1/2 + 1/2 (g - c + 1/2) / (G - c)  from the cut on
    unsure, missing      NaN

so that the decision at 1/2 is "at or above the cut", and the order is that of the grades. The
numbers between mean nothing: a method that knows judges uses the order only, and no metric of
probabilities is computed of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import check_arrays, refuse_other_order, stack_scores
from ssme.data.labels import (
    RawLabels,
    is_number,
    name_order,
    observe,
    order_classes,
    refuse_unknown_positive,
    sort_names,
    spell_class,
)
from ssme.data.layout import Layout
from ssme.data.options import AnswerOptions
from ssme.data.simplex import to_simplex
from ssme.data.values import FloatArray, refuse_duplicates
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

IntArray = NDArray[np.int64]

UNSURE = ("unsure", "abstain")
"""Texts that mean "unsure", in any capitals and with any punctuation around them, unless one of
them is a class."""

PUNCTUATION = " .,;:!?\"'`*()[]"
"""What a judge may write around a class."""

BOOLEANS = {"false": "0", "true": "1", "0": "false", "1": "true"}
"""How the other one of 0 and 1, or false and true, is spelled."""


@dataclass(frozen=True)
class Judge:
    """What the scores of one model of a `ssme.ScoreSet` are, where they are no probabilities.

    Attributes
    ----------
    kind : {"answers", "ratings"}
        Whether the model says a class, or a grade on an ordered scale.
    values : tuple
        What it can say: the classes, or the grades from the lowest to the highest.
    cut : optional
        Of ratings for two classes, the lowest grade that counts as the positive class.
    """

    kind: Literal["answers", "ratings"]
    values: tuple[Hashable, ...]
    cut: Hashable | None = None

    def decode(self, scores: FloatArray) -> NDArray[np.object_]:
        """What was said (n,), from the scores (n, K); None where nothing was."""
        table: NDArray[np.object_] = np.empty(len(self.values) + 1, dtype=object)
        table[:-1] = self.values
        out: NDArray[np.object_] = table[self.find_codes(scores)]
        return out

    def find_codes(self, scores: FloatArray) -> IntArray:
        """Place (n,) in ``values`` of what was said, -1 where nothing was."""
        missing = np.isnan(scores[:, 0])
        if self.cut is None:
            codes = np.argmax(scores, axis=1)
        else:
            steps = make_grade_scores(len(self.values), self.values.index(self.cut))
            codes = np.abs(scores[:, 1, None] - steps).argmin(axis=1)
        out: IntArray = np.where(missing, -1, codes).astype(np.int64)
        return out

    def compute_scores(self, codes: IntArray) -> FloatArray:
        """The scores (n, K) that stand for ``codes`` (n,): the inverse of `codes`."""
        if self.cut is None:
            one_hot: FloatArray = (codes[:, None] == np.arange(len(self.values))).astype(np.float64)
            one_hot[codes < 0] = np.nan
            return one_hot
        steps = make_grade_scores(len(self.values), self.values.index(self.cut))
        positive = np.append(steps, np.nan)[codes]
        return np.stack([1.0 - positive, positive], axis=1)


@dataclass(frozen=True, eq=False)
class Said:
    """One judge's column as it was found: distinct values and where they stand.

    ``unsure`` is the number of rows on which it said that it is unsure.
    """

    judge: str
    raw: RawLabels
    unsure: int


def listen(
    values: object, n: int, judge: str, unsure: Sequence[Hashable] | None, known: Sequence[Hashable]
) -> Said:
    """What ``judge`` said on each of ``n`` rows.

    ``unsure`` are codes that mean "unsure" beside `UNSURE`; a value among ``known``, the declared
    classes or grades, never does.
    """
    try:
        raw = observe(_strip_blanks(values), n)
    except InputError as error:
        raise error.at(f"answers of {judge!r}") from None
    texts = {spell_class(name) for name in known}
    declared = {spell_class(code) for code in unsure or ()}
    both = sorted(declared & texts)
    if both:
        raise InputError(
            f"{argument('unsure', repr(both[0]))} is also one of {quote(known)}",
            allowed="a code that is not a class or grade",
            fix="declare another code",
        )
    kept: list[Hashable] = []
    table: list[int] = []
    for value in raw.values:
        text = spell_class(value)
        if text in declared or (text not in texts and is_unsure(value)):
            table.append(-1)
        else:
            table.append(len(kept))
            kept.append(value)
    codes = np.array([*table, -1], dtype=np.int64)[raw.codes]
    return Said(judge, RawLabels(codes, tuple(kept)), int(((codes < 0) & (raw.codes >= 0)).sum()))


def _strip_blanks(values: object) -> Any:
    """Text without blanks around it; other values as they are."""
    array = np.asarray(values, dtype=object) if isinstance(values, list | tuple) else values
    if isinstance(array, np.ndarray) and array.dtype.kind == "U":
        return np.char.strip(array)
    if isinstance(array, np.ndarray) and array.dtype.kind == "O" and array.ndim == 1:
        out: NDArray[np.object_] = np.empty(array.shape, dtype=object)
        out[:] = [each.strip() if isinstance(each, str) else each for each in array]
        return out
    return array


def strip_punctuation(text: str) -> str:
    """``text`` in small letters, without punctuation around it."""
    return text.casefold().strip(PUNCTUATION) or text


def is_unsure(value: Hashable) -> bool:
    """Whether a judge who says this is unsure, by a text that needs no declaration."""
    return isinstance(value, str) and strip_punctuation(value) in UNSURE


def make_answer_scores(said: Said, classes: Sequence[Hashable]) -> FloatArray:
    """Scores (n, K) of a judge's answers: one for the class that it said, NaN where none."""
    judge = Judge("answers", tuple(classes))
    return judge.compute_scores(judge_codes(said, judge))


def judge_codes(said: Said, judge: Judge) -> IntArray:
    """Place (n,) among the values of ``judge`` of what it said, -1 where it said nothing."""
    words = ("class", "classes") if judge.kind == "answers" else ("grade", "grades")
    return _encode(said, judge.values, *words)


def _encode(said: Said, values: Sequence[Hashable], one: str, many: str) -> IntArray:
    place = {spell_class(name): index for index, name in enumerate(values)}
    if set(place) in ({"0", "1"}, {"false", "true"}):
        place |= {BOOLEANS[text]: index for text, index in place.items()}
    unknown = [value for value in said.raw.values if spell_class(value) not in place]
    if unknown:
        value = unknown[0]
        more = f" (and {len(unknown) - 1} other such values)" if len(unknown) > 1 else ""
        raise InputError(
            f"answer {value!r} of {said.judge!r} at row {said.raw.find_first_row(value)} is not "
            f"a {one}{more}",
            allowed=f"the {many} {quote(values)}; empty where there is no answer",
            fix=f"{suggest_nearest(value, values)}correct it, declare "
            f"{argument('unsure', repr(value))} if it means that the judge is unsure, or list "
            f"all {many} with {argument(many, '[...]')}",
        )
    table = np.array([*(place[spell_class(v)] for v in said.raw.values), -1], dtype=np.int64)
    codes: IntArray = table[said.raw.codes]
    return codes


def make_grade_scores(n_grades: int, cut: int) -> FloatArray:
    """P(positive) (G,) that stands for each grade; from the ``cut`` on it is above 1/2."""
    below = 0.5 * (np.arange(cut) + 0.5) / cut
    above = 0.5 + 0.5 * (np.arange(n_grades - cut) + 0.5) / (n_grades - cut)
    return np.concatenate([below, above])


def as_columns(
    answers: object, models: Sequence[str] | None
) -> tuple[dict[str, NDArray[Any]], int]:
    """Columns by judge of an array (n, M) or of a mapping from judge to values; the row count."""
    if isinstance(answers, Mapping):
        given = {str(name): _check_column(values, str(name)) for name, values in answers.items()}
        columns = given if models is None else {}
        for name in models or ():
            if name not in given:
                raise InputError(
                    f"there are no answers of {name!r}",
                    allowed=f"the judges {quote(given)}",
                    fix=f"{suggest_nearest(name, given)}name judges as in the mapping",
                )
            columns[name] = given[name]
    else:
        table = np.asarray(answers, dtype=object)
        if table.ndim != 2 or 0 in table.shape:
            raise InputError(
                f"answers have the shape {table.shape}",
                allowed="(n, M): one row per item and one column per judge",
                fix="one judge is answers[:, None]; a long table with one row per answer is given "
                "as a data frame",
            )
        names = models or [f"judge_{m}" for m in range(1, table.shape[1] + 1)]
        if len(names) != table.shape[1]:
            raise InputError(
                f"{len(names)} names were given for {table.shape[1]} judges",
                allowed="one name per column",
                fix="name every judge",
            )
        columns = {str(name): table[:, m] for m, name in enumerate(names)}
    sizes = {name: len(values) for name, values in columns.items()}
    if len(set(sizes.values())) != 1:
        raise InputError(
            f"answers of different lengths: {quote([f'{k}: {v}' for k, v in sizes.items()])}"
            if sizes
            else "no answers at all",
            allowed="one entry per row for every judge, None where there is no answer",
            fix="align the rows of the judges",
        )
    return columns, next(iter(sizes.values()))


def _check_column(values: object, name: str) -> NDArray[Any]:
    column = np.asarray(values, dtype=object)
    if column.ndim != 1:
        raise InputError(
            f"answers of {name!r} have the shape {column.shape}",
            allowed="one answer per row (n,)",
            fix="give the class, not scores of classes; probabilities go to `scores`",
        )
    return column


def tell_unanswered(got: str) -> InputError:
    """The error for a row that no judge answered; ``got`` names the row."""
    return InputError(
        got,
        allowed="rows on which at least one judge gave an answer",
        fix="drop these rows: they say nothing about any judge",
    )


NO_CLASSES = frozenset(
    (
        *("-1", "-", "--", "?", "N/A", "n/a", "#N/A", "NA", "<NA>", "NaN", "nan", "None", "null"),
        *("idk", "not sure", "undecided", "cannot tell", "can't tell", "cannot determine"),
        *("don't know", "dont know", "do not know", "i don't know", "i do not know"),
    )
)
"""Codes and texts that, unless a label says them, stand for no answer rather than for a class; -1
beside 1 alone is a class."""


def find_classes_of_answers(
    said: Sequence[Said],
    labels: RawLabels,
    classes: Sequence[Hashable] | None,
    positive: Hashable | None,
) -> tuple[Hashable, ...]:
    """The classes, listed or those that occur among labels and answers, in their order.

    ``positive`` puts one of two last.
    """
    if classes is not None:
        names = tuple(classes)
        refuse_two_of_one_spelling(names, "class", "classes")
    else:
        _refuse_no_classes(said, labels)
        names = _list_occurring(said, labels)
    if len(names) < 2:
        raise InputError(
            f"labels and answers name {len(names)} class{'' if len(names) == 1 else 'es'} only"
            + (f": {quote(names)}" if names else ""),
            allowed="two classes or more",
            fix=f"list all classes, the positive one of two last: {argument('classes', '[...]')}",
        )
    if positive is None:
        return names
    found = [name for name in names if spell_class(name) == spell_class(positive)]
    if len(names) != 2 or not found:
        odd = "" if classes is not None else _tell_unlabeled(said, labels)
        raise InputError(
            f"{argument('positive', repr(positive))} does not fit the classes {quote(names)}{odd}",
            allowed=f"{argument('positive')} for two classes, one of them",
            fix=f"{suggest_nearest(positive, names)}name one of two classes, or leave it out"
            + (
                f"; correct an answer that is not a class, or say {argument('unsure', '...')} if "
                "it means that the judge is unsure"
                if odd
                else ""
            ),
        )
    return tuple(sorted(names, key=lambda name: name == found[0]))


def _tell_unlabeled(said: Sequence[Said], labels: RawLabels) -> str:
    """Which class no label has, who says it and where; empty where all have labels."""
    labeled = {spell_class(value) for value in labels.values}
    for each in said:
        for value in each.raw.values:
            if labeled and spell_class(value) not in labeled:
                count = int((each.raw.codes == each.raw.values.index(value)).sum())
                rows = "1 row" if count == 1 else f"{count} rows"
                return (
                    f"; {value!r} is not a label, and {each.judge!r} says it on {rows}, first at "
                    f"row {each.raw.find_first_row(value)}"
                )
    return ""


def _list_occurring(said: Sequence[Said], labels: RawLabels) -> tuple[Hashable, ...]:
    """All values, each once; as the labels write them where both do."""
    by_text: dict[str, Hashable] = {}
    for value in [*labels.values, *sort_names(v for each in said for v in each.raw.values)]:
        by_text.setdefault(spell_class(value), value)
    _refuse_two_spellings(said, labels, list(by_text))
    values = list(by_text.values())
    if values and set(by_text) <= set(BOOLEANS):
        return _spell_as_first(values)
    return order_classes(values, compared=True)


def _refuse_no_classes(said: Sequence[Said], labels: RawLabels) -> None:
    """Refuse answers that are hardly meant as classes, where nobody lists the classes."""
    labeled = {spell_class(value) for value in labels.values}
    spoken = [{spell_class(value) for value in each.raw.values} for each in said]
    known = labeled.union(*(own for own in spoken if own & labeled))
    signs = labeled.union(*spoken) == {"-1", "1"}
    for each in said:
        for value in each.raw.values:
            where = f"answer {value!r} of {each.judge!r} at row {each.raw.find_first_row(value)}"
            if isinstance(value, float):
                raise InputError(
                    f"{where} is a number that is not whole",
                    allowed="classes: text, whole numbers or booleans",
                    fix="give probabilities as scores "
                    f"({argument('models', f'[{each.judge!r}]')} for a column of a table) and "
                    f"grades with {argument('ratings')}; if such numbers are names of classes, "
                    f"list all with {argument('classes', '[...]')}",
                )
            text = spell_class(value)
            coded = text in NO_CLASSES or strip_punctuation(text) in NO_CLASSES
            if coded and text not in labeled and not signs:
                raise InputError(
                    f"{where} looks like a code for no answer, and no label says it",
                    allowed="answers that are classes; empty where there is no answer",
                    fix=f"declare {argument('unsure', repr(value))}, or list all classes with "
                    f"{argument('classes', '[...]')} if it is one",
                )
        _refuse_stranger(each, labels, labeled, known)


def _refuse_stranger(
    said: Said,
    labels: RawLabels,
    labeled: set[str],
    known: set[str],
    *,
    least_labels: int = 10,
    least: int = 10,
) -> None:
    """Refuse a judge whose answers are on another scale than the labels.

    Refused is one with ``least`` answers of which none is ``known``, a class of the labels or one
    that a judge says who also says those, if labels have two classes or more; and one who says
    whole numbers beyond 0 and 1 beside ``least_labels`` labels that are all 0 or 1, which are
    grades.
    """
    own = {spell_class(value) for value in said.raw.values}
    numbers = all(map(is_number, own))
    beyond = own - {"0", "1"}
    binary = labeled <= {"0", "1"} and int((labels.codes >= 0).sum()) >= least_labels
    graded = numbers and len(beyond) > 1 and binary
    apart = not own & known and int((said.raw.codes >= 0).sum()) >= least
    alike = own | labeled <= set(BOOLEANS)
    if not graded and (not apart or len(labeled) < 2 or alike):
        return
    ratings = f"give grades with {argument('ratings', f'[{said.judge!r}]')}; "
    raise InputError(
        f"{said.judge!r} says {quote(sorted(own))}, and the labels are {quote(labels.values)}",
        allowed="answers that name the classes of the labels",
        fix=f"{ratings if numbers else ''}write answers and labels alike, or list all classes with "
        f"{argument('classes', '[...]')}",
    )


def refuse_two_of_one_spelling(names: Sequence[Hashable], one: str, many: str) -> None:
    """Refuse classes or grades that are listed twice: 1 and "1" read the same."""
    seen: dict[str, Hashable] = {}
    for place, name in enumerate(names):
        first = seen.setdefault(spell_class(name), name)
        if first is not name or names.index(name) != place:
            raise InputError(
                f"{argument(many)} lists the {one} {name!r} at place {place}, and {first!r} before",
                allowed=f"each {one} once",
                fix="leave one of them out",
            )


def refuse_unsure_labels(labels: RawLabels, options: AnswerOptions) -> None:
    """Refuse a label that says what a judge says who is unsure, unless it is a declared class."""
    known = {spell_class(name) for name in [*(options.classes or ()), *(options.grades or ())]}
    codes = {spell_class(code) for code in options.unsure or ()}
    for value in labels.values:
        text = spell_class(value)
        if text not in known and (text in codes or is_unsure(value)):
            raise InputError(
                f"the label at row {labels.find_first_row(value)} is {value!r}, by which a judge "
                "says that it is unsure",
                allowed="labels that are classes; empty where the class is not known",
                fix=f"declare {argument('unlabeled', repr(value))} if such rows have no label, or "
                f"list all classes with {argument('classes', '[...]')} if it is one",
            )


def spell_labels(labels: RawLabels, classes: Sequence[Hashable]) -> RawLabels:
    """``labels`` as the classes are written: the label "1.0" is of the class 1."""
    written = {str(name) for name in classes}
    by_text = {spell_class(name): name for name in classes}
    values = [
        value if str(value) in written else by_text.get(spell_class(value), value)
        for value in labels.values
    ]
    if values == list(labels.values):
        return labels
    kept = tuple(dict.fromkeys(values))
    table = np.array([*(kept.index(value) for value in values), -1], dtype=np.int64)
    return RawLabels(table[labels.codes], kept)


def _spell_as_first(values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """0 and 1, or False and True, as the first of ``values`` is written; those of labels are first.

    One of False and True alone stays alone: it may be a class by any other name.
    """
    first = values[0]
    if isinstance(first, bool):
        return (False, True) if len(values) > 1 else (first,)
    if spell_class(first) in ("0", "1"):
        return ("0", "1") if isinstance(first, str) else (0, 1)
    kept = [value for value in values if spell_class(value) in ("false", "true")]
    if len(kept) == 1 and len(values) > 1:
        other = BOOLEANS[BOOLEANS[spell_class(kept[0])].translate(str.maketrans("01", "10"))]
        kept.append(other.upper() if str(first).isupper() else other.capitalize())
    return tuple(sorted(kept, key=spell_class))


def _refuse_two_spellings(said: Sequence[Said], labels: RawLabels, texts: Sequence[str]) -> None:
    """Refuse classes that differ in capitals and punctuation only: a judge's way of writing."""
    seen: dict[str, str] = {}
    for text in texts:
        first = seen.setdefault(strip_punctuation(text), text)
        if first == text:
            continue
        who = (
            f"{each.judge!r} says {text!r} at row {each.raw.find_first_row(value)}"
            for each in said
            for value in each.raw.values
            if spell_class(value) == text
        )
        label = next((value for value in labels.values if spell_class(value) == text), None)
        if label is not None:
            got = f"the label at row {labels.find_first_row(label)} is {text!r}"
        else:
            got = next(who)
        raise InputError(
            f"{got}, and {first!r} is a class too",
            allowed="each class written in one way",
            fix=f"write them alike, or list all classes with {argument('classes', '[...]')} if "
            "they differ",
        )


def find_grades(
    said: Sequence[Said], grades: Sequence[Hashable] | None, longest: int = 101
) -> tuple[Hashable, ...]:
    """The grades from the lowest to the highest.

    Declared; or whole numbers from the least to the largest that occurs, those between that nobody
    gave included up to a scale of ``longest`` grades; or other numbers as they occur; or letters,
    of which A is the highest.
    """
    if grades is not None:
        refuse_two_of_one_spelling(tuple(grades), "grade", "grades")
        return tuple(grades)
    values = list(dict.fromkeys(value for each in said for value in each.raw.values))
    texts = {spell_class(value): value for value in values}
    if not texts:
        raise InputError(
            f"there is no grade among the ratings of {quote([each.judge for each in said])}",
            allowed="at least one grade",
            fix="check the columns of ratings",
        )
    if all(text.lstrip("+-").isdigit() for text in texts):
        _refuse_two_scales(said)
        whole = sorted(int(text) for text in texts)
        if whole[-1] - whole[0] < longest:
            return tuple(range(whole[0], whole[-1] + 1))
        return tuple(whole)
    numbers = {text: value for text, value in texts.items() if isinstance(value, int | float)}
    if len(numbers) == len(texts):
        return tuple(sorted(numbers.values()))
    if all(len(text) == 1 and text.isalpha() and text.isupper() for text in texts):
        return tuple(sorted(values, key=spell_class, reverse=True))
    raise InputError(
        f"nothing says the order of the grades {quote(values)}",
        allowed="numbers, single letters of which A is the highest, or grades listed in order",
        fix=f"list them from the lowest to the highest: {argument('grades', '[...]')}",
    )


def _refuse_two_scales(said: Sequence[Said], *, least: int = 20, times: int = 5) -> None:
    """Refuse raters of whole numbers who cannot mean the same scale, such as 1-5 and 1-100.

    Refused is a rater of ``least`` grades or more, of which three differ, whose highest is at most
    one in ``times`` of that of another rater, if more than half of what the other gave lies above
    it: on a short scale a strict rater may give low grades only.
    """
    grades = {
        each.judge: np.array([int(spell_class(value)) for value in each.raw.values])[
            each.raw.codes[each.raw.codes >= 0]
        ]
        for each in said
    }
    many = {name: given for name, given in grades.items() if given.size >= least}
    varied = {name: given for name, given in many.items() if np.unique(given).size > 2}
    for low, given in varied.items():
        for high, others in many.items():
            top = int(given.max())
            if 0 < times * top <= others.max() and np.median(others) > top:
                raise InputError(
                    f"{low!r} gives grades from {given.min()} to {top} and {high!r} from "
                    f"{others.min()} to {others.max()}",
                    allowed="one scale for all raters",
                    fix="put them on one scale first; if they are on one, list it with "
                    f"{argument('grades', '[...]')}",
                )


def is_grading(
    labels: RawLabels, grades: Sequence[Hashable], classes: Sequence[Hashable] | None
) -> bool:
    """Whether the truth is a grade on the same scale, rather than one of two classes."""
    texts = {spell_class(grade) for grade in grades}
    if classes is not None:
        if len(classes) == 2:
            return False
        if [spell_class(name) for name in classes] == [spell_class(grade) for grade in grades]:
            return True
        raise InputError(
            f"the classes {quote(classes)} do not fit ratings on the scale {quote(grades)}",
            allowed="two classes, or the grades themselves in the same order",
            fix="give the two classes of the truth, or leave classes out where it is a grade",
        )
    found = {spell_class(value) for value in labels.values}
    if len(found) <= 2 and not found <= texts:
        return False
    if len(found) > 2 and found <= texts:
        return True
    if not found or found <= texts:
        if found <= {"0", "1"} and found:
            return False
        raise InputError(
            f"labels {quote(labels.values) if labels.values else 'are missing'} beside ratings "
            f"on the scale {quote(grades)}: the truth may be one of two classes or a grade",
            allowed="one of them",
            fix=f"say {argument('classes', '[...]')}: the two classes, the positive one last, or "
            "all grades in order",
        )
    raise InputError(
        f"the labels {quote(labels.values)} do not fit ratings on the scale {quote(grades)}",
        allowed="labels of two classes, or grades on the same scale",
        fix=f"list all grades in order with {argument('grades', '[...]')}, or correct the labels",
    )


def make_rating_scores(
    said: Said, grades: Sequence[Hashable], cut: Hashable | None, *, graded: bool
) -> tuple[FloatArray, Judge]:
    """Scores of a rater, (n, 2) for two classes or (n, G) where the truth is a grade too.

    Without a ``cut``, grades above the middle of the scale count as the positive class.
    """
    if len(grades) < 2:
        raise InputError(
            f"the only grade of {said.judge!r} is {grades[0]!r}",
            allowed="a scale of two grades or more",
            fix=f"list all grades in order with {argument('grades', '[...]')}",
        )
    place = (len(grades) + 1) // 2 if cut is None else _find_cut(grades, cut)
    judge = Judge("ratings", tuple(grades), None if graded else grades[place])
    return judge.compute_scores(judge_codes(said, judge)), judge


def _find_cut(grades: Sequence[Hashable], cut: Hashable) -> int:
    texts = [spell_class(grade) for grade in grades]
    if spell_class(cut) not in texts[1:]:
        raise InputError(
            f"{argument('cut', repr(cut))} is not allowed",
            allowed=f"a grade above the lowest: {quote(grades[1:])}",
            fix="name the lowest grade that counts as the positive class",
        )
    return texts.index(spell_class(cut))


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
