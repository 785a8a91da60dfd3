"""Kappa as scikit-learn computes it; grade error and win rate by hand."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as skm

from ssme.metrics import get_metric, one_hot_mass

KAPPAS = [("cohen_kappa", None), ("quadratic_kappa", "quadratic")]


@pytest.mark.parametrize(("name", "weights"), KAPPAS)
@pytest.mark.parametrize("n_classes", [2, 5])
def test_kappa_is_that_of_scikit_learn(name: str, weights: str | None, n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(0, n_classes, 80)
    said = np.where(rng.random(80) < 0.6, truth, rng.integers(0, n_classes, 80))
    scores = 0.0 + (said[:, None, None] == np.arange(n_classes))
    rows = rng.gamma(1.0, 1.0, 80)
    value = get_metric(name)(scores, one_hot_mass(truth, n_classes, rows)).item()
    expected = skm.cohen_kappa_score(truth, said, weights=weights, sample_weight=rows)
    assert value == pytest.approx(expected)


def test_grade_error_and_win_rate() -> None:
    said, truth = np.array([0, 4, 2, 2]), np.array([1, 0, 2, 4])
    scores = 0.0 + (said[:, None, None] == np.arange(5))
    mass = one_hot_mass(truth, 5)
    assert get_metric("grade_error")(scores, mass).item() == pytest.approx(7 / 16)
    assert get_metric("win_rate")(scores, mass).item() == pytest.approx(7 / 16)
    scores[0] = np.nan
    assert get_metric("win_rate")(scores, mass).item() == pytest.approx(6 / 12)
