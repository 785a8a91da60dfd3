"""Which rows to label next, with what an annotator needs to see of them; in a worker.

With some labels and a method that can weigh them, rows are drawn by `ssme.Evaluation.suggest`:
those whose labels tell most about the best model have a higher probability. Without, or where that
was asked for, all rows without a label have the same. Either way the probability of each row is
known and goes with its label into the memory. Rows are shown in random order, so that those labeled
of a round are a random part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.options import ReadOptions
from ssme.data.readers.sources import FILE_OPTIONS, find_reader, open_table
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.data.values import is_missing
from ssme.errors import InputError
from ssme.metrics import predicted_classes
from ssme.run import execute
from ssme.serve.evaluating import read_labeled
from ssme.serve.labeling import AT_RANDOM
from ssme.serve.spelling import spell_for_page
from ssme.spec import RunSpec
from ssme.writing import write_text

__all__ = ["choose_rows", "write_rows"]

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
LONGEST = 20_000
"""Characters of a cell that are shown."""


def write_rows(request: Mapping[str, Any], folder: Path) -> None:
    """Choose rows as ``request`` says and write them into ``folder``."""
    write_text(folder / "rows.json", json.dumps(choose_rows(request)))


def choose_rows(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The next rows to label, as the page shows them.

    Parameters
    ----------
    request : mapping
        ``config`` (a `RunSpec` as a dict), ``labels`` given by hand, ``round`` that this is,
        ``count`` of rows wanted, ``design`` ("goal" or "random"), ``shown`` columns (None: all
        that play no other part).

    Returns
    -------
    list of dict
        ``row``, ``round``, ``place``, ``cells`` (name, kind, text; those of kind "score" are what
        the models say), ``probability`` and ``reason`` of each.
    """
    spec = RunSpec.from_dict(request["config"])
    data, _ = read_labeled(spec, request["labels"])
    names: list[Any] = list(range(data.n_rows)) if data.ids is None else data.ids.tolist()
    size = min(int(request["count"]), data.n_unlabeled)
    seed = hashlib.sha256(repr((request["round"], request["config"])).encode()).digest()
    rng = np.random.default_rng(np.frombuffer(seed, dtype=np.uint32))
    if size == 0:
        return []
    rows, chance, reasons = _draw(spec, data, size, request["design"], rng)
    order = rng.permutation(len(rows))
    cells = _describe_cells(spec, data, rows[order], request["shown"])
    return [
        {
            "row": names[rows[i]],
            "round": request["round"],
            "place": place,
            "cells": [*cells[place], *_read_answers(data, int(rows[i]))],
            "probability": float(chance[i]),
            "reason": reasons[i],
        }
        for place, i in enumerate(order)
    ]


def _draw(
    spec: RunSpec,
    data: ScoreSet,
    size: int,
    design: str,
    rng: np.random.Generator,
    enough: int = 10,
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[str]]:
    """Row numbers, their probabilities and why each is worth a label.

    With fewer than ``enough`` labels no goal can value rows, and all count alike. So they do where
    rows cannot be valued by a method or a metric; the reason then says why.
    """
    why = AT_RANDOM
    seed = int(rng.integers(2**32))
    weighs = "weights" in spec.make_method().spec.designs
    if design == "goal" and weighs and data.n_labeled >= enough and data.n_models > 1:
        try:
            found = execute(spec, data).suggest(size, random_state=seed)
            return found.rows, found.probability, list(found.reasons)
        except InputError as error:
            said = spell_for_page(error, str(spec.source))
            why = f"{AT_RANDOM}, not by what its label tells: {said['got']}"
    free = np.flatnonzero(~data.labeled)
    rows = rng.choice(free, size, replace=False)
    return rows, np.full(size, size / free.size), [why] * size


def _describe_cells(
    spec: RunSpec, data: ScoreSet, chosen: NDArray[np.int64], shown: Sequence[str] | None
) -> list[list[tuple[str, str, str]]]:
    """(column, kind, text) of the columns to show, for each chosen row."""
    layout = data.layout
    groups = [
        [(name, "text", str(values[i])) for name, values in data.groups.items()] for i in chosen
    ]
    if layout is None or not isinstance(spec.source, str):
        return groups
    file = Path(spec.source)
    if find_reader(file).kind == "arrays":
        return groups
    written = (*FILE_OPTIONS, "classes", "ignore")
    told = ReadOptions.of({name: spec.read.get(name) for name in written}, file.name)
    table = Table(open_table(file, told), file.name)
    unused = [name for name in layout.ignored if name not in layout.skipped]
    wanted = [*unused, *layout.groups] if shown is None else list(shown)
    columns = [name for name in table.columns if name in wanted]
    places = _find_places(table, data, chosen)
    values = {name: table.read_values(name)[places] for name in columns}
    return [
        [_describe_cell(name, values[name][number]) for name in columns]
        for number in range(len(chosen))
    ]


def _read_answers(data: ScoreSet, row: int) -> list[tuple[str, str, str]]:
    """(model, "score", the class it predicts); pages show it only where it is asked."""
    found = []
    predicted = predicted_classes(data.scores[[row]])[0]
    for name, scores, best in zip(data.models, data.scores[row], predicted, strict=True):
        text = "no score" if best < 0 else f"{data.classes[best]} ({scores[best]:.2f})"
        found.append((name, "score", text))
    return found


def _find_places(table: Table, data: ScoreSet, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of the table that hold the chosen rows of the set: the same, unless it is long."""
    if data.n_rows == table.n_rows or data.layout is None or data.layout.id is None:
        return chosen
    first: dict[Any, int] = {}
    for number, name in enumerate(table.read_values(data.layout.id).tolist()):
        first.setdefault(name, number)
    ids = data.ids if data.ids is not None else np.arange(data.n_rows)
    return np.array([first[ids[i]] for i in chosen], dtype=np.int64)


def _describe_cell(name: str, value: Any) -> tuple[str, str, str]:
    if is_missing(np.array([value], dtype=object))[0]:
        return name, "empty", ""
    if isinstance(value, bool | int | float | np.number):
        return name, "number", f"{value:.6g}" if isinstance(value, float) else str(value)
    text = str(value)
    if text.lower().endswith(IMAGES) and "\n" not in text and len(text) < 1000:
        return name, "image", text
    cut = len(text) - LONGEST
    return name, "text", text if cut <= 0 else f"{text[:LONGEST]}… ({cut:,} more characters)"
