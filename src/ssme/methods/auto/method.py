"""auto: the classifiers' pooled score, recalibrated on few labels, with draws for its intervals.

This is the default method of `evaluate`. It has no model of how scores are distributed: all it
learns is a few dozen coefficients. `ssme.methods.auto` has a table of the letters and of the files.

1. `pool`: who agrees with whom, and how sharp the pool should be, without labels.
2. One score pi(k | x) from many, the weights of the classifiers from the labels.
3. `model`: W(k | x) = softmax(log p + b log(pi / p) + shifts + tilts), the mode on the labeled
   rows. Steps 2 and 3 are done for every way the world can be, which the labels weigh (`regimes`).
4. Point estimate: the metric of the soft labeling W on *all* rows, plus a residual correction that
   makes it consistent, m(W, all) + w [ m(y, labeled) - E_(y ~ W) m(y, labeled) ], with a weight w
   that grows to one with the labels, sooner where they contradict W (`correction`).
5. Draws: the coefficients are drawn, the families the mode leaves out included; each draw is a
   state of the world, W_d with rows weighted as if sampled anew, in which the estimate of step 4 is
   computed (`belief`).
6. Draws are moved to have the point estimate as their median (`correction`). Their quantiles are
   the interval; differences, ranks and P(better) are read off them.

Without labels, steps 3 and 5 are the prior. Where models give answers or ratings instead of
probabilities (``ScoreSet.judges``), the method is `ssme.methods.answers`. The file
benchmarks/evidence/auto.md says where the constants come from, and what was tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.method import Answers, AnswersBelief
from ssme.methods.auto import belief, correction, model, pool
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.regimes import (
    REGIMES,
    USUAL,
    FittedRegime,
    KnownLabels,
    Situation,
    choose_draw_shares,
    fit_regimes,
    weigh_regimes,
)
from ssme.methods.base import DeclaredMethod, MethodSpec
from ssme.methods.clusters import find_correlation, has_repeats, weigh_rows
from ssme.methods.draws import declare_constants, declare_joint_draws, spawn_seed
from ssme.options import Number, Series, optional

CHAIN_PARTS = 5
"""Chains of a regime are drawn in multiples of so large a part of all draws."""


@dataclass(frozen=True)
class Auto(DeclaredMethod, example="n_draws=100"):
    """Recalibrated pool of the classifiers: the default method."""

    n_draws: int = declare_joint_draws(1000)
    temperature: tuple[float, float, float] | None = optional(
        "Coefficients (alpha, beta, gamma) of the line that predicts, without labels, how sharp "
        "the pool should be. With many labeled sets of one kind they can be fitted to them "
        "(benchmarks/auto/priors.py).",
        Series(Number(least=-10.0, most=10.0), length=3),
        usual="those of the constants",
    )
    constants: Constants = declare_constants(Constants())

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="auto",
        title="Recalibrated pool of the classifiers",
        source="this project: docs/auto.md",
        does=(
            "It pools the scores of all classifiers into one score, learns from the labels how to "
            "recalibrate that score, and computes every metric on all rows under the recalibrated "
            "score. Its intervals come from draws of the recalibration and of the rows."
        ),
        assumes=(
            "It assumes that the labeled rows were chosen at random from the same source as the "
            "unlabeled rows, and that the classifiers do not all make the same errors where no "
            "label shows them."
        ),
        fails=(
            "It is unreliable where very few rows are labeled and all classifiers make the same "
            "errors."
        ),
        needs_labels=False,
        designs=("random", "by_class", "by_score", "weights"),
        widens_to_labels=True,
    )

    def fit(self, data: ScoreSet, rng: Generator) -> belief.AutoBelief | AnswersBelief:
        if data.judges:
            return Answers(n_draws=self.n_draws).fit(data, rng)
        constants = self.constants
        if self.temperature is not None:
            prior = replace(constants.prior, coefficients=self.temperature)
            constants = replace(constants, prior=prior)
        situation = situate(data, constants, rng)
        fitted = fit_regimes(situation)
        correlation = 0.0
        if situation.labels.clusters is not None:
            correlation = find_label_correlation(fitted, situation.labels)
            # the situation with each label counting less, the more labels its cluster has
            labels = situation.labels
            assert labels.clusters is not None
            worth = weigh_rows(correlation, labels.clusters)
            weights = worth if labels.weights is None else labels.weights * worth
            situation = replace(situation, labels=replace(labels, weights=weights))
            fitted = fit_regimes(situation)
        probability = weigh_regimes(fitted, constants.regimes.negligible)
        shares = choose_draw_shares(fitted, situation.labels.classes.size, constants.regimes)
        sizes, total = allot_draws(self.n_draws, shares), self.n_draws
        own = dict(zip(REGIMES, rng.spawn(len(REGIMES)), strict=True))
        regimes = tuple(
            draw_regime(fit, float(chance), int(size), total, situation, own[fit.name])
            for fit, chance, size in zip(fitted, probability, sizes, strict=True)
            if size > 0
        )
        return replace(believe(data, regimes, situation, rng), correlation=correlation)


def find_label_correlation(fitted: Sequence[FittedRegime], labels: KnownLabels) -> float:
    """How correlated labels of one cluster are beyond what the most probable regime says."""
    assert labels.clusters is not None
    likeliest = max(fitted, key=lambda fit: fit.log_scores + fit.log_labels)
    soft = likeliest.regression.features.compute_posteriors(likeliest.mode[None])[0]
    seen = labels.classes[:, None] == np.arange(soft.shape[1])
    return find_correlation(seen - soft, labels.clusters)


def situate(data: ScoreSet, constants: Constants, rng: Generator) -> Situation:
    """The labeled rows, at most ``fit_rows`` of them, and a summary of the scores of all rows."""
    labeled = np.flatnonzero(data.labeled)
    if labeled.size > constants.fit_rows:
        labeled = np.sort(rng.choice(labeled, constants.fit_rows, replace=False))
    clip, scores = constants.pool.clip, data.scores[labeled]
    classes = data.labels[labeled]
    # labels in rounds were chosen by scores and labels: all count the same in the likelihood
    weights = (
        None if data.design.rounds is not None else correction.count_labels(data.design, labeled)
    )
    clusters = None if data.clusters is None else data.clusters[labeled]
    if clusters is not None and not has_repeats(clusters):
        clusters = None
    known = KnownLabels(
        pool.clip_scores(scores, clip), pool.find_present(scores), classes, weights, clusters
    )
    present = pool.find_present(data.scores)
    summary = pool.summarize_scores(
        pool.clip_scores(data.scores, clip), present, constants.agreement
    )
    return Situation(summary, known, constants, data.design.kind)


def allot_draws(total: int, probability: FloatArray) -> IntArray:
    """How many of ``total`` draws each regime gets (R,), by the method of largest remainders."""
    exact = total * probability
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - counts), kind="stable")
    counts[order[: total - int(counts.sum())]] += 1
    return counts


def draw_regime(
    fit: FittedRegime,
    probability: float,
    n_draws: int,
    total: int,
    situation: Situation,
    rng: Generator,
) -> model.PooledRegime:
    """A fitted regime with ``n_draws`` of all ``total`` draws of coefficients."""
    constants, regression = situation.constants, fit.regression
    sampler, widening = constants.sampler, 1.0
    sd = regression.sd.copy()
    if fit.name == USUAL:
        sd[0] *= constants.prior.widening  # hard shrinkage suits the mode, not an interval
    else:
        sampler = replace(sampler, power=constants.regimes.power)
        widening = constants.regimes.widening
    # whole fifths, so that a slight change of the probabilities changes no random number
    part = max(1, total // CHAIN_PARTS)
    chains = -(-n_draws // part) * part
    draws = replace(regression, sd=sd).draw(fit.mode, chains, rng, sampler)[:n_draws]
    return model.PooledRegime(
        name=fit.name,
        probability=probability,
        pooling=fit.view.pooling,
        at_large=fit.at_large,
        mode=fit.mode,
        draws=draws,
        label_shift=model.compute_label_shift(regression, fit.mode),
        clip=constants.pool.clip,
        widening=widening,
    )


def believe(
    data: ScoreSet, regimes: tuple[model.PooledRegime, ...], situation: Situation, rng: Generator
) -> belief.AutoBelief:
    """The belief that ``regimes`` make up together, with W of all rows in each of them.

    Where rows are very many, W of regimes that have no weight in the estimate is left out.
    """
    constants, cells = situation.constants, situation.constants.batch_cells
    # omega: probabilities to a power, small ones zero
    probability = np.array([regime.probability for regime in regimes])
    weights = (probability / probability.max()) ** constants.regimes.sureness
    weights[weights < constants.regimes.least_weight * weights.sum()] = 0.0
    weights /= weights.sum()
    few, counted = data.n_rows <= constants.world_rows, np.flatnonzero(weights)
    softs = [
        model.apply_in_chunks(regime, data.scores, cells) if few or weights[r] > 0.0 else None
        for r, regime in enumerate(regimes)
    ]
    soft: FloatArray = np.sum([weights[r] * softs[r] for r in counted], axis=0)
    return belief.AutoBelief(
        data=data,
        regimes=regimes,
        weights=weights,
        predictor=model.AutoPredictor(tuple(regimes[r] for r in counted), weights[counted]),
        softs=tuple(softs),
        soft=soft,
        seed=spawn_seed(rng),
        facts=_collect_facts(data, regimes, situation),
        constants=constants,
    )


def _collect_facts(
    data: ScoreSet, regimes: tuple[model.PooledRegime, ...], situation: Situation
) -> belief.AutoFacts:
    """The facts of the fit; the pool and its temperature are those of the first regime."""
    constants, summary, first = situation.constants, situation.summary, regimes[0]
    n, tau = data.n_labeled, situation.usual_prior.scale
    bias = correction.predict_bias(max(n, 1), tau, constants.correction)
    standing, weights = (
        dict(zip(data.models, values.round(4).tolist(), strict=True))
        for values in (summary.standing, first.pooling.weights)
    )
    return belief.AutoFacts(
        label_free=situation.labels.classes.size == 0,
        regimes={
            regime.name: round(regime.probability, 4)
            for regime in regimes
            if regime.probability > 0.0
        },
        conflict=situation.conflict,
        temperature=float(np.exp(first.mode[0])),
        prior_temperature=float(np.exp(situation.usual_prior.center)),
        prior_scale=tau,
        standing=standing,
        pool_weights=weights,
        effective_classifiers=summary.n_effective,
        correction_weight=float(correction.compute_gain(np.ones(1), bias)[0][0]) if n else 0.0,
        rows_behind_draws=min(data.n_rows, constants.world_rows),
        correlation=situation.correlation if np.isfinite(situation.correlation) else None,
    )
