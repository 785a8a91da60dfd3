"""``ssme bench``: how well would each method have done on data like mine?"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssme.cli.options import OutputOptions, ReadFlags, split_names
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.cli.run import gather, read_scores
from ssme.errors import InputError
from ssme.wording import escape_all, shorten
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet

METHODS = ("auto", "ssme", "ensemble", "labeled")
FALLBACK = (
    "* in {:.0%} of the splits the group's labels do not determine it, and labels alone are those "
    "of all rows"
)
"""Below a table of a group whose labels sometimes say nothing."""


MOST_WORKERS = 1_024
"""Number of processes beyond which a number is a slip of the hand."""


@dataclass(frozen=True)
class FileLoader:
    """Reads the user's file; equal loaders are the same file, so a worker reads it once."""

    config: str

    def __call__(self, name: str) -> ScoreSet:
        from ssme.spec import RunSpec

        return read_scores(RunSpec.from_dict(json.loads(self.config)))


@register_command("Evaluate")
def bench(
    read: ReadFlags,
    out: OutputOptions,
    file: Annotated[
        str,
        typer.Argument(help="Fully labeled file of scores.", show_default=False),
    ],
    methods: Annotated[
        str,
        typer.Option(
            "--methods", help="Methods to compare, separated by commas; `ssme methods` lists them."
        ),
    ] = ",".join(METHODS),
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics", "-k", help="Metric to estimate; `ssme metrics` lists them (repeatable)."
        ),
    ] = None,
    n_labeled: Annotated[
        str,
        typer.Option(
            "--n-labeled",
            "-n",
            help="Number of labels that a method gets, such as 30, or several such as 20,50,100.",
        ),
    ] = "30",
    n_unlabeled: Annotated[
        int | None,
        typer.Option(
            "--n-unlabeled",
            help="Number of unlabeled rows that a method gets (default: 1000, or all there are).",
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Number of random splits.")] = 20,
    seed: Annotated[int, typer.Option("--random-state", help="Seed of the splits.")] = 0,
    workers: Annotated[int, typer.Option("--workers", help="Number of processes.")] = 1,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler to run on.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            help="Folder that keeps what is finished; the same command goes on where it stopped.",
        ),
    ] = None,
) -> None:
    """Measure how far off each method would have been on a file in which every row has a label.

    Answers: "how far off would each method have been on data like mine, with 30 labels?"

    Examples:

    [cyan]ssme bench history.csv --label y --n-labeled 30[/cyan]

    [cyan]ssme bench history.parquet -y label --methods auto,labeled -n 20,50 --workers 4[/cyan]

    [cyan]ssme bench adult --groups sex --groups age:edges=30/50 --methods auto,labeled[/cyan]
    """
    from ssme.bench import Protocol, run_protocol, summarize
    from ssme.bench.runner import Runner
    from ssme.engines.executors import open_executor
    from ssme.show.terminal import make_table

    output = Output(out)
    if not 1 <= workers <= MOST_WORKERS:
        must = f"be between 1 and {MOST_WORKERS:,}"
        raise InputError(option="workers", value=workers, must=must)
    name, load = Path(file).stem, FileLoader(json.dumps(gather(Path(file), read).to_dict()))
    with output.show_progress("reading"):
        data = load(name)
    groups = _choose_groups(read, data)
    sizes = _parse_whole_numbers(n_labeled)
    room = data.n_rows // 2 - max(sizes)
    protocol = Protocol(
        split_names([methods], "--methods"),
        metrics=_choose_metrics(metrics, data),
        n_labeled=sizes,
        n_unlabeled=(n_unlabeled if n_unlabeled is not None else max(0, min(1000, room)),),
        runs=runs,
        by=groups,
        seed=seed,
    )
    asked = list(protocol.methods)
    runner = Runner(protocol, load)
    unable = [method for method in asked if not runner.list_metrics(name, method)]
    if len(unable) == len(asked):
        what = "these metrics by group" if groups else "these metrics"
        raise InputError(
            f"none of the methods {methods} estimates {what} on this data",
            hint="`ssme methods` lists what each method does",
        )
    if unable:
        what = "these metrics by group" if groups else "these metrics"
        output.note(f"Left out, as they do not estimate {what} on this data: {', '.join(unable)}.")
    if resume is not None:
        _make_folder(resume)
    kind = "dask" if scheduler else "processes" if workers > 1 else "serial"
    options: dict[str, Any] = {"dask": {"scheduler": scheduler}, "processes": {"workers": workers}}
    with (
        output.show_progress("estimating"),
        open_executor(kind, **options.get(kind, {})) as executor,
    ):
        table = run_protocol(
            protocol, [name], load, executor=executor, folder=resume, overwrite=out.force
        )
    summary = summarize(table).drop(columns=["dataset", "subset"] + ["group"] * (not groups))
    rows = [{k: _drop_undefined(v) for k, v in row.items()} for row in summary.to_dict("records")]
    output.write(out.json, format_json(rows))
    output.write(out.csv, format_csv(rows))
    keys = ["metric", "n_labeled"] + ["group"] * bool(groups)
    for (metric_name, labels, *group), part in summary.groupby(keys, sort=False):
        where = f" in {group[0]}" if group and group[0] != "all" else ""
        title = (
            f"{metric_name}{where} from {labels} labels: mean error over {runs} "
            f"split{'s' * (runs > 1)}"
        )
        columns = ("method", "error", "of labels alone", "coverage", "width")
        shown = make_table(title, *columns, right=columns[1:])
        borrowed = float(part["fallback"].max()) if groups else 0.0
        if borrowed > 0.0:
            shown.caption = FALLBACK.format(borrowed)
            shown.caption_justify = "left"
        for row in part.sort_values("mae").to_dict("records"):
            shown.add_row(
                row["method"],
                _format_number(row["mae"], ".4f") + " ± " + _format_number(row["ci95"], ".4f"),
                _format_number(row["rmae"], ".2f", "x*" if borrowed > 0.0 else "x"),
                _format_number(row["coverage"], ".0%"),
                _format_number(row["width"], ".3f"),
            )
        output.console.print(shown)


def _choose_metrics(named: list[str] | None, data: ScoreSet) -> tuple[str, ...] | None:
    """The metrics that were named; None for the usual ones, unless some of them are left out."""
    from ssme.fitting import choose_usual_metrics

    if named:
        return tuple(split_names(named, "--metrics"))
    return None if data.ordered else choose_usual_metrics(data)


def _drop_undefined(value: Any) -> Any:
    """None for a number that is undefined: a spread of one run, a ratio to an error of 0."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _format_number(value: float, form: str, unit: str = "") -> str:
    return "-" if _drop_undefined(value) is None else f"{value:{form}}{unit}"


def _choose_groups(read: ReadFlags, data: ScoreSet) -> tuple[str, ...]:
    """The groupings to report on in addition to all rows: those that were named."""
    from ssme.data.grouping import parse_group_by

    named = split_names(read.groups, "--groups") if read.groups else []
    for name in named:
        parse_group_by(name, data.groups, "groups").settle(data.groups)
    return tuple(named)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"--resume {shorten(escape_all(str(folder)), 80)} cannot be made: {reason}",
            hint="choose another path",
        ) from None


def _parse_whole_numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) >= 1 for part in parts):
        must = "be whole numbers such as 30 or 20,50"
        raise InputError(option="n_labeled", value=text, must=must)
    return tuple(map(int, parts))
