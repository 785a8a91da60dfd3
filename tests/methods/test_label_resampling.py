"""Intervals and draws from the labels alone where no closed form exists."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, gamma, ks_2samp, kstest
from scipy.stats import norm as normal
from scipy.stats import t as student

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.methods.draws import find_originals
from ssme.methods.label_draws import (
    CellTables,
    ResamplingSettings,
    TableDraws,
    draw_tables,
    find_bootstrap_interval,
    make_bootstrap_mass,
    make_contrary_rows,
    resample_values,
    wilson,
)
from ssme.methods.labeled import Labeled
from ssme.methods.registry import get_method
from ssme.metrics import Metric, from_callable, get_metric, metric_names
from ssme.metrics.confusion import FullTables
from ssme.metrics.decisions import ACCURACY
from ssme.metrics.kinds import Decision
from ssme.results.comparison import compute_probability_better

SETTINGS = ResamplingSettings()


def test_bootstrap_accuracy_is_jeffreys_beta():
    rng = np.random.default_rng(3)
    labels = np.array([0] * 3 + [1] * 17)
    exponential = rng.standard_exponential((4000, 20))
    mass = make_bootstrap_mass(exponential, labels, 2, np.ones(20), rng, SETTINGS)
    accuracy = mass[:, :, 1].sum(axis=1) / mass.sum(axis=(1, 2))
    # every row predicted 1: right mass is that on class 1
    assert kstest(accuracy, beta(17.5, 3.5).cdf).pvalue > 0.01


@pytest.mark.parametrize("dense_classes", [2, 1000])
def test_the_pseudo_row_of_many_classes_is_half_right_and_half_wrong(dense_classes: int):
    """Drawn cell by cell and through the cells that hold mass, from the same distribution."""
    rng = np.random.default_rng(4)
    n, n_classes = 30, 50
    labels = rng.integers(0, n_classes, n)
    settings = ResamplingSettings(dense_classes=dense_classes)
    weightless = np.zeros((6000, n))
    mass = make_bootstrap_mass(weightless, labels, n_classes, np.ones(n), rng, settings)
    right = mass[:, np.arange(n), labels].sum(axis=1)
    wrong = mass.sum(axis=(1, 2)) - right
    for part in (right, wrong):
        assert kstest(part, gamma(0.5).cdf).pvalue > 0.001
    largest = mass.reshape(6000, -1).max(axis=1) / mass.sum(axis=(1, 2))
    assert largest.mean() == pytest.approx(0.6243, abs=0.02)  # the Golomb-Dickman constant
    by_row = mass.sum(axis=2)
    assert np.allclose(by_row.mean(axis=0), 1.0 / n, atol=0.012)


def test_table_draws_of_accuracy_are_near_wilson():
    counts = np.array([[[9.0, 1.0], [2.0, 8.0]]])
    value = np.array([17 / 20])
    settings = ResamplingSettings(table_draws=4000)
    interval = TableDraws(ACCURACY.statistic, counts, value, np.random.SeedSequence(0), settings)
    assert np.allclose(interval(0.95), wilson(value, np.array([20.0])), atol=0.03)


def odd_sets() -> dict[str, ScoreSet]:
    """Tiny, constant, sure and denormal scores of two classifiers."""
    rng = np.random.default_rng(0)

    def of(positive, labels, **extra) -> ScoreSet:
        positive = np.broadcast_to(np.asarray(positive, dtype=float)[:, None], (len(labels), 2))
        scores = np.stack([1.0 - positive, positive], axis=2)
        return ScoreSet(scores, np.array(labels), ("a", "b"), (0, 1), **extra)

    y = np.array([0, 1] * 6)
    nobody = of(rng.random(12), y)
    scores = nobody.scores.copy()
    scores[:, 1] = np.nan
    return {
        "one row": of([0.3], [1]),
        "two rows": of([0.3, 0.3], [0, 1]),
        "constant": of(np.full(12, 0.5), y),
        "sure": of(y.astype(float), y),
        "sure and wrong": of(1.0 - y, y),
        "denormal": of(np.full(12, 5e-324), y),
        "next to nothing": of(np.where(y == 1, 1.0 - 1e-16, 1e-310), y),
        "one class": of(rng.random(12), np.ones(12, dtype=int)),
        "no scores": nobody.replace(scores=scores),
        "one heavy row": of(rng.random(12), y, weights=np.where(y == 1, 1e-200, 1.0)),
    }


@pytest.mark.parametrize("name", list(odd_sets()))
def test_odd_data_raises_no_warning_of_numpy(name: str):
    data = odd_sets()[name]
    belief = Labeled(n_draws=60).fit(data, np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for metric in metric_names(2):
            estimate = belief.estimate([get_metric(metric)], [None])[0][0]
            low, high = estimate.interval()
            known = np.isfinite(low)
            assert (low[known] <= estimate.value[known]).all(), metric
            assert (estimate.value[known] <= high[known]).all(), metric


def test_an_upper_end_too_large_for_a_number_is_infinite_without_a_warning():
    """The median of the draws at the end of a half-bounded range, two effective rows."""
    metric = Metric("delay", "Delay", lambda scores: lambda mass: mass[:, 0], high=np.inf)
    draws = np.concatenate([np.zeros((60, 1)), np.full((40, 1), 1e3)])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        ends = (draws, np.zeros(1), np.full(1, 2.0), metric, SETTINGS)
        low, high = find_bootstrap_interval(*ends, 0.95)
    assert low[0] == 0.0
    assert high[0] == np.inf


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_the_interval_is_quantiles_stretched_about_their_median(level: float) -> None:
    """On the line as they are, on the half-line by their logarithms."""
    draws = np.random.default_rng(0).normal(size=(400, 1))
    n = np.array([9.0])
    tail = (1.0 - level) / 2.0
    stretch = student(8).ppf(1 - tail) / normal().ppf(1 - tail) * np.sqrt(9 / 8)
    low, middle, high = np.quantile(draws[:, 0], [tail, 0.5, 1 - tail])
    expected = [middle + (end - middle) * stretch for end in (low, high)]
    line = replace(get_metric("log_loss"), low=-np.inf)
    settings = ResamplingSettings()
    found = find_bootstrap_interval(draws, np.array([middle]), n, line, settings, level)
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-9)
    half = get_metric("log_loss")
    value = np.array([np.exp(middle)])
    found = find_bootstrap_interval(np.exp(draws), value, n, half, settings, level)
    ends = np.log(np.quantile(np.exp(draws[:, 0]), [tail, 0.5, 1 - tail]))
    expected = [np.exp(ends[1] + (end - ends[1]) * stretch) for end in (ends[0], ends[2])]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-9)


def test_an_interval_needs_half_of_the_draws_and_more_than_one_row() -> None:
    draws = np.where(np.arange(10)[:, None] < [5, 6], np.nan, np.arange(10.0)[:, None])
    metric, settings = get_metric("log_loss"), ResamplingSettings()
    value = np.array([7.0, 7.0])
    low, _ = find_bootstrap_interval(draws, value, np.array([9.0, 9.0]), metric, settings, 0.9)
    assert np.isfinite(low).tolist() == [True, False]
    low, _ = find_bootstrap_interval(draws, value, np.array([1.0, 9.0]), metric, settings, 0.9)
    assert np.isnan(low).all()


@pytest.mark.parametrize(("low", "high"), [(-1.0, 3.0), (2.0, np.inf)])
def test_the_interval_knows_the_range_of_its_metric(low: float, high: float) -> None:
    """By the logit of the place between both ends, or the logarithm of the way from the one."""
    on_line = np.random.default_rng(1).normal(size=(300, 1))
    between = np.isfinite(high)
    draws = low + (high - low) / (1 + np.exp(-on_line)) if between else low + np.exp(on_line)
    metric = replace(get_metric("log_loss"), low=low, high=high)
    ends = np.quantile(draws[:, 0], [0.05, 0.5, 0.95])
    place = (ends - low) / (high - low) if between else ends - low
    line = np.log(place) - np.log1p(-place) if between else np.log(place)
    stretch = student(6).ppf(0.95) / normal().ppf(0.95) * np.sqrt(7 / 6)
    line = line[1] + (line - line[1]) * stretch
    back = low + (high - low) / (1 + np.exp(-line)) if between else low + np.exp(line)
    found = find_bootstrap_interval(draws, ends[1:2], np.array([7.0]), metric, SETTINGS, 0.9)
    np.testing.assert_allclose(np.ravel(found), back[[0, 2]], rtol=1e-9)


def test_resampled_rows_are_drawn_with_replacement_and_rarely_wrong() -> None:
    """A metric of whole rows: how many there are, and how often a label is another one."""
    n, labels = 9, np.arange(9) % 3
    scores = np.eye(3)[labels][:, None, :]
    size = from_callable(lambda y, s: float(len(y)), name="rows", low=0.0, high=1e9)
    rng = np.random.default_rng(0)
    found = resample_values(size, scores, labels, np.ones(n), 50, rng, SETTINGS)
    assert found.ravel().tolist() == [9.0] * 50
    rng = np.random.default_rng(0)
    right = resample_values(get_metric("accuracy"), scores, labels, np.ones(n), 4000, rng, SETTINGS)
    assert right.mean() == pytest.approx(1 - 0.5 / 10, abs=0.005)
    rng = np.random.default_rng(0)
    heavy = resample_values(size, scores, labels, np.full(n, 2.0), 5, rng, SETTINGS)
    assert heavy.ravel().tolist() == [18.0] * 5


@pytest.mark.parametrize("dense_classes", [1, 1000])
def test_weights_multiply_the_mass_of_their_rows(dense_classes: int):
    labels, weights = np.array([0, 1, 2, 1]), np.array([1.0, 2.0, 0.5, 1.0])
    exponential = np.random.default_rng(1).standard_exponential((5, 4))
    settings = ResamplingSettings(dense_classes=dense_classes)
    plain, weighted = (
        make_bootstrap_mass(exponential, labels, 3, w, np.random.default_rng(2), settings)
        for w in (np.ones(4), weights)
    )
    np.testing.assert_allclose(weighted, plain * weights[:, None])


K = 40


def counts_of(seed: int = 0) -> np.ndarray:
    """A table of 120 rows, two thirds of them right, some weighing a fraction."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, K, 120)
    said = np.where(rng.random(120) < 0.67, true, rng.integers(0, K, 120))
    counts = np.zeros((K, K))
    np.add.at(counts, (true, said), rng.uniform(0.5, 1.0, 120))
    return counts


