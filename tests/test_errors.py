"""Messages: bounded, printable, spelled for their reader; foreign exceptions become ours."""

from __future__ import annotations

import pickle
import zlib

import pytest

from ssme.errors import (
    InputError,
    MissingExtraError,
    UnsupportedError,
    argument,
    translate_foreign_errors,
)


def test_a_message_has_three_parts_and_spells_its_arguments():
    error = InputError(f"{argument('level', 2)}", allowed="0 to 1", fix=f"drop {argument('level')}")
    assert str(error) == "level=2. Allowed: 0 to 1. Fix: drop level."
    assert error.spell(lambda n, v: f"--{n}{'' if v is None else ' ' + v}") == (
        "--level 2. Allowed: 0 to 1. Fix: drop --level."
    )


def test_a_huge_value_does_not_make_a_huge_message():
    assert len(str(InputError("x" * 10_000_000, allowed="y" * 10_000_000))) < 5_000


def test_terminal_escapes_are_shown_and_not_obeyed():
    assert "\x1b" not in str(InputError("model '\x1b[31mred\x07'"))
    assert r"\x1b[31mred" in str(InputError("model '\x1b[31mred'"))


@pytest.mark.parametrize("error", [UnsupportedError("a", allowed="b", fix="c"), InputError("a")])
def test_errors_survive_the_way_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.fix) == (type(error), str(error), error.fix)


def test_a_missing_extra_survives_the_way_between_processes():
    error = MissingExtraError("a YAML config", "yaml")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("foreign", [zlib.error("bad"), NotImplementedError(), KeyError("x")])
def test_what_a_library_raises_becomes_an_input_error(foreign):
    with (
        pytest.raises(InputError, match=r"reading a\.npz failed"),
        translate_foreign_errors("reading a.npz"),
    ):
        raise foreign


@pytest.mark.parametrize("own", [InputError("a"), FileNotFoundError(2, "none", "a"), MemoryError()])
def test_our_own_errors_pass_through(own):
    with pytest.raises(type(own)) as caught, translate_foreign_errors("reading"):
        raise own
    assert caught.value is own
