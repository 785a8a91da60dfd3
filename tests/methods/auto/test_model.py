"""The parts of auto against their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.methods.auto import model as fitting
from ssme.methods.auto.constants import Constants, ModelConstants
from ssme.methods.auto.correction import Correction, Spread, choose_spread, recenter, weigh_labels
from ssme.methods.auto.model import (
    CoefficientDesign,
    Features,
    LabelEvidence,
    compute_curvature,
    compute_label_spread,
    compute_posteriors,
    find_mode,
    log_evidence,
)
from ssme.methods.auto.pool import (
    clip_scores,
    find_present,
    log_pool,
    log_softmax,
    weigh_by_labels,
)
from ssme.methods.auto.prior import (
    TemperaturePrior,
    predict_agreed_temperature,
    predict_temperature,
    summarize_scores,
)
from ssme.methods.auto.sampler import draw_coefficients
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray

OF = Constants()
CLIP, EDGE = OF.pool.clip, OF.recentering.edge


def scores(n: int = 40, n_models: int = 3, n_classes: int = 3, seed: int = 0) -> FloatArray:
    rng = np.random.default_rng(seed)
    return clip_scores(rng.dirichlet(np.ones(n_classes), (n, n_models)), CLIP)


def evidence(
    n_labeled: int = 25, n_classes: int = 3, seed: int = 0, constants: ModelConstants = OF.model
) -> tuple[CoefficientDesign, LabelEvidence]:
    q = scores(n_classes=n_classes, seed=seed)
    equal = np.full(3, 1.0 / 3.0)
    log_share = np.log(q.mean(axis=(0, 1)))
    log_pi = log_pool(q, find_present(q), equal, equal)
    design = CoefficientDesign(log_pi, q, log_share, constants, 3.0)
    labels = np.random.default_rng(seed).integers(n_classes, size=n_labeled)
    prior, spread = (
        TemperaturePrior(0.1, 0.25),
        compute_label_spread(log_pi, log_pi[:n_labeled], 2.0),
    )
    known = CoefficientDesign(log_pi[:n_labeled], q[:n_labeled], log_share, constants, 3.0)
    return design, LabelEvidence.of(known, labels, prior, spread)


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


def test_one_classifier_is_its_own_pool() -> None:
    q = scores(n_models=1)
    assert np.allclose(np.exp(log_pool(q, find_present(q), np.ones(1), np.ones(1))), q[:, 0])


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
    weights = weigh_by_labels(q, present, labels, standing, 1.0)
    assert weights[0] / weights[1] == pytest.approx(np.exp(3.0 * np.log(0.8 / 0.5)) / 3.0)
    none = weigh_by_labels(q[:0], present[:0], labels[:0], standing, 1.0)
    assert (none == standing).all()
    q[0, 0] = (0.8, 0.2)
    once = weigh_by_labels(q, present, labels, standing, 1.0, np.where(np.arange(9) < 1, 9.0, 1e-9))
    assert once[0] / once[1] == pytest.approx(np.exp(3.0 * np.log(0.2 / 0.5)) / 3.0)


def test_clipping_leaves_room_and_sums_to_one() -> None:
    q = clip_scores(np.array([[[1.0, 0.0]]]), CLIP)
    assert q.min() == pytest.approx(CLIP, rel=1e-3)
    assert np.allclose(q.sum(axis=2), 1.0)


def test_confident_classifiers_are_flattened_and_many_are_sharpened() -> None:
    def prior(top: float, n_models: int) -> TemperaturePrior:
        one = np.full((1, n_models, 2), (top, 1.0 - top))
        q, present = np.concatenate([one, one[:, :, ::-1]] * 9), np.ones((18, n_models), bool)
        summary = replace(summarize_scores(q, present, OF.agreement), n_effective=n_models)
        return predict_temperature(summary, OF.prior)

    assert prior(0.999, 4).center < prior(0.7, 4).center
    assert prior(0.7, 1).center < prior(0.7, 4).center
    assert prior(0.7, 1).scale > prior(0.7, 4).scale


def test_center_is_a_stationary_point() -> None:
    _, seen = evidence()
    theta = find_mode(seen)
    kept = np.flatnonzero(seen.in_mode)
    value = fitting._log_posterior
    for i in kept:
        step = np.zeros_like(theta)
        step[i] = 1e-4
        slope = (value(seen, theta + step) - value(seen, theta - step)) / 2e-4
        assert abs(slope) < 1e-2
    assert (theta[~seen.in_mode] == 0.0).all()


def test_center_of_all_rows_equals_its_features() -> None:
    design, seen = evidence()
    theta = find_mode(seen)[: 1 + design.families[-1].columns.stop]
    slow = compute_posteriors(design.make_features(slice(None)), design.log_share, theta[None])[0]
    assert np.allclose(design.compute_posterior(theta, slice(None)), slow)


def all_columns(seen: LabelEvidence) -> FloatArray:
    """What every coefficient multiplies (n, K, 1 + P), log b last: one plain array."""
    n, n_classes, _ = seen.features.dense.shape
    ratio, own_class = (
        seen.features.ratio,
        np.broadcast_to(np.eye(n_classes), (n, n_classes, n_classes)),
    )
    return np.concatenate(
        [
            own_class,
            seen.features.dense,
            ratio[:, :, None] * own_class,
            seen.spread[:, None] * own_class,
            ratio[:, :, None],
        ],
        axis=2,
    )


@pytest.mark.parametrize("n_classes", [2, 5, 20])
def test_structure_gives_what_the_whole_array_of_features_does(n_classes: int) -> None:
    """z, W, slope and curvature with families of one coefficient per class multiplied out."""
    _, seen = evidence(n_labeled=25, n_classes=n_classes)
    rng = np.random.default_rng(1)
    theta = 0.3 * rng.standard_normal((4, seen.mean.size))
    columns, log_share = all_columns(seen), seen.log_share
    linear = theta[:, 1:] @ columns[:, :, :-1].reshape(-1, theta.shape[1] - 1).T
    assert np.allclose(seen.compute_linear_part(theta), linear, atol=1e-13)
    for one in theta:
        z = columns[:, :, :-1] @ one[1:] + np.exp(one[0]) * columns[:, :, -1] + log_share
        w = np.exp(log_softmax(z))
        jacobian = np.concatenate([np.exp(one[0]) * columns[:, :, -1:], columns[:, :, :-1]], axis=2)
        slope, bend = np.zeros(one.size), np.zeros((one.size, one.size))
        for i, label in enumerate(seen.labels):
            centered = jacobian[i] - w[i] @ jacobian[i]
            slope += centered[label]
            bend += centered.T @ (w[i][:, None] * centered)
        found = fitting._compute_information(seen, one, seen.families)
        assert np.allclose(found[0], slope, atol=1e-12)
        assert np.allclose(found[1], bend, atol=1e-12)
        mode = tuple(family for family in seen.families if family.in_mode)
        kept = np.flatnonzero(seen.in_mode)
        found = fitting._compute_information(seen, one, mode)
        assert np.allclose(found[0], slope[kept], atol=1e-12)
        assert np.allclose(found[1], bend[np.ix_(kept, kept)], atol=1e-12)
    design_part = theta[:, : 1 + seen.families[-1].columns.start]
    soft = compute_posteriors(seen.features, log_share, design_part)
    for d, one in enumerate(theta):
        own = columns[:, :, : design_part.shape[1] - 1] @ one[1 : design_part.shape[1]]
        z = own + np.exp(one[0]) * columns[:, :, -1] + log_share
        assert np.allclose(soft[d], np.exp(log_softmax(z)), atol=1e-13)


def test_what_is_stored_grows_with_the_classes_and_not_with_their_square() -> None:
    sizes = []
    for n_classes in (20, 200):
        design, seen = evidence(n_classes=n_classes)
        sizes.append(design.make_features(slice(None)).dense.size + seen.features.dense.size)
    assert sizes[1] == 10 * sizes[0]


def test_draws_do_not_depend_on_how_many_chains_are_moved_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, seen = evidence()
    drawn = []
    for cells in (1, 10**9):
        monkeypatch.setattr("ssme.methods.auto.sampler.CACHED_CELLS", cells)
        rng = np.random.default_rng(0)
        drawn.append(draw_coefficients(seen, find_mode(seen), 40, rng, OF.sampler))
    assert (drawn[0] == drawn[1]).all()


def test_chains_in_batches_have_the_same_posterior() -> None:
    _, seen = evidence()
    mode = find_mode(seen)
    few = replace(OF.sampler, chain_cells=seen.features.ratio.size * 100)
    drawn = [
        draw_coefficients(seen, mode, 1000, np.random.default_rng(0), constants)
        for constants in (OF.sampler, few)
    ]
    assert (drawn[0] != drawn[1]).any()
    spread = drawn[0].std(axis=0)
    assert (np.abs(drawn[0].mean(axis=0) - drawn[1].mean(axis=0)) < 0.25 * spread).all()
    assert np.allclose(spread, drawn[1].std(axis=0), rtol=0.25)


def test_evidence_tells_labels_apart_as_the_integral_does() -> None:
    """Laplace's evidence against a mean over draws from the prior: constants of the prior cancel,
    the odds of one labeling against another stay."""
    _, seen = evidence(n_labeled=15, n_classes=2, seed=2)
    rng = np.random.default_rng(0)
    theta = np.repeat(seen.mean[None], 50_000, axis=0)
    for block in seen.blocks:
        if seen.in_mode[block.start]:
            chi = rng.gamma(OF.model.nu / 2.0, 2.0 / OF.model.nu, (len(theta), 1))
            size = (len(theta), block.stop - block.start)
            theta[:, block] += seen.sd[block] * rng.standard_normal(size) / np.sqrt(chi)
    sure = seen.features.ratio.argmax(axis=1)
    found, exact = [], []
    for labels in (sure, 1 - sure, seen.labels):
        one = replace(seen, labels=labels)
        found.append(log_evidence(one, find_mode(one)))
        likelihood = one.log_likelihood(theta[:, 0], one.compute_linear_part(theta))
        exact.append(float(np.log(np.exp(likelihood).mean())))
    assert np.diff(found) == pytest.approx(np.diff(exact), abs=0.6)
    assert max(np.abs(np.diff(exact))) > 3.0


def test_evidence_is_the_integral_where_the_prior_is_normal() -> None:
    _, seen = evidence(n_labeled=15, n_classes=2, seed=2)
    seen = replace(seen, constants=replace(seen.constants, nu=1e5))
    rng = np.random.default_rng(0)
    theta = seen.mean + seen.in_mode * seen.sd * rng.standard_normal((20_000, seen.mean.size))
    likelihood = seen.log_likelihood(theta[:, 0], seen.compute_linear_part(theta))
    exact = float(np.log(np.exp(likelihood).mean()))
    assert log_evidence(seen, find_mode(seen)) == pytest.approx(exact, abs=0.3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_label_that_counts_twice_is_two_labels(n_classes: int) -> None:
    _, seen = evidence(n_labeled=10, n_classes=n_classes)
    again = np.r_[np.arange(10), np.arange(5)]
    doubled = replace(
        seen,
        features=Features(seen.features.ratio[again], seen.features.dense[again]),
        labels=seen.labels[again],
    )
    weighted = replace(seen, weights=np.r_[np.full(5, 2.0), np.ones(5)])
    assert np.allclose(find_mode(weighted), find_mode(doubled), atol=1e-6)
    mode = find_mode(doubled)
    assert log_evidence(weighted, mode) == pytest.approx(log_evidence(doubled, mode))
    assert np.allclose(compute_curvature(weighted, mode), compute_curvature(doubled, mode))


def test_curvature_is_positive_definite() -> None:
    _, seen = evidence()
    assert np.linalg.eigvalsh(compute_curvature(seen, find_mode(seen))).min() > 0.0


def test_chains_reach_the_posterior() -> None:
    """Means and spreads of log b and of a tilt against importance sampling from the prior."""
    _, seen = evidence(n_labeled=12, n_classes=2, seed=3)
    rng = np.random.default_rng(0)
    drawn = draw_coefficients(seen, find_mode(seen), 3000, rng, OF.sampler)
    none = Features(seen.features.ratio[:0], seen.features.dense[:0])
    empty = replace(seen, features=none, labels=seen.labels[:0])
    prior = draw_coefficients(empty, seen.mean, 200_000, rng, OF.sampler)
    weight = np.exp(
        OF.sampler.power * seen.log_likelihood(prior[:, 0], seen.compute_linear_part(prior))
    )
    weight /= weight.sum()
    for column in (0, 1, 3):
        mean = weight @ prior[:, column]
        middle = np.median(np.abs(drawn[:, column] - mean))
        order = np.argsort(np.abs(prior[:, column] - mean))
        exact = np.abs(prior[order, column] - mean)[np.searchsorted(np.cumsum(weight[order]), 0.5)]
        assert drawn[:, column].mean() == pytest.approx(mean, abs=0.03)
        assert middle == pytest.approx(exact, rel=0.1)


def test_recentering_moves_the_median_and_keeps_the_range() -> None:
    rng = np.random.default_rng(0)
    draws = rng.beta(8, 2, (501, 3))
    value = np.array([0.95, 0.5, 1.0])
    moved = recenter(get_metric("accuracy"), value, draws, None, Spread(0.5, 0.5), EDGE)
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
    moved = recenter(error, value, draws, None, Spread(0.5, 2.0), EDGE)
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
        moved = recenter(error, value, draws, rows, Spread(0.5, 0.5), EDGE)
        share = rows.var() / draws.var()
        expected = np.sqrt(0.25 + 0.75 * share) * draws.std(axis=0)
        assert np.allclose(moved.std(axis=0), expected, rtol=0.05)


def test_the_spread_fades_to_its_own_with_labels_and_few_classifiers() -> None:
    accuracy, of = get_metric("accuracy"), OF.recentering
    shared, own = of.spread[accuracy.kind]
    found = choose_spread(accuracy, 10**9, 0.0, 1e6, 2, of)
    assert (found.shared, found.own) == pytest.approx((shared, own))
    assert found.evenness == pytest.approx(of.evenness)
    assert choose_spread(accuracy, 50, 1.0, 8.0, 2, of) == Spread()
    assert choose_spread(accuracy, 50, 0.0, 2.0, 2, of) == Spread()
    other = choose_spread(get_metric("log_loss"), 20, 0.0, 8.0, 2, of)
    assert other == Spread(*of.other_spread)
    wide = choose_spread(accuracy, 10**9, 0.0, 1e6, 2, of, 1.6)
    assert (wide.shared, wide.own) == pytest.approx((1.6 * shared, 1.6 * own))
    assert choose_spread(accuracy, 50, 1.0, 8.0, 2, of, 1.6) == Spread()


def test_the_spread_is_smaller_with_few_labels() -> None:
    auc, of = get_metric("roc_auc"), OF.recentering
    (shared, own), less = of.spread[auc.kind], of.few_labels[auc.kind]
    for n_labeled, gap in ((0, 1.0), (20, 1.0), (40, 0.25), (200, 0.01)):
        found = choose_spread(auc, n_labeled, 0.0, 1e6, 2, of)
        factor = 1.0 - (1.0 - less) * gap
        assert (found.shared, found.own) == pytest.approx((factor * shared, factor * own))


def test_three_classifiers_keep_most_of_their_spread() -> None:
    accuracy, of = get_metric("accuracy"), OF.recentering
    three, eight = (choose_spread(accuracy, 50, 0.0, m, 2, of) for m in (3.0, 8.0))
    full = choose_spread(accuracy, 50, 0.0, 1e6, 2, of)
    fades = 1.0 - of.few / 27.0
    assert three.shared == pytest.approx(1.0 - (1.0 - full.shared) * fades)
    assert full.shared < eight.shared < three.shared < 1.0


def test_what_is_known_too_well_is_evened_out_and_copies_stay_copies() -> None:
    rng = np.random.default_rng(3)
    sizes = np.array([0.02, 0.02, 0.001, 0.001])
    draws = 0.2 + sizes * rng.standard_normal((4000, 4))
    draws = np.concatenate([draws, draws[:, :1]], axis=1)
    value, error = np.full(5, 0.2), get_metric("brier_score")
    moved = recenter(error, value, draws, None, Spread(1.0, 1.0, 0.5), EDGE)
    own, was = (x - x.mean(axis=1, keepdims=True) for x in (moved, draws))
    assert np.std(moved[:, 2] - moved[:, 3]) > 2.0 * np.std(draws[:, 2] - draws[:, 3])
    assert np.std(moved[:, 0] - moved[:, 1]) < np.std(draws[:, 0] - draws[:, 1])
    assert (own**2).sum() == pytest.approx(((was - np.median(was, axis=0)) ** 2).sum(), rel=0.02)
    assert np.allclose(moved[:, 0], moved[:, 4], atol=1e-12)


def test_recentering_of_errors_lets_zero_in_reach() -> None:
    draws = np.linspace(0.02, 0.08, 101)[:, None]
    moved = recenter(get_metric("ece"), np.array([0.01]), draws, None, Spread(0.8, 0.8), EDGE)
    assert np.median(moved) == pytest.approx(0.01)
    assert moved.min() == 0.0


def test_recentering_replaces_undefined_draws_and_keeps_undefined_values() -> None:
    draws = np.array([[0.4, np.nan], [np.nan, np.nan], [0.6, np.nan]])
    value = np.array([0.5, np.nan])
    moved = recenter(get_metric("roc_auc"), value, draws, draws, Spread(0.8, 0.8), EDGE)
    assert np.isfinite(moved[:, 0]).all()
    assert np.isnan(moved[:, 1]).all()


def test_equal_draws_give_the_value_itself() -> None:
    value = np.array([1 / 3])
    moved = recenter(
        get_metric("accuracy"), value, np.full((7, 1), 0.3), None, Spread(0.8, 0.8), EDGE
    )
    assert moved == pytest.approx(1 / 3)


def drawn_labels(size: int = OF.correction.label_draws, models: int = 3) -> np.ndarray:
    return 0.8 + 0.05 * np.random.default_rng(0).standard_normal((size, models))


def test_a_model_that_labels_confirm_is_corrected_by_their_number() -> None:
    drawn = drawn_labels()
    by_chance = drawn.mean(axis=0) + drawn.std(axis=0)
    weights = [
        Correction.of(by_chance, drawn, n, 3.0, 3, OF.correction).weight
        for n in (0, 100, 400, 10_000)
    ]
    assert weights == pytest.approx(
        [weigh_labels(n, 3, OF.correction) for n in (0, 100, 400, 10_000)]
    )
    assert weights[0] == 0.0
    assert weights[2] == pytest.approx(0.5)
    assert weights[3] > 0.99


def test_a_model_that_labels_contradict_is_corrected_sooner_within_bounds() -> None:
    drawn = drawn_labels()
    mean, sd = drawn.mean(axis=0), drawn.std(axis=0)
    weights = [
        Correction.of(mean + k * sd, drawn, 100, 3.0, 3, OF.correction).weight
        for k in (0.0, 1.0, 3.0, 1e3)
    ]
    assert weights == sorted(weights)
    ratios = [w / (1.0 - w) * 16.0 for w in weights]
    assert ratios == pytest.approx([0.3, 1.0, 9.0, 30.0])


def test_undefined_metrics_are_not_corrected() -> None:
    drawn = drawn_labels()
    drawn[::2, 0] = np.nan
    drawn[:, 1] = np.nan
    correction = Correction.of(np.array([0.9, 0.9, np.nan]), drawn, 400, 3.0, 3, OF.correction)
    assert correction.residual[0] > 0.0
    assert (correction.residual[1:] == 0.0).all()
    assert np.isfinite(correction.draw_leftover(np.ones((5, OF.correction.label_draws)))).all()


def test_leftover_has_the_variance_that_the_correction_leaves() -> None:
    drawn = drawn_labels()
    correction = Correction.of(
        drawn.mean(axis=0) + drawn.std(axis=0), drawn, 400, 3.0, 3, OF.correction
    )
    normal = np.random.default_rng(1).standard_normal((20_000, OF.correction.label_draws))
    expected = OF.correction.leftover * 0.25 * drawn.var(axis=0)
    assert np.allclose(correction.draw_leftover(normal).var(axis=0), expected, rtol=0.05)
    assert (Correction.none(OF.correction).draw_leftover(normal) == 0.0).all()


def test_a_curve_is_corrected_by_the_number_of_labels_alone() -> None:
    drawn = drawn_labels(models=6)
    found = Correction.of(drawn.mean(axis=0) + 1.0, drawn, 100, 3.0, 3, OF.correction)
    assert found.weight == weigh_labels(100, 3.0, OF.correction)


def test_the_likelihood_is_that_of_the_labels() -> None:
    _, known = evidence(n_labeled=12)
    rng = np.random.default_rng(1)
    theta = 0.3 * rng.normal(size=(4, known.mean.size))
    linear = known.compute_linear_part(theta)
    z = np.exp(theta[:, 0])[:, None, None] * known.features.ratio + linear.reshape(4, 12, 3)
    told = log_softmax(z + known.log_share)
    expected = told[:, np.arange(12), known.labels].sum(axis=1)
    np.testing.assert_allclose(known.log_likelihood(theta[:, 0], linear), expected, rtol=1e-10)
    weighted = replace(known, weights=np.arange(12.0))
    expected = told[:, np.arange(12), known.labels] @ np.arange(12.0)
    np.testing.assert_allclose(weighted.log_likelihood(theta[:, 0], linear), expected, rtol=1e-10)


def test_label_intercepts_are_the_last_coefficients_and_none_without_labels() -> None:
    _, known = evidence(n_labeled=12)
    theta = np.random.default_rng(0).normal(size=(5, known.mean.size))
    np.testing.assert_allclose(known.compute_label_shift(theta), theta[:, -3:] * known.spread)
    _, none = evidence(n_labeled=0)
    assert none.compute_label_shift(theta).tolist() == np.zeros((5, 3)).tolist()


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


def test_the_agreed_temperature_gives_the_error_that_disagreement_implies() -> None:
    q = scores(n=60, n_classes=3, seed=4)
    summary = summarize_scores(q, find_present(q), OF.agreement)
    equal = np.full(3, 1.0 / 3.0)
    log_share = np.log(q.mean(axis=(0, 1)))
    log_pi = log_pool(q, find_present(q), equal, equal)
    found = predict_agreed_temperature(summary, log_pi, log_share, 0.0, OF.agreement)
    assert found is not None
    w = np.exp(log_softmax(np.exp(found) * (log_pi - log_share) + log_share))
    errors = 1.0 - np.take_along_axis(w, summary.q.argmax(axis=2), axis=1).mean(axis=0)
    assert float(errors @ summary.counts) == pytest.approx(summary.mean_disagreement, abs=2e-3)
    for offset in (-30.0, 30.0):
        told = predict_agreed_temperature(summary, log_pi, log_share, offset, OF.agreement)
        assert told is None


def test_further_families_in_the_mode_are_part_of_the_posterior() -> None:
    design, seen = evidence()
    size = 1 + design.families[-1].columns.stop
    theta = 0.2 * np.random.default_rng(2).normal(size=seen.mean.size)
    wide = replace(design, constants=replace(OF.model, mode_families=("a", "t", "c")))
    slow = compute_posteriors(
        design.make_features(slice(None)), design.log_share, theta[None, :size]
    )[0]
    np.testing.assert_allclose(wide.compute_posterior(theta, slice(None)), slow, rtol=1e-12)


@pytest.mark.parametrize("families", [(), ("a",), ("s",), ("a", "a"), ("t", "a")])
def test_any_families_can_be_in_the_mode(families: tuple[str, ...]) -> None:
    """The slope vanishes at the mode in all that it fits, and the rest is zero."""
    _, seen = evidence(constants=replace(OF.model, mode_families=families))
    mode = find_mode(seen)
    assert (mode[~seen.in_mode] == 0.0).all()
    for k in np.flatnonzero(seen.in_mode):
        step = 1e-4 * np.eye(mode.size)[k]
        up, down = (fitting._log_posterior(seen, mode + sign * step) for sign in (1.0, -1.0))
        assert abs(up - down) / 2e-4 < 1e-2


def test_unknown_families_are_refused() -> None:
    with pytest.raises(InputError, match="'zz'"):
        replace(OF.model, mode_families=("a", "zz"))


def test_rows_without_any_score_are_even_before_and_after_clipping() -> None:
    q = scores(n=4, n_classes=4)
    q[1] = np.nan
    q[2, 0] = np.nan
    found = clip_scores(q, CLIP)
    np.testing.assert_allclose(found[1], np.full((3, 4), 0.25))
    np.testing.assert_allclose(found[2, 0], found[2, 1:].mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize(("apart", "offset"), [(0.0, 3.0), (1.0, -9.0)])
def test_disagreement_counts_as_one_in_a_thousand_at_least_and_all_but_one_at_most(
    apart: float, offset: float
) -> None:
    one = scores(n_models=1, n_classes=2)
    q = np.repeat(one, 3, axis=1)
    summary = summarize_scores(q, find_present(q), OF.agreement)
    summary = replace(summary, disagreement=np.full(3, apart))
    log_pi, log_share = np.log(one[:, 0]), np.log(q.mean(axis=(0, 1)))
    far = replace(OF.agreement, furthest=8.0, halvings=40)
    found = predict_agreed_temperature(summary, log_pi, log_share, offset, far)
    assert found is not None
    w = np.exp(log_softmax(np.exp(found) * (log_pi - log_share) + log_share))
    odds = np.exp(offset) * (999.0 if apart else 1.0 / 999.0)
    errors = 1.0 - np.take_along_axis(w, summary.q.argmax(axis=2), axis=1).mean(axis=0)
    assert float(errors @ summary.counts) == pytest.approx(odds / (1.0 + odds), rel=1e-6)


def test_three_classifiers_are_evened_out_and_two_are_not() -> None:
    rng = np.random.default_rng(5)
    draws = 0.2 + np.array([0.02, 0.002, 0.002]) * rng.standard_normal((1000, 3))
    error = get_metric("brier_score")
    for n_models, changed in ((2, False), (3, True)):
        value, some = np.full(n_models, 0.2), draws[:, :n_models]
        moved, plain = (
            recenter(error, value, some, None, Spread(1.0, 1.0, power), EDGE)
            for power in (0.5, 1.0)
        )
        assert np.allclose(moved, plain, atol=1e-12) != changed