def statistics() -> dict[str, object]:
    found = {}
    for name in ("accuracy", "f1_macro", "balanced_accuracy", "precision_macro"):
        kind = get_metric(name).kind
        assert isinstance(kind, Decision)
        found[name] = kind.statistic
    costs = np.abs(np.subtract.outer(np.arange(K), np.arange(K))).astype(float)
    found["cost"] = lambda t: t.total_of(costs) / t.occurring.sum(axis=2)
    return found


@pytest.mark.parametrize("name", list(statistics()))
def test_both_ways_draw_from_one_distribution(name: str):
    statistic = statistics()[name]
    counts, draws = counts_of(), {}
    for whole in (True, False):
        rng = np.random.default_rng(int(whole))
        tables = draw_tables(counts, 2.0, 3000, rng, whole=whole)
        draws[whole] = statistic(tables)[:, 0]
    assert ks_2samp(draws[True], draws[False]).pvalue > 0.001
    assert np.allclose(draws[True].mean(), draws[False].mean(), rtol=0.01)


def test_sums_of_cells_are_those_of_the_whole_table():
    rng = np.random.default_rng(1)
    cells = CellTables.draw(counts_of(), 2.0, 7, rng)
    whole = np.zeros((7, 1, K, K))
    for d in range(7):
        np.add.at(whole[d, 0], cells.cell, cells.observed[d])
        whole[d, 0] += np.diag(cells.right[d])
        np.add.at(whole[d, 0], (cells.true[d], cells.said[d]), cells.wrong[d])
    full, values = FullTables(whole), rng.normal(size=(K, K))
    np.testing.assert_allclose(cells.hits, full.hits, atol=1e-12)
    np.testing.assert_allclose(cells.occurring, full.occurring, atol=1e-12)
    np.testing.assert_allclose(cells.predicted, full.predicted, atol=1e-12)
    np.testing.assert_allclose(cells.total_of(values), full.total_of(values), atol=1e-12)


