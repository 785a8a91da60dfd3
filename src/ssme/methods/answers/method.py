"""answers: judges who share difficulty, weighed by each other and by few labels.

For people and language models who say a class or a grade, and for classifiers of which only the
predicted class is kept, alone or together with classifiers that give probabilities.

1. `evidence`: what each says, as evidence for every class; how good each is, how sharp the pool of
   all should be and how frequent the classes are, from their agreement, without a label.
2. `ssme.methods.regression`: what the labels change about that. They also say how the rows that
   have them differ, and whether this is a usual set of judges at all (`fit_worlds`).
3. `AnswersBelief`: the metric of P(y | answers) on all rows, corrected by what the labels say
   beyond it.

Dawid and Skene (JRSS C 28, 1979) let every judge err independently given the class, and so become
sure of what judges get wrong together. Here the pool's sharpness is a separate parameter, which
agreement and labels decide: judges share difficulty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods import base, beliefs, suggested
from ssme.methods import draws as drawing
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import AnswersDesign, EvidenceEncoders, space_rows
from ssme.methods.auto import correction, model, regimes
from ssme.methods.auto.belief import Worlds, compute_in_worlds
from ssme.methods.clusters import (
    draw_row_exponentials,
    find_correlation,
    find_part_spread,
    has_repeats,
    weigh_rows,
)
from ssme.methods.regression import Regression
from ssme.metrics.base import Metric, one_hot_mass
from ssme.progress import track


@dataclass(frozen=True)
class Answers(base.DeclaredMethod, example="n_draws=100"):
    """Judges who share difficulty: a pool of answers, ratings and probabilities."""

    n_draws: int = drawing.declare_joint_draws(1000)
    constants: AnswerConstants = drawing.declare_constants(AnswerConstants())

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="answers",
        title="Judges who share difficulty",
        source="this project: docs/answers-method.md",
        does=(
            "It pools the answers of the judges, weighted by how they agree with each other and "
            "with the labels, and corrects every judge's metric by what the labeled rows say "
            "beyond that."
        ),
        assumes=(
            "It assumes that judges err somewhat more often than they disagree, because they find "
            "the same rows hard; the fewer the labels, the more the result depends on this "
            "assumption."
        ),
        fails="It is unreliable where all judges share an error and few labels show it.",
        needs_labels=False,
        designs=("random", "by_class", "by_score", "weights"),
        widens_to_labels=True,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> AnswersBelief:
        constants = self.constants
        encoders = EvidenceEncoders.fit(data, constants)
        design = AnswersDesign.estimate(encoders, data.scores, constants)
        labeled = np.flatnonzero(data.labeled)
        if labeled.size > constants.fit_rows:
            labeled = np.sort(rng.choice(labeled, constants.fit_rows, replace=False))
        world, probability = fit_worlds(data, design, labeled, constants)
        correlation, clusters = 0.0, None if data.clusters is None else data.clusters[labeled]
        if clusters is not None and has_repeats(clusters):
            said = world.regression.features.compute_posteriors(world.mode[None])[0]
            seen = data.labels[labeled][:, None] == np.arange(data.n_classes)
            correlation = find_correlation(seen - said, clusters)
            worth = weigh_rows(correlation, clusters)
            world, probability = fit_worlds(data, design, labeled, constants, worth)
        b, weights, share = (
            float(max(each)) for each in zip(constants.draw_widening, world.widening, strict=True)
        )
        wide = replace(world.regression, sd=design.make_scales((b, weights, share)))
        theta = world.mode
        soft = design.compute_posterior(data.scores, theta)
        return AnswersBelief(
            data=data,
            design=design,
            theta=theta,
            draws=wide.draw(theta, self.n_draws, rng, constants.sampler),
            shift=world.shift,
            soft=soft,
            seed=drawing.spawn_seed(rng),
            facts=_collect_facts(data, design, theta, soft, probability),
            constants=constants,
            correlation=correlation,
        )


def _collect_facts(
    data: ScoreSet,
    design: AnswersDesign,
    theta: FloatArray,
    soft: FloatArray,
    worlds: Mapping[str, float],
) -> AnswersFacts:
    found, n_models = design.agreement, data.n_models
    prior = float(np.exp(found.log_b))
    weights = found.weights * (1.0 + theta[0]) / found.weights.mean() + theta[1 : 1 + n_models]
    return AnswersFacts(
        label_free=data.n_labeled == 0,
        worlds={name: round(chance, 4) for name, chance in worlds.items()},
        disagreement=found.disagreement,
        expected_error=found.error,
        sharpness=prior * (1.0 + float(theta[0])),
        prior_sharpness=prior,
        judge_weights=dict(zip(data.models, weights.round(4).tolist(), strict=True)),
        shares={
            str(name): round(float(share), 4)
            for name, share in zip(data.classes, soft.mean(axis=0), strict=True)
        },
    )


# -------------------------------------------------------------------------------------------------
# What the method believes after its fit, and how a metric is estimated from it.
#
# The metric of the soft labeling W on all rows, plus what the labels say beyond it. On the labeled
# rows of a group let R_j be the metric of judge j minus its mean over labels drawn from W, V_j the
# variance over those labels, and f the share of the group's rows that have a label. Then
#
#     estimate_j = m_j(W) + [ f + (1 - f) tau^2 / (tau^2 + V_j) ] R_j
#
# f because the labels of these very rows are known, the rest because the model may be off by tau
# for each judge; tau is the mode of its posterior given R. With many labels V vanishes, and the
# estimate is that of the labels. Draws are worlds: theta drawn, rows weighted anew (Rubin, Annals
# of Statistics 9, 1981), and what remains unknown of the bias; they are moved to have the estimate
# as their median on the logit scale of the metric's range.


# -------------------------------------------------------------------------------------------------
# Is this a usual set of judges? P(world | labels) is proportional to P(world) Z S, Z the marginal
# likelihood of the labels. In the world "shares" class shifts are free, in "selected" the label
# intercepts d; there the answers on the labeled rows bear witness too,
#
#     S = prod_i [ sum_k e^(d_k) W_k(x_i) ] / [ sum_k e^(d_k) mean W_k ]
#
# (Prentice and Pyke, Biometrika 66, 1979). The likeliest world is the one that is believed.


MEANINGS: Mapping[str, str] = {
    "shares": "the classes are not as frequent as the answers say",
    "selected": "rows were chosen for labeling by their class",
}
"""What is so in each world other than the usual one."""


@dataclass(frozen=True, eq=False)
class FittedWorld:
    """A world fitted to the labels.

    ``widening`` are factors of the prior scales of b, v and a, ``shift`` (K,) are the label
    intercepts at the mode.
    """

    regression: Regression
    mode: FloatArray
    widening: tuple[float, float, float]
    log_evidence: float
    shift: FloatArray


def fit_worlds(
    data: ScoreSet,
    design: AnswersDesign,
    labeled: IntArray,
    constants: AnswerConstants,
    worth: FloatArray | None = None,
) -> tuple[FittedWorld, dict[str, float]]:
    """The most probable world, and the probability of each; labels count ``worth`` (r,) times."""
    plain = (1.0, 1.0, 1.0)
    by_chance = np.ones(data.n_classes)
    if data.n_labeled:  # one label more than expected of each class
        by_chance = np.log1p(1.0 / (data.n_labeled * design.agreement.shares))
    chosen = np.maximum(by_chance, constants.chosen)
    spread = chosen if data.design.kind == "by_class" else by_chance
    settings = {"usual": (plain, spread)}
    if labeled.size:
        settings["shares"] = ((1.0, 1.0, constants.odd_shares), spread)
        if data.design.kind is None:
            settings["selected"] = (plain, chosen)
    odd, fitted = constants.odd_worlds, {}
    for name, (widening, scale) in settings.items():
        one = _fit(data, design, labeled, scale, widening, worth)
        total = one.log_evidence + float(
            np.log(odd if name in MEANINGS else 1.0 - odd * len(MEANINGS))
        )
        if name == "selected":
            used = data.scores[space_rows(data.n_rows, constants.agreement_rows)]
            everywhere, known = (
                design.compute_posterior(scores, one.mode)
                for scores in (used, data.scores[labeled])
            )
            total += regimes.log_density_of_chosen(known, everywhere, one.shift)
            counts = np.bincount(data.labels[labeled], minlength=data.n_classes)
            total += regimes.compute_design_bonus(counts)
        fitted[name] = replace(one, log_evidence=total)
    logs = np.array([world.log_evidence for world in fitted.values()])
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    likeliest = list(fitted.values())[int(np.argmax(chance))]
    return likeliest, dict(zip(fitted, chance.tolist(), strict=True))


def _fit(
    data: ScoreSet,
    design: AnswersDesign,
    labeled: IntArray,
    spread: FloatArray,
    widening: tuple[float, float, float],
    worth: FloatArray | None = None,
) -> FittedWorld:
    """The regression on the labeled rows, with label intercepts of scale ``spread`` (K,)."""
    weights, sd = np.ones(labeled.size), design.make_scales(widening)
    if data.design.weights is not None and labeled.size:
        weights = data.design.weights[labeled]
        weights = weights / weights.mean()
    if worth is not None:
        weights = weights * worth
    regression = Regression(
        features=design.make_features(data.scores[labeled], spread),
        labels=data.labels[labeled],
        weights=weights,
        blocks=design.blocks,
        mean=np.zeros(sd.size),
        sd=sd,
        in_mode=np.ones(sd.size, dtype=np.bool_),
        nu=design.constants.nu,
        newton_tolerance=design.constants.newton_tolerance,
    )
    mode = regression.find_mode()
    shift = model.compute_label_shift(regression, mode)
    return FittedWorld(regression, mode, widening, regression.log_evidence(mode), shift)


@dataclass(frozen=True, eq=False)
class AnswersFacts(base.Facts):
    """Facts of a fit of `Answers`.

    Attributes
    ----------
    label_free : bool
        Whether there was no label to learn from.
    worlds : dict
        Probability of each world: the usual one, and ways a set of judges can be otherwise.
    disagreement : float
        How often a judge differs from the plurality of the others.
    expected_error : float
        The judges' mean error that this disagreement lets expect.
    sharpness, prior_sharpness : float
        b, after and before the labels.
    judge_weights : dict
        Weight of each judge's answer, after the labels, relative to the mean before them.
    shares : dict
        Share of each class.
    """

    label_free: bool
    worlds: Mapping[str, float]
    disagreement: float
    expected_error: float
    sharpness: float
    prior_sharpness: float
    judge_weights: Mapping[str, float]
    shares: Mapping[str, float]

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        """Worlds other than the usual one: name -> probability, and what is so in it."""
        return {
            name: (chance, MEANINGS[name])
            for name, chance in self.worlds.items()
            if name in MEANINGS
        }

    @property
    def expects_shared_errors(self) -> bool:
        return True


@dataclass(frozen=True, eq=False)
class AnswersBelief(beliefs.SoftBelief):
    """W at the mode for every row, and draws of theta.

    ``shift`` (K,) are the label intercepts of the mode, which labeled rows alone have.
    ``correlation`` is that of labels of one cluster, given W.
    """

    data: ScoreSet
    design: AnswersDesign
    theta: FloatArray
    draws: FloatArray
    shift: FloatArray
    soft: FloatArray
    seed: np.random.SeedSequence
    facts: AnswersFacts
    constants: AnswerConstants
    correlation: float = 0.0

    @property
    def predictor(self) -> base.Predictor:
        return partial(self.design.compute_posterior, theta=self.theta)

    @property
    def n_draws(self) -> int:
        return len(self.draws)

    def estimate_soft(
        self, metrics: Sequence[Metric], rows: Sequence[base.GroupRows]
    ) -> list[list[base.Estimate]]:
        """Estimates on all rows of each group, draws with them as median."""
        out = []
        for part in rows:
            group = base.number_rows(part, self.data.n_rows)
            worlds = self._draw_worlds(metrics, group)
            out.append(
                [
                    self._estimate(metric, group, drawn)
                    for metric, drawn in zip(metrics, worlds, strict=True)
                ]
            )
        return out

    def _estimate(self, metric: Metric, group: IntArray, worlds: FloatArray) -> base.Estimate:
        labeled = group[self.data.labeled[group]]
        plain = self._expect(metric, group)
        residual, noise = self._find_residual(metric, labeled, plain.size)
        span = metric.high - metric.low
        gain, left = self._find_gain(residual, noise, span if np.isfinite(span) else 1.0)
        known = labeled.size / max(1, group.size)
        value = plain + (known + (1.0 - known) * gain) * residual
        value = value + (1.0 - gain) * self._correct_differences(metric, group)
        value = np.clip(value, metric.low, metric.high)
        rng = np.random.default_rng(drawing.make_child_seed(self.seed, 3))
        normal = rng.standard_normal((len(worlds), self.constants.label_draws))
        worlds = worlds + normal[:, : len(noise)] @ noise * np.sqrt(gain / len(noise))
        worlds = worlds + left * rng.standard_normal(worlds.shape)
        about = (value, worlds, None, correction.Spread(), self.constants.edge)
        return base.Estimate(value, correction.recenter(metric, *about))

    def _correct_differences(self, metric: Metric, group: IntArray) -> FloatArray | float:
        """What labels of suggested rows say of differences beyond W."""
        data, most = self.data, self.constants.world_rows
        weighed = data.design.rounds is not None and data.design.weights is not None
        if not weighed or data.weights is not None or group.size < data.n_rows:
            return 0.0
        rows = beliefs.take_part(group, most, data.n_rows, drawing.make_child_seed(self.seed, 1))
        step = suggested.guess_decision_bias(
            metric,
            data,
            self.soft,
            rows,
            self.constants.bias_labels,
            self.constants.least_noise,
        )
        return 0.0 if step is None else step

    def _find_residual(
        self, metric: Metric, labeled: IntArray, size: int
    ) -> tuple[FloatArray, FloatArray]:
        """R (M,) and the metric of labels drawn from W, minus its mean (B, M).

        Both are zero where the labels say nothing.
        """
        if labeled.size == 0:
            return np.zeros(size), np.zeros((1, size))
        soft = model.add_label_shift(self.soft[labeled], self.shift)
        plan = metric.plan(self.data.scores[labeled])
        truth = one_hot_mass(self.data.labels[labeled], self.data.n_classes)
        observed = plan(self._weigh(truth, labeled, labels=True))[0]
        drawn = self._draw_over_labels(metric, labeled, soft, labels=True)
        mean = drawing.average_defined(drawn)
        known = np.isfinite(observed) & np.isfinite(mean)
        noise = np.where(np.isfinite(drawn) & known, drawn - mean, 0.0)
        if self.data.clusters is not None:
            worth = weigh_rows(self.correlation, self.data.clusters[labeled])
            noise *= np.sqrt(labeled.size / worth.sum())
        residual = np.where(known & (noise != 0.0).any(axis=0), observed - mean, 0.0)
        if size == self.data.n_models:
            noise *= self._compare_with_seen(residual, noise, labeled)
        return residual, noise

    def _compare_with_seen(
        self, residual: FloatArray, noise: FloatArray, labeled: IntArray
    ) -> FloatArray:
        """By what (M,) the noise of each judge is greater, half as W and half as the labels say.

        n labels whose mean residual is R vary by R^2 or more: one label that W thought impossible
        says little about a judge who gave a single answer.
        """
        answered = np.isfinite(self.data.scores[labeled]).any(axis=2)
        weights = self.data.label_weights
        counted = answered * (1.0 if weights is None else weights[labeled][:, None])
        inverse = (counted**2).sum(axis=0) / np.maximum(counted.sum(axis=0), 1e-12) ** 2
        variance = np.maximum((noise**2).mean(axis=0), 1e-12)
        return np.sqrt(0.5 + 0.5 * np.maximum(residual**2 * inverse / variance, 1.0))

    def _find_gain(
        self, residual: FloatArray, noise: FloatArray, span: float
    ) -> tuple[FloatArray, FloatArray]:
        """tau^2 / (tau^2 + V) (M,), zero where the labels say nothing; tau there, else zero.

        Residuals of judges who err together count as few, not as M. A curve, with many values a
        judge, takes tau from its prior, so that it is the same whichever judges are asked for.
        """
        constants, variance = self.constants, (noise**2).mean(axis=0) / span**2
        known = variance > 0.0
        usual = constants.bias * self.design.agreement.error
        tau, curve = usual, residual.size != self.data.n_models
        if known.any() and not curve:
            r, v = residual[known] / span, variance[known]
            taus = np.geomspace(*constants.taus)
            total = v[:, None] + taus**2
            each = -0.5 * (np.log(total) + (r**2)[:, None] / total)
            together = 1.0 / (1.0 + constants.errs_together * (r.size - 1))
            prior = -0.5 * ((np.log(taus) - np.log(usual)) / constants.bias_spread) ** 2
            tau = float(taus[np.argmax(together * each.sum(axis=0) + prior)])
        left = np.where(known | curve, 0.0, span * tau)
        return np.where(known, tau**2 / (tau**2 + variance), 0.0), left

    def _expect(self, metric: Metric, rows: IntArray) -> FloatArray:
        """The metric (M,) of W on ``rows``: plugged in, or the mean over labels drawn from it."""
        if metric.hard_only:
            return drawing.average_defined(self._draw_over_labels(metric, rows, self.soft[rows]))
        plan = metric.plan(self.data.scores[rows])
        return plan(self._weigh(self.soft[rows][None], rows))[0]

    def _draw_over_labels(
        self, metric: Metric, rows: IntArray, soft: FloatArray, *, labels: bool = False
    ) -> FloatArray:
        """The metric (B, M) of labels drawn from ``soft`` (r, K), the same ones at every call."""
        plan, constants = metric.plan(self.data.scores[rows]), self.constants
        n_draws, cells = constants.label_draws, constants.batch_cells
        masses = beliefs.draw_masses(soft, n_draws, cells, drawing.make_child_seed(self.seed, 0))
        return np.concatenate([plan(self._weigh(m, rows, labels=labels)) for m in masses])

    def _draw_worlds(self, metrics: Sequence[Metric], group: IntArray) -> list[FloatArray]:
        """Draws (D, M) of each metric on at most ``world_rows`` of the rows, not yet moved."""
        data, most, seed = self.data, self.constants.world_rows, self.seed
        rows = beliefs.take_part(group, most, data.n_rows, drawing.make_child_seed(seed, 1))
        rng = np.random.default_rng(drawing.make_child_seed(seed, 2))
        features = self.design.make_features(data.scores[rows])
        batch = max(1, self.constants.batch_cells // max(1, features.offset.size))
        own = None if data.clusters is None else data.clusters[rows]

        def draw() -> Iterator[Worlds]:
            for start in track(range(0, len(self.draws), batch), "worlds"):
                soft = features.compute_posteriors(self.draws[start : start + batch])
                counts = draw_row_exponentials(rng, len(soft), data.n_rows, data.clusters)[:, rows]
                yield Worlds(soft, counts, rng, own)

        plans = [metric.plan(data.scores[rows]) for metric in metrics]
        weights = None if data.weights is None else data.weights[rows]
        shrink = find_part_spread(rows, group, data.clusters)
        return compute_in_worlds(draw(), metrics, plans, shrink, weights)

    def _weigh(self, mass: FloatArray, rows: IntArray, *, labels: bool = False) -> FloatArray:
        """Mass (D, r, K), rows counting by their weight, or labels by theirs."""
        weights = self.data.label_weights if labels else self.data.weights
        return mass if weights is None else mass * weights[rows][:, None]
