"""The form "What is in the file" and the options of reading and running that it stands for.

The fields are those that the reader declares; the job that looks at a file lists them
(`ssme.serve.looking.list_fields`). Each column has one part. Models and groups are listed only
where they differ from what is recognized, which keeps the config as short as a person writes it.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Container, Mapping, Sequence
from typing import Any

from ssme.config import read_typed
from ssme.errors import InputError
from ssme.options import list_declared
from ssme.schema import ReadOptions

__all__ = ["Form", "fill_form", "find_parts", "parse_mapping"]

Form = Mapping[str, Sequence[str]]
Columns = Sequence[Mapping[str, Any]]

ONE = ("label", "id", "weight", "design", "model", "class_", "score")
MANY = ("models", "answers", "ratings", "groups")
"""Parts of one column, and of several."""
UNUSED = ("shown", "out")
KEYS = {each.name: each.key for each in list_declared(ReadOptions)}


def parse_mapping(
    form: Form,
    columns: Columns,
    fields: Sequence[Mapping[str, Any]],
    said: Container[str] = (),
) -> tuple[dict[str, Any], dict[str, Any], list[str] | None]:
    """The sections ``read`` and ``run`` of a config, and the columns that annotators see.

    Parameters
    ----------
    form : mapping
        Field -> values, as the browser sent them; ``part-3`` is the part of the fourth column.
    columns : sequence of mappings
        The columns that were found, with the part (``role``) that each was found to play.
    fields : sequence of mappings
        The options of reading, each with its ``name`` and ``kind``.
    said : container of str
        Keys of lists of columns that are written even where they are as found.

    Examples
    --------
    >>> columns = [{"name": "y", "role": "out"}, {"name": "bert", "role": "models"}]
    >>> form = {"part-0": ["label"], "part-1": ["models"], "classes": ["ham, spam"]}
    >>> parse_mapping(form, columns, [{"name": "classes", "kind": "list"}])
    ({'label': 'y', 'classes': ['ham', 'spam']}, {}, [])
    """
    parts = {
        column["name"]: _take_one(form, f"part-{number}") or column["role"]
        for number, column in enumerate(columns)
    }
    read: dict[str, Any] = {}
    for part in ONE:
        names = [name for name, of in parts.items() if of == part]
        if names:
            read[KEYS.get(part, part)] = names[0] if len(names) == 1 else names
    if columns and "label" not in read:
        read["labels_file"] = False
    for part in MANY:
        names = [name for name, of in parts.items() if of == part]
        key = KEYS.get(part, part)
        found = [column["name"] for column in columns if column["role"] == part]
        if names and (names != found or key in said or part in ("answers", "ratings")):
            read[key] = names
    ignored = [
        column["name"]
        for column in columns
        if parts[column["name"]] in UNUSED
        and (column.get("ignored") or column["role"] not in ("models", *UNUSED))
    ]
    if ignored:
        read["ignore"] = ignored
    for field in fields:
        value = _parse_field(field["kind"], _take_one(form, field["name"]))
        if value not in ("", [], False):
            read.setdefault(field["name"], value)
    shown = [name for name, part in parts.items() if part == "shown"]
    return read, _parse_run(form), shown if columns else None


def _parse_field(kind: str, text: str) -> Any:
    if kind == "flag":
        return bool(text)
    if kind in ("list", "classes"):
        cells = next(csv.reader([text], skipinitialspace=True), [])
        texts = [cell.strip() for cell in cells if cell.strip()]
        return texts if kind == "list" else [read_typed(text) for text in texts]
    return read_typed(text.strip()) if kind == "class" else text


def _parse_run(form: Form) -> dict[str, Any]:
    run: dict[str, Any] = {}
    if form.get("metric"):
        run["metrics"] = list(form["metric"])
    if _take_one(form, "method") not in ("", "auto"):
        run["method"] = _take_one(form, "method")
    text = _take_one(form, "level").replace("%", "").strip()
    level = _parse_percent(text) if text else 0.95
    if level != 0.95:
        run["level"] = level
    return run


def _parse_percent(text: str) -> float:
    """A share that was typed in percent, with a decimal point or comma."""
    try:
        percent = float(text.replace(",", "."))
    except ValueError:
        percent = math.nan
    if 1.0 < percent < 100.0:
        return round(percent / 100.0, 12)
    if 0.0 < percent <= 1.0:
        raise InputError(
            f"`level`: {text} would give intervals of {percent:g} %",
            hint=f"enter {100 * percent:g} for {100 * percent:g} %",
        )
    raise InputError(f"`level` must be between 1 and 100, got {text!r}", hint="enter 95 for 95 %")


def fill_form(read: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """Field -> what the form shows of a mapping; the parts of columns are apart (`find_parts`)."""
    found: dict[str, Any] = {
        name: _join(value) if isinstance(value, list) else value for name, value in read.items()
    }
    level = run.get("level", 0.95)
    return {
        **found,
        "metric": run.get("metrics"),
        "method": run.get("method", "auto"),
        "level": f"{100 * level:.12g}" if isinstance(level, float) else str(level),
    }


def _join(values: Sequence[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue().replace(",", ", ") if '"' not in text.getvalue() else text.getvalue()


def find_parts(columns: Columns, read: Mapping[str, Any], shown: Sequence[str] | None) -> list[str]:
    """The part of each column: as the mapping says, else as it was found."""
    said: dict[str, str] = dict.fromkeys(read.get("ignore", ()), "shown")
    for part in (*ONE, *MANY):
        names = read.get(KEYS.get(part, part), ())
        said |= dict.fromkeys([names] if isinstance(names, str) else names, part)
    found = []
    for column in columns:
        part = str(said.get(column["name"], column["role"]))
        if part == "models" and column["name"] not in read.get("models", [column["name"]]):
            part = "shown"
        if part in UNUSED and shown is not None:
            part = "shown" if column["name"] in shown else "out"
        found.append(part)
    return found


def _take_one(form: Form, name: str) -> str:
    values = form.get(name) or [""]
    return values[0]
