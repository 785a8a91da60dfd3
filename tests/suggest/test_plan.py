"""Plans: targets as they are written, and numbers of labels that can be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme import ScoreSet
from ssme.errors import InputError
from ssme.methods.label_draws import wilson
from ssme.metrics import get_metric
from ssme.metrics.influence import measure_influence
from ssme.results.evaluation import Evaluation
from ssme.results.plan import (
    PlanConstants,
    Sight,
    _draw_classes,
    _make_method,
    find_crossing,
    read_target,
    simulate_labeling,
    tilt_belief,
)
from ssme.results.table import count_effective_labels


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    data = binary_set(n=1500, n_labeled=50)
    return ssme.evaluate(data, method="labeled", metrics=["accuracy", "roc_auc"])


def test_width_of_labels_alone_falls_with_the_square_root(evaluation: Evaluation) -> None:
    width = float(np.ptp(evaluation.estimate("accuracy").interval(0.95), axis=0)[1])
    plan = evaluation.plan(f"width(logistic:accuracy)<={width / 2}", simulations=10)
    assert 2.4 < (50 + plan.more) / 50 < 6.0
    assert plan.more_low <= plan.more <= plan.more_high
    assert plan.now == pytest.approx(width)
    assert [step.labels for step in plan.curve] == sorted(step.labels for step in plan.curve)
    assert plan.effective_labels == pytest.approx(50)


def test_labels_of_suggested_rows_count_as_labels_of_random_rows() -> None:
    """Compared with the number of random labels whose interval is as wide as the estimate's.

    Without the effective number of the weighted labels the figure was 2 to 4 times too large.
    """
    data = binary_set(n=2000, n_labeled=30)
    truth = binary_set(n=2000, n_labeled=2000).labels
    r = ssme.evaluate(data, metrics="accuracy")
    batch = r.suggest(50, "best", random_state=0)
    r = ssme.evaluate(batch.fill_in(truth[batch.rows].tolist()), metrics="accuracy")
    low, high = r.estimate("accuracy").interval(0.95)
    counts = np.arange(10.0, 5000.0)
    needed = []
    for value, width in zip(r.labels_only[0][0].value, high - low, strict=True):
        ends = wilson(np.full(counts.size, value), counts)
        needed.append(counts[np.argmax(ends[1] - ends[0] <= width)])
    assert count_effective_labels(r) == pytest.approx(np.median(needed), rel=0.25)
    said = r.plan("width(accuracy)<=0.9").sentence()
    assert f"accuracy are as narrow as {count_effective_labels(r):,.0f} random" in said


@pytest.mark.parametrize("weighted", [False, True])
def test_weighted_labels_alone_are_worth_their_effective_number(weighted: bool) -> None:
    data = binary_set(n=1500, n_labeled=50)
    rows = np.random.default_rng(0).uniform(0.5, 2.0, 1500) if weighted else None
    stands_for = np.where(np.arange(1500) % 2 == 0, 1.0, 9.0)
    data = replace(data, weights=rows).with_design(stands_for)
    r = ssme.evaluate(data, method="labeled", metrics="accuracy")
    n = data.labeled.sum() * stands_for[data.labeled].mean() ** 2
    n /= (stands_for[data.labeled] ** 2).mean()
    assert count_effective_labels(r) == pytest.approx(n, rel=0.1 if weighted else 1e-9)
    assert r.frame("pandas")["effective_labels"].to_numpy() == pytest.approx(
        count_effective_labels(r)
    )


def test_a_target_that_is_met_needs_nothing(evaluation: Evaluation) -> None:
    plan = evaluation.plan("regret<=0.5")
    assert plan.is_met
    assert plan.more == 0.0
    assert plan.sentence().startswith("regret<=0.5 (accuracy) is met already")
    assert "met already" in plan.sentence()


def test_a_surer_choice_takes_more_labels(evaluation: Evaluation) -> None:
    close = evaluation.plan("P(best:roc_auc)>=0.9", simulations=2)
    sure = evaluation.plan("P(best:roc_auc)>=0.999", simulations=2)
    assert close.more <= sure.more
    assert all(0.0 <= step.met <= 1.0 for step in sure.curve)


def test_out_of_reach_is_said(evaluation: Evaluation) -> None:
    plan = evaluation.plan("width(accuracy)<=0.0001", simulations=2)
    assert plan.more == float("inf")
    assert "needs more than" in plan.sentence()
    assert plan.to_dict()["more"] is None


def test_several_targets_share_their_simulations(evaluation: Evaluation) -> None:
    width = float(np.ptp(evaluation.estimate("accuracy").interval(0.95), axis=0).max())
    texts = [f"width(accuracy)<={0.8 * width}", f"width(accuracy)<={0.4 * width}"]
    both = evaluation.plan_several(texts, simulations=3)
    assert [plan.target for plan in both.plans] == texts
    assert 0.0 < both.plans[0].more < both.plans[1].more == both.more
    last = both.sentence().split("\n")[-1]
    assert last.startswith("Both targets together need about")
    assert texts[1] in last
    assert both.to_dict()["more"] == both.more
    far = evaluation.plan_several(
        ["width(accuracy)<=0.0001", "width(accuracy)<=0.0002"], simulations=2
    )
    assert far.sentence().split("\n")[-1].startswith("Both targets together need more than")
    assert "takes the most" not in far.sentence()
    assert "labels alone would" not in far.sentence(), "labels alone tell what labels alone tell"
    one = evaluation.plan_several(["regret<=0.5"])
    assert one.sentence() == one.plans[0].sentence()
    with pytest.raises(InputError):
        evaluation.plan_several([])


def test_many_worlds_are_read_each_by_itself_and_few_in_pairs(evaluation: Evaluation) -> None:
    target = read_target(evaluation, "regret(accuracy)<=0.0001")
    sizes = {}
    for number in (2, 3):
        of = PlanConstants(each_by_itself=3, labels_fitted=200)
        rng = np.random.default_rng(0)
        (seen,) = simulate_labeling(evaluation, [target], number, of, rng)
        sizes[number] = {sight.values.size for sight in seen}
    assert sizes == {2: {2 * 2 * 2}, 3: {3}}


def test_labels_alone_are_simulated_more_often(
    evaluation: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, seen = PlanConstants(), []

    def simulate(result: Evaluation, targets: Any, simulations: int, *given: Any) -> Any:
        seen.append(simulations)
        return [()] * len(targets)

    monkeypatch.setattr("ssme.results.plan.simulate_labeling", simulate)
    evaluation.plan("regret<=0.0001")
    assert seen == [settings.simulations_quick]
    assert settings.simulations_quick > settings.simulations
    method = _make_method(evaluation, settings)
    assert method.n_draws == settings.draws_simulated  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="simulations"):
        evaluation.plan("regret<=0.001", simulations=1)


def test_crossings_lie_on_a_line_between_logarithms(evaluation: Evaluation) -> None:
    target = read_target(evaluation, "width(accuracy)<=0.1")
    sights = [Sight(100, np.array([0.2, 0.15, 0.25])), Sight(400, np.array([0.08, 0.05, 0.1]))]
    assert find_crossing(target, 0.3, 50, sights, 0.5) == pytest.approx(
        100 * 4 ** (np.log(2.0) / np.log(2.5))
    )
    assert find_crossing(target, 0.3, 50, sights[:1], 0.5) == float("inf")
    rising = read_target(evaluation, "P(best)>=0.9")
    steps = [Sight(100, np.full(3, 0.6)), Sight(200, np.full(3, 0.5)), Sight(400, np.full(3, 0.95))]
    found = [find_crossing(rising, 0.3, 50, steps, share) for share in (0.1, 0.5, 0.9)]
    assert 200.0 < found[0] == found[1] == found[2] < 400.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "width<=0.1",
        "width(accuracy)>=0.1",
        "width(accuracy)<=x",
        "width(accuracy)<=0",
        "P(best)>=1.5",
        "P(best)<=0.5",
        "P(worst)>=0.5",
        "P(best<=0.1)>=0.5",
        "P(regret)>=0.5",
        "P(regret<=0.01)<=0.5",
        "P(regret<=2)>=0.5",
        "P(regret<=x)>=0.5",
        "P(regret:f9<=0.1)>=0.5",
        "regret>=0.1",
        "width(f9)<=0.1",
        "width(nobody:accuracy)<=0.1",
    ],
)
def test_bad_targets(evaluation: Evaluation, text: str) -> None:
    with pytest.raises(InputError):
        evaluation.plan(text)


def test_the_rule_for_stopping_goes_by_the_draws_as_they_are(evaluation: Evaluation) -> None:
    estimate = evaluation.estimate("roc_auc")
    assert estimate.draws is not None
    pick = int(np.argmax(estimate.value))
    behind = estimate.draws.max(axis=1) - estimate.draws[:, pick]
    share = float((behind <= 0.03).mean())
    assert 0.0 < share < 1.0
    target = read_target(evaluation, "P(regret:roc_auc<=0.03)>=0.9")
    assert target.measure(evaluation.data.models, estimate, 0.95) == pytest.approx(share)
    assert target.measure_draws(estimate) == pytest.approx(share)
    assert target.is_met(0.9)
    assert not target.is_met(0.89)
    strict, loose = (evaluation.plan(f"P(regret<={x})>=0.99", simulations=10) for x in (0.01, 0.03))
    assert strict.more > loose.more


def test_the_rule_for_stopping_is_not_met_with_few_labels() -> None:
    few = ssme.evaluate(binary_set(n=200, n_labeled=12), method="ensemble", metrics="accuracy")
    plan = few.plan("P(regret<=0.9)>=0.5")
    assert plan.now >= 0.5
    assert (plan.more_low, plan.more, plan.more_high) == (8.0, 8.0, 8.0)
    assert few.plan("regret<=0.9").is_met
    enough = ssme.evaluate(binary_set(n=200, n_labeled=20), method="ensemble", metrics="accuracy")
    assert enough.plan("P(regret<=0.9)>=0.5").is_met


def test_a_target_without_threshold_means_that_of_the_run(evaluation: Evaluation) -> None:
    at = ssme.evaluate(evaluation.data, method="ensemble", metrics="accuracy", threshold=0.9)
    assert read_target(at, "width(accuracy)<=0.1").metric.name == "accuracy@0.9"


def test_targets_name_metric_and_model(evaluation: Evaluation) -> None:
    target = read_target(evaluation, " width( tree:roc_auc ) <= 0.1 ")
    assert (target.what, target.metric.name, target.model, target.bound) == (
        "width",
        "roc_auc",
        2,
        0.1,
    )


@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_a_tilted_belief_gives_the_metric_that_was_asked_for(name: str) -> None:
    data = binary_set(n=400)
    metric, belief = get_metric(name), data.scores.mean(axis=1)
    psi = measure_influence(metric, data.scores, belief, None, np.ones(400, dtype=bool))
    value = metric(data.scores, belief[None])[0]
    wanted = value + np.array([0.02, -0.03, 0.01])
    tilted = tilt_belief(metric, data.scores, belief, None, psi, wanted)
    np.testing.assert_allclose(metric(data.scores, tilted[None])[0], wanted, atol=2e-3)
    np.testing.assert_allclose(tilted.sum(axis=1), 1.0)


def test_imagined_labels_of_a_cluster_are_wrong_together() -> None:
    """Labels of a cluster all agree here, and scores say nothing: 3,000 draws of 40 clusters."""
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(40), 5)
    labels = rng.integers(2, size=40)[clusters]
    scores = np.stack([np.full((200, 2), 0.5)] * 2, axis=1)
    belief = np.tile([0.3, 0.7], (200, 1))
    for given, least, most in ((clusters, 0.5, 1.0), (None, -0.05, 0.05)):
        data = ScoreSet.from_arrays(scores, labels, clusters=given)
        drawn = np.array([_draw_classes(data, belief, rng) for _ in range(3000)])
        assert drawn.mean() == pytest.approx(0.7, abs=0.02)
        off = (drawn - 0.7).reshape(3000, 40, 5)
        assert least < (off[:, :, 0] * off[:, :, 1]).mean() / off.var() < most
