"""The regression on labels against scipy: its mode, its evidence, its draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from scipy.stats import multivariate_t
from scipy.stats import t as student

from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.regression import CoefficientBlock, Regression, _solve
from ssme.metrics.base import FloatArray

OF = AnswerConstants()


def made(n: int = 12, size: int = 3, classes: int = 3, seed: int = 0) -> Regression:
    """Two blocks: one column, and the others together."""
    rng = np.random.default_rng(seed)
    return Regression(
        offset=rng.normal(size=(n, classes)),
        features=rng.normal(size=(n, classes, size)),
        labels=rng.integers(0, classes, n),
        weights=rng.uniform(0.5, 2.0, n),
        blocks=(CoefficientBlock(slice(0, 1), "one"), CoefficientBlock(slice(1, size), "others")),
        sd=np.linspace(0.4, 1.5, size),
        constants=OF,
    )


def log_posterior(of: Regression, theta: FloatArray) -> float:
    """Labels and prior from scipy, with all their constants."""
    told = softmax(of.offset + of.features @ theta, axis=1)
    rows = np.arange(len(of.labels))
    value = float(of.weights @ np.log(told[rows, of.labels]))
    for block in of.blocks:
        scale = np.diag(of.sd[block.columns] ** 2)
        value += float(multivariate_t(shape=scale, df=OF.nu).logpdf(theta[block.columns]))
    return value


@pytest.mark.parametrize("n", [2, 12, 60])
def test_the_mode_is_the_one_that_scipy_finds(n: int) -> None:
    of = made(n)
    found = of.find_mode()
    start = np.zeros(of.sd.size)
    best = minimize(lambda theta: -log_posterior(of, theta), start, tol=1e-12, method="Nelder-Mead")
    np.testing.assert_allclose(found, best.x, atol=2e-4)
    assert log_posterior(of, found) >= -best.fun - 1e-7


def test_without_labels_nothing_is_known() -> None:
    of = made(0)
    assert of.find_mode().tolist() == [0.0, 0.0, 0.0]
    assert of.log_evidence(np.zeros(3)) == 0.0


@pytest.mark.parametrize("n", [1, 3, 40])
def test_evidence_is_laplace_about_the_mode(n: int) -> None:
    """With the curvature in which each Student t is a normal of equal slope."""
    of = made(n)
    mode = of.find_mode()
    told = softmax(of.offset + of.features @ mode, axis=1)
    bend = np.zeros((3, 3))
    for i in range(n):
        inner = np.diag(told[i]) - np.outer(told[i], told[i])
        bend += of.weights[i] * of.features[i].T @ inner @ of.features[i]
    for block in of.blocks:
        own = mode[block.columns] / of.sd[block.columns]
        pull = (OF.nu + own.size) / (OF.nu + own @ own) / of.sd[block.columns] ** 2
        bend[block.columns, block.columns] += np.diag(pull)
    expected = log_posterior(of, mode) + 1.5 * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(bend)[1]
    assert of.log_evidence(mode) == pytest.approx(expected, rel=1e-9)


def test_either_side_solves_the_same_system() -> None:
    rng = np.random.default_rng(1)
    for n, size in ((2, 5), (5, 5), (9, 5)):
        root, precision, slope = rng.normal(size=(n, size)), rng.uniform(1, 2, size), np.ones(size)
        expected = np.linalg.solve(root.T @ root + np.diag(precision), slope)
        np.testing.assert_allclose(_solve(root, precision, slope), expected, rtol=1e-10)


def one_column(power: float) -> tuple[Regression, float, float]:
    """One coefficient, and the mean and spread of its posterior on a grid."""
    rng = np.random.default_rng(2)
    n = 25
    features = rng.normal(size=(n, 2, 1))
    labels = (rng.random(n) < 0.7).astype(np.int64)
    blocks = (CoefficientBlock(slice(0, 1), "one"),)
    constants = replace(OF, power=power, steps=25)
    of = Regression(
        np.zeros((n, 2)), features, labels, np.ones(n), blocks, np.array([0.8]), constants
    )

    grid = np.linspace(-8.0, 8.0, 2001)
    told = log_softmax(features[None, :, :, 0] * grid[:, None, None], axis=2)
    density = np.exp(power * told[:, np.arange(n), labels].sum(axis=1))
    density *= student(OF.nu, scale=0.8).pdf(grid)
    density /= density.sum()
    mean = float(density @ grid)
    return of, mean, float(np.sqrt(density @ (grid - mean) ** 2))


@pytest.mark.parametrize("power", [1.0, 0.4])
def test_draws_are_those_of_the_posterior(power: float) -> None:
    of, mean, spread = one_column(power)
    draws = of.draw(of.find_mode(), 1200, np.random.default_rng(0))[:, 0]
    assert draws.mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(1200))
    assert draws.std() == pytest.approx(spread, rel=0.08)


def test_draws_without_labels_are_those_of_the_prior() -> None:
    of = made(0)
    draws = of.draw(np.zeros(3), 4000, np.random.default_rng(0)) / of.sd
    # a Student t of nu = 4 has quartiles at 0.7407
    quartiles = np.quantile(draws, [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(quartiles, [[-0.7407] * 3, [0.0] * 3, [0.7407] * 3], atol=0.06)
    # columns of one block share their scale, columns of two do not
    large = np.abs(draws) > 2.0
    together = (large[:, 1] & large[:, 2]).mean()
    apart = (large[:, 0] & large[:, 1]).mean()
    corner = dblquad(
        lambda x, y: multivariate_t(shape=np.eye(2), df=4).pdf([x, y]), 2, 60, 2, 60, epsabs=1e-4
    )[0]
    assert together == pytest.approx(4 * corner, abs=0.012)
    assert apart == pytest.approx((2 * student(4).sf(2.0)) ** 2, abs=0.012)


def test_a_step_that_goes_too_far_is_halved() -> None:
    """Labels that contradict confident offsets: the first step goes far beyond the mode."""
    n, told = 13, np.array([1] * 10 + [0] * 3)
    features = np.zeros((n, 2, 2))
    features[:, 1, 0] = 1.0
    of = Regression(
        offset=np.tile([0.0, -8.0], (n, 1)),
        features=features,  # the second column is zero, and so is its step
        labels=told,
        weights=np.ones(n),
        blocks=(CoefficientBlock(slice(0, 1), "one"), CoefficientBlock(slice(1, 2), "other")),
        sd=np.array([1e4, 1.0]),
        constants=OF,
    )
    np.testing.assert_allclose(of.find_mode(), [8.0 + np.log(10 / 3), 0.0], atol=1e-3)
