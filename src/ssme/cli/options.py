"""Flags: made from the declarations of options, and read back into their values.

Every option is declared once, in `ssme.schema` or with the one command that has it.
"""

from __future__ import annotations

import ast
import csv
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer

from ssme import options as declared
from ssme.config import read_typed
from ssme.errors import InputError
from ssme.schema import FILE_NAME, LISTED_FORMATS, AskOptions, ReadOptions, RunOptions

SPELLED: dict[tuple[str, str | None], str] = {
    ("labels", "False"): "--no-labels",
    ("labels", None): "--labels-file",
    ("by", "[]"): "--no-groups",
    ("models", "{model: {class: column}}"): "--pattern '{model}:{class}'",
}
"""Options with a value that the command line spells in another way."""

TYPES: dict[str, Any] = {
    "flag": bool | None,
    **dict.fromkeys(("list", "classes", "texts", "paths"), list[str] | None),
}
"""What the parser reads for the shape of an option; one text for any other shape."""
SHOWN = {"whole": "<int>", "number": "<float>", "path": "<path>"}
"""What the help writes for the value of an option of this shape, if not <str>."""


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

_DECLARED = {each.name: each for each in declared.list_declared(RunOptions)}
FILE = _DECLARED.pop("source")._replace(
    kind=declared.Kind(lambda paths: paths, "paths of files", "paths"),
    meaning=f"File of scores: {LISTED_FORMATS}. Several are joined by id.",
    positional="FILE",
)
READING = (FILE, *sorted(declared.list_declared(ReadOptions), key=lambda each: not each.short))
RUN = tuple(each for each in _DECLARED.values() if not each.section)
ENGINE = tuple(each for each in _DECLARED.values() if each.section == "engine")
CONFIG = declared.Option(
    "config", FILE_NAME, None, "TOML, YAML or JSON file of options.", short="-c"
)
ASKING = declared.list_declared(AskOptions)

WRITE = (
    declared.Option("force", declared.Flag(), False, "Overwrite existing files.", short="-f"),
    declared.Option("quiet", declared.Flag(), False, "Print errors only.", short="-q"),
    declared.Option(
        "no_color", declared.Flag(), False, "Print without colors, as with the variable NO_COLOR."
    ),
)
TABLES = (
    *WRITE,
    declared.Option("json", FILE_NAME, None, "Write JSON to this file (- is stdout)."),
    declared.Option("csv", FILE_NAME, None, "Write CSV to this file (- is stdout)."),
)
REPORT = (
    *TABLES,
    declared.Option("html", FILE_NAME, None, "Write an HTML report to this file (- is stdout)."),
)
OUT = "Output"
HEADINGS = (
    ("Reading the file", READING),
    ("The evaluation", RUN),
    ("Larger than memory", ENGINE),
    (OUT, REPORT),
)
"""Of the help, with the options below each; other options name theirs."""
_SEVERAL = (*READING, *RUN, *ENGINE, *ASKING, *REPORT, CONFIG)
SHARED = {name for o in _SEVERAL for name in (o.name, *(o.off or ())[:1])}
"""Names of the options that several commands have."""


def make_parameters(options: Iterable[declared.Option]) -> Iterator[Parameter]:
    """What the parser reads for each option; a value is None where it was not given."""
    for each in options:
        kind: Any = TYPES.get(each.shape, str | None)
        if each.positional:
            info: Any = typer.Argument(
                help=each.meaning, show_default=False, metavar=each.positional
            )
            yield _make_parameter(each.name, kind, info)
            continue
        panel = next((name for name, part in HEADINGS if each in part), each.section or None)
        flags = [spell_flag(each.key), *filter(None, [each.short])]
        info = typer.Option(
            *flags,
            help=_explain(each),
            rich_help_panel=panel,
            autocompletion=_offer(each),
            metavar=SHOWN.get(each.shape),
        )
        yield _make_parameter(each.name, kind, info)
        if each.off is not None:
            off, _, meaning = each.off
            info = typer.Option(spell_flag(off), help=meaning, rich_help_panel=panel)
            yield _make_parameter(off, bool | None, info)


def _make_parameter(name: str, kind: Any, info: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, info])


def spell_flag(name: str) -> str:
    """``--min-group-rows`` for ``min_group_rows``."""
    return f"--{name.replace('_', '-')}"


