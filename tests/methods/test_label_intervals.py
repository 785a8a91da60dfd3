"""Closed forms against published values, their defining equations and their edges."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.methods.label_draws import (
    boyd_ap,
    find_ap_interval,
    find_ece_interval,
    find_normal_quantile,
    kish,
    newcombe_auc,
    wilson,
)


def a(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_wilson_gives_newcombes_published_interval():
    low, high = wilson(a(81 / 263), a(263))
    assert (round(low[0], 4), round(high[0], 4)) == (0.2553, 0.3662)  # Newcombe 1998, table I


@pytest.mark.parametrize("p", [0.05, 0.5, 0.95])
def test_wilson_ends_are_the_roots_of_the_score_equation(p: float):
    n = 20.0
    for end in wilson(a(p), a(n), level=0.9):
        assert abs(p - end[0]) == pytest.approx(
            find_normal_quantile(0.9) * np.sqrt(end[0] * (1 - end[0]) / n)
        )


def test_newcombe_ends_invert_hanley_and_mcneil():
    m, n, auc = 12.0, 30.0, 0.83
    star = (m + n) / 2 - 1
    for end in newcombe_auc(a(auc), a(m), a(n)):
        t = end[0]
        variance = t * (1 - t) * (1 + star * (1 - t) / (2 - t) + star * t / (1 + t)) / (m * n)
        assert abs(auc - t) == pytest.approx(
            find_normal_quantile(0.95) * np.sqrt(variance), abs=1e-9
        )


def test_boyd_is_a_logit_interval_with_two_pseudo_rows():
    low, high = boyd_ap(a(0.7), a(8))
    p = (8 * 0.7 + 1) / 10
    center, half = np.log(p / (1 - p)), find_normal_quantile(0.95) / np.sqrt(10 * p * (1 - p))
    assert np.log(low[0] / (1 - low[0])) == pytest.approx(center - half)
    assert np.log(high[0] / (1 - high[0])) == pytest.approx(center + half)


def test_average_precision_near_one_is_not_held_below_it():
    low, high = find_ap_interval(a(0.995), a(50))
    assert high[0] == wilson(a(0.995), a(50))[1][0] > 0.999
    assert low[0] == boyd_ap(a(0.995), a(50))[0][0]


def test_ece_interval_takes_noise_out_above_and_starts_at_the_mean_gap():
    low, high = find_ece_interval(a(0.13), a(-0.12), a(0.02**2), (a(0.05), a(0.05)))
    z = find_normal_quantile(0.95)
    assert low[0] == pytest.approx(0.12 - z * 0.02)
    assert high[0] == pytest.approx(np.sqrt(0.13**2 - 0.05**2) + z * 0.02)


def test_pure_noise_cannot_exclude_perfect_calibration():
    low, high = find_ece_interval(a(0.2), a(0.0), a(0.01), (a(0.25), a(0.25)))
    assert low[0] == 0.0
    assert high[0] == pytest.approx(0.2)  # the point stays inside


@pytest.mark.parametrize(
    "interval",
    [
        lambda v: wilson(v, a(0, 20)),
        lambda v: newcombe_auc(v, a(0, 5), a(10, 5)),
        lambda v: boyd_ap(v, a(0, 5)),
    ],
)
def test_no_rows_no_interval(interval):
    low, high = interval(a(0.5, np.nan))
    assert np.isnan(low).all()
    assert np.isnan(high).all()


def test_kish_counts_equal_weights_fully_and_one_heavy_row_once():
    weights = np.array([[1.0, 1.0], [1.0, 1e-9], [1.0, 0.0], [1.0, 0.0]])
    assert kish(weights) == pytest.approx([4.0, 1.0])
