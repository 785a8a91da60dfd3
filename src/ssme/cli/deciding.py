"""What the command line says about decisions: matrices of costs, thresholds, and their table."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError, name_argument
from ssme.options import parse_number

if TYPE_CHECKING:
    from ssme.cli.output import Output
    from ssme.data.scoreset import ScoreSet
    from ssme.decide.thresholds import ThresholdChoice
    from ssme.decide.together import SetProfile
    from ssme.evaluation import Evaluation
    from ssme.spec import RunSpec

__all__ = [
    "add_prevalence",
    "add_worth",
    "correct",
    "keep_correction",
    "read_threshold_goal",
    "read_worth",
    "refuse_shift",
    "show_thresholds",
    "show_together",
]

SHOWN_PAIRS = 5
"""Pairs of models shown; --json has all."""
PAIR_NAME = 10
"""Characters of the name of a model in a table of pairs."""
ROOM = 25
"""Characters that the names of a model and a metric have in a table of thresholds."""


def read_worth(cost: str | None, utility: str | None) -> dict[str, Any] | None:
    """The metric of ``--cost`` or ``--utility``, as data; None without either."""
    if cost is None and utility is None:
        return None
    if cost is not None and utility is not None:
        raise InputError("--cost and --utility were both given", allowed="one of them")
    from ssme.metrics import get_metric

    flag, text = ("--cost", cost) if cost is not None else ("--utility", utility)
    try:
        matrix = [[parse_number(x) for x in row.split(",")] for row in str(text).split(";")]
    except ValueError:
        raise InputError(
            f"{flag} {text!r} is not a matrix of numbers",
            allowed="numbers, with commas between columns and semicolons between rows",
            fix=f'write for example {flag} "0,1;10,0"',
        ) from None
    if len({len(row) for row in matrix} | {len(matrix)}) != 1:
        raise InputError(
            f"{flag} {text!r} has rows of {', '.join(str(len(row)) for row in matrix)} numbers",
            allowed="as many rows as columns: one of each for every class",
            fix=f'write for example {flag} "0,1;10,0" for two classes',
        )
    data = {"name": f"expected_{flag.removeprefix('--')}", "matrix": matrix}
    with name_argument(flag.removeprefix("--")):
        get_metric(data)
    return data


def add_worth(spec: RunSpec, worth: dict[str, Any] | None) -> RunSpec:
    """``spec`` with the metric of a matrix before the others, so that it decides."""
    if worth is None:
        return spec
    from ssme.metrics import default_metrics

    asked = default_metrics(len(worth["matrix"])) if spec.metrics is None else spec.metrics
    return dataclasses.replace(spec, metrics=(worth, *asked))


def add_prevalence(spec: RunSpec, prevalence: float) -> tuple[RunSpec, str]:
    """``spec`` with every metric as it would be with this share of class 1.

    Beside it stands a sentence on which metric comes first, where none was named and a class is
    rare at the prevalence; otherwise it is empty.
    """
    import numpy as np

    from ssme.metrics import at_prevalence, default_metrics, get_metric
    from ssme.metrics.leading import find_leading_metric

    try:
        at_prevalence(get_metric("accuracy"), prevalence)
    except InputError as error:
        raise InputError(
            f"--prevalence {prevalence!r} is not allowed", allowed=error.allowed, fix=error.fix
        ) from None
    asked = default_metrics(2) if spec.metrics is None else spec.metrics
    share = np.format_float_positional(prevalence, trim="-")
    for each in asked:
        if not isinstance(each, str):
            raise InputError(
                f"--prevalence {share} was given with a metric that has options, as those "
                "of --cost and --utility have",
                allowed="metrics named by text",
                fix="leave one of the two out; in Python, write "
                f"at_prevalence(expected_cost(...), {share})",
            )
    said = ""
    if spec.metrics is None:
        lead = find_leading_metric(np.array([1.0 - prevalence, prevalence]), (0, 1))
        if lead.reason:
            asked = (lead.metric, *(each for each in asked if each != lead.metric))
            said = (
                f"A class is rare at a prevalence of {share}, so the models are judged by "
                f"{lead.metric} and not by accuracy. Naming a metric changes this."
            )
    found = tuple(f"{each}~{share}" for each in asked)
    return dataclasses.replace(spec, metrics=found), said


def refuse_shift(kind: str, spec: RunSpec, save_config: Path | None = None) -> None:
    """Refuse a correction that is unknown, that a stream cannot make or a file cannot hold."""
    from ssme.decide.shift import KIND
    from ssme.options import accept

    try:
        accept(KIND, kind)
    except InputError:
        raise InputError(
            f"--correct-shift {kind} is unknown",
            allowed="label or covariate",
            fix="choose one of them",
        ) from None
    if spec.engine != "memory":
        raise InputError(
            f"--correct-shift was given with --engine {spec.engine}",
            allowed="data in memory",
            fix="leave one of them out",
        )
    if save_config is not None:
        raise InputError(
            f"--correct-shift {kind} was given with --save-config",
            allowed="runs that a config file can hold: it has no weights that are found on the way",
            fix="leave one of them out; keep the command line to run it again",
        )


def keep_correction(result: Evaluation, kind: str) -> Evaluation:
    """``result`` with the correction among its settings, so that none runs it again without."""
    settings = {
        **result.settings,
        "corrected_shift": kind,
        "config": None,
        "no_config": f"The labels were weighted by --correct-shift {kind}; run the same command "
        "line again.",
    }
    return dataclasses.replace(result, settings=settings)


def correct(data: ScoreSet, kind: str) -> tuple[ScoreSet, str]:
    """``data`` with weights of its labels, and a sentence on what the scores say about it."""
    from ssme.decide.shift import correct_shift, find_shift

    found = find_shift(data)
    refuted = f" Do not trust the correction for {kind} shift: it is refuted or leaves few labels."
    sentence = found.sentence() + ("" if kind in found.not_refuted else refuted)
    return correct_shift(data, kind), sentence


def read_threshold_goal(text: str, worth: dict[str, Any] | None) -> Any:
    """What `Evaluation.choose_thresholds` takes for ``--threshold-for``."""
    from ssme.decide.threshold_goals import read_goal

    goal: Any = text
    if text in ("cost", "utility"):
        if worth is None or worth["name"] != f"expected_{text}":
            raise InputError(
                f"--threshold-for {text} was given without --{text}",
                fix=f'give the matrix too: --{text} "0,1;10,0"',
            )
        goal = worth
    with name_argument("threshold_for"):
        read_goal(goal)
    return goal


def show_thresholds(found: ThresholdChoice, output: Output, limit: int | None) -> None:
    """Print each model's threshold and what it reaches there."""
    from rich.markup import escape
    from rich.text import Text

    from ssme.cli.tables import format_interval, format_number, make_table
    from ssme.wording import make_distinct, make_printable

    columns = ("model", "threshold", "its interval", "metric", "estimate", "interval")
    numbers = ("threshold", "its interval", "estimate", "interval")
    table = make_table(f"thresholds for {found.goal}", *columns, right=numbers)
    longest = max((len(at.metric) for pick in found.picks for at in pick.metrics), default=0)
    names = make_distinct([pick.model for pick in found.picks], max(10, ROOM - longest))
    for pick in found.picks[:limit]:
        for i, at in enumerate(pick.metrics):
            first = i == 0
            table.add_row(
                escape(names[pick.model]) if first else "",
                format_number(pick.threshold) if first else "",
                format_interval(pick.low, pick.high) if first else "",
                at.metric,
                format_number(at.estimate),
                format_interval(at.low, at.high),
            )
    output.console.print()
    output.console.print(table)
    if limit is not None and len(found.picks) > limit:
        rest = len(found.picks) - limit
        output.console.print(f"{rest} more models: --all shows them, --json keeps them")
    for sentence in _tell_demand(found, limit):
        output.console.print(Text(make_printable(sentence)))
    if found.choice is not None:
        output.console.print(Text(make_printable(found.choice.sentence())))


