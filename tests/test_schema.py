"""An option is declared once, and is then a flag, a config key, a field of the page and documented.

A new field in `ssme.schema` needs nothing else: these tests go over every option there is.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.options import Option, list_declared
from ssme.schema import ReadOptions, RunOptions, ServeOptions
from ssme.serve.forms import MANY, ONE, list_fields
from ssme.spec import SECTIONS, RunSpec

READING = list_declared(ReadOptions)
RUN = [each for each in list_declared(RunOptions) if each.name != "source"]
FLAGS = [
    *(("evaluate", each) for each in (*READING, *RUN)),
    *(("serve", each) for each in list_declared(ServeOptions)),
]
ON_THE_PAGE_OTHERWISE = {"labels_file", "ignore"}
"""The page keeps labels itself, and columns that are not used are a part of its own."""


@pytest.mark.parametrize(("command", "option"), FLAGS, ids=lambda each: getattr(each, "name", each))
def test_every_option_is_a_flag_with_its_meaning(command: str, option: Option) -> None:
    commands: Any = get_command(app)
    flags = {flag: each for each in commands.commands[command].params for flag in each.opts}
    found = flags[f"--{option.key.replace('_', '-')}"]
    assert option.meaning.rstrip(".") in found.help
    assert option.short in ("", *found.opts)
    assert option.off is None or f"--{option.off[0].replace('_', '-')}" in flags


@pytest.mark.parametrize("option", [*READING, *RUN], ids=lambda each: each.name)
def test_every_option_is_a_key_of_config_files(option: Option) -> None:
    section = next(name for name, part in SECTIONS.items() if part.get(option.name) == option)
    with pytest.raises(ssme.InputError, match=f"{option.key} in section"):
        RunSpec.from_dict({section: {option.key: object()}})
    declared = RunSpec.json_schema()["properties"][section]["properties"][option.key]
    assert declared["description"] == option.meaning
    assert {"type", "anyOf", "enum"} & set(declared)


@pytest.mark.parametrize("option", READING, ids=lambda each: each.name)
def test_every_option_of_reading_is_on_the_page(option: Option) -> None:
    fields = {each["name"]: each for each in list_fields("scores.csv") + list_fields("s.xlsx")}
    if option.name in fields:
        assert fields[option.name]["meaning"] == option.meaning
    else:
        assert option.name in {*ONE, *MANY, *ON_THE_PAGE_OTHERWISE}


@pytest.mark.parametrize("cls", [ReadOptions, RunOptions, ServeOptions])
def test_every_option_is_documented(cls: type) -> None:
    doc = inspect.getdoc(cls) or ""
    for option in list_declared(cls):
        assert f"{option.name} : {option.kind.describe()}" in doc
        assert option.meaning in doc


def test_help_starts_without_the_library() -> None:
    result = CliRunner().invoke(app, ["evaluate", "--help-all"])
    assert result.exit_code == 0
    assert "--sample-rows" in result.stdout
