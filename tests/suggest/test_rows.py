"""Suggested rows tell about the goal, and what is known of their draw comes back with labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.errors import InputError
from ssme.metrics.costs import expected_cost
from ssme.results.choose import Choice
from ssme.results.evaluation import Evaluation
from ssme.results.suggest import (
    SuggestConstants,
    believe,
    draw_spread,
    find_goal,
    measure_gain,
    set_probabilities,
    suggest_rows,
)
from ssme.schema import grow_batch


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    data = binary_set(n=400, n_labeled=30)
    sex = np.where(np.arange(400) % 10 == 0, "f", "m").astype(object)
    data = data.replace(groups={"sex": sex}, ids=np.array([f"r{i}" for i in range(400)], object))
    return ssme.evaluate(data, method="ensemble", metrics=["accuracy", "roc_auc"])


def test_the_best_model_is_told_by_rows_on_which_models_decide_differently(
    evaluation: Evaluation,
) -> None:
    found = evaluation.suggest(40, "best", uniform=0.01)
    votes = evaluation.data.scores[:, :, 1] >= 0.5
    differ = (votes != votes[:, [0]]).any(axis=1)
    assert differ[found.rows].mean() > 0.95 > 1.5 * differ.mean()
    assert set(found.reasons) <= {"forest or logistic", "forest or tree"}


def test_suggested_rows_have_no_label_and_known_probabilities(evaluation: Evaluation) -> None:
    found = evaluation.suggest(25, "metric:roc_auc", random_state=3)
    assert not evaluation.data.labeled[found.rows].any()
    assert np.unique(found.rows).size == 25
    assert ((found.probability > 0) & (found.probability <= 1)).all()
    assert found.ids == tuple(f"r{i}" for i in found.rows)
    again = evaluation.suggest(25, "metric:roc_auc", random_state=3)
    assert again.ids == found.ids


def test_small_groups_get_more_labels_than_their_share(evaluation: Evaluation) -> None:
    rare = evaluation.data.groups["sex"] == "f"
    share = np.mean(
        [rare[evaluation.suggest(20, "group:sex", random_state=s).rows].mean() for s in range(10)]
    )
    assert share > 0.3 > 2 * rare.mean()


@pytest.mark.parametrize("design", ["random", "by_score", "by_class"])
def test_every_design_has_probabilities(evaluation: Evaluation, design: str) -> None:
    found = evaluation.suggest(30, draw=design)
    assert found.probability.size == 30
    assert (found.probability > 0).all()
    if design == "random":
        np.testing.assert_allclose(found.probability, 30 / 370)


@pytest.mark.parametrize("design", ["goal", "by_score", "by_class"])
@pytest.mark.parametrize("method", ["ensemble", "agreement"])
def test_the_last_digit_of_scores_decides_no_row(method: str, design: str) -> None:
    data = binary_set(n=120, n_labeled=20)
    positive = np.round(data.scores[:, :, 1], 1)  # ties of rows, questions, classes and strata
    scores = np.stack([1.0 - positive, positive], axis=2)
    noise = np.random.default_rng(0).integers(-1, 2, scores.shape)
    noise[scores == 0.5] = 0  # exact in every format, and where the decision changes
    written = np.clip(scores * (1.0 + noise * np.finfo(float).eps), 0.0, 1.0)
    one, other = (
        ssme.evaluate(data.replace(scores=each), method=method, metrics="accuracy")
        for each in (scores, written)
    )
    for seed in range(5):
        rows = one.suggest(10, draw=design, random_state=seed)
        again = other.suggest(10, draw=design, random_state=seed)
        assert again.rows.tolist() == rows.rows.tolist()
        assert again.reasons == rows.reasons


def test_all_rows_that_are_left_can_be_asked_for(evaluation: Evaluation) -> None:
    found = evaluation.suggest(370)
    np.testing.assert_allclose(found.probability, 1.0)


def test_a_part_of_many_rows_is_looked_at_and_probabilities_say_so(evaluation: Evaluation) -> None:
    of = SuggestConstants(rows_looked_at=185, rows_per_label=1)
    found = suggest_rows(evaluation, 20, "best", draw="random", constants=of)
    np.testing.assert_allclose(found.probability, 20 / 370)


def test_labels_come_back_with_their_weights(evaluation: Evaluation, tmp_path: Path) -> None:
    found = evaluation.suggest(20)
    data = found.fill_in([0] * 20)
    assert data.n_labeled == 50
    assert data.design.kind == "weights"
    sums = []
    for seed in range(60):
        drawn = evaluation.suggest(20, random_state=seed)
        sums.append(drawn.fill_in([0] * 20).design.weights.sum())
    assert np.mean(sums) == pytest.approx(400, rel=0.1)
    alone = ssme.evaluate(data, method="labeled", metrics="accuracy")
    assert np.isfinite(alone.estimate("accuracy").value).all()
    path = found.save(tmp_path / "next.csv")
    assert list(pd.read_csv(path).columns) == ["id", "label", "probability", "round", "reason"]


@pytest.mark.parametrize(
    ("n", "goal", "design", "message"),
    [
        (25, "beauty", "goal", "goal must be"),
        (25, "metric:", "goal", "goal must be"),
        (25, "metric:f2", "goal", "f2"),
        (25, "group:age", "goal", "age"),
        (0, "best", "goal", "n must be"),
        (371, "best", "goal", "n must be at most 370"),
        (25, "best", "sideways", "draw must be"),
    ],
)
def test_bad_input(evaluation: Evaluation, n: int, goal: str, design: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluation.suggest(n, goal, draw=design)


def test_nothing_is_left_to_suggest_where_all_rows_have_a_label(evaluation: Evaluation) -> None:
    data = evaluation.data
    known = data.replace(labels=np.arange(data.n_rows) % 2)
    done = ssme.evaluate(known, method="labeled", metrics="accuracy")
    with pytest.raises(InputError, match="Add rows without a label"):
        done.suggest(5)


def test_a_goal_that_no_row_tells_more_about_is_served_by_random_rows() -> None:
    data = binary_set(n=200, n_labeled=20)
    same = data.replace(scores=np.full_like(data.scores, 0.5))
    found = ssme.evaluate(same, method="ensemble", metrics="accuracy").suggest(
        10, "metric:accuracy"
    )
    assert found.gain == 1.0
    np.testing.assert_allclose(found.probability, 10 / 180)
    assert "Every row without a label was drawn with the same probability" in found.sentence()
    assert set(found.reasons) == {"drawn uniformly, spread over the scores"}


def test_rows_drawn_by_class_say_for_which_class() -> None:
    data = binary_set(n=600, n_labeled=20)
    rare = data.replace(
        scores=np.stack([1 - 0.3 * data.scores[..., 1], 0.3 * data.scores[..., 1]], -1)
    )
    found = ssme.evaluate(rare, method="ensemble", metrics="accuracy").suggest(20, draw="by_class")
    assert set(found.reasons) == {"for class 0", "for class 1"}
    assert found.sentence() == "These 20 rows are drawn without regard to a goal."


def test_rows_that_tell_the_best_model_are_worth_more_than_random_ones(
    evaluation: Evaluation,
) -> None:
    found = evaluation.suggest(10, "best:accuracy")
    assert found.gain > 1.5
    assert f"as {10 * found.gain:,.0f} labels of rows drawn at random" in found.sentence()


def test_rows_come_in_random_order_so_that_whoever_stops_early_chose_nothing(
    evaluation: Evaluation,
) -> None:
    first = [evaluation.suggest(20, "best:accuracy", random_state=seed) for seed in range(12)]
    early = [np.argsort(np.argsort(-found.probability))[:10].mean() for found in first]
    assert abs(np.mean(early) - 9.5) < 2.0


def test_rows_for_a_metric_of_a_drawn_belief_are_drawn_alike_and_spread_over_the_scores() -> None:
    data = binary_set(n=600, n_labeled=30)
    result = ssme.evaluate(data, metrics=["roc_auc", "accuracy"])
    found = result.suggest(40, "metric:accuracy")
    np.testing.assert_allclose(found.probability, 40 / 570)
    assert found.gain == 1.0
    told = result.suggest(40, "best:accuracy")
    assert told.probability.max() > 2.0 * told.probability.min()


@pytest.mark.parametrize("n", [1, 7, 39, 40])
def test_probabilities_sum_to_the_number_and_stay_within_one(n: int) -> None:
    size = np.random.default_rng(0).gamma(0.3, size=40)
    chance = set_probabilities(size, n, 0.2)
    assert chance.sum() == pytest.approx(n)
    assert (chance <= 1.0).all()
    assert chance.min() >= 0.2 * n / 40 * (1 - 1e-9)


def test_worthless_rows_are_drawn_at_random() -> None:
    np.testing.assert_allclose(set_probabilities(np.zeros(8), 2, 0.2), 0.25)


def test_rows_are_drawn_as_often_as_said() -> None:
    rng = np.random.default_rng(1)
    chance = set_probabilities(rng.gamma(0.5, size=20), 6, 0.3)
    counts = np.zeros(20)
    for _ in range(6000):
        rows = draw_spread(chance, rng.permutation(20), rng)
        assert np.unique(rows).size == 6
        counts[rows] += 1
    error = np.sqrt(chance * (1 - chance) / 6000) + 1e-9
    assert (np.abs(counts / 6000 - chance) < 4.5 * error).all()


def test_neighbors_in_the_order_are_not_drawn_together() -> None:
    rng = np.random.default_rng(2)
    rows = np.sort(draw_spread(np.full(100, 0.1), np.arange(100), rng))
    assert np.diff(rows).tolist() == [10] * 9


def test_even_rows_gain_nothing_and_uneven_ones_do() -> None:
    even = np.ones(50)
    assert measure_gain(even, set_probabilities(even, 5, 0.2)) == pytest.approx(1.0)
    few = np.where(np.arange(1000) < 50, 1.0, 0.0)
    chance = set_probabilities(few, 10, 0.2)
    # nine in ten rows tell nothing: of ten labels eight fall on the fifty rows that do
    assert measure_gain(few, chance) == pytest.approx((1000 / 10 - 1) / (1 / chance[0] - 1))
    assert measure_gain(few, chance) > 10
    assert measure_gain(np.zeros(9), np.full(9, 1 / 3)) == 1.0


def test_the_first_batches_are_small_where_rows_are_for_the_best_model() -> None:
    sizes, total = [], 0
    for _ in range(10):
        sizes.append(grow_batch(total))
        total += sizes[-1]
    assert sizes == [1, 1, 2, 3, 5, 8, 13, 21, 25, 25]
    data = binary_set(n=60, n_labeled=4)
    r = ssme.evaluate(data, method="ensemble", metrics="accuracy")
    assert r.suggest().rows.size == 3
    assert r.suggest(draw="coda").rows.size == 3
    assert r.suggest(goal="metric:accuracy").rows.size == 25
    assert r.suggest(draw="random").rows.size == 25
    left = ssme.evaluate(binary_set(n=60, n_labeled=58), method="ensemble", metrics="accuracy")
    assert left.suggest().rows.size == 2


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "f1@0.3", "cost"])
def test_rows_for_the_best_model_are_drawn_by_their_influence_on_its_metric(name: str) -> None:
    data = binary_set(n=300, n_labeled=30)
    metric = expected_cost([[0.0, 1.0], [9.0, 0.0]]) if name == "cost" else name
    r = ssme.evaluate(data, metrics=[metric], by=[])
    found = r.suggest(12, uniform=1e-9)
    assert found.gain > 1.0
    goal = find_goal(r, "best", SuggestConstants())
    (asked,) = goal.questions
    belief, plan = believe(r, SuggestConstants().hedge), goal.metric.plan(data.scores)
    spread = []
    for row in found.rows:  # the metric as if the row were of each class
        known = np.repeat(belief[None], 2, axis=0)
        known[:, row] = np.eye(2)
        theta = plan(known) @ asked.contrasts.T
        mean = belief[row] @ theta
        spread.append(belief[row] @ (theta - mean) ** 2 @ asked.weights)
    ratio = found.probability / np.sqrt(spread)
    np.testing.assert_allclose(ratio, np.median(ratio), rtol=0.05)


def test_a_model_that_cannot_be_best_costs_no_labels() -> None:
    data = binary_set(n=400, n_labeled=100)
    wrong = data.scores[:, :1, ::-1]  # the first model, turned around
    scores = np.concatenate([data.scores, wrong], axis=1)
    data = data.replace(scores=scores, models=(*data.models, "turned"))
    r = ssme.evaluate(data, metrics="accuracy", random_state=0)
    behind = r.estimate("accuracy").draws
    assert behind is not None
    assert (behind[:, 3] < behind[:, :3].max(axis=1)).all()
    found = r.suggest(60, uniform=0.01)
    assert not any("turned" in reason for reason in found.reasons)
    votes = data.scores[:, :3, 1] >= 0.5
    assert (votes != votes[:, [0]]).any(axis=1)[found.rows].mean() > 0.9


def test_suggestions_for_the_best_model_say_when_one_may_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    z = np.where(y == 1, 1.0, -1.0)[:, None] * (3.0, 0.3) + rng.normal(size=(600, 2))
    scores = {name: 1.0 / (1.0 + np.exp(-column)) for name, column in zip("ab", z.T, strict=True)}
    labels = np.where(np.arange(600) < 80, y, -1)
    r = ssme.evaluate(scores, labels, unlabeled=-1, metrics=["accuracy", "log_loss"])
    assert r.choose("accuracy").p_within_raw >= 0.9
    assert "You may stop: a is at most 1 percentage point" in r.suggest(5).sentence()
    fewer = ssme.evaluate(scores, np.where(np.arange(600) < 19, y, -1), unlabeled=-1)
    monkeypatch.setattr(Choice, "may_stop", True)
    assert fewer.suggest(5, "best:accuracy").stop == ""
    assert r.suggest(5).stop != ""
    monkeypatch.undo()
    assert r.suggest(5, "best:log_loss").stop == ""
    assert r.suggest(5, "metric:accuracy").stop == ""
    sure = ssme.evaluate(scores, labels, unlabeled=-1, method="ensemble", metrics="accuracy")
    assert sure.choose().p_within_raw >= 0.9  # never measured, so nothing is promised
    assert sure.suggest(5).stop == ""
    few = ssme.evaluate(binary_set(n=200, n_labeled=4), metrics="accuracy")
    assert few.choose().p_within_raw < 0.9
    assert "You may stop" not in few.suggest(5).sentence()
