"""Every probability of a choice is reported once, corrected by what was measured of it."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.decide.record import RECORD, build_record, cross_check
from tests.made_sets import binary_set, grouped_set

import ssme
from ssme.methods.base import Estimate
from ssme.metrics import get_metric
from ssme.results import reliability
from ssme.results.choose import choose_model
from ssme.results.reliability import Bin, Record, find_record
from ssme.show.document import build_document
from ssme.show.html import render_html
from ssme.show.sections import format_percent
from ssme.show.text import render_markdown

ACCURACY = get_metric("accuracy")
KINDS = ("best", "better", "within", "worst")


def record_of(what, *bins):
    return Record("m", "accuracy", tuple((what, Bin(*one)) for one in bins))


def list_records():
    keys = {(*key, n) for key, rows in reliability._read().items() for n, _, _ in rows}
    return [find_record(m, get_metric(metric), 2, n) for m, metric, n in sorted(keys)]


def test_the_file_is_that_of_the_result_tables():
    assert RECORD.read_text(encoding="utf-8") == build_record()


def test_correction_by_other_sets_brings_probabilities_nearer_to_the_truth():
    """Corrected by the record of sets they were not measured on: nearer, or as near."""
    errors = cross_check()
    assert len(errors) == 12
    for (what, method, _), row in errors.iterrows():
        if method == "labeled" or what == "within":
            assert row["corrected"] < row["reported"]
        assert row["corrected"] < row["reported"] + 0.006


@pytest.mark.parametrize("method", ["auto", "labeled"])
@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_methods_that_people_decide_by_are_measured(method, metric):
    for n_labeled in (1, 30, 5000):
        found = find_record(method, get_metric(metric), 2, n_labeled)
        assert all(found.knows(what) for what in ("best", "better", "within"))


def test_nothing_is_claimed_of_what_was_not_measured():
    for method, metric, n_labeled in (
        ("ssme", "accuracy", 50),
        ("auto", "f1", 50),
        ("auto", "accuracy", 0),
    ):
        found = find_record(method, get_metric(metric), 2, n_labeled)
        assert not found.knows("best")
        assert "not calibrated" in found.list_remarks("best", 0.7)[0]
        np.testing.assert_array_equal(
            found.correct_shares("best", np.array([0.7, 0.3])), [0.7, 0.3]
        )


def test_a_metric_is_found_by_its_kind_and_direction():
    renamed = replace(ACCURACY, name="mine")
    assert find_record("auto", renamed, 2, 50).bins == find_record("auto", ACCURACY, 2, 50).bins
    turned = replace(ACCURACY, greater_is_better=False)
    assert find_record("auto", turned, 2, 50).bins == ()


def test_the_number_of_labels_nearest_on_a_logarithmic_scale_counts(monkeypatch):
    rows = [(n, "best", Bin(0.4, true, 0.1)) for n, true in ((20, 0.1), (100, 0.3))]
    monkeypatch.setattr(reliability, "_read", lambda: {("m", "accuracy"): rows})
    few, many = (find_record("m", ACCURACY, 2, n).bins[0][1].true for n in (44, 46))
    assert (few, many) == (0.1, 0.3)


def test_a_measured_frequency_counts_by_its_error():
    """The reported 52 % of which 23 % were true: the nearer to 23 %, the surer that is."""
    for error, expected in ((0.0, 0.23), (0.1, 0.375), (1e6, 0.52)):
        assert record_of("best", (0.52, 0.23, error)).correct("best", 0.52) == pytest.approx(
            expected, abs=1e-6
        )
    halfway = record_of("best", (0.5, 0.3, 0.0))
    np.testing.assert_allclose(halfway.correct("best", [0.0, 0.25, 0.75, 1.0]), [0, 0.15, 0.65, 1])


@pytest.mark.parametrize("record", list_records(), ids=lambda r: f"{r.method}-{r.metric}")
def test_corrected_probabilities_are_probabilities(record):
    grid = np.linspace(0.0, 1.0, 101)
    for what in KINDS:
        corrected = record.correct(what, grid)
        assert (np.diff(corrected) >= -1e-12).all()
        np.testing.assert_allclose(corrected[[0, -1]], [0.0, 1.0])
    np.testing.assert_allclose(
        record.correct("better", 1.0 - grid), 1.0 - record.correct("better", grid)
    )
    shares = np.random.default_rng(0).dirichlet([0.5] * 6, 20)
    for each in shares:
        each[2] = np.nan
        raw = each / np.nansum(each)
        corrected = record.correct_shares("best", raw)
        assert np.nansum(corrected) == pytest.approx(1.0)
        order = np.argsort(raw[np.isfinite(raw)])
        assert (np.diff(corrected[np.isfinite(raw)][order]) >= -1e-12).all()
        assert np.isnan(corrected[2])
    both = np.array([0.7, 0.3])
    np.testing.assert_allclose(record.correct_shares("best", both), record.correct("better", both))


@pytest.fixture(scope="module")
def evaluated():
    return ssme.evaluate(binary_set(n=200, n_labeled=20), method="labeled", metrics="accuracy")


def test_every_output_has_the_corrected_probability_once(evaluated):
    record, raw = evaluated.find_record(ACCURACY), evaluated.choose().contenders
    expected = record.correct_shares("best", np.array([each.p_best_raw for each in raw]))
    choice, ranking = evaluated.choose(), evaluated.ranking()
    assert [each.p_best for each in choice.contenders] == expected.tolist()
    assert [each.p_best for each in ranking.rows] == expected.tolist()
    assert abs(choice.p_best - choice.p_best_raw) > 0.005
    assert "p_best_raw" not in repr(ranking)
    assert "p_best_raw" not in ranking._repr_html_()
    assert "p_best_raw" in ranking.frame().columns
    assert re.findall(r"\d+%", choice.sentence()) == ["95%", format_percent(choice.p_best)]
    found = json.loads(evaluated.to_json())
    assert found["decision"]["p_best"] == found["ranking"][0]["p_best"] == choice.p_best
    assert found["decision"]["p_best_raw"] == found["ranking"][0]["p_best_raw"] == choice.p_best_raw
    assert found["calibrated"]["accuracy"]["p_best"] is True
    document = build_document(evaluated)
    assert document.answers[2].answer == format_percent(choice.p_best)
    facts = json.dumps(document.to_dict())
    for text in (render_html(document), render_markdown(document), facts):
        assert "not calibrated" not in text
        assert " truly were" not in text
    for one, two in zip(evaluated.compare().rows, found["differences"], strict=True):
        assert one.p_better == float(record.correct("better", one.p_better_raw)) == two["p_better"]


def test_the_set_of_possible_best_models_goes_by_corrected_probabilities():
    """Raw probabilities 96 % and twice 2 %; the record halves what is said of favorites."""
    draws = np.repeat([[0.9, 0.8, 0.7], [0.7, 0.9, 0.8], [0.7, 0.8, 0.9]], [96, 2, 2], axis=0)
    estimate = Estimate(np.array([0.89, 0.8, 0.7]), draws)
    sure = choose_model(tuple("abc"), ACCURACY, estimate)
    assert (sure.possible_best, sure.calibrated) == (("a",), False)
    unsure = choose_model(
        tuple("abc"), ACCURACY, estimate, record=record_of("best", (0.02, 0.2, 0), (0.96, 0.5, 0))
    )
    assert unsure.possible_best == ("a", "b", "c")
    assert unsure.p_best == pytest.approx(0.5 / 0.9)
    assert "not calibrated" not in unsure.sentence()


def test_nothing_is_claimed_on_groups_nor_of_judges():
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy")
    group = r.groups[1].name
    assert not r.choose(group=group).calibrated
    assert "on a group of rows" in r.ranking(group=group).remarks[0]
    assert "on a group of rows" in r.compare(group=group).remarks[0]
    names = [each.name for each in r.groups[1:3]]
    assert "on a group of rows" in r.compare(groups=("all", names[0])).remarks[0]
    said = {f"judge {j}": ["yes", "no", "no", "yes", "no"] * 4 for j in range(3)}
    judged = ssme.evaluate(ssme.ScoreSet.from_answers(said, ["yes", "no", None, None, None] * 4))
    assert not judged.choose("accuracy").calibrated
    assert "answers and ratings" in judged.ranking("accuracy").remarks[0]


@pytest.fixture
def known(monkeypatch):
    """A record in which one half was true in one case of five, and so was 0.3 of worst groups."""
    bins = [("within", 0.5), ("worst", 0.3), ("worst", 0.5)]
    rows = [(50, what, Bin(reported, 0.2, 0.0)) for what, reported in bins]
    monkeypatch.setattr(reliability, "_read", lambda: {("labeled", "accuracy"): rows})


@pytest.mark.usefixtures("known")
def test_p_worst_is_corrected_everywhere():
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy")
    by = r.groups[1].by
    rows = r.worst_groups(by=by).rows
    raw = np.array([row.p_worst_raw for row in rows])
    expected = r.find_record(ACCURACY).correct_shares("worst", raw)
    np.testing.assert_allclose([row.p_worst for row in rows], expected)
    assert np.abs(expected - raw).max() > 0.01
    (gap,) = (
        g for g in r.gaps(kinds=["difference"]).rows if (g.by, g.model) == (by, rows[0].model)
    )
    worst = next(row for row in rows if row.group == gap.worst)
    assert (gap.p_worst, gap.p_worst_raw) == pytest.approx((worst.p_worst, worst.p_worst_raw))
    shown = next(part for part in build_document(r).walk() if part.key == "groups-0")
    (column,) = (column for column in shown.table if column.title == "P(worst)")
    assert list(column.cells) == pytest.approx(expected)
    assert "not calibrated" not in " ".join(shown.sentences)


@pytest.mark.usefixtures("known")
def test_p_worst_for_the_rows_at_hand_was_not_measured():
    r = ssme.evaluate(grouped_set(), method="labeled", metrics="accuracy", group_target="rows")
    ranking = r.worst_groups(by=r.groups[1].by)
    assert "rows at hand" in ranking.remarks[0]
    assert all(row.p_worst == row.p_worst_raw for row in ranking.rows)
    shown = next(part for part in build_document(r).walk() if part.key == "groups-0")
    assert "not calibrated" in shown.sentences[0]
    (recall,) = r.gaps(kinds=["equal_opportunity"]).remarks
    assert "for recall" in recall


@pytest.mark.usefixtures("known")
def test_a_gate_goes_by_the_corrected_p_within(evaluated):
    draws = np.array([[0.8, 0.7, 0.5]] * 96 + [[0.8, 0.85, 0.5]] * 4)
    result = replace(evaluated, estimates=((Estimate(draws[0], draws),),))
    choice = result.choose(margin=0.01)
    assert choice.p_within_raw == pytest.approx(0.96)
    assert choice.p_within == pytest.approx(0.2 + 0.8 * 0.46 / 0.5)
    failed = result.gate(within=0.01, fail_on="never")
    assert not failed.passed
    assert f"probability {choice.p_within:.3g}, must be >= 0.95" in failed.failures[0]
    passed = replace(result, level=0.9).gate(within=0.01, fail_on="never")
    assert passed.passed
    assert "not calibrated" not in passed.remarks[0]
    for margin in (0.0, 0.05):
        other = evaluated.choose(margin=margin)
        assert not other.within_calibrated
        assert other.p_within == other.p_within_raw
