import numpy as np

from ssme.methods.estimators.ensemble import find_weights


def test_no_labels_is_the_plain_ensemble() -> None:
    np.testing.assert_array_equal(find_weights(np.empty((0, 4)), 10.0)[0], np.full(4, 0.25))


def test_the_better_classifier_weighs_more_and_more_with_more_labels() -> None:
    likelihood = np.tile([0.9, 0.2], (50, 1))
    few, many = find_weights(likelihood[:5], 10.0)[0], find_weights(likelihood, 10.0)[0]
    assert 0.5 < few[0] < many[0] < 1.0


def test_weights_maximise_the_penalised_log_score() -> None:
    likelihood = np.random.default_rng(0).beta(2, 1, (40, 3))
    weights = find_weights(likelihood, 6.0)[0]

    def score(w):
        return np.log(likelihood @ w).sum() + 2.0 * np.log(w).sum()

    for step in np.random.default_rng(1).normal(scale=0.01, size=(50, 3)):
        other = np.abs(weights + step)
        assert score(other / other.sum()) <= score(weights) + 1e-9
    np.testing.assert_allclose(weights.sum(), 1.0)


def test_each_step_shares_out_the_labels() -> None:
    likelihood = np.array([[0.9, 0.3], [0.5, 0.4], [0.0, 0.2]])
    weights = np.array([0.5, 0.5])
    for steps in (1, 2, 3):
        joint = np.maximum(likelihood, 1e-300) * weights
        counts = (joint / joint.sum(axis=1, keepdims=True)).sum(axis=0)
        weights = (counts + 2.0) / 7.0
        found, convergence = find_weights(likelihood, 4.0, 0.0, steps)
        np.testing.assert_allclose(found, weights, rtol=1e-12)
        assert (convergence.converged, convergence.n_iter) == (False, steps)


def test_the_number_of_steps_is_told() -> None:
    none = find_weights(np.empty((0, 4)), 10.0)[1]
    assert (none.converged, none.n_iter) == (True, 0)
    # equal classifiers: the first step moves nothing
    equal = find_weights(np.full((5, 2), 0.5), 10.0)[1]
    assert (equal.converged, equal.n_iter) == (True, 1)
