"""``ssme evaluate``: a file of scores in, a table of estimates out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ssme.cli.deciding import (
    add_prevalence,
    add_worth,
    correct,
    keep_correction,
    read_threshold_goal,
    read_worth,
    refuse_shift,
    show_thresholds,
    show_together,
)
from ssme.cli.options import (
    OUT,
    EngineOptions,
    FileArgument,
    ReadFlags,
    ReportOptions,
    RunOptions,
    split_names,
)
from ssme.cli.output import Output, format_csv, format_json
from ssme.cli.program import CONDITION_FAILED, register_command, say
from ssme.cli.run import evaluate_scores, gather, list_inputs, read_scores, say_recognized
from ssme.errors import InputError, argument, name_argument

DECIDING = "Deciding"
GATES = "Gates for pipelines"

if TYPE_CHECKING:
    from ssme.decide.gates import GateCondition
    from ssme.evaluation import Evaluation
    from ssme.results.gaps import GapTable
    from ssme.spec import RunSpec

__all__ = ["evaluate", "show"]


@register_command("Evaluate")
def evaluate(
    read: ReadFlags,
    run: RunOptions,
    engine: EngineOptions,
    out: ReportOptions,
    file: FileArgument = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-under",
            help='Exit 1 unless this holds: "accuracy>=0.9", "accuracy.low>=0.9" for the lower '
            'end of the interval, "forest:ece<=0.05" for one model, "new-old:accuracy.low>=0" for '
            "the difference of two (repeatable).",
            rich_help_panel=GATES,
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within",
            help="Exit 1 unless the model with the best estimate of the first metric is behind "
            "the best one by no more than this, with the probability of --level.",
            rich_help_panel=GATES,
        ),
    ] = None,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            help="Exit 1 where there is a doubt of this severity or a worse one: serious or "
            "warning. A gate fails on serious doubts unless this is `never` (default: serious "
            "with --fail-under or --within, never without).",
            rich_help_panel=GATES,
            autocompletion=lambda: ["serious", "warning", "never"],
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            "--cost",
            help='Judge first by costs: "0,1;10,0" has a row for each true class and a column for '
            "each predicted one.",
            rich_help_panel=DECIDING,
        ),
    ] = None,
    utility: Annotated[
        str | None,
        typer.Option(
            "--utility",
            help='Judge first by utilities, written as costs are: "0,-1;0,5".',
            rich_help_panel=DECIDING,
        ),
    ] = None,
    threshold_for: Annotated[
        str | None,
        typer.Option(
            "--threshold-for",
            help='Choose each model\'s threshold: "precision>=0.9", "recall>=0.95", '
            '"specificity>=0.9", a metric to make best such as "f1", or "cost" and "utility" for '
            "the matrix of --cost and --utility.",
            rich_help_panel=DECIDING,
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            help="Probability with which the demand of --threshold-for has to hold (default: 0.5).",
            rich_help_panel=DECIDING,
        ),
    ] = None,
    prevalence: Annotated[
        float | None,
        typer.Option(
            "--prevalence",
            help="Report the metrics as they would be with this share of the positive class, "
            "among two classes.",
            rich_help_panel=DECIDING,
        ),
    ] = None,
    correct_shift: Annotated[
        str | None,
        typer.Option(
            "--correct-shift",
            help="Weight the labels so that they represent the unlabeled rows: `label` where the "
            "classes have other frequencies, `covariate` where the rows are others and rows with "
            "the same scores have the same labels.",
            rich_help_panel=DECIDING,
            autocompletion=lambda: ["label", "covariate"],
        ),
    ] = None,
    together: Annotated[
        bool,
        typer.Option(
            "--together",
            help="Show how the models err together: rows that all get wrong, correlation of "
            "errors, effective number of independent models, what one more would give.",
            rich_help_panel=DECIDING,
        ),
    ] = False,
    config: Annotated[
        Path | None, typer.Option("--config", "-c", help="TOML, YAML or JSON file of options.")
    ] = None,
    save_config: Annotated[
        Path | None,
        typer.Option(
            "--save-config",
            help="Write how the file is read, the evaluation and the engine to a config file. "
            "Gates, thresholds and outputs are not part of it.",
        ),
    ] = None,
    gaps: Annotated[
        list[str] | None,
        typer.Option(
            "--gaps",
            help="Gaps between groups to print beside differences: ratio, equal_opportunity, "
            "equalized_odds, calibration (repeatable, or separated by commas).",
            rich_help_panel=OUT,
        ),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print every model.", rich_help_panel=OUT)
    ] = False,
) -> None:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Examples:

    [cyan]ssme evaluate scores.csv --label y --models forest,logistic[/cyan]

    [cyan]ssme evaluate scores.parquet -y label -g hospital --metric accuracy,ece --json -[/cyan]

    [cyan]ssme evaluate scores.csv -y label --fail-under "accuracy.low>=0.9"[/cyan]

    [cyan]ssme evaluate scores.csv -y label --fail-under "new-old:accuracy.low>=0"[/cyan]

    [cyan]ssme evaluate 'parts/*.parquet' -y label --engine stream[/cyan]

    [cyan]ssme evaluate --config run.toml[/cyan]

    Exit codes: 0 done, and every gate holds; 1 a gate does not hold; 2 bad input or command line;
    70 a fault of ssme; 130 interrupted; 141 the reader closed the output.
    """
    from ssme.cli.tables import LIMIT
    from ssme.decide import gates
    from ssme.decide.thresholds import CONFIDENCE
    from ssme.options import accept
    from ssme.results.gaps import describe_gaps

    kinds = split_names(gaps, "--gaps") if gaps else []
    _refuse_unknown_gaps(kinds)
    output = Output(out, {"save_config": save_config})
    if within is not None:
        accept(gates.WITHIN, within)
    if fail_on is not None:
        accept(gates.FAIL_ON, fail_on)
    if confidence is None:
        confidence = CONFIDENCE.default
    elif threshold_for is None:
        raise InputError(
            f"--confidence {confidence:g} was given without --threshold-for",
            allowed="--confidence for the demand of --threshold-for",
            fix="say what is demanded, or leave --confidence out",
        )
    accept(CONFIDENCE, confidence)
    demands = [gates.parse_condition(text) for text in fail_under or []]
    gated = bool(demands) or within is not None or fail_on is not None
    worth = read_worth(cost, utility)
    goal = None if threshold_for is None else read_threshold_goal(threshold_for, worth)
    spec = add_worth(gather(file, read, run, config, engine), worth)
    if prevalence is not None and goal is not None:
        raise InputError(
            f"{argument('prevalence', prevalence)} and {argument('threshold_for', threshold_for)} "
            "were both given, and thresholds are chosen for the classes as frequent as they are "
            "among the rows",
            allowed="one of them",
            fix="leave one of them out",
        )
    if prevalence is not None:
        spec, rare = add_prevalence(spec, prevalence)
        if rare:
            output.note(rare)
    if correct_shift is not None:
        refuse_shift(correct_shift, spec, save_config)
    output.refuse_inputs([*list_inputs(spec), config, spec.checkpoint])
    if save_config is not None:
        with name_argument("save_config"):
            spec.save(save_config)
        unsaved = {
            "--fail-under": demands,
            "--within": within is not None,
            "--fail-on": fail_on,
            "--threshold-for": threshold_for,
            "--together": together,
            "--gaps": kinds,
        }
        _say_unsaved(output, save_config, [flag for flag, given in unsaved.items() if given])
    in_memory = spec.engine == "memory"
    if in_memory:
        result = _evaluate_file(spec, output, demands, correct_shift)
    else:
        result = _evaluate_stream(spec, output, demands)
    verdict = gates.judge(result, demands, within=within, fail_on=fail_on or "serious")
    held: dict[str, Any] = (
        {"gate": {"passed": verdict.passed, **dataclasses.asdict(verdict)}} if gated else {}
    )
    if goal is not None:
        with name_argument("threshold_for"):
            thresholds = result.choose_thresholds(goal, confidence=confidence)
        held["thresholds"] = thresholds.to_dict()
    if together:
        profile = result.set_profile()
        held["together"] = profile.to_dict()
    if (goal is not None or together) and result.streamed is not None:
        _say_sampled(output, result)
    asked = _compute_gaps(result, kinds) if kinds else None
    if asked is not None:
        held |= describe_gaps(result, asked)
    output.write(out.json, format_json({**result.to_dict(), **held}))
    output.write(out.csv, format_csv(list(result.rows())))
    if out.html is not None:
        from ssme.report import render_report

        output.write(out.html, render_report(result))
    show(result, output, show_all, asked)
    if goal is not None:
        show_thresholds(thresholds, output, None if show_all else LIMIT)
    if together:
        show_together(profile, output)
    for sentence in verdict.failures if gated else ():
        say(f"Failed: {sentence}")
    for sentence in verdict.remarks:
        output.note(sentence)
    for sentence in verdict.despite if gated and verdict.passed else ():
        say(f"Passed despite a {sentence}")
    if gated and not verdict.passed:
        raise typer.Exit(CONDITION_FAILED)


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
        output.note(f"{place} does not hold {', '.join(flags)}: say so again beside --config.")


