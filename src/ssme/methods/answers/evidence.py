"""What each model says about a row as evidence for every class, and how all are pooled.

    answer a         e_k = [k = a]
    grade g, graded truth        e_k = max(0, 1 - |k - g| / 2)
    grade g, two classes         e_1 - e_0 = (logit r(g) - middle) / contrast
    probabilities q              e_k = (log q_k - mean_l log q_l) / mean contrast

where r(g) is how often the other models say "positive" on rows with grade g, made monotone, so that
any monotone use of the scale gives the same evidence. A rater alone is taken by the rank of its
grades. Probabilities and ratings are scaled to weigh as much as an answer on average: how far each
can be trusted is learned elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import betainc, softmax

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.draws import log_odds
from ssme.methods.regression import Features
from ssme.methods.votes import measure_disagreement
from ssme.metrics.confusion import predicted_classes
from ssme.metrics.kinds import DEFAULT_THRESHOLD

# -------------------------------------------------------------------------------------------------
# How frequent positives are by the raters' own scales: G grades are G equal parts of the way from
# "surely negative" to "surely positive", and for each rater
#
#     p ~ Beta(mean s, (1 - mean) s),     counts ~ multinomial( P(g/G < p < (g + 1)/G) )
#
# with weak priors on logit(mean) and log(s), on a grid. Raters see the same rows, so in a second
# round the prior of logit(mean) is about the median of the raters'. A rater who gives all grades
# equally often grades on a curve, exp( -KL(counts, equal) / width ), and states no share.


def estimate_stated_share(counts: Sequence[FloatArray], constants: AnswerConstants) -> float:
    """The share of positives by raters who gave each grade so often (G,), lowest first."""
    likelihoods = [_log_likelihood(each, constants) for each in counts]
    broad = [_compute_mean(each, 0.0, constants.scale_mean, constants) for each in likelihoods]
    center, width = float(np.median(broad)), constants.scale_shrinkage
    near = [_compute_mean(each, center, width, constants) for each in likelihoods]
    return float(1.0 / (1.0 + np.exp(-np.mean(near))))


def measure_curve(counts: FloatArray, width: float) -> float:
    """How far a rater grades on a curve: one where all grades (G,) are given equally often."""
    share = counts / counts.sum()
    used = share > 0.0
    excess = float((share[used] * np.log(share[used] * share.size)).sum())
    return float(np.exp(-excess / width))


def _make_grid(constants: AnswerConstants) -> tuple[FloatArray, FloatArray]:
    """logit(mean) and log(s) of the grid."""
    ends, steps = constants.scale_ends, constants.scale_steps
    return np.linspace(-ends, ends, steps), np.linspace(-1.5, 4.0, steps)


def _log_likelihood(counts: FloatArray, constants: AnswerConstants) -> FloatArray:
    """Log-likelihood of the grades on the grid (mean, s), as if of ``scale_rows`` rows."""
    logits, sizes = _make_grid(constants)
    mean, size = 1.0 / (1.0 + np.exp(-logits))[:, None, None], np.exp(sizes)[None, :, None]
    edges = np.arange(counts.size + 1) / counts.size
    mass = np.diff(betainc(mean * size, (1.0 - mean) * size, edges), axis=-1)
    rows = min(constants.scale_rows, float(counts.sum()))
    return rows * (np.log(np.maximum(mass, 1e-12)) @ (counts / counts.sum()))


def _compute_mean(
    likelihood: FloatArray, center: float, spread: float, constants: AnswerConstants
) -> float:
    """Posterior mean of logit(mean)."""
    logits, sizes = _make_grid(constants)
    log_posterior = likelihood - 0.5 * ((logits[:, None] - center) / spread) ** 2
    log_posterior = log_posterior - 0.5 * (sizes - constants.scale_size) ** 2
    weights = np.exp(log_posterior - log_posterior.max())
    return float((weights.sum(axis=1) @ logits) / weights.sum())


@dataclass(frozen=True, eq=False)
class EvidenceEncoder:
    """How one model's scores become evidence.

    ``kind`` is "answers", "grades" (the truth is a grade too), "ratings" or "probabilities".
    ``steps`` are the scores of the grades and ``evidence`` what each says for the positive
    class; from ``cut`` on a rating counts as a positive vote; ``scale`` divides log probabilities.
    """

    kind: str
    steps: FloatArray | None = None
    evidence: FloatArray | None = None
    scale: float = 1.0
    cut: float = DEFAULT_THRESHOLD

    def encode(self, scores: FloatArray, clip: float) -> FloatArray:
        """Evidence (n, K) of scores (n, K); zero where there is no score."""
        present = ~np.isnan(scores[:, 0])
        filled = np.where(present[:, None], scores, 1.0 / scores.shape[1])
        if self.kind == "answers":
            out = filled
        elif self.kind == "grades":
            grade = filled.argmax(axis=1)
            out = np.maximum(0.0, 1.0 - np.abs(np.arange(scores.shape[1]) - grade[:, None]) / 2.0)
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


def _encode_ratings(
    positive: FloatArray, others: FloatArray, cut: float, constants: AnswerConstants
) -> EvidenceEncoder:
    """The encoder of grades as P(positive) (n,); ``others`` (n,) is the share of positive votes."""
    both = ~np.isnan(positive) & ~np.isnan(others)
    steps, place = np.unique(positive[~np.isnan(positive)], return_inverse=True)
    counts = np.bincount(place, minlength=steps.size).astype(np.float64)
    if both.any() and 0.0 < others[both].mean() < 1.0:
        at = np.searchsorted(steps, positive[both])
        votes = np.bincount(at, others[both], steps.size)
        votes += constants.smoothing * others[both].mean()
        rate = votes / (np.bincount(at, minlength=steps.size) + constants.smoothing)
    else:
        rate = (np.cumsum(counts) - 0.5 * counts) / counts.sum()
    least = constants.least_rate
    rate = np.clip(np.maximum.accumulate(rate), least, 1.0 - least)
    evidence = np.log(rate) - np.log1p(-rate)
    above = steps >= cut
    if above.any() and not above.all():
        sides = [np.average(evidence[side], weights=counts[side]) for side in (above, ~above)]
        contrast, middle = float(sides[0] - sides[1]), float(sides[0] + sides[1]) / 2.0
    else:
        contrast, middle = 0.0, float(np.average(evidence, weights=counts))
    evidence = (evidence - middle) / contrast if contrast > 0.0 else np.zeros_like(evidence)
    return EvidenceEncoder("ratings", steps, evidence, cut=cut)


def _cut_at(positive: FloatArray, share: float) -> float:
    """The score from which about ``share`` of the rows lie, a part of them on either side."""
    steps, counts = np.unique(positive[~np.isnan(positive)], return_counts=True)
    if steps.size < 2:
        return DEFAULT_THRESHOLD
    above = counts[::-1].cumsum()[::-1][1:] / counts.sum()
    place = int(np.argmin(np.abs(log_odds(above, 1e-4) - log_odds(np.asarray(share), 1e-4))))
    return float(steps[place] + steps[place + 1]) / 2.0


def _encode_probabilities(scores: FloatArray, clip: float) -> EvidenceEncoder:
    """The encoder of probabilities (n, K)."""
    log_q = np.log(np.maximum(scores[~np.isnan(scores[:, 0])], clip))
    n_classes = scores.shape[1]
    contrast = (log_q.max(axis=1) - log_q.mean(axis=1)) * n_classes / (n_classes - 1)
    mean = float(contrast.mean())
    return EvidenceEncoder("probabilities", scale=mean if mean > 0.0 else 1.0)


@dataclass(frozen=True, eq=False)
class EvidenceEncoders:
    """The encoders of all models of a set.

    ``shares`` (K,) are the class shares that raters' scales state, None where there are no raters;
    ``curve`` how far they grade on a curve.
    """

    each: tuple[EvidenceEncoder, ...]
    clip: float
    shares: FloatArray | None = None
    curve: float = 0.0

    @classmethod
    def fit(cls, data: ScoreSet, constants: AnswerConstants) -> EvidenceEncoders:
        """The encoders of the models of ``data``."""
        kinds = tuple(_find_kind(data, m) for m in range(data.n_models))
        raters = [m for m, kind in enumerate(kinds) if kind == "ratings"]
        each, clip = [EvidenceEncoder(kind) for kind in kinds], constants.clip
        shares, curve = None, 0.0
        if raters:
            plain = cls(tuple(each), clip)
            shares, curve = _estimate_stated_shares(data, plain, raters, constants)
            for m in raters:
                cut = _cut_at(data.scores[:, m, 1], float(shares[1]))
                each[m] = replace(each[m], cut=cut)
            votes = cls(tuple(each), clip).cast_votes(data.scores)
            for m in raters:
                cast = votes.sum(axis=1) - votes[:, m]
                with np.errstate(invalid="ignore"):
                    others = cast[:, 1] / cast.sum(axis=1)
                each[m] = _encode_ratings(data.scores[:, m, 1], others, each[m].cut, constants)
        for m, kind in enumerate(kinds):
            if kind == "probabilities":
                each[m] = _encode_probabilities(data.scores[:, m], clip)
        return cls(tuple(each), clip, shares, curve)

    def compute_evidence(self, scores: FloatArray) -> FloatArray:
        """e (n, M, K) of scores (n, M, K), zero where a model has none."""
        parts = [encoder.encode(scores[:, m], self.clip) for m, encoder in enumerate(self.each)]
        return np.stack(parts, axis=1)

    @property
    def rated(self) -> float:
        """Share of the models that give ratings for two classes."""
        return float(np.mean([encoder.kind == "ratings" for encoder in self.each]))

    def cast_votes(self, scores: FloatArray) -> FloatArray:
        """The decision of every model (n, M, K), one-hot; zero where it has no score."""
        decided = predicted_classes(scores)
        for m, encoder in enumerate(self.each):
            if encoder.kind == "ratings":
                decided[:, m] = predicted_classes(scores[:, m : m + 1], encoder.cut)[:, 0]
        return (decided[:, :, None] == np.arange(scores.shape[2])).astype(np.float64)


def _find_kind(data: ScoreSet, m: int) -> str:
    """What model ``m`` gives: answers, grades, ratings or probabilities."""
    judge = data.judges.get(data.models[m])
    if judge is None:  # scores of 0 and 1 only can be nothing but answers
        between = (data.scores[:, m] > 0.0) & (data.scores[:, m] < 1.0)
        return "probabilities" if between.any() else "answers"
    if judge.kind == "answers":
        return "answers"
    return "grades" if judge.cut is None else "ratings"


def _estimate_stated_shares(
    data: ScoreSet, encoders: EvidenceEncoders, raters: Sequence[int], constants: AnswerConstants
) -> tuple[FloatArray, float]:
    """Class shares (2,) by answers and by the raters' scales, and how far these are curves.

    Labels say how frequent classes are where scales do not, unless they were chosen by class.
    """
    counts = []
    for m in raters:
        judge = data.judges[data.models[m]]
        codes = judge.find_codes(data.scores[:, m])
        given = np.bincount(codes[codes >= 0], minlength=len(judge.values))
        counts.append(given.astype(np.float64))
    curve = float(np.mean([measure_curve(each, constants.curve_width) for each in counts]))
    stated = estimate_stated_share(counts, constants)
    shares = np.array([1.0 - stated, stated])
    others = [m for m in range(data.n_models) if m not in raters]
    if others:
        votes = encoders.cast_votes(data.scores)[:, others].sum(axis=(0, 1))
        shares = (len(raters) * shares + len(others) * votes / votes.sum()) / data.n_models
    if data.n_labeled and data.design.kind != "by_class":
        weights = np.ones(data.n_rows) if data.design.weights is None else data.design.weights
        known = data.labeled
        labels = np.bincount(data.labels[known], weights[known], 2) / weights[known].mean()
        rows = constants.curve_rows
        by_labels = (labels + rows * shares) / (labels.sum() + rows)
        shares = (1.0 - curve) * shares + curve * by_labels
    return shares, curve


# -------------------------------------------------------------------------------------------------
# What judges say about each other without labels, and the pool of all judges on any rows.
#
# d_j is the share of rows on which judge j differs from the plurality of the *others* (ties shared
# out), D its mean. Judges err together on hard rows, so that errors exceed disagreement:
#
#     logit e_j = logit d_j + gap,        w_j = log[ (1 - e_j)(K - 1) / e_j ],
#
# w_j the weight of an answer if errors were independent. They are not: m answers count as
# m / (1 + (m - 1) rho), and agreement also settles how sharp the pool of all answers should be:
#
#     z_ik = alpha_k + b l_ik,    l_ik = sum_j w_j e_ijk / (1 + (m_i - 1) rho),
#
# b such that the mean error of the votes under W = softmax(z) is sigma(logit D + gap), alpha such
# that W has the class shares p. What labels may change (`ssme.methods.regression`) is linear,
#
#     z_ik + beta b l_ik  +  sum_j v_j b w e_ijk / (1 + (m_i - 1) rho)  +  s_k b l_ik  +  a_k,
#
# beta the sharpness, v_j the weight of judge j (w the mean weight), s_k how much answers of class k
# are worth, a_k the share of class k. The columns of beta, v and s are centered so that, to first
# order, they leave the class shares as they are. Labeled rows have intercepts d.


@dataclass(frozen=True, eq=False)
class JudgeAgreement:
    """Weights (M,), shares (K,), offset alpha (K,), log b and mean error that agreement says."""

    weights: FloatArray
    shares: FloatArray
    offset: FloatArray
    log_b: float
    error: float
    disagreement: float

    @classmethod
    def estimate(
        cls,
        evidence: FloatArray,
        votes: FloatArray,
        constants: AnswerConstants,
        stated: FloatArray | None = None,
    ) -> JudgeAgreement:
        """From evidence and votes (n, M, K) of all rows, and class shares (K,) if ``stated``."""
        n_classes = votes.shape[2]
        differs, counts = measure_disagreement(votes)
        differs = np.where(counts > 0, differs, 0.0)
        mean = float((differs * counts).sum() / counts.sum()) if counts.any() else 0.5
        mean = min(max(mean, 0.003), 0.9)
        few = constants.few_answers
        differs = (differs * counts + mean * few) / (counts + few)
        gap = constants.gap - constants.gap_per_class * (n_classes - 2)
        errors, error = _expect_error(differs, gap), float(_expect_error(np.array(mean), gap))
        weights = np.log((1.0 - errors) * (n_classes - 1) / errors)
        weights = np.maximum(weights, constants.least_weight)
        if stated is None:
            # rare classes are answered too seldom
            shares = votes.sum(axis=(0, 1)) / votes.sum()
            shares = shares + constants.share_mix * error * (1.0 / n_classes - shares)
        else:
            shares = stated.copy()
        shares = np.maximum(shares, constants.least_share / n_classes)
        shares /= shares.sum()
        pool = np.einsum("nmk,m->nk", evidence, weights)
        pool *= discount_dependence(evidence, constants.dependence)[:, None]
        log_b = _match_error(pool, shares, votes, error, constants) + constants.log_b_up
        offset = calibrate_offset(np.exp(log_b) * pool, shares, constants.share_steps)
        return cls(weights, shares, offset, log_b, error, mean)


def _expect_error(share: FloatArray, gap: float) -> FloatArray:
    """sigma(logit d + gap)."""
    inside = np.clip(share, 0.003, 0.95)
    odds = inside / (1.0 - inside) * np.exp(gap)
    return odds / (1.0 + odds)


def discount_dependence(evidence: FloatArray, dependence: float) -> FloatArray:
    """1 / (1 + (m - 1) rho) (n,), m the number of judges with evidence (n, M, K) on a row."""
    answering = (evidence != 0.0).any(axis=2).sum(axis=1)
    return 1.0 / (1.0 + dependence * np.maximum(answering - 1, 0))


def calibrate_offset(z: FloatArray, shares: FloatArray, steps: int = 100) -> FloatArray:
    """alpha (K,) with which softmax(alpha + z) has the mean ``shares``, by iterative scaling."""
    offset = np.log(shares)
    for _ in range(steps):
        step = np.log(shares) - np.log(np.maximum(softmax(offset + z, axis=1).mean(axis=0), 1e-12))
        offset = offset + step
        if np.abs(step).max() < 1e-4:
            break
    return offset


def _match_error(
    pool: FloatArray,
    shares: FloatArray,
    votes: FloatArray,
    error: float,
    constants: AnswerConstants,
) -> float:
    """log b at which the votes' mean error under W is ``error``, within its bounds."""
    by_class, (low, high) = votes.sum(axis=1), constants.log_b
    for _ in range(constants.bisections):
        middle = 0.5 * (low + high)
        z = np.exp(middle) * pool
        w = softmax(calibrate_offset(z, shares, constants.share_steps) + z, axis=1)
        if 1.0 - float((w * by_class).sum() / by_class.sum()) > error:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@dataclass(frozen=True, eq=False)
