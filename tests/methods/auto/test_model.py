"""The parts of auto against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.arrays import FloatArray
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import (
    Correction,
    Spread,
    choose_spread,
    compute_gain,
    predict_bias,
    recenter,
)
from ssme.methods.auto.model import (
    IN_MODE,
    compute_label_spread,
    compute_posterior,
    find_blocks,
    make_features,
    make_regression,
)
from ssme.methods.auto.pool import (
    TemperaturePrior,
    clip_scores,
    find_present,
    log_pool,
    weigh_by_labels,
)
from ssme.methods.regression import Regression, log_softmax
from ssme.metrics import get_metric

OF = Constants()
HALVES = np.array([0.5, 0.5])
CLIP = OF.pool.clip


def scores(n: int = 40, n_models: int = 3, n_classes: int = 3, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return clip_scores(rng.dirichlet(np.ones(n_classes), (n, n_models)), CLIP)


def fitted(
    n_labeled: int = 25, n_classes: int = 3
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], Regression]:
    """q, log pi and log p of rows, and the regression on the first of them."""
    q = scores(n_classes=n_classes)
    equal, log_share = np.full(3, 1.0 / 3.0), np.log(q.mean(axis=(0, 1)))
    log_pi = log_pool(q, find_present(q), equal, equal)
    labels = np.random.default_rng(0).integers(n_classes, size=n_labeled)
    spread = compute_label_spread(log_pi, log_pi[:n_labeled], 2.0)
    features = make_features(q[:n_labeled], log_pi[:n_labeled], log_share, spread)
    prior = TemperaturePrior(0.1, 0.25)
    regression = make_regression(features, labels, None, prior, 3.0, OF.model)
    return (q, log_pi, log_share), regression


def test_the_mode_of_all_rows_equals_its_features() -> None:
    rows, regression = fitted()
    mode = regression.find_mode()
    for name, block in find_blocks(3, 3).items():
        assert mode[block].any() == (name in IN_MODE)
    slow = make_features(*rows).compute_posteriors(mode[None])[0]
    np.testing.assert_allclose(compute_posterior(*rows, mode), slow, rtol=1e-12)


def test_pool_by_its_definition() -> None:
    q = scores()
    standing, weights = np.array([0.2, 0.2, 0.6]), np.array([0.5, 0.3, 0.2])
    pooled = log_pool(q, find_present(q), standing, weights)
    total = np.zeros((40, 3))
    for w in (standing, weights):
        for i in range(40):
            linear, logarithmic = w @ q[i], w @ np.log(q[i])
            median = np.empty(3)
            for k in range(3):
                order = np.argsort(q[i, :, k])
                middle = np.cumsum(w[order]) - w[order] / 2
                median[k] = np.interp(0.5, middle, q[i, order, k])
            total[i] += log_softmax(np.log(linear)) + log_softmax(logarithmic)
            total[i] += log_softmax(np.log(median))
    assert np.allclose(pooled, log_softmax(total / 6))


def test_a_missing_classifier_weighs_nothing() -> None:
    raw = np.random.default_rng(1).dirichlet(np.ones(2), (30, 4))
    holed = raw.copy()
    holed[:, 2] = np.nan
    equal, weights = np.full(4, 0.25), np.array([0.1, 0.2, 0.4, 0.3])
    with_hole = log_pool(clip_scores(holed, CLIP), find_present(holed), equal, weights)
    kept = [0, 1, 3]
    ones = np.ones((30, 3), bool)
    without = log_pool(clip_scores(raw[:, kept], CLIP), ones, equal[kept], weights[kept])
    linear = np.abs(with_hole - without).max()
    assert linear < 0.1
    holed[5] = np.nan
    assert np.allclose(
        np.exp(log_pool(clip_scores(holed, CLIP), find_present(holed), equal, weights)[5]), 0.5
    )


def test_weights_follow_the_labels_and_are_the_standing_without() -> None:
    q = np.full((9, 2, 2), 0.5)
    q[:, 0] = (0.2, 0.8)
    present = np.ones((9, 2), bool)
    standing, labels = np.array([0.25, 0.75]), np.ones(9, dtype=np.int64)
    weights = weigh_by_labels(q, present, labels, standing, 0.5)
    assert weights[0] / weights[1] == pytest.approx(np.exp(3.0 * np.log(0.8 / 0.5)) / 3.0)
    none = weigh_by_labels(q[:0], present[:0], labels[:0], standing, 0.5)
    assert (none == standing).all()
    q[0, 0] = (0.8, 0.2)
    once = weigh_by_labels(q, present, labels, standing, 0.5, np.where(np.arange(9) < 1, 9.0, 1e-9))
    assert once[0] / once[1] == pytest.approx(np.exp(3.0 * np.log(0.2 / 0.5)) / 3.0)


def test_recentering_moves_the_median_and_keeps_the_range() -> None:
    rng = np.random.default_rng(0)
    draws = rng.beta(8, 2, (501, 3))
    value = np.array([0.95, 0.5, 1.0])
    moved = recenter(get_metric("accuracy"), value, draws, None, Spread(0.5, 0.5))
    assert np.allclose(np.median(moved, axis=0), value)
    z, z_moved = (np.log(x[:, :2] / (1.0 - x[:, :2])) for x in (draws, moved))
    expected = 0.5 * (z - np.median(z, axis=0))
    assert np.allclose(z_moved - np.median(z_moved, axis=0), expected)
    assert moved[:, 2].min() > 0.99
    assert (np.argsort(moved[:, 0]) == np.argsort(draws[:, 0])).all()


def test_what_classifiers_share_and_what_is_their_own_have_factors_of_their_own() -> None:
    rng = np.random.default_rng(1)
    draws = 0.2 + 0.02 * rng.standard_normal((2000, 1)) + 0.01 * rng.standard_normal((2000, 4))
    value, error = np.full(4, 0.2), get_metric("brier_score")
    moved = recenter(error, value, draws, None, Spread(0.5, 2.0))
    for x, y, factor in (
        (draws.mean(axis=1), moved.mean(axis=1), 0.5),
        (draws[:, 0] - draws[:, 1], moved[:, 0] - moved[:, 1], 2.0),
    ):
        assert np.std(y) == pytest.approx(factor * np.std(x), rel=0.02)


def test_the_sampling_of_rows_is_never_drawn_together() -> None:
    rng = np.random.default_rng(2)
    rows = 0.2 + 0.01 * rng.standard_normal((1000, 3))
    value, error = np.full(3, 0.2), get_metric("brier_score")
    for more in (0.0, 0.02):
        draws = rows + more * rng.standard_normal((1000, 3))
        moved = recenter(error, value, draws, rows, Spread(0.5, 0.5))
        share = rows.var() / draws.var()
        expected = np.sqrt(0.25 + 0.75 * share) * draws.std(axis=0)
        assert np.allclose(moved.std(axis=0), expected, rtol=0.05)


def test_the_spread_fades_where_labels_decide_and_with_classifiers() -> None:
    accuracy, of = get_metric("accuracy"), OF.recentering
    shared, own = of.spread
    found = choose_spread(accuracy, (0.0, 0.0), 1e9, HALVES, of)
    assert (found.shared, found.own) == pytest.approx((shared, own))
    assert found.evenness == of.evenness
    assert choose_spread(get_metric("log_loss"), (0.0, 0.0), 2.0, HALVES, of) == Spread()
    wide = choose_spread(accuracy, (0.36, 0.75), 2.0, HALVES, of, 1.6)
    few = np.exp(of.few / 2.0)
    assert (wide.shared, wide.own) == pytest.approx((1.28 * few * shared, 0.8 * few * own))
    auc = get_metric("roc_auc")
    assert choose_spread(auc, (0.0, 0.0), 1e9, HALVES, of).shared == pytest.approx(shared)
    rare = choose_spread(auc, (0.0, 0.0), 1e9, np.array([0.95, 0.05]), of)
    assert rare.shared == pytest.approx(10.0**of.rarity * shared)


def test_what_is_known_too_well_is_evened_out_and_copies_stay_copies() -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([0.02, 0.02, 0.001, 0.001])
    draws = 0.2 + sizes * rng.standard_normal((4000, 4))
    draws = np.concatenate([draws, draws[:, :1]], axis=1)
    value, error = np.full(5, 0.2), get_metric("brier_score")
    moved = recenter(error, value, draws, None, Spread(1.0, 1.0, 0.5))
    own, was = (x - x.mean(axis=1, keepdims=True) for x in (moved, draws))
    assert np.std(moved[:, 2] - moved[:, 3]) > 2.0 * np.std(draws[:, 2] - draws[:, 3])
    assert np.std(moved[:, 0] - moved[:, 1]) < np.std(draws[:, 0] - draws[:, 1])
    assert (own**2).sum() == pytest.approx(((was - np.median(was, axis=0)) ** 2).sum(), rel=0.02)
    assert np.allclose(moved[:, 0], moved[:, 4], atol=1e-12)


def drawn_labels(size: int = OF.correction.label_draws, models: int = 3) -> np.ndarray:
    return 0.8 + 0.05 * np.random.default_rng(0).standard_normal((size, models))


@pytest.mark.parametrize("ratio", [0.01, 0.3, 3.0, 100.0])
def test_the_gain_is_the_posterior_mean_of_a_heavy_tailed_bias(ratio: float) -> None:
    from scipy.stats import norm, t

    bias = np.linspace(-60.0, 60.0, 200_001)
    prior = t.pdf(bias / np.sqrt(ratio), 2)
    for z in (0.3, 1.0, 3.0, 6.0):
        weight = prior * norm.pdf(z - bias)
        mean = (weight @ bias) / weight.sum()
        variance = (weight @ (bias - mean) ** 2) / weight.sum()
        gain, left = compute_gain(np.array([z**2]), ratio)
        assert gain[0] == pytest.approx(mean / z, abs=0.01)
        assert left[0] == pytest.approx(variance, rel=0.03, abs=0.01)


def test_a_residual_of_many_standard_errors_is_believed_and_one_of_one_is_not() -> None:
    drawn = drawn_labels(models=5)
    mean, sd = drawn.mean(axis=0), (drawn - drawn.mean(axis=1, keepdims=True)).std(axis=0)
    shares = []
    for size in (1.0, 3.0, 6.0):
        observed = mean.copy()
        observed[0] += size * sd[0]
        step = Correction.estimate(observed, drawn, 20, 0.37, 5, OF.correction).step
        shares.append((step[0] - step[1:].mean()) / (size * sd[0]))
    assert shares == sorted(shares)
    assert shares[0] < 0.1
    assert shares[2] > 0.5


def test_labels_decide_in_the_limit_and_none_says_nothing() -> None:
    drawn = drawn_labels()
    for n, low, high in ((20, 0.0, 0.15), (1_000_000, 0.99, 1.0)):
        for tau in (0.2, 1.0):
            ratio = predict_bias(n, tau, OF.correction)
            assert low <= compute_gain(np.ones(1), ratio)[0][0] <= high
    normal = np.random.default_rng(1).standard_normal((20, OF.correction.label_draws))
    nothing = Correction.none(OF.correction)
    assert (nothing.draw(normal) == 0.0).all()
    assert nothing.gains == (0.0, 0.0)
    flat = np.repeat(drawn[:1], len(drawn), axis=0)
    assert (Correction.estimate(drawn[1], flat, 20, 0.37, 3, OF.correction).step == 0.0).all()


def test_copies_are_corrected_alike_and_curves_whichever_classifiers_they_are_of() -> None:
    drawn, n, of = drawn_labels(), 50, OF.correction
    drawn = np.concatenate([drawn, drawn[:, :1]], axis=1)
    found = Correction.estimate(drawn[3] + 0.1, drawn, n, 0.37, 4, of)
    assert found.step[0] == found.step[3]
    assert (found.noise[:, 0] == found.noise[:, 3]).all()
    curve = Correction.estimate(drawn[3], drawn, n, 0.37, 1, of)
    part = Correction.estimate(drawn[3, :2], drawn[:, :2], n, 0.37, 1, of)
    np.testing.assert_array_equal(curve.step[:2], part.step)


def test_label_spread_is_one_label_more_and_what_chance_leaves() -> None:
    pi = np.random.default_rng(3).dirichlet([1.0, 2.0, 3.0], 200)
    labeled = pi[:9] ** 2 / (pi[:9] ** 2).sum(axis=1, keepdims=True)
    share = pi.mean(axis=0)
    one_more = np.log1p(1.0 / (9 * share))
    off = np.abs(np.log(labeled.mean(axis=0) / share))
    for chance in (0.0, 0.3, 50.0):
        beyond = np.maximum(off - chance * pi.std(axis=0) / share / 3.0, 0.0)
        found = compute_label_spread(np.log(pi), np.log(labeled), chance)
        np.testing.assert_allclose(found, one_more + beyond, rtol=1e-12)
    np.testing.assert_allclose(compute_label_spread(np.log(pi), np.log(labeled), np.inf), one_more)
    np.testing.assert_allclose(
        compute_label_spread(np.log(pi), np.log(labeled), np.inf, least=0.1),
        np.maximum(one_more, 0.1),
    )
    assert compute_label_spread(np.log(pi), np.log(labeled)[:0], 1.0).tolist() == [1.0, 1.0, 1.0]
