"""SSME: the joint P(y, s) by a semi-supervised mixture, metrics over label draws from P(y | s).

1. s = additive log-ratio of every classifier's probabilities, stacked: R^(M (K-1)).
2. P(y) P(s | y) fitted by EM to labeled and unlabeled rows, P(s | y) a weighted KDE per class
   (or a Gaussian mixture, or a flow).
3. S label vectors drawn from P(y | s), true labels kept; the metric of each, averaged.

``preset="paper"`` is the method as the paper describes it, ``"public_code"`` as its public code
runs it; an option given by name overrides the preset's.

Source: Shanmugam, Sadhuka, Raghavan, Guttag, Berger, Pierson, "Evaluating multiple models using
labeled and unlabeled data", NeurIPS 2025, sec. 3; sampling, the flow and
the log-ratio: app. E.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.methods import base, beliefs, draws
from ssme.mixture import gaussian_mixture, kde, kernels
from ssme.mixture import model as mixture
from ssme.options import Enumeration, Nothing, Number, OneOf, Text, Whole, option, optional
from ssme.progress import track

PRESET_DRAWS = {"paper": 500, "public_code": 100}
"""Label vectors of each preset."""

APPLIED_ROWS = 100_000
"""Rows at a time that a fitted mixture is applied to."""

PRESET = "what the preset says"


@dataclass(frozen=True)
class SsmeOptions(base.DeclaredMethod):
    """The options of SSME and SSME-M."""

    preset: str = option(
        "paper",
        "Values of the options below that are null: as the paper describes the method, or as its "
        "public code runs it.",
        Enumeration(*mixture.PRESETS),
    )
    density: str | None = optional(
        "Density of the scores given the class: a kernel density estimate, Gaussians, a "
        "normalizing flow (extra `flow`), or automatic by the number of rows and dimensions.",
        Enumeration(*mixture.DENSITIES),
        usual=PRESET,
    )
    kernel: str | None = optional(
        "Kernel of the kernel density estimate.", Enumeration(*kernels.KERNELS), usual=PRESET
    )
    bandwidth: str | float | None = optional(
        "Bandwidth of the kernel density estimate: a rule, or a number.",
        Enumeration(*kde.BANDWIDTH_RULES),
        Number(least=1e-6, most=1e6),
        usual=PRESET,
    )
    across: str | None = optional(
        "Bandwidth in several dimensions: the smallest of all, or each its own.",
        Enumeration(*kde.ACROSS),
        usual=PRESET,
    )
    covariance: str | None = optional(
        "Covariance of the Gaussians.", Enumeration(*gaussian_mixture.COVARIANCES), usual=PRESET
    )
    components: int | None = optional("Number of Gaussians per class.", Whole(1, 100), usual=PRESET)
    device: str | None = optional(
        'Torch device for kernel sums and flows, such as "cuda".',
        Text(),
        usual="the processor, without torch",
    )
    init: str | None = optional(
        "First guess of the unlabeled rows: drawn from the mean score, or from their nearest "
        "labeled neighbors.",
        Enumeration(*mixture.STARTS),
        usual=PRESET,
    )
    lambda_u: float | None = optional(
        "Weight of an unlabeled row in the likelihood.", Number(least=1e-6, most=1e6), usual=PRESET
    )
    max_iter: int | None = optional("Most steps of EM.", Whole(1, 10_000), usual=PRESET)
    tol: float | None = optional(
        "Largest change of a responsibility at which EM has converged.",
        Number(least=0.0, most=1.0),
        usual=PRESET,
    )
    clip: float | None = optional(
        "Smallest probability before the log-ratio; smaller ones are raised to it.",
        Number(least=1e-15, most=0.1),
        usual=PRESET,
    )
    n_draws: int | None = optional(
        "Number of label vectors drawn for each estimate.", Whole(1, draws.MOST_DRAWS), usual=PRESET
    )
    n_worlds: int = draws.declare_world_draws()

    def make_mixture_options(self) -> mixture.MixtureOptions:
        """The preset, with the options that are given in its place."""
        preset = mixture.PRESETS[self.preset]
        given = {
            each.name: getattr(self, each.name)
            for each in fields(preset)
            if hasattr(self, each.name)
        }
        return replace(
            preset, **{name: value for name, value in given.items() if value is not None}
        )

    def choose_draws(self) -> int:
        """Label vectors per estimate."""
        return PRESET_DRAWS[self.preset] if self.n_draws is None else self.n_draws


@dataclass(frozen=True)
class SsmeMethod(SsmeOptions, example="n_bootstrap=0"):
    """Semi-supervised model evaluation from the scores of all classifiers together."""

    n_bootstrap: int = option(
        20,
        "Number of refits to resampled rows behind the intervals; with 0, labels and rows alone "
        "vary. The estimates are the same with any number.",
        Whole(0, 1000),
    )
    bootstrap_rows: int = option(
        20_000,
        "Number of rows up to which refits are made; beyond, they hardly add to the interval.",
        Whole(0, 10**9),
    )
    max_rows: int | None = option(
        10_000,
        "Number of rows that the mixture is fitted to. With more, all labeled rows and a random "
        "sample of the others are, and the remaining rows get P(y | s) from the fit.",
        OneOf(Whole(1, 10**9), Nothing("all rows")),
    )

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="ssme",
        title="Semi-supervised mixture of all classifiers' scores, as published",
        source="Shanmugam et al. 2025, sec. 3",
        does="It fits a mixture with one density of scores per class to labeled and unlabeled "
        "rows, and averages every metric over labels drawn from that mixture.",
        assumes="It assumes that the labeled rows were chosen at random, that each class has its "
        "own region of scores, and that there are enough rows to estimate densities in as many "
        "dimensions as there are classifiers.",
        fails="It is unreliable with many classifiers and few rows, and where the classes overlap.",
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.LabelPosterior:
        options, n_draws = self.make_mixture_options(), self.choose_draws()
        fit_seed, draw_seed = draws.spawn_seed(rng), draws.spawn_seed(rng)
        fit_rng = np.random.default_rng(fit_seed)
        rows = np.arange(data.n_rows)
        if self.max_rows is not None and data.n_rows > self.max_rows:
            labeled, unlabeled = np.flatnonzero(data.labeled), np.flatnonzero(~data.labeled)
            room = min(max(self.max_rows - labeled.size, 0), unlabeled.size)
            chosen = fit_rng.choice(unlabeled, room, replace=False)
            rows = np.sort(np.concatenate([labeled, chosen]))
        seen = data if rows.size == data.n_rows else data.take(rows)
        fitted = fit_scores(seen, options, fit_rng)
        predictor = MixturePredictor(fitted, options)
        posterior = np.empty((data.n_rows, data.n_classes))
        posterior[rows] = fitted.em.responsibilities
        rest = np.setdiff1d(np.arange(data.n_rows), rows)
        if rest.size:
            posterior[rest] = predictor(data.scores[rest])
        posterior = beliefs.clamp(posterior, data.labels)
        refits: list[FloatArray] = []
        if rest.size == 0 and data.n_rows <= self.bootstrap_rows:
            refit_rng = np.random.default_rng(draws.make_child_seed(fit_seed, 0))
            points = mixture.stack_alr(
                data.scores, options.clip, only_exact=options.clip_only_exact
            )
            problem = (
                fitted,
                points,
                data.labels,
                mixture.draw_probabilities(data.scores),
                options,
            )
            for _ in track(range(self.n_bootstrap), "refits"):
                refit = mixture.refit_responsibilities(*problem, refit_rng, data.weights)
                refits.append(beliefs.clamp(refit, data.labels))
        values = {"preset": self.preset, "n_bootstrap": len(refits), "fitted_rows": rows.size}
        facts = base.Facts(
            values=values | fitted.describe(),
            fits={"": describe_convergence(fitted)},
            is_mixture=True,
        )
        drawn = (n_draws, self.n_worlds, draw_seed)
        return beliefs.LabelPosterior(data, posterior, *drawn, facts, tuple(refits), predictor)


@dataclass(frozen=True, eq=False)
class MixturePredictor:
    """P(y | s) of new rows under a fitted mixture."""

    fitted: mixture.MixtureFit
    options: mixture.MixtureOptions

    def __call__(self, scores: FloatArray) -> FloatArray:
        """(n, K) for ``scores`` (n, M, K)."""
        clip, only_exact = self.options.clip, self.options.clip_only_exact
        parts = [
            self.fitted.compute_posterior_at(
                mixture.stack_alr(scores[start : start + APPLIED_ROWS], clip, only_exact=only_exact)
            )
            for start in range(0, len(scores), APPLIED_ROWS)
        ]
        return np.concatenate(parts)


def describe_convergence(fitted: mixture.MixtureFit) -> base.Convergence:
    """How EM ended."""
    em = fitted.em
    return base.Convergence(em.converged, em.n_iter, np.asarray(em.objective_history))


def fit_scores(
    data: ScoreSet, options: mixture.MixtureOptions, rng: np.random.Generator
) -> mixture.MixtureFit:
    """The mixture fitted to the log-ratios of ``data``; the mean score is the first guess."""
    points = mixture.stack_alr(data.scores, options.clip, only_exact=options.clip_only_exact)
    return mixture.fit_mixture(
        points, data.labels, mixture.draw_probabilities(data.scores), options, rng, data.weights
    )


# -------------------------------------------------------------------------------------------------
# SSME-M: SSME fitted to one classifier at a time, each metric from that classifier's posterior.
#
# The paper's ablation: what is lost without the other classifiers. Beliefs about a row's label
# differ from classifier to classifier.
#
# Source: Shanmugam et al. 2025, sec. 5.1 and app. D.


@dataclass(frozen=True)
class SsmeMMethod(SsmeOptions, example="max_iter=10"):
    """`SsmeMethod` for every classifier on its own, with the same options."""

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="ssme_m",
        title="SSME fitted to one classifier at a time",
        source="Shanmugam et al. 2025, app. D",
        does="It fits the mixture of SSME to each classifier by itself.",
        assumes="It makes the assumptions of SSME for one classifier at a time; it learns nothing "
        "from the others.",
        fails="It is unreliable where the scores of a classifier do not separate the classes.",
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.PerModelPosterior:
        options, n_draws = self.make_mixture_options(), self.choose_draws()
        fit_seed, draw_seed = draws.spawn_seed(rng), draws.spawn_seed(rng)
        posteriors, fits = [], {}
        for j, seed in enumerate(track(fit_seed.spawn(data.n_models), "models")):
            alone = replace(data, scores=data.scores[:, [j]], models=(data.models[j],))
            fitted = fit_scores(alone, options, np.random.default_rng(seed))
            posteriors.append(beliefs.clamp(fitted.em.responsibilities, data.labels))
            fits[data.models[j]] = fitted
        per_model = {model: fitted.describe() for model, fitted in fits.items()}
        facts = base.Facts(
            values={"preset": self.preset, "per_model": per_model},
            fits={model: describe_convergence(fitted) for model, fitted in fits.items()},
        )
        return beliefs.PerModelPosterior(
            data, np.stack(posteriors), n_draws, self.n_worlds, draw_seed, facts
        )
