"""``auto`` where it is weak: scores altered on purpose, few classifiers, few or many rows.

Each alteration is applied to every development set, truth included; simulated worlds
(`made_worlds`) stand beside them. RMAE, coverage of intervals and of paired differences, and width
over set x metric cells are in auto_stress.csv; those of the stresses of `unseen`, written before
anything was tuned, in auto_stress_unseen.csv.

    python -m benchmarks.auto.campaign --only stress unseen
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.auto import unseen
from benchmarks.auto.made_worlds import SIMULATED, WORLDS
from benchmarks.auto.priors import SETS
from benchmarks.auto.study import plan_study
from benchmarks.experiment import Loader
from benchmarks.studies import Scene, Study
from ssme.arrays import FloatArray
from ssme.data.scoreset import UNLABELED, ScoreSet

Change = Callable[[ScoreSet, np.random.Generator], ScoreSet]


def keep_few(size: int) -> Change:
    def change(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
        chosen = np.sort(rng.choice(data.n_models, min(size, data.n_models), replace=False))
        return data.select([data.models[j] for j in chosen])

    return change


def rescore(alter: Callable[[FloatArray, np.random.Generator], FloatArray]) -> Change:
    def change(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
        scores = alter(np.maximum(data.scores, 1e-6), rng)
        return data.replace(scores=scores / scores.sum(axis=2, keepdims=True))

    return change


def shift_last_class(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Classifiers trained where the last class was twice as, or half as, frequent."""
    out = scores.copy()
    out[:, :, -1] *= np.exp(rng.choice([-0.7, 0.7]))
    return out


def round_to_answers(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    return (scores.argmax(axis=2)[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)


def remove_scores(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    scores = data.scores.copy()
    missing = rng.random(scores.shape[:2]) < 0.2
    missing[missing.all(axis=1), 0] = False
    scores[missing] = np.nan
    return data.replace(scores=scores)


def repeat_first(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Five near-copies of the first classifier in the place of others."""
    out = scores.copy()
    count = min(6, scores.shape[1])
    noise = rng.normal(0.0, 0.05, (len(scores), count, scores.shape[2]))
    out[:, :count] = scores[:, :1] * np.exp(noise)
    return out


def invert_first(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One classifier has its classes in the wrong order."""
    out = scores.copy()
    out[:, 0] = scores[:, 0, ::-1]
    return out


def add_noise(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """Three of the classifiers, and one whose scores are uniformly random."""
    kept = np.sort(rng.choice(data.n_models, min(3, data.n_models), replace=False))
    noise = rng.dirichlet(np.ones(data.n_classes), (data.n_rows, 1))
    scores = np.concatenate([data.scores[:, kept], noise], axis=1)
    return data.replace(scores=scores, models=(*(data.models[j] for j in kept), "noise"))


def make_dominant(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    """The best classifier as it is, the others with noise in their log scores, all flattened."""
    scores = np.maximum(data.scores, 1e-6)
    best = int((scores.argmax(axis=2) == data.labels[:, None]).mean(axis=0).argmax())
    for j in range(data.n_models):
        if j != best:
            spread = 0.6 * np.log(scores[:, j]).std()
            scores[:, j] *= np.exp(rng.normal(0.0, spread, scores[:, j].shape))
    scores = (scores / scores.sum(axis=2, keepdims=True)) ** 0.5
    return data.replace(scores=scores / scores.sum(axis=2, keepdims=True))


def balance_labels(rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
    """Labels that hold every class equally often, if they can."""
    turn = np.zeros(rows.n_rows)
    for k in range(rows.n_classes):
        of_class = rows.labels == k
        turn[of_class] = np.arange(of_class.sum())
    chosen = np.argsort(turn, kind="stable")[:n_labeled]
    labels = np.full(rows.n_rows, UNLABELED)
    labels[chosen] = rows.labels[chosen]
    return rows.replace(labels=labels)


def keep(data: ScoreSet, rng: np.random.Generator) -> ScoreSet:
    return data


@dataclass(frozen=True)
class Stress:
    """How the data are changed, how many unlabeled rows there are, which rows are labeled."""

    change: Change = keep
    n_unlabeled: int = 1000
    label: Callable[[ScoreSet, int, int], ScoreSet] = Scene().label


STRESSES = {
    "as they are": Stress(),
    "one classifier": Stress(keep_few(1)),
    "two classifiers": Stress(keep_few(2)),
    "three classifiers": Stress(keep_few(3)),
    "sharpened p^2.5": Stress(rescore(lambda scores, rng: scores**2.5)),
    "flattened p^0.4": Stress(rescore(lambda scores, rng: scores**0.4)),
    "class prior shifted": Stress(rescore(shift_last_class)),
    "one classifier inverted": Stress(rescore(invert_first)),
    "five near-copies": Stress(rescore(repeat_first)),
    "judges, scores 0 or 1": Stress(rescore(round_to_answers)),
    "20% of scores missing": Stress(remove_scores),
    "labels balanced over classes": Stress(label=balance_labels),
    "one dominates, all flattened": Stress(make_dominant),
    "three and a random one": Stress(add_noise),
    "50 unlabeled rows": Stress(n_unlabeled=50),
    "200 unlabeled rows": Stress(n_unlabeled=200),
    "3,000 unlabeled rows": Stress(n_unlabeled=3000),
}


UNSEEN = {
    **{name: Stress(rescore(alter)) for name, alter in unseen.RESCORED.items()},
    **{name: Stress(change) for name, change in unseen.CHANGED.items()},
    **{name: Stress(label=label) for name, label in unseen.PICKED.items()},
}

EVERY_WORLD = {**WORLDS, **unseen.UNSEEN_WORLDS, **SIMULATED}


@dataclass(frozen=True)
class StressScene(Scene):
    """The stress of that name: data altered with random numbers of their own in every run."""

    def change(self, data: ScoreSet, run: int) -> ScoreSet:
        if self.name in EVERY_WORLD:
            return make_world(self.name, run)
        rng = np.random.default_rng([run, len(self.name)])
        return find_stress(self.name).change(data, rng)

    def label(self, rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
        return find_stress(self.name).label(rows, n_labeled, run)


def find_stress(name: str) -> Stress:
    """The stress of a name; a simulated world is stress enough."""
    return STRESSES.get(name) or UNSEEN.get(name) or Stress()


def make_world(name: str, run: int) -> ScoreSet:
    return EVERY_WORLD[name](np.random.default_rng([run, 77]))


def load_world(name: str) -> ScoreSet:
    """A simulated world as it is in the first run; `StressScene` makes that of each."""
    return make_world(name, 0)


def plan(stresses: list[str], labels: list[int], runs: range, made_runs: range) -> list[Study]:
    """Every stress on every development set, every simulated world on itself."""
    studies = []
    for name in stresses:
        made = name in EVERY_WORLD
        studies.append(
            plan_study(
                {name: {}},
                [name] if made else list(SETS),
                labels,
                made_runs if made else runs,
                n_unlabeled=find_stress(name).n_unlabeled,
                scene=StressScene(name),
                load=load_world if made else Loader(),
            )
        )
    return studies
