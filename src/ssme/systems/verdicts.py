"""Columns of verdicts, of people or of a judge, as numbers from 0 to 1.

Pass and fail are 1 and 0, grades their places on the scale, and numbers are scaled by the bounds of
the outcome. A judge with another scale (0 to 100 where people say pass or fail) is scaled by the
ends of what it said. Which of two answers is preferred is 1 for the first, 0 for the second and 1/2
for a tie.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, NamedTuple

import numpy as np

from ssme.arrays import FloatArray
from ssme.data.judges import UNSURE
from ssme.data.labels import NO_LABEL, PAIRS, spell_class
from ssme.data.readers.tables import Table
from ssme.data.values import factorize, is_missing, reads_as_number
from ssme.errors import InputError
from ssme.schema import SystemOptions
from ssme.wording import quote

MOST_CODES = 0.05
"""Share of numbers other than 0 and 1 up to which they are not another scale but codes."""
MISSING = {*NO_LABEL, *UNSURE, ""}
HARNESS_PAIRS = (("i", "c"), ("failed", "passed"), ("rejected", "accepted"), ("0", "1"))
"""Fail and pass as harnesses write them, in addition to the pairs that labels are known by."""
FAILS = [set(pair) for pair in (*PAIRS, *HARNESS_PAIRS)]
PREFERENCES = {
    **dict.fromkeys(("a", "[[a]]", "first", "model_a", "system_a", "model 1", "model_1"), 1.0),
    **dict.fromkeys(("b", "[[b]]", "second", "model_b", "system_b", "model 2", "model_2"), 0.0),
    **dict.fromkeys(
        ("tie", "[[c]]", "c", "draw", "equal", "both", "tie (bothbad)", "both bad"), 0.5
    ),
}
"""Which of two answers is preferred, 1 being the first; ties are one half."""
EXCLUSIVE = (
    ("positive", "grades"),
    ("positive", "bounds"),
    ("positive", "cut"),
    ("grades", "bounds"),
)
"""Options that say what verdicts are in different ways."""


class Verdicts(NamedTuple):
    """A column, or those of people: passes as 1 and fails as 0, places of grades, or numbers."""

    name: str
    numbers: FloatArray
    kind: Literal["passes", "grades", "numbers"]

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest of them."""
        known = self.numbers[np.isfinite(self.numbers)]
        return (float(known.min()), float(known.max())) if known.size else (np.nan, np.nan)

    def scale(self, low: float, high: float) -> FloatArray:
        """Verdicts (n,) from 0 at ``low`` to 1 at ``high``."""
        return (self.numbers - low) / max(high - low, 1e-12)


def refuse_several_scales(options: SystemOptions) -> None:
    """Refuse options of which one would be ignored."""
    for several in EXCLUSIVE:
        if all(getattr(options, name) is not None for name in several):
            raise InputError(
                f"{quote(several)} were given, and only one of them says what verdicts are",
                hint="give `positive` for pass and fail, `grades` or `bounds` for other verdicts",
            )


def read_verdicts(
    values: np.typing.NDArray[Any], name: str, options: SystemOptions, *, of_people: bool = False
) -> Verdicts:
    """A column of people or of a judge.

    A judge may have another scale than people, who say what the options speak of.
    """
    codes, distinct = factorize(values)
    known = [spell_class(value) for value in distinct]
    known = ["" if text.lower() in MISSING else text for text in known]
    places: dict[str, float]
    kind: Literal["passes", "grades", "numbers"]
    told = {text for text in known if text}
    positive = _find_positive(told, name, options.positive, of_people)
    grades = [spell_class(grade) for grade in options.grades or ()]
    if grades and (of_people or told <= set(grades) or not told <= {"0", "1"}):
        kind = "grades"
        places = {grade: at + 1.0 for at, grade in enumerate(grades)}
        unknown = sorted(told - set(places))
        if unknown:
            raise InputError(
                f"column {name!r} has {unknown[0]!r}, which is not one of the grades",
                hint="correct it, or list all grades with `grades`",
            )
    elif positive is not None:
        kind, places = "passes", {text: float(text == positive) for text in told}
    elif all(map(reads_as_number, told)):
        if "-1" in told and options.bounds is None:
            raise InputError(
                f"column {name!r} has -1, which may be a verdict or mean that it is missing",
                hint="leave the cell empty where a verdict is missing; else give the ends of the "
                "scale with `bounds`",
            )
        kind, places = "numbers", {text: float(text) for text in told}
        if options.bounds is None and set(places.values()) <= {0.0, 1.0}:
            kind = "passes"
    else:
        kind, places = "passes", _find_passes(told, name)
    table = np.array([*(places.get(text, np.nan) for text in known), np.nan])
    numbers: FloatArray = table[codes]
    if kind == "numbers" and options.bounds is None:
        _refuse_codes(numbers, name)
    cut = places.get(spell_class(options.cut)) if kind == "grades" else options.cut
    if of_people and kind == "passes":
        for option, idle in (("bounds", None), ("cut", 1)):
            if getattr(options, option) not in (None, idle):
                raise InputError(
                    f"column {name!r} has passes and fails, and `{option}` is for other verdicts",
                    hint="leave it out, or list the grades with `grades`",
                )
    if options.cut is not None and kind != "passes":
        if not isinstance(cut, int | float):
            raise InputError(
                option="cut", value=options.cut, must=f"be one of the {kind} in column {name!r}"
            )
        kind, numbers = "passes", np.where(np.isfinite(numbers), numbers >= cut, np.nan)
    return Verdicts(name, numbers, kind)


