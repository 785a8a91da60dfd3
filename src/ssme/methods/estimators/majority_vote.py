"""Majority vote weighted by labeled accuracy.

    P(y = k | s) = sum_j a_j v_jk / sum_j a_j

where v_jk is classifier j's vote for class k and a_j its accuracy on the labeled rows. Without any
labels, or where every a_j is zero, all classifiers weigh the same.

Source: Shanmugam et al., "Evaluating multiple models using labeled and unlabeled data",
NeurIPS 2025, app. B.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import MethodSpec, NamedNumbers
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.methods.parts.draws import LabelDraws
from ssme.methods.parts.votes import cast_votes
from ssme.metrics.base import FloatArray
from ssme.options import Flag, option

__all__ = ["MajorityVote", "measure_labeled_accuracy", "weigh_votes"]


@dataclass(frozen=True)
class MajorityVote(LabelDraws):
    """Accuracy-weighted average of discrete predictions.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.MajorityVote(hard=True)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'majority_vote'
    """

    hard: bool = option(
        False,
        "Whether the class with the largest share of the vote is the label, instead of a label "
        "drawn from the shares. Classes with equal shares are equally likely.",
        Flag(),
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="majority_vote",
        title="Vote of the classifiers, weighted by labeled accuracy",
        source="Shanmugam et al. 2025, app. B.2",
        does=(
            "It lets the classifiers vote on the class of every unlabeled row. Each vote is "
            "weighted by the classifier's accuracy on the labeled rows, and the share of the "
            "votes is the probability of a class."
        ),
        assumes=(
            "It assumes that the classifiers err independently and that the majority is mostly "
            "right."
        ),
        fails=(
            "It is unreliable where classifiers make the same errors, and it ignores how "
            "confident they are."
        ),
        needs_labels=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        votes = cast_votes(data.scores)
        accuracy = measure_labeled_accuracy(votes, data)
        share = weigh_votes(votes, accuracy)
        if self.hard:
            top = share == share.max(axis=1, keepdims=True)
            share = top / top.sum(axis=1, keepdims=True)
        posterior = clamp(share, data.labels)
        weights = dict(zip(data.models, accuracy.tolist(), strict=True))
        facts = NamedNumbers("vote_weights", weights)
        return LabelPosterior(data, posterior, *self.set_draws(rng), facts)


def measure_labeled_accuracy(votes: FloatArray, data: ScoreSet) -> FloatArray:
    """Accuracy (M,) of ``votes`` (n, M, K) on the labeled rows; all ones if it says nothing."""
    labeled = np.flatnonzero(data.labeled)
    cast = votes[labeled].sum(axis=(0, 2))
    right = votes[labeled, :, data.labels[labeled]].sum(axis=0)
    accuracy: FloatArray = right / np.maximum(cast, 1.0)
    return accuracy if accuracy.any() else np.ones_like(accuracy)


def weigh_votes(votes: FloatArray, weights: FloatArray) -> FloatArray:
    """Share (n, K) of the weight ``weights`` (M,) that votes for each class."""
    total = np.einsum("nmk,m->nk", votes, weights)
    cast = total.sum(axis=1, keepdims=True)
    unweighted = votes.sum(axis=1)
    share: FloatArray = np.where(
        cast > 0,
        total / np.where(cast > 0, cast, 1.0),
        unweighted / np.maximum(unweighted.sum(axis=1, keepdims=True), 1.0),
    )
    return share
