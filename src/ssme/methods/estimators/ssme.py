"""SSME: the joint P(y, s) by a semi-supervised mixture, metrics over label draws from P(y | s).

1. s = additive log-ratio of every classifier's probabilities, stacked: R^(M (K-1)).
2. P(y) P(s | y) fitted by EM to labeled and unlabeled rows, P(s | y) a weighted KDE per class
   (or a Gaussian mixture, or a flow).
3. S label vectors drawn from P(y | s), true labels kept; the metric of each, averaged.

``preset="paper"`` is the method as the paper describes it, ``"public_code"`` as its public code
runs it; an option given by name overrides the preset's.

Source: Shanmugam, Sadhuka, Raghavan, Guttag, Berger, Pierson, "Evaluating multiple models using
labeled and unlabeled data", NeurIPS 2025, sec. 3 and app. D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs.posterior import LabelPosterior, child_seed, clamp
from ssme.metrics.base import FloatArray
from ssme.mixture.model import (
    MixtureFit,
    MixtureOptions,
    fit_mixture,
    preset_options,
    refit_responsibilities,
)
from ssme.mixture.start import draw_probabilities
from ssme.progress import track
from ssme.transforms.alr import stack_alr

__all__ = ["PRESET_DRAWS", "MixturePredictor", "SsmeMethod", "SsmeOptions", "fit_scores"]

PRESET_DRAWS = {"paper": 500, "public_code": 100}

REFITS = 20
"""Bootstrap refits; with 10 worlds each they make up `ssme.methods.parts.row_weights.N_WORLDS`."""

REFIT_ROWS = 20_000
"""Rows up to which refits are worth their time: beyond, rows hardly add to the interval."""

FITTED_ROWS = 10_000
"""Rows the mixture is fitted to, unless told otherwise: a KDE's cost is their square."""

APPLIED_ROWS = 100_000
"""Rows at a time that a fitted mixture is applied to."""


@dataclass(frozen=True)
class SsmeOptions:
    """The options of SSME and SSME-M; None means: what the preset says.

    Parameters
    ----------
    preset : "paper" or "public_code".
    density : "kde", "gmm" (Gaussians), "flow" (extra `flow`), or "auto": by size and dimension.
    kernel : "gaussian", "epanechnikov" or "exponential".
    bandwidth : "isj", "silverman", "scott", "public_code" or a number.
    across : "smallest" bandwidth over dimensions, or "each" its own.
    covariance : of Gaussians: "full", "tied", "diagonal" or "low_rank".
    components : Gaussians per class.
    device : torch device for kernel sums and flows, such as "cuda"; None: the CPU's own engines.
    init : "draw" from the mean score, or "knn".
    lambda_u : weight of the unlabeled rows in the likelihood.
    max_iter, tol : EM's end; the largest change of a responsibility that counts as none.
    clip : smallest probability before the log-ratio.
    n_draws : label vectors drawn for the estimates.
    """

    preset: str = "paper"
    density: str | None = None
    kernel: str | None = None
    bandwidth: str | float | None = None
    across: str | None = None
    covariance: str | None = None
    components: int | None = None
    device: str | None = None
    init: str | None = None
    lambda_u: float | None = None
    max_iter: int | None = None
    tol: float | None = None
    clip: float | None = None
    n_draws: int | None = None

    def mixture_options(self) -> MixtureOptions:
        """The preset with this method's own options in place."""
        return preset_options(
            self.preset,
            density=self.density,
            kernel=self.kernel,
            bandwidth=self.bandwidth,
            across=self.across,
            covariance=self.covariance,
            components=self.components,
            device=self.device,
            init=self.init,
            lambda_u=self.lambda_u,
            max_iter=self.max_iter,
            tol=self.tol,
            clip=self.clip,
        )

    def draws(self) -> int:
        """Label vectors per estimate."""
        n_draws = PRESET_DRAWS[self.preset] if self.n_draws is None else self.n_draws
        if n_draws < 1:
            raise InputError(f"n_draws is {n_draws!r}", allowed="an integer >= 1")
        return n_draws


