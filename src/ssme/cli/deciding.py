"""What a command line asks about decisions: matrices of costs, prevalence, shift, thresholds."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError, name_argument
from ssme.options import parse_number

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet
    from ssme.results.evaluation import Evaluation
    from ssme.spec import RunSpec


def read_worth(cost: str | None, utility: str | None) -> dict[str, Any] | None:
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


def add_worth(spec: RunSpec, worth: dict[str, Any] | None) -> RunSpec:
    """``spec`` with the metric of a matrix before the others, so that it decides."""
    if worth is None:
        return spec
    from ssme.metrics import default_metrics

    asked = default_metrics(len(worth["matrix"])) if spec.metrics is None else spec.metrics
    return dataclasses.replace(spec, metrics=(worth, *asked))


def add_prevalence(spec: RunSpec, prevalence: float) -> tuple[RunSpec, str]:
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
                f"A class is rare at a prevalence of {share}, so the models are judged by "
                f"{lead.metric} and not by accuracy. Naming a metric changes this."
            )
    found = tuple(f"{each}~{share}" for each in asked)
    return dataclasses.replace(spec, metrics=found), said


def refuse_shift(kind: str, spec: RunSpec, save_config: Path | None = None) -> None:
    """Refuse a correction that a stream cannot make or a config file cannot hold."""
    if spec.engine != "memory":
        raise InputError(
            f"--correct-shift was given with --engine {spec.engine}",
            hint="it needs the data in memory: leave one of them out",
        )
    if save_config is not None:
        raise InputError(
            f"--correct-shift {kind} was given with --save-config",
            hint="a config file has no place for the weights: keep the command line instead",
        )


def keep_correction(result: Evaluation, kind: str, said: str) -> Evaluation:
    """``result`` with the correction among its settings, so that none runs it again without.

    ``said`` is what the scores say about it.
    """
    settings = {
        **result.settings,
        "corrected_shift": kind,
        "shift": said,
        "config": None,
        "no_config": f"The labels were weighted by --correct-shift {kind}; run the same command "
        "line again.",
    }
    return dataclasses.replace(result, settings=settings)


def correct(data: ScoreSet, kind: str) -> tuple[ScoreSet, str]:
    """``data`` with weights of its labels, and a sentence on what the scores say about it."""
    from ssme.results.shift import correct_shift, find_shift

    found = find_shift(data)
    refuted = f" Do not trust the correction for {kind} shift: it is refuted or leaves few labels."
    sentence = found.sentence() + ("" if kind in found.not_refuted else refuted)
    return correct_shift(data, kind), sentence


def read_threshold_goal(text: str, worth: dict[str, Any] | None) -> Any:
    """What `Evaluation.choose_thresholds` takes for ``--threshold-for``."""
    from ssme.results.thresholds import read_goal

    goal: Any = text
    if text in ("cost", "utility"):
        if worth is None or worth["name"] != f"expected_{text}":
            raise InputError(
                f"--threshold-for {text} was given without --{text}",
                hint=f'give the matrix too: --{text} "0,1;10,0"',
            )
        goal = worth
    with name_argument("threshold_for"):
        read_goal(goal, "threshold_for")
    return goal
