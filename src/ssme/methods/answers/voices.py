"""What each model says about a row, in one currency: evidence for every class.

    answer a         e_k = [k = a]
    grade g, graded truth        e_k = max(0, 1 - |k - g| / 2)
    grade g, two classes         e_1 - e_0 = (logit r(g) - middle) / contrast
    probabilities q              e_k = (log q_k - mean_l log q_l) / mean contrast

where r(g) is how often the other models say "positive" on rows with grade g, made monotone: the
judges tell each other what a grade means, and any monotone use of the scale gives the same
evidence. A rater alone is taken by the rank of its grades. Probabilities and ratings are scaled so
that on average they speak as loudly as an answer: how far each can be trusted is learned elsewhere,
alike for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.constants import AnswerConstants
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import DEFAULT_THRESHOLD

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


def _make_rating_voice(positive: FloatArray, others: FloatArray, of: AnswerConstants) -> Voice:
    """The voice of a rater whose grades stand as P(positive) (n,).

    ``others`` (n,) is the share of the other models that say "positive", NaN where none speaks.
    """
    both = ~np.isnan(positive) & ~np.isnan(others)
    steps, place = np.unique(positive[~np.isnan(positive)], return_inverse=True)
    counts = np.bincount(place, minlength=steps.size).astype(np.float64)
    if both.any() and 0.0 < others[both].mean() < 1.0:
        at = np.searchsorted(steps, positive[both])
        told = np.bincount(at, others[both], steps.size) + of.smoothing * others[both].mean()
        rate = told / (np.bincount(at, minlength=steps.size) + of.smoothing)
    else:
        rate = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    rate = np.clip(np.maximum.accumulate(rate), of.least_rate, 1.0 - of.least_rate)
    evidence = np.log(rate) - np.log1p(-rate)
    above = steps >= DEFAULT_THRESHOLD
    if above.any() and not above.all():
        sides = [np.average(evidence[side], weights=counts[side]) for side in (above, ~above)]
        loud, middle = float(sides[0] - sides[1]), float(sides[0] + sides[1]) / 2.0
    else:
        loud, middle = 0.0, float(np.average(evidence, weights=counts))
    evidence = evidence - middle
    return Voice("ratings", steps, evidence / loud if loud > 0.0 else np.zeros_like(evidence))


def _make_probability_voice(scores: FloatArray, clip: float) -> Voice:
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
    def of(cls, data: ScoreSet, constants: AnswerConstants) -> Voices:
        """How the models of ``data`` speak."""
        each, votes = [], cls.votes(data.scores)
        for m, name in enumerate(data.models):
            judge, scores = data.judges.get(name), data.scores[:, m]
            if judge is None and not _is_hard(scores):
                each.append(_make_probability_voice(scores, constants.clip))
            elif judge is None or judge.kind == "answers":
                each.append(Voice("answers"))
            elif judge.cut is None:
                each.append(Voice("grades"))
            else:
                said = votes.sum(axis=1) - votes[:, m]
                with np.errstate(invalid="ignore"):
                    each.append(
                        _make_rating_voice(scores[:, 1], said[:, 1] / said.sum(axis=1), constants)
                    )
        return cls(tuple(each), constants.clip)

    def evidence(self, scores: FloatArray) -> FloatArray:
        """e (n, M, K) of scores (n, M, K), zero where a model has none."""
        parts = [voice.speak(scores[:, m], self.clip) for m, voice in enumerate(self.each)]
        return np.stack(parts, axis=1)

    @property
    def rated(self) -> float:
        """Share of the models that give ratings for two classes."""
        return float(np.mean([voice.kind == "ratings" for voice in self.each]))

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
