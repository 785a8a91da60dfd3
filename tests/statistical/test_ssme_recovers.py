"""SSME on normal logits, where accuracy has a closed form.

Two classes, logits N(+-mu, 1) independent between two classifiers given the class: a classifier
that predicts by the sign of its logit has accuracy Phi(mu).
"""

import numpy as np
from scipy.special import expit, ndtr

from ssme.data.scoreset import ScoreSet
from ssme.methods.ssme import SsmeMethod
from ssme.metrics import get_metric

MEANS = np.array([1.0, 1.6])


def normal_logits(seed: int, n: int = 800, n_labeled: int = 60) -> ScoreSet:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    p = expit((2 * y - 1)[:, None] * MEANS + rng.normal(size=(n, 2)))
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    return ScoreSet(np.stack([1 - p, p], axis=2), labels, ("a", "b"), (0, 1))


def mean_estimate(**options: object) -> np.ndarray:
    method = SsmeMethod(tol=1e-3, n_draws=50, n_bootstrap=0, **options)
    estimates = []
    for seed in range(6):
        belief = method.fit(normal_logits(seed), np.random.default_rng(seed))
        estimates.append(belief.estimate([get_metric("accuracy")], [None])[0][0].value)
    return np.mean(estimates, axis=0)


def test_accuracy_is_recovered_by_the_right_density() -> None:
    # 6 x 800 rows: standard error of the mean about 0.006 plus that of the fit.
    np.testing.assert_allclose(mean_estimate(density="gmm"), ndtr(MEANS), atol=0.025)


def test_kernels_lean_to_the_mean_score_they_start_from() -> None:
    """These scores are under-confident; each row's own kernel keeps part of that."""
    start = mean_estimate(bandwidth=0.01)
    found = mean_estimate(bandwidth="scott", across="each")
    assert (start < found).all()
    assert (found < ndtr(MEANS) - 0.01).all()  # 0.02 or more; standard error 0.006
