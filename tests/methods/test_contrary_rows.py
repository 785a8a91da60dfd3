"""Few labels do not tell for sure which of two classifiers is better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.methods.draws import find_originals
from ssme.methods.label_draws import make_contrary_rows
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.results.comparison import compute_probability_better


def random_rows(n_models, n_classes, n=20, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(n_classes), (n, n_models))
    return scores, rng.integers(0, n_classes, n)


def contrary_to(scores, labels, originals=None):
    originals = np.arange(scores.shape[1]) if originals is None else originals
    weights = np.arange(1.0, len(labels) + 1.0)
    return make_contrary_rows(scores, labels, weights, originals, np.random.default_rng(1))


@pytest.mark.parametrize(("n_models", "n_rows"), [(1, 32), (7, 32), (31, 32), (32, 64)])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_any_two_classifiers_are_right_in_all_four_ways_alike_often(n_models, n_rows, n_classes):
    scores, labels = random_rows(n_models, n_classes)
    made = contrary_to(scores, labels)
    right = made.scores.argmax(axis=2) == made.labels[:, None]
    assert right.shape == (n_rows, n_models)
    assert (right.sum(axis=0) == n_rows // 2).all()
    for a in range(n_models):
        for b in range(a):
            assert (right[:, a] & right[:, b]).sum() == n_rows // 4
            assert (right[:, a] & ~right[:, b]).sum() == n_rows // 4


def test_originals_are_those_with_the_same_scores_on_all_rows():
    scores, _ = random_rows(5, 2)
    scores[:, 3] = scores[:, 0]
    scores[:, 4] = scores[:, 1]
    scores[19, 4] = scores[19, 4, ::-1]
    scores[5, 0] = scores[5, 3] = np.nan
    assert find_originals(scores).tolist() == [0, 1, 2, 0, 4]
    made = contrary_to(scores, np.zeros(20, dtype=int), find_originals(scores))
    assert np.array_equal(made.scores[:, 0], made.scores[:, 3], equal_nan=True)


def judged(wrong, n=20):
    """Classifiers that are wrong about the given rows of ``n`` that are labeled."""
    labels = np.arange(n) % 2
    right = np.stack([1.0 - labels, labels], axis=1)
    scores = np.repeat(0.8 * right[:, None] + 0.1, len(wrong), axis=1)
    for m, rows in enumerate(wrong):
        scores[rows, m] = scores[rows, m, ::-1]
    return ScoreSet(scores, labels, tuple(f"m{m}" for m in range(len(wrong))), (0, 1))


def draws_of(data, metric="accuracy", **options):
    belief = get_method("labeled", n_draws=4000, **options).fit(data, np.random.default_rng(0))
    return belief.estimate([get_metric(metric)], [None])[0][0]


@pytest.mark.parametrize(("ahead", "behind"), [(0, 0), (1, 0), (3, 0), (4, 2)])
def test_rows_that_tell_two_apart_are_judged_with_a_uniform_prior(ahead, behind):
    data = judged([list(range(behind)), list(range(10, 10 + ahead))])
    said = compute_probability_better(draws_of(data), True)[0, 1]
    assert said == pytest.approx(beta(ahead + 1, behind + 1).sf(0.5), abs=0.03)


def test_the_interval_of_a_difference_has_a_width_where_all_labels_agree():
    data = judged([[0, 1], [0, 1, 2], [5]])
    r = ssme.evaluate(data.replace(labels=data.labels), method="labeled", metrics="accuracy", by=[])
    for row in r.compare().rows:
        assert row.low < 0.0 < row.high


def test_equal_classifiers_remain_equal():
    estimate = draws_of(judged([[0], [0], [1, 2]]))
    assert np.array_equal(estimate.draws[:, 0], estimate.draws[:, 1])
    assert not np.array_equal(estimate.draws[:, 0], estimate.draws[:, 2])


@pytest.mark.parametrize("metric", ["log_loss", "brier_score", "accuracy", "f1"])
def test_single_intervals_do_without_these_rows(metric):
    data = judged([[0], [3], [1, 2]])
    joint, alone = (draws_of(data, metric, joint_draws=joint) for joint in (True, False))
    assert np.array_equal(joint.value, alone.value)
    assert np.array_equal(joint.interval(), alone.interval())


def test_a_callable_is_drawn_with_these_rows_too():
    def share_right(y, scores):
        return float(((scores > 0.5) == y).mean())

    from ssme.metrics.custom import from_callable

    metric = from_callable(share_right, name="mine", greater_is_better=True)
    belief = get_method("labeled").fit(judged([[], [3]]), np.random.default_rng(0))
    joint = belief.estimate([metric], [None])[0][0]
    said = compute_probability_better(joint, True)[0, 1]
    assert 0.6 < said < 0.9
