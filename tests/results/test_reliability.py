"""Every probability of a choice is shown with what was measured of it, from one file."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.decide.record import RECORD, build_record
from tests.made_sets import binary_set, grouped_set

import ssme
from ssme.cli.group_tables import make_group_tables
from ssme.methods.base import Estimate
from ssme.metrics import get_metric
from ssme.report import render_html, render_markdown, summarize
from ssme.results import reliability
from ssme.results.reliability import Bin, Record, find_record

ACCURACY = get_metric("accuracy")


def record_of(what, *bins):
    return Record("m", "accuracy", tuple((what, Bin(*one, labels=(50,))) for one in bins))


def test_the_file_is_that_of_the_result_tables():
    assert RECORD.read_text(encoding="utf-8") == build_record()


@pytest.mark.parametrize("method", ["auto", "labeled"])
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_methods_that_people_decide_by_are_measured(method, metric):
    for n_labeled in (1, 30, 5000):
        found = find_record(method, get_metric(metric), 2, n_labeled)
        for what in ("best", "better", "set"):
            assert found.tell(what).verdict != "not measured"


def test_nothing_is_claimed_of_what_was_not_measured():
    for method, metric, n_labeled in (
        ("ssme", "accuracy", 50),
        ("auto", "f1", 50),
        ("auto", "accuracy", 0),
    ):
        told = find_record(method, get_metric(metric), 2, n_labeled).tell("best", 0.5)
        assert told.verdict == "not measured"
        assert "was not measured" in told.sentence


def test_a_metric_is_found_by_its_kind_and_direction():
    renamed = replace(ACCURACY, name="mine")
    assert find_record("auto", renamed, 2, 50) == find_record("auto", ACCURACY, 2, 50)
    turned = replace(ACCURACY, greater_is_better=False)
    assert find_record("auto", turned, 2, 50).bins == ()


def test_the_bin_of_the_probability_is_told_and_the_worst_without_one():
    found = record_of("best", (0.0, 0.4, 90, 0.2, 0.22), (0.4, 1.01, 60, 0.5, 0.26))
    assert found.tell("best", 0.3).verdict == "as said"
    high = found.tell("best", 0.4)
    assert high.verdict == "too high"
    assert high.sentence == (
        "On benchmark sets, with method m and 50 labels, 26% of the models reported as the best by "
        "accuracy with a probability of 40% or more truly were."
    )
    assert found.tell("best") == high
    low = record_of("best", (0.0, 0.4, 90, 0.2, 0.4), (0.4, 1.01, 60, 0.5, 0.54)).tell("best")
    assert low.verdict == "too low"
    assert (
        "40% of the models reported as the best by accuracy with a probability of less than 40%"
        in (low.sentence)
    )


def test_what_holds_is_said_to_hold_and_how_closely():
    found = record_of("better", (0.5, 0.8, 90, 0.65, 0.66), (0.8, 1.01, 90, 0.9, 0.872))
    assert found.tell("better").sentence.endswith(
        "as often true as it says, within 3 percentage points."
    )
    assert found.tell("better", 0.1) == found.tell("better", 0.9)


def test_few_cases_tell_nothing():
    found = record_of("best", (0.0, 0.4, 90, 0.2, 0.2), (0.4, 1.01, 29, 0.5, 0.5))
    assert found.tell("best", 0.5).verdict == "not measured"
    assert "too seldom" in found.tell("best", 0.5).sentence


def test_a_bin_with_few_cases_is_that_of_all_numbers_of_labels(monkeypatch):
    lines = [
        reliability._Row("m", "accuracy", n, "best", Bin(low, low + 0.5, cases, 0.4, true, (n,)))
        for n, low, cases, true in (
            (20, 0.0, 50, 0.1),
            (100, 0.0, 50, 0.3),
            (20, 0.5, 30, 0.2),
            (100, 0.5, 10, 0.6),
        )
    ]
    monkeypatch.setattr(reliability, "_read", lambda: tuple(lines))
    few, many = ({b.low: b for _, b in find_record("m", ACCURACY, 2, n).bins} for n in (44, 46))
    assert few[0.0].labels == few[0.5].labels == (20,)
    assert (many[0.0].labels, many[0.0].true) == ((100,), 0.3)
    assert (many[0.5].labels, many[0.5].cases) == ((20, 100), 40)
    assert many[0.5].true == pytest.approx(0.3)


@pytest.fixture(scope="module")
def evaluated():
    return ssme.evaluate(binary_set(n=200, n_labeled=50), method="labeled", metrics="accuracy")


def test_every_output_says_it(evaluated):
    record = evaluated.find_record(ACCURACY)
    best, better = record.tell("best").sentence, record.tell("better").sentence
    choice = evaluated.choose()
    for text in (choice.sentence(), choice.describe_sureness()):
        assert text.index("probability the best one is") < text.index("is the best with")
        assert choice.reliability.sentence in text
        holds = choice.set_reliability.verdict == "as said"
        assert (choice.set_reliability.sentence in text) != holds
    assert best in repr(evaluated.ranking()).splitlines()[-1]
    assert better in repr(evaluated.compare()).splitlines()[-1]
    assert best.split(",")[0] in evaluated.ranking()._repr_html_()
    summary = summarize(evaluated)
    sure = summary["headline"]["answers"][2]
    assert sure["answer"] == f"{len(choice.possible_best)} of {evaluated.data.n_models}"
    assert "%" not in sure["detail"]
    assert summary["headline"]["sureness"] == choice.describe_sureness()
    assert summary["headline"]["sureness"] in render_html(summary, [])
    assert best in render_markdown(summary).replace("\\", "")
    assert render_html(summary, []).count(best) >= 1
    found = json.loads(evaluated.to_json())
    assert found["decision"]["reliability"]["sentence"] == choice.reliability.sentence
    assert found["reliability"][0]["p_better"]["sentence"] == better
    assert best in evaluated.plot.ranking("accuracy").alt


def test_nothing_is_claimed_on_groups():
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy")
    group = r.groups[1].name
    assert r.choose(group=group).reliability.verdict == "not measured"
    assert r.ranking(group=group).reliability.verdict == "not measured"
    assert r.compare(group=group).reliability[0].verdict == "not measured"


def test_nothing_was_measured_of_judges():
    said = {f"judge {j}": ["yes", "no", "no", "yes", "no"] * 4 for j in range(3)}
    r = ssme.evaluate(ssme.ScoreSet.from_answers(said, ["yes", "no", None, None, None] * 4))
    told = r.choose("accuracy").reliability
    assert told.verdict == "not measured"
    assert "accuracy of answers and ratings" in told.sentence


@pytest.fixture
def known(monkeypatch):
    """A record in which P(worst) and P(within) were too high, and P(best) as it is given."""

    def fill(best=0.5):
        lines = [
            reliability._Row("labeled", "accuracy", 50, what, Bin(0.0, 1.01, 90, 0.5, true, (50,)))
            for what, true in (("worst", 0.2), ("within", 0.31), ("best", best))
        ]
        monkeypatch.setattr(reliability, "_read", lambda: tuple(lines))

    return fill


def test_p_worst_is_shown_with_its_record(known):
    known()
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy")
    told = r.find_record(ACCURACY).tell("worst").sentence
    assert "20% of the groups reported as the worst by accuracy" in told
    by = r.groups[1].by
    assert r.worst_groups(by=by).reliability.verdict == "too high"
    for table in (r.worst_groups(by=by), r.gaps()):
        assert repr(table).splitlines()[-1] == told
    summary = summarize(r)
    assert f"P(worst): {told}" in render_html(summary, [])
    assert told in render_markdown(summary).replace("\\", "")
    assert summary["group_ranks"][0]["reliability"] == told
    assert json.loads(r.to_json())["reliability"][0]["p_worst"]["sentence"] == told
    assert all(told in table.caption.plain for table in make_group_tables(r, None))


def test_groups_are_shown_with_the_record_of_their_largest_p_worst(monkeypatch):
    lines = [
        reliability._Row("labeled", "accuracy", 50, "worst", Bin(low, high, 90, said, true, (50,)))
        for low, high, said, true in ((0.0, 0.95, 0.5, 0.4), (0.95, 1.01, 0.97, 0.1))
    ]
    monkeypatch.setattr(reliability, "_read", lambda: tuple(lines))
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy")
    table = r.worst_groups(by=r.groups[1].by)
    assert max(row.p_worst for row in table.rows) < 0.95
    assert "40% of the groups reported as the worst" in table.reliability.sentence
    assert (
        "10% of the groups reported as the worst" in r.find_record(ACCURACY).tell("worst").sentence
    )


def test_p_worst_for_the_rows_at_hand_was_not_measured(known):
    known()
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy", group_target="rows")
    told = r.worst_groups(by=r.groups[1].by).reliability
    assert told.verdict == "not measured"
    assert "rows at hand" in told.sentence
    (recall,) = r.gaps(kinds=["equal_opportunity"]).reliability
    assert "by recall" in recall.sentence


def test_p_within_is_shown_with_its_record(known, evaluated):
    known()
    told = "31% of the picks reported as so near the best accuracy"
    draws = np.array([[0.8, 0.7, 0.5]] * 90 + [[0.8, 0.85, 0.5]] * 10)
    unsure = replace(evaluated, estimates=((Estimate(draws[0], draws),),))
    choice = unsure.choose(margin=0.01)
    assert told in choice.within_reliability.sentence
    assert choice.to_dict()["within_reliability"]["verdict"] == "too high"
    failed = unsure.gate(within=0.01, fail_on="never")
    assert told in failed.failures[0]
    assert failed.remarks == ()
    passed = replace(unsure, level=0.85).gate(within=0.01, fail_on="never")
    assert passed.passed
    assert told in passed.remarks[0]
    for margin in (0.0, 0.05):
        other = evaluated.choose(margin=margin).within_reliability
        assert other.verdict == "not measured"
        assert f"with a margin of {margin:g}" in other.sentence


def test_the_report_does_not_say_that_nothing_was_found_where_p_best_did_not_hold(known, evaluated):
    calm = replace(evaluated, doubts=())
    known(best=0.1)
    summary = summarize(calm)
    card = summary["headline"]["answers"][-1]
    assert card["answer"] == "How sure it is"
    assert "P(best) is surer than it should be" in card["detail"]
    assert "10% of the models" in card["detail"]
    assert card["detail"].endswith(summary["caution"])
    assert render_html(summary, []).count(summary["caution"]) == 2
    assert summary["caution"] in render_markdown(summary).replace("\\", "")
    known(best=0.5)
    assert summarize(calm)["headline"]["answers"][-1]["answer"] == "Nothing found"
    assert summarize(calm)["caution"] == ""


def test_without_probabilities_nothing_is_said_of_them():
    data = binary_set(n=200, n_labeled=50)
    r = ssme.evaluate(data, method="atc", metrics="accuracy")
    assert r.ranking().remarks == ()
    assert r.compare().remarks == ()
