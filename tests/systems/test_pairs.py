"""Comparisons of two answers: Bradley-Terry against evalica, coverage, order, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.errors import InputError

KEPT = Path(__file__).parents[1] / "reference" / "fixtures" / "pairs.json"
LEVELS = np.array([-0.6, 0.0, 0.6])
TURNED = {"a": "b", "b": "a", "tie": "tie"}


def make_pairs(
    seed: int, *, labels: int = 60, items: int = 100, position: float = 0.0, favored: float = 0.0
) -> pd.DataFrame:
    """Comparisons of three systems; judges see noise, like the first answer and the last system."""
    rng = np.random.default_rng(seed)
    item = np.repeat(np.arange(items), 3)
    first = rng.integers(3, size=item.size)
    second = (first + rng.integers(1, 3, size=item.size)) % 3
    seen = LEVELS[first] - LEVELS[second] + rng.logistic(size=item.size)

    def say(found: np.ndarray) -> np.ndarray:
        return np.where(found > 0.3, "a", np.where(found < -0.3, "b", "tie")).astype(object)

    columns: dict[str, Any] = {"item": item}
    columns["model_a"], columns["model_b"] = ([f"s{i}" for i in each] for each in (first, second))
    last = (first == 2).astype(float) - (second == 2)
    for at, noise in enumerate((1.0, 1.5)):
        shown = seen + position + favored * last + noise * rng.normal(size=item.size)
        columns[f"judge_{at}"] = say(shown)
    human = say(seen)
    human[rng.permutation(item.size)[labels:]] = None
    return pd.DataFrame(columns | {"human": human})


def get_truth() -> np.ndarray:
    """Strengths by many comparisons, ties half a win."""
    table = make_pairs(999, items=20_000, labels=60_000)
    rows = ssme.evaluate_systems(table, "human", n_draws=100).rows("bradley_terry")
    return np.array([row["labels_only"] for row in sorted(rows, key=lambda row: row["system"])])


@pytest.mark.parametrize("number", range(3))
def test_strengths_of_full_data_equal_those_of_evalica(number: int):
    case = json.loads(KEPT.read_text())["cases"][number]
    table = pd.DataFrame({name: case[name] for name in ("model_a", "model_b", "human")})
    # evalica has no effect of the order: each comparison in both orders has none either
    turned = table.rename(columns={"model_a": "model_b", "model_b": "model_a"})
    turned["human"] = turned["human"].map(TURNED)
    table = pd.concat([table, turned], ignore_index=True)
    result = ssme.evaluate_systems(table.assign(judge_x=table["human"]), "human", n_draws=200)
    for row in result.rows("bradley_terry"):
        asked = case["strengths"][row["system"]]
        assert row["labels_only"] == pytest.approx(asked, abs=1e-6)
        assert row["judges"] == pytest.approx(asked, abs=1e-6)
        assert row["estimate"] == pytest.approx(asked, abs=0.01)


@pytest.mark.parametrize(
    "world",
    [{}, {"labels": 150}, {"position": 0.8}, {"favored": 0.8}],
    ids=["few", "many", "position", "favored system"],
)
def test_intervals_hold_and_estimates_are_nearer_than_labels_alone(world: dict[str, Any]):
    """80 worlds of three systems: the coverage has a standard error of about 0.02."""
    truth, held, errors = get_truth(), [], []
    for seed in range(80):
        table = make_pairs(seed, **world)
        result = ssme.evaluate_systems(table, "human", n_draws=500)
        rows = sorted(result.rows("bradley_terry"), key=lambda row: row["system"])
        low, high, own, alone, alone_low, alone_high = (
            np.array([row[name] for row in rows])
            for name in (
                "low",
                "high",
                "estimate",
                "labels_only",
                "labels_only_low",
                "labels_only_high",
            )
        )
        held.append(((low <= truth) & (truth <= high)).mean())
        errors.append((np.abs(own - truth).mean(), np.abs(alone - truth).mean()))
        assert (high - low <= alone_high - alone_low + 1e-9).all()
    assert np.mean(held) >= 0.88
    ours, alone = np.nanmean(errors, axis=0)
    assert ours < 0.9 * alone


def test_the_order_is_told_from_the_systems():
    table = make_pairs(0, position=0.8, items=400, labels=400)
    result = ssme.evaluate_systems(table, "human")
    for row in result.judges():
        assert row["position_low"] > 0.5
        assert row["position_low"] < row["position"] < row["position_high"]
    kept = table[table["human"].notna()]
    row = result.judges()[0]
    assert row["accuracy"] == pytest.approx((kept["human"] == kept["judge_0"]).mean())
    assert row["kappa"] == pytest.approx(cohen_kappa_score(kept["human"], kept["judge_0"]))
    # where a system is always first, its strength and the order are one
    table = table[(table["model_a"] == "s0") & (table["model_b"] == "s1")]
    (row, *_) = ssme.evaluate_systems(table, "human").judges()
    assert np.isnan(row["position"])


def test_one_table_however_it_is_written():
    table = make_pairs(1)
    named = table.copy()
    for name in ("judge_0", "judge_1", "human"):
        named[name] = np.where(
            table[name] == "a",
            table["model_a"],
            np.where(table[name] == "b", table["model_b"], table[name]),
        )
    named = named.rename(columns={"model_a": "x", "model_b": "y"})
    long = table.melt(
        id_vars=["model_a", "model_b", "item", "human"],
        value_vars=["judge_0", "judge_1"],
        var_name="who",
        value_name="judge_says",
    )
    long["turn"] = long.groupby(["who", "model_a", "model_b", "item"]).cumcount()
    first = ssme.evaluate_systems(table, "human").frame()
    second = ssme.evaluate_systems(named, "human", first="x", second="y").frame()
    third = ssme.evaluate_systems(
        long, "human", judge="who", judges=["judge_says"], repeat="turn"
    ).frame()
    pd.testing.assert_frame_equal(first, second)
    third = third.set_index(["measure", "system"]).loc[first.set_index(["measure", "system"]).index]
    np.testing.assert_allclose(third["estimate"], first["estimate"], atol=0.01)


def test_names_that_are_words_and_copies_are_told():
    """Of systems called a and b, the verdict a was the system where it was the second answer."""
    table = make_pairs(2).replace({"s0": "a", "s1": "b"})
    with pytest.raises(InputError, match="which may be the system of that name or the"):
        ssme.evaluate_systems(table)
    capitals = table.replace({"model_a": {"a": "A", "b": "B"}, "model_b": {"a": "A", "b": "B"}})
    with pytest.raises(InputError, match="which may be the system of that name or the"):
        ssme.evaluate_systems(capitals)
    other = table.replace({"a": "first", "b": "second"})
    other[["model_a", "model_b"]] = table[["model_a", "model_b"]].replace({"a": "s0", "b": "s1"})
    assert len(ssme.evaluate_systems(other).systems) == 3
    other = other.drop_duplicates(["item", "model_a", "model_b"])
    found = ssme.evaluate_systems(pd.concat([other, other[:50]]))
    assert "50 rows are copies of others" in str(found.warnings)


def test_gates_people_and_outputs(tmp_path: Path):
    table = make_pairs(2, labels=150)
    rng = np.random.default_rng(0)
    other = table["human"].where(rng.random(len(table)) < 0.9, "tie").where(table["human"].notna())
    table = table.rename(columns={"human": "human_1"}).assign(human_2=other)
    path = tmp_path / "arena.csv"
    table.to_csv(path, index=False)
    asked = ["systems", str(path), "--json", str(tmp_path / "r.json"), "--fail-under"]
    runner = CliRunner()
    good = runner.invoke(app, [*asked, "s2-s0:bradley_terry.low>=0"])
    bad = runner.invoke(app, [*asked, "s0-s2:win_rate.low>=0", "--force"])
    assert (good.exit_code, bad.exit_code) == (0, 1), (good.output, bad.output)
    kept = json.loads((tmp_path / "r.json").read_text())
    assert {row["measure"] for row in kept["rates"]} == {"win_rate", "bradley_terry"}
    (pair,) = kept["people"]
    assert pair["agreement"] > 0.8
    differ = kept["disagreements"]
    assert differ
    assert {"system", "second", "item", "judge"} <= differ[0].keys()
    assert "s2" in ssme.evaluate_systems(path)._repr_html_()


def test_systems_that_always_win_have_estimates_and_no_labels_alone():
    table = make_pairs(3, labels=6)
    table.loc[table["human"].notna(), "human"] = "a"
    rows = ssme.evaluate_systems(table, "human").rows("bradley_terry")
    assert all(np.isfinite(row["estimate"]) for row in rows)
    assert all(np.isnan(row["labels_only"]) or np.isfinite(row["labels_only"]) for row in rows)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({"human": "better"}, {}),
        ({"human": None}, {}),
        ({"model_b": "s1", "model_a": "s1"}, {}),
        ({"judge_0": 1}, {}),
        ({}, {"pass_k": [2]}),
        ({}, {"groups": ["item"]}),
        ({}, {"first": "model_a", "second": "nobody"}),
    ],
)
def test_what_compares_nothing_is_refused(change: dict[str, Any], options: dict[str, Any]):
    with pytest.raises(ssme.InputError):
        ssme.evaluate_systems(make_pairs(4).assign(**change), "human", **options)


def test_groups_of_systems_that_never_meet_are_refused():
    table = make_pairs(5)
    other = table.assign(model_a="t" + table["model_a"], model_b="t" + table["model_b"])
    with pytest.raises(ssme.InputError, match="not compared with each other"):
        ssme.evaluate_systems(pd.concat([table, other]), "human").rows()


def test_labels_that_the_position_explains_leave_strengths_open():
    """The second system wins whenever it comes first: labels alone have no maximum."""
    rng = np.random.default_rng(0)
    first = np.array(["gpt", "llama"] * 100)
    table = pd.DataFrame({"model_a": first, "model_b": first[::-1], "prompt": np.arange(200)})
    table["judge_x"] = rng.choice(["a", "b"], size=200)
    table["human"] = None
    table.loc[:19, "human"] = np.where(first[:20] == "llama", "a", rng.choice(["a", "b"], size=20))
    for row in ssme.evaluate_systems(table, "human").rows():
        assert np.isnan(row["labels_only"])
        assert row["high"] - row["low"] > 0.1