def list_flags(options: Iterable[declared.Option]) -> dict[str, str]:
    """Argument of Python -> long option, for the options of a command."""
    flags = {each.name: each.positional or spell_flag(each.key) for each in options}
    return {"source": "FILE", "y": "--label", **flags}


def _explain(of: declared.Option) -> str:
    default = declared.describe_default(of)
    if isinstance(of.default, tuple):
        default = ",".join(map(str, of.default))
    return f"{of.meaning.rstrip('.')}{f' (default: {default})' if default else ''}."


def _offer(of: declared.Option) -> Callable[[str], list[str]] | None:
    if of.choices:
        return lambda incomplete: [each for each in of.choices if each.startswith(incomplete)]
    return COMPLETE.get(of.name)


def parse_flags(given: Mapping[str, Any], options: Iterable[declared.Option]) -> dict[str, Any]:
    """The ``options`` that were given, by name and of their types; those of a method are texts."""
    found: dict[str, Any] = {}
    for each in options:
        value = given.get(each.name)
        if value not in (None, [], ()):
            found[each.name] = _parse(each, value)
        if each.off is not None and given.get(each.off[0]):
            if each.name in found:
                flag, off = spell_flag(each.key), spell_flag(each.off[0])
                raise InputError(f"{flag} and {off} were both given", hint="leave one out")
            found[each.name] = each.off[1]
    return found


def _parse(of: declared.Option, value: Any) -> Any:
    if isinstance(of.kind, declared.NamedValues):
        return _parse_key_values(value, spell_flag(of.key))
    if of.shape in ("whole", "number", "path", "paths"):
        return _convert(of, value)
    if of.shape == "class":
        return read_typed(value)
    if of.shape == "choice":
        return value if _is_accepted(of, value) else read_typed(value)
    if of.shape not in ("list", "classes"):
        return value
    texts = split_names(value, spell_flag(of.key))
    if of.shape == "list":
        return texts if _is_accepted(of, texts) else [read_typed(text) for text in texts]
    typed = [(read_typed(text), text) for text in texts]
    if of.name == "unlabeled":  # the labels may be numbers, or text that looks like numbers
        return [each for pair in typed for each in dict.fromkeys(pair)]
    return [number for number, _ in typed]


def _is_accepted(of: declared.Option, texts: Any) -> bool:
    """Whether an option is text, and not numbers; others are refused when the options are made."""
    with suppress(InputError):
        declared.accept(of, texts)
        return True
    return False


def _convert(of: declared.Option, value: Any) -> Any:
    """Numbers that people write, not 0_1 or nan, which Python reads too; paths of files."""
    if of.shape == "path":
        return Path(value)
    if of.shape == "paths":
        return [Path(each) for each in value]
    try:
        number = declared.parse_number(value)
        return int(value) if of.shape == "whole" else number
    except ValueError:
        return declared.accept(of, value)  # refuses the text in the words of the option


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
        return f"{flag} {_write_value(value)}"

    return spell


def _write_value(value: str) -> str:
    """A value of Python as one word of a command line; `split_names` takes a list apart again."""
    try:
        found = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        found = None
    if isinstance(found, str):  # quotes show a comma alone, and text that looks like a number
        return shlex.quote(found) if any(map(str.isalpha, found)) else value
    if not (value.startswith("[") and value.endswith("]")):
        return value
    if not found or not all(isinstance(name, str) for name in found):
        return ",".join(part.strip().strip("'\"") for part in value[1:-1].split(","))
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in found))


def split_names(items: Iterable[str], option: str) -> list[str]:
    """The names in ``a,b`` and ``c``, or in ``"a, b",c`` where one has a comma; none is refused."""
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
        problem = f"{option} {','.join(items)!r} names nothing"
        raise InputError(problem, hint=f"write {option} a,b, or leave {option} out")
    return names


def _parse_key_values(pairs: Iterable[str], flag: str) -> dict[str, str]:
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            problem = f"{flag} {pair!r} is not a name with a value"
            example = "n_draws=500" if flag == "--options" else "NAME=VALUE"
            raise InputError(problem, hint=f"write for example {flag} {example}")
        found[key.strip()] = value.strip()
    return found
