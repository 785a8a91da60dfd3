"""What scores tell without labels, against slow definitions."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.arrays import FloatArray
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.pool import (
    clip_scores,
    find_copies,
    log_pool,
    predict_agreed_temperature,
    summarize_scores,
)

OF = Constants().agreement


def classifiers(
    n: int = 2000, quality: tuple[float, ...] = (1.2, 1.0, 0.8), seed: int = 0
) -> tuple[FloatArray, np.ndarray]:
    """Scores (n, M, 2) that share part of their errors, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n)
    shared = rng.standard_normal((n, 1))
    own = rng.standard_normal((n, len(quality)))
    logit = 2.0 * np.array(quality) * (truth - 0.5)[:, None] + 0.8 * shared + 0.6 * own
    p = 1.0 / (1.0 + np.exp(-2.0 * logit))
    return clip_scores(np.stack([1.0 - p, p], axis=2), 1e-4), truth


def all_present(q: FloatArray) -> np.ndarray:
    return np.ones(q.shape[:2], dtype=bool)


def test_the_better_classifier_has_more_standing_and_noise_next_to_none() -> None:
    q, _ = classifiers(quality=(1.4, 1.0, 0.6, 0.0))
    rng = np.random.default_rng(1)
    q[:, 3] = clip_scores(rng.dirichlet(np.ones(2), (len(q), 1)), 1e-4)[:, 0]
    summary = summarize_scores(q, all_present(q), OF)
    assert summary.standing[0] > summary.standing[2] > 20.0 * summary.standing[3]
    assert summary.n_effective < 3.0
    inverted, _ = classifiers(quality=(1.2, 1.0, 0.8, 1.0))
    inverted[:, 3] = inverted[:, 3, ::-1]
    assert summarize_scores(inverted, all_present(q), OF).standing[3] < 0.01


def test_copies_share_a_vote() -> None:
    q, _ = classifiers()
    rng = np.random.default_rng(2)
    near = clip_scores(q[:, :1] * np.exp(0.01 * rng.standard_normal((len(q), 4, 2))), 1e-4)
    both = np.concatenate([q, near], axis=1)
    alike = find_copies(both, OF)
    assert (alike[0, 3:] == 1.0).all()
    assert (alike[1, [0, 2, 3]] == 0.0).all()
    alone = summarize_scores(q, all_present(q), OF)
    summary = summarize_scores(both, all_present(both), OF)
    assert summary.n_effective == pytest.approx(alone.n_effective, rel=0.1)
    together = np.r_[summary.standing[[0, 3, 4, 5, 6]].sum(), summary.standing[1:3]]
    assert together == pytest.approx(alone.standing, abs=0.05)
    assert find_copies(classifiers()[0], OF).sum() == 3.0


def test_agreement_finds_the_sharpness_that_any_power_hid() -> None:
    q, truth = classifiers(n=4000, quality=(1.2, 1.1, 1.0, 0.9, 0.8))
    equal, log_share = np.full(5, 0.2), np.log([0.5, 0.5])
    right = (q.argmax(axis=2) == truth[:, None]).mean()
    for power in (0.4, 1.0, 2.5):
        scores = clip_scores(q**power / (q**power).sum(axis=2, keepdims=True), 1e-9)
        summary = summarize_scores(scores, all_present(q), OF)
        log_pi = log_pool(scores, all_present(q), equal, equal)
        d = np.average(summary.disagreement, weights=summary.counts)
        offset = np.log((1.0 - right) / right) - np.log(d / (1.0 - d))
        found = predict_agreed_temperature(summary, log_pi, log_share, offset, OF)
        assert found is not None
        ratio = np.exp(found) * (log_pi[:, 1] - log_pi[:, 0])
        w = 1.0 / (1.0 + np.exp(-ratio))
        says = np.where(scores.argmax(axis=2) == 1, w[:, None], 1.0 - w[:, None]).mean()
        assert says == pytest.approx(right, abs=2e-3)
