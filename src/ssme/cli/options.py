"""Flags that commands share, each group a dataclass; None means "not given".

Those of reading, of the run and of the engine are made from `ssme.schema`, where an option is
declared once. The others are written here.
"""

from __future__ import annotations

import ast
import csv
import shlex
from collections.abc import Callable, Iterable
from dataclasses import asdict, field, fields, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ssme.config import read_typed
from ssme.errors import InputError
from ssme.options import Flag as Switch
from ssme.options import Option, describe_default, list_declared
from ssme.schema import FILE_NAME, AskOptions, ReadOptions
from ssme.schema import RunOptions as RunSchema

SPELLED: dict[tuple[str, str | None], str] = {
    ("labels", "False"): "--no-labels",
    ("labels", None): "--labels-file",
    ("by", "[]"): "--no-groups",
    ("models", "{model: {class: column}}"): "--pattern '{model}:{class}'",
}
"""Options with a value that the command line spells in another way."""

READ = "Reading the file"
RUN = "The evaluation"
ENGINE = "Larger than memory"
OUT = "Output"
TYPES: dict[str, Any] = {
    "flag": bool | None,
    "whole": int | None,
    "number": float | None,
    "path": Path | None,
    "list": list[str] | None,
    "classes": list[str] | None,
}
"""What the parser reads for the shape of an option; text for any other shape."""

FileArgument = Annotated[
    Path | None,
    typer.Argument(
        help="File of scores: CSV, TSV, Parquet, Excel, JSON Lines, npz or npy.", show_default=False
    ),
]


ConfigOption = Annotated[
    Path | None, typer.Option("--config", "-c", help="TOML, YAML or JSON file of options.")
]


def _complete_methods(incomplete: str) -> list[str]:
    from ssme.methods.registry import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def _complete_metrics(incomplete: str) -> list[str]:
    from ssme.metrics import metric_names

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in metric_names() if name.startswith(last)]


COMPLETE: dict[str, Callable[[str], list[str]]] = {
    "method": _complete_methods,
    "metrics": _complete_metrics,
}


def make_flags(name: str, options: Iterable[Option], panel: str = "") -> Any:
    """A dataclass with a field for each option, which the parser reads as a flag.

    Without a panel, each is listed in the help under its section.
    """
    found: list[tuple[str, Any, Any]] = []
    for each in options:
        where = panel or each.section or None
        kind = TYPES.get(each.shape, str | None)
        flags = [f"--{each.key.replace('_', '-')}", *filter(None, [each.short])]
        told = typer.Option(
            *flags, help=_explain(each), rich_help_panel=where, autocompletion=_offer(each)
        )
        found.append((each.name, Annotated[kind, told], field(default=None)))
        if each.off is not None:
            off, _, meaning = each.off
            told = typer.Option(f"--{off.replace('_', '-')}", help=meaning, rich_help_panel=where)
            found.append((off, Annotated[bool | None, told], field(default=None)))
    return make_dataclass(name, found, frozen=True)


def _explain(of: Option) -> str:
    default = describe_default(of)
    return f"{of.meaning.rstrip('.')}{f' (default: {default})' if default else ''}."


def _offer(of: Option) -> Callable[[str], list[str]] | None:
    if of.choices:
        return lambda incomplete: [each for each in of.choices if each.startswith(incomplete)]
    return COMPLETE.get(of.name)


_READING = sorted(list_declared(ReadOptions), key=lambda each: not each.short)
_RUN = [each for each in list_declared(RunSchema) if each.name != "source" and not each.section]
_ENGINE = [each for each in list_declared(RunSchema) if each.section == "engine"]

_WRITE = (
    Option("force", Switch(), False, "Overwrite existing files.", short="-f"),
    Option("quiet", Switch(), False, "Print errors only.", short="-q"),
    Option("no_color", Switch(), False, "Print without colors, as with the variable NO_COLOR."),
)
_TABLES = (
    Option("json", FILE_NAME, None, "Write JSON to this file (- is stdout)."),
    Option("csv", FILE_NAME, None, "Write CSV to this file (- is stdout)."),
)
_HTML = Option("html", FILE_NAME, None, "Write an HTML report to this file (- is stdout).")

if TYPE_CHECKING:
    ReadFlags: TypeAlias = Any
    RunOptions: TypeAlias = Any
    MetricOptions: TypeAlias = Any
    EngineOptions: TypeAlias = Any
    AskFlags: TypeAlias = Any
    WriteOptions: TypeAlias = Any
    OutputOptions: TypeAlias = Any
    ReportOptions: TypeAlias = Any
