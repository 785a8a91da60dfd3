"""Bad answers and ratings: what is wrong, what is allowed and what to do, each in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np
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
