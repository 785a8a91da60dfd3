"""Columns that look like answers or grades, so that a message can say what to do with them.

Nothing is read by this alone: the caller names columns of answers. A column looks like answers if
it holds few distinct texts or booleans, like grades if it holds few distinct whole or half numbers
outside 0 and 1, or single capital letters that are no label; where some columns say classes of the
labels, those that say none are no answers. A value or two beside the classes of the labels do not
make a column anything else: they are named.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ssme.data.judges import UNSURE
from ssme.data.labels import RawLabels, spell_class
from ssme.data.readers.tables import Table
from ssme.data.values import factorize, make_plain
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = ["LookAlikes", "advise", "find_answers"]


@dataclass(frozen=True)
class LookAlikes:
    """Columns that look like answers or grades.

    ``outside`` says of columns of answers which value is no class of the labels, on how few rows
    and where it stands first: a slip of the pen, or a class that no label has.
    """

    answers: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    outside: Mapping[str, tuple[Hashable, int, int]] = field(default_factory=dict)


def find_answers(
    table: Table,
    names: Sequence[str],
    labels: RawLabels,
    *,
    most: int = 30,
    repeats: int = 3,
    slips: float = 0.02,
) -> LookAlikes:
    """Columns among ``names`` that look like answers, and those that look like grades.

    They have at most ``most`` distinct values, and more than two only if each stands on ``repeats``
    rows on average: names of rows do not. A column of answers may hold values beside the classes
    of the labels on a share of ``slips`` of its rows.
    """
    classes = {spell_class(value) for value in labels.values}
    answers, ratings, alike = [], [], set()
    outside: dict[str, tuple[Hashable, int, int]] = {}
    for name in names:
        try:
            codes, found = factorize(table.read_values(name))
        except InputError:
            continue
        values = [make_plain(value) for value in found]
        texts = {spell_class(value) for value in values} - set(UNSURE)
        few = 1 <= len(texts) <= most
        repeated = len(texts) <= 2 or (codes >= 0).sum() >= repeats * len(texts)
        if not few or not repeated:
            continue
        numbers = _are_grades(values)
        letters = all(len(text) == 1 and text.isupper() for text in texts)
        strange = [
            (value, int((codes == code).sum()), int(np.argmax(codes == code)))
            for code, value in enumerate(values)
            if spell_class(value) not in classes and spell_class(value).lower() not in UNSURE
        ]
        slipped = len(classes) > 1 and sum(n for _, n, _ in strange) <= max(
            1.0, slips * float((codes >= 0).sum())
        )
        if texts <= classes or (strange and slipped and len(texts & classes) > 1):
            answers.append(name)
        elif (numbers and not texts <= {"0", "1"}) or (letters and len(texts) > 1):
            ratings.append(name)
        elif table.find_kind(name) in ("other", "boolean"):
            answers.append(name)
        if strange and slipped and name in answers:
            outside[name] = strange[0]
        if texts & classes:
            alike.add(name)
    if alike & set(answers):  # others that never say a class of the labels are no answers
        answers = [name for name in answers if name in alike]
    return LookAlikes(tuple(answers), tuple(ratings), outside)


def _are_grades(values: Sequence[Hashable]) -> bool:
    """Whether all are whole numbers, or whole and half ones that go beyond 1 (1, 1.5, 2, ...)."""
    if any(isinstance(value, bool) for value in values):
        return False
    if all(isinstance(value, int) for value in values):
        return True
    numbers = [float(value) for value in values if isinstance(value, int | float)]
    halves = all((2.0 * number).is_integer() for number in numbers)
    return len(numbers) == len(values) and halves and max(numbers) > 1.0


def advise(found: LookAlikes) -> str:
    """What to do with such columns, in a sentence; empty without any."""
    parts = []
    if found.answers:
        named = argument("answers", "[" + ", ".join(map(repr, found.answers)) + "]")
        parts.append(f"{quote(found.answers)} {_spell_looks(found.answers)} answers: give {named}")
    for name, (value, count, row) in found.outside.items():
        rows = "1 row" if count == 1 else f"{count} rows"
        parts.append(
            f"{name!r} says {value!r} on {rows}, first at row {row}, which is not a class of the "
            f"labels: correct it, say {argument('unsure', repr(value))} if it means that the judge "
            f"is unsure, or list all classes with {argument('classes', '[...]')}"
        )
    if found.ratings:
        named = argument("ratings", "[" + ", ".join(map(repr, found.ratings)) + "]")
        parts.append(f"{quote(found.ratings)} {_spell_looks(found.ratings)} grades: give {named}")
    return "; ".join(parts)


def _spell_looks(columns: Sequence[str]) -> str:
    return "looks like" if len(columns) == 1 else "look like"
