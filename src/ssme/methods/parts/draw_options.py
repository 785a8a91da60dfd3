"""Options that several methods share: how many draws they take, and their constants.

An estimate that averages over label vectors takes ``n_draws`` of them; its interval, comparisons
and ranks rest on ``n_worlds`` draws in which rows are resampled too (`row_weights`). The most that
either may be keeps the draws of a few hundred classifiers and metrics within memory.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ssme.methods.parts.seeds import spawn_seed
from ssme.options import Declared, Instance, Whole, option

__all__ = [
    "MOST_DRAWS",
    "LabelDraws",
    "declare_constants",
    "declare_joint_draws",
    "declare_world_draws",
]

MOST_DRAWS = 100_000


def declare_world_draws(default: int = 200) -> Any:
    """The option ``n_worlds`` of a method whose intervals come from resampled rows.

    With the default, five draws lie beyond each end of a 95 % interval.
    """
    meaning = "Number of draws of labels and rows behind intervals, comparisons and ranks."
    return option(default, meaning, Whole(2, MOST_DRAWS))


@dataclass(frozen=True)
class LabelDraws(Declared):
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
    """The option ``constants`` of a method: a frozen dataclass of all numbers that are no option.

    Studies change them by `dataclasses.replace`; users have no need to.
    """
    meaning = "All other numbers that change a result."
    return option(default, meaning, Instance(type(default)), python_only=True)
