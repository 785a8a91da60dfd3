"""An evaluation as a notebook shows it: one small table, the doubts below."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from ssme.wording import printable, shorten

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = ["evaluation_html"]

MODELS = 30
NAME = 60


def evaluation_html(evaluation: Evaluation) -> str:
    """Models by metrics; each estimate with its interval and what labels alone say."""
    data, whole = evaluation.data, evaluation.groups[0]
    head = (
        f"{data.n_models} models by {evaluation.method}: {whole.n_labeled:,} labeled and "
        f"{whole.n_unlabeled:,} unlabeled rows"
    )
    first = whole.name
    cells = {(r["model"], r["metric"]): _cell(r) for r in evaluation.rows() if r["group"] == first}
    columns = "".join(
        f"<th scope='col'>{escape(shorten(metric.name, NAME))}</th>"
        for metric in evaluation.metrics
    )
    body = "".join(
        f"<tr><th scope='row'><bdi>{escape(shorten(model, NAME))}</bdi></th>"
        + "".join(f"<td>{cells[model, metric.name]}</td>" for metric in evaluation.metrics)
        + "</tr>"
        for model in data.models[:MODELS]
    )
    notes = [f"{data.n_models - MODELS} more models in .frame()"] if data.n_models > MODELS else []
    if len(evaluation.groups) > 1:
        notes.append(f"{len(evaluation.groups) - 1} groups in .frame()")
    notes += [str(doubt) for doubt in evaluation.doubts]
    below = "".join(f"<li>{escape(printable(note))}</li>" for note in notes)
    return (
        f"<table><caption>{escape(head)}; {evaluation.level * 100:g} % intervals</caption>"
        f"<thead><tr><th scope='col'>model</th>{columns}</tr></thead><tbody>{body}</tbody></table>"
        + (f"<ul>{below}</ul>" if below else "")
    )


def _cell(row: dict[str, Any]) -> str:
    interval = "" if row["low"] != row["low"] else f" ({row['low']:.3f} to {row['high']:.3f})"
    return (
        f"<b>{row['estimate']:.3f}</b>{interval}<br><small>labels {row['labels_only']:.3f}</small>"
    )
