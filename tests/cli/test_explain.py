"""`ssme explain`: the list, and one warning explained without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable

from typer.testing import Result

from ssme.diagnostics import CHECKS

Run = Callable[..., Result]


def test_all_are_listed(run: Run) -> None:
    shown = run("explain").stdout
    assert all(check.code in shown for check in CHECKS)


def test_one_is_explained_with_what_to_do(run: Run) -> None:
    shown = run("explain", "d104").stdout
    assert "D104 Labeled rows look unlike the unlabeled ones" in shown
    assert "energy distance" in shown
    assert "What to do:" in shown
    assert "(#" not in run("explain", "D201").stdout
    assert json.loads(run("explain", "D104", "--json", "-").stdout)["code"] == "D104"


def test_an_unknown_one_is_bad_input(run: Run) -> None:
    refused = run("explain", "D999")
    assert refused.exit_code == 2
    assert "there is no warning 'D999'" in refused.stderr
