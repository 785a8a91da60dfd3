"""SSME-M: SSME fitted to one classifier at a time, each metric from that classifier's posterior.

The paper's ablation: what is lost without the other classifiers. Beliefs about a row's label
differ from classifier to classifier.

Source: Shanmugam et al. 2025, sec. 5.1 and app. D.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.beliefs.per_classifier import PerModelPosterior
from ssme.methods.beliefs.posterior import clamp
from ssme.methods.estimators.ssme import SsmeOptions, describe_convergence, fit_scores
from ssme.methods.facts import Convergence, Facts
from ssme.methods.parts.seeds import spawn_seeds
from ssme.methods.specs import MethodSpec
from ssme.mixture.model import MixtureFit
from ssme.progress import track

__all__ = ["SsmeMMethod"]


@dataclass(frozen=True, eq=False)
class SsmeMFacts(Facts):
    """The preset, and the mixture of every classifier by its name."""

    preset: str
    mixtures: Mapping[str, MixtureFit]

    @property
    def fits(self) -> Mapping[str, Convergence]:
        return {model: describe_convergence(fitted) for model, fitted in self.mixtures.items()}

    def describe(self) -> dict[str, Any]:
        by_model = {model: fitted.describe() for model, fitted in self.mixtures.items()}
        return {"preset": self.preset, "per_model": by_model}


@dataclass(frozen=True)
class SsmeMMethod(SsmeOptions):
    """`SsmeMethod` for every classifier on its own, with the same options.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.SsmeMMethod(max_iter=10)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'ssme_m'
    """

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="ssme_m",
        title="SSME fitted to one classifier at a time",
        source="Shanmugam et al. 2025, app. D",
        does="It fits the mixture of SSME to each classifier by itself.",
        assumes=(
            "It makes the assumptions of SSME for one classifier at a time; it learns nothing "
            "from the others."
        ),
        fails="It is unreliable where the scores of a classifier do not separate the classes.",
        designs=("random", "by_score", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> PerModelPosterior:
        options, n_draws = self.make_mixture_options(), self.choose_draws()
        fit_seed, draw_seed = spawn_seeds(rng, 2)
        posteriors, fits = [], {}
        for j, seed in enumerate(track(fit_seed.spawn(data.n_models), "models")):
            alone = replace(data, scores=data.scores[:, [j]], models=(data.models[j],))
            fitted = fit_scores(alone, options, np.random.default_rng(seed))
            posteriors.append(clamp(fitted.em.responsibilities, data.labels))
            fits[data.models[j]] = fitted
        facts = SsmeMFacts(self.preset, fits)
        return PerModelPosterior(
            data, np.stack(posteriors), n_draws, self.n_worlds, draw_seed, facts
        )
