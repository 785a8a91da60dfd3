"""Results as a notebook shows them: a small table, what is said about it below or above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ssme.results.sections import format_number
from ssme.wording import make_printable, shorten

MODELS = 30
NAME = 60


def render_table(
    head: str,
    rows: Iterable[Mapping[str, Any]],
    models: Sequence[str],
    metrics: Sequence[str],
    notes: list[str],
) -> str:
    """Models by metrics; each estimate with its interval and what labels alone say.

    Parameters
    ----------
    head : str
        Caption of the table.
    rows : iterable of dict
        The rows of the table on all data, see `ssme.results.table`.
    models, metrics : sequences of str
        Names of the rows and columns shown.
    notes : list of str
        Remarks listed below the table.
    """
    cells = {(row["model"], row["metric"]): _render_cell(row) for row in rows}
    columns = "".join(f"<th scope='col'>{_shorten_name(metric)}</th>" for metric in metrics)
    body = "".join(
        f"<tr><th scope='row'><bdi>{_shorten_name(model)}</bdi></th>"
        + "".join(f"<td>{cells[model, metric]}</td>" for metric in metrics)
        + "</tr>"
        for model in models[:MODELS]
    )
    if len(models) > MODELS:
        notes = [f"{len(models) - MODELS} more models in .frame()", *notes]
    below = "".join(f"<li>{escape(make_printable(note))}</li>" for note in notes)
    return (
        f"<table><caption>{escape(make_printable(head))}</caption>"
        f"<thead><tr><th scope='col'>model</th>{columns}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{below}</ul>" if below else "")
    )


def _render_cell(row: Mapping[str, Any]) -> str:
    interval = "" if row["low"] != row["low"] else f" ({row['low']:.3f} to {row['high']:.3f})"
    return (
        f"<b>{format_number(row['estimate'])}</b>{interval}<br>"
        f"<small>labels {format_number(row['labels_only'])}</small>"
    )


def _shorten_name(name: str) -> str:
    return escape(shorten(name, NAME))
