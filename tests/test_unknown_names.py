"""Wherever a name is looked up, a misspelled one is refused with the nearest that there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from benchmarks.datasets.fetch import fetch_dataset
from benchmarks.datasets.registry import load_dataset

import ssme
from ssme.errors import InputError, make_unknown_name_error, name_argument
from ssme.executors import open_executor
from ssme.methods.registry import get_method
from ssme.metrics import get_metric

POINTS = np.zeros((4, 2))


def misspell_executor() -> None:
    with open_executor("proceses"):
        pass


LOOKUPS: dict[str, tuple[Callable[[], Any], str]] = {
    "method": (lambda: get_method("ensembel"), "'ensemble'"),
    "option of a method": (lambda: get_method("ssme", lambda_v=1.0), "'lambda_u'"),
    "choice of an option": (lambda: get_method("ssme", density="kdee"), "'kde'"),
    "metric": (lambda: get_metric("accurracy"), "'accuracy'"),
    "metric of a run": (
        lambda: ssme.evaluate(POINTS + 0.5, metrics="brier_scores"),
        "'brier_score'",
    ),
    "data set": (lambda: load_dataset("multinly"), "'multinli'"),
    "data set to fetch": (lambda: fetch_dataset("multinly"), "'multinli'"),
    "executor": (misspell_executor, "'processes'"),
}


@pytest.mark.parametrize("what", LOOKUPS)
def test_the_nearest_name_is_offered(what: str) -> None:
    look_up, nearest = LOOKUPS[what]
    with pytest.raises(InputError, match=f"Did you mean .*{nearest}"):
        look_up()


def test_nothing_is_offered_where_nothing_is_near() -> None:
    assert "Did you mean" not in str(make_unknown_name_error("method", "zzz", ("auto", "ssme")))


def test_an_error_names_who_asked_once() -> None:
    with pytest.raises(InputError, match=r"^metrics: unknown metric"), name_argument("metrics"):
        get_metric("nonsense")
    with pytest.raises(InputError, match=r"^level=2\."), name_argument("level"):
        raise InputError("`level=2`")
