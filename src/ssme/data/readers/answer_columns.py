"""Columns that look like answers or grades, so that a message can say what to do with them.

Nothing is read by this alone: the caller names columns of answers. A column looks like answers if
it holds few distinct texts or booleans, like grades if it holds few distinct whole numbers outside
0 and 1, or single capital letters that are no label.
"""

from __future__ import annotations

from collections.abc import Sequence

from ssme.data.answers import UNSURE, class_text
from ssme.data.labels import RawLabels
from ssme.data.readers.tables import Table
from ssme.data.values import factorize, make_plain
from ssme.errors import InputError, argument
from ssme.wording import listing

__all__ = ["advise", "find_answers"]


def find_answers(
    table: Table, names: Sequence[str], labels: RawLabels, *, most: int = 30, repeats: int = 3
) -> tuple[list[str], list[str]]:
    """Columns among ``names`` that look like answers, and those that look like grades.

    They have at most ``most`` distinct values, and more than two only if each stands on ``repeats``
    rows on average: names of rows do not.
    """
    classes = {class_text(value) for value in labels.values}
    answers, ratings = [], []
    for name in names:
        try:
            codes, found = factorize(table.values(name))
        except InputError:
            continue
        values = [make_plain(value) for value in found]
        texts = {class_text(value) for value in values} - set(UNSURE)
        few = 1 <= len(texts) <= most
        repeated = len(texts) <= 2 or (codes >= 0).sum() >= repeats * len(texts)
        if not few or not repeated:
            continue
        numbers = all(isinstance(v, int) and not isinstance(v, bool) for v in values)
        letters = all(len(text) == 1 and text.isupper() for text in texts)
        if texts <= classes:
            answers.append(name)
        elif (numbers and not texts <= {"0", "1"}) or (letters and len(texts) > 1):
            ratings.append(name)
        elif table.kind(name) in ("other", "boolean"):
            answers.append(name)
    return answers, ratings


def advise(answers: Sequence[str], ratings: Sequence[str]) -> str:
    """What to do with such columns, in a sentence; empty without any."""
    parts = []
    if answers:
        named = argument("answers", "[" + ", ".join(map(repr, answers)) + "]")
        parts.append(f"{listing(answers)} look like answers: give {named}")
    if ratings:
        named = argument("ratings", "[" + ", ".join(map(repr, ratings)) + "]")
        parts.append(f"{listing(ratings)} look like grades: give {named}")
    return "; ".join(parts)
