"""Options that commands share, each group a dataclass; None means "not given".

`merged` lays what the command line gives over what a config file gives.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from typer import Argument, Option

from ssme.errors import InputError
from ssme.options import Flag, Kind, Names, Number, OneOf, Series, Table, Text, Whole
from ssme.wording import did_you_mean

__all__ = [
    "ENGINES",
    "EngineOptions",
    "FileArgument",
    "MetricOptions",
    "OutputOptions",
    "ReadOptions",
    "ReportOptions",
    "RunOptions",
    "WriteOptions",
    "given",
    "merged",
    "names_in",
]

CLASS = OneOf(Text(), Whole(), Number(), Flag())
"""A class as a label column may hold it."""

KINDS: dict[Any, Kind] = {
    str: Text(),
    Path: Text(),
    bool: Flag(),
    int: Whole(),
    float: Number(),
    list[str]: Names(),
}
SPECIAL_KINDS: dict[str, Kind] = {
    "classes": Series(CLASS, least=1),
    "positive": CLASS,
    "unlabeled": OneOf(CLASS, Series(CLASS, least=1)),
    "option": Table(),
    "delimiter": Text(blank=True),
}
"""Options that hold more in a config file than the text of a command line."""

READ = "Reading the file"
RUN = "The evaluation"
ENGINE = "Larger than memory"
OUT = "Output"
ENGINES = ("memory", "stream", "dask")

FileArgument = Annotated[
    Path | None,
    Argument(help="CSV, TSV, Parquet, npz or npy file of scores.", show_default=False),
]


def _complete_methods(incomplete: str) -> list[str]:
    from ssme.methods.registry import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def _complete_metrics(incomplete: str) -> list[str]:
    from ssme.metrics import metric_names

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in metric_names() if name.startswith(last)]


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file of scores."""

    label: Annotated[
        str | None, Option("--label", "-y", help="Label column.", rich_help_panel=READ)
    ] = None
    models: Annotated[
        list[str] | None,
        Option("--models", "-m", help="Score columns: a,b,c (repeatable).", rich_help_panel=READ),
    ] = None
    group: Annotated[
        list[str] | None,
        Option("--group", "-g", help="Column to report by (repeatable).", rich_help_panel=READ),
    ] = None
    labels_file: Annotated[
        Path | None,
        Option("--labels-file", help="File with the labels, joined by id.", rich_help_panel=READ),
    ] = None
    no_labels: Annotated[
        bool | None,
        Option("--no-labels", help="No row has a label.", rich_help_panel=READ),
    ] = None
    id: Annotated[str | None, Option("--id", help="Row name column.", rich_help_panel=READ)] = None
    weight: Annotated[
        str | None, Option("--weight", help="Row weight column.", rich_help_panel=READ)
    ] = None
    layout: Annotated[
        str | None,
        Option(
            "--layout",
            help="wide or long.",
            autocompletion=lambda: ["wide", "long"],
            rich_help_panel=READ,
        ),
    ] = None
    pattern: Annotated[
        str | None,
        Option(
            "--pattern",
            help="Names of score columns, such as '{model}:{class}'.",
            rich_help_panel=READ,
        ),
    ] = None
    classes: Annotated[
        list[str] | None,
        Option("--classes", help="Classes in order: a,b,c.", rich_help_panel=READ),
    ] = None
    positive: Annotated[
        str | None,
        Option("--positive", help="Class the scores are for.", rich_help_panel=READ),
    ] = None
    unlabeled: Annotated[
        list[str] | None,
        Option("--unlabeled", help="Code that means 'no label', such as -1.", rich_help_panel=READ),
    ] = None
    logits: Annotated[
        bool | None, Option("--logits", help="Scores are logits.", rich_help_panel=READ)
    ] = None
    normalize: Annotated[
        bool | None,
        Option("--normalize", help="Rescale class scores to sum to 1.", rich_help_panel=READ),
    ] = None
    delimiter: Annotated[
        str | None, Option("--delimiter", help="Of a CSV file.", rich_help_panel=READ)
    ] = None


@dataclass(frozen=True)
class MetricOptions:
    """What to estimate."""

    metric: Annotated[
        list[str] | None,
        Option(
            "--metric",
            "-k",
            help="See `ssme metrics` (repeatable, or a,b).",
            autocompletion=_complete_metrics,
            rich_help_panel=RUN,
        ),
    ] = None
    threshold: Annotated[
        float | None,
        Option("--threshold", help="P(positive) that counts as positive.", rich_help_panel=RUN),
    ] = None
    level: Annotated[
        float | None,
        Option("--level", help="Coverage of the intervals; 0.95.", rich_help_panel=RUN),
    ] = None
    seed: Annotated[
        int | None, Option("--seed", help="Of the random numbers; 0.", rich_help_panel=RUN)
    ] = None


