"""`ssme methods`: the options are those that the methods declare."""

from __future__ import annotations

import json
from collections.abc import Callable

from typer.testing import Result

Run = Callable[..., Result]


def test_advice_names_an_option_that_the_command_line_can_give(run: Run) -> None:
    shown = run("methods", "active_testing").stdout
    assert "--options oracle" not in shown
    assert "--options budget=VALUE" in shown
    assert "from Python only" in shown


def test_options_come_with_range_and_meaning(run: Run) -> None:
    facts = json.loads(run("methods", "ensemble", "--json", "-").stdout)
    assert facts["options"]["n_draws"] == {
        "default": 500,
        "allowed": "a whole number between 1 and 100,000",
        "meaning": "Number of label vectors drawn for each estimate.",
        "python_only": False,
    }
    assert "It has no options." in run("methods", "agreement").stdout


def test_a_method_says_what_it_does_assumes_and_where_it_fails(run: Run) -> None:
    shown = " ".join(run("methods", "cbpe").stdout.split())
    assert "It assumes that every classifier is calibrated. It is unreliable where" in shown
