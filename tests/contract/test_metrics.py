"""What every metric of the registry keeps, and which of them keep more.

`KEEPS` classifies every registered metric; a newcomer without a line fails the first test. What it
claims is tested, and that a metric is undefined where it does not claim `ONE_CLASS`.
"""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from tests.metrics.problems import (
    Floats,
    draw_labels,
    random_posterior,
    random_problem,
    random_scores,
)

from ssme.metrics import Metric, expected_cost, from_callable, get_metric, metric_names
from ssme.metrics import one_hot_mass as hard

LINEAR = "linear"  # a mean over rows: a posterior gives the mean over its draws
RANKING = "ranking"  # unchanged by increasing transformations of the scores
ONE_CLASS = "one_class"  # defined when one class only occurs, if all are predicted
ROW_BINS = "row_bins"  # bins depend on how often rows are listed, so weights are not repetitions

KEEPS: dict[str, set[str]] = {
    "accuracy": {LINEAR, ONE_CLASS},
    "balanced_accuracy": {ONE_CLASS},
    "precision": {ONE_CLASS},
    "recall": set(),
    "specificity": set(),
    "f1": {ONE_CLASS},
    "f1_macro": {ONE_CLASS},
    "f1_micro": {LINEAR, ONE_CLASS},
    "f1_weighted": {ONE_CLASS},
    "precision_macro": {ONE_CLASS},
    "recall_macro": {ONE_CLASS},
    "matthews_corrcoef": set(),
    "cohen_kappa": {ONE_CLASS},
    "quadratic_kappa": {ONE_CLASS},
    "grade_error": {ONE_CLASS},
    "win_rate": {LINEAR, ONE_CLASS},
    "log_loss": {LINEAR, ONE_CLASS},
    "brier_score": {LINEAR, ONE_CLASS},
    "roc_auc": {RANKING},
    "roc_auc_ovr_weighted": {RANKING},
    "roc_auc_ovo": {RANKING},
    "average_precision": {RANKING},
    "ece": {ONE_CLASS, ROW_BINS},
    "ece_uniform": {ONE_CLASS},
    "ece_weighted": {ONE_CLASS, ROW_BINS},
    "ece_l2": {ONE_CLASS, ROW_BINS},
    "mce": {ONE_CLASS},
    "ece_top_label": {ONE_CLASS},
    "ece_top_label_by_class": {ONE_CLASS},
    "classwise_ece": {ONE_CLASS},
    "precision[1]": {ONE_CLASS},
    "recall[1]": set(),
    "recall[0]": set(),
    "f1[1]": {ONE_CLASS},
}
N, M, D = 60, 3, 4


def all_names(n_classes: int | None = None) -> tuple[str, ...]:
    """The registry, and metrics of one class."""
    return (*metric_names(n_classes), "precision[1]", "recall[1]", "recall[0]", "f1[1]")


def keeping(*properties: str) -> list[str]:
    return [name for name in all_names() if set(properties) <= KEEPS.get(name, set())]


def cases(names: list[str] | tuple[str, ...]) -> pytest.MarkDecorator:
    """Each name for two and for four classes, where it is defined for them."""
    return pytest.mark.parametrize(
        ("name", "n_classes"),
        [(name, k) for k in (2, 4) for name in names if name in all_names(k)],
    )


def labelings(seed: int, n_classes: int, n: int = N) -> Floats:
    """Hard, soft and weighted labelings: (4, n, K)."""
    rng = np.random.default_rng(seed)
    posterior = random_posterior(rng, n, n_classes)
    mass = hard(draw_labels(rng, posterior, D), n_classes)
    mass[1] *= rng.integers(0, 3, (n, 1))
    mass[2] = posterior
    mass[3] = posterior * rng.gamma(1.0, 1.0, (n, 1))
    return mass


def scores_of(seed: int, n_classes: int, grid: int | None = 10, n: int = N) -> Floats:
    return random_scores(np.random.default_rng(seed), n, M, n_classes, grid)


def same(a: Floats, b: Floats) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", all_names())
def test_every_metric_is_classified(name: str) -> None:
    if name not in KEEPS:
        pytest.fail(f"add {name!r} to KEEPS in tests/contract/test_metrics.py, with what it keeps")


def test_what_is_classified_is_a_metric() -> None:
    assert set(KEEPS) <= set(all_names())


