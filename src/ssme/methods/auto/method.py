"""auto: the classifiers' pooled score, recalibrated on few labels, with draws that cover.

The default of `evaluate`. There is no density model: all it learns is a few dozen coefficients.

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
5. `sampler` draws the coefficients, the families the mode leaves out included; `worlds` makes
   each draw a state of the world, W_d with rows weighted as if sampled anew, and the estimate of
   step 4 is computed in every world.
6. `recentering`: draws moved to have the point estimate as their median. Their quantiles are the
   interval; differences, ranks and P(better) are read off them.

No label: steps 3 and 5 are the prior, the method is label-free and its facts say so. A metric that
needs hard labels (a callable) is averaged over labels drawn from W. Worlds are computed on a part
of the rows where there are very many; the point estimate always uses all. Steps 4 to 6 are in
`belief`.

All numbers are in `constants`; their origin, what was tried and did not help:
docs/auto-notebook.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.auto.belief import AutoBelief, AutoFacts, AutoPredictor, posterior_in_chunks
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import label_share
from ssme.methods.auto.independence import Pooling
from ssme.methods.auto.model import Design, LabelEvidence, find_mode
from ssme.methods.auto.pool import clip_scores, label_weights, present_scores
from ssme.methods.auto.prior import predict_temperature
from ssme.methods.auto.sampler import draw_coefficients
from ssme.methods.base import MethodSpec
from ssme.methods.parts.draw_options import joint_draws
from ssme.options import Declared, Instance, Nothing, Number, OneOf, Series, option

__all__ = ["Auto"]


@dataclass(frozen=True)
class Auto(Declared):
    """Recalibrated pool of the classifiers: the default method."""

    n_draws: int = joint_draws(200)
    temperature: tuple[float, float, float] | None = option(
        None,
        "Coefficients (alpha, beta, gamma) of the line that predicts, without labels, how sharp "
        "the pool should be. With many labeled sets of one kind they can be fitted to them "
        "(benchmarks/auto/priors.py).",
        OneOf(Series(Number(least=-10.0, most=10.0), length=3), Nothing("those of the constants")),
    )
    constants: Constants = option(
        Constants(),
        "All other numbers that change a result.",
        Instance(Constants),
        python_only=True,
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="auto",
        title="Recalibrated pool of the classifiers",
        source="this project: docs/auto.md",
        needs_labels=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> AutoBelief:
        of = self.constants
        labeled = np.flatnonzero(data.labeled)
        if labeled.size > of.fit_rows:
            labeled = np.sort(rng.choice(labeled, of.fit_rows, replace=False))
        q, present = clip_scores(data.scores, of.pool.clip), present_scores(data.scores)
        labels = data.labels[labeled]
        weights = label_weights(q[labeled], present[labeled], labels, of.pool.label_trust)
        pooling = Pooling.of(q, present, weights, of)
        design = Design(pooling(q, present), q, pooling.log_share, of.model)
        line = of.prior.coefficients if self.temperature is None else self.temperature
        prior = predict_temperature(q, replace(of.prior, coefficients=line))
        prior = prior.independent(pooling.independent, data.n_models)
        evidence = LabelEvidence.of(design, labeled, labels, prior)
        mode = find_mode(evidence)
        wide = replace(evidence, prior=prior.widened(of.prior.widening))
        draws = draw_coefficients(wide, mode, self.n_draws, rng, of.sampler)
        n_design = 1 + design.families[-1].columns.stop
        facts = AutoFacts(
            label_free=labeled.size == 0,
            temperature=float(np.exp(mode[0])),
            prior_temperature=float(np.exp(prior.center)),
            prior_scale=prior.scale,
            pool_weights=dict(zip(data.models, weights.round(4).tolist(), strict=True)),
            independence=pooling.independent,
            correction_weight=label_share(data.n_labeled, data.n_models, of.correction),
            rows_behind_draws=min(data.n_rows, of.world_rows),
        )
        return AutoBelief(
            data=data,
            design=design,
            predictor=AutoPredictor(pooling, mode, of),
            soft=posterior_in_chunks(design, mode, of.batch_cells),
            draws=draws[:, :n_design],
            label_shift=evidence.label_shift(mode),
            label_shift_draws=evidence.label_shift(draws),
            seed=rng.bit_generator.seed_seq.spawn(1)[0],  # type: ignore[attr-defined]
            facts=facts,
            constants=of,
        )
