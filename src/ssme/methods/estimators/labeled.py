"""Labels alone: each metric on the labeled rows, with intervals that hold at 20 labels.

The point estimate ignores the unlabeled rows. Which interval a metric has is declared by its kind
(`ssme.metrics.kinds`) and computed by the belief (`ssme.methods.beliefs.labels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs.labels import LabeledBelief
from ssme.methods.beliefs.posterior import spawn_seed

__all__ = ["Labeled"]


@dataclass(frozen=True)
class Labeled:
    """Each metric on the labeled rows alone.

    Parameters
    ----------
    n_draws : int
        Number of joint draws, from which differences and ranks are read (default 1000).
    joint_draws : bool
        False leaves out the draws of metrics whose interval does not need them (default True).
    """

    n_draws: int = 1000
    joint_draws: bool = True

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="labeled",
        title="Labeled rows alone",
        source="the metric itself; intervals: Wilson 1927, Newcombe 2006, Boyd et al. 2013",
        gives_posterior=False,
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabeledBelief:
        return LabeledBelief(data, self.n_draws, self.joint_draws, spawn_seed(rng))
