"""What may be said about a source is checked, whoever says it."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssme.data import ReadOptions, ScoreSet
from ssme.errors import InputError
from ssme.options import list_declared
from ssme.schema import FILE_OPTIONS

NAMES = [each.name for each in list_declared(ReadOptions)]
FRAME = pd.DataFrame({"a": [0.1, 0.6, 0.7], "b": [0.3, 0.4, 0.9], "label": [0, 1, None]})


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("unlabeled", "-1", ("-1",)),
        ("unlabeled", -1, (-1,)),
        ("unlabeled", [-1, "?"], (-1, "?")),
        ("unlabeled", np.int64(-1), (-1,)),
        ("unlabeled", -1.0, (-1,)),
        ("classes", np.array(["ham", "spam"]), ("ham", "spam")),
        ("classes", pd.Index([0, 1]), (0, 1)),
        ("models", "bert", ("bert",)),
        ("models", [0, 1], ("0", "1")),
        ("models", np.array(["gpt", "bert"]), ("gpt", "bert")),
        ("models", {"m": ["a", "b"]}, {"m": ("a", "b")}),
        ("groups", ("site", "ward"), ("site", "ward")),
        ("delimiter", "\t", "\t"),
        ("labels_file", "labels.csv", Path("labels.csv")),
        ("labels_file", False, False),
        ("logits", np.True_, True),
    ],
)
def test_values_are_kept_in_one_form(name: str, value: Any, kept: Any) -> None:
    options = ReadOptions(**{name: value})
    assert getattr(options, name) == kept
    assert ReadOptions(**{name: kept}) == options


REFUSED: dict[str, list[Any]] = {
    "logits": ["false", 1],
    "normalize": ["no"],
    "unlabeled": [[], {"a": 1}],
    "classes": ["ab", ["a"], ["a", ""], [0, float("nan")]],
    "positive": [["a"]],
    "models": [[], {}, {"m": 3}],
    "groups": [[]],
    "label": ["", 3],
    "id": [["a"]],
    "layout": ["tall"],
    "pattern": ["{model}", "{model}{model}{class}"],
    "delimiter": ["::", "\n", "é"],
    "labels_file": [True, 3],
}


@pytest.mark.parametrize("name", REFUSED)
def test_values_of_another_kind_are_refused_by_name(name: str) -> None:
    for value in REFUSED[name]:
        with pytest.raises(InputError, match=rf"^{name} must be"):
            ReadOptions(**{name: value})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@settings(max_examples=300, deadline=None)
@given(name=st.sampled_from(NAMES), value=JSON)
def test_garbage_is_refused_by_name_or_kept_for_good(name: str, value: Any) -> None:
    """Also what is accepted reads the frame, or is refused in our words."""
    try:
        options = ReadOptions(**{name: value})
    except InputError:
        with pytest.raises(InputError, match=rf"^{name} must be"):
            ReadOptions(**{name: value})
        return
    assert ReadOptions(**vars(options)) == options
    kept = {name: getattr(options, name)}
    json.dumps(kept, default=str)
    told = {} if name in ("labels_file", *FILE_OPTIONS) else kept
    with suppress(InputError):
        assert ScoreSet.from_frame(FRAME, **told).n_rows == 3
