"""Messages: bounded, printable, spelled for their reader; foreign exceptions become ours."""

from __future__ import annotations

import pickle
import zlib

import pytest

from ssme.errors import (
    InputError,
    MissingExtraError,
    UnsupportedError,
    translate_foreign_errors,
)


def test_a_message_has_three_parts_and_spells_its_arguments():
    error = InputError("`level=2` is too large", hint="drop `level`, as `README` says")
    assert str(error) == "level=2 is too large. Drop level, as README says."

    def spell(name, value):
        return f"--{name}{'' if value is None else ' ' + value}" if name == "level" else None

    assert error.spell(spell) == "--level 2 is too large. Drop --level, as `README` says."
    error = InputError(option="level", value=2, must="be between 0 and 1")
    assert str(error) == "level must be between 0 and 1, got 2."
    assert error.spell(spell) == "--level must be between 0 and 1, got 2."


def test_a_huge_value_does_not_make_a_huge_message():
    assert len(str(InputError("x" * 10_000_000, hint="y" * 10_000_000))) < 5_000


def test_terminal_escapes_are_shown_and_not_obeyed():
    assert "\x1b" not in str(InputError("model '\x1b[31mred\x07'"))
    assert r"\x1b[31mred" in str(InputError("model '\x1b[31mred'"))


@pytest.mark.parametrize(
    "error",
    [
        UnsupportedError("a", hint="c").at("b"),
        InputError(option="a", value=open, must="be 1"),
    ],
)
def test_errors_survive_the_way_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.hint) == (type(error), str(error), error.hint)


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
