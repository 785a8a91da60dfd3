"""A sample of the fuzzers of config files and of the command line."""

from __future__ import annotations

from benchmarks.fuzz import command_line, config


def test_config_files_are_read_or_refused_and_nothing_is_lost() -> None:
    for row in config.run(90, seed=11):
        assert (row["lost"], row["uncaught"]) == (0, 0)
        assert row["read"] > 0
        assert row["refused"] > 0


def test_every_option_of_a_command_takes_or_refuses_garbage() -> None:
    for row in command_line.run(64, seed=11):
        assert row["uncaught"] == 0, row
