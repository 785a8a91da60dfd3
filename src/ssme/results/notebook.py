"""Results as a notebook shows them: a small table, what is said about it below or above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from ssme.results.frames import render_frame_html
from ssme.results.sections import format_number
from ssme.results.table import Row
from ssme.wording import make_printable, shorten

__all__ = ["ToldInWords", "render_table"]

MODELS = 30
NAME = 60


class ToldInWords:
    """What print and a notebook show by its sentence, a notebook with a table below."""

    def sentence(self) -> str:
        """Describe the result in words."""
        raise NotImplementedError

    def _list_columns(self) -> Mapping[str, Sequence[Any]]:
        """The columns of the table below the sentence; none where there is no table."""
        return {}

    def __str__(self) -> str:
        return make_printable(self.sentence())

    def _repr_html_(self) -> str:
        columns = self._list_columns()
        table = render_frame_html(columns) if columns else ""
        return f"<p>{escape(str(self))}</p>{table}"


def render_table(
    head: str, rows: Iterable[Row], models: Sequence[str], metrics: Sequence[str], notes: list[str]
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


def _render_cell(row: Row) -> str:
    interval = "" if row["low"] != row["low"] else f" ({row['low']:.3f} to {row['high']:.3f})"
    return (
        f"<b>{format_number(row['estimate'])}</b>{interval}<br>"
        f"<small>labels {format_number(row['labels_only'])}</small>"
    )


def _shorten_name(name: str) -> str:
    return escape(shorten(name, NAME))