@dataclass(frozen=True)
class SsmeMethod(SsmeOptions):
    """Semi-supervised model evaluation from the scores of all classifiers together.

    ``n_bootstrap`` is the number of refits to resampled rows behind the intervals; None: `REFITS`
    up to `REFIT_ROWS` rows and none beyond, where labels and rows alone vary. The estimates are
    the same with any number.

    ``max_rows`` is the number of rows the mixture is fitted to: with more, all labeled rows and a
    random sample of the others are, and the remaining rows get P(y | s) from the fit. None: all.
    """

    n_bootstrap: int | None = None
    max_rows: int | None = FITTED_ROWS

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="ssme",
        title="Semi-supervised mixture of all classifiers' scores, as published",
        source="Shanmugam et al. 2025, sec. 3",
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabelPosterior:
        options, n_draws = self.mixture_options(), self.draws()
        fit_seed, draw_seed = rng.bit_generator.seed_seq.spawn(2)  # type: ignore[attr-defined]
        fit_rng = np.random.default_rng(fit_seed)
        rows = self._fitted_rows(data, fit_rng)
        seen = data if rows.size == data.n_rows else data.take(rows)
        fitted = fit_scores(seen, options, fit_rng)
        predictor = MixturePredictor(fitted, options)
        posterior = np.empty((data.n_rows, data.n_classes))
        posterior[rows] = fitted.em.responsibilities
        rest = np.setdiff1d(np.arange(data.n_rows), rows)
        if rest.size:
            posterior[rest] = predictor(data.scores[rest])
        posterior = clamp(posterior, data.labels)
        refits: tuple[FloatArray, ...] = ()
        if rest.size == 0:
            refit_rng = np.random.default_rng(child_seed(fit_seed, 0))
            refits = self._refits(data, fitted, options, refit_rng)
        notes = {
            "preset": self.preset,
            "n_bootstrap": len(refits),
            "fitted_rows": rows.size,
            **fitted.describe(),
        }
        return LabelPosterior(data, posterior, n_draws, draw_seed, notes, refits, predictor)

    def _fitted_rows(self, data: ScoreSet, rng: np.random.Generator) -> NDArray[np.int64]:
        """All labeled rows, and unlabeled ones up to ``max_rows`` in all."""
        if self.max_rows is not None and self.max_rows < 1:
            raise InputError(f"max_rows is {self.max_rows!r}", allowed="an integer >= 1, or None")
        if self.max_rows is None or data.n_rows <= self.max_rows:
            return np.arange(data.n_rows)
        labeled, unlabeled = np.flatnonzero(data.labeled), np.flatnonzero(~data.labeled)
        room = min(max(self.max_rows - labeled.size, 0), unlabeled.size)
        return np.sort(np.concatenate([labeled, rng.choice(unlabeled, room, replace=False)]))

    def _refits(
        self, data: ScoreSet, fitted: MixtureFit, options: MixtureOptions, rng: np.random.Generator
    ) -> tuple[FloatArray, ...]:
        """Posteriors (n, K) of refits to resampled rows, labeled rows clamped in each."""
        n_refits = self.n_bootstrap
        if n_refits is None:
            n_refits = REFITS if data.n_rows <= REFIT_ROWS else 0
        if n_refits < 0:
            raise InputError(f"n_bootstrap is {n_refits!r}", allowed="an integer >= 0")
        points = stack_alr(data.scores, options.clip, only_exact=options.clip_only_exact)
        problem = (fitted, points, data.labels, draw_probabilities(data.scores), options)
        return tuple(
            clamp(refit_responsibilities(*problem, rng, data.weights), data.labels)
            for _ in track(range(n_refits), "refits")
        )


@dataclass(frozen=True, eq=False)
class MixturePredictor:
    """P(y | s) of new rows under a fitted mixture."""

    fitted: MixtureFit
    options: MixtureOptions

    def __call__(self, scores: FloatArray) -> FloatArray:
        """(n, K) for ``scores`` (n, M, K)."""
        clip, only_exact = self.options.clip, self.options.clip_only_exact
        parts = [
            self.fitted.posterior_at(
                stack_alr(scores[start : start + APPLIED_ROWS], clip, only_exact=only_exact)
            )
            for start in range(0, len(scores), APPLIED_ROWS)
        ]
        return np.concatenate(parts)


def fit_scores(data: ScoreSet, options: MixtureOptions, rng: np.random.Generator) -> MixtureFit:
    """The mixture fitted to the log-ratios of ``data``; the mean score is the first guess."""
    points = stack_alr(data.scores, options.clip, only_exact=options.clip_only_exact)
    return fit_mixture(
        points, data.labels, draw_probabilities(data.scores), options, rng, data.weights
    )
