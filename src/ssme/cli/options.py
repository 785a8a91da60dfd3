"""Options that commands share, each group a dataclass; None means "not given".

The meaning, default and allowed values of an option are declared where the library declares them:
the help "read:NAME" stands for the field NAME of `ssme.data.readers.options.ReadOptions`, and
"run:NAME" for that of `ssme.spec.RunSpec`. Their text is fetched when a help page is shown
(`describe`), so that starting the program does not load the library.
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ssme.config import WRITTEN_AS, read_typed
from ssme.errors import InputError

__all__ = [
    "IN_PYTHON",
    "AskOptions",
    "ConfigOption",
    "EngineOptions",
    "FileArgument",
    "MetricOptions",
    "OutputOptions",
    "ReadFlags",
    "ReportOptions",
    "RunOptions",
    "WriteOptions",
    "describe",
    "gather_options",
    "gather_reading",
    "run_asked",
    "spell_with",
    "split_names",
]

IN_PYTHON = {written: name for name, written in WRITTEN_AS.items()} | {"labels_file": "labels"}
"""Options whose name differs from that of the argument in Python."""

SPELLED: dict[tuple[str, str | None], str] = {
    ("labels", "False"): "--no-labels",
    ("by", "[]"): "--no-groups",
    ("models", "{model: {class: column}}"): "--pattern '{model}:{class}'",
}
"""Arguments with a value that the command line says in another way."""

READ = "Reading the file"
RUN = "The evaluation"
ENGINE = "Larger than memory"
OUT = "Output"
DECIDING = "Deciding"
GATES = "Gates for pipelines"

FileArgument = Annotated[
    Path | None,
    Argument(
        help="File of scores: CSV, TSV, Parquet, Excel, JSON Lines, npz or npy.", show_default=False
    ),
]


ConfigOption = Annotated[
    Path | None, Option("--config", "-c", help="TOML, YAML or JSON file of options.")
]


def _declare_reading(name: str, *flags: str, **more: Any) -> Any:
    return Option(*flags, help=f"read:{name}", rich_help_panel=READ, **more)


def _declare_run(name: str, *flags: str, **more: Any) -> Any:
    return Option(*flags, help=f"run:{name}", rich_help_panel=RUN, **more)


def _declare_engine(name: str, *flags: str, **more: Any) -> Any:
    return Option(*flags, help=f"run:{name}", rich_help_panel=ENGINE, **more)


def _complete_methods(incomplete: str) -> list[str]:
    from ssme.methods.registry import method_names

    return [name for name in method_names() if name.startswith(incomplete)]


def _complete_metrics(incomplete: str) -> list[str]:
    from ssme.metrics import metric_names

    done, comma, last = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in metric_names() if name.startswith(last)]


def _complete_designs(incomplete: str) -> list[str]:
    from ssme.data.design import DESIGNS

    return [name for name in DESIGNS if name.startswith(incomplete)]


def _complete_engines(incomplete: str) -> list[str]:
    from ssme.spec import ENGINES

    return [name for name in ENGINES if name.startswith(incomplete)]


@dataclass(frozen=True)
class ReadFlags:
    """How to read a file of scores."""

    label: Annotated[str | None, _declare_reading("label", "--label", "-y")] = None
    models: Annotated[list[str] | None, _declare_reading("models", "--models", "-m")] = None
    group: Annotated[list[str] | None, _declare_reading("groups", "--group", "-g")] = None
    labels_file: Annotated[
        Path | None,
        Option(
            "--labels-file",
            help="File with the labels, joined to the scores by id. With a column probability, as "
            "`ssme suggest` writes it, they add to the labels beside the scores.",
            rich_help_panel=READ,
        ),
    ] = None
    no_labels: Annotated[
        bool | None,
        Option("--no-labels", help="No row has a label.", rich_help_panel=READ),
    ] = None
    id: Annotated[str | None, _declare_reading("id", "--id")] = None
    weight: Annotated[str | None, _declare_reading("weight", "--weight")] = None
    design: Annotated[
        str | None, _declare_reading("design", "--design", autocompletion=_complete_designs)
    ] = None
    layout: Annotated[
        str | None, _declare_reading("layout", "--layout", autocompletion=lambda: ["wide", "long"])
    ] = None
    pattern: Annotated[str | None, _declare_reading("pattern", "--pattern")] = None
    answers: Annotated[list[str] | None, _declare_reading("answers", "--answers")] = None
    ratings: Annotated[list[str] | None, _declare_reading("ratings", "--ratings")] = None
    unsure: Annotated[list[str] | None, _declare_reading("unsure", "--unsure")] = None
    grades: Annotated[list[str] | None, _declare_reading("grades", "--grades")] = None
    cut: Annotated[str | None, _declare_reading("cut", "--cut")] = None
    classes: Annotated[list[str] | None, _declare_reading("classes", "--classes")] = None
    positive: Annotated[str | None, _declare_reading("positive", "--positive")] = None
    unlabeled: Annotated[list[str] | None, _declare_reading("unlabeled", "--unlabeled")] = None
    logits: Annotated[bool | None, _declare_reading("logits", "--logits")] = None
    normalize: Annotated[bool | None, _declare_reading("normalize", "--normalize")] = None
    ignore: Annotated[list[str] | None, _declare_reading("ignore", "--ignore")] = None
    delimiter: Annotated[str | None, _declare_reading("delimiter", "--delimiter")] = None
    decimal: Annotated[str | None, _declare_reading("decimal", "--decimal")] = None
    thousands: Annotated[str | None, _declare_reading("thousands", "--thousands")] = None
    encoding: Annotated[str | None, _declare_reading("encoding", "--encoding")] = None
    sheet: Annotated[str | None, _declare_reading("sheet", "--sheet")] = None
    model: Annotated[str | None, _declare_reading("model", "--model")] = None
    class_: Annotated[str | None, _declare_reading("class_", "--class")] = None
    score: Annotated[str | None, _declare_reading("score", "--score")] = None


@dataclass(frozen=True)
class MetricOptions:
    """What to estimate."""

    metric: Annotated[
        list[str] | None,
        _declare_run("metrics", "--metric", "-k", autocompletion=_complete_metrics),
    ] = None
    by: Annotated[list[str] | None, _declare_run("by", "--by")] = None
    min_group_rows: Annotated[int | None, _declare_run("min_group_rows", "--min-group-rows")] = None
    max_groups: Annotated[int | None, _declare_run("max_groups", "--max-groups")] = None
    group_target: Annotated[
        str | None,
        _declare_run(
            "group_target", "--group-target", autocompletion=lambda: ["population", "rows"]
        ),
    ] = None
    no_groups: Annotated[
        bool | None,
        Option("--no-groups", help="Report on all rows only.", rich_help_panel=RUN),
    ] = None
    threshold: Annotated[float | None, _declare_run("threshold", "--threshold")] = None
    level: Annotated[float | None, _declare_run("level", "--level")] = None
    seed: Annotated[int | None, _declare_run("random_state", "--seed")] = None


@dataclass(frozen=True)
class RunOptions(MetricOptions):
    """What to estimate and how."""

    method: Annotated[
        str | None, _declare_run("method", "--method", autocompletion=_complete_methods)
    ] = None
    draws: Annotated[int | None, _declare_run("n_draws", "--draws")] = None
    option: Annotated[
        list[str] | None,
        Option(
            "--option",
            "-O",
            help="Option of the method, as name=value (repeatable). "
            "`ssme methods NAME` lists them.",
            rich_help_panel=RUN,
        ),
    ] = None


@dataclass(frozen=True)
class EngineOptions:
    """Where the work runs; by default in memory."""

    engine: Annotated[
        str | None, _declare_engine("engine", "--engine", autocompletion=_complete_engines)
    ] = None
    workers: Annotated[int | None, _declare_engine("workers", "--workers")] = None
    scheduler: Annotated[str | None, _declare_engine("scheduler", "--scheduler")] = None
    sample_rows: Annotated[int | None, _declare_engine("sample_rows", "--sample-rows")] = None
    checkpoint: Annotated[Path | None, _declare_engine("checkpoint", "--checkpoint")] = None


@dataclass(frozen=True)
class AskOptions:
    """What is asked beyond the table; commands that show the result have all of them."""

    fail_under: Annotated[
        list[str] | None,
        Option(
            "--fail-under",
            help='Exit 1 unless this holds: "accuracy>=0.9", "accuracy.low>=0.9" for the lower '
            'end of the interval, "forest:ece<=0.05" for one model, "new-old:accuracy.low>=0" for '
            "the difference of two (repeatable).",
            rich_help_panel=GATES,
        ),
    ] = None
    within: Annotated[
        float | None,
        Option(
            "--within",
            help="Exit 1 unless, with probability --level, the chosen model is at most this far "
            "behind the best one.",
            rich_help_panel=GATES,
        ),
    ] = None
    fail_on: Annotated[
        str | None,
        Option(
            "--fail-on",
            help="Exit 1 where there is a doubt of this severity or a worse one: serious or "
            "warning. A gate fails on serious doubts unless this is `never` (default: serious "
            "with --fail-under or --within, never without).",
            rich_help_panel=GATES,
            autocompletion=lambda: ["serious", "warning", "never"],
        ),
    ] = None
    cost: Annotated[
        str | None,
        Option(
            "--cost",
            help='Judge first by costs: "0,1;10,0" has a row for each true class and a column for '
            "each predicted one.",
            rich_help_panel=DECIDING,
        ),
    ] = None
    utility: Annotated[
        str | None,
        Option(
            "--utility",
            help='Judge first by utilities, written as costs are: "0,-1;0,5".',
            rich_help_panel=DECIDING,
        ),
    ] = None
    threshold_for: Annotated[
        str | None,
        Option(
            "--threshold-for",
            help="Choose each model's threshold, and the model at its threshold: "
            '"precision>=0.9", "recall>=0.95", "specificity>=0.9", a metric to make best such as '
            '"f1", or "cost" and "utility" for the matrix of --cost and --utility.',
            rich_help_panel=DECIDING,
        ),
    ] = None
    confidence: Annotated[
        float | None,
        Option(
            "--confidence",
            help="Probability with which the demand of --threshold-for has to hold (default: 0.5).",
            rich_help_panel=DECIDING,
        ),
    ] = None
    prevalence: Annotated[
        float | None,
        Option(
            "--prevalence",
            help="Report the metrics as they would be with this share of the positive class, "
            "among two classes.",
            rich_help_panel=DECIDING,
        ),
    ] = None
    correct_shift: Annotated[
        str | None,
        Option(
            "--correct-shift",
            help="Weight the labels so that they represent the unlabeled rows. `label`: class "
            "proportions changed. `covariate`: the inputs changed, P(label given scores) did not.",
            rich_help_panel=DECIDING,
            autocompletion=lambda: ["label", "covariate"],
        ),
    ] = None
    together: Annotated[
        bool,
        Option(
            "--together",
            help="Show how the models err together: rows that all get wrong, correlation of "
            "errors, effective number of independent models, what one more would give.",
            rich_help_panel=DECIDING,
        ),
    ] = False
    gaps: Annotated[
        list[str] | None,
        Option(
            "--gaps",
            help="Gaps between groups to report in addition to differences: ratio, "
            "equal_opportunity, equalized_odds, calibration (repeatable, or separated by commas).",
            rich_help_panel=DECIDING,
        ),
    ] = None


@dataclass(frozen=True)
class WriteOptions:
    """How a command writes and how much it says."""

    force: Annotated[
        bool, Option("--force", "-f", help="Overwrite existing files.", rich_help_panel=OUT)
    ] = False
    quiet: Annotated[
        bool, Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUT)
    ] = False
    no_color: Annotated[
        bool,
        Option(
            "--no-color",
            help="Print without colors, as with the variable NO_COLOR.",
            rich_help_panel=OUT,
        ),
    ] = False

    @property
    def targets(self) -> dict[str, Path]:
        """Files asked for, by the option that names each."""
        return {}


@dataclass(frozen=True)
class OutputOptions(WriteOptions):
    """The same for commands whose result is a table."""

    json: Annotated[
        Path | None,
        Option("--json", help="Write JSON to this file (- is stdout).", rich_help_panel=OUT),
    ] = None
    csv: Annotated[
        Path | None,
        Option("--csv", help="Write CSV to this file (- is stdout).", rich_help_panel=OUT),
    ] = None

    @property
    def targets(self) -> dict[str, Path]:
        asked = {"json": self.json, "csv": self.csv}
        return {name: path for name, path in asked.items() if path is not None}


@dataclass(frozen=True)
class ReportOptions(OutputOptions):
    """The same for commands whose result makes a report."""

    html: Annotated[
        Path | None,
        Option(
            "--html", help="Write an HTML report to this file (- is stdout).", rich_help_panel=OUT
        ),
    ] = None

    @property
    def targets(self) -> dict[str, Path]:
        return super().targets | ({} if self.html is None else {"html": self.html})


def describe(help_text: str, repeatable: bool = False) -> str:
    """The help of an option, fetched from its declaration where ``help_text`` names one."""
    section, colon, name = help_text.partition(":")
    if not colon or section not in ("read", "run") or " " in name:
        return help_text
    from ssme.data.readers.options import ReadOptions as Reading
    from ssme.options import describe_default, list_declared
    from ssme.spec import RunSpec

    options = list_declared(Reading if section == "read" else RunSpec)
    of = next(each for each in options if each.name == name)
    default = describe_default(of)
    repeat = (
        " Separate several by commas, or repeat the option; a name with a comma stands in double "
        "quotes."
        if repeatable
        else ""
    )
    return f"{of.meaning.rstrip('.')}{f' (default: {default})' if default else ''}.{repeat}"


def gather_reading(options: ReadFlags) -> dict[str, Any]:
    """The options of reading that were given, by their names in Python and of their types."""
    found = {IN_PYTHON.get(name, name): value for name, value in gather_options(options).items()}
    for key in ("classes", "unlabeled", "unsure", "grades"):
        if key in found:
            found[key] = [each for text in found[key] for each in _parse_classes(text, key)]
    for key in ("positive", "cut"):
        if key in found:
            found[key] = read_typed(found[key])
    if found.pop("no_labels", False):
        if "labels" in found:
            raise InputError("--labels-file and --no-labels were both given", allowed="one of them")
        found["labels"] = False
    return found


def run_asked(options: MetricOptions, engine: EngineOptions | None = None) -> dict[str, Any]:
    """The options of the run that were given, by their names in Python.

    Options of the method are texts by name: how a text is read depends on the method.
    """
    found = {IN_PYTHON.get(name, name): value for name, value in gather_options(options).items()}
    if found.pop("no_groups", False):
        if "by" in found:
            raise InputError("--by and --no-groups were both given", allowed="one of them")
        found["by"] = []
    if "options" in found:
        found["options"] = _parse_key_values(options.option)  # type: ignore[attr-defined]
    return {**found, **(gather_options(engine) if engine is not None else {})}


def spell_with(flags: dict[str, str]) -> Any:
    """How an argument of Python is written with these ``flags``; see `ssme.errors.argument`."""

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

    A name with a comma stands in double quotes: ``"a, b",c``.
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
            allowed="one or more names, with commas between them",
            fix=f"write {option} a,b, or leave {option} out",
        )
    return names


def gather_options(options: Any) -> dict[str, Any]:
    """The options that were given; lists are split at commas."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if value is None or value == []:
            continue
        if isinstance(value, list) and field.name != "option":
            value = split_names(value, f"--{field.name.rstrip('_')}")
        found[field.name] = value
    return found


def _parse_key_values(pairs: Iterable[str]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InputError(
                f"--option {pair!r} is not a name with a value",
                allowed="name=value",
                fix="write for example --option n_draws=500",
            )
        found[key.strip()] = value.strip()
    return found


def _parse_classes(text: str, key: str) -> list[Any]:
    """A class typed on a command line; a code is meant as number and as text alike."""
    value = read_typed(text)
    return [value, text] if key == "unlabeled" and value != text else [value]
