"""Systems: what tables are read, what is reported, and that every output has it."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.errors import InputError, SsmeWarning
from ssme.systems.evaluation import SystemsEvaluation
from ssme.systems.rates import find_mean_interval
from tests.systems.made import make_table

KEYS = ["estimate", "low", "high", "labels_only", "judges", "p_best"]


def evaluate(table: pd.DataFrame, **options: object) -> SystemsEvaluation:
    return ssme.evaluate_systems(table, "human", **{"judges": "judge_*", **options})


def test_one_row_for_each_system():
    table, _ = make_table(1)
    rows = evaluate(table).rows()
    assert [row["system"] for row in rows] == ["s0", "s1", "s2"]
    for row in rows:
        own = table[table["system"] == row["system"]]
        assert row["judges"] == pytest.approx(own[["judge_0", "judge_1", "judge_2"]].mean().mean())
        assert row["labels_only"] == pytest.approx(own["human"].mean())
        assert row["low"] < row["estimate"] < row["high"]
        assert row["high"] - row["low"] <= row["labels_only_high"] - row["labels_only_low"] + 1e-3
        assert row["effective_labels"] >= row["n_labels"] * 0.99
    assert sum(row["p_best"] for row in rows) == pytest.approx(1.0)


def test_the_same_numbers_however_verdicts_are_written():
    table, _ = make_table(2)
    first = evaluate(table).frame()[KEYS]
    words = table.copy()
    words["human"] = words["human"].map({1.0: "Yes", 0.0: "No"})
    words["judge_0"] = words["judge_0"].map({1.0: "pass", 0.0: "fail"})
    words["judge_1"] = words["judge_1"].map({1.0: True, 0.0: False})
    words["judge_2"] = words["judge_2"].map({1.0: "C", 0.0: "I"})
    pd.testing.assert_frame_equal(evaluate(words).frame()[KEYS], first)
    told = table.copy()
    told["human"] = told["human"].map({1.0: "ok", 0.0: "meh"})
    for name in ("judge_0", "judge_1", "judge_2"):
        told[name] = told[name].map({1.0: "ok", 0.0: "meh"})
    with pytest.raises(InputError, match="positive"):
        evaluate(told)
    pd.testing.assert_frame_equal(evaluate(told, positive="ok").frame()[KEYS], first)


@pytest.mark.parametrize("epochs", [1, 3])
def test_long_tables_say_the_same_as_wide_ones(epochs: int):
    table, _ = make_table(3, epochs=epochs, labels=90)
    keys = ["system", "item", "epoch", "human"]
    long = table.melt(id_vars=keys, value_vars=["judge_0", "judge_1", "judge_2"])
    shuffled = long.sample(frac=1.0, random_state=0)
    wide = evaluate(table).frame().set_index("system")[KEYS]
    read = evaluate(shuffled, judges="value", judge="variable")
    # the order of rows decides which draw is whose, not what is estimated
    for name in ("estimate", "labels_only", "judges"):
        np.testing.assert_allclose(read.frame().set_index("system")[name][wide.index], wide[name])
    named = long.rename(columns={"value": "verdict", "variable": "grader", "epoch": "attempt"})
    if epochs > 1:
        with pytest.raises(InputError, match="repeat"):
            ssme.evaluate_systems(named, "human", judge="grader")
    with pytest.raises(InputError, match="each row is one verdict"):
        ssme.evaluate_systems(named, "human")
    again = ssme.evaluate_systems(named, "human", judge="grader", repeat="attempt").frame()
    pd.testing.assert_frame_equal(again, evaluate(long, judges="value", judge="variable").frame())


def test_means_of_numbers_and_grades():
    table, truth = make_table(4, labels=120)
    scores = table.copy()
    for name in ("human", "judge_0", "judge_1", "judge_2"):
        scores[name] = 20.0 + 60.0 * scores[name]
    found = evaluate(scores, bounds=[0, 100]).frame()
    assert set(found["measure"]) == {"mean"}
    assert np.abs(found["estimate"] - (20.0 + 60.0 * truth)).max() < 12.0
    assert ((found["low"] > 0.0) & (found["high"] < 100.0)).all()
    graded = table.copy()
    for name in ("human", "judge_0", "judge_1", "judge_2"):
        graded[name] = graded[name].map({1.0: "good", 0.0: "poor"})
    graded.loc[graded.index[::7], "judge_0"] = "fair"
    means = evaluate(graded, grades=["poor", "fair", "good"]).frame()
    assert means["estimate"].between(1.0, 3.0).all()
    passes = evaluate(graded, grades=["poor", "fair", "good"], cut="good").frame()
    assert set(passes["measure"]) == {"pass_rate"}
    np.testing.assert_allclose(passes["labels_only"], evaluate(table).frame()["labels_only"])


def test_a_judge_may_have_a_scale_of_its_own():
    table, truth = make_table(5, labels=150)
    table["judge_0"] = 10.0 + 80.0 * table["judge_0"]
    found = evaluate(table).frame()
    assert np.abs(found["estimate"] - truth).max() < 0.12


def test_differences_are_those_of_the_draws():
    table, _ = make_table(6)
    result = evaluate(table)
    values = dict(zip(result.frame()["system"], result.frame()["estimate"], strict=True))
    rows = result.differences()
    assert [(r["first"], r["second"]) for r in rows] == list(combinations(values, 2))
    for row in rows:
        assert row["difference"] == pytest.approx(values[row["first"]] - values[row["second"]])
        assert row["low_all"] <= row["low"] < row["high"] <= row["high_all"]
        assert (row["p_first"] > 0.5) == (row["difference"] > 0.0)


def test_pairing_by_item_makes_differences_narrower():
    table, _ = make_table(7, items=400, levels=(0.1, 0.2), labels=400, accuracies=(0.97,))
    widths = []
    for shuffle in (False, True):
        given = table.copy()
        if shuffle:
            given["item"] = np.arange(len(given))
        (row,) = evaluate(given).differences()
        widths.append(row["high"] - row["low"])
    assert widths[0] < 0.95 * widths[1]


def test_groups():
    table, _ = make_table(8, labels=100)
    rows = [r for r in evaluate(table, groups="topic").rows() if r["group"] != "all"]
    assert {(r["system"], r["group"]) for r in rows} == {
        (s, f"topic={t}") for s in ("s0", "s1", "s2") for t in ("math", "code")
    }
    for group in ("topic=math", "topic=code"):
        assert sum(r["p_best"] for r in rows if r["group"] == group) == pytest.approx(1.0)


def test_any_and_all_of_k_repeats():
    table, _ = make_table(9, items=80, epochs=4, labels=0)
    by_item = table.groupby(["system", "item"])["judge_0"]
    some = table["item"] < 30
    table["human"] = table["judge_0"].where(some)  # people agree with the first judge
    found = evaluate(table, pass_k=[2]).frame().set_index(["measure", "system"])
    n, passed = 4, by_item.sum().unstack("system").loc[:29]
    any_pass = 1.0 - (n - passed) * (n - passed - 1) / (n * (n - 1))
    all_pass = passed * (passed - 1) / (n * (n - 1))
    for name, truth in (("pass_any[2]", any_pass), ("pass_all[2]", all_pass)):
        for system in ("s0", "s1", "s2"):
            row = found.loc[(name, system)]
            assert row["labels_only"] == pytest.approx(truth[system].mean())
            assert row["n_labels"] == 30
    some = found["estimate"].unstack("system")
    assert (some.loc["pass_any[2]"] > some.loc["pass_rate"]).all()
    assert (some.loc["pass_rate"] > some.loc["pass_all[2]"]).all()
    with pytest.raises(InputError, match="5 repeats"):
        evaluate(table, pass_k=[5]).rows()


def test_gates():
    table, _ = make_table(10, levels=(-0.5, 0.6), labels=100)
    result = evaluate(table)
    assert result.gate("s1-s0:pass_rate.low>=-0.01").passed
    assert not result.gate("s0-s1:pass_rate.low>=-0.01").passed
    (row,) = result.differences()
    turned = result.gate(f"s1-s0:pass_rate.low>={-row['high'] - 1e-9}")
    assert turned.passed
    assert not result.gate("pass_rate.low>=0.6").passed
    assert result.gate("s1:pass_rate>=0.5").passed
    for text in ("other:pass_rate>=0.5", "accuracy>=0.5", "pass_rate>=50", "s0-s0:pass_rate>=0"):
        with pytest.raises(InputError):
            evaluate(table, fail_under=[text])
    for text in ("pass_rate>=0", "pass_rate.low<=1", "pass_rate<0.5", "s1-s0:pass_rate>=-1"):
        with pytest.raises(InputError, match=r"is true for every model|passes bad models"):
            evaluate(table, fail_under=[text])


def test_what_is_no_random_sample_of_rows_is_named(tmp_path: Path):
    """Copies counted as repeats, -1 as a grade and suggested rows as a sample, without a word."""
    table, _ = make_table(10, levels=(-0.5, 0.6), labels=100)
    copied = pd.concat([table, table[table["human"].notna()]])
    assert "100 rows are copies of others" in str(evaluate(copied).warnings)
    other = copied.assign(trial=np.arange(len(copied)))  # repeats that something tells apart
    assert "copies" not in str(evaluate(other).warnings)
    failed = table["judge_0"] == 0
    chosen = evaluate(table.assign(human=table["human"].where(failed)))
    assert chosen.warnings[0].title == "Rows with a label differ from the others"
    checked = table.loc[table["human"].notna(), ["system", "item", "human"]]
    path, alone = tmp_path / "checked.csv", table.drop(columns="human")
    checked.assign(probability=0.1, round=1).to_csv(path, index=False)
    with pytest.raises(InputError, match="as `ssme suggest` writes"):
        evaluate(alone, labels_file=path)
    checked[:60].to_csv(path, index=False)
    assert len(evaluate(alone, labels_file=path).rows()) == 2
    with pytest.warns(
        SsmeWarning, match="replace those of the frame, and 40 rows that are labeled"
    ):
        evaluate(table, labels_file=path)
    with pytest.raises(InputError, match="has -1, which may be a verdict or mean"):
        evaluate(table.assign(human=table["human"].fillna(-1)))
    codes = table.assign(human=table["human"].map({0: -1, 1: 1}))
    assert evaluate(codes, bounds=[-1, 1]).measures == ("mean",)
    with pytest.raises(InputError, match="'probability', 'round', as `ssme suggest` writes"):
        evaluate(table.assign(probability=0.1, round=1))
    with pytest.warns(SsmeWarning, match="'weight' is not used"):
        evaluate(table.assign(weight=2.0))
    with pytest.raises(InputError, match="floating-point number that may be rounded"):
        evaluate(table.assign(item=table["item"].astype(float) + 2.0**53))


def test_same_seed_same_numbers():
    table, _ = make_table(11)
    pd.testing.assert_frame_equal(evaluate(table).frame(), evaluate(table).frame())
    other = evaluate(table, random_state=1).frame()
    assert np.abs(other["estimate"] - evaluate(table).frame()["estimate"]).max() < 1e-3


@pytest.mark.parametrize(
    ("change", "options"),
    [
        ({"human": np.nan}, {}),
        ({"judge_0": "maybe so"}, {}),
        ({}, {"judges": "grader_*"}),
        ({}, {"system": "nothing"}),
        ({"human": 3.0}, {}),
        ({"human": 3.0}, {"bounds": [0, 1]}),
        ({"item": None}, {}),
        ({}, {"bounds": [1, 0]}),
        ({}, {"pass_k": [2]}),
        ({}, {"judges": ["judge_0", "item"]}),
        ({}, {"label": "system"}),
    ],
)
def test_what_cannot_be_read_is_refused(change: dict[str, object], options: dict[str, object]):
    table, _ = make_table(12)
    with pytest.raises(InputError):
        evaluate(table.assign(**change), **options).rows()


def test_few_labels_and_systems_without_one_are_warned_of():
    table, _ = make_table(13, labels=40)
    table.loc[table["system"] == "s1", "human"] = np.nan
    text = str(evaluate(table))
    assert "no label for s1" in text
    row = evaluate(table).rows()[1]
    assert np.isnan(row["labels_only"])
    assert 0.0 < row["low"] < row["high"] < 1.0


def test_every_output_has_the_rates(tmp_path: Path):
    table, _ = make_table(14)
    table.to_csv(tmp_path / "evals.csv", index=False)
    result = ssme.evaluate_systems(tmp_path / "evals.csv")
    shown = f"{result.rows()[0]['estimate']:.3f}"
    assert shown in str(result)
    assert shown in result._repr_html_()
    for suffix in (".html", ".md"):
        result.report(tmp_path / f"report{suffix}")
        assert shown in (tmp_path / f"report{suffix}").read_text()
    result.report(tmp_path / "report.json")
    facts = json.loads((tmp_path / "report.json").read_text())
    assert facts["rates"][0]["estimate"] == result.rows()[0]["estimate"]
    assert facts["sections"]


def test_the_command(tmp_path: Path):
    table, _ = make_table(15, levels=(-0.5, 0.6), labels=100)
    file = tmp_path / "evals.csv"
    table.rename(columns={"system": "model", "item": "prompt"}).to_csv(file, index=False)
    words = ["systems", str(file), "--system", "model", "--item", "prompt", "-y", "human"]
    passed = [*words, "--judges", "judge_*", "--fail-under", "s1-s0:pass_rate.low>=-0.01"]
    ran = CliRunner().invoke(app, [*passed, "--json", str(tmp_path / "out.json")])
    assert ran.exit_code == 0, ran.output
    assert "s1" in ran.output
    assert json.loads((tmp_path / "out.json").read_text())["gate"]["passed"]
    failed = CliRunner().invoke(app, [*words, "--fail-under", "s0-s1:pass_rate>=0"])
    assert failed.exit_code == 1
    ran = CliRunner().invoke(app, [*words, "--csv", "-", "-g", "topic"])
    assert ran.output.count("\n") >= 7
    assert CliRunner().invoke(app, ["systems"]).exit_code == 2


def test_labels_of_people_are_joined_by_system_and_item(tmp_path: Path):
    table, _ = make_table(16)
    first = evaluate(table).frame()
    people = table.loc[table["human"].notna(), ["item", "system", "human"]]
    people.sample(frac=1.0, random_state=0).to_csv(tmp_path / "people.csv", index=False)
    plain = table.drop(columns="human")
    joined = evaluate(plain, labels_file=tmp_path / "people.csv").frame()
    pd.testing.assert_frame_equal(joined, first)
    # the systems may be called models there, as in logs that `read_logs` renamed
    people.rename(columns={"system": "model"}).to_csv(tmp_path / "models.csv", index=False)
    joined = evaluate(plain, labels_file=tmp_path / "models.csv").frame()
    pd.testing.assert_frame_equal(joined, first)
    named = plain.assign(id=np.arange(len(plain)))
    by_id = named[["id"]].assign(human=table["human"]).dropna()
    by_id.to_csv(tmp_path / "ids.csv", index=False)
    pd.testing.assert_frame_equal(evaluate(named, labels_file=tmp_path / "ids.csv").frame(), first)
    # Inspect calls items of a system ids
    people.rename(columns={"item": "id"}).to_csv(tmp_path / "items.csv", index=False)
    joined = evaluate(plain, labels_file=tmp_path / "items.csv").frame()
    pd.testing.assert_frame_equal(joined, first)
    people.assign(item=people["item"] + 10_000).to_csv(tmp_path / "others.csv", index=False)
    with pytest.raises(InputError, match=r"1000.*column 'item' has '0'"):
        evaluate(plain, labels_file=tmp_path / "others.csv")
    pd.concat([people, people]).to_csv(tmp_path / "twice.csv", index=False)
    with pytest.raises(InputError, match="more than one"):
        evaluate(plain, labels_file=tmp_path / "twice.csv")


def test_logs_of_a_harness_are_read_as_they_are(tmp_path: Path):
    table, _ = make_table(17, items=40, levels=(0.0, 0.5), labels=40)
    for system, rows in table.groupby("system"):
        results = [
            {
                "promptIdx": 0,
                "testIdx": int(row["item"]),
                "provider": {"id": str(system)},
                "vars": {"q": str(row["item"])},
                "success": bool(row["judge_0"]),
                "score": float(row["judge_0"]),
                "gradingResult": {"pass": bool(row["judge_0"]), "score": float(row["judge_0"])},
            }
            for _, row in rows.iterrows()
        ]
        log = {"version": 3, "results": {"version": 3, "results": results}}
        (tmp_path / f"{system}.json").write_text(json.dumps(log))
    logs = ssme.read_logs(tmp_path)
    people = logs[["system", "item"]].iloc[::3]
    people.assign(human=1).to_csv(tmp_path / "people.csv", index=False)
    paths = sorted(tmp_path.glob("*.json"))
    found = ssme.evaluate_systems(paths, labels_file=tmp_path / "people.csv").frame()
    assert list(found["system"]) == ["s0", "s1"]
    assert (found["n_labels"] > 0).all()


def test_an_unknown_option_is_refused():
    table, _ = make_table(18)
    with pytest.raises(InputError, match=r"no option 'sytem'.*Did you mean 'system'"):
        evaluate(table, sytem="system")


def test_few_numbers_near_an_end_of_the_scale_leave_room():
    values = np.array([1.0] * 9 + [0.9])
    _, low, high = find_mean_interval(values, np.arange(10), 0.95, binary=False)
    assert low < 0.9
    assert high > 0.99


def test_what_judges_get_wrong_about_a_group_is_learned_from_all_systems():
    table, _ = make_table(21, labels=0)
    rng = np.random.default_rng(0)
    passed = rng.random(len(table)) < 0.5
    table["judge_0"] = np.where(table["topic"] == "math", 1.0, passed)
    table["human"] = np.where(
        (table["system"] != "s2") & (rng.random(len(table)) < 0.3), passed, np.nan
    )
    found = ssme.evaluate_systems(table, "human", judges="judge_0", groups="topic").frame()
    row = found.set_index(["system", "group"]).loc[("s2", "topic=math")]
    assert row["judges"] == 1.0
    assert row["estimate"] < 0.7


def test_numbers_are_read_from_flags(tmp_path: Path):
    table, _ = make_table(22)
    table["human"] *= 80.0
    table.to_csv(tmp_path / "evals.csv", index=False)
    asked = ["systems", str(tmp_path / "evals.csv"), "-y", "human", "--csv", "-"]
    given = [*asked, "--bounds", "0,100", "--cut", "50", "--pass-k", "1"]
    ran = CliRunner().invoke(app, given)
    assert "pass_any[1]" in ran.output
    ran = CliRunner().invoke(app, [*asked, "--bounds", "0,100,x"])
    assert ran.exit_code == 2
    ran = CliRunner().invoke(app, [*asked, "--cut", "50", "--label-error", "0.1"])
    assert ran.exit_code == 0
    ran = CliRunner().invoke(app, [*asked, "--cut", "50", "--label-error", "some"])
    assert ran.exit_code == 2


def test_versions_that_are_one_number_are_not_put_together(tmp_path: Path):
    rows = [
        f"{version},{item},{item % 2},{item % 3 % 2 if item < 20 else ''}"
        for version in ("1.1", "1.10")
        for item in range(60)
    ]
    path = tmp_path / "versions.csv"
    path.write_text("\n".join(["system,item,judge_a,human", *rows]))
    with pytest.raises(InputError, match=r"system 1\.1 has several answers to item 0"):
        ssme.evaluate_systems(path, "human")
    path.write_text(path.read_text().replace("1.10,", "1.2,"))
    assert len(ssme.evaluate_systems(path, "human").rows()) == 2
