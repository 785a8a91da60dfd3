"""Options as checked data: kinds accept what they describe and refuse the rest by name."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.options import (
    Declared,
    Enumeration,
    Flag,
    Nothing,
    Number,
    OneOf,
    Series,
    Text,
    ValueKind,
    Whole,
    accept_all,
    list_declared,
    option,
    parse_number,
    parse_text,
)

GOOD_AND_BAD: list[tuple[ValueKind, list[object], list[object]]] = [
    (Whole(1, 9), [1, 9, np.int64(3)], [0, 10, 2.0, 2.5, True, "3", None, float("nan")]),
    (Number(0, 1), [0, 1, 0.5, np.float32(0.25)], [-1e-9, 1.1, float("nan"), True, "0.5", None]),
    (Number(0, 1, open_least=True, open_most=True), [0.5], [0, 1, 0.0, 1.0]),
    (Number(), [1e300, -3], [float("inf"), float("-inf"), 1j]),
    (Flag(), [True, False, np.True_], [0, 1, "true", "false", None]),
    (Text(), ["a"], ["", "  ", 3, None, b"a"]),
    (Enumeration("kde", "gmm", 3), ["kde", 3], ["KDE", 3.0, True, None]),
    (OneOf(Nothing(), Whole(least=1)), [None, 4], [0, "", "4"]),
    (Series(Number(), length=3), [[1, 2.5, 3], (1, 2, 3)], [[1, 2], 1, "123", {1: 2}, None]),
]


@pytest.mark.parametrize(("kind", "good", "bad"), GOOD_AND_BAD, ids=lambda v: type(v).__name__)
def test_a_kind_accepts_what_it_describes_and_nothing_else(kind, good, bad):
    assert kind.describe()
    for value in good:
        kind.accept(value)
    for value in bad:
        with pytest.raises((ValueError, TypeError)):
            kind.accept(value)


@dataclass(frozen=True)
class Vote(Declared):
    n_draws: int = option(500, "Label vectors drawn.", Whole(least=1))
    rule: str = option("mean", "How scores become votes.", Enumeration("mean", "top"))


def test_a_wrong_value_is_refused_when_the_object_is_made_and_named():
    with pytest.raises(InputError, match="n_draws must be a whole number of at least 1"):
        Vote(n_draws=2.5)
    assert Vote(n_draws=np.int64(3)).n_draws == 3


def test_an_unknown_option_is_refused_with_what_was_probably_meant():
    with pytest.raises(InputError, match="Did you mean 'n_draws'"):
        accept_all(Vote, {"n_draw": 3}, "method 'vote'")


def test_text_of_a_command_line_is_read_as_the_kind_wants_it():
    n_draws, rule = list_declared(Vote)
    assert parse_text(n_draws, "7") == 7
    assert parse_text(rule, "top") == "top"
    with pytest.raises(InputError, match="n_draws"):
        parse_text(n_draws, "seven")


def test_messages_name_an_argument_in_the_words_of_who_asked():
    with pytest.raises(InputError) as caught:
        Vote(rule="best")
    assert caught.value.spell(lambda name, value: f"--{name}").startswith("--rule must be")
    assert str(caught.value).startswith("rule must be")


@pytest.mark.parametrize("text", ["0.7", " 5 ", "+1e-3", "-.5", "5.", "1E3"])
def test_decimal_numbers_are_read(text: str) -> None:
    assert parse_number(text) == float(text)


@pytest.mark.parametrize(
    "text", ["0_1", "1_000", "nan", "inf", "1e999", "٠.٩", "０.９", "0x1", "1,5", "-"]
)
def test_what_only_python_reads_as_a_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        parse_number(text)
