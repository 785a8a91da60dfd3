import dataclasses

import numpy as np
import pytest

from ssme.data.scoreset import ScoreSet
from ssme.methods.registry import get_method
from ssme.methods.ssme import SsmeMethod

QUICK = {"max_iter": 1000, "tol": 1e-2}


def score_set(n=300, n_models=3, n_classes=2, n_labeled=30, seed=0, noise=1.0) -> ScoreSet:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    logits = 2.0 * np.eye(n_classes)[y][:, None] + noise * rng.normal(size=(n, n_models, n_classes))
    scores = np.exp(logits)
    scores /= scores.sum(axis=2, keepdims=True)
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    models = tuple(f"m{j}" for j in range(n_models))
    return ScoreSet(scores, labels, models, tuple(range(n_classes)))


def posterior(data, method="ssme", seed=0, **options):
    belief = get_method(method, **(QUICK | options)).fit(data, np.random.default_rng(seed))
    return belief.posterior if method == "ssme" else belief.posteriors


@pytest.mark.parametrize("method", ["ssme", "ssme_m"])
def test_labels_are_kept_where_the_fit_does_not_clamp_them(method) -> None:
    data = score_set()
    for of_model in posterior(data, method, preset="public_code").reshape(-1, data.n_rows, 2):
        np.testing.assert_array_equal(of_model[:30], np.eye(2)[data.labels[:30]])


def hostile(kind: str) -> ScoreSet:
    data = score_set()
    scores = data.scores.copy()
    if kind == "exact zeros and ones":
        scores[::3, 0] = [1.0, 0.0]
        scores[1::3, 0] = [0.0, 1.0]
        scores[2::3, 0] = [0.0, 1.0]
    elif kind == "duplicated models":
        scores[:, 1] = scores[:, 2] = scores[:, 0]
    elif kind == "constant model":
        scores[:, 1] = [0.25, 0.75]
    elif kind == "all constant":
        scores[:] = [0.25, 0.75]
    elif kind == "missing scores":
        scores[::2, 1] = np.nan
        scores[::5, 0] = np.nan
        scores[20:25] = np.nan
    elif kind == "two values":
        scores[:] = np.where(scores[..., :1] > 0.5, [0.9, 0.1], [0.1, 0.9])
    return dataclasses.replace(data, scores=scores)


KINDS = [
    "exact zeros and ones",
    "duplicated models",
    "constant model",
    "all constant",
    "missing scores",
    "two values",
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["ssme", "ssme_m"])
@pytest.mark.parametrize("init", ["draw", "knn"])
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov", "exponential"])
def test_posteriors_stay_finite(kind, method, init, kernel) -> None:
    p = posterior(hostile(kind), method, init=init, kernel=kernel)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=-1), 1.0)


def test_sample_weights_zero_rows_do_not_count() -> None:
    data = score_set()
    weights = np.ones(data.n_rows)
    weights[200:] = 0.0
    kept = dataclasses.replace(data, scores=data.scores[:200], labels=data.labels[:200])
    whole = dataclasses.replace(data, weights=weights)
    a = SsmeMethod(init="knn", tol=1e-6, bandwidth=0.6).fit(kept, np.random.default_rng(0))
    b = SsmeMethod(init="knn", tol=1e-6, bandwidth=0.6).fit(whole, np.random.default_rng(0))
    np.testing.assert_allclose(b.posterior[:200], a.posterior, atol=1e-4)


def test_ssme_m_sees_one_model_at_a_time() -> None:
    data = score_set()
    other = data.scores.copy()
    other[:, 1:] = other[:, :0:-1]
    p, q = posterior(data, "ssme_m"), posterior(dataclasses.replace(data, scores=other), "ssme_m")
    np.testing.assert_array_equal(p[0], q[0])
