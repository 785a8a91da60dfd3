"""Every option of every method takes what it declares and refuses the rest by name."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, MissingExtraError, SsmeWarning
from ssme.methods.base import Method
from ssme.methods.registry import find_method_class, get_method, method_names
from ssme.metrics import get_metric
from ssme.options import (
    Enumeration,
    Number,
    OneOf,
    Option,
    Series,
    Whole,
    list_declared,
    parse_text,
)

QUICK = {"ssme": {"tol": 0.1, "n_bootstrap": 1}, "ssme_m": {"tol": 0.1}}
"""Options that keep a fit short while another one is tried."""

OPTIONS = [
    (name, option) for name in method_names() for option in list_declared(find_method_class(name))
]
NAMES = [f"{name}-{option.name}" for name, option in OPTIONS]


def tiny(n: int = 24, n_labeled: int = 8) -> ScoreSet:
    rng = np.random.default_rng(0)
    truth = np.arange(n) % 2
    p = 1.0 / (1.0 + np.exp(-2.0 * (2.0 * truth[:, None] - 1.0) - rng.normal(size=(n, 2))))
    labels = np.where(np.arange(n) < n_labeled, truth, -1)
    scores = np.stack([1.0 - p, p], axis=2)
    return ScoreSet(scores=scores, labels=labels, models=("one", "two"), classes=(0, 1))


def check_value(name: str, option: Option, value: Any) -> None:
    """An `InputError` that names the option, or a fit whose numbers are in range or undefined."""
    try:
        method = get_method(name, **{**QUICK.get(name, {}), option.name: value})
    except InputError as error:
        refusal = str(error)
    else:
        refusal = fit_tiny(name, method)
    assert refusal == "" or option.name in refusal or "extra" in refusal


def fit_tiny(name: str, method: Method) -> str:
    """Fit, and check the numbers; what the method says where it refuses."""
    data = tiny(n_labeled=24 if name == "active_testing" else 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SsmeWarning)
        try:
            belief = method.fit(data, np.random.default_rng(0))
        except (InputError, MissingExtraError) as error:
            return str(error)
        estimate = belief.estimate([get_metric("accuracy")], [None])[0][0]
        low, high = estimate.interval()
    assert ((estimate.value >= 0.0) & (estimate.value <= 1.0)).all()
    finite = np.isfinite(low)
    assert (low[finite] >= 0.0).all()
    assert (high[finite] <= 1.0).all()
    return ""


garbage = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**9, -(10**9), 10**30, 2.5, 1e308, -1e-308, 5e-324, np.int64(3)]),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.lists(st.one_of(st.floats(), st.integers(), st.text(max_size=3)), max_size=4),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.just(object()),
    st.just(np.ones((2, 2))),
)


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=NAMES)
@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(value=garbage)
def test_garbage_is_refused_by_name_or_gives_a_right_result(
    name: str, option: Option, value: Any
) -> None:
    check_value(name, option, value)


def ends(kind: Any) -> list[Any]:
    """The outermost values that a kind takes, and each of its choices."""
    if isinstance(kind, OneOf):
        return [value for each in kind.kinds for value in ends(each)]
    if isinstance(kind, Enumeration):
        return list(kind.values)
    if isinstance(kind, Whole | Number):
        return [end for end in (kind.least, kind.most) if end is not None]
    if isinstance(kind, Series):
        return [(value,) * (kind.length or 1) for value in ends(kind.kind)]
    return []


CASES = [(name, option, value) for name, option in OPTIONS for value in ends(option.kind)]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    CASES,
    ids=[f"{name}-{option.name}-{value}" for name, option, value in CASES],
)
def test_both_ends_of_every_range_work(name: str, option: Option, value: Any) -> None:
    check_value(name, option, value)


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=NAMES)
def test_every_option_says_what_it_means_and_its_default_is_allowed(
    name: str, option: Option
) -> None:
    assert option.meaning.endswith(".")
    assert option.meaning[0].isupper()
    assert option.kind.describe()
    assert option.kind.accept(option.default) == option.default
    if option.python_only:
        with pytest.raises(InputError, match=option.name):
            parse_text(option, "1")


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("auto", {"temperature": 1}),
        ("auto", {"n_draws": 2.5}),
        ("auto", {"n_draws": "200"}),
        ("auto", {"constants": {}}),
        ("ensemble", {"n_draws": True}),
        ("labeled", {"joint_draws": "false"}),
        ("ssme", {"lambda_u": float("nan")}),
        ("ppi", {"power": float("inf")}),
        ("spe", {"mean_bounds": (1.0, 0.0)}),
    ],
)
def test_values_that_were_taken_for_others_are_refused(
    method: str, options: dict[str, Any]
) -> None:
    """Once a traceback, or a value silently turned into another one."""
    (name,) = options
    with pytest.raises(InputError, match=name):
        get_method(method, **options)
    with pytest.raises(InputError, match=name):
        find_method_class(method)(**options)
