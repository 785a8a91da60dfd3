"""Numbers of published packages and definitions that the rival methods must reproduce."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import truncnorm

from ssme.methods.annotators import fit_dawid_skene
from ssme.methods.beliefs import make_normal_estimate
from ssme.methods.labeled import compute_lure_weights
from ssme.methods.ppi import PredictedAccuracy
from ssme.metrics import get_metric
from ssme.mixture.gaussian_mixture import log_truncated_normal

FIXTURES = Path(__file__).parent / "fixtures"


def cases(name: str) -> list[dict]:
    return json.loads((FIXTURES / f"{name}.json").read_text())["cases"]


@pytest.mark.parametrize("case", cases("ppi"))
def test_ppi_equals_ppi_py_for_the_same_lambda(case) -> None:
    truth, predicted, unlabeled = (np.array(case[k]) for k in ("truth", "predicted", "unlabeled"))
    n, rows = truth.size, np.arange(truth.size + unlabeled.size)
    known = PredictedAccuracy(
        truth=np.resize(truth, rows.size)[:, None],
        predicted=np.concatenate([predicted, unlabeled])[:, None],
        labeled=rows < n,
        weights=np.ones(rows.size),
        label_weights=None,
        ridge_grid=None,
    )
    value, influence = known.estimate_mean(0, rows[:n], rows[n:], case["lam"])
    boundless = replace(get_metric("accuracy"), low=-np.inf, high=np.inf)
    seed = np.random.SeedSequence(0)
    estimate = make_normal_estimate(np.array([value]), influence[None], boundless, 10, seed)
    low, high = estimate.interval(case["level"])
    expected = [case["point"], case["low"], case["high"]]
    np.testing.assert_allclose([value, low[0], high[0]], expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("case", cases("dawid_skene"), ids=lambda case: case["name"])
def test_dawid_skene_equals_crowd_kit(case) -> None:
    votes = np.eye(case["n_classes"])[np.array(case["votes"])]
    unlabeled = np.full(len(votes), -1)
    fit = fit_dawid_skene(votes, unlabeled, tol=1e-9, max_iter=5000)
    tolerance = 1e-3 if "converged" in case["name"] else 1e-2
    np.testing.assert_allclose(fit.posterior, case["posterior"], rtol=0, atol=tolerance)


@pytest.mark.parametrize(("n_rows", "n_labels"), [(3, 1), (4, 2), (5, 3), (5, 4), (4, 4), (6, 5)])
def test_lure_is_unbiased_over_every_order_of_acquisition(n_rows, n_labels) -> None:
    rng = np.random.default_rng(n_rows + 10 * n_labels)
    loss, proposal = rng.random(n_rows), rng.dirichlet(np.ones(n_rows))
    expected = total = 0.0
    for order in permutations(range(n_rows), n_labels):
        picked = proposal[list(order)]
        left = 1.0 - np.concatenate([[0.0], np.cumsum(picked)[:-1]])
        probability = picked / left
        estimate = (compute_lure_weights(probability, n_rows) * loss[list(order)]).mean()
        expected += probability.prod() * estimate
        total += probability.prod()
    assert total == pytest.approx(1.0, abs=1e-12)
    assert expected == pytest.approx(loss.mean(), abs=1e-12)


@pytest.mark.parametrize("mu", [-3.0, -0.4, 0.0, 0.3, 1.0, 1.7])
@pytest.mark.parametrize("sigma", [0.02, 0.2, 1.0, 5.0])
def test_truncated_normal_equals_scipy(mu, sigma) -> None:
    x = np.linspace(0.0, 1.0, 41)
    expected = truncnorm.logpdf(x, (0.0 - mu) / sigma, (1.0 - mu) / sigma, loc=mu, scale=sigma)
    np.testing.assert_allclose(log_truncated_normal(x, mu, sigma), expected, rtol=1e-12, atol=1e-12)