class AnswersDesign:
    """Everything that turns scores into P(y), but theta = (beta, v, s, a)."""

    encoders: EvidenceEncoders
    agreement: JudgeAgreement
    center: FloatArray
    constants: AnswerConstants

    @classmethod
    def estimate(
        cls, encoders: EvidenceEncoders, scores: FloatArray, constants: AnswerConstants
    ) -> AnswersDesign:
        """From the scores (n, M, K) of all rows; of many, evenly spaced ones are looked at."""
        _, n_models, n_classes = scores.shape
        scores = scores[space_rows(len(scores), constants.agreement_rows)]
        evidence, votes = encoders.compute_evidence(scores), encoders.cast_votes(scores)
        agreement = JudgeAgreement.estimate(evidence, votes, constants, encoders.shares)
        bare = cls(encoders, agreement, np.zeros((n_classes, 1 + n_models + n_classes)), constants)
        features = bare._make_features(evidence, None)
        w, columns = softmax(features.offset, axis=1), features.dense
        spread = np.diag(w.sum(axis=0)) - w.T @ w
        mean = np.einsum("nk,nkp->np", w, columns)
        moved = np.einsum("nk,nkp->kp", w, columns) - w.T @ mean
        center = np.linalg.pinv(spread, rcond=1e-9) @ moved
        return cls(encoders, agreement, center, constants)

    @property
    def blocks(self) -> tuple[slice, ...]:
        """Places of beta, v, s and a, and of the intercepts d of labeled rows."""
        n_models, n_classes = len(self.encoders.each), len(self.agreement.shares)
        ends = np.cumsum([0, 1, n_models, n_classes, n_classes, n_classes]).tolist()
        return tuple(slice(*each) for each in pairwise(ends))

    def make_scales(self, widening: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> FloatArray:
        """Prior scale of theta and d; ``widening`` multiplies those of b, of v and s, and of a."""
        constants, n_models = self.constants, len(self.encoders.each)
        shares = constants.sd_share * self.agreement.error / self.agreement.shares
        rated = constants.sd_share_rated + constants.sd_share_curve * self.encoders.curve
        shares = np.clip(shares, *constants.sd_share_range) + rated * self.encoders.rated
        return np.concatenate(
            [
                [widening[0] * constants.sd_b],
                np.full(n_models, widening[1] * constants.sd_v),
                np.full(shares.size, widening[1] * constants.sd_s),
                widening[2] * shares,
                np.ones(shares.size),
            ]
        )

    def make_features(self, scores: FloatArray, spread: FloatArray | None = None) -> Features:
        """Features of rows with ``scores`` (r, M, K); ``spread`` (K,) is the scale of d, if any."""
        return self._make_features(self.encoders.compute_evidence(scores), spread)

    def compute_posterior(self, scores: FloatArray, theta: FloatArray) -> FloatArray:
        """W (n, K) at ``theta`` (P,), so many rows at a time."""
        n, _, n_classes = scores.shape
        out: FloatArray = np.empty((n, n_classes))
        step = max(1, self.constants.batch_cells // (n_classes * theta.size))
        for start in range(0, n, step):
            part = slice(start, start + step)
            out[part] = self.make_features(scores[part]).compute_posteriors(theta[None])[0]
        return out

    def _make_features(self, evidence: FloatArray, spread: FloatArray | None) -> Features:
        """Features of rows with ``evidence`` (r, M, K)."""
        weights, b = self.agreement.weights, float(np.exp(self.agreement.log_b))
        discount = b * discount_dependence(evidence, self.constants.dependence)
        by_judge = evidence.transpose(0, 2, 1) * discount[:, None, None]
        base: FloatArray = by_judge @ weights
        n_classes = base.shape[1]
        by_class = base[:, :, None] * np.eye(n_classes)
        columns = np.concatenate([base[:, :, None], by_judge * weights.mean(), by_class], axis=2)
        *_, a, d = self.blocks
        shifts = [(a, np.ones(n_classes))] + ([] if spread is None else [(d, spread)])
        return Features(
            offset=self.agreement.offset + base,
            dense=columns - self.center,
            dense_at=slice(0, a.start),
            shifts=tuple(shifts),
        )


def space_rows(n: int, most: int) -> IntArray:
    """At most ``most`` of ``n`` rows, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
