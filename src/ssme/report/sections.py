"""Sections that a report has on request: a plan of labels, and the history of a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ssme.memory import EvaluationRecord, Memory
from ssme.memory.tracking import (
    compare_records,
    find_drift,
    record_evaluation,
    tell_differences,
    trace_estimates,
)
from ssme.plots.curves import draw_history, draw_plan
from ssme.results.groups import ALL
from ssme.results.plan import LabelPlan
from ssme.results.sections import Section

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

__all__ = ["make_history_section", "make_plan_section"]


def make_plan_section(plan: LabelPlan) -> Section:
    """How many more labels a target takes."""
    rows = tuple((f"{s.labels:,}", f"{s.value:.3g}", f"{s.met:.0%}") for s in plan.curve)
    return Section(
        "plan",
        "How many more labels",
        (plan.sentence(),),
        ("labels in all", plan.target.split("<")[0].split(">")[0].strip(), "simulations met"),
        rows,
        draw_plan(plan) if len(plan.curve) > 1 else None,
    )


def make_history_section(evaluation: Evaluation, memory: str | Path, data: str) -> Section:
    """How estimates tightened, and what changed since the last evaluation of the same models."""
    now = record_evaluation(evaluation)
    with Memory(memory, data, new=False) as kept:
        before = {n: record for n, record in kept.evaluations().items() if record.key != now.key}
    shared = [
        (record, metric.name)
        for record in reversed(before.values())
        for metric in evaluation.metrics
        if _shares_models(record, now, metric.name)
    ]
    if not shared:
        said: tuple[str, ...] = ("The memory holds no earlier evaluation of these models.",)
        return Section("history", "What changed", said)
    latest, followed = shared[0]
    points = trace_estimates({**before, max(before) + 1: now}, followed)
    changes = compare_records(latest, now, followed, ALL)
    drifted = [drift.model for drift in find_drift(latest, now) if drift.is_clear]
    sentences = (
        f"The last evaluation of these models had {latest.n_labeled:,} labels, this one has "
        f"{now.n_labeled:,}. The table shows how {followed} changed; the interval of a change is "
        "cautious where both used the same labels.",
        f"The scores of {', '.join(drifted)} drifted since then."
        if drifted
        else "No drift of the scores is seen.",
        *tell_differences(latest, now),
    )
    return Section(
        "history",
        "What changed",
        sentences,
        ("model", "before", "now", "change", "low", "high"),
        tuple(
            (c.model, *(f"{v:.3f}" for v in (c.before, c.after, c.change, c.low, c.high)))
            for c in changes
        ),
        draw_history(points),
    )


def _shares_models(one: EvaluationRecord, other: EvaluationRecord, metric: str) -> bool:
    """Whether both have an estimate of ``metric`` of one model on all rows."""
    models = [
        {
            each.model
            for each in record.estimates
            if (each.metric, each.group) == (metric, ALL) and each.estimate is not None
        }
        for record in (one, other)
    ]
    return bool(models[0] & models[1])
