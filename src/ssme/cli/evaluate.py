"""``ssme evaluate`` and ``ssme report``: a file of scores in, estimates or a report out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ssme.cli import options, program, run
from ssme.cli.output import Output, format_json
from ssme.errors import InputError, name_argument
from ssme.options import Flag, Text, option, optional, parse_number
from ssme.schema import FILE_NAME, AskOptions

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet
    from ssme.results.evaluation import Evaluation
    from ssme.results.gates import GateCondition
    from ssme.spec import RunSpec

ALL = (*options.READING, *options.RUN, *options.ENGINE, options.CONFIG)
NOT_IN_FILES = ("fail_under", "within", "fail_on", "threshold_for", "together", "gaps")
"""What is asked beyond the estimates, of which a config file has nothing."""
NOT_IN_TABLES = ("threshold_for", "together", "gaps")
"""What is asked that a CSV table of estimates cannot contain."""


@dataclass(frozen=True)
class EvaluateOptions(AskOptions):
    """What `ssme evaluate` alone is asked."""

    save_config: Path | None = optional(
        "Write the options of reading, evaluation and engine to a config file, without gates, "
        "thresholds and outputs.",
        FILE_NAME,
        usual="none",
        writes=True,
    )
    metrics_json: Path | None = optional(
        "Write only the estimates to this file, in the form that `dvc metrics` reads.",
        FILE_NAME,
        usual="none",
        section=options.OUT,
        writes=True,
    )
    all: bool = option(False, "Print every model, metric and warning.", Flag(), section=options.OUT)


@program.register_command("Evaluate", ALL, EvaluateOptions, options.REPORT)
def evaluate(spec: RunSpec, output: Output, asked: EvaluateOptions) -> None:
    """Estimate every classifier's metrics from few labels and many unlabeled rows.

    Examples:

    [cyan]ssme evaluate scores.csv -y label --groups sex,age:quantiles=4[/cyan]
    [cyan]ssme evaluate fraud.csv -y fraud --cost "0,1;50,0" --threshold-for cost[/cyan]
    [cyan]ssme evaluate old.csv new.csv --fail-under "new-old:accuracy.low>=0"[/cyan]

    Exit codes: 0 success, and every gate passed; 1 a gate failed; 2 invalid input or command line;
    70 internal error; 130 interrupted; 141 broken pipe.
    """
    given = ", ".join(_list_given(asked, NOT_IN_TABLES))
    if output.targets.get("csv") is not None and given:
        problem = f"--csv was given with {given}, and a CSV file has the estimates only"
        hint = f"write --json or --html, or run it once more without {given}"
        raise InputError(problem, hint=hint)
    from ssme.results.table import nest_estimates

    result = evaluate_asked(spec, asked, output, asked.save_config)
    output.save(result.to_dict, result.rows)
    if asked.metrics_json is not None:
        output.write(asked.metrics_json, format_json(nest_estimates(result.rows(), "model")))
    if "html" in output.targets:
        from ssme.show.report import render_report

        output.write(output.targets["html"], render_report(result))
    show(result, output, asked.all)
    exit_by_gate(result, output)


@dataclass(frozen=True)
class ReportOptions(AskOptions):
    """What `ssme report` alone is asked."""

    output: Path | None = optional(
        "File to write the report to: .html, .md or .json.",
        FILE_NAME,
        usual="report.html, or card.md with --card",
        short="-o",
        writes=True,
    )
    title: str | None = optional("Heading of the report.", Text())
    target: str | None = optional(
        "Target to plan for; the report shows how many labels it takes: "
        '"width(accuracy)<=0.05", "P(best)>=0.95", "regret<=0.005" or "P(regret<=0.01)>=0.9".',
        Text(),
    )
    memory: Path | None = optional(
        "Memory of `ssme track`; the report then says what changed since its evaluations.",
        FILE_NAME,
    )
    data: str = option("default", "Name of the data in the memory.", Text())
    card: str | None = optional(
        "Write the evaluation section of this model's card (.md), with metadata for model hubs.",
        Text(),
        usual="the whole report",
    )


@program.register_command("Evaluate", ALL, ReportOptions, options.WRITE)
def report(spec: RunSpec, output: Output, asked: ReportOptions) -> None:
    """Evaluate a file of scores and write a report that opens in any browser.

    It takes the same options as `ssme evaluate`, and the report contains all that they ask for.

    Examples:

    [cyan]ssme report scores.csv --label y[/cyan]
    [cyan]ssme report scores.csv --label y --threshold-for "recall>=0.9" -o report.md[/cyan]
    [cyan]ssme report scores.csv --label y --card forest[/cyan]
    """
    from ssme.memory import refuse_no_memory
    from ssme.results.plan import parse_target
    from ssme.show.charts import can_draw
    from ssme.show.report import check_suffix

    path = asked.output or Path("report.html" if asked.card is None else "card.md")
    output = dataclasses.replace(output, more={**output.more, "output": path})
    suffix = check_suffix(path, "output")
    if suffix != ".md" and asked.card is not None:
        raise InputError(option="output", value=str(path), must="end in .md for a model card")
    if asked.memory is not None:
        with name_argument("memory"):
            refuse_no_memory(asked.memory, new=False)
    if asked.target is not None:
        parse_target(asked.target)
    result = evaluate_asked(spec, asked, output, also_read=[asked.memory])
    with output.show_progress("drawing"):
        result.report(
            path,
            title=asked.title,
            target=asked.target,
            memory=asked.memory,
            data=asked.data,
            card=asked.card,
        )
    output.say(f"Wrote {path}")
    if suffix in (".html", ".htm") and not can_draw():
        output.note("It has no pictures: pip install 'ssme[report]' adds them.")
    exit_by_gate(result, output)


def evaluate_asked(
    spec: RunSpec,
    ask: AskOptions,
    output: Output,
    save_config: Path | None = None,
    also_read: Sequence[Path | None] = (),
) -> Evaluation:
    """The evaluation that a command line asks for; it must not overwrite ``also_read`` either."""
    from ssme.metrics import default_metrics
    from ssme.results.gates import parse_condition
    from ssme.run import settle_engine

    demands = [parse_condition(text) for text in ask.fail_under or []]
    costs = _read_costs(ask.cost, ask.utility)
    goal = _read_goal(ask, costs)
    if costs is not None:  # before the other metrics, so that it decides
        asked = default_metrics(len(costs["matrix"])) if spec.metrics is None else spec.metrics
        spec = dataclasses.replace(spec, metrics=(costs, *asked))
    spec = settle_engine(spec)
    reason = ""
    if ask.prevalence is not None:
        spec, reason = _add_prevalence(spec, ask.prevalence)
    if ask.correct_shift is not None:
        # refuse a correction that a stream cannot make or a config file cannot hold
        if spec.engine != "memory":
            problem = f"--correct-shift was given with --engine {spec.engine}"
            raise InputError(problem, hint="it needs the data in memory: leave one of them out")
        if save_config is not None:
            problem = f"--correct-shift {ask.correct_shift} was given with --save-config"
            hint = "a config file has no place for the weights: keep the command line instead"
            raise InputError(problem, hint=hint)
    output.refuse_inputs([*run.list_inputs(spec), spec.checkpoint, *also_read])
    if save_config is not None:
        with name_argument("save_config"):
            spec.save(save_config)
        if unsaved := _list_given(ask, NOT_IN_FILES):
            told = f"does not contain {', '.join(unsaved)}: repeat with --config."
            output.note(f"{save_config} {told}")
    if spec.engine == "memory":
        result = _evaluate_file(spec, output, demands, ask.correct_shift)
    else:
        result = _evaluate_stream(spec, output, demands)
    if reason:
        lead = {"metric": result.metrics[0].name, "reason": reason}
        result = dataclasses.replace(result, settings={**result.settings, "lead": lead})
    sampled = result.streamed is not None and result.data.n_rows < result.settings["n_rows"]
    if (goal is not None or ask.together) and sampled:
        output.note(
            f"Thresholds and joint errors of the models come from a sample of "
            f"{result.data.n_rows:,} rows; --sample-rows sets its size."
        )
    return result.ask(
        threshold_for=goal,
        confidence=ask.confidence,
        together=ask.together,
        gaps=ask.gaps,
        fail_under=demands,
        within=ask.within,
        fail_on=ask.fail_on,
    )


def _list_given(ask: AskOptions, names: Iterable[str]) -> list[str]:
    """The flags among ``names`` that were given."""
    values = {name: getattr(ask, name) for name in names}
    return [
        options.spell_flag(name) for name, value in values.items() if value not in (None, (), False)
    ]


def _read_goal(ask: AskOptions, costs: dict[str, Any] | None) -> Any:
    """What `Evaluation.choose_thresholds` takes for ``--threshold-for``; None without it."""
    from ssme.results.thresholds import read_goal

    text = ask.threshold_for
    if text is None:
        if ask.confidence != AskOptions.confidence:
            problem = f"--confidence {ask.confidence:g} was given without --threshold-for"
            raise InputError(problem, hint="add --threshold-for, or leave --confidence out")
        return None
    if ask.prevalence is not None:
        raise InputError(
            f"`prevalence={ask.prevalence}` and `threshold_for={text}` were both given, and "
            "thresholds are chosen for the classes as frequent as they are among the rows",
            hint="leave one of them out",
        )
    goal: Any = text
    if text in ("cost", "utility"):
        if costs is None or costs["name"] != f"expected_{text}":
            problem = f"--threshold-for {text} was given without --{text}"
            raise InputError(problem, hint=f'give the matrix too: --{text} "0,1;10,0"')
        goal = costs
    with name_argument("threshold_for"):
        read_goal(goal, "threshold_for")
    return goal


def exit_by_gate(result: Evaluation, output: Output) -> None:
    """Say what a gate found, also with ``--quiet``, and exit with 1 where it failed."""
    verdict = result.asked.gate
    if verdict is None:
        return
    for sentence in verdict.failures:
        program.say(f"Failed: {sentence}")
    for sentence in verdict.remarks:
        output.note(sentence)
    for sentence in verdict.despite if verdict.passed else ():
        program.say(f"Passed despite a {sentence}")
    if not verdict.passed:
        raise typer.Exit(program.CONDITION_FAILED)


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

    data = run.read_noted(spec, output)
    metrics = spec.metrics
    if demands:
        with name_argument("fail_under"):
            metrics = tuple(
                add_metrics(metrics or choose_usual_metrics(data), demands, data.n_classes)
            )
    corrected = {}
    if shift is not None:
        with name_argument("correct_shift"):
            data, said = _correct(data, shift)
        output.note(said)
        again = (
            f"The labels were weighted by --correct-shift {shift}; run the same command line again."
        )
        corrected = {"corrected_shift": shift, "shift": said, "config": None, "no_config": again}
    with output.show_progress("estimating"):
        result = run.evaluate_scores(spec, data, metrics=metrics)
    return dataclasses.replace(result, settings={**result.settings, **corrected})


def _evaluate_stream(spec: RunSpec, output: Output, demands: list[GateCondition]) -> Evaluation:
    """The evaluation of files that are passed over; the number of classes is not known before."""
    from ssme.results.gates import add_metrics
    from ssme.run import execute

    if demands and not spec.metrics:
        problem = f"--fail-under was given with --engine {spec.engine} and without --metrics"
        raise InputError(problem, hint="name the metrics with --metrics")
    if demands and spec.metrics:
        with name_argument("fail_under"):
            metrics = tuple(add_metrics(spec.metrics, demands))
        spec = dataclasses.replace(spec, metrics=metrics)
    with output.show_progress("passing over the rows"):
        result = execute(spec, spec.source)
    for sentence in run.say_recognized(spec, result.data):
        output.note(sentence)
    return result


# -------------------------------------------------------------------------------------------------
# Costs, prevalence and shift


def _read_costs(cost: str | None, utility: str | None) -> dict[str, Any] | None:
    """The metric of ``--cost`` or ``--utility``, as data; None without either."""
    if cost is None and utility is None:
        return None
    if cost is not None and utility is not None:
        raise InputError("--cost and --utility were both given", hint="leave one out")
    from ssme.metrics import get_metric

    flag, text = ("--cost", cost) if cost is not None else ("--utility", utility)
    try:
        matrix = [[parse_number(x) for x in row.split(",")] for row in str(text).split(";")]
    except ValueError:
        raise InputError(
            f"{flag} {text!r} is not a matrix of numbers",
            hint="write a row for each true class, with a number for each predicted one: "
            f'{flag} "0,1;10,0" has 1 for a false positive and 10 for a false negative',
        ) from None
    if len({len(row) for row in matrix} | {len(matrix)}) != 1:
        raise InputError(
            f"{flag} {text!r} has rows of {', '.join(str(len(row)) for row in matrix)} numbers",
            hint="give one row and one column for each class, such as "
            f'{flag} "0,1;10,0" for two classes',
        )
    data = {"name": f"expected_{flag.removeprefix('--')}", "matrix": matrix}
    try:
        get_metric(data)
    except InputError as error:
        raise error.at(flag) from None
    return data


def _add_prevalence(spec: RunSpec, prevalence: float) -> tuple[RunSpec, str]:
    """``spec`` with every metric as it would be with this share of class 1.

    The second value is a sentence on which metric comes first if none was named and a class is rare
    at the prevalence; otherwise it is empty.
    """
    import numpy as np

    from ssme.metrics import default_metrics
    from ssme.metrics.registry import find_leading_metric

    asked = default_metrics(2) if spec.metrics is None else spec.metrics
    share = np.format_float_positional(prevalence, trim="-")
    for each in asked:
        if not isinstance(each, str):
            raise InputError(
                f"--prevalence {share} was given with a metric that has options, as those "
                "of --cost and --utility have",
                hint="leave one of the two out; in Python, write "
                f"at_prevalence(expected_cost(...), {share})",
            )
    said = ""
    if spec.metrics is None:
        lead = find_leading_metric(np.array([1.0 - prevalence, prevalence]), (0, 1))
        if lead.reason:
            asked = (lead.metric, *(each for each in asked if each != lead.metric))
            said = (
                f"A class is rare at a prevalence of {share}, so the models are ranked by "
                f"{lead.metric} instead of accuracy, unless you name the metrics."
            )
    found = tuple(f"{each}~{share}" for each in asked)
    return dataclasses.replace(spec, metrics=found), said


def _correct(data: ScoreSet, kind: str) -> tuple[ScoreSet, str]:
    """``data`` with weights of its labels, and a sentence on what the scores say about it."""
    from ssme.results.shift import correct_shift, find_shift

    found = find_shift(data)
    refuted = f" Do not trust the correction for {kind} shift: it is refuted or leaves few labels."
    sentence = found.sentence() + ("" if kind in found.not_refuted else refuted)
    return correct_shift(data, kind), sentence
