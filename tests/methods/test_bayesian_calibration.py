import numpy as np
from benchmarks.datasets.synthetic import gaussian_set
from scipy.special import expit

from ssme.data.scoreset import UNLABELED
from ssme.methods.bayesian_calibration import BayesianCalibration, CalibrationFit
from ssme.metrics import get_metric

PRIOR_SD = np.array([0.4, 0.4, 2.0])


def scores_and_labels(n, seed=0):
    rng = np.random.default_rng(seed)
    s = rng.beta(0.7, 0.9, n)
    logs = np.stack([np.log(s), np.log1p(-s)], axis=1)
    y = (rng.random(n) < expit(0.5 + 1.4 * logs[:, 0] - 0.8 * logs[:, 1])).astype(float)
    return logs, y


def sample(logs, y, n_draws, seed=0):
    return CalibrationFit(logs, y, PRIOR_SD).sample(n_draws, np.random.default_rng(seed))


def test_without_labels_the_draws_are_the_prior() -> None:
    draws = sample(np.empty((0, 2)), np.empty(0), 4000)
    np.testing.assert_allclose(draws.mean(axis=0) / PRIOR_SD, 0.0, atol=0.08)
    np.testing.assert_allclose(draws.std(axis=0) / PRIOR_SD, 1.0, atol=0.06)


def test_draws_equal_the_posterior_summed_over_a_grid() -> None:
    logs, y = scores_and_labels(30)
    axes = [np.linspace(-4 * sd, 4 * sd, 49) for sd in PRIOR_SD]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log_weight = CalibrationFit(logs, y, PRIOR_SD).log_density(grid)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ grid
    deviation = np.sqrt(weight @ (grid - mean) ** 2)
    draws = sample(logs, y, 8000, seed=1)
    np.testing.assert_allclose((draws.mean(axis=0) - mean) / deviation, 0.0, atol=0.06)
    np.testing.assert_allclose(draws.std(axis=0) / deviation, 1.0, atol=0.05)


def test_overconfidence_is_corrected_and_its_uncertainty_shows() -> None:
    data = gaussian_set(2000, np.array([1.5]), rng=np.random.default_rng(0), sharpness=3.0)
    truth = ((data.scores[:, 0, 1] > 0.5) == data.labels).mean()
    shown = data.replace(labels=np.where(np.arange(2000) < 100, data.labels, UNLABELED))
    belief = BayesianCalibration().fit(shown, np.random.default_rng(0))
    estimate = belief.estimate([get_metric("accuracy")], [None])[0][0]
    low, high = estimate.interval(0.95)
    assert low[0] < truth < high[0]
    assert high[0] - low[0] > 0.03
    assert shown.scores.max(axis=2).mean() - estimate.value[0] > 0.05


def test_the_mode_is_found_although_a_full_step_overshoots() -> None:
    rng = np.random.default_rng(0)
    s = np.clip(rng.beta(0.1, 0.1, 50), 1e-12, 1 - 1e-12)
    fit = CalibrationFit(
        np.stack([np.log(s), np.log1p(-s)], axis=1),
        (rng.random(50) < 0.5).astype(float),
        3.0 * PRIOR_SD,
    )
    gradient, precision = fit.compute_slope(np.zeros(3))
    first = np.linalg.solve(precision + np.eye(3), gradient)
    before, after = fit.log_density(np.stack([np.zeros(3), first]))
    assert after < before
    mode, _ = fit.find_mode()
    np.testing.assert_allclose(fit.compute_slope(mode)[0], 0.0, atol=1e-4)
