"""What may be said about a file or frame of scores, declared once.

`ssme.ScoreSet.read` and `from_frame`, the command line and config files all check against these
declarations.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ssme.data.options import AnswerOptions, ClassName, ModelNames
from ssme.errors import InputError, argument
from ssme.options import Enumeration, Nothing, OneOf, Text, accept_all, option

__all__ = ["ReadOptions"]

MARKS = ".,_' \u00a0\u202f\u2019"
"""Characters that people write in numbers: before decimals or between thousands."""


class ColumnMap:
    """Model -> column, model -> list of columns or model -> {class: column}."""

    def accept(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping) or not value:
            raise ValueError
        return {str(model): self._accept_columns(of) for model, of in value.items()}

    def _accept_columns(self, of: Any) -> str | tuple[str, ...] | dict[Any, str]:
        if isinstance(of, Mapping) and of:
            return {ClassName().accept(name): Text().accept(column) for name, column in of.items()}
        return of if isinstance(of, str) and of.strip() else ModelNames().accept(of)

    def describe(self) -> str:
        return "a table from model to its column, columns or {class: column}"


class Pattern:
    """Text with {model} and {class} in it."""

    def accept(self, value: Any) -> str:
        text = Text().accept(value)
        if text.count("{model}") != 1 or text.count("{class}") != 1:
            raise ValueError
        return text

    def describe(self) -> str:
        return "text with {model} and {class} in it, such as '{model}:{class}'"


class Character:
    """A single ASCII character that is no line break or quotation mark."""

    def accept(self, value: Any) -> str:
        if (
            not isinstance(value, str)
            or len(value) != 1
            or not value.isascii()
            or value in '\r\n"\0'
        ):
            raise ValueError
        return value

    def describe(self) -> str:
        return "a single character, such as ',' or ';' or a tab"


class Mark:
    """A single character that may stand in a number without being part of it."""

    def accept(self, value: Any) -> str:
        if not isinstance(value, str) or value not in MARKS or len(value) != 1:
            raise ValueError
        return value

    def describe(self) -> str:
        return "one of '.' ',' a space, a narrow space, '_' or an apostrophe"


class Encoding:
    """The name of a text encoding that Python knows, spelled as Python does."""

    def accept(self, value: Any) -> str:
        try:
            name = codecs.lookup(Text().accept(value)).name
            io.TextIOWrapper(io.BytesIO(), encoding=name)
        except LookupError:
            raise ValueError from None
        return name

    def describe(self) -> str:
        return "the name of a text encoding, such as cp1252 or utf-16"


class FileName:
    """The path of a file, as text or as a `pathlib.Path`."""

    def accept(self, value: Any) -> Path:
        if not isinstance(value, str | os.PathLike):
            raise ValueError
        return Path(Text().accept(os.fspath(value)))

    def describe(self) -> str:
        return "the path of a file"


class NoLabels:
    """False: no row has a label."""

    def accept(self, value: Any) -> bool:
        if value is not False:
            raise ValueError
        return False

    def describe(self) -> str:
        return "false (no row has a label)"


def _declare_column(meaning: str, usual: str) -> Any:
    return option(None, meaning, OneOf(Nothing(usual), Text()))


@dataclass(frozen=True)
class ReadOptions(AnswerOptions):
    """What may be said about a file or frame of scores.

    Every value is checked when the object is made. What is not given is recognized by its usual
    name (`ssme.data.readers.columns.USUAL_NAMES`) or found out, where only one reading is possible.

    Examples
    --------
    >>> options = ReadOptions(label="toxic", models=["bert", "gpt"], unlabeled="-1")
    >>> options.unlabeled
    ('-1',)
    >>> ReadOptions(logits="false")
    Traceback (most recent call last):
        ...
    ssme.errors.InputError: logits must be true or false, got 'false'.
    """

    label: str | None = _declare_column(
        "Column with the labels; in the file of labels, if there is one.",
        "a column named label, labels, y, y_true, target or truth",
    )
    labels: Path | bool | None = option(
        None,
        "File with the labels, joined by id; or false, if no row has a label.",
        OneOf(Nothing("the labels are in the table"), NoLabels(), FileName()),
    )
    models: Any = option(
        None,
        "Columns with the scores, or names of models that have one column per class.",
        OneOf(Nothing("all other columns of numbers"), ColumnMap(), ModelNames()),
    )
    answers: tuple[str, ...] | None = option(
        None,
        "Columns with answers of judges, who say a class instead of a probability, one per judge; "
        "in the long layout the one column of answers.",
        OneOf(Nothing("no model gives answers"), ModelNames()),
    )
    ratings: tuple[str, ...] | None = option(
        None,
        "Columns with grades that judges give, one per judge; in the long layout the one column "
        "of grades.",
        OneOf(Nothing("no model gives ratings"), ModelNames()),
    )
    groups: tuple[str, ...] | None = option(
        None,
        "Columns with groups to report on: sex, age:quantiles=4, age:edges=30/50, or several "
        "joined by + for their intersections.",
        OneOf(Nothing("columns named group or group_*"), ModelNames()),
    )
    id: str | None = _declare_column(
        "Column that names the rows.", "a column named id, ids, row_id or example_id"
    )
    weight: str | None = _declare_column(
        "Column with the weights of the rows.", "a column named weight, weights or sample_weight"
    )
    layout: str | None = option(
        None,
        "Whether there is one row per example (wide) or one row per score (long).",
        OneOf(Nothing("the one that fits"), Enumeration("wide", "long")),
    )
    pattern: str | None = option(
        None,
        "How the names of score columns hold model and class, such as '{model}:{class}'.",
        OneOf(Nothing("the one that fits"), Pattern()),
    )
    delimiter: str | None = option(
        None,
        "Character between the cells of a CSV file.",
        OneOf(Nothing("a comma; a tab in TSV files"), Character()),
    )
    decimal: str | None = option(
        None,
        "Character before the decimals of a number in a CSV file, such as a comma.",
        OneOf(Nothing("a point; numbers with a comma are refused"), Mark()),
    )
    thousands: str | None = option(
        None,
        "Character between the thousands of a number in a CSV file, such as a point.",
        OneOf(Nothing("none"), Mark()),
    )
    encoding: str | None = option(
        None,
        "Text encoding of a CSV file, such as cp1252 for one that Excel wrote on Windows.",
        OneOf(Nothing("UTF-8"), Encoding()),
    )
    sheet: str | None = option(
        None,
        "Sheet of an Excel file.",
        OneOf(Nothing("the only one that holds something"), Text()),
    )
    ignore: tuple[str, ...] | None = option(
        None,
        "Columns to leave out, which are neither scores nor anything else here.",
        OneOf(Nothing("none"), ModelNames()),
    )
    model: str | None = _declare_column(
        "Column with the names of models or judges, in the long layout.",
        "a column named model, model_name or classifier; for judges also judge, annotator, rater, "
        "worker or labeler",
    )
    class_: str | None = _declare_column(
        "Column with the classes, in the long layout.", "a column named class or class_name"
    )
    score: str | None = _declare_column(
        "Column with the scores, in the long layout.",
        "a column named score, probability or prob",
    )

    @classmethod
    def of(cls, given: Mapping[str, Any], owner: str) -> ReadOptions:
        """The options ``given`` by name; an unknown name is an error that says ``owner``."""
        found = cls(**accept_all(cls, given, owner))
        found.refuse_words_of_judges()
        return found

    def refuse_words_of_judges(self) -> None:
        """Refuse what is said about answers or ratings where no column of them is named."""
        needs = {"grades": ("ratings",), "cut": ("ratings",), "unsure": ("answers", "ratings")}
        for name, columns in needs.items():
            if getattr(self, name) is None:
                continue
            if all(getattr(self, each) is None for each in columns):
                named = " or ".join(argument(each) for each in columns)
                raise InputError(
                    f"{argument(name)} was given, and no column of {' or '.join(columns)} is named",
                    allowed=f"{argument(name)} with {named}",
                    fix=f"name the columns with {named}, or leave {argument(name)} out",
                )

    @property
    def judged(self) -> bool:
        """Whether columns of answers or ratings are named."""
        return self.answers is not None or self.ratings is not None

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            each.name: values[each.name]
            for each in fields(self)
            if values[each.name] != each.default
        }
