"""Labels alone: each metric on the labeled rows, with intervals that hold at 20 labels.

The point estimate ignores the unlabeled rows. Which interval a metric has is declared by its kind
(`ssme.metrics.kinds`) and computed by the belief (`ssme.methods.beliefs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.base import MethodSpec
from ssme.methods.beliefs import LabeledBelief
from ssme.methods.parts.draws import declare_joint_draws, spawn_seed
from ssme.options import Declared, Flag, option

__all__ = ["Labeled"]


@dataclass(frozen=True)
class Labeled(Declared):
    """Each metric on the labeled rows alone.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.Labeled(n_draws=100)
    >>> ssme.evaluate(scores, [1, 0, 1, None], method=method, metrics="accuracy").method
    'labeled'
    """

    n_draws: int = declare_joint_draws(1000)
    joint_draws: bool = option(
        True,
        "Whether to make the draws of metrics whose interval does not need them; comparisons and "
        "ranks do.",
        Flag(),
    )

    spec: ClassVar[MethodSpec] = MethodSpec(
        name="labeled",
        title="Labeled rows alone",
        source="the metric itself; intervals: Wilson 1927, Newcombe 2006, Boyd et al. 2013",
        does="It computes the metrics on the labeled rows and ignores all other rows.",
        assumes="It assumes that the labeled rows were chosen at random.",
        fails="With few labels, its intervals are wide.",
        gives_posterior=False,
        designs=("random", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> LabeledBelief:
        return LabeledBelief(data, self.n_draws, self.joint_draws, spawn_seed(rng))