def show(
    result: Evaluation, output: Output, show_all: bool = False, gaps: GapTable | None = None
) -> None:
    """Print an evaluation's tables, groups and doubts."""
    from ssme.cli.tables import LIMIT, make_evaluation_tables, print_doubts, summarize_in_a_line

    output.console.print(summarize_in_a_line(result), markup=False)
    if result.settings.get("lead", {}).get("reason"):
        output.console.print(result.settings["lead"]["reason"], markup=False)
    for table in make_evaluation_tables(result, None if show_all else LIMIT):
        output.console.print()
        output.console.print(table)
    _show_choice(result, output)
    if len(result.groups) > 1:
        _show_groups(result, output, show_all, gaps)
    print_doubts(output.console, result.doubts)


def _show_choice(result: Evaluation, output: Output) -> None:
    """Print which model to take by the leading metric, where there are several."""
    from rich.text import Text

    from ssme.decide.written import choose_by_lead
    from ssme.wording import make_printable

    choice = choose_by_lead(result) if result.data.n_models > 1 else None
    if choice is not None and choice.p_best >= 0.0:
        output.console.print()
        output.console.print(Text(make_printable(choice.sentence())))


def _refuse_unknown_gaps(kinds: Sequence[str]) -> None:
    from ssme.results.gaps import GAPS

    for kind in kinds:
        if kind not in GAPS:
            raise InputError(f"--gaps {kind} is unknown", allowed=", ".join(GAPS))


