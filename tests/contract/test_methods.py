"""What every method in the registry keeps, whoever wrote it.

Each promise is checked on every method by name, so a new method is held to them the day it is
registered. Where two seeds give the same numbers the method is deterministic and a promise must
hold to rounding; where they differ, to the noise of its draws.
"""

from __future__ import annotations

import warnings
from dataclasses import fields
from functools import cache

import numpy as np
import pytest

import ssme
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.errors import InputError, SsmeWarning, UnsupportedError
from ssme.methods.base import Belief, MethodSpec, check_supported
from ssme.methods.registry import find_method_class, get_method, method_names
from ssme.metrics import default_metrics, get_metric, one_hot_mass, predicted_classes
from ssme.results.choose import choose_model
from ssme.results.comparison import compute_probability_better

METHODS = method_names()
EXACT, NOISY = 1e-6, 0.06
N_ROWS, N_LABELED, N_MODELS = 260, 60, 4


def spec_of(method: str) -> MethodSpec:
    return find_method_class(method).spec


@cache
def truth(n_classes: int) -> np.ndarray:
    y = np.random.default_rng(5).integers(0, n_classes, N_ROWS)
    y[:n_classes] = np.arange(n_classes)
    return y


@cache
def score_set(n_classes: int = 2) -> ScoreSet:
    """Four classifiers that err independently and are roughly calibrated."""
    rng = np.random.default_rng(n_classes)
    y = truth(n_classes)
    strength = np.array([1.5, 2.0, 2.5, 3.0])[None, :, None]
    noise = rng.normal(size=(N_ROWS, N_MODELS, n_classes))
    logits = strength * (np.eye(n_classes)[y][:, None, :] + 0.6 * noise)
    scores = np.exp(logits)
    scores /= scores.sum(axis=2, keepdims=True)
    labels = np.where(np.arange(N_ROWS) < N_LABELED, y, UNLABELED)
    return ScoreSet(scores, labels, tuple("abcd"), tuple(f"class {k}" for k in range(n_classes)))


