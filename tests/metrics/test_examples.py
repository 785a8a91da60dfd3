"""Every public name of `ssme.metrics` is documented, and its examples run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import ssme.metrics
from ssme.errors import InputError
from ssme.metrics import at_threshold, ece, get_metric

MODULES = [f"ssme.metrics.{module.name}" for module in pkgutil.iter_modules(ssme.metrics.__path__)]
FUNCTIONS = [
    name for name in ssme.metrics.__all__ if inspect.isfunction(getattr(ssme.metrics, name))
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_say_what_they_take_and_return(name: str) -> None:
    function = getattr(ssme.metrics, name)
    text = inspect.getdoc(function) or ""
    assert "Returns\n-------" in text
    assert "Examples\n--------" in text
    for parameter in inspect.signature(function).parameters:
        assert parameter in text.split("Returns\n-------")[0], parameter


def test_a_threshold_of_what_is_no_decision_is_refused() -> None:
    with pytest.raises(InputError, match="`roc_auc`, which is not a metric of decisions"):
        at_threshold(get_metric("roc_auc"), 0.3)


@pytest.mark.parametrize("n_bins", [0, 2.5, -1])
def test_bins_that_are_no_whole_number_are_refused(n_bins: float) -> None:
    with pytest.raises(InputError, match="n_bins="):
        ece(n_bins=n_bins)
