"""``ssme systems``: a table of systems, items and judges in, corrected rates out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import typer

from ssme import options, schema
from ssme.cli.options import FILE, OUT, REPORT
from ssme.cli.output import Output, format_json
from ssme.cli.program import CONDITION_FAILED, register_command, say
from ssme.errors import InputError


@dataclass(frozen=True)
class SystemFlags(schema.SystemOptions):
    """What `ssme systems` is asked."""

    source: Sequence[Path] = options.option(
        (),
        "Table of answers, a CSV, Parquet, Excel or JSON Lines file; or logs of evaluation "
        "harnesses, as `ssme convert` takes them.",
        FILE.kind,
        positional="FILE",
    )
    metrics_json: Path | None = options.optional(
        "Write only the estimates to this file, in the form that `dvc metrics` reads.",
        schema.FILE_NAME,
        usual="none",
        section=OUT,
        writes=True,
    )
    report: Path | None = options.optional(
        "Write a report to this file: .html, .md or .json.",
        schema.FILE_NAME,
        usual="none",
        section=OUT,
        writes=True,
    )
    all: bool = options.option(False, "Print every system.", options.Flag(), section=OUT)


@register_command("Evaluate", asks=SystemFlags, writes=REPORT)
def systems(output: Output, asked: SystemFlags) -> None:
    """Estimate the pass rate of every system from judges and a few human labels.

    Examples:

    [cyan]ssme systems evals.csv -y human --judges 'judge_*'[/cyan]
    [cyan]ssme systems evals.csv -y human --system model --item prompt[/cyan]
    [cyan]ssme systems evals.csv -y human --fail-under "new-old:pass_rate.low>=-0.01"[/cyan]

    Exit codes: 0 success, and every gate passed; 1 a gate failed; 2 invalid input or command line.
    """
    from ssme.results.table import nest_estimates
    from ssme.show.html import render_html
    from ssme.show.report import check_suffix
    from ssme.show.terminal import LIMIT, print_document
    from ssme.systems.document import build_systems_document
    from ssme.systems.evaluation import evaluate_table
    from ssme.systems.records import add_records

    if not asked.source:
        raise InputError("no FILE was given", hint="name the table, such as evals.csv")
    output.refuse_inputs(asked.source)
    if asked.report is not None:
        check_suffix(asked.report, "report")
    with output.show_progress("estimating"):
        result = evaluate_table(asked.source, asked)
        rows = result.rows()
    output.save(result.to_dict, rows)
    if asked.metrics_json is not None:
        output.write(asked.metrics_json, format_json(nest_estimates(rows, "system")))
    if asked.report is not None:
        output.note(f"Wrote {result.report(asked.report)}")
    if "html" in output.targets:
        from ssme.show.charts import draw_charts

        page = build_systems_document(result)
        output.write(output.targets["html"], render_html(page, draw_charts(page)))
    document = build_systems_document(result, limit=None if asked.all else LIMIT, report=False)
    if asked.record is not None:
        add_records(asked.record, result.records())
        output.note(f"Wrote {asked.record}")
    shown = tuple(section for section in document.sections if section.key != "gate")
    document = replace(document, sections=shown)  # said below, also with --quiet
    print_document(output.console, document, ": --all shows them, --json FILE keeps them")
    if not asked.fail_under and asked.fail_on is None:
        return
    verdict = result.gate()
    for sentence in verdict.failures:
        say(f"Failed: {sentence}")
    for sentence in verdict.despite if verdict.passed else ():
        say(f"Passed despite a {sentence}")
    if not verdict.passed:
        raise typer.Exit(CONDITION_FAILED)
