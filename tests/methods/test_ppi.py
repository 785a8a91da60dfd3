from dataclasses import replace

import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set

from ssme import ScoreSet
from ssme.data.scoreset import UNLABELED
from ssme.methods.ppi import (
    AutoEval,
    Ppi,
    PredictedAccuracy,
    StratifiedPpi,
    _tune,
    assign_strata,
    choose_ridge_factor,
    tune_power,
)
from ssme.metrics import from_callable, get_metric

ACCURACY = get_metric("accuracy")


def hidden(n=1000, n_labeled=50, seed=0, sharpness=1.0):
    rng = np.random.default_rng(seed)
    data = gaussian_set(n, np.array([1.0, 1.5, 2.0]), rng=rng, sharpness=sharpness)
    return data.replace(labels=np.where(np.arange(n) < n_labeled, data.labels, UNLABELED)), data


def estimate(method, data, metric=ACCURACY, rows=None):
    return method.fit(data, np.random.default_rng(0)).estimate([metric], [rows])[0][0]


def right(data):
    return data.scores.argmax(axis=2) == data.labels[:, None]


@pytest.mark.parametrize("method", [Ppi(power=0.0), Ppi(power=0.0, n_boot=50)])
@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_power_zero_is_labels_only(method, name) -> None:
    data, _ = hidden()
    labeled = data.take(data.labeled)
    mass = np.eye(2)[labeled.labels][None]
    metric = get_metric(name)
    np.testing.assert_allclose(
        estimate(method, data, metric).value, metric(labeled.scores, mass)[0]
    )


@pytest.mark.parametrize("method", [AutoEval(), AutoEval(annotator="pool"), Ppi(), StratifiedPpi()])
def test_intervals_of_accuracy_cover(method) -> None:
    covered = []
    for seed in range(60):
        data, full = hidden(600, 60, seed, sharpness=2.5)
        low, high = estimate(method, data).interval(0.9)
        truth = right(full).mean(axis=0)
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert 0.78 < np.mean(covered) < 0.97


@pytest.mark.parametrize("method", [AutoEval(), Ppi(), StratifiedPpi()])
def test_smaller_error_than_labels_alone_where_scores_are_calibrated(method) -> None:
    ours, alone = [], []
    for seed in range(60):
        data, full = hidden(1000, 30, seed)
        truth = right(full).mean(axis=0)
        ours.append(np.abs(estimate(method, data).value - truth).mean())
        alone.append(np.abs(right(full)[:30].mean(axis=0) - truth).mean())
    assert np.mean(ours) < np.mean(alone)


def test_bootstrap_interval_of_auc_covers() -> None:
    covered = []
    for seed in range(30):
        data, full = hidden(600, 60, seed)
        metric = get_metric("roc_auc")
        truth = metric(full.scores, np.eye(2)[full.labels][None])[0]
        low, high = estimate(Ppi(n_boot=100), data, metric).interval(0.9)
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert np.mean(covered) > 0.75


def test_a_group_without_labels_is_undefined() -> None:
    data, _ = hidden()
    rows = ~data.labeled
    for method in (AutoEval(), Ppi(), StratifiedPpi()):
        assert np.isnan(estimate(method, data, rows=rows).value).all()
    assert np.isnan(estimate(Ppi(), data, get_metric("ece"), rows).value).all()


@pytest.mark.parametrize("method", [AutoEval(), Ppi(n_boot=4000), StratifiedPpi()])
def test_draws_are_joint_and_as_wide_as_the_interval(method) -> None:
    data, _ = hidden()
    twins = data.replace(scores=data.scores[:, [0, 0, 1]])
    found = estimate(method, twins)
    np.testing.assert_allclose(found.draws[:, 0], found.draws[:, 1], atol=1e-6)
    assert np.corrcoef(found.draws.T)[0, 2] < 0.95
    low, high = found.interval(0.95)
    assert found.draws[:, 0].std() * 3.92 == pytest.approx(high[0] - low[0], rel=0.1)


def test_strata_are_merged_until_each_has_enough_labels() -> None:
    predicted = np.linspace(0, 1, 100)
    labeled = predicted > 0.55
    stratum = assign_strata(predicted, labeled, n_strata=5, min_labels=10)
    counts = np.bincount(stratum[labeled])
    assert (np.diff(stratum) >= 0).all()
    assert counts.min() >= 10
    assert assign_strata(predicted, labeled, 5, 1000).max() == 0