def _compute_gaps(result: Evaluation, kinds: Sequence[str]) -> GapTable:
    """Differences between groups, and the other gaps that were asked for."""
    if len(result.groups) < 2:
        raise InputError(
            f"{argument('gaps', kinds[0])} was asked for, and no groups are reported on",
            allowed="gaps between groups",
            fix=f"name the groups with {argument('groups', 'COLUMN')}",
        )
    with name_argument("gaps"):
        return result.gaps(kinds=["difference", *kinds])


def _show_groups(result: Evaluation, output: Output, show_all: bool, gaps: GapTable | None) -> None:
    """Print the groups of every grouping, worst first, and how far they are apart."""
    from ssme.cli.group_tables import make_gap_tables, make_group_tables
    from ssme.cli.tables import LIMIT

    limit = None if show_all else LIMIT
    found = list(make_group_tables(result, limit))
    leading = result.worst_groups(result.metrics[0].name, by=result.groups[1].by).rows[0].model
    apart = result.gaps(kinds=["difference"]) if gaps is None else gaps
    for table in [*found, *make_gap_tables(apart, leading, limit)]:
        output.console.print()
        output.console.print(table)


def _evaluate_file(
    spec: RunSpec, output: Output, demands: list[GateCondition], shift: str | None
) -> Evaluation:
    """The evaluation of a file that fits into memory."""
    from ssme.decide.gates import add_metrics
    from ssme.fitting import choose_usual_metrics

    with output.show_progress("reading"):
        data = read_scores(spec)
    for sentence in say_recognized(spec, data):
        output.note(sentence)
    metrics = spec.metrics
    if demands:
        with name_argument("fail_under"):
            metrics = tuple(add_metrics(metrics or choose_usual_metrics(data), demands))
    if shift is not None:
        with name_argument("correct_shift"):
            data, said = correct(data, shift)
        output.note(said)
    with output.show_progress("estimating"):
        result = evaluate_scores(spec, data, metrics=metrics)
    return result if shift is None else keep_correction(result, shift)


def _evaluate_stream(spec: RunSpec, output: Output, demands: list[GateCondition]) -> Evaluation:
    """The evaluation of files that are passed over; the number of classes is not known before."""
    from ssme.decide.gates import add_metrics
    from ssme.run import execute

    if demands and not spec.metrics:
        raise InputError(
            f"--fail-under was given with --engine {spec.engine} and without --metric",
            fix="name the metrics with --metric",
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
