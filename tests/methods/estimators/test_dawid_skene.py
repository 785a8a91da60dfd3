import numpy as np

from ssme.methods.estimators.dawid_skene import fit_dawid_skene


def votes(n=400, accuracy=(0.9, 0.8, 0.7, 0.6), seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    right = rng.random((n, len(accuracy))) < np.array(accuracy)
    return np.eye(2)[np.where(right, y[:, None], 1 - y[:, None])], y


def test_recovers_the_accuracy_of_every_voter_from_votes_alone() -> None:
    v, y = votes(4000)
    fit = fit_dawid_skene(v, np.full(len(y), -1), 1e-6, 1000)
    assert fit.converged
    np.testing.assert_allclose(fit.confusion[:, 0, 0], [0.9, 0.8, 0.7, 0.6], atol=0.05)


def test_each_step_raises_the_likelihood_and_labels_stay() -> None:
    v, y = votes()
    labels = np.where(np.arange(len(y)) < 30, y, -1)
    likelihood = []
    for steps in range(1, 12):
        fit = fit_dawid_skene(v, labels, 0.0, steps)
        np.testing.assert_array_equal(fit.posterior[:30], np.eye(2)[y[:30]])
        joint = np.log(fit.prior) + np.einsum("nml,mkl->nk", v, np.log(fit.confusion))
        known = joint[np.arange(30), y[:30]].sum()
        likelihood.append(known + np.logaddexp.reduce(joint[30:], axis=1).sum())
    assert (np.diff(likelihood) > -1e-8).all()


def test_labels_turn_the_classes_the_right_way_round() -> None:
    v, y = votes(accuracy=(0.2, 0.25, 0.3, 0.35))
    blind = fit_dawid_skene(v, np.full(len(y), -1), 1e-6, 500).posterior
    told = fit_dawid_skene(v, np.where(np.arange(len(y)) < 200, y, -1), 1e-6, 500).posterior
    assert (blind.argmax(axis=1) == y).mean() < 0.3
    assert (told[200:].argmax(axis=1) == y[200:]).mean() > 0.7


def test_stops_at_the_given_number_of_steps() -> None:
    v, y = votes()
    fit = fit_dawid_skene(v, np.full(len(y), -1), 0.0, 3)
    assert (fit.n_iter, fit.converged) == (3, False)
