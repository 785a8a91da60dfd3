"""``ssme evaluate``: a file of scores in, a table of estimates out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ssme.cli.deciding import (
    add_prevalence,
    add_worth,
    correct,
    keep_correction,
    read_threshold_goal,
    read_worth,
    refuse_shift,
)
from ssme.cli.options import (
    OUT,
    AskFlags,
    ConfigOption,
    EngineOptions,
    FileArgument,
    ReadFlags,
    ReportOptions,
    RunOptions,
    check_asked,
)
from ssme.cli.output import Output, format_json
from ssme.cli.program import CONDITION_FAILED, register_command, say
from ssme.cli.run import evaluate_scores, gather, list_inputs, read_scores, say_recognized
from ssme.errors import InputError, name_argument
from ssme.writing import format_csv

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation
    from ssme.results.gates import GateCondition
    from ssme.spec import RunSpec


@register_command("Evaluate")
def evaluate(
    read: ReadFlags,
    run: RunOptions,
    engine: EngineOptions,
    ask: AskFlags,
    out: ReportOptions,
    file: FileArgument = None,
    config: ConfigOption = None,
    save_config: Annotated[
        Path | None,
        typer.Option(
            "--save-config",
            help="Write how the file is read, the evaluation and the engine to a config file. "
            "Gates, thresholds and outputs are not part of it.",
        ),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print every model.", rich_help_panel=OUT)
    ] = False,
) -> None:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Examples:

    [cyan]ssme evaluate scores.csv --label y --models forest,logistic[/cyan]

    [cyan]ssme evaluate scores.parquet -y label -g hospital --metrics accuracy,ece --json -[/cyan]

    [cyan]ssme evaluate scores.csv -y label --fail-under "new-old:accuracy.low>=0"[/cyan]

    Exit codes: 0 success, and every gate passed; 1 a gate failed; 2 invalid input or command line;
    70 internal error; 130 interrupted; 141 broken pipe.
    """
    output = Output(out, {"save_config": save_config})
    _refuse_csv(out, ask)
    result = evaluate_asked(file, read, run, engine, ask, config, output, save_config)
    if out.json is not None:
        output.write(out.json, format_json(result.to_dict()))
    if out.csv is not None:
        output.write(out.csv, format_csv(list(result.rows())))
    if out.html is not None:
        from ssme.show.report import render_report

        output.write(out.html, render_report(result))
    show(result, output, show_all)
    exit_by_gate(result, output)


def evaluate_asked(
    file: Path | None,
    read: ReadFlags,
    run: RunOptions,
    engine: EngineOptions,
    flags: AskFlags,
    config: Path | None,
    output: Output,
    save_config: Path | None = None,
    also_read: Sequence[Path | None] = (),
) -> Evaluation:
    """The evaluation that a command line asks for, with the answers to all that it asks.

    ``also_read`` are further files that the command reads and must not overwrite.
    """
    from ssme.results.gates import parse_condition
    from ssme.run import settle_engine

    ask = check_asked(flags)
    demands = [parse_condition(text) for text in ask.fail_under or []]
    worth = read_worth(ask.cost, ask.utility)
    goal = None if ask.threshold_for is None else read_threshold_goal(ask.threshold_for, worth)
    spec = settle_engine(add_worth(gather(file, read, run, config, engine), worth))
    if ask.prevalence is not None and goal is not None:
        raise InputError(
            f"`prevalence={ask.prevalence}` and "
            f"`threshold_for={ask.threshold_for}` were both given, and thresholds are "
            "chosen for the classes as frequent as they are among the rows",
            hint="leave one of them out",
        )
    reason = ""
    if ask.prevalence is not None:
        spec, reason = add_prevalence(spec, ask.prevalence)
    if ask.correct_shift is not None:
        refuse_shift(ask.correct_shift, spec, save_config)
    output.refuse_inputs([*list_inputs(spec), config, spec.checkpoint, *also_read])
    if save_config is not None:
        with name_argument("save_config"):
            spec.save(save_config)
        unsaved = {
            "--fail-under": demands,
            "--within": ask.within is not None,
            "--fail-on": ask.fail_on,
            "--threshold-for": ask.threshold_for,
            "--together": ask.together,
            "--gaps": ask.gaps,
        }
        _say_unsaved(output, save_config, [flag for flag, given in unsaved.items() if given])
    if spec.engine == "memory":
        result = _evaluate_file(spec, output, demands, ask.correct_shift)
    else:
        result = _evaluate_stream(spec, output, demands)
    if reason:
        lead = {"metric": result.metrics[0].name, "reason": reason}
        result = dataclasses.replace(result, settings={**result.settings, "lead": lead})
    if (goal is not None or ask.together) and result.streamed is not None:
        _say_sampled(output, result)
    return result.ask(
        threshold_for=goal,
        confidence=ask.confidence,
        together=ask.together,
        gaps=ask.gaps,
        fail_under=demands,
        within=ask.within,
        fail_on=ask.fail_on,
    )


