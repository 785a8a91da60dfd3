"""Seeds that a fitted method keeps, so that its belief can repeat its draws on every call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.methods.base import DeclaredMethod
from ssme.methods.clusters import draw_row_counts, draw_row_exponentials
from ssme.metrics.base import Metric
from ssme.options import Instance, Whole, option


def spawn_seed(rng: np.random.Generator) -> np.random.SeedSequence:
    """A fresh seed from ``rng``."""
    seeds: list[np.random.SeedSequence] = rng.bit_generator.seed_seq.spawn(1)  # type: ignore[attr-defined]
    return seeds[0]


def make_child_seed(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """The child of ``seed`` numbered ``key``: the same whenever it is asked for."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))


# -------------------------------------------------------------------------------------------------
# Options that several methods share: how many draws they take, and their constants.
#
# An estimate that averages over label vectors takes ``n_draws`` of them; its interval,
# comparisons and ranks rest on ``n_worlds`` draws in which rows are resampled too
# (`row_weights`). The most that either may be keeps the draws of a few hundred classifiers and
# metrics within memory.


MOST_DRAWS = 100_000


def declare_world_draws() -> Any:
    """The option ``n_worlds``; with 200, five draws lie beyond each end of a 95% interval."""
    meaning = "Number of draws of labels and rows behind intervals, comparisons and ranks."
    return option(200, meaning, Whole(2, MOST_DRAWS))


@dataclass(frozen=True)
class LabelDraws(DeclaredMethod):
    """A method that averages over label vectors drawn from the posterior that it fits."""

    _: KW_ONLY
    n_draws: int = option(
        500, "Number of label vectors drawn for each estimate.", Whole(1, MOST_DRAWS)
    )
    n_worlds: int = declare_world_draws()

    def set_draws(self, rng: np.random.Generator) -> tuple[int, int, np.random.SeedSequence]:
        """Numbers of draws and a fresh seed of them, as beliefs take them."""
        return self.n_draws, self.n_worlds, spawn_seed(rng)


def declare_joint_draws(default: int) -> Any:
    """The option ``n_draws`` of a method whose draws serve intervals and comparisons."""
    meaning = "Number of joint draws behind intervals, comparisons and ranks."
    return option(default, meaning, Whole(2, MOST_DRAWS))


def declare_constants(default: Any) -> Any:
    """The option ``constants``: a frozen dataclass of all other numbers, which studies replace."""
    meaning = "All other numbers that change a result."
    return option(default, meaning, Instance(type(default)), python_only=True)


# -------------------------------------------------------------------------------------------------
# Log-odds of shares that may be 0 or 1.
#
# log_odds(x) = log( x' / (1 - x') ),     x' = x cut off at ``edge`` and 1 - ``edge``


def log_odds(share: FloatArray, edge: float) -> FloatArray:
    """Log-odds of each ``share``, which is first cut off at ``edge`` and 1 - ``edge``."""
    inside = np.clip(share, edge, 1.0 - edge)
    return np.log(inside) - np.log1p(-inside)


# -------------------------------------------------------------------------------------------------
# Exact copies among classifiers.
#
# Where every classifier has separate draws, a copy takes those of its original, so that the two
# have the same numbers and remain equal in every draw.


def find_originals(scores: FloatArray, first_look: int = 100) -> IntArray:
    """For each classifier (M,) the first one that has the same ``scores`` (n, M, K) on all rows.

    Most pairs differ within ``first_look`` rows, and the others are not compared.
    """
    parts = (scores[:first_look], scores[first_look:])
    n_models = scores.shape[1]
    first = np.arange(n_models)
    for j in range(n_models):
        for i in range(j):
            if first[i] == i and all(
                np.array_equal(rows[:, i], rows[:, j], equal_nan=True) for rows in parts
            ):
                first[j] = i
                break
    return first


# -------------------------------------------------------------------------------------------------
# Draws that carry the sampling of the rows: another sample could have been drawn.
#
# Label draws alone know how uncertain the labels of *these* rows are, and are far too narrow as
# intervals. A *world* is a label draw on rows reweighted by the Bayesian bootstrap, weights
# Dirichlet(1, ..., 1) (Rubin, Annals of Statistics 9, 1981), its labels drawn from a posterior that
# was itself refitted where the method does so (Newton and Raftery, JRSS B 56, 1994).
#
# The point estimate stays what the method says it is. The worlds are moved onto it, since a
# bootstrap knows about spread and not about bias:
#
#     draws = worlds - mean(worlds) + estimate, cut to the metric's range


RowWeights = list[tuple[FloatArray | None, Sequence[int]]]
"""Bootstrap weights (D, n) of mean 1, each with the numbers of the metrics that take them."""


def draw_row_weights(
    metrics: Sequence[Metric],
    n_draws: int,
    n_rows: int,
    rng: np.random.Generator,
    clusters: IntArray | None = None,
) -> RowWeights:
    """Dirichlet weights times n, or for callables counts of n rows drawn; by ``clusters`` (n,)."""
    smooth = draw_row_exponentials(rng, n_draws, n_rows, clusters)
    smooth *= n_rows / smooth.sum(axis=1, keepdims=True)
    hard = [m for m, metric in enumerate(metrics) if metric.hard_only]
    soft = [m for m, metric in enumerate(metrics) if not metric.hard_only]
    drawn: RowWeights = [(smooth, soft)] if soft else []
    if hard:
        drawn.append((draw_row_counts(rng, n_draws, n_rows, clusters), hard))
    return drawn


def average_defined(draws: FloatArray) -> FloatArray:
    """Mean (M,) over the draws (D, M) that are defined; NaN where none is."""
    defined = np.isfinite(draws)
    count = defined.sum(axis=0)
    total = np.where(defined, draws, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
