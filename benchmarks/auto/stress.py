"""``auto`` where it is weak: scores altered on purpose, few classifiers, few or many rows.

Each alteration is applied to every development set, truth included; simulated worlds
(`made_worlds`) stand beside them. RMAE, coverage of intervals and of paired differences, and width
over set x metric cells. Written to ``benchmarks/results/auto_stress.csv``; with ``--unseen`` the
stresses of `unseen`, written before anything was tuned, to ``auto_unseen.csv``.

    python -m benchmarks.auto.stress
    python -m benchmarks.auto.stress --unseen
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from benchmarks.auto import unseen
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


def one_is_noise(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """Three of the classifiers, and one whose scores are uniformly random."""
    kept = np.sort(rng.choice(data.n_models, min(3, data.n_models), replace=False))
    noise = rng.dirichlet(np.ones(data.n_classes), (data.n_rows, 1))
    scores = np.concatenate([data.scores[:, kept], noise], axis=1)
    return data.replace(scores=scores, models=(*(data.models[j] for j in kept), "noise"))


def dominant(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """The best classifier as it is, the others with noise in their log scores, all flattened."""
    scores = np.maximum(data.scores, 1e-6)
    best = int((scores.argmax(axis=2) == data.labels[:, None]).mean(axis=0).argmax())
    for j in range(data.n_models):
        if j != best:
            spread = 0.6 * np.log(scores[:, j]).std()
            scores[:, j] *= np.exp(rng.normal(0.0, spread, scores[:, j].shape))
    scores = (scores / scores.sum(axis=2, keepdims=True)) ** 0.5
    return data.replace(scores=scores / scores.sum(axis=2, keepdims=True))


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
    "one dominates, all flattened": Stress(dominant),
    "three and a random one": Stress(one_is_noise),
    "50 unlabeled rows": Stress(n_unlabeled=50),
    "200 unlabeled rows": Stress(n_unlabeled=200),
    "3,000 unlabeled rows": Stress(n_unlabeled=3000),
}


UNSEEN = {
    **{name: Stress(rescored(alter)) for name, alter in unseen.RESCORED.items()},
    **{name: Stress(change) for name, change in unseen.CHANGED.items()},
    **{name: Stress(see=see) for name, see in unseen.PICKED.items()},
}

EVERY_WORLD = {**WORLDS, **unseen.UNSEEN_WORLDS}

Job = tuple[str, str, int, int]
"""Stress, data set, number of labels, run. A simulated world is its own data set."""


def prepare(job: Job) -> tuple[ScoreSet, int, Callable[..., ScoreSet]]:
    """The altered data of a job, the number of unlabeled rows, and who picks what is seen."""
    stress, name, n_labeled, run = job
    if stress in EVERY_WORLD:
        data, how = EVERY_WORLD[stress](np.random.default_rng([run, 77])), Stress()
    else:
        how = STRESSES.get(stress) or UNSEEN[stress]
        data = how.change(load(name), np.random.default_rng([run, len(stress)]))
    return data, min(how.n_unlabeled, data.n_rows // 2 - n_labeled), how.see


def measure(job: Job) -> list[dict[str, Any]]:
    stress, name, n_labeled, run = job
    data, n_unlabeled, see = prepare(job)
    return measure_on(data, name, n_labeled, n_unlabeled, run, {stress: Variant()}, see)


def all_jobs(stresses: list[str], labels: list[int], runs: range, made_runs: range) -> list[Job]:
    """Every stress on every development set, every simulated world on itself."""
    real = [stress for stress in stresses if stress not in EVERY_WORLD]
    made = [stress for stress in stresses if stress in EVERY_WORLD]
    return [
        *product(real, SETS, labels, runs),
        *((stress, stress, n, run) for stress, n, run in product(made, labels, made_runs)),
    ]


def main() -> None:
    parser = study_arguments(__doc__, runs=8, labels=[20, 50, 100])
    parser.add_argument("--first", type=int, default=0, help="first run")
    parser.add_argument("--unseen", action="store_true", help="the stresses kept for the end")
    args = parser.parse_args()
    chosen = [*UNSEEN, *unseen.UNSEEN_WORLDS] if args.unseen else [*STRESSES, *WORLDS]
    runs, made_runs = (range(args.first, args.first + size * args.runs) for size in (1, 4))
    jobs = all_jobs(chosen, args.labels, runs, made_runs)
    table = by_variant(spread_over(measure, jobs, args.workers, 4), "stress")
    write("auto_stress_unseen" if args.unseen else "auto_stress", table)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
