"""States of the world: draws of P(class | scores) and of the sample, joint over everything.

    world d  =  ( W_d,  e_1 .. e_n ),     e_i ~ Exp(1),     metric in world d  =  m(W_d, weights e)

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

from ssme.methods.auto.component import Component
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.model import as_labeled
from ssme.methods.parts.copies import find_originals
from ssme.methods.parts.seeds import make_child_seed
from ssme.metrics.base import FloatArray
from ssme.progress import track

__all__ = ["Worlds", "draw_worlds"]

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Worlds:
    """A batch of d worlds on r rows.

    ``soft`` is W (d, r, K), or (d, r, M, K) where classifiers have their own. ``exponential`` are
    the weights e (d, r), and ``shift`` are the label intercepts (d, K). ``rng`` draws hard labels.
    """

    soft: FloatArray
    exponential: FloatArray
    shift: FloatArray
    rng: np.random.Generator

    def see(self, hard: bool) -> tuple[FloatArray, FloatArray]:
        """Labelings shaped as ``soft``, and how far the count of each row is from one (d, r).

        They are W and e - 1, or with ``hard`` one labeling drawn from W and Poisson counts.
        """
        if not hard:
            return self.soft, self.exponential - 1.0
        below = np.cumsum(self.soft, axis=-1)[..., :-1]
        uniform = self.rng.random(self.soft.shape[:-1])
        if uniform.ndim == 3:
            uniform = uniform[..., find_originals(self.soft[0])]
        labels = (uniform[..., None] >= below).sum(axis=-1)
        counts = self.rng.poisson(1.0, self.exponential.shape).astype(np.float64)
        one_hot = labels[..., None] == np.arange(self.soft.shape[-1])
        return one_hot.astype(np.float64), counts - 1.0

    def take_labeled(self, rows: IntArray) -> Worlds:
        """The same worlds on some of the rows, with W of rows that were chosen for a label."""
        shift = self.shift if self.soft.ndim == 3 else self.shift[:, None, :]
        soft = as_labeled(self.soft[:, rows], shift)
        return replace(self, soft=soft, exponential=self.exponential[:, rows])


def draw_worlds(
    component: Component,
    scores: FloatArray,
    rows: IntArray,
    seed: np.random.SeedSequence,
    constants: Constants,
) -> Iterator[Worlds]:
    """Worlds of a regime's draws on the ``rows`` of ``scores``, in batches of bounded size.

    While all n rows are few enough for worlds, a row has the same weight e whichever other rows are
    asked for, so that groups are joint too.
    """
    rng, hard_rng = (np.random.default_rng(make_child_seed(seed, key)) for key in (0, 1))
    n, _, n_classes = scores.shape
    draw = component.prepare_draws(scores[rows])
    cells = rows.size * n_classes * (scores.shape[1] if component.own else 1)
    batch = max(1, constants.batch_cells // max(1, cells))
    for start in track(range(0, component.n_draws, batch), "worlds"):
        part = slice(start, start + batch)
        shift = component.label_shift_draws[part]
        if n <= constants.world_rows:
            exponential = rng.standard_exponential((len(shift), n))[:, rows]
        else:
            exponential = rng.standard_exponential((len(shift), rows.size))
        yield Worlds(draw(part), exponential, shift, hard_rng)
