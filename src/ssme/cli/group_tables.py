"""Tables of groups for a terminal: worst group first, what is behind it, and how far apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ssme.cli.tables import make_table
from ssme.results.sections import format_number, format_span
from ssme.wording import make_distinct

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation
    from ssme.results.groups import GapTable

__all__ = ["make_gap_tables", "make_group_tables"]

JOINT = (
    "Intervals of differences from all rows hold for all groups at once. Worst: the probability "
    "that the group is the worst one. Borrowed: the share of its estimate that comes from "
    "all rows rather than its own labels. Worth: as many labels as labels alone would need for an "
    "interval as narrow."
)


def make_group_tables(evaluation: Evaluation, limit: int | None) -> Iterator[Table]:
    """One table per grouping: its groups by the first metric and the best model, worst first.

    What the columns mean stands below the last one.
    """
    metric = evaluation.metrics[0].name
    groupings = list(dict.fromkeys(group.by for group in evaluation.groups[1:]))
    for by in groupings:
        ranking = evaluation.worst_groups(metric, by=by)
        right = ("rows", "labels", "estimate", "minus all rows", "worst", "borrowed", "worth")
        title = f"{metric} of {ranking.rows[0].model} by {by}, worst group first"
        table = make_table(title, "group", *right, right=right)
        values = [_leave_out_columns(rank.group, by) for rank in ranking.rows]
        names = make_distinct(values, 13)
        for value, rank in zip(values, ranking.rows[:limit], strict=False):
            table.add_row(
                escape(names[value]),
                f"{rank.n_labeled + rank.n_unlabeled:,}",
                f"{rank.n_labeled:,}",
                format_number(rank.estimate),
                format_span(rank.difference_low, rank.difference_high),
                _format_share(rank.p_worst),
                _format_share(rank.borrowed),
                "-" if math.isnan(rank.effective_labels) else f"{rank.effective_labels:,.0f}",
            )
        left = 0 if limit is None else max(0, len(ranking) - limit)
        lines = [f"{left} more groups: --all shows them, --csv FILE keeps them"] if left else []
        lines += ranking.remarks
        if by == groupings[-1]:
            lines.append(JOINT)
        if lines:
            table.caption = Text("\n".join(lines))
            table.caption_justify = "left"
        yield table


def make_gap_tables(gaps: GapTable, model: str, limit: int | None) -> Iterator[Table]:
    """One table of the gaps of one model per grouping."""
    mine = [gap for gap in gaps.rows if gap.model == model]
    right = ("estimate", f"{gaps.level * 100:g} % interval")
    groupings = list(dict.fromkeys(gap.by for gap in mine))
    for by in groupings:
        of_grouping = [gap for gap in mine if gap.by == by]
        title = f"gaps of {model} by {by}"
        table = make_table(title, "gap in", *right, "worst", "best", right=right)
        ends = [name for gap in of_grouping for name in (gap.worst, gap.best)]
        names = make_distinct([_leave_out_columns(name, by) for name in ends], 15)
        for gap in of_grouping[:limit]:
            table.add_row(
                escape(gap.name),
                format_number(gap.estimate),
                format_span(gap.low, gap.high),
                escape(names[_leave_out_columns(gap.worst, by)]),
                escape(names[_leave_out_columns(gap.best, by)]),
            )
        left = 0 if limit is None else max(0, len(of_grouping) - limit)
        lines = [f"{left} more gaps: --all shows them, --json FILE keeps them"] if left else []
        if by == groupings[-1]:
            lines.append("Intervals of gaps hold for all pairs of groups at once.")
        if lines:
            table.caption = Text("\n".join(lines))
            table.caption_justify = "left"
        yield table


def _leave_out_columns(name: str, by: str) -> str:
    """The name of a group of ``by`` without the names of its columns: Male & White."""
    if name.startswith(f"{by}: "):
        return name.removeprefix(f"{by}: ")
    if name.startswith(f"{by}="):
        return name.removeprefix(f"{by}=")
    columns, parts = by.split("+"), name.split(" & ")
    if len(columns) != len(parts):
        return name
    return " & ".join(
        part.removeprefix(f"{column}=") for column, part in zip(columns, parts, strict=True)
    )


def _format_share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"
