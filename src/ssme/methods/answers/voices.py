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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betainc

from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.parts.draws import log_odds
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import DEFAULT_THRESHOLD

# -------------------------------------------------------------------------------------------------
# What raters' scales say by themselves, before others are asked what a grade means.
#
# G grades are G equal parts of the way from "surely negative" to "surely positive". How often
# each is given tells where within its part a grade stands, and how frequent positives are: for
# each rater
#
#     p ~ Beta(mean s, (1 - mean) s),     counts ~ multinomial( P(g/G < p < (g + 1)/G) )
#
# with weak priors on logit(mean) and log(s), on a grid. Raters see the same rows, so that the
# center of the prior of logit(mean) is, in a second round, the median of the raters'; a rater who
# gives the lowest grade to all rows then means "as seldom as the others say". The share of
# positives that the scales state is the mean over raters on the logit scale.
#
# A rater who gives all grades equally often grades on a curve, and states no share:
#
#     curve = exp( -KL(counts, equal) / width ).


def estimate_stated_share(counts: Sequence[FloatArray], of: AnswerConstants) -> float:
    """The share of positives by raters who gave each grade so often (G,), lowest first."""
    likelihoods = [_log_likelihood(each, of) for each in counts]
    broad = [_compute_mean(each, 0.0, of.scale_mean, of) for each in likelihoods]
    center = float(np.median(broad))
    near = [_compute_mean(each, center, of.scale_borrowed, of) for each in likelihoods]
    return float(1.0 / (1.0 + np.exp(-np.mean(near))))


def measure_curve(counts: FloatArray, width: float) -> float:
    """How far a rater grades on a curve: one where all grades (G,) are given equally often."""
    share = counts / counts.sum()
    used = share > 0.0
    excess = float((share[used] * np.log(share[used] * share.size)).sum())
    return float(np.exp(-excess / width))


def _make_grid(of: AnswerConstants) -> tuple[FloatArray, FloatArray]:
    """logit(mean) and log(s) of the grid."""
    ends = of.scale_ends
    return np.linspace(-ends, ends, of.scale_steps), np.linspace(-1.5, 4.0, of.scale_steps)


def _log_likelihood(counts: FloatArray, of: AnswerConstants) -> FloatArray:
    """Log-likelihood of the grades on the grid (mean, s), as if of ``scale_rows`` rows."""
    logits, sizes = _make_grid(of)
    mean, size = 1.0 / (1.0 + np.exp(-logits))[:, None, None], np.exp(sizes)[None, :, None]
    edges = np.arange(counts.size + 1) / counts.size
    mass = np.diff(betainc(mean * size, (1.0 - mean) * size, edges), axis=-1)
    rows = min(of.scale_rows, float(counts.sum()))
    out: FloatArray = rows * (np.log(np.maximum(mass, 1e-12)) @ (counts / counts.sum()))
    return out


def _compute_mean(
    likelihood: FloatArray, center: float, spread: float, of: AnswerConstants
) -> float:
    """Posterior mean of logit(mean)."""
    logits, sizes = _make_grid(of)
    log_posterior = likelihood - 0.5 * ((logits[:, None] - center) / spread) ** 2
    log_posterior = log_posterior - 0.5 * (sizes - of.scale_size) ** 2
    weights = np.exp(log_posterior - log_posterior.max())
    return float((weights.sum(axis=1) @ logits) / weights.sum())


@dataclass(frozen=True, eq=False)
class Voice:
    """How one model's scores become evidence.

    ``kind`` is "answers", "grades" (the truth is a grade too), "ratings" or "probabilities";
    ``steps`` and ``evidence`` are the scores that stand for grades and what each says for the
    positive class, ``cut`` the score from which a rater is taken to say "positive" where judges are
    compared; ``scale`` divides the evidence of probabilities.
    """

    kind: str
    steps: FloatArray | None = None
    evidence: FloatArray | None = None
    scale: float = 1.0
    cut: float = DEFAULT_THRESHOLD

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


def _make_rating_voice(
    positive: FloatArray, others: FloatArray, cut: float, of: AnswerConstants
) -> Voice:
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
    above = steps >= cut
    if above.any() and not above.all():
        sides = [np.average(evidence[side], weights=counts[side]) for side in (above, ~above)]
        loud, middle = float(sides[0] - sides[1]), float(sides[0] + sides[1]) / 2.0
    else:
        loud, middle = 0.0, float(np.average(evidence, weights=counts))
    evidence = evidence - middle
    spoken = evidence / loud if loud > 0.0 else np.zeros_like(evidence)
    return Voice("ratings", steps, spoken, cut=cut)


def _cut_at(positive: FloatArray, share: float) -> float:
    """The score from which about ``share`` of the rows lie, a part of them on either side."""
    steps, counts = np.unique(positive[~np.isnan(positive)], return_counts=True)
    if steps.size < 2:
        return DEFAULT_THRESHOLD
    above = counts[::-1].cumsum()[::-1][1:] / counts.sum()
    place = int(np.argmin(np.abs(log_odds(above, 1e-4) - log_odds(np.asarray(share), 1e-4))))
    return float(steps[place] + steps[place + 1]) / 2.0


