"""Majority vote once more: rules by which labels calibrate seven votes, or set where they are cut.

With votes v_ij of 0 or 1, a_j the accuracy of classifier j on the labeled rows and pi the share of
positive labels, the share of votes of row i is

    s_i = sum_j a_j v_ij / sum_j a_j,

the paper's "accuracy-weighted average of discrete predictions". A rule makes P(y_i = 1) of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from benchmarks.accuracy.causes import NAME, find_error, summarize_errors
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, experiment, run_cells, save
from benchmarks.studies import Protocol, Runner, Study
from ssme.arrays import FloatArray
from ssme.bench.runner import Truth
from ssme.data.scoreset import ScoreSet
from ssme.methods.votes import cast_votes
from ssme.metrics import default_metrics
from ssme.results.evaluation import Evaluation


@dataclass(frozen=True)
class Ballot:
    """The votes on the rows of one run, and what its labels say of them."""

    data: ScoreSet

    @cached_property
    def votes(self) -> FloatArray:
        return cast_votes(self.data.scores)[:, :, 1]

    @property
    def seen(self) -> NDArray[np.bool_]:
        return self.data.labeled

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        return self.data.labels[self.seen]

    @cached_property
    def accuracy(self) -> FloatArray:
        right = self.votes[self.seen] == self.labels[:, None]
        return right.mean(axis=0)  # type: ignore[no-any-return]

    @cached_property
    def share(self) -> FloatArray:
        return self.votes @ self.accuracy / self.accuracy.sum()  # type: ignore[no-any-return]

    @property
    def positive(self) -> float:
        return float(self.labels.mean())


Rule = Callable[[Ballot], NDArray[Any]]
"""P(y = 1) of every row, or whether it is positive."""


def cut_at_positive_share(ballot: Ballot, *, ties: bool) -> NDArray[np.bool_]:
    """The share pi of the rows with most votes; rows that tie at the cut are in or out together."""
    cut = np.quantile(ballot.share, 1.0 - ballot.positive)
    if ties:
        return ballot.share >= max(cut, 1e-9)
    return ballot.share > cut


def cut_as_labels_say(ballot: Ballot, score: Callable[..., float]) -> NDArray[np.bool_]:
    """The lowest cut of the share at which the labeled rows have the largest ``score``."""
    cuts = np.unique(np.append(ballot.share, -1.0))
    found = [score(ballot.share[ballot.seen] > cut, ballot.labels) for cut in cuts]
    return ballot.share > cuts[int(np.argmax(found))]


def score_accuracy(guessed: NDArray[np.bool_], labels: NDArray[np.int64]) -> float:
    return float((guessed == labels).mean())


def score_f1(guessed: NDArray[np.bool_], labels: NDArray[np.int64]) -> float:
    return float(2 * (guessed & (labels == 1)).sum() / max(1, guessed.sum() + labels.sum()))


def regress(ballot: Ballot, **options: Any) -> FloatArray:
    """Logistic regression of the label on the share of votes."""
    fit = LogisticRegression(**options).fit(ballot.share[ballot.seen][:, None], ballot.labels)
    return fit.predict_proba(ballot.share[:, None])[:, 1]  # type: ignore[no-any-return]


def apply_bayes(ballot: Ballot, added: float) -> FloatArray:
    """Classifiers independent given the class, their rates counted on the labels plus ``added``."""
    log_odds = np.zeros(len(ballot.votes))
    with np.errstate(all="ignore"):
        for sign, label in ((1.0, 1), (-1.0, 0)):
            of = ballot.votes[ballot.seen][ballot.labels == label]
            rate = (of.sum(axis=0) + added) / (len(of) + 2.0 * added)
            prior = (len(of) + added) / (len(ballot.labels) + 2.0 * added)
            likelihood = np.where(ballot.votes > 0, np.log(rate), np.log1p(-rate))
            log_odds += sign * (np.log(prior) + likelihood.sum(axis=1))
        return np.nan_to_num(1.0 / (1.0 + np.exp(-log_odds)), nan=0.0)  # type: ignore[no-any-return]


def average_precisions(ballot: Ballot) -> FloatArray:
    """Mean over classifiers of how often their vote on this row was right on labeled rows."""
    votes, y = ballot.votes[ballot.seen], ballot.labels[:, None]
    chance = []
    for value in (0.0, 1.0):
        cast = votes == value
        right = (cast & (y == 1)).sum(axis=0) / np.maximum(1, cast.sum(axis=0))
        chance.append(np.where(cast.any(axis=0), right, value))
    return np.where(ballot.votes > 0, chance[1], chance[0]).mean(axis=1)  # type: ignore[no-any-return]


def cast_by_positive_share(ballot: Ballot) -> NDArray[np.bool_]:
    """Votes of scores above pi instead of 1/2, weighted by their own accuracy."""
    votes = ballot.data.scores[:, :, 1] > ballot.positive
    accuracy = (votes[ballot.seen] == ballot.labels[:, None]).mean(axis=0)
    return votes @ accuracy / accuracy.sum() > 0.5  # type: ignore[no-any-return]


def ask_best(ballot: Ballot) -> FloatArray:
    """The mean vote of the most accurate classifiers."""
    best = ballot.accuracy == ballot.accuracy.max()
    return ballot.votes[:, best].mean(axis=1)  # type: ignore[no-any-return]


RULES: dict[str, Rule] = {
    "ties: most accurate classifiers, more than half": lambda b: ask_best(b) > 0.5,
    "ties: most accurate classifiers, half or more": lambda b: ask_best(b) >= 0.5,
    "threshold: votes of scores above the positive share": cast_by_positive_share,
    "threshold: largest accuracy on labels": lambda b: cut_as_labels_say(b, score_accuracy),
    "threshold: largest F1 on labels": lambda b: cut_as_labels_say(b, score_f1),
    "threshold: positive share of labels": lambda b: cut_at_positive_share(b, ties=False),
    "threshold: positive share of labels, ties in": lambda b: cut_at_positive_share(b, ties=True),
    "calibrated: logistic regression, P": regress,
    "calibrated: logistic regression, hard": lambda b: regress(b) > 0.5,
    "calibrated: logistic regression, balanced": (
        lambda b: regress(b, class_weight="balanced") > 0.5
    ),
    "calibrated: naive Bayes, P": lambda b: apply_bayes(b, 1.0),
    "calibrated: naive Bayes, hard": lambda b: apply_bayes(b, 1.0) > 0.5,
    "calibrated: naive Bayes without counts added": lambda b: apply_bayes(b, 0.0) > 0.5,
    "calibrated: mean precision of votes, P": average_precisions,
    "calibrated: mean precision of votes, hard": lambda b: average_precisions(b) > 0.5,
}


@experiment(runs=50)
def vote_rules(setup: Setup) -> None:
    """Majority vote on CivilComments once more: ties, thresholds and calibrated votes.

    Mean absolute errors with the half-width of their 95% interval and the standard deviation over
    runs, of rules that look at the labels; those that do not are in ``rivals_causes``. Labeled rows
    keep their label.
    """
    methods: dict[str, Any] = {"votes": ("labeled", {"joint_draws": False})}
    protocol = Protocol(methods, default_metrics(2), (20, 50, 100), (1000,), setup.runs)
    studies = [Study(Runner(protocol, load_dataset, measure=measure_rules), (NAME,))]
    rows, times = run_cells(studies, setup.name, setup.executor)
    setup.times.append(times)
    keys = ["rule", "n_labeled", "metric"]
    result = summarize_errors(rows, keys)
    spread = rows.groupby(keys, sort=False)["error"].std().rename("sd").reset_index()
    save(pd.DataFrame(result.merge(spread, on=keys)), setup)


def measure_rules(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: the errors of every rule, beside those of the paper's text."""
    data, rows, ballot = result.data, [], Ballot(result.data)
    for name, rule in RULES.items():
        chance = np.where(data.labeled, data.labels, np.asarray(rule(ballot), dtype=np.float64))
        mass = np.column_stack([1.0 - chance, chance])[None]
        for metric in result.metrics:
            error = find_error(metric.name, data.models, metric(data.scores, mass)[0], truth)
            rows.append({"metric": metric.name, "error": error, "rule": name})
    return rows
