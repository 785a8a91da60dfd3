"""Judges made of classifiers, and real ones: what a method sees of a set in each kind of cell.

A `Kind` makes answers or grades of the scores of a development set, and may choose the labels by
class or by score; rows and truth are those of the protocol. `AllRows` is for the sets of real
judges, which are small: all their rows are seen, and the truth is that of all rows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.auto.priors import SETS
from benchmarks.experiment import load
from benchmarks.studies import Scene
from ssme.arrays import FloatArray, IntArray
from ssme.bench.protocol import Split
from ssme.data.design import as_design
from ssme.data.judges import Judge
from ssme.data.scoreset import UNLABELED, ScoreSet

JUDGED = ("judgebench", "crowd_bluebird", "crowd_dog", "crowd_face")
"""The sets of real judges, in the folder ``answers`` of SSME_DATA."""
NOT_BINARY = ("agnews", "cifar10", "dry_bean", "mmlupro_llm_logit", "multinli")
BINARY = tuple(name for name in SETS if name not in NOT_BINARY)
GRADES = (1, 2, 3, 4, 5)
CUT = 3
LENIENT = (0.02, 0.1, 0.3, 0.6)
"""Scores from which on a lenient rater gives the second grade, the third, ..."""
DESIGNS = {
    "labels by class": None,
    "labels by class, said": "by_class",
    "labels by score, said": "by_score",
}
"""What a method is told of how the labels were chosen."""


@dataclass(frozen=True)
class Kind(Scene):
    """The kind of cell of that name: "answers", "fixed grades", "labels by class", ..."""

    def change(self, data: ScoreSet, run: int) -> ScoreSet:
        if self.name == "scores":
            return data
        if self.name.endswith("grades"):
            return _give_grades(data, _find_grades(data.scores[:, :, 1], self.name))
        every = 2 if self.name == "mixed" else 1
        scores, judged = data.scores.copy(), data.models[::every]
        hard = data.scores.argmax(axis=2)[:, :, None] == np.arange(data.n_classes)
        scores[:, ::every] = hard[:, ::every]
        judge = Judge("answers", data.classes)
        return data.replace(scores=scores, judges=dict.fromkeys(judged, judge))

    def label(self, rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
        if self.name not in DESIGNS:
            return super().label(rows, n_labeled, run)
        rng = np.random.default_rng([run, n_labeled])
        order = rng.permutation(rows.n_rows)
        if self.name == "labels by score, said":
            votes = rows.scores.sum(axis=1).max(axis=1)
            unlike = order[np.argsort(votes[order], kind="stable")]
            chosen = rng.permutation(unlike[: rows.n_rows // 3])[:n_labeled]
        else:
            each = max(1, n_labeled // rows.n_classes)
            by_class = [order[rows.labels[order] == k][:each] for k in range(rows.n_classes)]
            chosen = np.concatenate(by_class)
        seen = _keep_labels(rows, chosen)
        return seen.replace(design=as_design(DESIGNS[self.name], seen.labels))


@dataclass(frozen=True)
class AllRows(Scene):
    """The set of real judges of that name: labels at random, the truth on all rows."""

    def split(self, labels: IntArray, /, *size: int, seed: int, dataset: str) -> Split:
        every = np.arange(len(labels))
        return Split(every[:0], every, every)

    def label(self, rows: ScoreSet, n_labeled: int, run: int) -> ScoreSet:
        order = np.random.default_rng([run, len(self.name)]).permutation(rows.n_rows)
        return _keep_labels(rows, order[:n_labeled])


def find_scene(kind: str, name: str) -> Scene:
    """That of a kind of cell on a set."""
    return AllRows(name) if name in JUDGED else Kind(kind)


def load_set(name: str) -> ScoreSet:
    """A development set, or one of real judges."""
    return _load_judged(name) if name in JUDGED else load(name)


def _keep_labels(rows: ScoreSet, chosen: IntArray) -> ScoreSet:
    labels = np.full(rows.n_rows, UNLABELED)
    labels[chosen] = rows.labels[chosen]
    return rows.replace(labels=labels)


def _find_grades(positive: FloatArray, kind: str) -> IntArray:
    """Grades (n, M) from 0 of scores (n, M)."""
    if kind == "lenient grades":
        return np.searchsorted(LENIENT, positive, side="right")
    if kind == "quintile grades":
        order = positive.argsort(axis=0, kind="stable").argsort(axis=0)
        return order * len(GRADES) // len(positive)
    return np.minimum((positive * len(GRADES)).astype(int), len(GRADES) - 1)


def _give_grades(data: ScoreSet, grade: IntArray) -> ScoreSet:
    """``data`` of two classes with grades in the place of scores."""
    rater = Judge("ratings", GRADES, GRADES[CUT])
    scores = np.stack([rater.compute_scores(column) for column in grade.T], axis=1)
    return data.replace(scores=scores, judges=dict.fromkeys(data.models, rater))


def _load_judged(name: str) -> ScoreSet:
    file = Path(os.environ["SSME_DATA"]) / "answers" / f"{name}.npz"
    with np.load(file, allow_pickle=False) as arrays:
        said, truth = arrays["answers"].astype(object), arrays["y"].tolist()
        models = [str(model) for model in arrays["model_names"]]
    said[said == -1] = None
    kept = (said != None).any(axis=1)  # noqa: E711
    labels = [label for label, there in zip(truth, kept, strict=True) if there]
    return ScoreSet.from_answers(said[kept], labels, models=models)
