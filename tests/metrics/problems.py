"""Random labelings and scores for the tests of metrics: tied, skewed, weighted, with holes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ssme.metrics import one_hot_mass

Floats = NDArray[np.float64]

many = settings(max_examples=60, deadline=None, derandomize=True)
"""Property tests: always the same examples, no timing."""


@dataclass(frozen=True)
class Problem:
    """Scores (n, M, K) and one hard labeling with its weights (n,)."""

    scores: Floats
    labels: NDArray[np.int64]
    weights: Floats

    @property
    def n_classes(self) -> int:
        return self.scores.shape[2]

    @property
    def mass(self) -> Floats:
        return one_hot_mass(self.labels, self.n_classes, self.weights)


def random_scores(
    rng: np.random.Generator, n: int, n_models: int, n_classes: int, grid: int | None
) -> Floats:
    """Probabilities; on a coarse ``grid`` they tie, and reach exactly 0, 1 and 1/2."""
    if grid is None:
        return rng.dirichlet(np.ones(n_classes), size=(n, n_models))
    return rng.multinomial(grid, np.ones(n_classes) / n_classes, size=(n, n_models)) / grid


def random_problem(
    seed: int,
    n: int,
    n_classes: int,
    n_models: int = 3,
    grid: int | None = None,
    weighting: str = "none",
    skew: float = 1.0,
) -> Problem:
    rng = np.random.default_rng(seed)
    scores = random_scores(rng, n, n_models, n_classes, grid)
    labels = rng.choice(n_classes, size=n, p=rng.dirichlet(np.full(n_classes, skew)))
    weights = {
        "none": np.ones(n),
        "whole": rng.integers(0, 4, n).astype(float),
        "real": rng.gamma(1.0, 1.0, n),
    }[weighting]
    return Problem(scores, labels, weights)


def problems(
    n_classes: st.SearchStrategy[int], weighted: bool = True
) -> st.SearchStrategy[Problem]:
    """Problems down to one row, with one class only now and then."""
    return st.builds(
        random_problem,
        seed=st.integers(0, 2**31),
        n=st.integers(1, 60),
        n_classes=n_classes,
        n_models=st.just(2),
        grid=st.sampled_from([None, 2, 4, 10]),
        weighting=st.sampled_from(["none", "whole", "real"] if weighted else ["none"]),
        skew=st.sampled_from([0.1, 1.0, 10.0]),
    )


def random_posterior(rng: np.random.Generator, n: int, n_classes: int) -> Floats:
    """(n, K) of very sure and very unsure rows."""
    return rng.dirichlet(np.full(n_classes, 0.5), size=n)


def draw_labels(rng: np.random.Generator, posterior: Floats, n_draws: int) -> NDArray[np.int64]:
    """(D, n) labels from a posterior (n, K)."""
    uniform = rng.random((n_draws, posterior.shape[0], 1))
    labels: NDArray[np.int64] = (uniform > posterior.cumsum(axis=1)[None, :, :-1]).sum(axis=2)
    return labels