def random_rows(n_models, n_classes, n=20, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(n_classes), (n, n_models))
    return scores, rng.integers(0, n_classes, n)


def contrary_to(scores, labels, originals=None):
    originals = np.arange(scores.shape[1]) if originals is None else originals
    weights = np.arange(1.0, len(labels) + 1.0)
    return make_contrary_rows(scores, labels, weights, originals, np.random.default_rng(1))


@pytest.mark.parametrize(("n_models", "n_rows"), [(1, 32), (7, 32), (31, 32), (32, 64)])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_any_two_classifiers_are_right_in_all_four_ways_alike_often(n_models, n_rows, n_classes):
    scores, labels = random_rows(n_models, n_classes)
    made = contrary_to(scores, labels)
    right = made.scores.argmax(axis=2) == made.labels[:, None]
    assert right.shape == (n_rows, n_models)
    assert (right.sum(axis=0) == n_rows // 2).all()
    for a in range(n_models):
        for b in range(a):
            assert (right[:, a] & right[:, b]).sum() == n_rows // 4
            assert (right[:, a] & ~right[:, b]).sum() == n_rows // 4


def test_originals_are_those_with_the_same_scores_on_all_rows():
    scores, _ = random_rows(5, 2)
    scores[:, 3] = scores[:, 0]
    scores[:, 4] = scores[:, 1]
    scores[19, 4] = scores[19, 4, ::-1]
    scores[5, 0] = scores[5, 3] = np.nan
    assert find_originals(scores).tolist() == [0, 1, 2, 0, 4]
    made = contrary_to(scores, np.zeros(20, dtype=int), find_originals(scores))
    assert np.array_equal(made.scores[:, 0], made.scores[:, 3], equal_nan=True)


def judged(wrong, n=20):
    """Classifiers that are wrong about the given rows of ``n`` that are labeled."""
    labels = np.arange(n) % 2
    right = np.stack([1.0 - labels, labels], axis=1)
    scores = np.repeat(0.8 * right[:, None] + 0.1, len(wrong), axis=1)
    for m, rows in enumerate(wrong):
        scores[rows, m] = scores[rows, m, ::-1]
    return ScoreSet(scores, labels, tuple(f"m{m}" for m in range(len(wrong))), (0, 1))


def draws_of(data, metric="accuracy", **options):
    belief = get_method("labeled", n_draws=4000, **options).fit(data, np.random.default_rng(0))
    return belief.estimate([get_metric(metric)], [None])[0][0]


@pytest.mark.parametrize(("ahead", "behind"), [(0, 0), (1, 0), (3, 0), (4, 2)])
def test_rows_that_tell_two_apart_are_judged_with_a_uniform_prior(ahead, behind):
    data = judged([list(range(behind)), list(range(10, 10 + ahead))])
    said = compute_probability_better(draws_of(data), True)[0, 1]
    assert said == pytest.approx(beta(ahead + 1, behind + 1).sf(0.5), abs=0.03)


def test_the_interval_of_a_difference_has_a_width_where_all_labels_agree():
    data = judged([[0, 1], [0, 1, 2], [5]])
    r = ssme.evaluate(data.replace(labels=data.labels), method="labeled", metrics="accuracy", by=[])
    for row in r.compare().rows:
        assert row.low < 0.0 < row.high


def test_equal_classifiers_remain_equal():
    estimate = draws_of(judged([[0], [0], [1, 2]]))
    assert np.array_equal(estimate.draws[:, 0], estimate.draws[:, 1])
    assert not np.array_equal(estimate.draws[:, 0], estimate.draws[:, 2])


@pytest.mark.parametrize("metric", ["log_loss", "brier_score", "accuracy", "f1"])
def test_single_intervals_do_without_these_rows(metric):
    data = judged([[0], [3], [1, 2]])
    joint, alone = (draws_of(data, metric, joint_draws=joint) for joint in (True, False))
    assert np.array_equal(joint.value, alone.value)
    assert np.array_equal(joint.interval(), alone.interval())


def test_a_callable_is_drawn_with_these_rows_too():
    def share_right(y, scores):
        return float(((scores > 0.5) == y).mean())

    from ssme.metrics.custom import from_callable

    metric = from_callable(share_right, name="mine", greater_is_better=True)
    belief = get_method("labeled").fit(judged([[], [3]]), np.random.default_rng(0))
    joint = belief.estimate([metric], [None])[0][0]
    said = compute_probability_better(joint, True)[0, 1]
    assert 0.6 < said < 0.9
