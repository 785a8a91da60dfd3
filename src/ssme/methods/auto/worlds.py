"""States of the world: draws of the labels' law and of the sample, joint over everything.

World d is the posterior W_d of one draw of the coefficients, and weights of the rows as if they
were sampled anew: e_i ~ Exp(1), the Bayesian bootstrap (Rubin, Annals of Statistics 9, 1981).
Metrics, classifiers and groups all see the same worlds.

Worlds are computed on at most `Constants.world_rows` rows of a group. A part of m rows out of n
stands for all when its rows weigh 1 + (e_i - 1) sqrt(m / n): a weighted mean then varies as that of
n rows.

A metric that needs hard labels (a callable) sees one labeling drawn from W_d and rows counted
Poisson(1) times, an ordinary bootstrap; on a part of the rows its draws are those of the part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ssme.methods.auto.constants import Constants
from ssme.methods.auto.model import Design, as_labeled, posterior_draws
from ssme.methods.beliefs.posterior import child_seed
from ssme.metrics.base import FloatArray, one_hot_mass
from ssme.progress import track

__all__ = ["Worlds", "draw_worlds"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Worlds:
    """A batch of d worlds on r rows: W (d, r, K), weights e (d, r), label intercepts (d, K)."""

    soft: FloatArray
    exponential: FloatArray
    shift: FloatArray
    rng: np.random.Generator

    def seen(self, hard: bool) -> tuple[FloatArray, FloatArray]:
        """Labelings (d, r, K) and how far each row's count is from one (d, r, 1)."""
        if not hard:
            noise: FloatArray = self.exponential[:, :, None] - 1.0
            return self.soft, noise
        below = np.cumsum(self.soft, axis=2)[:, :, :-1]
        uniform = self.rng.random(self.exponential.shape)
        labels = (uniform[:, :, None] >= below).sum(axis=2)
        counts = self.rng.poisson(1.0, self.exponential.shape).astype(np.float64)
        noise = counts[:, :, None] - 1.0
        return one_hot_mass(labels, self.soft.shape[2]), noise

    def labeled(self, rows: IntArray) -> Worlds:
        """The worlds of some of the rows, as rows that were chosen for a label."""
        soft = as_labeled(self.soft[:, rows], self.shift)
        return replace(self, soft=soft, exponential=self.exponential[:, rows])


def draw_worlds(
    design: Design,
    draws: FloatArray,
    shift_draws: FloatArray,
    rows: IntArray,
    seed: np.random.SeedSequence,
    constants: Constants,
) -> Iterator[Worlds]:
    """Worlds of coefficient ``draws`` (D, 1 + P), ``shift_draws`` (D, K), in bounded batches.

    While all n rows fit, a row has the same weight e whichever rows it is drawn with.
    """
    rng, hard_rng = (np.random.default_rng(child_seed(seed, key)) for key in (0, 1))
    n, features = len(design.q), design.features(rows)
    batch = max(1, constants.batch_cells // max(1, rows.size * design.q.shape[2]))
    for start in track(range(0, len(draws), batch), "worlds"):
        part = draws[start : start + batch]
        if n <= constants.world_rows:
            exponential = rng.standard_exponential((len(part), n))[:, rows]
        else:
            exponential = rng.standard_exponential((len(part), rows.size))
        soft = posterior_draws(features, design.log_share, part)
        yield Worlds(soft, exponential, shift_draws[start : start + batch], hard_rng)
