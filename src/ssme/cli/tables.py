"""Tables for a terminal 80 columns wide: each number beside its interval and labels alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from ssme.results.sections import format_number, format_span
from ssme.wording import make_distinct, make_printable, shorten

if TYPE_CHECKING:
    from rich.console import Console

    from ssme.diagnostics.doubt import Doubt
    from ssme.metrics.base import Metric
    from ssme.results.evaluation import Evaluation
    from ssme.results.sections import Section

__all__ = [
    "LIMIT",
    "make_evaluation_tables",
    "make_table",
    "print_doubts",
    "print_section",
    "shorten_name",
    "summarize_in_a_line",
]

LIMIT = 20
"""Models and rows of groups that are shown; files hold all."""
WIDE_NAME, NARROW_NAME = 24, 15
"""Columns of a name in tables of models and in tables of groups, so that no line is broken."""

BORROWED = "* the group's labels do not determine it: the value of all labeled rows"
"""Below a table in which labels alone fall back on their overall value."""

SEVERITY_STYLE = {"serious": "bold red", "warning": "yellow", "info": "cyan"}


def shorten_name(name: object, width: int = WIDE_NAME) -> str:
    """A name cut to ``width`` columns, control characters made visible."""
    return shorten(str(name), width)


def make_table(title: str | None, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table in the house style; columns named in ``right`` hold numbers."""
    table = Table(
        title=Text(shorten(title, 100)) if title else None,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        show_header=any(columns),
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for column in columns:
        table.add_column(
            column,
            justify="right" if column in right else "left",
            no_wrap=column in right,
            overflow="fold",
        )
    return table


def print_section(console: Console, section: Section, limit: int | None = LIMIT) -> None:
    """Print a section within 80 columns: names are cut to what the numbers leave."""
    first = dict.fromkeys(row[0] for row in section.rows)
    kept = set(list(first)[:limit])
    rows = [row for row in section.rows if row[0] in kept]
    text = [i for i, name in enumerate(section.head) if name not in section.numbers]
    wide = [max(map(len, (name, *(row[i] for row in rows)))) for i, name in enumerate(section.head)]
    room = 80 - sum(wide[i] + 2 for i in range(len(wide)) if i not in text)
    least = max(10, room // max(len(text), 1) - 2)
    names = {i: make_distinct([row[i] for row in rows], least) for i in text}
    console.print()
    if section.head:
        right = tuple(section.numbers)
        table = make_table(section.title, *section.head, right=right)
        for row in rows:
            cells = [names[i][cell] if i in names else cell for i, cell in enumerate(row)]
            table.add_row(*map(escape, cells))
        more = len(first) - len(kept)
        left = f"{more:,} more rows: --all shows them, --json FILE keeps them" if more > 0 else ""
        console.print(_add_caption(table, left, ""))
    else:
        console.print(Text(section.title, style="bold"))
    for sentence in section.sentences:
        console.print(Text(make_printable(sentence)))


def name_direction(metric: Metric) -> str:
    """Which way is better, in words."""
    if metric.greater_is_better is None:
        return "neither direction is better"
    return "higher is better" if metric.greater_is_better else "lower is better"


def make_evaluation_tables(evaluation: Evaluation, limit: int | None = LIMIT) -> Iterator[Table]:
    """A table for each metric, best model first, then one for each metric by group.

    With a ``limit``, groups are shown whole, the worst first, and by the first metric only where
    all would be more rows than that.
    """
    from ssme.results.groups import order_groups

    rows = list(evaluation.rows())
    level = f"{evaluation.level * 100:g} % interval"
    first = evaluation.groups[0].name
    models = make_distinct(evaluation.data.models, WIDE_NAME)
    by = {group.by for group in evaluation.groups[1:]}
    only = next(iter(by)) if len(by) == 1 else ""
    bare = {group.name: group.name.removeprefix(f"{only}=") for group in evaluation.groups}
    cut = make_distinct(list(bare.values()), NARROW_NAME)
    groups = {name: cut[value] for name, value in bare.items()}
    left = 2 * NARROW_NAME - max(len(name) for name in groups.values())
    narrow = make_distinct(evaluation.data.models, max(NARROW_NAME, min(left, WIDE_NAME)))
    for metric in evaluation.metrics:
        mine = [r for r in rows if r["metric"] == metric.name and r["group"] == first]
        columns = ("model", "estimate", level, "labels only", "their interval")
        table = make_table(f"{metric.name} ({name_direction(metric)})", *columns, right=columns[1:])
        for row in _sort_best_first(mine, metric)[:limit]:
            table.add_row(escape(models[row["model"]]), *_format_cells(row))
        more = len(mine) - (limit or len(mine))
        yield _add_caption(table, "", f"{more:,} more models" if more > 0 else "")
    by_group = [row for row in rows if row["group"] != first]
    shown = evaluation.metrics if by_group else ()
    if limit is not None and len(by_group) > limit:
        shown = shown[:1]
    for metric in shown:
        mine = [row for row in by_group if row["metric"] == metric.name]
        order = [name for name in order_groups(evaluation, metric.name) if name != first]
        kept = order[: None if limit is None else max(1, limit // len(models))]
        listed = [row for row in mine if row["group"] in set(kept)]
        listed = sorted(_sort_best_first(listed, metric), key=lambda row: kept.index(row["group"]))
        listed = listed[:limit]
        right = ("labels", "estimate", level, "labels only")
        table = make_table(
            f"{metric.name} by group{f' ({only})' if only else ''}, worst group first",
            "group",
            "labels",
            "model",
            *right[1:],
            right=right,
        )
        for row in listed:
            group, model = escape(groups[row["group"]]), escape(narrow[row["model"]])
            estimate, interval, alone, _ = _format_cells(row)
            mark = "*" if row["labels_only_from"] == "all" else ""
            table.add_row(group, str(row["n_labeled"]), model, estimate, interval, alone + mark)
        borrowed = any(row["labels_only_from"] == "all" for row in listed)
        rest = [f"{len(order) - len(kept):,} more groups"] if len(order) > len(kept) else []
        rest += [f"{len(models) - limit:,} more models"] if limit and len(models) > limit else []
        others = [shorten_name(each.name) for each in evaluation.metrics if each not in shown]
        rest += [f"{', '.join(others)} by group"] if others else []
        yield _add_caption(table, BORROWED if borrowed else "", " and ".join(rest))


def summarize_in_a_line(evaluation: Evaluation) -> str:
    """What was evaluated, in one sentence."""
    from ssme.data.scoreset import describe_positive
    from ssme.results.plan import count_effective_labels

    data, whole = evaluation.data, evaluation.groups[0]
    effective = count_effective_labels(evaluation)
    noun, worth = "model" if data.n_models == 1 else "models", ""
    if effective >= whole.n_labeled + 0.5:
        worth = (
            f" With the unlabeled rows, the labels tell as much about {evaluation.metrics[0].name} "
            f"as {effective:,.0f} labels alone would."
        )
    return (
        f"{data.n_models} {noun}, {whole.n_labeled:,} labeled and {whole.n_unlabeled:,} unlabeled "
        f"rows, {data.n_classes} classes{describe_positive(data)}, method "
        f"{evaluation.method!r}.{worth}"
    )


def print_doubts(console: Console, doubts: tuple[Doubt, ...]) -> None:
    """Each doubt: what, why, what to do."""
    if not doubts:
        return
    console.print(Text("\nWhat should worry you", style="bold"))
    for doubt in doubts:
        head = Text(f"{doubt.severity}: ", style=SEVERITY_STYLE[doubt.severity])
        console.print(head + Text(make_printable(f"{doubt.code} {doubt.title}"), style="bold"))
        console.print(Text(make_printable(f"{doubt.reason} {doubt.advice}")))
    console.print(
        Text(f"`ssme doubts {doubts[0].code}` explains this code; so does the report.", style="dim")
        if len(doubts) == 1
        else Text(
            f"`ssme doubts CODE` explains a code, such as {doubts[0].code}; so does the report.",
            style="dim",
        )
    )


def _sort_best_first(rows: list[dict[str, Any]], metric: Metric) -> list[dict[str, Any]]:
    sign = {True: -1.0, False: 1.0, None: 0.0}[metric.greater_is_better]
    return sorted(
        rows, key=lambda r: math.inf if r["estimate"] != r["estimate"] else sign * r["estimate"]
    )


def _format_cells(row: dict[str, Any]) -> tuple[str, ...]:
    return (
        format_number(row["estimate"]),
        format_span(row["low"], row["high"]),
        format_number(row["labels_only"]),
        format_span(row.get("labels_only_low"), row.get("labels_only_high")),
    )


def _add_caption(table: Table, remark: str, left: str) -> Table:
    """``table`` with lines below it: a remark, and what was left out."""
    lines = [remark] if remark else []
    if left:
        lines.append(f"{left}: --all shows them, --csv FILE keeps them")
    if lines:
        table.caption = Text("\n".join(lines))
        table.caption_justify = "left"
    return table