def fit(method: str, data: ScoreSet, seed: int = 0, oracle: np.ndarray | None = None) -> Belief:
    options: dict[str, object] = {}
    if "oracle" in {f.name for f in fields(find_method_class(method))}:
        y = truth(data.n_classes) if oracle is None else oracle
        options = {"oracle": [data.classes[k] for k in y], "budget": N_ROWS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        return get_method(method, **options).fit(data, np.random.default_rng(seed))


def metrics_of(method: str, n_classes: int) -> list:
    names = spec_of(method).metrics or default_metrics(n_classes)
    return [get_metric(name) for name in names]


def values(method: str, belief: Belief, data: ScoreSet) -> np.ndarray:
    """Estimates (metrics, M)."""
    return np.array(
        [e.value for e in belief.estimate(metrics_of(method, data.n_classes), [None])[0]]
    )


@cache
def usual(method: str, n_classes: int, seed: int = 0) -> tuple[Belief, np.ndarray]:
    data = score_set(n_classes)
    belief = fit(method, data, seed)
    return belief, values(method, belief, data)


def tolerance(method: str, n_classes: int) -> float:
    """Rounding for what does not depend on the seed, the noise of draws for what does."""
    same = np.array_equal(usual(method, n_classes)[1], usual(method, n_classes, 1)[1])
    return EXACT if same else NOISY


def usual_classes(method: str) -> int:
    return 3 if spec_of(method).multiclass else 2


@pytest.mark.parametrize("method", METHODS)
def test_spec_says_who_and_what(method) -> None:
    spec = spec_of(method)
    assert spec.name == method
    assert spec.title
    assert spec.source
    assert spec.binary or spec.multiclass


@pytest.mark.parametrize("method", METHODS)
def test_same_seed_same_numbers(method) -> None:
    k = usual_classes(method)
    again = values(method, fit(method, score_set(k)), score_set(k))
    np.testing.assert_array_equal(again, usual(method, k)[1])


@pytest.mark.parametrize("method", METHODS)
def test_a_belief_answers_the_same_twice(method) -> None:
    k = usual_classes(method)
    belief, first = usual(method, k)
    np.testing.assert_array_equal(values(method, belief, score_set(k)), first)


@pytest.mark.parametrize("method", METHODS)
def test_order_of_rows_does_not_matter(method) -> None:
    k = usual_classes(method)
    order = np.random.default_rng(1).permutation(N_ROWS)
    shuffled = score_set(k).take(order)
    belief = fit(method, shuffled, oracle=truth(k)[order])
    allowed = tolerance(method, k)
    np.testing.assert_allclose(values(method, belief, shuffled), usual(method, k)[1], atol=allowed)


@pytest.mark.parametrize("method", METHODS)
def test_order_and_names_of_models_do_not_matter(method) -> None:
    k = usual_classes(method)
    data, order = score_set(k), [2, 0, 3, 1]
    renamed = data.replace(scores=data.scores[:, order], models=("w", "x", "y", "z"))
    got = values(method, fit(method, renamed), renamed)
    np.testing.assert_allclose(got, usual(method, k)[1][:, order], atol=tolerance(method, k))


@pytest.mark.parametrize("method", METHODS)
def test_order_and_names_of_classes_do_not_matter(method) -> None:
    k = usual_classes(method)
    data, order = score_set(k), np.roll(np.arange(k), 1)
    code = np.append(np.argsort(order), UNLABELED)
    renamed = data.replace(
        scores=data.scores[:, :, order],
        labels=code[data.labels],
        classes=tuple("zyx"[:k]),
    )
    belief = fit(method, renamed, oracle=code[truth(k)])
    accuracy = [get_metric("accuracy")]
    got = belief.estimate(accuracy, [None])[0][0].value
    expected = usual(method, k)[0].estimate(accuracy, [None])[0][0].value
    np.testing.assert_allclose(got, expected, atol=tolerance(method, k))


def test_duplicated_names_are_refused_before_any_method_sees_them() -> None:
    data = score_set(2)
    with pytest.raises(InputError, match="'a'"):
        ssme.ScoreSet.from_arrays(data.scores, models=["a", "b", "a", "c"], classes=[0, 1])
    with pytest.raises(InputError, match="x"):
        ssme.ScoreSet.from_arrays(data.scores, models=list("abcd"), classes=["x", "x"])


SIZES = (2, 3, 10, 26)


@pytest.mark.parametrize("n_classes", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_sensible_with_2_to_26_classes_where_declared(method, n_classes) -> None:
    spec, data = spec_of(method), score_set(n_classes)
    metrics = metrics_of(method, n_classes)
    if not (spec.binary if n_classes == 2 else spec.multiclass):
        with pytest.raises(UnsupportedError, match=str(n_classes)):
            check_supported(spec, data, metrics)
        return
    check_supported(spec, data, metrics)
    got = usual(method, n_classes)[1]
    for metric, estimate in zip(metrics, got, strict=True):
        assert np.isfinite(estimate).all()
        assert (estimate >= metric.low).all()
        assert (estimate <= metric.high).all()
    right = (data.scores.argmax(axis=2) == truth(n_classes)[:, None]).mean(axis=0)
    assert np.abs(got[0] - right).mean() < 0.3


@pytest.mark.parametrize("method", METHODS)
def test_labeled_rows_keep_their_labels(method) -> None:
    k = usual_classes(method)
    belief, data = usual(method, k)[0], score_set(k)
    one_hot = np.eye(k)[data.labels[:N_LABELED]]
    assert (belief.posterior is not None) == spec_of(method).gives_posterior
    if belief.posterior is not None:
        np.testing.assert_allclose(belief.posterior.sum(axis=1), 1.0)
        np.testing.assert_allclose(belief.posterior[:N_LABELED], one_hot, atol=1e-12)


POSSIBLE = [
    (method, n_classes)
    for method in METHODS
    for n_classes in (2, 3)
    if (spec_of(method).binary if n_classes == 2 else spec_of(method).multiclass)
]


@cache
def tied_set(n_classes: int) -> ScoreSet:
    """The two largest scores are equal on 40 % of the rows of each classifier."""
    data = score_set(n_classes)
    second, first = np.sort(data.scores, axis=2)[:, :, -2:].transpose(2, 0, 1)[:, :, :, None]
    tied = np.random.default_rng(0).random((N_ROWS, N_MODELS, 1)) < 0.4
    middle = (first + second) / 2.0 if n_classes > 2 else 0.5
    return data.replace(scores=np.where(tied & (data.scores >= second), middle, data.scores))


@pytest.mark.parametrize(("method", "n_classes"), POSSIBLE)
def test_with_every_row_labeled_accuracy_is_that_of_the_labels(method, n_classes) -> None:
    data = tied_set(n_classes)
    data = data.replace(labels=truth(n_classes), weights=1.0 + np.arange(N_ROWS) % 3)
    metric, group = get_metric("accuracy"), np.arange(N_ROWS) % 2 == 0
    for weights in (None, data.weights):
        data = data.replace(weights=weights)
        mass = one_hot_mass(data.labels, n_classes, weights)
        belief = fit(method, data)
        found = belief.estimate([metric], [None])[0][0].value
        np.testing.assert_allclose(found, metric(data.scores, mass)[0], atol=1e-9)
        if spec_of(method).groups:
            (found,) = belief.estimate([metric], [group])[0]
            expected = metric(data.scores[group], mass[:, group])[0]
            np.testing.assert_allclose(found.value, expected, atol=1e-9)


@pytest.mark.parametrize(("method", "n_classes"), POSSIBLE)
def test_a_tie_is_predicted_as_metrics_of_decisions_do(method, n_classes) -> None:
    """Scores that favor the predicted class by next to nothing change next to nothing.

    For `answers` a model that gives equal scores says nothing on a row, and counts as silent.
    """
    data = tied_set(n_classes)
    favored = predicted_classes(data.scores)[:, :, None] == np.arange(n_classes)
    scores = data.scores * np.where(favored, 1.0 + 1e-12, 1.0)
    nudged = data.replace(scores=scores / scores.sum(axis=2, keepdims=True))
    accuracy = [get_metric("accuracy")]
    found, expected = (
        fit(method, each).estimate(accuracy, [None])[0][0].value for each in (data, nudged)
    )
    np.testing.assert_allclose(found, expected, atol=0.01 if method == "answers" else 1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_are_as_wide_as_the_joint_draws_where_they_are_given(method) -> None:
    k = usual_classes(method)
    belief = usual(method, k)[0]
    metric = get_metric("accuracy")
    estimate = belief.estimate([metric], [None])[0][0]
    low, high = estimate.interval(0.95)
    if not spec_of(method).gives_intervals:
        assert np.isnan(low).all()
        return
    assert estimate.draws is not None
    spread = np.std(estimate.draws, axis=0)
    assert np.allclose(high - low, 3.92 * spread, rtol=0.5), (high - low) / spread
    assert (spread < 0.15).all()


@pytest.mark.parametrize("method", METHODS)
def test_groups_are_honored_or_refused(method) -> None:
    k = usual_classes(method)
    belief, data = usual(method, k)[0], score_set(k)
    group = np.arange(N_ROWS) % 2 == 0
    accuracy = [get_metric("accuracy")]
    if not spec_of(method).groups:
        with pytest.raises(UnsupportedError, match="group"):
            belief.estimate(accuracy, [group])
        return
    (inside,), (everything,) = belief.estimate(accuracy, [group, None])
    right = (data.scores.argmax(axis=2) == truth(k)[:, None])[group].mean(axis=0)
    assert np.abs(inside.value - right).mean() < 0.2
    assert everything.value.shape == inside.value.shape == (N_MODELS,)


@pytest.mark.parametrize("method", METHODS)
def test_weights_are_honored(method) -> None:
    k = usual_classes(method)
    confidence = score_set(k).scores.max(axis=2).mean(axis=1)
    sure = confidence > np.median(confidence)
    data = score_set(k).replace(weights=np.where(sure, 1.0, 0.01))
    got = values(method, fit(method, data), data)[0]
    right = (data.scores.argmax(axis=2) == truth(k)[:, None]).astype(float)
    gain = np.average(right, axis=0, weights=data.weights).mean() - right.mean()
    assert gain > 0.05
    assert got.mean() - usual(method, k)[1][0].mean() == pytest.approx(gain, abs=0.75 * gain)


@pytest.mark.parametrize("method", METHODS)
def test_missing_scores_are_handled_or_refused(method) -> None:
    k = usual_classes(method)
    scores = score_set(k).scores.copy()
    scores[::5, 1] = np.nan
    data = score_set(k).replace(scores=scores)
    metrics = metrics_of(method, k)
    if not spec_of(method).missing_scores:
        with pytest.raises(UnsupportedError, match="'b' has none for row 0"):
            check_supported(spec_of(method), data, metrics)
        return
    got = values(method, fit(method, data), data)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(got[0], usual(method, k)[1][0], atol=0.15)


@pytest.mark.parametrize("method", METHODS)
def test_asking_for_more_than_declared_is_an_error(method) -> None:
    spec, k = spec_of(method), usual_classes(method)
    data, metrics = score_set(k), metrics_of(method, k)
    unlabeled = data.replace(labels=np.full(N_ROWS, UNLABELED))
    if spec.needs_labels:
        with pytest.raises(UnsupportedError, match="labels"):
            check_supported(spec, unlabeled, metrics)
    else:
        check_supported(spec, unlabeled, metrics)
        got = values(method, fit(method, unlabeled), unlabeled)
        assert np.isfinite(got).all()
    if spec.metrics is not None:
        with pytest.raises(UnsupportedError, match="log_loss"):
            check_supported(spec, data, [get_metric("log_loss")])
    with pytest.raises(InputError, match="no option 'nonsense'"):
        get_method(method, nonsense=1)


@pytest.mark.parametrize("method", METHODS)
def test_the_choice_is_coherent(method: str) -> None:
    """P(best) adds up to one, the pick has the best estimate, and who leads all leads each.

    An exponent below one takes P(best) towards equal shares, beyond P(better) at most by what it
    adds to the share of draws.
    """
    data = score_set(usual_classes(method))
    belief, _ = usual(method, data.n_classes)
    metrics = metrics_of(method, data.n_classes)
    for metric, estimate in zip(metrics, belief.estimate(metrics, [None])[0], strict=True):
        choice = choose_model(data.models, metric, estimate)
        sign = 1.0 if metric.greater_is_better else -1.0
        assert choice.pick == data.models[int(np.argmax(sign * estimate.value))]
        assert choice.contenders[0].model == choice.pick
        if estimate.draws is None:
            assert np.isnan(choice.p_best)
            continue
        said = {each.model: each.p_best for each in choice.contenders}
        assert sum(said.values()) == pytest.approx(1.0)
        assert sum(said[name] for name in choice.possible_best) >= 0.95 - 1e-9
        assert choice.regret_low <= choice.regret <= choice.regret_high
        better = compute_probability_better(estimate, metric.greater_is_better is not False)
        np.fill_diagonal(better, 1.0)
        best = np.array([said[name] for name in data.models])
        slack = 0.0 if estimate.best_exponent == 1.0 else 0.1
        assert (best <= better.min(axis=1) + slack + 1e-9).all()
