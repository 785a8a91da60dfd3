"""What may be said about scores and labels held in arrays, as declared options."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ssme.data.values import make_plain
from ssme.options import Declared, Flag, Nothing, OneOf, Series, Text, option

__all__ = ["AnswerOptions", "ArrayOptions", "ClassName", "Codes", "Design", "ModelNames"]


class ClassName:
    """A class as labels name it: text, a finite number, True or False. 1.0 is the class 1."""

    def accept(self, value: Any) -> Hashable:
        value = value.item() if isinstance(value, np.generic) else value
        if isinstance(value, str):
            known = bool(value.strip())
        elif isinstance(value, bool | Integral):
            known = True
        else:
            known = isinstance(value, Real) and math.isfinite(value)
        if not known:
            raise ValueError
        return make_plain(value)

    def describe(self) -> str:
        return "a class (text, a number, true or false)"


class ModelNames:
    """One or more names, kept as a tuple of texts; numbers are the names of numbered columns."""

    def accept(self, value: Any) -> tuple[str, ...]:
        return Series(_Name(), least=1).accept([value] if isinstance(value, str) else value)

    def describe(self) -> str:
        return "a name, or a list of names"


class _Name:
    def accept(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, str | Integral):
            raise ValueError
        return str(value)

    def describe(self) -> str:
        return "a name"


class Codes:
    """One code or a list of codes, kept as a tuple; a text is one code, not its characters."""

    def accept(self, value: Any) -> tuple[Hashable, ...]:
        one = ClassName()
        try:
            return (one.accept(value),)
        except ValueError:
            return Series(one, least=1).accept(value)

    def describe(self) -> str:
        return "a code such as -1, or a list of codes"


class Design:
    """How rows were chosen for labeling: its name, the name of a column, or weights."""

    def accept(self, value: Any) -> Any:
        if isinstance(value, str):
            return Text().accept(value)
        if np.ndim(value) == 0:
            raise ValueError
        return value

    def describe(self) -> str:
        return "random, by_class, by_score, the name of a column, or one weight per row"


@dataclass(frozen=True)
class ArrayOptions(Declared):
    """What may be said about scores held in arrays; see `ssme.ScoreSet.from_arrays`."""

    models: Any = option(
        None, "Names of the models.", OneOf(Nothing("they are numbered"), ModelNames())
    )
    classes: Sequence[Hashable] | None = option(
        None,
        "The classes in the order of the scores; of two classes the positive one comes last.",
        OneOf(Nothing("ascending, for numbers"), Series(ClassName(), least=2)),
    )
    positive: Hashable | None = option(
        None,
        "The class whose probability the scores are, where each model has one score per row; for "
        "answers and ratings, the positive one of two classes.",
        OneOf(Nothing("the last of the two classes"), ClassName()),
    )
    unlabeled: Any = option(
        None,
        "Code, or codes, that mean a row has no label. Empty cells always mean that.",
        OneOf(Nothing("no code"), Codes()),
    )
    design: Any = option(
        None,
        "How rows were chosen for labeling: random, by_class, by_score, or the column that says "
        "how many rows each label stands for.",
        OneOf(Nothing("a column named label_weight; without one it is not known"), Design()),
    )
    logits: bool = option(False, "Whether the scores are logits rather than probabilities.", Flag())
    normalize: bool = option(
        False, "Whether to rescale class scores so that they sum to one.", Flag()
    )

    @property
    def lists_classes(self) -> bool:
        """Whether the order of the classes was said, or which one is positive."""
        return self.classes is not None or self.positive is not None


@dataclass(frozen=True)
class AnswerOptions(ArrayOptions):
    """What may be said about answers and ratings beside that; see `ScoreSet.from_answers`."""

    unsure: Any = option(
        None,
        "Code, or codes, by which a judge says that it is unsure; it then has no answer.",
        OneOf(Nothing("unsure and abstain, in any capitals and with any punctuation"), Codes()),
    )
    grades: Sequence[Hashable] | None = option(
        None,
        "The grades of ratings, from the lowest to the highest.",
        OneOf(
            Nothing("ascending numbers, or letters of which A is the highest"),
            Series(ClassName(), least=2),
        ),
    )
    cut: Hashable | None = option(
        None,
        "Of ratings for two classes, the lowest grade that counts as the positive class.",
        OneOf(Nothing("the first grade above the middle of the scale"), ClassName()),
    )