def test_lambda_is_the_covariance_over_the_variances() -> None:
    t, f, u = (np.array([[a], [b]]) for a, b in ((0.1, 0.5), (0.2, 0.4), (0.3, 0.9)))
    # covariance 0.04, variances 0.02 and 0.18
    np.testing.assert_allclose(_tune(t, f, u), [0.04 / (0.02 + 0.18)])
    assert _tune(t, f, np.array([[0.3], [np.nan]])).tolist() == [0.0]
    assert _tune(t, np.array([[0.2], [np.nan]]), u).tolist() == [0.0]
    assert _tune(t, f[::-1], u).tolist() == [0.0]
    assert _tune(t, f, np.full((2, 1), 0.3)).tolist() == [1.0]
    assert _tune(t, np.full((2, 1), 0.3), np.full((2, 1), 0.3)).tolist() == [0.0]


def test_a_callable_is_corrected_by_the_likeliest_classes() -> None:
    """lambda = 1: labels, plus what the likeliest classes say of unlabeled rows beyond labeled."""
    data, _ = hidden(n=60, n_labeled=20)
    share = from_callable(lambda y, s: float(np.mean(y * s)), name="worth", low=0.0, high=1.0)
    likeliest = data.scores.mean(axis=1).argmax(axis=1)
    positive = data.scores[:, :, 1]
    labeled = data.labeled
    expected = (
        (data.labels[labeled, None] * positive[labeled]).mean(axis=0)
        + (likeliest[~labeled, None] * positive[~labeled]).mean(axis=0)
        - (likeliest[labeled, None] * positive[labeled]).mean(axis=0)
    )
    found = estimate(Ppi(power=1.0, n_boot=5), data, share).value
    np.testing.assert_allclose(found, expected, rtol=1e-12)


GRID = Ppi().ridge_grid
LOW = replace(ACCURACY.kind, threshold=0.33)


def sample(n, n_unlabeled, seed=0):
    rng = np.random.default_rng(seed)
    predicted = rng.random(n + n_unlabeled)
    truth = (rng.random(n) < predicted[:n]).astype(float)
    return truth, predicted[:n], predicted[n:]


def powered_mean(truth, predicted, unlabeled, lam, weights=None, weights_unlabeled=None):
    """Value and standard error from the ``truth`` of the first rows."""
    n, rows = truth.size, np.arange(truth.size + unlabeled.size)
    parts = (weights, truth), (weights_unlabeled, unlabeled)
    known = PredictedAccuracy(
        truth=np.resize(np.append(truth, 0.0), rows.size)[:, None],
        predicted=np.concatenate([predicted, unlabeled])[:, None],
        labeled=rows < n,
        weights=np.concatenate([np.ones(v.size) if w is None else w for w, v in parts]),
        label_weights=None,
        ridge_grid=None,
    )
    value, influence = known.estimate_mean(0, rows[:n], rows[n:], lam)
    return value, np.sqrt((influence**2).sum())


def test_lambda_zero_is_the_labeled_mean_and_needs_no_unlabeled_rows() -> None:
    truth, predicted, unlabeled = sample(30, 100)
    powered = powered_mean(truth, predicted, unlabeled, 0.0)
    assert powered == pytest.approx((truth.mean(), truth.std() / np.sqrt(30)))
    assert powered_mean(truth, predicted, np.empty(0), 0.7) == pytest.approx(powered)


def test_no_labels_is_undefined() -> None:
    assert np.isnan(powered_mean(*np.empty((2, 0)), np.ones(3), 1.0)).all()


def test_tuned_lambda_minimises_the_estimated_variance() -> None:
    truth, predicted, unlabeled = sample(2000, 3000)
    lam = tune_power(truth, predicted, unlabeled, ridge_grid=None)
    errors = [powered_mean(truth, predicted, unlabeled, x)[1] for x in (lam - 0.1, lam, lam + 0.1)]
    assert 0 < lam < 1
    assert errors[1] < min(errors[0], errors[2])


def test_useless_or_contrary_predictions_are_ignored() -> None:
    truth, predicted, unlabeled = sample(50, 100)
    assert tune_power(truth, 1 - predicted, 1 - unlabeled, ridge_grid=None) == 0.0
    assert tune_power(truth, np.ones(50), np.ones(100), ridge_grid=None) == 0.0
    assert tune_power(truth[:1], predicted[:1], unlabeled, ridge_grid=None) == 0.0


def test_ridge_shrinks_with_noise_and_not_with_signal() -> None:
    f = np.linspace(0, 1, 40)
    assert choose_ridge_factor(f, f, GRID) == 0.0
    noise = np.random.default_rng(3).normal(size=40)
    assert choose_ridge_factor(noise, f, GRID) > 1.0


