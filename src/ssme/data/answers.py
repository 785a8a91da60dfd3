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
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ssme.data.class_order import spell_class
from ssme.data.labels import RawLabels, observe
from ssme.data.values import FloatArray
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

__all__ = [
    "UNSURE",
    "Judge",
    "Said",
    "is_unsure",
    "judge_codes",
    "listen",
    "make_answer_scores",
    "strip_punctuation",
    "tell_unanswered",
]

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
        raise InputError(
            f"answers of {judge!r}: {error.got}", allowed=error.allowed, fix=error.fix
        ) from None
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
