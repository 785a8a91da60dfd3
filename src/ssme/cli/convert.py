"""Logs of evaluation harnesses as a table: ``ssme convert``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from ssme.cli import options, program
from ssme.cli.output import Output
from ssme.errors import InputError
from ssme.options import Declared, option
from ssme.show.sections import Column, Section


@dataclass(frozen=True)
class ConvertOptions(Declared):
    """What `ssme convert` is asked."""

    source: Sequence[Path] = option(
        (),
        "Logs of Inspect, lm-evaluation-harness, Promptfoo, DeepEval, Ragas, OpenAI Evals or "
        "MLflow, or folders of them.",
        options.FILE.kind,
        positional="LOG",
    )


@program.register_command("Evaluate", asks=ConvertOptions, writes=options.TABLES)
def convert(output: Output, asked: ConvertOptions) -> None:
    """Write the logs of evaluation harnesses as one table, with a row per answer.

    Examples:

    [cyan]ssme convert logs/ --csv evals.csv[/cyan]
    [cyan]ssme convert run-a.eval run-b.eval --csv evals.csv[/cyan]
    [cyan]ssme systems evals.csv --label human[/cyan]
    """
    from ssme.data.readers.logs import gather_logs

    if not asked.source:
        raise InputError("no LOG was given", hint="name the log, or the folder of the logs")
    output.refuse_inputs(asked.source)
    columns = gather_logs(asked.source)
    names = list(columns)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    output.save(rows)
    if "system" not in names:
        output.say(f"{len(rows):,} items, with the scores of every class in the columns:")
        output.say(", ".join(names))
        return
    judges = [name for name in names if name.startswith(("judge_", "human_"))]
    systems = dict.fromkeys(columns["system"])
    own = {each: [row for row in rows if row["system"] == each] for each in systems}
    pairs = [(system, judge) for system in systems for judge in judges or [""]]
    table = (
        Column("system", [system for system, _ in pairs]),
        Column("items", [len({row["item"] for row in own[each]}) for each, _ in pairs], "count"),
        Column("answers", [len(own[each]) for each, _ in pairs], "count"),
        Column("judge", [judge for _, judge in pairs]),
        Column("mean", [_average([row.get(j) for row in own[s]]) for s, j in pairs], "number"),
    )
    output.show(Section("grades", "Grades", (), table))


def _average(grades: Sequence[Any]) -> float | None:
    """The mean of grades that are numbers."""
    known = [grade for grade in grades if isinstance(grade, int | float)]
    return fmean(known) if known else None
