"""SSME-M: SSME fitted to one classifier at a time, each metric from that classifier's posterior.

The paper's ablation: what is lost without the other classifiers. Beliefs about a row's label
differ from classifier to classifier, so there is no single posterior; label draws of all
classifiers share their random numbers.

Source: Shanmugam et al. 2025, sec. 5.2 and app. E.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.densities.base import FloatArray
from ssme.methods.base import BoolArray, Estimate, MethodSpec
from ssme.methods.posterior import LabelPosterior, clamp
from ssme.methods.ssme import SsmeOptions, fit_scores
from ssme.metrics.base import Metric

__all__ = ["PerModelPosterior", "SsmeMMethod"]


@dataclass(frozen=True, eq=False)
class PerModelPosterior:
    """One `LabelPosterior` per classifier; its estimates are theirs, side by side."""

    parts: tuple[LabelPosterior, ...]
    notes: Mapping[str, Any]
    posterior: None = None

    @property
    def posterior_per_model(self) -> FloatArray:
        """P(y = k | that classifier's score), (M, n, K)."""
        return np.stack([part.posterior for part in self.parts])

    def estimate(
        self, metrics: Sequence[Metric], rows: Sequence[BoolArray | None]
    ) -> list[list[Estimate]]:
        """Each classifier's estimates from its own posterior."""
        each = [part.estimate(metrics, rows) for part in self.parts]
        return [
            [_side_by_side([of_model[g][m] for of_model in each]) for m in range(len(metrics))]
            for g in range(len(rows))
        ]


@dataclass(frozen=True)
class SsmeMMethod(SsmeOptions):
    """`SsmeMethod` for every classifier on its own, with the same options."""

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="ssme_m",
        title="SSME fitted to one classifier at a time",
        source="Shanmugam et al. 2025, app. E",
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> PerModelPosterior:
        options, n_draws = self.mixture_options(), self.draws()
        fit_seed, draw_seed = rng.bit_generator.seed_seq.spawn(2)  # type: ignore[attr-defined]
        parts = []
        for j, seed in enumerate(fit_seed.spawn(data.n_models)):
            alone = replace(data, scores=data.scores[:, [j]], models=(data.models[j],))
            fitted = fit_scores(alone, options, np.random.default_rng(seed))
            posterior = clamp(fitted.em.responsibilities, data.labels)
            parts.append(LabelPosterior(alone, posterior, n_draws, draw_seed, fitted.describe()))
        per_model = {part.data.models[0]: part.notes for part in parts}
        return PerModelPosterior(tuple(parts), {"preset": self.preset, "per_model": per_model})


def _side_by_side(estimates: Sequence[Estimate]) -> Estimate:
    draws = [e.draws for e in estimates if e.draws is not None]
    value = np.concatenate([e.value for e in estimates])
    return Estimate(value, np.concatenate(draws, axis=1) if draws else None)
