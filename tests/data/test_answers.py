"""Answers and ratings come in as people hold them, and what is wrong is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme import InputError, ScoreSet


def test_unsure_and_missing_are_no_answer_and_counted_apart() -> None:
    said = {"ann": ["a", "Unsure", None, "c"], "bob": ["b", "?", "a", "b"]}
    data = ScoreSet.from_answers(said | {"cid": ["a", "b", "c", "c"]}, unsure="?")
    assert np.isnan(data.scores[:, :, 0]).tolist() == [
        [False, False, False],
        [True, True, False],
        [True, False, False],
        [False, False, False],
    ]
    assert data.layout.describe()["unsure"] == "ann: 1 rows, bob: 1 rows"
    assert data.judges["ann"].decode(data.scores[:, 0]).tolist() == ["a", None, None, "c"]


def test_files_of_answers_and_the_evaluation_of_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 60)
    said = {
        f"judge_{m}": np.where(rng.random(60) < 0.8, truth, 1 - truth).astype(str) for m in range(3)
    }
    frame = pd.DataFrame({**said, "label": np.where(np.arange(60) < 20, truth, np.nan)})
    frame.loc[5, "judge_0"] = "unsure"
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    results = [
        ssme.evaluate(tmp_path / name, "label", answers=list(said), metrics="accuracy")
        for name in ("a.csv", "a.parquet")
    ]
    first, second = (
        [(row["model"], row["estimate"], row["low"], row["high"]) for row in result.rows()]
        for result in results
    )
    assert first == second
    again = ssme.rerun(results[0].settings["config"])
    assert again.frame().equals(results[0].frame())


def test_ratings_are_ordered_whatever_their_names() -> None:
    numbers = ScoreSet.from_answers(None, [1, 0, None, 1], ratings={"r": [5, 1, 2, 4]})
    letters = ScoreSet.from_answers(None, [1, 0, None, 1], ratings={"r": ["A", "F", "D", "B"]})
    words = ScoreSet.from_answers(
        None, [1, 0, None, 1], ratings={"r": ["good", "bad", "fair", "good"]},
        grades=["bad", "fair", "good"],
    )  # fmt: skip
    assert numbers.judges["r"].values == (1, 2, 3, 4, 5)
    assert letters.judges["r"].values == ("F", "D", "B", "A")
    for data in (numbers, letters):
        assert np.argsort(data.scores[:, 0, 1]).tolist() == [1, 2, 3, 0]
        assert (data.scores[:, 0, 1] > 0.5).tolist() == [True, False, False, True]
    assert words.judges["r"].cut == "good"
    assert words.judges["r"].decode(words.scores[:, 0]).tolist() == ["good", "bad", "fair", "good"]


@pytest.mark.parametrize("grades", [("L", "M", "H"), ("F", "P"), ("S", "M", "L"), ("A", "M")])
def test_the_alphabet_is_no_order_of_grades(grades: tuple[str, ...]) -> None:
    """L, M and H were ordered H > L > M, and F was a better grade than P."""
    given = np.resize(np.array(grades, dtype=object), 12)
    labels = [0, 1, None] * 4
    with pytest.raises(InputError, match=r"order of the grades .* is not known"):
        ScoreSet.from_answers(None, labels, ratings={"r": given})
    told = ScoreSet.from_answers(None, labels, ratings={"r": given}, grades=grades)
    assert told.judges["r"].values == grades


def test_cut_says_which_grades_are_positive() -> None:
    grades = {"r": [1, 2, 3, 4, 5]}
    for cut in (2, 3, 5):
        data = ScoreSet.from_answers(None, [0, 1, None, None, None], ratings=grades, cut=cut)
        assert (data.scores[:, 0, 1] > 0.5).tolist() == [g >= cut for g in grades["r"]]


def test_truth_may_be_a_grade_too() -> None:
    data = ScoreSet.from_answers(None, [3, 1, 2, None], ratings={"r": [3, 1, 5, 4]})
    assert data.classes == (1, 2, 3, 4, 5)
    assert data.judges["r"].cut is None
    np.testing.assert_array_equal(data.scores[:, 0].argmax(axis=1), [2, 0, 4, 3])


def test_a_set_of_judges_reads_back_as_the_same_set(tmp_path: Path) -> None:
    data = ScoreSet.from_answers(
        {"ann": ["a", None, "b", "b"]}, ["a", "b", None, None],
        ratings={"bob": [5, 1, 3, 2]}, scores={"p": [0.9, 0.2, 0.6, 0.5]}, positive="b",
    )  # fmt: skip
    assert data.select(["bob", "p"]).judges == {"bob": data.judges["bob"]}
    data.save(tmp_path / "d.npz")
    frame = data.to_frame()
    again = [
        ScoreSet.read(tmp_path / "d.npz"),
        ScoreSet.from_frame(
            frame, "label", models=["p"], pattern="{model}:{class}", answers=["ann"],
            ratings=["bob"], classes=["a", "b"],
        ),
    ]  # fmt: skip
    for other in again:
        np.testing.assert_allclose(other.scores, data.scores)
        assert (other.judges, other.models) == (data.judges, data.models)


def test_a_judge_with_one_answer_is_kept_and_uncertain() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    said = {f"j{m}": np.where(rng.random(200) < 0.8, truth, 1 - truth) for m in range(4)}
    labels = [int(y) if i < 40 else None for i, y in enumerate(truth)]
    data = ScoreSet.from_answers({**said, "once": [1, *[None] * 199]}, labels)
    result = ssme.evaluate(data, metrics="accuracy", n_draws=50, random_state=0)
    width = {row["model"]: row["high"] - row["low"] for row in result.rows()}
    assert width["once"] > 2 * width["j0"]


def test_ratings_with_gaps_keep_their_scale() -> None:
    grades = {"stars": [5, 1, 4, 2, 2, 2], "bob": [5, None, 4, 1, 2, None]}
    labels = [1, 0, 1, None, None, None]
    given = ScoreSet.from_answers(None, labels, ratings=grades, classes=[0, 1])
    assert given.judges["stars"].values == (1, 2, 3, 4, 5)
    listed = ScoreSet.from_answers(
        None, labels, ratings=grades, classes=[0, 1], grades=[1, 2, 4, 5], cut=4
    )
    assert listed.judges["stars"].values == (1, 2, 4, 5)


def test_a_tie_is_worth_half_a_win() -> None:
    said = {"gpt": ["A", "tie", "B", "B"], "ann": ["A", "A", "tie", "B"]}
    data = ScoreSet.from_answers(said, ["A", "B", "tie", None])
    assert data.classes == ("A", "tie", "B")
    result = ssme.evaluate(data, method="labeled", metrics="win_rate")
    assert [row["estimate"] for row in result.rows()] == pytest.approx([0.5, 0.5])
