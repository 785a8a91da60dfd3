"""Datasets of Hugging Face, by the few methods that are used of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError


@dataclass
class ClassLabel:
    names: list[str]


@dataclass
class Dataset:
    """What `datasets.Dataset` offers, as far as it is used."""

    frame: pd.DataFrame
    features: dict[str, Any] = field(default_factory=dict)

    def to_pandas(self) -> pd.DataFrame:
        return self.frame


def lists() -> Dataset:
    frame = pd.DataFrame(
        {
            "label": [0, 2, -1, -1],
            "net": [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4], None],
            "tree": [np.array([0.5, 0.5, 0.0])] * 4,
            "site": list("abab"),
        }
    )
    return Dataset(frame, {"label": ClassLabel(["cat", "dog", "emu"])})


def test_numbers() -> None:
    frame = pd.DataFrame({"y": [1.0, 0.0, None], "a": [0.9, 0.2, 0.5], "b": [0.8, 0.1, 0.4]})
    data = ScoreSet.from_huggingface(Dataset(frame), label="y", models=["a", "b"])
    assert (data.n_rows, data.n_labeled, data.n_classes) == (3, 2, 2)
    assert data.scores[0, 1, 1] == 0.8


def test_lists_and_class_names() -> None:
    data = ScoreSet.from_huggingface(
        lists(), label="label", models=["net", "tree"], groups=["site"]
    )
    assert data.classes == ("cat", "dog", "emu")
    assert data.labels.tolist() == [0, 2, -1, -1]
    assert np.isnan(data.scores[3, 0]).all()
    assert list(data.groups) == ["site"]


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="dictionary of splits"):
        ScoreSet.from_huggingface({"train": lists()})
    with pytest.raises(InputError, match="streaming=False"):
        ScoreSet.from_huggingface(object())
    with pytest.raises(InputError, match="no column 'none'"):
        ScoreSet.from_huggingface(lists(), label="none")
    ragged = lists()
    ragged.frame["net"] = [[0.5, 0.5], [1.0], [0.2, 0.8], [0.5, 0.5]]
    with pytest.raises(InputError, match=r"lengths \[1, 2\]"):
        ScoreSet.from_huggingface(ragged, label="label", models=["net"])
    mixed = lists()
    mixed.frame["one"] = 0.5
    with pytest.raises(InputError, match="lists of class scores"):
        ScoreSet.from_huggingface(mixed, label="label", models=["net", "one"])


def test_a_dataset_goes_straight_into_evaluate() -> None:
    data = lists()
    result = ssme.evaluate(
        data, "label", models=["tree"], method="ensemble", metrics="accuracy", groups=["site"]
    )
    assert set(result.frame()["model"]) == {"tree"}
    assert result.data.classes == ("cat", "dog", "emu")


def test_a_dictionary_of_splits_is_refused_with_the_split_to_take() -> None:
    with pytest.raises(InputError, match=r"a dictionary of splits.*dataset\['train'\]"):
        ssme.evaluate({"train": lists(), "test": lists()}, "label")
