import warnings

import numpy as np
import pytest

from ssme.errors import ConvergenceWarning
from ssme.mixture.kde import KdeClasses, select_bandwidth
from ssme.mixture.model import EmRules, compute_posterior, run_em


class NormalClasses:
    """Maximum-likelihood normals: the density for which EM's objective can never fall."""

    def __init__(self, x):
        self.x = x

    def update(self, weights):
        total = weights.sum(axis=0)
        mean = self.x @ weights / total
        variance = np.einsum("nk,nk->k", weights, (self.x[:, None] - mean) ** 2) / total
        return -0.5 * ((self.x[:, None] - mean) ** 2 / variance + np.log(2 * np.pi * variance))


def two_normals(seed=0, n=300, n_labeled=10):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    start = rng.dirichlet(np.ones(2), n)
    return rng.normal(2.0 * y, 1.0), y, labels, start


@pytest.mark.parametrize("lambda_u", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_objective_never_falls_with_maximum_likelihood_densities(lambda_u, weighted, seed) -> None:
    x, _, labels, start = two_normals(seed)
    weights = np.random.default_rng(seed).random(len(x)) if weighted else None
    fit = run_em(
        NormalClasses(x),
        start,
        labels,
        EmRules(lambda_u=lambda_u, max_iter=60, tol=None),
        np.random.default_rng(0),
        weights,
    )
    history = fit.objective_history
    assert (np.diff(history) >= -1e-9 * np.abs(history[1:])).all()
    assert fit.converged is None
    assert fit.n_iter == 60


def test_normals_are_recovered() -> None:
    x, y, labels, start = two_normals(n=5000, n_labeled=50)
    fit = run_em(NormalClasses(x), start, labels, EmRules(tol=1e-6), np.random.default_rng(0))
    assert fit.converged is True
    np.testing.assert_allclose(fit.priors[1], y.mean(), atol=0.03)
    expected = 1 / (1 + np.exp(-(2 * x - 2)))
    np.testing.assert_allclose(fit.responsibilities[50:, 1], expected[50:], atol=0.08)


def kde_classes(x):
    points = x[:, None]
    return KdeClasses(points, select_bandwidth(points, "silverman"))


def test_without_clamp_labels_yield_to_the_fit_after_the_first_step() -> None:
    x, _, labels, start = two_normals()
    rules = EmRules(max_iter=3, tol=None, clamp=False)
    fit = run_em(kde_classes(x), start, labels, rules, np.random.default_rng(0))
    assert ((fit.responsibilities[:10] > 0) & (fit.responsibilities[:10] < 1)).any()


def test_sample_weight_is_repetition() -> None:
    x, _, labels, start = two_normals(n=80)
    counts = np.random.default_rng(3).integers(1, 4, 80)
    classes, again = KdeClasses(x[:, None], bandwidth := fixed(0.5)), np.repeat(x, counts)
    rules = EmRules(max_iter=15, tol=None)
    rng = np.random.default_rng(0)
    weighted = run_em(classes, start, labels, rules, rng, counts.astype(float))
    repeated = run_em(
        KdeClasses(again[:, None], bandwidth),
        np.repeat(start, counts, axis=0),
        np.repeat(labels, counts),
        rules,
        rng,
    )
    np.testing.assert_allclose(
        np.repeat(weighted.responsibilities, counts, axis=0), repeated.responsibilities, atol=1e-10
    )
    np.testing.assert_allclose(weighted.objective_history, repeated.objective_history)


def test_lambda_u_moves_the_priors_toward_the_labels() -> None:
    x, _, labels, start = two_normals(n_labeled=40)
    labels = np.where((labels == 1) & (np.arange(len(x)) > 5), -1, labels)
    priors = [
        run_em(
            NormalClasses(x), start, labels, EmRules(lambda_u=u, tol=1e-6), np.random.default_rng(0)
        ).priors[1]
        for u in (1e-3, 1.0)
    ]
    np.testing.assert_allclose(priors[0], (labels == 1).sum() / (labels >= 0).sum(), atol=0.02)
    assert priors[1] > priors[0] + 0.1


def test_running_out_of_steps_warns() -> None:
    x, _, labels, start = two_normals()
    with pytest.warns(ConvergenceWarning, match="EM stopped after 2 steps"):
        fit = run_em(
            kde_classes(x), start, labels, EmRules(max_iter=2, tol=1e-9), np.random.default_rng(0)
        )
    assert fit.converged is False


def test_row_outside_every_density_has_the_prior() -> None:
    log_density = np.array([[-np.inf, -np.inf], [0.0, -np.inf], [-2000.0, -2001.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        posterior, log_evidence = compute_posterior(log_density, np.array([0.3, 0.7]))
    np.testing.assert_allclose(posterior[0], [0.3, 0.7])
    np.testing.assert_allclose(posterior[1], [1.0, 0.0])
    np.testing.assert_allclose(posterior[2, 0] / posterior[2, 1], 0.3 / 0.7 * np.e)
    assert np.isneginf(log_evidence[0])


def fixed(h):
    return select_bandwidth(np.zeros((1, 1)), h)


def test_first_priors_are_the_shares_of_the_labels() -> None:
    """Algorithm 1 begins with the empirical class distribution, not with that of the start."""
    x, _, labels, start = two_normals()
    labels[:10] = [0, 1, 1, 1, 1, 1, 1, 1, 1, 0]
    one_step = EmRules(max_iter=1, tol=None)
    fit = run_em(kde_classes(x), start, labels, one_step, np.random.default_rng(0))
    np.testing.assert_allclose(fit.priors, [0.2, 0.8])
    weight = np.ones(len(x))
    weight[0] = 7.0
    fit = run_em(kde_classes(x), start, labels, one_step, np.random.default_rng(0), weight)
    np.testing.assert_allclose(fit.priors, [0.5, 0.5])