def _make_probability_voice(scores: FloatArray, clip: float) -> Voice:
    """The voice of a model that gives probabilities (n, K)."""
    log_q = np.log(np.maximum(scores[~np.isnan(scores[:, 0])], clip))
    n_classes = scores.shape[1]
    contrast = (log_q.max(axis=1) - log_q.mean(axis=1)) * n_classes / (n_classes - 1)
    loud = float(contrast.mean())
    return Voice("probabilities", scale=loud if loud > 0.0 else 1.0)


@dataclass(frozen=True, eq=False)
class Voices:
    """The voices of all models of a set.

    ``shares`` (K,) are the class shares that raters' scales state, None where there are no raters;
    ``curve`` how far they grade on a curve.
    """

    each: tuple[Voice, ...]
    clip: float
    shares: FloatArray | None = None
    curve: float = 0.0

    @classmethod
    def of(cls, data: ScoreSet, constants: AnswerConstants) -> Voices:
        """How the models of ``data`` speak."""
        kinds = tuple(_find_kind(data, m) for m in range(data.n_models))
        raters = [m for m, kind in enumerate(kinds) if kind == "ratings"]
        bare = cls(tuple(Voice(kind) for kind in kinds), constants.clip)
        shares, curve = None, 0.0
        if raters:
            shares, curve = _estimate_stated_shares(data, bare, raters, constants)
            cuts = {m: _cut_at(data.scores[:, m, 1], float(shares[1])) for m in raters}
            bare = cls(
                tuple(replace(v, cut=cuts.get(m, v.cut)) for m, v in enumerate(bare.each)),
                constants.clip,
            )
        votes = bare.cast_votes(data.scores) if raters else None
        each = []
        for m, voice in enumerate(bare.each):
            if voice.kind == "probabilities":
                voice = _make_probability_voice(data.scores[:, m], constants.clip)
            elif votes is not None and voice.kind == "ratings":
                said = votes.sum(axis=1) - votes[:, m]
                with np.errstate(invalid="ignore"):
                    others = said[:, 1] / said.sum(axis=1)
                voice = _make_rating_voice(data.scores[:, m, 1], others, voice.cut, constants)
            each.append(voice)
        return cls(tuple(each), constants.clip, shares, curve)

    def compute_evidence(self, scores: FloatArray) -> FloatArray:
        """e (n, M, K) of scores (n, M, K), zero where a model has none."""
        parts = [voice.speak(scores[:, m], self.clip) for m, voice in enumerate(self.each)]
        return np.stack(parts, axis=1)

    @property
    def rated(self) -> float:
        """Share of the models that give ratings for two classes."""
        return float(np.mean([voice.kind == "ratings" for voice in self.each]))

    def cast_votes(self, scores: FloatArray) -> FloatArray:
        """The decision of every model (n, M, K), one-hot; zero where it has no score."""
        decided = predicted_classes(scores)
        for m, voice in enumerate(self.each):
            if voice.kind == "ratings":
                decided[:, m] = predicted_classes(scores[:, m : m + 1], voice.cut)[:, 0]
        out: FloatArray = (decided[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)
        return out


def _find_kind(data: ScoreSet, m: int) -> str:
    """How model ``m`` speaks."""
    judge = data.judges.get(data.models[m])
    if judge is None:
        return "answers" if _is_hard(data.scores[:, m]) else "probabilities"
    if judge.kind == "answers":
        return "answers"
    return "grades" if judge.cut is None else "ratings"


def _estimate_stated_shares(
    data: ScoreSet, bare: Voices, raters: Sequence[int], of: AnswerConstants
) -> tuple[FloatArray, float]:
    """Class shares (2,) by answers and by the raters' scales, and how far these are curves.

    Labels say how frequent classes are where scales do not, unless they were chosen by class.
    """
    counts = [_count_grades(data, m) for m in raters]
    curve = float(np.mean([measure_curve(each, of.curve_width) for each in counts]))
    stated = estimate_stated_share(counts, of)
    shares = np.array([1.0 - stated, stated])
    others = [m for m in range(data.n_models) if m not in raters]
    if others:
        votes = bare.cast_votes(data.scores)[:, others].sum(axis=(0, 1))
        shares = (len(raters) * shares + len(others) * votes / votes.sum()) / data.n_models
    if data.n_labeled and data.design.kind != "by_class":
        weights = np.ones(data.n_rows) if data.design.weights is None else data.design.weights
        known = data.labeled
        labels = np.bincount(data.labels[known], weights[known], 2) / weights[known].mean()
        told = (labels + of.curve_rows * shares) / (labels.sum() + of.curve_rows)
        shares = (1.0 - curve) * shares + curve * told
    return shares, curve


def _count_grades(data: ScoreSet, m: int) -> FloatArray:
    judge = data.judges[data.models[m]]
    codes = judge.find_codes(data.scores[:, m])
    return np.bincount(codes[codes >= 0], minlength=len(judge.values)).astype(np.float64)


def _is_hard(scores: FloatArray) -> bool:
    """Whether scores are 0 and 1 only, so that they can be nothing but answers."""
    known = scores[~np.isnan(scores[:, 0])]
    return bool(((known == 0.0) | (known == 1.0)).all())
