"""auto: the classifiers' pooled score, recalibrated on few labels, with draws for its intervals.

This is the default method of `evaluate`. It has no model of how scores are distributed: all it
learns is a few dozen coefficients. `ssme.methods.auto` has a table of the letters and of the files.

1. `pool`: one score pi(k | x) from many, the weights of the classifiers from the labels. Where
   classifiers are independent given the class, their evidence is added instead (`independence`).
2. `prior`: how sharp the pool should be, predicted without labels.
3. `model`: W(k | x) = softmax(log p + b log(pi / p) + shifts + tilts), the mode on the
   labeled rows; p are the class shares that the scores state.
4. Point estimate, a plug-in without label draws: the metric of the soft labeling W on *all* rows
   (W fitted to labels has less noise than the labels), plus a residual correction that makes it
   consistent, with n labeled rows in the group,

       m(W, all) + w [ m(y, labeled) - E_(y ~ W) m(y, labeled) ]

   with a weight w that grows to one with n, sooner where the labels contradict W (`correction`).
   Steps 1 to 3 are done once for every way the world can be (`regimes`), which the labels then
   weigh (`mixture`).
5. `sampler` draws the coefficients, the families the mode leaves out included; `worlds` makes
   each draw a state of the world, W_d with rows weighted as if sampled anew, and the estimate of
   step 4 is computed in every world.
6. `recentering`: draws are moved to have the point estimate as their median. Their quantiles are
   the interval; differences, ranks and P(better) are read off them.

Without labels, steps 3 and 5 are the prior: the method is then label-free, and its facts say so. A
metric that needs hard labels (a callable) is averaged over labels drawn from W. Where there are
very many rows, worlds are computed on a part of them; the point estimate always uses all. Steps 4
to 6 are in `belief`.

Where models give answers or ratings instead of probabilities (``ScoreSet.judges``), the method is
`ssme.methods.answers`, whose pool is one of judges.

All numbers are in `constants`. docs/auto-notebook.md says where they come from, and what was tried
and did not help.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.belief import AnswersBelief
from ssme.methods.answers.method import Answers
from ssme.methods.auto.belief import AutoBelief, AutoFacts
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import count_evidence, weigh_labels
from ssme.methods.auto.mixture import (
    FittedRegime,
    StatedFit,
    choose_draw_shares,
    fit_regimes,
    weigh_regimes,
)
from ssme.methods.auto.pool import clip_scores, find_present
from ssme.methods.auto.prior import summarize_scores
from ssme.methods.auto.regimes import USUAL, KnownLabels, Situation
from ssme.methods.auto.sampler import (
    AutoPredictor,
    Component,
    PooledRegime,
    StatedRegime,
    apply_in_chunks,
    draw_coefficients,
)
from ssme.methods.base import MethodSpec
from ssme.methods.parts.draws import (
    declare_constants,
    declare_joint_draws,
    find_originals,
    spawn_seed,
)
from ssme.metrics.base import FloatArray
from ssme.options import Declared, Nothing, Number, OneOf, Series, option

__all__ = ["Auto"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Auto(Declared):
    """Recalibrated pool of the classifiers: the default method.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.Auto(n_draws=100)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'auto'
    """

    n_draws: int = declare_joint_draws(200)
    temperature: tuple[float, float, float] | None = option(
        None,
        "Coefficients (alpha, beta, gamma) of the line that predicts, without labels, how sharp "
        "the pool should be. With many labeled sets of one kind they can be fitted to them "
        "(benchmarks/auto/priors.py).",
        OneOf(Series(Number(least=-10.0, most=10.0), length=3), Nothing("those of the constants")),
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

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> AutoBelief | AnswersBelief:
        if data.judges:
            return Answers(n_draws=self.n_draws).fit(data, rng)
        of = self.constants
        if self.temperature is not None:
            of = replace(of, prior=replace(of.prior, coefficients=self.temperature))
        situation = situate(data, of, rng)
        fitted = fit_regimes(situation)
        probability = weigh_regimes(fitted, of.regimes.negligible)
        n_draws = allot_draws(
            self.n_draws, choose_draw_shares(fitted, situation.labels.size, of.regimes)
        )
        regimes = tuple(
            draw_regime(fit, float(chance), int(size), situation, rng)
            for fit, chance, size in zip(fitted, probability, n_draws, strict=True)
            if size > 0
        )
        return believe(data, regimes, situation, rng)


def situate(data: ScoreSet, constants: Constants, rng: np.random.Generator) -> Situation:
    """What the regimes look at: the labeled rows, and a summary of the scores of all rows.

    Of very many labeled rows, ``fit_rows`` are drawn at random.
    """
    labeled = np.flatnonzero(data.labeled)
    if labeled.size > constants.fit_rows:
        labeled = np.sort(rng.choice(labeled, constants.fit_rows, replace=False))
    clip, scores = constants.pool.clip, data.scores[labeled]
    classes, weights = data.labels[labeled], count_evidence(data.design, labeled)
    known = KnownLabels(clip_scores(scores, clip), find_present(scores), classes, weights)
    present = find_present(data.scores)
    summary = summarize_scores(clip_scores(data.scores, clip), present, constants.agreement)
    return Situation(summary, known, constants, data.design.kind)


def allot_draws(total: int, probability: FloatArray) -> IntArray:
    """How many of ``total`` draws each regime gets (R,), by its ``probability`` (R,).

    Numbers are rounded down, and the draws left over go to the largest remainders.
    """
    exact = total * probability
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(-(exact - counts), kind="stable")
    counts[order[: total - int(counts.sum())]] += 1
    return counts


def draw_regime(
    fit: FittedRegime | StatedFit,
    probability: float,
    n_draws: int,
    situation: Situation,
    rng: np.random.Generator,
) -> Component:
    """A fitted regime with ``n_draws`` draws of its coefficients, as the belief holds it."""
    of, n_classes = situation.constants, situation.summary.n_classes
    if isinstance(fit, StatedFit):
        shape = (n_draws, situation.summary.n_models)
        temperatures = of.regimes.stated_temperature * rng.standard_normal(shape)
        temperatures = temperatures[:, find_originals(situation.summary.q)]
        shifts = np.zeros((n_draws, n_classes))
        return StatedRegime(
            name=fit.name,
            probability=probability,
            log_temperatures=temperatures,
            label_shift=np.zeros(n_classes),
            label_shift_draws=shifts,
            clip=of.pool.clip,
            widening=of.regimes.widening,
        )
    view, usual = fit.view, fit.name == USUAL.name
    wide = replace(fit.evidence, prior=view.prior.widen(of.prior.widening if usual else 1.0))
    sampler = of.sampler if usual else replace(of.sampler, power=of.regimes.power)
    draws = draw_coefficients(wide, fit.mode, n_draws, rng, sampler)
    n_design = fit.evidence.families[-1].columns.start + 1
    return PooledRegime(
        name=fit.name,
        probability=probability,
        pooling=view.pooling,
        mode=fit.mode,
        draws=draws[:, :n_design],
        label_shift=fit.evidence.compute_label_shift(fit.mode),
        label_shift_draws=fit.evidence.compute_label_shift(draws),
        n_effective=situation.summary.n_effective,
        constants=replace(of, model=view.model),
        widening=_widen_usual(situation) if usual else of.regimes.widening,
    )


def _widen_usual(situation: Situation) -> float:
    """Factor of the usual regime's spread, above one where its sharpness is in doubt.

    That is so where classifiers answer 0 or 1, and where their agreement implies vaguer scores than
    theirs.
    """
    of, conflict = situation.constants.regimes, situation.conflict
    answers = of.answers_widening if situation.answers_only else 1.0
    against = of.conflict_widening * min(0.0, conflict or 0.0)
    return answers * float(np.sqrt(1.0 + against**2))


def believe(
    data: ScoreSet,
    regimes: tuple[Component, ...],
    situation: Situation,
    rng: np.random.Generator,
) -> AutoBelief:
    """The belief that ``regimes`` make up together, with W of all rows in each of them.

    Where rows are very many, W of regimes that have no weight in the estimate is left out.
    """
    of, summary = situation.constants, situation.summary
    weights = _estimate_weights(regimes, of)
    many = data.n_rows > of.world_rows
    softs = [
        None if many and weight == 0.0 else apply_in_chunks(regime, data.scores, of)
        for regime, weight in zip(regimes, weights, strict=True)
    ]
    pooled = [(r, regime) for r, regime in enumerate(regimes) if isinstance(regime, PooledRegime)]
    counted = [(r, regime) for r, regime in pooled if weights[r] > 0.0] or pooled[:1]
    for r, regime in counted:
        softs[r] = softs[r] if softs[r] is not None else apply_in_chunks(regime, data.scores, of)
    share = np.array([weights[r] for r, _ in counted])
    share = share / share.sum() if share.any() else np.ones(1)
    soft: FloatArray = np.sum(
        [w * softs[r] for w, (r, _) in zip(share, counted, strict=True)], axis=0
    )
    return AutoBelief(
        data=data,
        regimes=regimes,
        weights=weights,
        predictor=AutoPredictor(tuple(regime for _, regime in counted), share),
        softs=tuple(softs),
        soft=soft,
        n_effective=summary.n_effective,
        seed=spawn_seed(rng),
        facts=_tell(data, regimes, pooled[0][1], situation),
        constants=of,
    )


def _estimate_weights(regimes: tuple[Component, ...], constants: Constants) -> FloatArray:
    """omega (R,): the regimes' probabilities to a power, scaled to sum one; small ones are zero."""
    of = constants.regimes
    probability = np.array([regime.probability for regime in regimes])
    weights = (probability / probability.max()) ** of.sureness
    weights[weights < of.least_weight * weights.sum()] = 0.0
    out: FloatArray = weights / weights.sum()
    return out


def _tell(
    data: ScoreSet, regimes: tuple[Component, ...], first: PooledRegime, situation: Situation
) -> AutoFacts:
    """The facts of the fit; the pool and its temperature are those of the ``first`` regime."""
    of, summary = situation.constants, situation.summary
    weights = first.pooling.weights.round(4).tolist()
    return AutoFacts(
        label_free=situation.labels.size == 0,
        regimes={
            regime.name: round(regime.probability, 4)
            for regime in regimes
            if regime.probability > 0.0
        },
        conflict=situation.conflict,
        temperature=float(np.exp(first.mode[0])),
        prior_temperature=float(np.exp(situation.usual_prior.center)),
        prior_scale=situation.usual_prior.scale,
        standing=dict(zip(data.models, summary.standing.round(4).tolist(), strict=True)),
        pool_weights=dict(zip(data.models, weights, strict=True)),
        effective_classifiers=summary.n_effective,
        correction_weight=weigh_labels(data.n_labeled, summary.n_effective, of.correction),
        rows_behind_draws=min(data.n_rows, of.world_rows),
    )
