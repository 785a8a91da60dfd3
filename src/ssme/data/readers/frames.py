"""From a data frame to a `ScoreSet`: wide or long.

Parts are taken from what the caller names, else from a column's usual name; a frame that can be
read in two ways is refused with the choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssme.data.arrays import build
from ssme.data.layout import Layout
from ssme.data.readers import long, wide
from ssme.data.readers.roles import USUAL_NAMES, FrameOptions, Roles, find_roles
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.wording import listing

__all__ = ["FrameOptions", "read_frame"]

LAYOUTS = {"wide": wide.read, "long": long.read}


def read_frame(
    frame: Any, labels: object | None, options: FrameOptions, *, source: str | None = None
) -> ScoreSet:
    """Read a native frame; ``labels`` may be values, a second frame or a file joined by id."""
    table = Table(frame, source or "the frame")
    options, labels = _label_column_given_as_labels(table, options, labels)
    roles = find_roles(table, options, labels)
    kind = options.layout or detect_layout(table, roles, options)
    if kind not in LAYOUTS:
        raise InputError(
            f"layout={kind!r}", allowed="'wide' or 'long'", fix="or leave layout out to find it out"
        )
    _refuse_other_layout(kind, options)
    reading = LAYOUTS[kind](table, roles, options, labels)
    return build(
        reading.scores,
        reading.labels,
        models=reading.models,
        classes=reading.classes,
        positive=options.positive,
        weights=reading.weights,
        groups=reading.groups,
        ids=reading.ids,
        unlabeled=options.unlabeled,
        logits=options.logits,
        normalize=options.normalize,
        frame_library=table.library,
        layout=Layout(
            kind=reading.kind,
            columns=reading.columns,
            label=roles.label if labels is None else options.label,
            id=roles.id,
            weight=roles.weight,
            groups=tuple(roles.groups.values()),
            ignored=reading.ignored,
            labels_source=_source_of(labels),
            source=source,
        ),
    )


def _source_of(labels: object | None) -> str | None:
    if labels is None or labels is False:
        return None
    return str(labels) if isinstance(labels, str | Path) else f"a given {type(labels).__name__}"


def _label_column_given_as_labels(
    table: Table, options: FrameOptions, labels: object | None
) -> tuple[FrameOptions, object | None]:
    """``labels="y"`` names a column when there is one and no file of that name."""
    if not isinstance(labels, str) or options.label is not None:
        return options, labels
    if labels not in table.columns:
        if Path(labels).suffix == "":
            table.require(labels, "labels given by name")
        return options, labels
    if Path(labels).exists():
        raise InputError(
            f"labels={labels!r} is both a column and a file",
            allowed="one of the two",
            fix=f"pass label={labels!r} for the column, or a pathlib.Path for the file",
        )
    return replace(options, label=labels), None


def _only_for(layout: str, options: FrameOptions) -> list[str]:
    """Options given that make sense in one layout only."""
    names = ("model", "class_", "score") if layout == "long" else ("pattern",)
    given = [name for name in names if getattr(options, name) is not None]
    if layout == "wide" and isinstance(options.models, Mapping):
        given.append("models as a mapping")
    return given


def _refuse_other_layout(layout: str, options: FrameOptions) -> None:
    other = "wide" if layout == "long" else "long"
    foreign = _only_for(other, options)
    if foreign:
        raise InputError(
            f"{', '.join(foreign)} for the {layout} layout",
            allowed=f"options of the {layout} layout; {', '.join(foreign)} is for {other}",
            fix="wide has a column per model, long a row per score: choose one",
        )


def detect_layout(table: Table, roles: Roles, options: FrameOptions) -> str:
    """``"long"`` if there are a column of models and a score column, else ``"wide"``."""
    if _only_for("long", options) or _only_for("wide", options):
        return "long" if _only_for("long", options) else "wide"
    model = table.find(None, USUAL_NAMES["model"], "model column")
    score = table.find(None, USUAL_NAMES["score"], "score column")
    if model is None or score is None:
        return "wide"
    classes = {name for name in table.columns if name.lower() in USUAL_NAMES["class_"]}
    taken = roles.columns | roles.set_aside | {model, score} | classes
    others = [c for c in table.columns if c not in taken and table.kind(c) == "number"]
    if table.kind(model) != "other":
        others.append(model)
    if others:
        raise InputError(
            f"{table.what} reads as long (model column {model!r}, score column {score!r}) or as "
            f"wide (a column per model: {listing([score, *others])})",
            allowed="one layout",
            fix="say layout='long' or layout='wide', and for wide list models=[...]",
        )
    return "long"