else:
    ReadFlags = make_flags("ReadFlags", _READING, READ)
    RunOptions = make_flags("RunOptions", _RUN, RUN)
    MetricOptions = make_flags(
        "MetricOptions",
        [each for each in _RUN if each.name not in ("method", "n_draws", "options")],
        RUN,
    )
    EngineOptions = make_flags("EngineOptions", _ENGINE, ENGINE)
    AskFlags = make_flags("AskFlags", list_declared(AskOptions))
    WriteOptions = make_flags("WriteOptions", _WRITE, OUT)
    OutputOptions = make_flags("OutputOptions", (*_WRITE, *_TABLES), OUT)
    ReportOptions = make_flags("ReportOptions", (*_WRITE, *_TABLES, _HTML), OUT)


def check_asked(flags: AskFlags) -> AskOptions:
    """What is asked beyond the table, each value checked."""
    given = {name: value for name, value in asdict(flags).items() if value is not None}
    if "gaps" in given:
        given["gaps"] = split_names(given["gaps"], "--gaps")
    if "confidence" in given and "threshold_for" not in given:
        raise InputError(
            f"--confidence {given['confidence']:g} was given without --threshold-for",
            hint="add --threshold-for, or leave --confidence out",
        )
    return AskOptions(**given)


def gather_flags(
    flags: Any, options: Iterable[Option] = (*_READING, *_RUN, *_ENGINE)
) -> dict[str, Any]:
    """The options that were given, by their names in Python and of their types.

    Options of the method are texts by name: how a text is read depends on the method.
    """
    given = {each.name: getattr(flags, each.name) for each in fields(flags)}
    found: dict[str, Any] = {}
    for each in (*_READING, *_RUN, *_ENGINE):
        value = given.get(each.name)
        if value is not None and value != []:
            found[each.name] = _parse(each, value)
        if each.off is not None and given.get(each.off[0]):
            if each.name in found:
                flag, off = (name.replace("_", "-") for name in (each.key, each.off[0]))
                raise InputError(f"--{flag} and --{off} were both given", hint="leave one out")
            found[each.name] = each.off[1]
    return found


def _parse(of: Option, value: Any) -> Any:
    if of.name == "options":
        return _parse_key_values(value)
    if of.shape == "class":
        return read_typed(value)
    if of.shape not in ("list", "classes"):
        return value
    texts = split_names(value, f"--{of.key}")
    if of.shape == "list":
        return texts
    typed = [(read_typed(text), text) for text in texts]
    if of.name == "unlabeled":  # the labels may be numbers, or text that looks like numbers
        return [each for pair in typed for each in dict.fromkeys(pair)]
    return [number for number, _ in typed]


def spell_with(flags: dict[str, str]) -> Any:
    """How an option is written with these ``flags``; see `ssme.errors.spell_options`."""

    def spell(name: str, value: str | None) -> str | None:
        if (name, value) in SPELLED:
            return SPELLED[name, value]
        flag = flags.get(name)
        if flag is None:
            return None
        if value is None or value == "True":
            return flag
        if value.startswith("[") and value.endswith("]"):
            value = _write_names(value)
        return f"{flag} {value}"

    return spell


def _write_names(value: str) -> str:
    """A list of Python as one word of a command line, which `split_names` takes apart again."""
    try:
        names = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        names = None
    if not names or not all(isinstance(name, str) for name in names):
        return ",".join(part.strip().strip("'\"") for part in value[1:-1].split(","))
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in names))


def split_names(items: Iterable[str], option: str) -> list[str]:
    """The names in ``a,b`` and ``c``; none at all is refused.

    A name with a comma is written in double quotes: ``"a, b",c``.
    """
    items = list(items)
    parts = [
        part.strip()
        for item in items
        for part in (
            next(csv.reader([item], skipinitialspace=True)) if '"' in item else item.split(",")
        )
    ]
    names = [part for part in parts if part]
    if not names:
        raise InputError(
            f"{option} {','.join(items)!r} names nothing",
            hint=f"write {option} a,b, or leave {option} out",
        )
    return names


def _parse_key_values(pairs: Iterable[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(
                f"--options {pair!r} is not a name with a value",
                hint="write for example --options n_draws=500",
            )
        found[key.strip()] = value.strip()
    return found
