"""Rows that are evaluated together, and the pass over a file that does not fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ssme.methods.base import GroupRows

__all__ = ["ALL", "Group", "StreamPass"]

ALL = "all"
"""Name of the group that holds every row."""


@dataclass(frozen=True, eq=False)
class Group:
    """Rows evaluated together: all of them, or those with one value in a group column.

    Attributes
    ----------
    name : str
        ``"all"``, or what its rows have in common: ``sex=f``, ``30<=age<50``, ``sex=f & site=b``.
    rows : array of int, or None
        The numbers of the rows that belong to the group; None means all of them.
    n_labeled, n_unlabeled : int
        How many rows with and without a label the group has.
    by : str
        The grouping that it belongs to, such as ``age:quantiles=4``; empty for all rows.
    pooled : int
        How many groups, too small or too many to stand by themselves, are together in it.
    borrowed : float
        Share of its estimates that comes from all rows rather than from its own labels: 1 for a
        group without labels; NaN where the method does not say.
    """

    name: str
    rows: GroupRows
    n_labeled: int
    n_unlabeled: int
    by: str = ""
    pooled: int = 0
    borrowed: float = float("nan")


@dataclass(frozen=True, eq=False)
class StreamPass:
    """What a pass over files larger than memory counted.

    Attributes
    ----------
    n_rows, n_parts : int
        Rows counted, and parts of files they were read in.
    sample_rows : int
        Rows of the sample that the method was fitted to.
    error_bounds : mapping of group -> metric -> float
        The largest error that counting in bins can have caused.
    groups_without_sample : tuple of str
        Groups of which no row is in the sample; they have estimates and no intervals.
    """

    n_rows: int
    n_parts: int
    sample_rows: int
    error_bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    groups_without_sample: tuple[str, ...] = ()
