import numpy as np
import pytest
from scipy.stats import norm

from ssme.datasets.synthetic import gaussian_set
from ssme.metrics import get_metric, one_hot_mass
from ssme.theory import accuracy_bound, auc_bound, separation_error


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


def test_performance_of_the_gaussian_sets_is_the_closed_form():
    """The truth the theory speaks of: AUC = Phi(c / sqrt 2), accuracy = Phi(c / 2)."""
    separation = np.array([0.8, 1.5])
    data = gaussian_set(200_000, separation, rng=np.random.default_rng(1))
    mass = one_hot_mass(data.labels, 2)
    auc = get_metric("roc_auc")(data.scores, mass)[0]
    accuracy = get_metric("accuracy")(data.scores, mass)[0]
    np.testing.assert_allclose(auc, norm.cdf(separation / 2**0.5), atol=0.004)
    np.testing.assert_allclose(accuracy, norm.cdf(separation / 2), atol=0.004)
