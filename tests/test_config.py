"""Config files give back what was written into them, and none can hang or crash the program."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ssme.config import LARGEST, format_config, parse_config, read_config, write_config
from ssme.errors import InputError
from ssme.spec import RunSpec

SUFFIXES = (".toml", ".yaml", ".json")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=100, deadline=None)
@given(section=st.dictionaries(TEXT, PLAIN, max_size=4))
def test_what_is_written_is_read_back(suffix: str, section: dict[str, Any]) -> None:
    config = {"source": "a.csv", "run": section}
    assume(not _holds_toml_null(config))
    again = parse_config(format_config(config, suffix), suffix, "it")
    assert repr(again) == repr(config)


def _holds_toml_null(value: Any) -> bool:
    """Whether a table looks like the null of TOML, the one thing that cannot be told apart."""
    if isinstance(value, dict):
        return value == {"null": True} or any(map(_holds_toml_null, value.values()))
    return isinstance(value, list) and any(map(_holds_toml_null, value))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_holds_null_and_numbers_that_are_not_finite(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"run{suffix}"
    write_config({"run": {"a": None, "b": [None, 1], "c": math.inf}}, path)
    assert read_config(path) == {"run": {"a": None, "b": [None, 1], "c": math.inf}}


@pytest.mark.parametrize("value", [len, {1, 2}, b"x", object(), {3: 4}])
def test_what_no_file_can_hold_is_named(value: object) -> None:
    with pytest.raises(InputError, match=r"run, weight.* which cannot be written to a file"):
        format_config({"run": {"weight": value}}, ".toml")


def test_text_that_toml_cannot_hold_is_refused_and_json_holds_it() -> None:
    config = {"source": "\udc80.csv"}
    with pytest.raises(InputError, match=r"\.toml"):
        format_config(config, ".toml")
    assert parse_config(format_config(config, ".json"), ".json", "it") == config


LETTERS = "abcdefghi"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n" for one, two in pairwise(LETTERS)
)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bomb.yaml", BOMB, "refers to another place"),
        ("self.yaml", "&a [*a]", "refers to another place"),
        ("deep.yaml", "[" * 5000, "nested too deeply"),
        ("deep.json", "[" * 100_000, "nested too deeply"),
        ("deep.toml", "a = " + "[" * 5000, "nested too deeply"),
        ("deep.json", '{"run": ' + '{"a": ' * 40 + "1" + "}" * 41, "nested too deeply"),
        ("large.toml", "#" * (LARGEST + 1), "more than"),
        ("code.yaml", "!!python/object/apply:os.system ['true']", "parsing"),
        ("twice.json", '{"run": {}, "run": {}}', "'run' occurs twice"),
        ("twice.yaml", "run: {level: 0.9, level: 0.8}", "'level' occurs twice"),
        ("twice.toml", "[run]\n[run]\n", "parsing"),
        ("key.yaml", "run: {1: 2}", "the key 1 is not text"),
        ("set.yaml", "run: !!set {a, b}", "is not a section"),
        ("list.json", "[1]", "is not a table of settings"),
        ("number.yaml", "3", "is not a table of settings"),
        ("empty.yaml", "", "is not a table of settings"),
        ("bytes.toml", b"\xff\xfe", "not UTF-8"),
        ("digits.json", '{"run": {"random_state": ' + "9" * 5000 + "}}", "parsing"),
        ("run.ini", "", "end in .toml"),
    ],
)
def test_hostile_files_are_refused_in_words(
    tmp_path: Path, name: str, text: str | bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message) as caught:
        RunSpec.load(path)
    assert name in str(caught.value)


def test_what_is_no_regular_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    for name in ("pipe.toml", "folder.toml"):
        with pytest.raises(InputError, match="is not a regular file"):
            read_config(tmp_path / name)
    with pytest.raises(InputError, match="there is no config file"):
        read_config(tmp_path / "none.toml")
