"""A sample of the fuzzers of config files and of the command line."""

from __future__ import annotations

import pytest
from benchmarks.fuzz import command_line, config


def test_config_files_are_read_or_refused_and_nothing_is_lost() -> None:
    for row in config.run(90, seed=11):
        assert (row["lost"], row["uncaught"]) == (0, 0)
        assert row["read"] > 0
        assert row["refused"] > 0


@pytest.mark.parametrize("name", [name for name, _ in command_line.list_commands()])
def test_every_option_of_every_command_takes_garbage_or_is_named(name: str) -> None:
    row = command_line.try_command(name, cases=1, seed=11)
    assert (row["uncaught"], row["unnamed"]) == (0, 0), row


def test_no_option_of_a_command_is_left_out() -> None:
    """What is not tried is typer's own, for reasons that are written down."""
    commands = dict(command_line.list_commands())
    assert {"evaluate", "bench", "demo"} <= set(commands)
    for command in commands.values():
        left_out = [p for p in command.params if p not in command_line.list_options(command)]
        flags = {flag for each in left_out for flag in each.opts}
        assert flags <= {*command_line.LEFT_OUT, "--help", "-h"}
