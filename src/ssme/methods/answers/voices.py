"""What each model says about a row, in one currency: evidence for every class.

    answer a         e_k = [k = a]
    grade g, graded truth        e_k = max(0, 1 - |k - g| / 2)
    grade g, two classes         e_1 - e_0 = logit(r(g)) / mean |logit r|
    probabilities q              e_k = (log q_k - mean_l log q_l) / mean contrast

where r(g) is the mid-rank of grade g among the judge's own grades: any monotone use of the scale
gives the same evidence. Probabilities and ratings are scaled so that on average they speak as
loudly as an answer: how far each can be trusted is learned elsewhere, alike for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes

__all__ = ["Voice", "Voices"]


@dataclass(frozen=True, eq=False)
class Voice:
    """How one model's scores become evidence.

    ``kind`` is "answers", "grades" (the truth is a grade too), "ratings" or "probabilities";
    ``steps`` and ``evidence`` are the scores that stand for grades and what each says for the
    positive class; ``scale`` divides the evidence of probabilities.
    """

    kind: str
    steps: FloatArray | None = None
    evidence: FloatArray | None = None
    scale: float = 1.0

    def speak(self, scores: FloatArray, clip: float) -> FloatArray:
        """Evidence (n, K) of scores (n, K); zero where there is no score."""
        present = ~np.isnan(scores[:, 0])
        filled = np.where(present[:, None], scores, 1.0 / scores.shape[1])
        if self.kind == "answers":
            out = filled
        elif self.kind == "grades":
            said = filled.argmax(axis=1)
            out = np.maximum(0.0, 1.0 - np.abs(np.arange(scores.shape[1]) - said[:, None]) / 2.0)
        elif self.kind == "ratings":
            assert self.steps is not None
            assert self.evidence is not None
            place = np.abs(filled[:, 1, None] - self.steps).argmin(axis=1)
            half = self.evidence[place] / 2.0
            out = np.stack([-half, half], axis=1)
        else:
            log_q = np.log(np.maximum(filled, clip))
            out = (log_q - log_q.mean(axis=1, keepdims=True)) / self.scale
        return np.where(present[:, None], out, 0.0)


def _rating_voice(positive: FloatArray) -> Voice:
    """The voice of a rater whose grades stand as P(positive) (n,)."""
    steps, counts = np.unique(positive[~np.isnan(positive)], return_counts=True)
    rank = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    evidence = np.log(rank) - np.log1p(-rank)
    loud = float((np.abs(evidence) * counts).sum() / counts.sum())
    return Voice("ratings", steps, evidence / loud if loud > 0.0 else evidence)


def _probability_voice(scores: FloatArray, clip: float) -> Voice:
    """The voice of a model that gives probabilities (n, K)."""
    log_q = np.log(np.maximum(scores[~np.isnan(scores[:, 0])], clip))
    n_classes = scores.shape[1]
    contrast = (log_q.max(axis=1) - log_q.mean(axis=1)) * n_classes / (n_classes - 1)
    loud = float(contrast.mean())
    return Voice("probabilities", scale=loud if loud > 0.0 else 1.0)


@dataclass(frozen=True, eq=False)
class Voices:
    """The voices of all models of a set."""

    each: tuple[Voice, ...]
    clip: float

    @classmethod
    def of(cls, data: ScoreSet, clip: float) -> Voices:
        """How the models of ``data`` speak."""
        each = []
        for m, name in enumerate(data.models):
            judge, scores = data.judges.get(name), data.scores[:, m]
            if judge is None and not _is_hard(scores):
                each.append(_probability_voice(scores, clip))
            elif judge is None or judge.kind == "answers":
                each.append(Voice("answers"))
            elif judge.cut is None:
                each.append(Voice("grades"))
            else:
                each.append(_rating_voice(scores[:, 1]))
        return cls(tuple(each), clip)

    def evidence(self, scores: FloatArray) -> FloatArray:
        """e (n, M, K) of scores (n, M, K), zero where a model has none."""
        parts = [voice.speak(scores[:, m], self.clip) for m, voice in enumerate(self.each)]
        return np.stack(parts, axis=1)

    @staticmethod
    def votes(scores: FloatArray) -> FloatArray:
        """The decision of every model (n, M, K), one-hot; zero where it has no score."""
        decided = predicted_classes(scores)[:, :, None] == np.arange(scores.shape[2])
        out: FloatArray = decided.astype(np.float64)
        return out


def _is_hard(scores: FloatArray) -> bool:
    """Whether scores are 0 and 1 only, so that they can be nothing but answers."""
    known = scores[~np.isnan(scores[:, 0])]
    return bool(((known == 0.0) | (known == 1.0)).all())
