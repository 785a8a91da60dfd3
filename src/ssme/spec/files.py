"""A run in a file: what of a `RunSpec` is written, and how it is read and checked again.

What no file can hold is named when a spec is written; every key and value that is read is checked
against its declaration.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ssme.config import WRITTEN_AS
from ssme.errors import InputError, argument
from ssme.methods.registry import find_method_class
from ssme.metrics import Metric, write_metric
from ssme.metrics.kinds import DEFAULT_THRESHOLD
from ssme.options import Flag, NamedValues, OneOf, Option, Series, Text, ValueKind, list_declared
from ssme.spec.settling import READING, holds_data
from ssme.wording import cut_end, suggest_nearest

__all__ = [
    "explain_unknown_key",
    "explain_unwritable",
    "make_plain",
    "read_reading",
    "read_value",
    "take_section",
    "write_metric_entry",
    "write_options",
    "write_reading",
]

_METRIC = OneOf(Text(), NamedValues())
_IN_FILES: dict[str, ValueKind] = {
    "source": OneOf(Text(), Series(Text(), least=1)),
    "method": Text(),
    "options": NamedValues(),
    "metrics": OneOf(_METRIC, Series(_METRIC, least=1)),
    "checkpoint": Text(),
}
"""What a file holds of options that take more in Python."""
_LABELS_FILE = Option("labels_file", Text(), None, "File with the labels, joined by id.")
_NO_LABELS = Option("no_labels", Flag(), False, "Whether no row has a label.")


def write_reading(read: Mapping[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for name, value in read.items():
        if name not in READING or holds_data(name, value):
            raise explain_unwritable(argument(name), f"a {type(value).__name__}")
        if name == "labels":
            if value is not False and not isinstance(value, Path):
                raise explain_unwritable("the source of the labels", f"a {type(value).__name__}")
            written |= {"no_labels": True} if value is False else {"labels_file": str(value)}
        elif name == "models" and isinstance(value, Mapping):
            written[name] = {model: _write_columns(columns) for model, columns in value.items()}
        else:
            written[WRITTEN_AS.get(name, name)] = value
    return written


def _write_columns(columns: Any) -> Any:
    """Columns by class as pairs where a class is no text, which a table's key has to be."""
    if isinstance(columns, Mapping) and not all(isinstance(name, str) for name in columns):
        return [list(pair) for pair in columns.items()]
    return columns


def read_reading(section: Any) -> dict[str, Any]:
    keys = {WRITTEN_AS.get(name, name): each for name, each in READING.items() if name != "labels"}
    keys |= {"labels_file": _LABELS_FILE, "no_labels": _NO_LABELS}
    found: dict[str, Any] = {}
    for key, value in take_section({"read": section}, "read").items():
        if key not in keys:
            raise explain_unknown_key(key, keys, "read")
        if key == "models" and isinstance(value, Mapping):
            value = {model: _read_columns(columns) for model, columns in value.items()}
        value = read_value(keys[key], key, value, "read")
        if "labels" in found and (key == "labels_file" or (key == "no_labels" and value)):
            raise InputError(
                "the config has labels_file and no_labels in section [read]",
                allowed="one of them",
                fix="leave one of them out",
            )
        if key == "labels_file":
            found["labels"] = Path(value)
        elif key == "no_labels":
            found |= {"labels": False} if value else {}
        else:
            found[keys[key].name] = value
    return found


def _read_columns(columns: Any) -> Any:
    pairs = isinstance(columns, list) and all(
        isinstance(each, list) and len(each) == 2 for each in columns
    )
    return dict(columns) if pairs and columns else columns


def write_metric_entry(metric: Any, threshold: float | None) -> Any:
    if isinstance(metric, (str, Mapping)):
        return metric
    data = write_metric(metric) if isinstance(metric, Metric) else None
    if data is not None:
        plain = threshold is None and data.get("threshold") == DEFAULT_THRESHOLD
        data = {key: value for key, value in data.items() if not (plain and key == "threshold")}
        return data["name"] if len(data) == 1 else data
    name = getattr(metric, "name", getattr(metric, "__name__", type(metric).__name__))
    raise explain_unwritable(f"the metric {name!r}", f"a {type(metric).__name__}")


def write_options(method: str, options: Mapping[str, Any]) -> dict[str, Any]:
    python_only = {
        each.name for each in list_declared(find_method_class(method)) if each.python_only
    }
    for name, value in options.items():
        if name in python_only:
            raise explain_unwritable(
                f"the option {name!r} of the method", f"a {type(value).__name__}"
            )
    return dict(options)


def explain_unwritable(what: str, kind: str) -> InputError:
    return InputError(
        f"{what} is {kind}, which no file can hold",
        allowed="text, numbers, true, false, null, lists and tables",
        fix="call ssme.evaluate from Python to run this again",
    )


def take_section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = config.get(name) or {}
    if not isinstance(section, Mapping):
        raise InputError(f"the config has no section {name!r}", allowed=f"a table [{name}]")
    return section


def read_value(of: Option, key: str, value: Any, section: str | None) -> Any:
    where = "" if section is None else f" in section [{section}]"
    kind = _IN_FILES.get(of.name, of.kind)
    try:
        return kind.accept(value)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"the config has {key} = {_shorten(value)}{where}",
            allowed=kind.describe(),
            fix="write such a value; text stands in quotation marks, numbers, true and false "
            "do not",
        ) from None


def explain_unknown_key(key: str, known: Mapping[str, Any], section: str) -> InputError:
    return InputError(
        f"the config has {key!r} in section [{section}]",
        allowed=", ".join(known),
        fix=f"{suggest_nearest(key, known)}leave it out",
    )


def _shorten(value: Any) -> str:
    return cut_end(json.dumps(value, ensure_ascii=False, default=str), 80)


def make_plain(value: Any) -> Any:
    """``value`` with lists for tuples and arrays, as files hold them."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: make_plain(item) for key, item in value.items()}
    return [make_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
