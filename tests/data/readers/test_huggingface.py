"""Datasets of Hugging Face, by the few methods that are used of them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.written import ClassLabel, Columns, Dataset

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError


def lists() -> Dataset:
    columns: Columns = {
        "label": [0, 2, -1, -1],
        "net": [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], None],
        "tree": [np.array([0.5, 0.5, 0.0])] * 4,
        "site": list("abab"),
    }
    return Dataset(columns, {"label": ClassLabel(["cat", "dog", "emu"])}, arrow=False)


def test_lists_and_class_names() -> None:
    data = ScoreSet.from_huggingface(
        lists(), label="label", models=["net", "tree"], groups=["site"]
    )
    assert data.classes == ("cat", "dog", "emu")
    assert data.labels.tolist() == [0, 2, -1, -1]
    assert np.isnan(data.scores[3, 0]).all()
    assert list(data.groups) == ["site"]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"a dictionary of splits.*dataset\['train'\]"):
        ScoreSet.from_huggingface({"train": lists()})
    with pytest.raises(InputError, match="streaming=False"):
        ScoreSet.from_huggingface(object())
    with pytest.raises(InputError, match="no column 'none'"):
        ScoreSet.from_huggingface(lists(), label="none")
    ragged = lists()
    ragged.columns["net"] = [[0.5, 0.5], [1.0], [0.2, 0.8], [0.5, 0.5]]
    with pytest.raises(InputError, match=r"lengths \[1, 2\]"):
        ScoreSet.from_huggingface(ragged, label="label", models=["net"])
    mixed = lists()
    mixed.columns["one"] = [0.5] * 4
    with pytest.raises(InputError, match="lists of class scores"):
        ScoreSet.from_huggingface(mixed, label="label", models=["net", "one"])


def test_a_dataset_goes_straight_into_evaluate() -> None:
    data = lists()
    result = ssme.evaluate(
        data, "label", models=["tree"], method="ensemble", metrics="accuracy", groups=["site"]
    )
    assert set(result.frame()["model"]) == {"tree"}
    assert result.data.classes == ("cat", "dog", "emu")
