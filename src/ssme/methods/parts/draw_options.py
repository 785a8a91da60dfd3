"""Options that several methods share: how many draws they take, and their constants.

An estimate that averages over label vectors takes ``n_draws`` of them; its interval, comparisons
and ranks rest on ``n_worlds`` draws in which rows are resampled too (`row_weights`). The most that
either may be keeps the draws of a few hundred classifiers and metrics within memory.
"""

from __future__ import annotations

from typing import Any

from ssme.options import Instance, Whole, option

__all__ = ["MOST_DRAWS", "joint_draws", "label_draws", "other_constants", "world_draws"]

MOST_DRAWS = 100_000


def label_draws(default: int = 500) -> Any:
    """The option ``n_draws`` of a method that averages over label vectors."""
    return option(default, "Number of label vectors drawn for each estimate.", Whole(1, MOST_DRAWS))


def world_draws(default: int = 200) -> Any:
    """The option ``n_worlds`` of a method whose intervals come from resampled rows.

    With the default, five draws lie beyond each end of a 95 % interval.
    """
    meaning = "Number of draws of labels and rows behind intervals, comparisons and ranks."
    return option(default, meaning, Whole(2, MOST_DRAWS))


def joint_draws(default: int) -> Any:
    """The option ``n_draws`` of a method whose draws serve intervals and comparisons."""
    meaning = "Number of joint draws behind intervals, comparisons and ranks."
    return option(default, meaning, Whole(2, MOST_DRAWS))


def other_constants(default: Any) -> Any:
    """The option ``constants`` of a method: a frozen dataclass of all numbers that are no option.

    Studies change them by `dataclasses.replace`; users have no need to.
    """
    meaning = "All other numbers that change a result."
    return option(default, meaning, Instance(type(default)), python_only=True)