@pytest.mark.parametrize("name", all_names())
def test_metrics_are_described_and_travel(name: str) -> None:
    metric = get_metric(name)
    assert metric.title
    assert len(metric.definition) > 20
    assert metric.low < metric.high
    assert metric.binary or metric.multiclass
    assert pickle.loads(pickle.dumps(metric)).name == name


@pytest.mark.parametrize("name", all_names(2))
def test_metrics_of_probabilities_say_so(name: str) -> None:
    """Flatter scores have the same order and decisions; what then changes needs probabilities."""
    scores, mass = scores_of(1, 2, grid=None), labelings(2, 2)
    flat = np.sqrt(scores)
    flat /= flat.sum(axis=2, keepdims=True)
    metric = get_metric(name)
    changes = not np.allclose(metric(scores, mass), metric(flat, mass), equal_nan=True)
    assert metric.of_probabilities == changes, f"set of_probabilities={changes} where it is made"


@cases(all_names())
def test_stacked_labelings_are_each_alone(name: str, n_classes: int) -> None:
    plan = get_metric(name).plan(scores_of(1, n_classes))
    mass = labelings(2, n_classes)
    values = plan(mass)
    assert values.shape == (D, M)
    same(values, np.concatenate([plan(one[None]) for one in mass]))


@cases(all_names())
def test_draws_that_share_weights_are_each_alone(name: str, n_classes: int) -> None:
    """All labelings with the same weights go another way than labelings with their own."""
    rng = np.random.default_rng(3)
    plan = get_metric(name).plan(scores_of(4, n_classes))
    labels = rng.integers(0, n_classes, (D, N))
    mass = hard(labels, n_classes, rng.gamma(1.0, 1.0, N))
    values = plan(mass)
    same(values, np.concatenate([plan(one[None]) for one in mass]))
    apart = plan(np.concatenate([mass, labelings(5, n_classes)]))
    same(values, apart[:D])


@cases(all_names())
def test_values_are_in_range_and_mass_has_no_unit(name: str, n_classes: int) -> None:
    metric = get_metric(name)
    scores, mass = scores_of(6, n_classes), labelings(7, n_classes)
    values = metric(scores, mass)
    assert np.isfinite(values).all()
    assert (values >= metric.low).all()
    assert (values <= metric.high).all()
    same(values, metric(scores, 7.5 * mass))


@cases([name for name in all_names() if ROW_BINS not in KEEPS.get(name, set())])
def test_weight_is_repetition(name: str, n_classes: int) -> None:
    metric, scores = get_metric(name), scores_of(8, n_classes)
    rng = np.random.default_rng(9)
    times = rng.integers(0, 4, N)
    mass = hard(rng.integers(0, n_classes, (D, N)), n_classes)
    repeated = np.repeat(np.arange(N), times)
    same(metric(scores, mass * times[:, None]), metric(scores[repeated], mass[:, repeated]))


@cases(all_names())
def test_rows_and_classifiers_have_no_order(name: str, n_classes: int) -> None:
    metric, scores, mass = get_metric(name), scores_of(10, n_classes), labelings(11, n_classes)
    rng = np.random.default_rng(12)
    rows, models = rng.permutation(N), rng.permutation(M)
    values = metric(scores, mass)
    same(metric(scores[rows], mass[:, rows]), values)
    same(metric(scores[:, models], mass), values[:, models])


@cases(all_names())
def test_rows_without_a_score_do_not_count(name: str, n_classes: int) -> None:
    metric, scores, mass = get_metric(name), scores_of(13, n_classes), labelings(14, n_classes)
    holes = scores.copy()
    gone = np.random.default_rng(15).random((N, M)) < 0.3
    gone[:, 2] = True
    holes[gone] = np.nan
    values = metric(holes, mass)
    for m in range(2):
        rows = np.flatnonzero(~gone[:, m])
        same(values[:, m], metric(scores[rows], mass[:, rows])[:, m])
    assert np.isnan(values[:, 2]).all()


@cases(all_names())
def test_nothing_to_score_is_nan(name: str, n_classes: int) -> None:
    metric = get_metric(name)
    none = metric(np.empty((0, M, n_classes)), np.empty((2, 0, n_classes)))
    assert none.shape == (2, M)
    assert np.isnan(none).all()
    weightless = metric(scores_of(16, n_classes), np.zeros((2, N, n_classes)))
    assert np.isnan(weightless).all()


