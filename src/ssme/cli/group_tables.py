"""Tables of groups for a terminal: worst group first, what is behind it, and how far apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ssme.cli.tables import format_interval, format_number, make_table, shorten_name
from ssme.wording import make_distinct

if TYPE_CHECKING:
    from ssme.evaluation import Evaluation
    from ssme.results.gaps import GapTable

__all__ = ["make_gap_table", "make_group_tables"]

JOINT = (
    "Intervals of differences from all rows hold for all groups at once. Worst: the probability "
    "that the group is the worst one.{told} Borrowed: the share of its estimate that comes from "
    "all rows rather than its own labels. Worth: as many labels as labels alone would need for an "
    "interval as narrow."
)


def make_group_tables(evaluation: Evaluation, limit: int | None) -> Iterator[Table]:
    """One table per grouping: its groups by the first metric and the best model, worst first."""
    metric = evaluation.metrics[0].name
    for by in dict.fromkeys(group.by for group in evaluation.groups[1:]):
        ranking = evaluation.worst_groups(metric, by=by)
        right = ("rows", "labels", metric, "minus all rows", "worst", "borrowed", "worth")
        title = f"{metric} of {ranking.rows[0].model} by {by}, worst group first"
        table = make_table(title, "group", *right, right=right)
        values = [rank.group.removeprefix(f"{by}=") for rank in ranking.rows]
        names = make_distinct(values, max(10, 21 - len(metric)))
        for value, rank in zip(values, ranking.rows[:limit], strict=False):
            table.add_row(
                escape(names[value]),
                f"{rank.n_labeled + rank.n_unlabeled:,}",
                f"{rank.n_labeled:,}",
                format_number(rank.estimate),
                format_interval(rank.difference_low, rank.difference_high),
                _format_share(rank.p_worst),
                _format_share(rank.borrowed),
                "-" if math.isnan(rank.effective_labels) else f"{rank.effective_labels:,.0f}",
            )
        left = 0 if limit is None else max(0, len(ranking) - limit)
        more = f"\n{left} more groups: --all shows them, --csv FILE keeps them" if left else ""
        told = "".join(f" {remark}" for remark in ranking.remarks)
        table.caption = Text(JOINT.format(told=told) + more)
        table.caption_justify = "left"
        yield table


def make_gap_table(gaps: GapTable, model: str, limit: int | None) -> Table | None:
    """Gaps of one model; None where there are none."""
    mine = [gap for gap in gaps.rows if gap.model == model]
    if not mine:
        return None
    right = ("estimate", f"{gaps.level * 100:g} % interval")
    title = f"Gaps between groups of {model}; intervals hold for all pairs at once"
    table = make_table(title, "by", "gap in", *right, "worst", "best", right=right)
    for gap in mine[:limit]:
        table.add_row(
            escape(shorten_name(gap.by, 16)),
            escape(_name_gap(gap.gap, gap.metric)),
            format_number(gap.estimate),
            format_interval(gap.low, gap.high),
            escape(shorten_name(gap.worst, 16)),
            escape(shorten_name(gap.best, 16)),
        )
    return table


def _name_gap(kind: str, metric: str) -> str:
    return metric if kind == "difference" else f"{metric}, {kind.replace('_', ' ')}"


def _format_share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"
