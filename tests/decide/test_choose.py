"""The choice follows its stated rule, and its probabilities are those of the draws."""

from __future__ import annotations

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.errors import InputError
from ssme.methods.base import Estimate
from ssme.metrics import get_metric
from ssme.results.choose import choose_model

ACCURACY, ECE = get_metric("accuracy"), get_metric("ece")
MODELS = ("a", "b", "c")


def estimate_of(draws, value=None):
    draws = np.asarray(draws, dtype=float)
    return Estimate(np.median(draws, axis=0) if value is None else np.asarray(value), draws)


def test_the_pick_is_the_best_estimate_though_another_is_more_often_the_best():
    rng = np.random.default_rng(0)
    draws = np.column_stack([rng.normal(0.80, 0.001, 4000), rng.normal(0.79, 0.2, 4000)])
    choice = choose_model(("narrow", "wide"), ACCURACY, estimate_of(draws, [0.80, 0.79]))
    assert choice.pick == "narrow"
    assert choice.p_best == pytest.approx((draws[:, 0] > draws[:, 1]).mean())
    assert set(choice.possible_best) == {"narrow", "wide"}
    assert not choice.is_clear


def test_the_sentence_names_the_likeliest_others_and_the_unit_of_the_loss():
    share = [5, 50, 20, 15, 10]
    draws = np.repeat(np.eye(5), share, axis=0)
    choice = choose_model(tuple("abcde"), ACCURACY, estimate_of(draws, [0.9, 0.8, 0.7, 0.6, 0.5]))
    assert choice.sentence() == (
        "Take a: it has the best estimate, and the expected loss of accuracy from taking it is "
        "95.00 percentage points. With 95% probability the best one is b or 3 others. a is "
        "the best with 5% probability (not calibrated)."
    )


def test_regret_is_what_is_lost_to_the_best_of_each_draw():
    draws = [[0.8, 0.7, 0.6], [0.8, 0.9, 0.6], [0.7, 0.7, 0.8], [0.9, 0.8, 0.9]]
    choice = choose_model(MODELS, ACCURACY, estimate_of(draws, [0.8, 0.75, 0.7]))
    assert choice.regret == pytest.approx(np.mean([0.0, 0.1, 0.1, 0.0]))
    assert [c.p_best for c in choice.contenders] == pytest.approx([1.5 / 4, 1 / 4, 1.5 / 4])


def test_the_set_is_the_smallest_that_holds_the_probability():
    best = np.repeat([0, 1, 2], [90, 8, 2])
    draws = np.zeros((100, 3))
    draws[np.arange(100), best] = 1.0
    estimate = estimate_of(draws, [0.9, 0.5, 0.4])
    sets = {
        level: choose_model(MODELS, ACCURACY, estimate, set_level=level).possible_best
        for level in (0.5, 0.9, 0.95, 0.99)
    }
    assert sets == {
        0.5: ("a",),
        0.9: ("a",),
        0.95: ("a", "b"),
        0.99: ("a", "b", "c"),
    }


def test_models_within_the_margin_are_practically_equal():
    rng = np.random.default_rng(1)
    shared = rng.normal(0.8, 0.1, 1000)
    draws = np.column_stack([shared, shared - 0.004, shared - 0.05])
    choice = choose_model(MODELS, ACCURACY, estimate_of(draws), margin=0.01)
    assert choice.practically_equal == ("a", "b")
    assert choose_model(MODELS, ACCURACY, estimate_of(draws), margin=0.0).practically_equal == (
        "a",
    )


def test_without_draws_there_is_a_pick_and_no_probability():
    choice = choose_model(MODELS, ACCURACY, Estimate(np.array([0.7, 0.8, np.nan])))
    assert choice.pick == "b"
    assert np.isnan(choice.p_best)
    assert np.isnan(choice.regret)
    assert choice.contenders[-1].model == "c"


def test_an_undefined_model_is_never_in_the_set():
    draws = np.array([[0.8, np.nan, 0.7]] * 5)
    choice = choose_model(MODELS, ACCURACY, Estimate(np.array([0.8, np.nan, 0.7]), draws))
    assert "b" not in choice.possible_best
    assert choice.p_best == 1.0


