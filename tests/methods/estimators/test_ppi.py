import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set

from ssme.data.scoreset import UNLABELED
from ssme.methods.estimators.ppi import (
    AutoEval,
    Ppi,
    StratifiedPpi,
    _tune,
    assign_strata,
)
from ssme.metrics import from_callable, get_metric

ACCURACY = get_metric("accuracy")


def hidden(n=1000, n_labeled=50, seed=0, sharpness=1.0):
    rng = np.random.default_rng(seed)
    data = gaussian_set(n, np.array([1.0, 1.5, 2.0]), rng=rng, sharpness=sharpness)
    return data.replace(labels=np.where(np.arange(n) < n_labeled, data.labels, UNLABELED)), data


def estimate(method, data, metric=ACCURACY, rows=None):
    return method.fit(data, np.random.default_rng(0)).estimate([metric], [rows])[0][0]


def right(data):
    return data.scores.argmax(axis=2) == data.labels[:, None]


@pytest.mark.parametrize("method", [Ppi(power=0.0), Ppi(power=0.0, n_boot=50)])
@pytest.mark.parametrize("name", ["accuracy", "roc_auc"])
def test_power_zero_is_labels_only(method, name) -> None:
    data, _ = hidden()
    labeled = data.take(data.labeled)
    mass = np.eye(2)[labeled.labels][None]
    metric = get_metric(name)
    np.testing.assert_allclose(
        estimate(method, data, metric).value, metric(labeled.scores, mass)[0]
    )


@pytest.mark.parametrize("method", [AutoEval(), AutoEval(annotator="pool"), Ppi(), StratifiedPpi()])
def test_intervals_of_accuracy_cover(method) -> None:
    covered = []
    for seed in range(60):
        data, full = hidden(600, 60, seed, sharpness=2.5)
        low, high = estimate(method, data).interval(0.9)
        truth = right(full).mean(axis=0)
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert 0.78 < np.mean(covered) < 0.97


@pytest.mark.parametrize("method", [AutoEval(), Ppi(), StratifiedPpi()])
def test_smaller_error_than_labels_alone_where_scores_are_calibrated(method) -> None:
    ours, alone = [], []
    for seed in range(60):
        data, full = hidden(1000, 30, seed)
        truth = right(full).mean(axis=0)
        ours.append(np.abs(estimate(method, data).value - truth).mean())
        alone.append(np.abs(right(full)[:30].mean(axis=0) - truth).mean())
    assert np.mean(ours) < np.mean(alone)


def test_bootstrap_interval_of_auc_covers() -> None:
    covered = []
    for seed in range(30):
        data, full = hidden(600, 60, seed)
        metric = get_metric("roc_auc")
        truth = metric(full.scores, np.eye(2)[full.labels][None])[0]
        low, high = estimate(Ppi(n_boot=100), data, metric).interval(0.9)
        covered += ((low <= truth) & (truth <= high)).tolist()
    assert np.mean(covered) > 0.75


def test_a_group_without_labels_is_undefined() -> None:
    data, _ = hidden()
    rows = ~data.labeled
    for method in (AutoEval(), Ppi(), StratifiedPpi()):
        assert np.isnan(estimate(method, data, rows=rows).value).all()
    assert np.isnan(estimate(Ppi(), data, get_metric("ece"), rows).value).all()


@pytest.mark.parametrize("method", [AutoEval(), Ppi(n_boot=4000), StratifiedPpi()])
def test_draws_are_joint_and_as_wide_as_the_interval(method) -> None:
    data, _ = hidden()
    twins = data.replace(scores=data.scores[:, [0, 0, 1]])
    found = estimate(method, twins)
    np.testing.assert_allclose(found.draws[:, 0], found.draws[:, 1], atol=1e-6)
    assert np.corrcoef(found.draws.T)[0, 2] < 0.95
    low, high = found.interval(0.95)
    assert found.draws[:, 0].std() * 3.92 == pytest.approx(high[0] - low[0], rel=0.1)


def test_strata_are_merged_until_each_has_enough_labels() -> None:
    predicted = np.linspace(0, 1, 100)
    labeled = predicted > 0.55
    stratum = assign_strata(predicted, labeled, n_strata=5, min_labels=10)
    counts = np.bincount(stratum[labeled])
    assert (np.diff(stratum) >= 0).all()
    assert counts.min() >= 10
    assert assign_strata(predicted, labeled, 5, 1000).max() == 0


def test_lambda_is_the_covariance_over_the_variances() -> None:
    t, f, u = (np.array([[a], [b]]) for a, b in ((0.1, 0.5), (0.2, 0.4), (0.3, 0.9)))
    # covariance 0.04, variances 0.02 and 0.18
    np.testing.assert_allclose(_tune(t, f, u), [0.04 / (0.02 + 0.18)])
    assert _tune(t, f, np.array([[0.3], [np.nan]])).tolist() == [0.0]
    assert _tune(t, np.array([[0.2], [np.nan]]), u).tolist() == [0.0]
    assert _tune(t, f[::-1], u).tolist() == [0.0]
    assert _tune(t, f, np.full((2, 1), 0.3)).tolist() == [1.0]
    assert _tune(t, np.full((2, 1), 0.3), np.full((2, 1), 0.3)).tolist() == [0.0]


def test_a_callable_is_corrected_by_the_likeliest_classes() -> None:
    """lambda = 1: labels, plus what the likeliest classes say of unlabeled rows beyond labeled."""
    data, _ = hidden(n=60, n_labeled=20)
    share = from_callable(lambda y, s: float(np.mean(y * s)), name="worth", low=0.0, high=1.0)
    likeliest = data.scores.mean(axis=1).argmax(axis=1)
    positive = data.scores[:, :, 1]
    labeled = data.labeled
    expected = (
        (data.labels[labeled, None] * positive[labeled]).mean(axis=0)
        + (likeliest[~labeled, None] * positive[~labeled]).mean(axis=0)
        - (likeliest[labeled, None] * positive[labeled]).mean(axis=0)
    )
    found = estimate(Ppi(power=1.0, n_boot=5), data, share).value
    np.testing.assert_allclose(found, expected, rtol=1e-12)