@cases([name for name in all_names() if name in KEEPS])
def test_one_class_only_is_nan_where_undefined_and_never_raises(name: str, n_classes: int) -> None:
    metric, scores = get_metric(name), scores_of(17, n_classes)
    mass = hard(np.repeat(np.arange(n_classes)[:, None], N, axis=1), n_classes)
    values = metric(scores, mass)
    if ONE_CLASS in KEEPS[name]:
        assert np.isfinite(values).all()
    else:
        assert np.isnan(values).any()
        assert (np.isnan(values) | ((values >= metric.low) & (values <= metric.high))).all()


@cases(keeping(LINEAR))
def test_a_posterior_gives_the_mean_over_draws(name: str, n_classes: int) -> None:
    rng = np.random.default_rng(18)
    plan = get_metric(name).plan(scores_of(19, n_classes, grid=None))
    posterior = random_posterior(rng, N, n_classes)
    draws = plan(hard(draw_labels(rng, posterior, 4000), n_classes))
    error = 4.5 * draws.std(axis=0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(axis=0) - plan(posterior[None])[0]) < error).all()


@cases(keeping(RANKING))
def test_only_the_order_of_scores_matters(name: str, n_classes: int) -> None:
    metric, mass = get_metric(name), labelings(20, n_classes)
    scores = scores_of(21, n_classes)
    same(metric(scores, mass), metric(scores**3, mass))


@cases(metric_names())
def test_the_order_of_classes_matters_where_a_metric_says_so(name: str, n_classes: int) -> None:
    """Multiples of 1/45 lie on the edges of bins, and never at 1/2, where decisions tie."""
    metric, changes = get_metric(name), []
    tied = [(seed, 45) for seed in range(3)] if n_classes == 2 else []
    for seed, grid in [(22, None), (23, None), *tied]:
        scores, mass = scores_of(seed, n_classes, grid=grid), labelings(seed + 100, n_classes)
        order = np.arange(n_classes)[::-1] if n_classes == 2 else np.array([2, 0, 3, 1])
        other = metric(scores[:, :, order], mass[:, :, order])
        if not metric.needs_order(n_classes):
            same(other, metric(scores, mass))
        changes.append(np.nanmax(np.abs(other - metric(scores, mass))))
    assert metric.needs_order(n_classes) == (max(changes) > 1e-3)


@cases([name for name in all_names() if get_metric(name).greater_is_better is not None])
def test_right_and_sure_is_best(name: str, n_classes: int) -> None:
    metric = get_metric(name)
    problem = random_problem(25, N, n_classes, skew=10.0)
    sure = 0.0 + (problem.labels[:, None, None] == np.arange(n_classes))
    best = metric.high if metric.greater_is_better else metric.low
    assert metric(sure, problem.mass).item() == pytest.approx(best, abs=1e-12)
    wrong = np.roll(sure, 1, axis=2)
    assert abs(metric(wrong, problem.mass).item() - best) > 0.3


@cases(all_names())
def test_rounding_never_leaves_the_range(name: str, n_classes: int) -> None:
    """Perfect and reversed classifiers under awkward weights: intervals transform these values."""
    metric = get_metric(name)
    rng = np.random.default_rng(26)
    labels = rng.integers(0, n_classes, N)
    sure = 0.0 + (labels[:, None, None] == np.arange(n_classes))
    mass = np.concatenate([hard(labels, n_classes, w) for w in rng.gamma(1.0, 1.0, (40, N))])
    for scores in (sure, np.roll(sure, 1, axis=2)):
        for values in (metric(scores, mass), metric(scores, mass[:1])):
            assert (values >= metric.low).all()
            assert (values <= metric.high).all()


def not_in_the_registry() -> list[Metric]:
    return [
        expected_cost([[0.0, 1.0], [3.0, 0.0]]),
        get_metric("f1@0.3"),
        get_metric("accuracy", threshold=0.8),
        from_callable(lambda y, s, sample_weight: float(np.average(y * s, weights=sample_weight))),
    ]


@pytest.mark.parametrize("metric", not_in_the_registry(), ids=lambda metric: metric.name)
def test_made_metrics_keep_the_same(metric: Metric) -> None:
    scores = scores_of(26, 2)
    mass = labelings(27, 2)[:2]
    plan = metric.plan(scores)
    values = plan(mass)
    same(values, np.concatenate([plan(one[None]) for one in mass]))
    rows = np.random.default_rng(28).permutation(N)
    same(metric(scores[rows], mass[:, rows]), values)
    assert np.isnan(metric(scores, np.zeros_like(mass))).all()
    assert np.isnan(metric(np.empty((0, M, 2)), np.empty((2, 0, 2)))).all()
