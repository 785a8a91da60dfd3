"""answers: judges who share difficulty, weighed by each other and by few labels.

For people and language models who say a class or a grade, and for classifiers of which only the
predicted class is kept, alone or beside classifiers that give probabilities.

1. `evidence`: what each says, as evidence for every class.
2. `agreement`: how good each is, how sharp the pool of all should be and how frequent the classes
   are, from how they agree with each other, without a label.
3. `ssme.methods.regression`: what the labels change about that. They also say how the rows that
   have them differ, and whether this is a usual set of judges at all (`belief.fit_worlds`).
4. `belief`: the metric of P(y | answers) on all rows, corrected by what the labels say beyond it.

Dawid and Skene (JRSS C 28, 1979) let every judge err independently given the class, and so become
sure of what judges get wrong together. Here the pool's sharpness is a parameter of its own, which
agreement and labels decide: judges share difficulty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.agreement import AnswersDesign
from ssme.methods.answers.belief import AnswersBelief, AnswersFacts, fit_worlds
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import EvidenceEncoders
from ssme.methods.base import DeclaredMethod, MethodSpec
from ssme.methods.draws import declare_constants, declare_joint_draws, spawn_seed
from ssme.metrics.base import FloatArray


@dataclass(frozen=True)
class Answers(DeclaredMethod, example="n_draws=100"):
    """Judges who share difficulty: a pool of answers, ratings and probabilities."""

    n_draws: int = declare_joint_draws(200)
    constants: AnswerConstants = declare_constants(AnswerConstants())

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="answers",
        title="Judges who share difficulty",
        source="this project: docs/answers.md",
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
            seed=spawn_seed(rng),
            facts=_collect_facts(data, design, theta, soft, probability),
            constants=constants,
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