def exit_by_gate(result: Evaluation, output: Output) -> None:
    """Say what a gate found, also with ``--quiet``, and exit with 1 where it failed."""
    verdict = result.asked.gate
    if verdict is None:
        return
    for sentence in verdict.failures:
        say(f"Failed: {sentence}")
    for sentence in verdict.remarks:
        output.note(sentence)
    for sentence in verdict.despite if verdict.passed else ():
        say(f"Passed despite a {sentence}")
    if not verdict.passed:
        raise typer.Exit(CONDITION_FAILED)


def _refuse_csv(out: ReportOptions, ask: AskFlags) -> None:
    """Refuse what a CSV table of estimates cannot contain."""
    asked = {
        "--threshold-for": ask.threshold_for,
        "--together": ask.together,
        "--gaps": ask.gaps,
    }
    given = [flag for flag, value in asked.items() if value]
    if out.csv is not None and given:
        raise InputError(
            f"--csv was given with {', '.join(given)}, and a CSV file has the estimates only",
            hint=f"write --json or --html, or run it once more without {', '.join(given)}",
        )


def _say_sampled(output: Output, result: Evaluation) -> None:
    """Say that what needs the rows themselves was computed on the sample of a stream."""
    if result.data.n_rows < result.settings["n_rows"]:
        output.note(
            f"Thresholds, and how the models err together, are those of the sample of "
            f"{result.data.n_rows:,} rows; --sample-rows takes more."
        )


def _say_unsaved(output: Output, place: Path, flags: Sequence[str]) -> None:
    """Say what was asked for and is not part of a config file, such as a gate."""
    if flags:
        output.note(f"{place} does not contain {', '.join(flags)}: repeat with --config.")


def show(result: Evaluation, output: Output, show_all: bool = False) -> None:
    """Print an evaluation: the answers, the tables, what was asked beyond them and the warnings."""
    from ssme.show.document import build_document
    from ssme.show.terminal import LIMIT, print_document

    document = build_document(result, limit=None if show_all else LIMIT, report=False)
    shown = tuple(section for section in document.sections if section.key != "gate")
    document = dataclasses.replace(document, sections=shown)  # `exit_by_gate` says it
    print_document(output.console, document, ": --all shows them, --json FILE keeps them")
    more = [] if show_all else ["--all shows everything"]
    if result.warnings:
        code = result.warnings[0].code
        more.append(f"`ssme explain {code}` explains {code}")
    if more:
        output.console.print(f"{'; '.join(more)}.", style="dim")


def _evaluate_file(
    spec: RunSpec, output: Output, demands: list[GateCondition], shift: str | None
) -> Evaluation:
    """The evaluation of a file that fits into memory."""
    from ssme.fitting import choose_usual_metrics
    from ssme.results.gates import add_metrics

    with output.show_progress("reading"):
        data = read_scores(spec)
    for sentence in say_recognized(spec, data):
        output.note(sentence)
    metrics = spec.metrics
    if demands:
        with name_argument("fail_under"):
            metrics = tuple(
                add_metrics(metrics or choose_usual_metrics(data), demands, data.n_classes)
            )
    if shift is not None:
        with name_argument("correct_shift"):
            data, said = correct(data, shift)
        output.note(said)
    with output.show_progress("estimating"):
        result = evaluate_scores(spec, data, metrics=metrics)
    return result if shift is None else keep_correction(result, shift, said)


def _evaluate_stream(spec: RunSpec, output: Output, demands: list[GateCondition]) -> Evaluation:
    """The evaluation of files that are passed over; the number of classes is not known before."""
    from ssme.results.gates import add_metrics
    from ssme.run import execute

    if demands and not spec.metrics:
        raise InputError(
            f"--fail-under was given with --engine {spec.engine} and without --metrics",
            hint="name the metrics with --metrics",
        )
    if demands and spec.metrics:
        with name_argument("fail_under"):
            metrics = tuple(add_metrics(spec.metrics, demands))
        spec = dataclasses.replace(spec, metrics=metrics)
    with output.show_progress("passing over the rows"):
        result = execute(spec, spec.source)
    for sentence in say_recognized(spec, result.data):
        output.note(sentence)
    return result