def _find_positive(
    told: set[str], name: str, positive: Hashable | None, of_people: bool
) -> str | None:
    """The verdict of a column that means pass, if ``positive`` is about this column."""
    if positive is None:
        return None
    wanted = spell_class(positive)
    near = [text for text in told if text.lower() == wanted.lower()]
    if len(told) > 2 and (wanted in told or of_people):
        problem = f"column {name!r} has {quote(sorted(told))}, and `positive` is one of two"
        hint = "leave cells empty that are neither pass nor fail, or list grades with `grades`"
        raise InputError(problem, hint=hint)
    pair = {text.lower() for text in (*told, wanted)}
    alone = len(told) < 2 and not near and (not of_people or not told or pair in FAILS)
    if wanted in told or alone:
        return wanted
    if near or of_people:
        raise InputError(
            f"column {name!r} has {quote(sorted(told))}, and not {wanted!r}, which means pass",
            option="positive",
            hint="write it as the column does",
        )
    return None


def _refuse_codes(numbers: FloatArray, name: str) -> None:
    """Refuse few numbers among 0 and 1, which are codes of a missing verdict."""
    known = np.isfinite(numbers)
    odd = known & ((numbers < 0.0) | (numbers > 1.0))
    if 0 < odd.sum() <= MOST_CODES * known.sum() and np.isin(numbers[known & ~odd], (0, 1)).all():
        at = int(odd.argmax())
        raise InputError(
            f"column {name!r} has {numbers[at]:g} in row {at}, and 0 or 1 in nearly all others",
            hint="leave a cell empty where there is no verdict, or give the ends of the scale with "
            "`bounds`",
        )


def _find_passes(told: set[str], name: str) -> dict[str, float]:
    """Fail and pass among the texts of a column."""
    for fail, right in (*PAIRS, *HARNESS_PAIRS):
        if {text.lower() for text in told} <= {fail, right}:
            return {text: float(text.lower() == right) for text in told}
    raise InputError(
        f"column {name!r} has {quote(sorted(told))}, and which of them means pass is not known",
        hint="name it with `positive`, or list grades from the lowest with `grades`",
    )


def find_unit(labels: Verdicts, options: SystemOptions) -> tuple[float, float]:
    """The ends of the scale of the labels."""
    if labels.kind == "grades" and options.grades is not None:
        return 1.0, float(len(options.grades))
    low, high = labels.ends
    if labels.kind == "passes" or (options.bounds is None and low >= 0.0 and high <= 1.0):
        return 0.0, 1.0
    if options.bounds is not None:
        first, last = (float(end) for end in options.bounds)
        if not first < last:
            told = list(options.bounds)
            raise InputError(option="bounds", value=told, must="be a lower and a higher end")
        if low < first or high > last:
            outside = low if low < first else high
            raise InputError(
                f"column {labels.name!r} has {outside:g}, outside of {first:g} to {last:g}",
                hint="correct it, or give other `bounds`",
            )
        return first, last
    if low == high:
        raise InputError(
            f"column {labels.name!r} has one value only, {low:g}",
            hint="give the ends of its scale with `bounds`",
        )
    return low, high


def scale_judge(given: Verdicts, labels: Verdicts, unit: tuple[float, float]) -> FloatArray:
    """Verdicts of a judge from 0 to 1, on the scale of the labels where they fit it."""
    low, high = given.ends
    if low != low:
        raise InputError(f"the judge {given.name!r} gives no verdict", hint="leave it out")
    if given.kind == "passes":
        return given.numbers
    fits = given.kind == labels.kind and low >= unit[0] and high <= unit[1]
    if set(given.numbers[np.isfinite(given.numbers)]) <= {0.0, 1.0} and unit[1] > 1.0:
        fits = False  # pass and fail, where people give grades
    if fits or (low >= 0.0 and high <= 1.0):
        return given.scale(*(unit if fits else (0.0, 1.0)))
    return given.scale(low, high)


def read_preferences(table: Table, name: str, pair: tuple[str, str]) -> FloatArray:
    """Which of two answers a column prefers: 1 the first, 0 the second, 1/2 neither."""
    first, second = (table.read_values(column) for column in pair)
    found = np.full(table.n_rows, np.nan)
    values = table.read_values(name)
    for at in np.flatnonzero(~is_missing(values)).tolist():
        text = spell_class(values[at])
        if text.lower() in MISSING:
            continue
        names = (spell_class(first[at]), spell_class(second[at]))
        known = PREFERENCES.get(text.lower())
        if known is not None:  # such a word in any capitals
            text, names = text.lower(), (names[0].lower(), names[1].lower())
        if text in names:
            found[at] = float(text == names[0])
            if known not in (None, found[at]):
                raise InputError(
                    f"column {name!r} has {text!r} in row {at}, which may be the system of that "
                    f"name or the {'first' if text == names[1] else 'second'} of the two answers",
                    hint="write names of systems that are not such words",
                )
        elif known is not None:
            found[at] = known
        else:
            raise InputError(
                f"column {name!r} has {text!r} in row {at}, which does not say which of two "
                "answers is preferred",
                hint=f"write a for that of {pair[0]!r}, b for that of {pair[1]!r}, or tie",
            )
    return found
