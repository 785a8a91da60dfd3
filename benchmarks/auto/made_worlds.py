"""Simulated classifiers unlike the real ones: worlds in which ``auto`` must still be honest.

Every world is a `ScoreSet` of `ROWS` rows, all labeled, drawn anew for every run. Binary worlds
draw log-odds evidence z_j ~ N(s_j (y - 1/2), 1) for each of six classifiers, with correlation
``shared`` between their noises; the score that is calibrated for classifier j alone is
sigma(log prior odds + s_j z_j).

- correlated, uneven: calibrated, shared noise 0.8, separations 0.4 to 2.4;
- rare: calibrated, 3% positives, shared noise 0.1;
- independent, overconfident and underconfident: no shared noise, log-odds times 2.5 or 0.4;
- dominant: ten classes, one classifier right in 93% of the rows amid others with 45 to 75%, all
  log scores times 0.4.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet

ROWS, MODELS = 30_000, 6

World = Callable[[np.random.Generator], ScoreSet]


def as_score_set(log_scores: FloatArray, truth: np.ndarray) -> ScoreSet:
    """Scores softmax(log_scores) (n, M, K) with all labels."""
    scores = np.exp(log_scores - log_scores.max(axis=2, keepdims=True))
    scores /= scores.sum(axis=2, keepdims=True)
    _, n_models, n_classes = scores.shape
    models = tuple(f"model_{j}" for j in range(n_models))
    return ScoreSet(scores, truth.astype(np.int64), models, tuple(range(n_classes)))


def make_binary_world(
    rng: np.random.Generator,
    separation: FloatArray,
    shared: float,
    positives: float = 0.5,
    power: float = 1.0,
) -> ScoreSet:
    """Log-odds of classifiers calibrated by themselves, then multiplied by ``power``."""
    truth = (rng.random(ROWS) < positives).astype(np.int64)
    noise = np.sqrt(shared) * rng.normal(size=(ROWS, 1))
    noise = noise + np.sqrt(1.0 - shared) * rng.normal(size=(ROWS, separation.size))
    evidence = separation * (truth[:, None] - 0.5) + noise
    odds = power * (np.log(positives / (1.0 - positives)) + separation * evidence)
    return as_score_set(np.stack([np.zeros_like(odds), odds], axis=2), truth)


def make_dominant_world(rng: np.random.Generator) -> ScoreSet:
    """One very good classifier of ten classes amid poor ones, all of them vague."""
    truth = rng.integers(10, size=ROWS)
    signal = np.array([3.2, 1.35, 1.6, 1.8, 2.0, 2.25])
    hit = truth[:, None] == np.arange(10)
    noise = 0.6 * rng.normal(size=(ROWS, 1, 10)) + 0.8 * rng.normal(size=(ROWS, MODELS, 10))
    return as_score_set(0.4 * (signal[:, None] * hit[:, None, :] + noise) * 1.6, truth)


UNEVEN, EVEN = np.linspace(0.4, 2.4, MODELS), np.linspace(1.0, 2.0, MODELS)

WORLDS: dict[str, World] = {
    "made: correlated, uneven": lambda rng: make_binary_world(rng, UNEVEN, 0.8),
    "made: rare": lambda rng: make_binary_world(rng, EVEN, 0.1, positives=0.03),
    "made: independent, overconfident": lambda rng: make_binary_world(rng, EVEN, 0.0, power=2.5),
    "made: independent, underconfident": lambda rng: make_binary_world(rng, EVEN, 0.0, power=0.4),
    "made: dominant": make_dominant_world,
}


def make_rarer(rng: np.random.Generator) -> ScoreSet:
    """Classifiers trained where positives were three times as frequent."""
    data = make_binary_world(rng, EVEN, 0.4, positives=0.3)
    kept = (data.labels == 0) | (rng.random(data.n_rows) < 0.25)
    return data.take(np.flatnonzero(kept))


def make_independent_judges(rng: np.random.Generator) -> ScoreSet:
    """Five judges of two classes, right on 60 to 90% of the rows, independently of each other."""
    truth = (rng.random(ROWS) < 0.5).astype(np.int64)
    right = rng.random((ROWS, 5)) < np.linspace(0.6, 0.9, 5)
    return ScoreSet.from_answers(np.where(right, truth[:, None], 1 - truth[:, None]), truth)


MANY = np.linspace(0.5, 2.2, 100)

SIMULATED: dict[str, World] = {
    "one family, oversure": lambda rng: make_binary_world(rng, EVEN, 0.9, power=2.0),
    "one family, calibrated": lambda rng: make_binary_world(rng, EVEN, 0.9),
    "hundred classifiers": lambda rng: make_binary_world(rng, MANY, 0.4),
    "independent": lambda rng: make_binary_world(rng, EVEN, 0.0),
    "independent judges": make_independent_judges,
    "rare class, good": lambda rng: make_binary_world(rng, 1.4 * EVEN, 0.5, positives=0.035),
    "positives three times rarer": make_rarer,
}
