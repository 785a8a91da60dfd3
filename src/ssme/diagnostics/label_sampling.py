"""Can the labels judge? Doubts that hold something against the labels presume a random sample.

Labels chosen by class, or only on easy rows, contradict sound classifiers and sound estimates. The
check of the rows (D104) sees that without the labels' values; where it raises a doubt, or where all
labels are of one class, what the labels contradict is told as a doubt about the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.doubt import Answer, Outcome

__all__ = ["UNLIKE_ROWS", "weigh_labels"]

UNLIKE_ROWS = "D104"
"""The check whether labeled rows look like the unlabeled ones."""

NOT_RANDOM = (
    f"The labels are not a random sample of the rows (see {UNLIKE_ROWS}), so labels alone cannot "
    "judge, and this may be their doing: find out how rows were chosen for labeling, then label "
    "a random sample or give weights that undo the choice."
)
ONE_CLASS = (
    "All labels are of one class, and such labels cannot judge: label rows drawn at random until "
    "they hold another class."
)


def weigh_labels(outcomes: Sequence[Outcome], data: ScoreSet) -> tuple[Outcome, ...]:
    """The outcomes with advice that does not trust labels that are no random sample.

    Where the design says that they are none, such doubts do not apply. Labels that came before
    the rounds of a design are taken for a random sample, and checks that can are asked of these.
    """
    if data.design.kind not in (None, "random"):
        reason = f"rows were chosen for labeling by design ({data.design.kind})"
        outcomes = [
            replace(o, answer=Answer.not_applicable(reason))
            if (o.check.by_labels or o.check.code == UNLIKE_ROWS)
            and (data.design.rounds is None or not o.check.before_rounds)
            else o
            for o in outcomes
        ]
    faults = []
    if any(o.check.code == UNLIKE_ROWS and o.doubt for o in outcomes):
        faults.append(NOT_RANDOM)
    if np.unique(data.labels[data.labeled]).size == 1:
        faults.append(ONE_CLASS)
    if not faults or not any(o.check.by_labels and o.doubt for o in outcomes):
        return tuple(outcomes)
    return tuple(_reread(outcome, " ".join(faults)) for outcome in outcomes)


def _reread(outcome: Outcome, advice: str) -> Outcome:
    if outcome.doubt is None:
        return outcome
    if outcome.check.by_labels:
        return replace(outcome, answer=replace(outcome.answer, advice=advice))
    if outcome.check.code == UNLIKE_ROWS:
        return replace(outcome, answer=replace(outcome.answer, severity="serious"))
    return outcome
