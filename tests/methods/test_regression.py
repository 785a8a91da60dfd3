"""The regression on labels against scipy and slow sums: likelihood, mode, evidence and draws."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import multivariate_t
from scipy.stats import t as student

from ssme.arrays import FloatArray
from ssme.methods.regression import Features, Regression, SamplerConstants

NU = 4.0
EXACT = SamplerConstants(power=1.0, steps=25)


def columns_of(features: Features, n_classes: int, size: int) -> FloatArray:
    """Every column (n, K, P) of the linear part as one plain array."""
    n = len(features.dense)
    out = np.zeros((n, n_classes, size))
    out[:, :, features.dense_at] = features.dense
    by_class = [(at, np.broadcast_to(scale, (n, n_classes))) for at, scale in features.shifts]
    if features.ratio is not None:
        by_class.append((features.slopes, features.ratio))
    for at, multiplier in by_class:
        out[:, :, at] = multiplier[:, :, None] * np.eye(n_classes)
    return out


def made(n: int = 12, n_classes: int = 3, *, sharpened: bool = True, seed: int = 0) -> Regression:
    """log b (or one more dense column), two dense blocks, shifts, slopes and label intercepts."""
    rng = np.random.default_rng(seed)
    ends = np.cumsum([0, 1, 2, 1, n_classes, n_classes, n_classes]).tolist()
    blocks = [slice(*each) for each in pairwise(ends)]
    a, s, d = blocks[3:]
    dense = rng.normal(size=(n, n_classes, 3 if sharpened else 4))
    features = Features(
        offset=rng.normal(size=n_classes if sharpened else (n, n_classes)),
        dense=dense,
        dense_at=slice(1 if sharpened else 0, 4),
        shifts=((a, np.ones(n_classes)), (d, rng.uniform(0.2, 1.0, n_classes))),
        ratio=rng.normal(size=(n, n_classes)) if sharpened else None,
        slopes=s if sharpened else None,
    )
    if not sharpened:
        blocks = [*blocks[:4], slice(a.stop, d.stop)]
    size = d.stop
    mean, in_mode = np.zeros(size), np.ones(size, dtype=bool)
    mean[0], in_mode[blocks[2]] = 0.2 if sharpened else 0.0, not sharpened
    return Regression(
        features=features,
        labels=rng.integers(0, n_classes, n),
        weights=rng.uniform(0.5, 2.0, n),
        blocks=blocks,
        mean=mean,
        sd=np.linspace(0.4, 1.5, size),
        in_mode=in_mode,
        nu=NU,
    )


def logits(model: Regression, theta: FloatArray) -> FloatArray:
    """z (n, K) by the whole array of columns."""
    features, n_classes = model.features, model.features.dense.shape[1]
    z = columns_of(features, n_classes, theta.size) @ theta + features.offset
    return z if features.ratio is None else z + np.exp(theta[0]) * features.ratio


def log_likelihood(model: Regression, theta: FloatArray) -> float:
    each = log_softmax(logits(model, theta), axis=1)
    return float(model.weights @ each[np.arange(len(model.labels)), model.labels])


def log_posterior(model: Regression, theta: FloatArray) -> float:
    """Labels and prior from scipy, with all their constants, of the blocks in the mode."""
    value = log_likelihood(model, theta)
    for block in model.blocks:
        if model.in_mode[block.start]:
            scale = np.diag(model.sd[block] ** 2)
            prior = multivariate_t(model.mean[block], shape=scale, df=model.nu)
            value += float(prior.logpdf(theta[block]))
    return value


@pytest.mark.parametrize("sharpened", [True, False])
@pytest.mark.parametrize("n_classes", [2, 5, 20])
def test_the_likelihood_and_its_curvature_are_those_of_the_whole_array(
    n_classes: int, sharpened: bool
) -> None:
    model = made(25, n_classes, sharpened=sharpened)
    features, size = model.features, model.mean.size
    columns, rows = columns_of(features, n_classes, size), np.arange(25)
    theta = 0.3 * np.random.default_rng(1).standard_normal((3, size))
    linear = features.combine(theta, linear_only=True)
    expected = [log_likelihood(model, one) for one in theta]
    np.testing.assert_allclose(model.log_likelihood(theta[:, 0], linear), expected, rtol=1e-10)
    for one, soft in zip(theta, features.compute_posteriors(theta), strict=True):
        w = np.exp(log_softmax(logits(model, one), axis=1))
        np.testing.assert_allclose(soft, w, atol=1e-13)
        jacobian = columns.copy()
        if features.ratio is not None:
            jacobian[:, :, 0] = np.exp(one[0]) * features.ratio
        centered = jacobian - np.einsum("nk,nkp->np", w, jacobian)[:, None]
        slope = model.weights @ centered[rows, model.labels]
        curvature = np.einsum("n,nk,nkp,nkq->pq", model.weights, w, centered, centered)
        for kept in (np.ones(size, dtype=bool), model.in_mode):
            found = model.compute_information(one, kept)
            np.testing.assert_allclose(found[0], slope[kept], atol=1e-11)
            np.testing.assert_allclose(found[1], curvature[np.ix_(kept, kept)], atol=1e-11)


@pytest.mark.parametrize("sharpened", [True, False])
@pytest.mark.parametrize("n", [2, 40])
def test_the_mode_is_the_one_that_scipy_finds(n: int, sharpened: bool) -> None:
    model = made(n, sharpened=sharpened)
    found, kept = model.find_mode(), model.in_mode

    def objective(part: FloatArray) -> float:
        theta = model.mean.copy()
        theta[kept] = part
        return -log_posterior(model, theta)

    best = minimize(objective, model.mean[kept], tol=1e-10)
    np.testing.assert_allclose(found[kept], best.x, atol=2e-3)
    assert log_posterior(model, found) >= -best.fun - 1e-6
    np.testing.assert_array_equal(found[~kept], model.mean[~kept])


def test_a_step_that_goes_too_far_is_halved() -> None:
    """Labels that contradict confident offsets: the first step goes far beyond the mode."""
    n, labels = 13, np.array([1] * 10 + [0] * 3)
    dense = np.zeros((n, 2, 2))
    dense[:, 1, 0] = 1.0  # the second column is zero, and so is its step
    features = Features(np.tile([0.0, -8.0], (n, 1)), dense, slice(0, 2), ())
    blocks, sd = (slice(0, 1), slice(1, 2)), np.array([1e4, 1.0])
    model = Regression(
        features, labels, np.ones(n), blocks, np.zeros(2), sd, np.ones(2, dtype=bool), NU
    )
    np.testing.assert_allclose(model.find_mode(), [8.0 + np.log(10 / 3), 0.0], atol=1e-3)


@pytest.mark.parametrize("n", [1, 40])
def test_evidence_is_laplace_about_the_mode(n: int) -> None:
    """With the curvature in which each Student t is a normal of equal slope."""
    model = made(n)
    mode, kept = model.find_mode(), model.in_mode
    curvature = model.compute_information(mode, np.ones(mode.size, dtype=bool))[1]
    for block in model.blocks:
        offset = (mode - model.mean)[block] / model.sd[block]
        pull = (NU + offset.size) / (NU + offset @ offset) / model.sd[block] ** 2
        curvature[block, block] += np.diag(pull)
    log_det = np.linalg.slogdet(curvature[np.ix_(kept, kept)])[1]
    expected = log_posterior(model, mode) + 0.5 * kept.sum() * np.log(2 * np.pi) - 0.5 * log_det
    assert model.log_evidence(mode) == pytest.approx(expected, rel=1e-9)


def test_evidence_is_the_integral_where_the_prior_is_normal() -> None:
    model = replace(made(15, 2, seed=2), nu=1e5)
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((20_000, model.mean.size))
    theta = model.mean + 0.3 * model.in_mode * model.sd * normal
    narrow = replace(model, sd=0.3 * model.sd)
    linear = model.features.combine(theta, linear_only=True)
    exact = float(np.log(np.exp(model.log_likelihood(theta[:, 0], linear)).mean()))
    assert narrow.log_evidence(narrow.find_mode()) == pytest.approx(exact, abs=0.3)


def test_a_label_that_counts_twice_is_two_labels() -> None:
    model = replace(made(10), weights=np.r_[np.full(5, 2.0), np.ones(5)])
    again, features = np.r_[np.arange(10), np.arange(5)], model.features
    assert features.ratio is not None
    twice = replace(features, dense=features.dense[again], ratio=features.ratio[again])
    doubled = replace(model, features=twice, labels=model.labels[again], weights=np.ones(15))
    mode = doubled.find_mode()
    np.testing.assert_allclose(model.find_mode(), mode, atol=1e-6)
    assert model.log_evidence(mode) == pytest.approx(doubled.log_evidence(mode))


@pytest.mark.parametrize("start_spread", [True, False])
@pytest.mark.parametrize("power", [1.0, 0.4])
def test_draws_are_those_of_the_posterior(power: float, start_spread: bool) -> None:
    """One coefficient, against the mean and spread of its posterior on a grid."""
    rng, n, sd = np.random.default_rng(2), 25, 0.8
    dense = rng.normal(size=(n, 2, 1))
    labels = (rng.random(n) < 0.7).astype(np.int64)
    features = Features(np.zeros((n, 2)), dense, slice(0, 1), ())
    fixed = (np.zeros(1), np.array([sd]), np.ones(1, dtype=bool), NU)
    model = Regression(features, labels, np.ones(n), (slice(0, 1),), *fixed)
    grid = np.linspace(-8.0, 8.0, 2001)
    each = log_softmax(dense[None, :, :, 0] * grid[:, None, None], axis=2)
    density = np.exp(power * each[:, np.arange(n), labels].sum(axis=1))
    density *= student(NU, scale=sd).pdf(grid)
    density /= density.sum()
    mean = float(density @ grid)
    spread = float(np.sqrt(density @ (grid - mean) ** 2))
    sampler = replace(EXACT, power=power, start_spread=start_spread)
    draws = model.draw(model.find_mode(), 1200, np.random.default_rng(0), sampler)[:, 0]
    assert draws.mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(1200))
    assert draws.std() == pytest.approx(spread, rel=0.08)


def test_chains_reach_the_posterior_of_a_sharpened_model() -> None:
    """Medians of all coefficients against importance sampling from the prior."""
    model = made(12, 2, seed=3)
    rng = np.random.default_rng(0)
    drawn = model.draw(model.find_mode(), 2000, rng, EXACT)
    features = model.features
    assert features.ratio is not None
    none = replace(features, dense=features.dense[:0], ratio=features.ratio[:0])
    empty = replace(model, features=none, labels=model.labels[:0], weights=model.weights[:0])
    prior = empty.draw(model.mean, 200_000, rng, EXACT)
    linear = features.combine(prior, linear_only=True)
    weight = np.exp(model.log_likelihood(prior[:, 0], linear))
    weight /= weight.sum()
    for column in range(model.mean.size):
        order = np.argsort(prior[:, column])
        median = prior[order, column][np.searchsorted(np.cumsum(weight[order]), 0.5)]
        share = (drawn[:, column] < median).mean()
        assert share == pytest.approx(0.5, abs=0.06)


def test_draws_without_labels_are_those_of_the_prior() -> None:
    model = made(0)
    draws = model.draw(model.mean, 20_000, np.random.default_rng(0), EXACT)
    draws = (draws - model.mean) / model.sd
    # a Student t of nu = 4 has quartiles at 0.7407
    quartiles = np.quantile(draws, [0.25, 0.5, 0.75], axis=0)
    expected = np.array([-0.7407, 0.0, 0.7407])[:, None]
    np.testing.assert_allclose(quartiles, np.repeat(expected, draws.shape[1], 1), atol=0.06)
    # columns of one block share their scale, columns of two do not
    large = np.abs(draws) > 2.0
    corner = dblquad(
        lambda x, y: multivariate_t(shape=np.eye(2), df=4).pdf([x, y]), 2, 60, 2, 60, epsabs=1e-4
    )[0]
    assert (large[:, 1] & large[:, 2]).mean() == pytest.approx(4 * corner, abs=0.012)
    alone = (2 * student(4).sf(2.0)) ** 2
    assert (large[:, 0] & large[:, 1]).mean() == pytest.approx(alone, abs=0.012)


def test_draws_do_not_depend_on_how_many_chains_are_moved_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = made(25)
    drawn = []
    for cells in (1, 10**9):
        monkeypatch.setattr("ssme.methods.regression.CACHED_CELLS", cells)
        rng = np.random.default_rng(0)
        drawn.append(model.draw(model.find_mode(), 40, rng, SamplerConstants()))
    assert (drawn[0] == drawn[1]).all()


def test_with_very_many_labels_draws_are_laplaces() -> None:
    model = made(40)
    mode = model.find_mode()
    sampler = replace(SamplerConstants(), laplace_rows=39)
    drawn = model.draw(mode, 4000, np.random.default_rng(0), sampler)
    curvature = sampler.power * model.compute_information(mode, np.ones(mode.size, dtype=bool))[1]
    expected = np.linalg.inv(curvature + np.diag(1.0 / model.sd**2))
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.1 * expected.max())
