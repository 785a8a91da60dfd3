"""``auto`` where it is weak: scores altered on purpose, few classifiers, few or many rows.

Each alteration is applied to every development set, truth included; RMAE, coverage and width over
set x metric cells at 20 and 100 labels. Written to ``benchmarks/results/auto_stress.csv``.

    python -m benchmarks.auto.stress
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.auto.made_worlds import WORLDS
from benchmarks.auto.priors import SETS
from benchmarks.auto.study import (
    Variant,
    by_variant,
    load,
    measure_on,
    seen_rows,
    spread_over,
    study_arguments,
    write,
)
from benchmarks.auto.unseen import CHANGED, PICKED, RESCORED, UNSEEN_WORLDS
from ssme.bench.protocol import split_rows
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.metrics.base import FloatArray

Change = Callable[[ScoreSet, np.random.Generator], ScoreSet]


def few(size: int) -> Change:
    def change(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
        chosen = np.sort(rng.choice(data.n_models, min(size, data.n_models), replace=False))
        return data.select([data.models[j] for j in chosen])

    return change


def rescored(alter: Callable[[FloatArray, np.random.Generator], FloatArray]) -> Change:
    def change(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
        scores = alter(np.maximum(data.scores, 1e-6), rng)
        return data.replace(scores=scores / scores.sum(axis=2, keepdims=True))

    return change


def shifted(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Classifiers trained where the last class was twice as, or half as, frequent."""
    out = scores.copy()
    out[:, :, -1] *= np.exp(rng.choice([-0.7, 0.7]))
    return out


def judges(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    return (scores.argmax(axis=2)[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)


def holes(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    scores = data.scores.copy()
    missing = rng.random(scores.shape[:2]) < 0.2
    missing[missing.all(axis=1), 0] = False
    scores[missing] = np.nan
    return data.replace(scores=scores)


def copies(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Five near-copies of the first classifier in the place of others."""
    out = scores.copy()
    count = min(6, scores.shape[1])
    noise = rng.normal(0.0, 0.05, (len(scores), count, scores.shape[2]))
    out[:, :count] = scores[:, :1] * np.exp(noise)
    return out


def inverted(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One classifier has its classes in the wrong order."""
    out = scores.copy()
    out[:, 0] = scores[:, 0, ::-1]
    return out


def balanced(data: ScoreSet, name: str, n_labeled: int, n_unlabeled: int, run: int) -> ScoreSet:
    """What a method sees when the labeled rows hold every class equally often, if they can."""
    seen = seen_rows(data, name, data.n_classes, n_labeled + n_unlabeled - data.n_classes, run)
    split = split_rows(
        data.labels, data.n_classes, seen.n_rows - data.n_classes, run, seed=0, dataset=name
    )
    truth = data.labels[np.concatenate([split.labeled, split.unlabeled])]
    turn = np.zeros(truth.size)
    for k in range(data.n_classes):
        turn[truth == k] = np.arange((truth == k).sum())
    chosen = np.argsort(turn, kind="stable")[:n_labeled]
    labels = np.full(truth.size, UNLABELED)
    labels[chosen] = truth[chosen]
    return seen.replace(labels=labels)


def kept(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    return data


@dataclass(frozen=True)
class Stress:
    """How the data are changed, how many unlabeled rows there are, which rows are labeled."""

    change: Change = kept
    n_unlabeled: int = 1000
    see: Callable[[ScoreSet, str, int, int, int], ScoreSet] = seen_rows


STRESSES = {
    "as they are": Stress(),
    "one classifier": Stress(few(1)),
    "two classifiers": Stress(few(2)),
    "three classifiers": Stress(few(3)),
    "sharpened p^2.5": Stress(rescored(lambda scores, rng: scores**2.5)),
    "flattened p^0.4": Stress(rescored(lambda scores, rng: scores**0.4)),
    "class prior shifted": Stress(rescored(shifted)),
    "one classifier inverted": Stress(rescored(inverted)),
    "five near-copies": Stress(rescored(copies)),
    "judges, scores 0 or 1": Stress(rescored(judges)),
    "20 % of scores missing": Stress(holes),
    "labels balanced over classes": Stress(see=balanced),
    "50 unlabeled rows": Stress(n_unlabeled=50),
    "200 unlabeled rows": Stress(n_unlabeled=200),
    "3,000 unlabeled rows": Stress(n_unlabeled=3000),
}


UNSEEN = (
    {name: Stress(rescored(alter)) for name, alter in RESCORED.items()}
    | {name: Stress(change) for name, change in CHANGED.items()}
    | {name: Stress(see=see) for name, see in PICKED.items()}
)
"""Kept for the end: no constant of ``auto`` may be chosen in view of these."""

MADE = {**WORLDS, **UNSEEN_WORLDS}


def measure(job: tuple[str, str, int, int]) -> list[dict[str, Any]]:
    stress, name, n_labeled, run = job
    how = {**STRESSES, **UNSEEN}.get(stress, Stress())
    rng = np.random.default_rng([run, len(stress)])
    data = MADE[stress](rng) if stress in MADE else how.change(load(name), rng)
    n_unlabeled = min(how.n_unlabeled, data.n_rows // 2 - n_labeled)
    return measure_on(data, name, n_labeled, n_unlabeled, run, {stress: Variant()}, how.see)


def main() -> None:
    parser = study_arguments(__doc__, runs=8, labels=[20, 100])
    parser.add_argument("--unseen", action="store_true", help="open the stresses kept for the end")
    args = parser.parse_args()
    stresses, worlds = (UNSEEN, UNSEEN_WORLDS) if args.unseen else (STRESSES, WORLDS)
    kinds = [(stress, name) for name in SETS for stress in stresses]
    kinds += [(world, "made") for world in worlds]
    jobs = [
        (stress, name, n_labeled, run)
        for stress, name in kinds
        for n_labeled in args.labels
        for run in range(args.runs)
    ]
    table = by_variant(spread_over(measure, jobs, args.workers, 4), "stress")
    write("auto_stress_unseen" if args.unseen else "auto_stress", table)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