def test_ridge_lowers_the_error_with_few_labels_and_a_poor_annotator() -> None:
    def spread(ridge):
        errors = []
        for seed in range(400):
            rng = np.random.default_rng(seed)
            truth = (rng.random(8) < 0.8).astype(float)
            predicted, unlabeled = rng.random(8), rng.random(200)
            lam = tune_power(truth, predicted, unlabeled, GRID if ridge else None)
            errors.append(powered_mean(truth, predicted, unlabeled, lam)[0] - 0.8)
        return np.std(errors)

    assert spread(True) < spread(False)


def test_weights_count_rows_as_often() -> None:
    truth, predicted, unlabeled = sample(6, 10)
    times, times_unlabeled = np.array([1, 2, 3, 1, 1, 2]), np.arange(10) % 3 + 1
    powered = powered_mean(truth, predicted, unlabeled, 0.5, times, times_unlabeled)
    repeated = powered_mean(
        truth.repeat(times), predicted.repeat(times), unlabeled.repeat(times_unlabeled), 0.5
    )
    assert powered[0] == pytest.approx(repeated[0])


@pytest.mark.parametrize("n", [3, 4, 9])
def test_the_penalty_has_the_least_error_of_rows_left_out(n) -> None:
    truth, predicted, _ = sample(n, 0, seed=5)
    losses = []
    for penalty in GRID:
        loss = 0.0
        for i in range(n):
            # the same ridge regression, the penalty a multiple of all rows' spread
            t, f = np.delete(truth, i), np.delete(predicted, i)
            f_all = predicted - predicted.mean()
            inside = f - f.mean()
            slope = inside @ (t - t.mean()) / (inside @ inside + penalty * (f_all @ f_all))
            loss += (truth[i] - t.mean() - slope * (predicted[i] - f.mean())) ** 2
        losses.append(loss)
    found = choose_ridge_factor(truth, predicted, GRID)
    assert losses[GRID.index(found)] == pytest.approx(min(losses), rel=0.05)


POSITIVE = np.array([[0.9, 0.2], [0.4, 0.35], [0.1, np.nan], [0.3, 0.6]])


@pytest.fixture
def data() -> ScoreSet:
    scores = np.stack([1.0 - POSITIVE, POSITIVE], axis=2)
    return ScoreSet.from_arrays(scores, [1, 0, None, None], classes=[0, 1])


def test_confidence_is_the_score_of_the_class_decided_for(data: ScoreSet) -> None:
    usual = PredictedAccuracy.of(data, "confidence")
    np.testing.assert_allclose(usual.predicted, np.maximum(POSITIVE, 1.0 - POSITIVE))
    low = PredictedAccuracy.of(data, "confidence", LOW)
    expected = np.where(POSITIVE >= 0.33, POSITIVE, 1.0 - POSITIVE)
    np.testing.assert_allclose(low.predicted, expected)
    np.testing.assert_allclose(low.truth[:2], [[1.0, 0.0], [0.0, 0.0]])


def test_the_pool_is_asked_for_the_class_decided_for(data: ScoreSet) -> None:
    found = PredictedAccuracy.of(data, "pool", LOW).predicted
    pool = np.nanmean(POSITIVE, axis=1, keepdims=True)
    expected = np.where(POSITIVE >= 0.33, pool, 1.0 - pool)
    np.testing.assert_allclose(found, np.where(np.isnan(POSITIVE), np.nan, expected))


def test_the_mean_is_that_of_predictions_moved_by_what_labels_say(data: ScoreSet) -> None:
    known = PredictedAccuracy.of(data, "confidence")
    value, influence = known.estimate_means(np.arange(4), lam=1.0)
    # labeled rows 0 and 1, unlabeled 2 and 3 of the first classifier
    expected = (0.9 + 0.7) / 2 + ((1.0 - 0.9) + (1.0 - 0.6)) / 2
    assert value[0] == pytest.approx(expected)
    # the second has no score for row 2
    assert value[1] == pytest.approx(0.6 + ((0.0 - 0.8) + (1.0 - 0.65)) / 2)
    np.testing.assert_allclose(influence.sum(axis=1), 0.0, atol=1e-12)
    assert influence[1, 2] == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_strata_do_not_depend_on_the_order_of_classifiers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(size=(100, 4)).round(2)
    labels = np.where(np.arange(100) < 60, rng.uniform(size=100) < scores.mean(axis=1), np.nan)
    order = [2, 0, 3, 1]
    one, other = (
        estimate(StratifiedPpi(), ScoreSet.from_arrays(scores[:, at], labels)).value
        for at in ([0, 1, 2, 3], order)
    )
    np.testing.assert_allclose(one[order], other, rtol=0, atol=1e-12)
