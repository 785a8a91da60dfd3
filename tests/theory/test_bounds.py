import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set
from benchmarks.theory import (
    accuracy_bound,
    accuracy_of_separation,
    auc_bound,
    auc_of_separation,
    performance_band,
    separation_error,
    theorem_1,
)
from scipy.stats import norm

from ssme.errors import InputError
from ssme.metrics import get_metric, one_hot_mass


def test_no_error_in_separation_no_error_in_performance():
    assert auc_bound(1.3, 0.0) == 0.0
    assert accuracy_bound(1.3, 0.0) == 0.0


def test_bounds_are_differences_of_normal_probabilities():
    assert auc_bound(1.0, 0.2) == pytest.approx(norm.cdf(1 / 2**0.5) - norm.cdf(0.8 / 2**0.5))
    assert accuracy_bound(1.0, 0.2) == pytest.approx(norm.cdf(0.5) - norm.cdf(0.4))


def test_weak_classifiers_have_wider_bounds():
    bounds = accuracy_bound(np.array([0.5, 1.0, 2.0, 3.0]), 0.2)
    assert (np.diff(bounds) < 0).all()


@pytest.mark.parametrize("argument", ["n_unlabeled", "n_labeled", "norm"])
def test_error_falls_with_rows_labels_and_separation(argument):
    base = {"n_unlabeled": 1000, "n_labeled": 20, "d": 4, "norm": 1.2}
    more = {**base, argument: 2 * base[argument]}
    assert separation_error(**more) < separation_error(**base)


def test_the_bound_is_the_printed_expression():
    n_u, n_l, d, c, c0, p = 800, 5, 3, 1.3, 0.7, 0.2
    slack = 1 - c0 / c**2 * np.sqrt(d * np.log(n_u) / (c**2 * n_u))
    printed = (np.sqrt(d / (c**2 * n_u)) + c * np.exp(-0.5 * n_l * c**2 * slack**2)) / p
    assert separation_error(n_u, n_l, d, c, p=p, c0=c0) == pytest.approx(printed)
    assert separation_error(n_u, n_l, d, c, p=p, c0=c0, constant=3) == pytest.approx(3 * printed)


def test_where_the_slack_is_negative_labels_do_not_help():
    """The printed square would let the bound fall again as c0 grows; it must not."""
    few, many = (separation_error(20, n, 4, 0.5, c0=5.0) for n in (1, 1000))
    assert few == many
    assert separation_error(20, 50, 4, 0.5, c0=50.0) >= separation_error(20, 50, 4, 0.5, c0=5.0)


def test_theorem_1_states_its_conditions() -> None:
    said = theorem_1([0.4, 0.3], 100, 20)
    by_name = {condition.name: condition for condition in said.conditions}
    norm_of_c = 0.5
    assert by_name["n_u >= d / |c|^4"].least == pytest.approx(2 / norm_of_c**4)
    assert by_name["n_u >= d log(d n_u) / |c|^6"].least == pytest.approx(
        2 * np.log(200) / norm_of_c**6
    )
    assert not said.applies
    assert theorem_1([0.4, 0.3], 100_000, 20).applies
    assert not theorem_1([0.4, 0.3], 100_000, 20, rows_constant=1000).applies


def test_theorem_1_asks_for_two_classifiers() -> None:
    said = theorem_1([2.0], 10_000, 20)
    assert [condition.name for condition in said.conditions if not condition.holds] == ["d >= 2"]


def test_theorem_1_bounds_every_classifier_with_the_same_epsilon() -> None:
    said = theorem_1([1.0, 2.0, 0.5], 2000, 30, p=0.5)
    np.testing.assert_allclose(said.auc_bound, auc_bound([1.0, 2.0, 0.5], said.epsilon))
    np.testing.assert_allclose(said.accuracy, norm.cdf(np.array([1.0, 2.0, 0.5]) / 2))
    assert [set(row) for row in said.rows()] == [
        {"separation", "auc", "auc_bound", "accuracy", "accuracy_bound"}
    ] * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": 0.0}, r"p must .* got 0\."),
        ({"p": 1.5}, "at most 1"),
        ({"c0": -1.0}, "c0 must be .* got -1"),
        ({"constant": 0.0}, "constant must be above 0"),
        ({"rows_constant": float("nan")}, "rows_constant must be"),
        ({"separation": [1.0, -0.5]}, "separation must"),
        ({"separation": [0.0, 0.0]}, "separation must"),
        ({"n_unlabeled": 0}, "n_unlabeled must be .* got"),
        ({"n_labeled": -1}, "n_labeled must be .* got"),
    ],
)
def test_constants_and_sizes_are_checked(change, message) -> None:
    good = {"separation": [1.0, 1.0], "n_unlabeled": 100, "n_labeled": 10}
    with pytest.raises(InputError, match=message):
        theorem_1(**(good | change))


def test_bands_hold_every_estimate_within_epsilon() -> None:
    low, high = performance_band("roc_auc", 1.2, 0.3)
    assert low == pytest.approx(norm.cdf(0.9 / 2**0.5))
    assert high == pytest.approx(norm.cdf(1.5 / 2**0.5))
    with pytest.raises(InputError, match="unknown metric 'ece'"):
        performance_band("ece", 1.0, 0.1)


def test_performance_of_the_gaussian_sets_is_the_closed_form():
    """The truth the theory speaks of: AUC = Phi(c / sqrt 2), accuracy = Phi(c / 2)."""
    separation = np.array([0.8, 1.5])
    data = gaussian_set(200_000, separation, rng=np.random.default_rng(1))
    mass = one_hot_mass(data.labels, 2)
    auc = get_metric("roc_auc")(data.scores, mass)[0]
    accuracy = get_metric("accuracy")(data.scores, mass)[0]
    np.testing.assert_allclose(auc, auc_of_separation(separation), atol=0.004)
    np.testing.assert_allclose(accuracy, accuracy_of_separation(separation), atol=0.004)
