"""Stresses kept for the end: written before anything was tuned, and opened once.

No constant of ``auto`` was chosen in view of these. They are kinds of trouble that the stresses of
development do not contain: distortions that differ between classifiers or classes, scores cut off
or rounded, labels picked by score or by class with a preference, other populations, many or grouped
classifiers.
"""

from __future__ import annotations

import numpy as np

from benchmarks.auto.made_worlds import ROWS, World, as_score_set, make_binary_world
from ssme.arrays import FloatArray
from ssme.data.scoreset import UNLABELED, ScoreSet


def flatten_half(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Every other classifier is flattened, the rest is sharpened."""
    power = np.where(np.arange(scores.shape[1]) % 2 == 0, 0.4, 2.5)
    return scores ** power[:, None]


def shuffle_two(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Two classifiers (one of three or fewer) have their rows out of order."""
    out = scores.copy()
    for j in rng.choice(scores.shape[1], 2 if scores.shape[1] > 3 else 1, replace=False):
        out[:, j] = scores[rng.permutation(len(scores)), j]
    return out


def stretch_classes(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The log score of each class is stretched by a factor of its own, from 0.6 to 1.7."""
    return scores ** np.exp(rng.uniform(-0.5, 0.5, scores.shape[2]))


def cut_off(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """No classifier is ever surer than 0.85, as where scores were smoothed for training."""
    return np.clip(scores, 0.15 / max(1, scores.shape[2] - 1), 0.85)


def round_to_one_decimal(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.round(scores, 1) + 1e-3


def shift_own_class(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Every classifier prefers a class of its own by a factor of e^0.8."""
    shift = np.zeros(scores.shape[1:])
    shift[np.arange(scores.shape[1]), rng.integers(scores.shape[2], size=scores.shape[1])] = 0.8
    return scores * np.exp(shift)


def add_noisy_versions(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """Twenty classifiers more, each a noisy version of one of those there are."""
    parents = rng.integers(data.n_models, size=20)
    noise = rng.normal(0.0, rng.uniform(0.3, 1.5, 20)[:, None], (data.n_rows, 20, data.n_classes))
    more = np.maximum(data.scores[:, parents], 1e-6) * np.exp(noise)
    scores = np.concatenate([data.scores, more / more.sum(axis=2, keepdims=True)], axis=1)
    names = tuple(f"noisy_{i}" for i in range(20))
    return data.replace(scores=scores, models=(*data.models, *names))


def drop_from_last_class(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """The last class is three times rarer than where the classifiers were made."""
    last = data.labels == data.n_classes - 1
    return data.take(np.flatnonzero(~last | (rng.random(data.n_rows) < 1.0 / 3.0)))


def keep_contested(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """Of the rows on which all classifiers agree, 30% are kept."""
    votes = data.scores.argmax(axis=2)
    agreed = (votes == votes[:, :1]).all(axis=1)
    return data.take(np.flatnonzero(~agreed | (rng.random(data.n_rows) < 0.3)))


def enrich_last_class(rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
    """Rows of the last class are four times as likely to be labeled."""
    weight = np.where(rows.labels == rows.n_classes - 1, 4.0, 1.0)
    return draw_labels(rows, n_labeled, weight, np.random.default_rng([run, n_labeled, 1]))


def prefer_uncertain(rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
    """Rows are the likelier to be labeled the less sure the classifiers are on average."""
    weight = (1.02 - rows.scores.max(axis=2).mean(axis=1)) ** 1.5
    return draw_labels(rows, n_labeled, weight, np.random.default_rng([run, n_labeled, 0]))


def draw_labels(
    rows: ScoreSet, n_labeled: int, weight: FloatArray, rng: np.random.Generator
) -> ScoreSet:
    """``rows`` with labels left to ``n_labeled`` of them, drawn in proportion to ``weight``."""
    chosen = rng.choice(rows.n_rows, n_labeled, replace=False, p=weight / weight.sum())
    labels = np.full(rows.n_rows, UNLABELED)
    labels[chosen] = rows.labels[chosen]
    return rows.replace(labels=labels)


def make_two_families(rng: np.random.Generator) -> ScoreSet:
    """Two families of four; within one errors are shared, and the second is oversure."""
    truth = (rng.random(ROWS) < 0.4).astype(np.int64)
    family = np.repeat([0, 1], 4)
    noise = 0.9 * rng.normal(size=(ROWS, 2))[:, family] + 0.45 * rng.normal(size=(ROWS, 8))
    separation = np.array([1.8, 1.6, 1.5, 1.3, 1.4, 1.2, 1.0, 0.9])
    odds = np.log(0.4 / 0.6) + separation * (separation * (truth[:, None] - 0.5) + noise)
    odds *= np.where(family == 0, 1.0, 2.0)
    return as_score_set(np.stack([np.zeros_like(odds), odds], axis=2), truth)


def make_hard_rows(rng: np.random.Generator) -> ScoreSet:
    """Five classes; every row has a difficulty that all classifiers feel, and none says so."""
    truth = rng.integers(5, size=ROWS)
    ease = rng.gamma(2.0, 0.5, ROWS)[:, None, None]
    skill = np.array([2.0, 2.4, 2.8, 3.2, 3.6, 1.6, 2.2])[:, None]
    hit = (truth[:, None] == np.arange(5))[:, None, :]
    return as_score_set(skill * ease * hit + rng.normal(size=(ROWS, 7, 5)), truth)


def make_weak_and_calibrated(rng: np.random.Generator) -> ScoreSet:
    return make_binary_world(rng, np.array([0.3, 0.4, 0.5, 0.6, 0.7]), 0.4, positives=0.25)


RESCORED = {
    "unseen: half flattened, half sharpened": flatten_half,
    "unseen: two shuffled": shuffle_two,
    "unseen: classes stretched apart": stretch_classes,
    "unseen: cut off at 0.85": cut_off,
    "unseen: one decimal": round_to_one_decimal,
    "unseen: each prefers a class": shift_own_class,
}

CHANGED = {
    "unseen: twenty noisy versions more": add_noisy_versions,
    "unseen: last class three times rarer": drop_from_last_class,
    "unseen: contested rows": keep_contested,
}

PICKED = {
    "unseen: labels enriched in a class": enrich_last_class,
    "unseen: labels where unsure": prefer_uncertain,
}

UNSEEN_WORLDS: dict[str, World] = {
    "unseen: two families": make_two_families,
    "unseen: hard rows": make_hard_rows,
    "unseen: weak and calibrated": make_weak_and_calibrated,
}
