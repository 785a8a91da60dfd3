"""SSME-M: SSME fitted to one classifier at a time, each metric from that classifier's posterior.

The paper's ablation: what is lost without the other classifiers. Beliefs about a row's label
differ from classifier to classifier.

Source: Shanmugam et al. 2025, sec. 5.2 and app. E.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs.per_classifier import PerModelPosterior
from ssme.methods.beliefs.posterior import clamp
from ssme.methods.estimators.ssme import SsmeOptions, fit_scores
from ssme.progress import track

__all__ = ["SsmeMMethod"]


@dataclass(frozen=True)
class SsmeMMethod(SsmeOptions):
    """`SsmeMethod` for every classifier on its own, with the same options."""

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="ssme_m",
        title="SSME fitted to one classifier at a time",
        source="Shanmugam et al. 2025, app. E",
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> PerModelPosterior:
        options, n_draws = self.mixture_options(), self.draws()
        fit_seed, draw_seed = rng.bit_generator.seed_seq.spawn(2)  # type: ignore[attr-defined]
        posteriors, notes = [], {}
        for j, seed in enumerate(track(fit_seed.spawn(data.n_models), "models")):
            alone = replace(data, scores=data.scores[:, [j]], models=(data.models[j],))
            fitted = fit_scores(alone, options, np.random.default_rng(seed))
            posteriors.append(clamp(fitted.em.responsibilities, data.labels))
            notes[data.models[j]] = fitted.describe()
        everything = {"preset": self.preset, "per_model": notes}
        return PerModelPosterior(
            data, np.stack(posteriors), n_draws, self.n_worlds, draw_seed, everything
        )