@dataclass(frozen=True)
class RunOptions(MetricOptions):
    """What to estimate and how."""

    method: Annotated[
        str | None,
        Option(
            "--method",
            help="See `ssme methods`; by default auto.",
            autocompletion=_complete_methods,
            rich_help_panel=RUN,
        ),
    ] = None
    draws: Annotated[
        int | None, Option("--draws", help="Draws, for methods that draw.", rich_help_panel=RUN)
    ] = None
    option: Annotated[
        list[str] | None,
        Option("--option", "-O", help="key=value of the method.", rich_help_panel=RUN),
    ] = None


@dataclass(frozen=True)
class EngineOptions:
    """Where the work runs; by default in memory."""

    engine: Annotated[
        str | None,
        Option(
            "--engine",
            help="memory; stream: Parquet of any size, in one pass; dask: the same on a cluster.",
            autocompletion=lambda: list(ENGINES),
            rich_help_panel=ENGINE,
        ),
    ] = None
    workers: Annotated[
        int | None, Option("--workers", help="Of stream; one a core.", rich_help_panel=ENGINE)
    ] = None
    scheduler: Annotated[
        str | None,
        Option("--scheduler", help="Address of a Dask scheduler.", rich_help_panel=ENGINE),
    ] = None
    sample_rows: Annotated[
        int | None,
        Option("--sample-rows", help="Rows to fit on; 20,000.", rich_help_panel=ENGINE),
    ] = None
    checkpoint: Annotated[
        Path | None,
        Option("--checkpoint", help="File to go on from if cut off.", rich_help_panel=ENGINE),
    ] = None


@dataclass(frozen=True)
class WriteOptions:
    """How a command writes and how loud it is."""

    force: Annotated[
        bool, Option("--force", "-f", help="Overwrite existing files.", rich_help_panel=OUT)
    ] = False
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUT)
    ] = False
    no_color: Annotated[
        bool, Option("--no-color", help="No colors (or set NO_COLOR).", rich_help_panel=OUT)
    ] = False

    @property
    def targets(self) -> list[Path]:
        """Files asked for."""
        return []


@dataclass(frozen=True)
class OutputOptions(WriteOptions):
    """The same for commands whose result is a table."""

    json: Annotated[
        Path | None, Option("--json", help="Write JSON here (- is stdout).", rich_help_panel=OUT)
    ] = None
    csv: Annotated[
        Path | None, Option("--csv", help="Write CSV here (- is stdout).", rich_help_panel=OUT)
    ] = None

    @property
    def targets(self) -> list[Path]:
        return [path for path in (self.json, self.csv) if path is not None]


@dataclass(frozen=True)
class ReportOptions(OutputOptions):
    """The same for commands whose result makes a report."""

    html: Annotated[
        Path | None,
        Option("--html", help="Write an HTML report here (- is stdout).", rich_help_panel=OUT),
    ] = None

    @property
    def targets(self) -> list[Path]:
        return super().targets + ([] if self.html is None else [self.html])


def given(options: Any) -> dict[str, Any]:
    """The options that were given, as plain values; lists are split at commas."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value is None or value == []:
            continue
        if field.name == "option":
            value = _key_values(value)
        elif isinstance(value, list):
            value = names_in(value, f"--{field.name}")
        found[field.name] = str(value) if isinstance(value, Path) else value
    return found


def merged(options: Any, base: Mapping[str, Any], section: str) -> dict[str, Any]:
    """``given(options)`` over the section of a config file, whose keys and values are checked."""
    kinds = kinds_of(type(options))
    checked = {}
    for key, value in base.items():
        if key not in kinds:
            raise InputError(
                f"the config has {key!r} in section [{section}]",
                allowed=", ".join(kinds),
                fix=f"{did_you_mean(key, kinds)}leave it out",
            )
        try:
            checked[key] = kinds[key].accept(value)
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"the config has {key} = {_shown(value)} in section [{section}]",
                allowed=kinds[key].describe(),
                fix="write such a value; text stands in quotation marks, numbers, true and "
                "false do not",
            ) from None
    return {**checked, **given(options)}


def kinds_of(bundle: type) -> dict[str, Kind]:
    """What a config file may hold for each option, by the type the command line gives it."""
    found: dict[str, Kind] = {}
    for name, hint in get_type_hints(bundle).items():
        plain = [each for each in get_args(hint) if each is not type(None)]
        found[name] = SPECIAL_KINDS.get(name) or KINDS[plain[0] if plain else hint]
    return found


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def plain_value(text: str) -> Any:
    """``text`` as the JSON value it spells (3, 0.5, true, null), else as itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _key_values(pairs: list[str]) -> dict[str, Any]:
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(
                f"--option {pair!r}", allowed="key=value", fix="write --option n_init=5"
            )
        found[key.strip()] = plain_value(value.strip())
    return found


def names_in(items: list[str], option: str) -> list[str]:
    """The names in ``a,b`` and ``c``; none at all is refused."""
    parts = (part.strip() for item in items for part in item.split(","))
    names = [part for part in parts if part]
    if not names:
        raise InputError(
            f"{option} {','.join(items)!r} names nothing",
            allowed="one or more names, with commas between them",
            fix=f"write {option} a,b, or leave {option} out",
        )
    return names
