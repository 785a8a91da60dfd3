"""Bad answers and ratings: what is wrong, what is allowed and what to do, each in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme import InputError, ScoreSet

LABELS: list[Any] = ["yes", "no", "yes", None, None, None]
SAID: dict[str, list[Any]] = {
    "gpt": ["yes", "no", "no", "yes", "no", "yes"],
    "ann": ["yes", None, "yes", "no", "unsure", "no"],
}
GRADES: dict[str, list[Any]] = {"stars": [5, 1, 4, 2, 2, 2], "bob": [5, None, 4, 1, 2, None]}


def refusal(*args: Any, **options: Any) -> InputError:
    with pytest.raises(InputError) as raised:
        ScoreSet.from_answers(*args, **options)
    assert raised.value.hint
    return raised.value


def test_an_answer_outside_the_classes() -> None:
    said = {**SAID, "gpt": ["yes", "no", "yse", "yes", "no", "yes"]}
    error = refusal(said, LABELS, classes=["no", "yes"])
    assert "'yse' of 'gpt' at row 2" in error.problem
    assert "'no', 'yes'" in error.problem
    assert "did you mean 'yes'" in str(error.hint)


def test_an_answer_that_makes_a_third_class_beside_a_positive_one() -> None:
    said = {**SAID, "gpt": ["yes", "no", "yse", "yes", "no", "yes"]}
    error = refusal(said, LABELS, positive="yes")
    assert "'yse' of 'gpt' at row 2 (in 1 row) is not a label" in str(error.hint)


@pytest.mark.parametrize("written", ["Yes", "YES.", '"yes"'])
def test_a_class_written_in_two_ways(written: str) -> None:
    error = refusal({**SAID, "gpt": ["yes", "no", written, "yes", "no", "yes"]}, LABELS)
    assert f"{written!r} of 'gpt' at row 2" in error.problem
    refusal(SAID, [written, *LABELS[1:-1], "yes"])
    said = {"gpt": ["a", "A", "a"], "ann": ["A", "A", "a"]}
    assert ScoreSet.from_answers(said, ["a", "A", None], classes=["a", "A"]).classes == ("a", "A")


def test_a_judge_without_any_answer() -> None:
    error = refusal({**SAID, "bob": ["unsure", None, None, "abstain", None, None]}, LABELS)
    assert "'bob' has no answer on any row, and is unsure on 2" in error.problem


def test_a_judge_with_one_answer_is_kept_and_uncertain() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    said: dict[str, Any] = {
        f"j{m}": np.where(rng.random(200) < 0.8, truth, 1 - truth) for m in range(4)
    }
    said["once"] = [1, *[None] * 199]
    data = ScoreSet.from_answers(said, [int(y) if i < 40 else None for i, y in enumerate(truth)])
    result = ssme.evaluate(data, metrics="accuracy", n_draws=50, random_state=0)
    rows = {row["model"]: row for row in result.rows()}
    assert rows["once"]["high"] - rows["once"]["low"] > 2 * (rows["j0"]["high"] - rows["j0"]["low"])
    error = refusal({"once": [1, None, None]}, [1, 0, None])
    assert "row 1 has no answer" in error.problem


def test_ratings_with_gaps_keep_their_scale() -> None:
    labels = [1, 0, 1, None, None, None]
    given = ScoreSet.from_answers(None, labels, ratings=GRADES, classes=[0, 1])
    assert given.judges["stars"].values == (1, 2, 3, 4, 5)
    error = refusal(None, labels, ratings=GRADES, classes=[0, 1], grades=[1, 2, 4])
    assert "'stars' at row 0 is not a grade" in error.problem
    listed = ScoreSet.from_answers(
        None, labels, ratings=GRADES, classes=[0, 1], grades=[1, 2, 4, 5], cut=4
    )
    assert listed.judges["stars"].values == (1, 2, 4, 5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cut": 3}, "without ratings"),
        ({"ratings": {"stars": [1, 2, 9, 1, 2, 3]}, "grades": [1, 2, 3]}, "9 of 'stars' at row 2"),
        (
            {"ratings": {"stars": ["low", "high", "low", "mid", "low", "low"]}},
            "the order of the grades",
        ),
        ({"ratings": GRADES, "cut": 1}, "cut must be"),
        ({"ratings": {"stars": [3, 3, 3, None, 3, 3]}}, "the only grade"),
        ({"unsure": "yes", "classes": ["no", "yes"]}, "unsure='yes' is also"),
    ],
)
def test_contradictions_of_scales(options: dict[str, Any], said: str) -> None:
    assert said in str(refusal(SAID, LABELS, **options))


@pytest.mark.parametrize(
    ("design", "labels", "said"),
    [
        ("by_clas", LABELS, "Did you mean 'by_class'"),
        ("by_class", ["yes", "yes", None, None, None, None], "all of one class"),
        ("by_score", [None] * 6, "labels are missing"),
        ([1.0, 0.0, 1.0, 1.0, 1.0, 1.0], LABELS, "row 1 has a label and the design weight 0"),
        ([1.0, 1.0], LABELS, "design has the shape (2,) and there are 6 rows"),
    ],
)
def test_designs_that_contradict_the_labels(design: Any, labels: list[Any], said: str) -> None:
    assert said in str(refusal(SAID, labels, classes=["no", "yes"], design=design))


def test_two_designs_at_once() -> None:
    frame = pd.DataFrame({**SAID, "y": LABELS, "label_weight": 1.0})
    with pytest.raises(InputError, match="design"):
        ScoreSet.from_frame(frame, label="y", answers=["gpt", "ann"], design="by_class")


def test_a_tie_stands_between_the_two_that_are_compared() -> None:
    said = {"gpt": ["A", "tie", "B", "B"], "ann": ["A", "A", "tie", "B"]}
    data = ScoreSet.from_answers(said, ["A", "B", "tie", None])
    assert data.classes == ("A", "tie", "B")
    result = ssme.evaluate(data, method="labeled", metrics="win_rate")
    assert [row["estimate"] for row in result.rows()] == pytest.approx([0.5, 0.5])
    assert ScoreSet.from_answers({"gpt": ["first", "second"]}, ["first", None]).classes == (
        "first",
        "second",
    )


@pytest.mark.parametrize(
    ("args", "options", "said"),
    [
        ((np.zeros((3, 2, 2), dtype=object), None), {}, "answers have the shape (3, 2, 2)"),
        ((np.array(["a", "b"], dtype=object), None), {}, "answers have the shape (2,)"),
        (([["a", "b"]] * 3, None), {"models": ["x"]}, "1 names for 2 judges"),
        (({"x": ["a", "b"], "y": ["a"]}, None), {}, "different lengths: 1, 2"),
        (({"x": ["a", "b"]}, None), {"models": ["z"]}, "no answers of 'z'"),
        (({"x": [["a", "b"]]}, None), {}, "answers of 'x' have the shape (1, 2)"),
        (({"x": ["a", "b"]}, None), {"unsure": "a", "classes": ["a", "b"]}, "'a'"),
    ],
)
def test_answers_of_other_shapes(args: Any, options: dict[str, Any], said: str) -> None:
    assert said in refusal(*args, **options).problem


@pytest.mark.parametrize(
    ("labels", "options", "said"),
    [
        ([1, 5, None, None, None, None], {}, "may be one of two classes or a grade"),
        ([None] * 6, {}, "labels are missing with ratings"),
        ([1, 7, 9, None, None, None], {}, "labels 1, 7, 9 do not fit ratings on the scale"),
        (
            [1, 0, None, None, None, None],
            {"classes": [0, 1, 2]},
            "classes 0, 1, 2 do not fit ratings",
        ),
        ([1, 0, None, None, None, None], {"grades": None}, ""),
    ],
)
def test_labels_beside_ratings(labels: list[Any], options: dict[str, Any], said: str) -> None:
    if said:
        assert said in refusal(None, labels, ratings=GRADES, **options).problem
    else:
        data = ScoreSet.from_answers(None, labels, ratings=GRADES, **options)
        assert data.classes == (0, 1)


def test_grades_are_put_in_order_where_that_can_be_told() -> None:
    labels = [1, 0, None, None]
    letters = ScoreSet.from_answers(None, labels, ratings={"x": ["A", "C", "B", "C"]})
    assert letters.judges["x"].values == ("C", "B", "A")
    halves = ScoreSet.from_answers(None, labels, ratings={"x": [0.5, 2.5, 1.5, 0.5]})
    assert halves.judges["x"].values == (0.5, 1.5, 2.5)
    error = refusal(None, labels, ratings={"x": ["good", "bad", "fair", "bad"]})
    assert "the order of the grades" in error.problem
    assert (
        "no grade among the ratings of" in refusal(None, labels, ratings={"x": [None] * 4}).problem
    )


def test_whole_numbers_are_classes_in_their_order() -> None:
    data = ScoreSet.from_answers({"x": ["10", "9", "2", "2"]}, ["9", None, None, None])
    assert data.classes == ("2", "9", "10")
