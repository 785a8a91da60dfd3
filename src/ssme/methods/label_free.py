"""Confidence-based performance estimation: trust each classifier's own probabilities.

    P(y = k | s_j) = s_jk,   so that for instance  accuracy_j = mean_i max_k s_ijk

Label-free and exact for a calibrated classifier; the error it makes is that of calibration.
Labeled rows, if there are any, keep their label.

Source: Bialek et al., "Estimating model performance under covariate shift without labels"
(NannyML), 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from scipy.special import xlogy

from ssme import errors, options, progress
from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods import base, beliefs, draws
from ssme.methods.votes import cast_votes, compute_share_correct
from ssme.metrics.base import Metric
from ssme.metrics.kinds import find_threshold


@dataclass(frozen=True)
class Cbpe(draws.LabelDraws, example="n_draws=100"):
    """Labels drawn, for each classifier, from its own scores."""

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="cbpe",
        title="Each classifier's own confidence",
        source="Bialek et al. 2024 (CBPE)",
        does="It takes each classifier's own confidence as the probability that its decision is "
        "right.",
        assumes="It assumes that every classifier is calibrated.",
        fails="It is unreliable where a classifier is not calibrated.",
        needs_labels=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.PerModelPosterior:
        scores = data.scores / data.scores.sum(axis=2, keepdims=True)  # rounded ones do not add up
        own = np.stack([beliefs.clamp(scores[:, j], data.labels) for j in range(data.n_models)])
        return beliefs.PerModelPosterior(data, own, *self.set_draws(rng))


# -------------------------------------------------------------------------------------------------
# Average thresholded confidence: accuracy is the share of rows above a learned confidence.
#
#     accuracy_j = mean_i 1[c_ij >= t_j],   t_j such that this holds on the labeled rows
#
# where c_ij is the confidence of classifier j: its top probability, or its negative entropy. Where
# labeled rows share the confidence t_j, the share of them that makes this hold counts as above, and
# so for every row with it. Labeled rows count with the truth.
#
# Source: Garg et al., "Leveraging unlabeled data to predict out-of-distribution performance",
# ICLR 2022.


@dataclass(frozen=True)
class Atc(base.DeclaredMethod, example="confidence='entropy'"):
    """Share of rows whose confidence passes the threshold that fits the labeled rows."""

    confidence: Literal["top", "entropy"] = options.option(
        "top",
        "What a classifier's confidence is: its top probability, or its negative entropy.",
        options.Enumeration("top", "entropy"),
    )

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="atc",
        title="Average thresholded confidence",
        source="Garg et al. 2022",
        does="It finds the confidence above which the share of labeled rows equals the accuracy on "
        "the labeled rows, and takes the share of unlabeled rows above it as the accuracy.",
        assumes="It assumes that this threshold is the same for the unlabeled rows.",
        fails="It is unreliable with few labels, from which it learns the threshold.",
        metrics=("accuracy",),
        gives_intervals=False,
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.DirectBelief:
        entropic = self.confidence == "entropy"
        scores = data.scores
        confidence = xlogy(scores, scores).sum(axis=2) if entropic else scores.max(axis=2)
        truth = beliefs.clamp(np.zeros((data.n_rows, data.n_classes)), data.labels)
        right = compute_share_correct(cast_votes(data.scores), truth)
        thresholds, expected = np.full(data.n_models, np.nan), np.empty(right.shape)
        for j in progress.track(range(data.n_models), "models"):
            known = data.labeled & np.isfinite(right[:, j])
            own = confidence[:, j]
            thresholds[j], at = find_confidence_threshold(own[known], right[known, j])
            above = (own > thresholds[j]) + at * (own == thresholds[j])
            expected[:, j] = np.where(known | np.isnan(right[:, j]), right[:, j], above)

        def answer(metric: Metric, rows: IntArray) -> base.Estimate:
            return base.Estimate(beliefs.average_columns(expected, rows, data.weights))

        by_model = dict(zip(data.models, thresholds.tolist(), strict=True))
        return beliefs.DirectBelief(
            data.n_rows, answer, base.Facts(values={"thresholds": by_model})
        )


def find_confidence_threshold(confidence: FloatArray, right: FloatArray) -> tuple[float, float]:
    """Confidence that as many labeled rows stay below as are wrong, and how much of a row at it
    counts as above so that this is true."""
    if confidence.size == 0:
        return np.nan, np.nan
    threshold = float(np.append(np.sort(confidence), np.inf)[int((1.0 - right).sum())])
    tied = int((confidence == threshold).sum())
    return threshold, float(right.sum() - (confidence > threshold).sum()) / max(tied, 1)


# -------------------------------------------------------------------------------------------------
# Agreement: a classifier is as accurate as it is likely to agree with the others.
#
#     accuracy_j = mean_i mean_{j' != j} P(classifiers j and j' predict the same class on row i)
#
# Exact where the classifiers are calibrated as an ensemble; too high where they share their errors.
# Labeled rows count with the truth instead.
#
# Source: Jiang et al., "Assessing generalization of SGD via disagreement", ICLR 2022.


@dataclass(frozen=True)
class Agreement(base.DeclaredMethod, example=""):
    """Mean agreement of each classifier with every other one."""

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="agreement",
        title="Agreement with the other classifiers",
        source="Jiang et al. 2022",
        does="It estimates accuracy by how often a classifier agrees with the other classifiers.",
        assumes="It assumes that agreement predicts accuracy, as it does for independently trained "
        "networks.",
        fails="It is unreliable where classifiers make the same errors.",
        metrics=("accuracy",),
        any_threshold=True,
        needs_labels=False,
        gives_intervals=False,
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.DirectBelief:
        if data.n_models < 2:
            problem = "method 'agreement' compares classifiers and there is only one"
            hint = "add another classifier, or use a method for one such as 'cbpe'"
            raise errors.UnsupportedError(problem, hint=hint)
        truth = beliefs.clamp(np.zeros((data.n_rows, data.n_classes)), data.labels)
        known = data.labeled[:, None]

        def answer(metric: Metric, rows: IntArray) -> base.Estimate:
            votes = cast_votes(data.scores, find_threshold(metric.kind))
            right = np.where(
                known, compute_share_correct(votes, truth), measure_agreement_with_others(votes)
            )
            return base.Estimate(beliefs.average_columns(right, rows, data.weights))

        return beliefs.DirectBelief(data.n_rows, answer)


def measure_agreement_with_others(votes: FloatArray) -> FloatArray:
    """Share (n, M) of the other classifiers' votes that equal each one's; NaN without others."""
    total = votes.sum(axis=1, keepdims=True)
    others = total - votes
    same = (votes * others).sum(axis=2)
    cast = others.sum(axis=2)
    usable = (votes.sum(axis=2) > 0) & (cast > 0)
    return np.where(usable, same / np.where(cast > 0, cast, 1.0), np.nan)
