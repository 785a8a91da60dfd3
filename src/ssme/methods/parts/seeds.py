"""Seeds that a fitted method keeps, so that its belief can repeat its draws on every call."""

from __future__ import annotations

import numpy as np

__all__ = ["make_child_seed", "spawn_seed", "spawn_seeds"]


def spawn_seed(rng: np.random.Generator) -> np.random.SeedSequence:
    """A fresh seed from ``rng``."""
    return spawn_seeds(rng, 1)[0]


def spawn_seeds(rng: np.random.Generator, n: int) -> list[np.random.SeedSequence]:
    """``n`` fresh seeds from ``rng``."""
    seeds: list[np.random.SeedSequence] = rng.bit_generator.seed_seq.spawn(n)  # type: ignore[attr-defined]
    return seeds


def make_child_seed(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """The child of ``seed`` numbered ``key``: the same whenever it is asked for."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, key))
