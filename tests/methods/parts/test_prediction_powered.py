import numpy as np
import pytest

from ssme.methods.estimators.ppi import (
    Ppi,
    choose_ridge_factor,
    estimate_powered_mean,
    tune_power,
)

GRID = Ppi().ridge_grid


def sample(n, n_unlabeled, seed=0):
    rng = np.random.default_rng(seed)
    predicted = rng.random(n + n_unlabeled)
    truth = (rng.random(n) < predicted[:n]).astype(float)
    return truth, predicted[:n], predicted[n:]


def test_lambda_zero_is_the_labeled_mean_and_needs_no_unlabeled_rows() -> None:
    truth, predicted, unlabeled = sample(30, 100)
    powered = estimate_powered_mean(truth, predicted, unlabeled, 0.0)
    assert powered.value == pytest.approx(truth.mean())
    assert powered.error == pytest.approx(truth.std() / np.sqrt(30))
    alone = estimate_powered_mean(truth, predicted, np.empty(0), 0.7)
    assert (alone.value, alone.error) == pytest.approx((powered.value, powered.error))


def test_no_labels_is_undefined() -> None:
    nothing = estimate_powered_mean(*np.empty((2, 0)), np.ones(3), 1.0)
    assert np.isnan([nothing.value, nothing.error]).all()


def test_tuned_lambda_minimises_the_estimated_variance() -> None:
    truth, predicted, unlabeled = sample(2000, 3000)
    lam = tune_power(truth, predicted, unlabeled, ridge_grid=None)
    errors = [
        estimate_powered_mean(truth, predicted, unlabeled, x).error
        for x in (lam - 0.1, lam, lam + 0.1)
    ]
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
            errors.append(estimate_powered_mean(truth, predicted, unlabeled, lam).value - 0.8)
        return np.std(errors)

    assert spread(True) < spread(False)


def test_weights_count_rows_as_often() -> None:
    truth, predicted, unlabeled = sample(6, 10)
    times, times_unlabeled = np.array([1, 2, 3, 1, 1, 2]), np.arange(10) % 3 + 1
    powered = estimate_powered_mean(truth, predicted, unlabeled, 0.5, times, times_unlabeled)
    repeated = estimate_powered_mean(
        truth.repeat(times), predicted.repeat(times), unlabeled.repeat(times_unlabeled), 0.5
    )
    assert powered.value == pytest.approx(repeated.value)


def test_weights_that_sum_to_one_are_weights_and_those_that_sum_to_zero_are_none():
    truth, predicted = np.array([1.0, 0.0, 1.0]), np.array([0.9, 0.2, 0.7])
    weights = np.array([0.5, 0.25, 0.25])
    told = estimate_powered_mean(truth, predicted, np.array([0.5]), 1.0, weights)
    assert told.value == pytest.approx(0.5 + weights @ (truth - predicted))
    none = estimate_powered_mean(truth, predicted, np.array([0.5]), 1.0, np.zeros(3))
    assert np.isnan(none.value)


def test_two_labels_can_tune_and_one_cannot():
    truth, predicted = np.array([0.0, 1.0]), np.array([0.2, 0.6])
    others = np.array([0.1, 0.5, 0.9, 0.3])
    variance = np.var([0.2, 0.6, *others], ddof=1)
    covariance = np.cov(truth, predicted)[0, 1]
    found = tune_power(truth, predicted, others, None)
    assert found == pytest.approx(min(1.0, covariance / ((1 + 2 / 4) * variance)))
    weak = tune_power(truth, 0.1 * predicted, others, None)
    spread = np.var([0.02, 0.06, *others], ddof=1)
    assert weak == pytest.approx(0.1 * covariance / (1.5 * spread))
    assert tune_power(truth[:1], predicted[:1], others, None) == 0.0
    assert tune_power(truth, predicted, others[:0], None) == 0.0
    assert tune_power(truth, predicted[::-1], others, None) == 0.0


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


def test_two_rows_take_the_largest_penalty() -> None:
    assert choose_ridge_factor(np.array([0.0, 1.0]), np.array([0.2, 0.9]), GRID) == GRID[-1]
    assert choose_ridge_factor(np.ones(9), np.full(9, 0.5), GRID) == GRID[-1]
    three = choose_ridge_factor(np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.5, 0.9]), GRID)
    assert three < GRID[-1]
