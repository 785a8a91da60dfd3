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
    assert data.layout is not None
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
    "said",
    [[1, 0, 1], ["1.0", "0.0", "1.0"], [True, False, True], ["True", "FALSE", "true"]],
)
def test_one_and_true_are_the_same_class_however_they_are_written(
    labels: list[Any], classes: tuple[Any, ...], said: list[Any]
) -> None:
    data = ScoreSet.from_answers({"a": said}, labels)
    assert data.n_classes == 2
    assert [str(name).lower() for name in data.classes] == [str(name).lower() for name in classes]
    assert data.scores[:, 0, 1].tolist() == [1.0, 0.0, 1.0]
    assert data.labels[0] == 1


def test_whole_numbers_with_decimals_are_whole() -> None:
    data = ScoreSet.from_answers({"a": ["2.0", "3.0", "1"]}, [1, 2, 3])
    assert data.classes == (1, 2, 3)
    rated = ScoreSet.from_answers(None, [1, 0, 1], ratings={"a": ["5.0", "1.0", "4"]})
    assert rated.judges["a"].values == (1, 2, 3, 4, 5)


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


@pytest.mark.parametrize("labels", [None, [1, *[None] * 3], [-1, 1, None, None]])
def test_signs_are_two_classes(labels: list[Any] | None) -> None:
    data = ScoreSet.from_answers({"a": [1, -1, 1, -1], "b": [1, -1, -1, -1]}, labels)
    assert data.classes == (-1, 1)


def test_probabilities_are_no_answers() -> None:
    told = refuse({"a": [0.9, 0.1, 0.8]}, [1, 0, None])
    assert "answer 0.1 of 'a' at row 1 is a number that is not whole" in told
    assert "models=['a']" in told


def test_a_label_that_says_unsure() -> None:
    told = refuse({"a": SAID}, ["yes", "no", "Unsure", *[None] * 9])
    assert "the label at row 2 is 'Unsure'" in told
    assert "unlabeled='Unsure'" in told
    assert "the label at row 1 is 'no'" in refuse({"a": SAID}, YES_NO, unsure="no")
    data = ScoreSet.from_answers({"a": SAID}, ["yes", "unsure", *YES_NO[2:]], unlabeled="unsure")
    assert data.n_labeled == 1


def test_a_judge_on_another_scale_than_the_labels() -> None:
    stars = [1, 5, 3, 4, 2, 5] * 2
    told = refuse({"a": SAID, "stars": stars}, YES_NO)
    assert "'stars' gives '1', '2', '3', '4', '5', and the labels are 'no', 'yes'" in told
    assert "ratings=['stars']" in told
    told = refuse({"stars": stars}, [1, 0] * 6)
    assert "ratings=['stars']" in told
    told = refuse({"a": ["pos", "neg"] * 6}, YES_NO)
    assert "Write answers and labels" in told
    data = ScoreSet.from_answers({"stars": stars}, [1, 0] * 6, classes=[0, 1, 2, 3, 4, 5])
    assert data.n_classes == 6


def test_a_judge_who_says_classes_without_a_label_among_many_is_no_stranger() -> None:
    every: list[Any] = [f"c{i:02}" for i in range(40)]
    some = [*[None] * 25, *every[25:]]
    data = ScoreSet.from_answers({"all": every, "some": some}, ["c00", "c01", *[None] * 38])
    assert data.n_classes == 40


@pytest.mark.parametrize("listed", [["yes", "yes"], [1, "1"], ["1.0", 1]])
def test_a_class_or_grade_listed_twice(listed: list[Any]) -> None:
    assert "classes lists" in refuse({"a": SAID}, YES_NO, classes=listed)
    told = refuse(None, [1, 0, None], ratings={"a": [1, 2, 3]}, grades=[*listed, 2, 3])
    assert "grades lists" in told


def test_raters_on_two_scales() -> None:
    five, hundred = [1, 5, 3, 4] * 6, [10, 90, 60, 80] * 6
    labels = [0, 1, *[None] * 22]
    told = refuse(None, labels, ratings={"a": five, "b": hundred})
    assert "'a' gives grades from 1 to 5 and 'b' from 10 to 90" in told
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


def test_scores_over_text_classes_need_their_order() -> None:
    said, third = {"a": ["x", "b", "c"]}, np.full((3, 3), 1.0 / 3.0)
    told = refuse(said, ["x", "b", None], scores={"m": third})
    assert "which of the classes 'b', 'c', 'x'" in told
    ScoreSet.from_answers(said, ["x", "b", None], scores={"m": third}, classes=["b", "c", "x"])
    ScoreSet.from_answers({"a": [0, 1, 2]}, [0, 1, None], scores={"m": third})


def make_long(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["row", "judge", "answer", "label"])


def test_long_tables_say_what_stands_twice_and_where() -> None:
    rows = [("r1", "a", "yes", "yes"), ("r2", "a", "no", None), ("r1", "a", "no", "yes")]
    told = refuse(make_long(rows), "label")
    assert "id 'r1' has 2 answers of 'a': 'yes' at row 0, 'no' at row 2" in told
    told = refuse(make_long([*rows[:2], ("r1", "a ", "no", "yes")]), "label")
    assert "the judges 'a' and 'a ' differ in blanks only" in told
    told = refuse(make_long([*rows[:2], ("r3", "a", None, None)]), "label")
    assert "row 2 (id 'r3') has no answer of any judge" in told
    told = refuse(make_long([*rows[:2], ("r3", None, "no", None)]), "label")
    assert "'judge' is empty" in told


@pytest.mark.parametrize("grades", [list("ABCDF"), [1, 1.5, 2, 3.5, 5], [0, 2.5, 5, 7.5, 10]])
def test_letters_and_halves_are_recognized_as_grades(grades: list[Any]) -> None:
    frame = pd.DataFrame({"a": grades * 4, "y": ["yes", "no", *[None] * 18]})
    with pytest.raises(InputError, match=r"ratings=\['a'\]"):
        ScoreSet.from_frame(frame, "y")


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


def test_two_systems_are_in_order_where_judges_compare_them_only() -> None:
    assert name_order(("A", "B"), listed=False, compared=True) == "known"
    assert name_order(("A", "B"), listed=False) == "unknown"


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
    assert told.layout is not None
    assert told.layout.ignored == ()
    assert told.layout.labels_source == "a given DataFrame"
