"""Progress is told to who listens, and to nobody else."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import ssme
from ssme import progress
from tests.made_sets import binary_set


def test_items_pass_through_unheard() -> None:
    assert list(progress.track(range(3), "loop")) == [0, 1, 2]


def test_a_listener_hears_every_step() -> None:
    heard: list[tuple[str, int, int]] = []
    with progress.listen(lambda *step: heard.append(step)):
        assert list(progress.track("ab", "letters")) == ["a", "b"]
    list(progress.track("ab", "unheard"))
    assert heard == [("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2)]


def test_methods_tell_how_far_they_are() -> None:
    heard: set[str] = set()
    with progress.listen(lambda title, done, total: heard.add(title)):
        ssme.evaluate(binary_set(n=100), metrics="accuracy")
        ssme.evaluate(binary_set(n=100), method="ensemble", metrics="accuracy", n_draws=5)
    assert {"posterior draws", "worlds", "label draws"} <= heard


@pytest.mark.parametrize(
    ("method", "titles"),
    [
        ("atc", {"models", "metrics"}),
        ("ppi", {"resamples", "metrics"}),
        ("spe", {"models", "label draws"}),
    ],
)
def test_methods_without_a_pool_tell_it_too(method: str, titles: set[str]) -> None:
    heard: set[str] = set()
    metric = "roc_auc" if method == "ppi" else "accuracy"
    with progress.listen(lambda title, done, total: heard.add(title)):
        ssme.evaluate(binary_set(n=100), method=method, metrics=metric)
    assert titles <= heard


def test_bars_show_what_is_left_and_vanish() -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    with progress.show("whole", console):
        for _ in progress.track(range(4), "steps"):
            pass
    assert "whole" in screen.getvalue()
    assert "steps" in screen.getvalue()
    assert "left" in screen.getvalue()