def _tell_demand(found: ThresholdChoice, limit: int | None) -> list[str]:
    """How probable it is that a demand is met at the thresholds, and which models never meet it."""
    if found.choice is None:
        return [f"No model reaches {found.goal} at any threshold."]
    shown = found.picks[:limit]
    met = [f"{pick.model} {pick.p_demand:.0%}" for pick in shown if pick.p_demand >= 0.0]
    never = [pick.model for pick in shown if math.isnan(pick.threshold)]
    said = []
    if met:
        said.append(f"Probability that {found.goal} holds at the threshold: {', '.join(met)}.")
    if never:
        verb = "reaches" if len(never) == 1 else "reach"
        said.append(f"{', '.join(never)} {verb} {found.goal} at no threshold.")
    return said


def show_together(profile: SetProfile, output: Output) -> None:
    """Print how the models err together, and the pairs whose errors are most alike."""
    from rich.markup import escape
    from rich.text import Text

    from ssme.cli.tables import format_interval, format_number, make_table
    from ssme.wording import make_distinct

    columns = ("all models together", "estimate", "interval", "labels only", "their interval")
    table = make_table(None, *columns, right=columns[1:])
    for row in profile.rows():
        table.add_row(
            row["figure"].replace("_", " "),
            format_number(row["estimate"]),
            format_interval(row["low"], row["high"]),
            format_number(row["labels_only"]),
            format_interval(row["labels_only_low"], row["labels_only_high"]),
        )
    output.console.print()
    output.console.print(table)
    alike = sorted(profile.pairs, key=lambda pair: -_replace_nan(pair.correlation.estimate))[
        :SHOWN_PAIRS
    ]
    heads = ("models", "", "both wrong", "interval", "correlation", "interval ")
    pairs = make_table("pairs whose errors are most alike", *heads, right=heads[2:])
    names = make_distinct(profile.models, PAIR_NAME)
    for pair in alike:
        pairs.add_row(
            escape(names[pair.a]),
            escape(names[pair.b]),
            format_number(pair.both_wrong.estimate),
            format_interval(pair.both_wrong.low, pair.both_wrong.high),
            format_number(pair.correlation.estimate),
            format_interval(pair.correlation.low, pair.correlation.high),
        )
    output.console.print()
    output.console.print(pairs)
    output.console.print(Text(profile.sentence()))


def _replace_nan(value: float) -> float:
    return value if value == value else -2.0
