"""Names made safe to show."""

from __future__ import annotations

import pytest

from ssme.errors import UndefinedMetricWarning
from ssme.wording import make_distinct, make_printable, shorten, shorten_middle
from tests.made_sets import UNPRINTABLE


@pytest.mark.parametrize("name", UNPRINTABLE)
def test_shortened_names_are_one_printable_line(name: str) -> None:
    for width in (1, 5, 24):
        text = shorten(name, width)
        assert "\n" not in text
        assert len(text) <= 4 * width + 1 or text == "(blank)"
        text.encode("utf-8")
        assert make_printable(text) == text


def test_wide_characters_count_twice_and_marks_not_at_all() -> None:
    assert shorten("abcdefgh", 8) == "abcdefgh"
    assert shorten("abcdefghi", 8) == "abcdefg…"
    assert shorten("漢字漢字漢字", 8) == "漢字漢…"
    assert shorten("e\u0301" * 8, 8) == "e\u0301" * 8
    assert len(shorten("x" * 1_000_000, 8)) == 8


@pytest.mark.parametrize("name", ["", " ", "\u200b\u2060", "\u00a0\u3000", "\n"])
def test_names_that_would_not_be_seen_are_shown(name: str) -> None:
    assert shorten(name, 20) == "(blank)"


def test_labels_that_would_read_the_same_are_numbered() -> None:
    assert make_distinct(["abcdefgh", "abcxefgh", "abcdefgh", "abc"], 4) == {
        "abcdefgh": "abc…",
        "abcxefgh": "abc… (2)",
        "abc": "abc",
    }


def test_warnings_cannot_send_terminal_codes() -> None:
    assert str(UndefinedMetricWarning("\x1b[31mred")) == "\\x1b[31mred"


def test_names_that_differ_at_their_end_are_cut_in_the_middle() -> None:
    names = [f"resnet_finetuned_on_everything_{k}" for k in range(3)]
    assert list(make_distinct(names, 16).values()) == [f"resnet_fi…hing_{k}" for k in range(3)]
    assert list(make_distinct(["a" * 40 + str(k) + "a" * 40 for k in range(2)], 10).values()) == [
        "aaaaaaaaa…",
        "aaaaaaaaa… (2)",
    ]
    assert shorten_middle("short", 10) == "short"
    assert shorten_middle("漢字" * 20 + "1", 12) == "漢字漢…漢字1"