@pytest.mark.parametrize(
    "bad", [{"margin": -1}, {"set_level": 1.0}, {"margin": "0.01"}, {"margin": 1}]
)
def test_bad_options_are_refused_by_name(bad):
    with pytest.raises(InputError, match=next(iter(bad))):
        choose_model(MODELS, ACCURACY, estimate_of([[1, 2, 3]]), **bad)


def test_nothing_can_be_chosen_where_everything_is_undefined():
    with pytest.raises(InputError, match="undefined for every model"):
        choose_model(MODELS, ACCURACY, Estimate(np.full(3, np.nan)))


def test_the_expected_regret_is_that_of_draws_towards_the_estimates():
    draws = np.array([[0.8, 0.7], [0.8, 1.0], [0.8, 0.84], [0.8, 0.7]])
    plain = choose_model(("a", "b"), ACCURACY, Estimate(np.array([0.8, 0.7]), draws))
    near = choose_model(
        ("a", "b"), ACCURACY, Estimate(np.array([0.8, 0.7]), draws, pair_factor=0.5)
    )
    assert plain.regret == pytest.approx(np.mean([0.0, 0.2, 0.04, 0.0]))
    assert near.regret == pytest.approx(np.mean([0.0, 0.05, 0.0, 0.0]))
    assert (near.regret_high, near.p_within) == (plain.regret_high, plain.p_within)
    assert plain.p_best == pytest.approx(0.5)
    assert near.p_best == pytest.approx(0.75)


def test_the_expected_regret_is_inside_its_interval():
    draws = np.column_stack([np.full(100, 0.8), np.full(100, 0.9)])
    estimate = Estimate(np.array([0.8, 0.79]), draws, pair_factor=0.5)
    choice = choose_model(("a", "b"), ACCURACY, estimate)
    assert choice.regret_low == choice.regret == pytest.approx(0.045)
    assert choice.regret_high == pytest.approx(0.1)


def test_print_and_a_notebook_show_the_sentence_and_the_contenders():
    names = ("<b>a", "b")
    choice = choose_model(names, ACCURACY, Estimate(np.array([0.8, 0.7]), np.array([[0.8, 0.7]])))
    assert str(choice) == choice.sentence()
    html = choice._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;a" in html
    assert all(part in html for part in ("p_best", "practically_equal", "0.7"))


@pytest.mark.parametrize("group", ["all", "site=north"])
def test_a_metric_that_was_not_asked_for_has_the_estimates_of_the_table(group):
    data = binary_set(n=300, n_labeled=90)
    groups = {"site": np.where(np.arange(300) % 3, "north", "south")}
    few, more = (
        ssme.evaluate(data.replace(groups=groups), metrics=metrics, n_draws=40)
        for metrics in (["accuracy"], ["accuracy", "recall"])
    )
    one, other = (result.choose("recall", group=group) for result in (few, more))
    for ours, theirs in zip(one.contenders, other.contenders, strict=True):
        assert (ours.model, ours.estimate, ours.low) == (theirs.model, theirs.estimate, theirs.low)


def test_equal_models_are_picked_by_name_and_not_by_their_order() -> None:
    data = binary_set(("b", "c", "d"), n=80, n_labeled=40)
    scores = {name: data.scores[:, j] for j, name in enumerate(data.models)}
    scores["a"] = scores["b"]
    labels = np.where(data.labeled, data.labels, -1)
    found = set()
    for order in ("abcd", "dcba", "bdac"):
        wide = {name: scores[name] for name in order}
        result = ssme.evaluate(wide, labels, unlabeled=-1, method="labeled", metrics="log_loss")
        ranked = [row.model for row in result.ranking("log_loss").rows]
        assert result.choose("log_loss").pick == ranked[0]
        assert ranked.index("a") + 1 == ranked.index("b")
        found.add(tuple(ranked))
    assert len(found) == 1
