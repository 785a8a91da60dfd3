"""Which classes judges say: those that are written in other ways, and what is hardly a class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme import InputError, ScoreSet
from ssme.data.labels import name_order
from ssme.errors import SsmeWarning

YES_NO: list[Any] = ["yes", "no", *[None] * 10]
SAID: list[Any] = ["yes", "no", "yes", "no", *["yes", "no"] * 4]


def refuse(answers: Any, labels: Any, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        ScoreSet.from_answers(answers, labels, **options)
    assert caught.value.hint
    return str(caught.value)


@pytest.mark.parametrize("unsure", ["Unsure.", "(unsure)", "ABSTAIN!", " unsure "])
def test_unsure_with_punctuation_is_no_class(unsure: str) -> None:
    data = ScoreSet.from_answers({"a": SAID, "b": [unsure, *SAID[1:]]}, YES_NO)
    assert data.classes == ("no", "yes")
    assert np.isnan(data.scores[0, 1]).all()
    assert data.layout.judges["unsure"] == "b: 1 rows"
    listed = ScoreSet.from_answers(
        {"a": [unsure.strip(), *SAID[1:]]}, YES_NO, classes=["no", unsure.strip(), "yes"]
    )
    assert listed.scores[0, 0, 1] == 1.0


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([1, 0, None], (0, 1)),
        (["1", "0", None], ("0", "1")),
        (["1.0", "0.0", None], ("0", "1")),
        (["1", None, None], ("0", "1")),
        ([True, False, None], (False, True)),
        (["True", "False", None], ("False", "True")),
        (["true", None, None], ("False", "true")),
    ],
)
@pytest.mark.parametrize(
    "said", [[1, 0, 1], ["1.0", "0.0", "1.0"], [True, False, True], ["True", "FALSE", "true"]]
)
def test_one_and_true_are_the_same_class_however_they_are_written(
    labels: list[Any], classes: tuple[Any, ...], said: list[Any]
) -> None:
    data = ScoreSet.from_answers({"a": said}, labels)
    assert data.n_classes == 2
    assert [str(name).lower() for name in data.classes] == [str(name).lower() for name in classes]
    assert data.scores[:, 0, 1].tolist() == [1.0, 0.0, 1.0]
    assert data.labels[0] == 1


@pytest.mark.parametrize("code", [-1, "N/A", "None", "nan", "?", "I don't know.", "not sure"])
def test_a_code_for_no_answer_is_no_class(code: Any) -> None:
    numbers: list[Any] = [1, 0, code] * 4
    told = refuse({"a": numbers, "b": [1, 0, 1] * 4}, [1, 0, *[None] * 10])
    assert f"answer {code!r} of 'a' at row 2 looks like a code for no answer" in told
    assert f"unsure={code!r}" in told
    data = ScoreSet.from_answers(
        {"a": numbers, "b": [1, 0, 1] * 4}, [1, 0, *[None] * 10], unsure=code
    )
    assert data.classes == (0, 1)
    labeled = ScoreSet.from_answers({"a": [1, 0, code]}, [1, 0, code])
    assert code in labeled.classes


def test_a_judge_on_another_scale_than_the_labels() -> None:
    stars = [1, 5, 3, 4, 2, 5] * 2
    refuse({"stars": stars}, [1, 0] * 6)
    data = ScoreSet.from_answers({"stars": stars}, [1, 0] * 6, classes=[0, 1, 2, 3, 4, 5])
    assert data.n_classes == 6


def test_a_judge_who_says_classes_without_a_label_among_many_is_no_stranger() -> None:
    every: list[Any] = [f"c{i:02}" for i in range(40)]
    some = [*[None] * 25, *every[25:]]
    data = ScoreSet.from_answers({"all": every, "some": some}, ["c00", "c01", *[None] * 38])
    assert data.n_classes == 40


def test_raters_on_two_scales() -> None:
    five, hundred = [1, 5, 3, 4] * 6, [10, 90, 60, 80] * 6
    labels = [0, 1, *[None] * 22]
    refuse(None, labels, ratings={"a": five, "b": hundred})
    grades = list(range(1, 101))
    data = ScoreSet.from_answers(None, labels, ratings={"a": five, "b": hundred}, grades=grades)
    assert data.judges["a"].cut == 51
    strict = ScoreSet.from_answers(None, labels, ratings={"a": [1, 1, 1, 1] * 6, "b": five})
    assert strict.judges["a"].values == (1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("names", "order"),
    [
        (["1", "2", "tie"], ("1", "tie", "2")),
        (["model_b", "model_a", "tie (bothbad)"], ("model_a", "tie (bothbad)", "model_b")),
        (["win", "loss", "draw"], ("loss", "draw", "win")),
        (["alpaca", "vicuna", "Tie"], ("alpaca", "Tie", "vicuna")),
        (["cat", "dog", "horse"], ("cat", "dog", "horse")),
    ],
)
def test_a_tie_stands_between_any_two(names: list[str], order: tuple[str, ...]) -> None:
    assert ScoreSet.from_answers({"a": names}, [names[0], None, None]).classes == order


@pytest.mark.parametrize(
    ("classes", "order"),
    [
        (("no", "yes"), "known"),
        (("No", "YES"), "known"),
        (("yes", "no"), "unknown"),
        ((1, 2, 3), "known"),
        ((9, 10), "known"),
        (("9", "10"), "known"),
        (("0.5", "1.5", "10"), "known"),
        ((False, True), "known"),
        (("A", "tie", "B"), "known"),
        (("1", "tie", "2"), "known"),
        (("alpaca", "tie", "vicuna"), "unknown"),
        (("ham", "spam"), "unknown"),
        (("low", "medium", "high"), "unknown"),
        (("cat", "dog", "horse"), "unknown"),
        (("A", "B", "tie"), "unknown"),
    ],
)
def test_whether_the_order_of_classes_goes_without_saying(
    classes: tuple[Any, ...], order: str
) -> None:
    assert name_order(classes, listed=False, compared=True) == order
    assert name_order(classes, listed=True) == "listed"


def test_metrics_of_ordered_classes_are_refused_without_an_order() -> None:
    said = {"a": ["cat", "dog", "horse", "dog"], "b": ["cat", "dog", "horse", "cat"]}
    data = ScoreSet.from_answers(said, ["cat", "dog", "horse", None])
    assert not data.ordered
    with pytest.raises(
        InputError, match=r"win_rate needs the order.*'cat', 'dog', 'horse'.*classes"
    ):
        ssme.evaluate(data, method="labeled", metrics="win_rate")
    listed = ScoreSet.from_answers(
        said, ["cat", "dog", "horse", None], classes=["dog", "cat", "horse"]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", SsmeWarning)
        ssme.evaluate(listed, method="labeled", metrics="win_rate")
        ssme.evaluate(data, method="labeled", metrics="accuracy")


def test_the_label_column_that_suggested_labels_add_to_is_not_left_out() -> None:
    frame = pd.DataFrame({"id": list("pqrs"), "a": ["yes", "no"] * 2, "y": ["yes", *[None] * 3]})
    added = pd.DataFrame({"id": ["q"], "label": ["no"], "probability": [0.5]})
    told = ScoreSet.from_frame(frame, added, answers=["a"], id="id")
    assert told.n_labeled == 2
    assert told.layout.ignored == ()
    assert told.layout.labels_source == "a given DataFrame"
