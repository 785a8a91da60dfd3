"""Ratings: which grades there are and in which order, whether the truth is a grade, and scores."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from ssme.data.answer_classes import refuse_two_of_one_spelling
from ssme.data.answers import Judge, Said, judge_codes
from ssme.data.class_order import spell_class
from ssme.data.labels import RawLabels
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = ["find_grades", "is_grading", "make_rating_scores"]

FloatArray = NDArray[np.float64]


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
