"""What verdicts mean: passes, grades and numbers, and options that would be ignored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme import InputError
from tests.systems.made import make_table

JUDGES = ["judge_0", "judge_1", "judge_2"]


def evaluate(table: pd.DataFrame, **options: object) -> list[dict[str, object]]:
    return list(ssme.evaluate_systems(table, "human", n_draws=100, **options).rows())


@pytest.fixture
def table() -> pd.DataFrame:
    return make_table(0)[0].drop(columns="epoch")


def spell(table: pd.DataFrame, fail: str, right: str, *columns: str) -> pd.DataFrame:
    told = {
        name: table[name].map({0.0: fail, 1.0: right}) for name in columns or [*JUDGES, "human"]
    }
    return table.assign(**told)


@pytest.mark.parametrize("positive", ["Good", "pass", "1", "goood"])
def test_a_verdict_that_nobody_gives_is_not_a_pass(table: pd.DataFrame, positive: str):
    words = spell(table, "bad", "good")
    with pytest.raises(InputError, match=f"not '{positive}', which means pass"):
        evaluate(words, positive=positive)
    judge = spell(table, "bad", "good", "human").assign(judge_0=words["judge_0"].str.title())
    with pytest.raises(InputError, match=r"judge_0.*not 'good'"):
        evaluate(judge, positive="good")


def test_positive_is_of_columns_that_have_it(table: pd.DataFrame):
    first = evaluate(table)
    assert evaluate(spell(table, "bad", "good"), positive="good") == first
    assert evaluate(spell(table, "bad", "good", "human"), positive="good") == first
    failed = table.assign(human=table["human"].where(table["human"] == 0.0))
    lowest = evaluate(failed)
    assert evaluate(spell(failed, "no", "yes"), positive="yes") == lowest
    with pytest.raises(InputError, match="'poor', and not 'fine'"):
        evaluate(spell(failed, "poor", "fine"), positive="fine")


@pytest.mark.parametrize("column", ["human", "judge_1"])
def test_positive_is_one_of_two(table: pd.DataFrame, column: str):
    words = spell(table, "no", "yes")
    known = words[column].notna() & (np.arange(len(table)) % 4 == 0)
    words[column] = words[column].mask(known, "error")
    with pytest.raises(InputError, match=r"'error', 'no', 'yes', and `?positive`? is one of two"):
        evaluate(words, positive="yes")
    numbers = table.assign(**{column: table[column].mask(known, 2.0)})
    with pytest.raises(InputError, match="'0', '1', '2'"):
        evaluate(numbers, positive=1)


def test_grades_of_which_people_gave_only_zero_and_one_are_grades(table: pd.DataFrame):
    wide = ssme.evaluate_systems(
        table.assign(judge_0=np.arange(len(table)) % 4), "human", grades=[0, 1, 2, 3]
    )
    assert wide.measures == ("mean",)
    assert min(row["estimate"] for row in wide.rows()) > 1.0
    with pytest.raises(InputError, match="not one of the grades"):
        evaluate(table, grades=["poor", "fair", "good"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"cut": 2}, "cut.* is for other verdicts"),
        ({"cut": "yes"}, "cut.* is for other verdicts"),
        ({"bounds": [0, 100]}, "bounds.* is for other verdicts"),
        ({"positive": "yes", "grades": ["no", "yes"]}, "'positive', 'grades' were given"),
        ({"positive": "yes", "bounds": [0, 1]}, "'positive', 'bounds' were given"),
        ({"positive": "yes", "cut": 1}, "'positive', 'cut' were given"),
        ({"grades": ["no", "yes"], "bounds": [0, 1]}, "'grades', 'bounds' were given"),
    ],
)
def test_options_of_other_verdicts_are_refused(
    table: pd.DataFrame, options: dict[str, object], problem: str
):
    with pytest.raises(InputError, match=problem):
        evaluate(spell(table, "no", "yes"), **options)


def test_a_copy_of_the_labels_is_no_judge(table: pd.DataFrame):
    with pytest.raises(InputError, match="'judge_0' has verdicts only on rows with a label"):
        evaluate(table.assign(judge_0=table["human"]))


@pytest.mark.parametrize("column", ["system", "item"])
def test_names_written_in_two_ways_are_refused(table: pd.DataFrame, column: str):
    names = table[column].astype(object)
    names[0], names[1] = 7, "7"
    with pytest.raises(InputError, match=f"{column!r} has 7 as a number and as text"):
        evaluate(table.assign(**{column: names}))


def test_labels_that_do_not_name_the_answer_are_refused_in_long_tables(
    table: pd.DataFrame, tmp_path: Path
):
    labels = table[["system", "item", "human"]].dropna()
    table = table.drop(columns=["human", "topic"])
    long = table.melt(["system", "item"], JUDGES, "judge", "verdict")
    path, named = tmp_path / "labels.csv", {"judge": "judge", "judges": ["verdict"]}
    labels.to_csv(path, index=False)
    assert evaluate(long, labels_file=path, **named)
    for keys in (["item", "human"], ["system", "human"]):
        labels.drop_duplicates(keys[0])[keys].to_csv(path, index=False)
        with pytest.raises(InputError, match=f"more than one row for {keys[0]}"):
            evaluate(long, labels_file=path, **named)
    long["judge"] = long["judge"].mask(long.index == 5)
    labels.to_csv(path, index=False)
    with pytest.raises(InputError, match="'judge' is empty in row 5"):
        evaluate(long, labels_file=path, **named)
