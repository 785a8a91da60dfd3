"""Write a report (HTML, Markdown or JSON, by the suffix of the file), or log it to MLflow.

In MLflow, a metric's key is ``<metric>/<model>``, with ``.low``, ``.high`` and ``.labels_only``
next to it, and ``<metric>/<model>/<group>`` within groups.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.errors import InputError, MissingExtraError, name_argument
from ssme.memory import EvaluationRecord, Memory, tracking
from ssme.results.groups import ALL
from ssme.results.plan import LabelPlan
from ssme.show import charts, html, plots, sections
from ssme.show.document import Document, build_document
from ssme.show.text import render_card, render_markdown
from ssme.writing import write_text

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

BATCH = 500
"""Metrics sent at once; MLflow takes 1,000."""
KEY_LENGTH = 200
FORBIDDEN = re.compile(r"[^\w\-. /]")
"""What MLflow does not allow in a key."""


def write_report(
    evaluation: Evaluation,
    path: str | Path,
    *,
    title: str | None = None,
    further: Sequence[sections.Section] = (),
    card: str | None = None,
) -> Path:
    """Write the report of an evaluation and ``further`` sections, or the ``card`` of a model."""
    if card is None:
        document = build_document(evaluation, title, further=further)
        return write_document(document, path, evaluation.to_dict)
    if Path(path).suffix.lower() != ".md":
        raise InputError(option="path", value=str(path), must="end in .md for a model card")
    with name_argument("card"):
        text = render_card(evaluation, card)
    write_text(path, text)
    return Path(path)


def check_suffix(path: Path, option: str = "path") -> str:
    """The suffix of a report in small letters; one of another format is refused."""
    suffix = path.suffix.lower()
    if suffix not in (".html", ".htm", ".md", ".json"):
        raise InputError(option=option, value=str(path), must="end in .html, .htm, .md or .json")
    return suffix


def write_document(
    document: Document, path: str | Path, list_numbers: Callable[[], Mapping[str, Any]]
) -> Path:
    """Write a document by the suffix of the file; JSON has all numbers too."""
    target = Path(path)
    suffix = check_suffix(target)
    if suffix == ".md":
        text = render_markdown(document)
    elif suffix == ".json":
        facts = {**list_numbers(), **document.to_dict()}
        text = json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
    else:
        text = html.render_html(document, charts.draw_charts(document))
    write_text(target, text)
    return target


def render_report(evaluation: Evaluation, title: str | None = None) -> str:
    """The report as the text of an HTML page; without the extra ``report`` it has no pictures."""
    document = build_document(evaluation, title)
    return html.render_html(document, charts.draw_charts(document))


def describe_report(evaluation: Evaluation, document: Document) -> dict[str, Any]:
    """All numbers of the evaluation, and the document, as values for JSON."""
    return {**evaluation.to_dict(), **document.to_dict()}


def make_plan_section(plan: LabelPlan) -> sections.Section:
    """How many more labels a target takes."""
    value = plan.target.rpartition("=")[0].rstrip("<> ")
    return sections.Section(
        "plan",
        "How many more labels",
        (plan.sentence(),),
        (
            sections.Column("labels in all", [step.labels for step in plan.curve], "count"),
            sections.Column(value, [step.value for step in plan.curve], "number"),
            sections.Column("simulations met", [step.met for step in plan.curve], "share"),
        ),
        charts=(lambda: plots.draw_plan(plan),),
    )


def make_history_section(evaluation: Evaluation, memory: str | Path, data: str) -> sections.Section:
    """How estimates tightened, and what changed since the last evaluation of the same models."""
    now = tracking.record_evaluation(evaluation)
    with Memory(memory, data, new=False) as kept:
        before = {n: record for n, record in kept.evaluations().items() if record.key != now.key}
    shared = [
        (record, metric.name)
        for record in reversed(before.values())
        for metric in evaluation.metrics
        if _list_estimated(record, metric.name) & _list_estimated(now, metric.name)
    ]
    if not shared:
        nothing = "The memory has no earlier evaluation of these models."
        return sections.Section("history", "What changed", (nothing,))
    latest, followed = shared[0]
    points = tracking.trace_estimates({**before, max(before) + 1: now}, followed)
    changes = tracking.compare_records(latest, now, followed, ALL)
    drifted = [drift.model for drift in tracking.find_drift(latest, now) if drift.is_clear]
    sentences = (
        f"The last evaluation of these models had {latest.n_labeled:,} labels, this one has "
        f"{now.n_labeled:,}. The table shows how {followed} changed; the interval of a change is "
        "cautious where both used the same labels.",
        f"The scores of {', '.join(drifted)} drifted since then."
        if drifted
        else "No drift of the scores is seen.",
        *tracking.tell_differences(latest, now),
    )
    table = (
        sections.Column("model", [change.model for change in changes]),
        sections.Column("before", [change.before for change in changes], "number"),
        sections.Column("now", [change.after for change in changes], "number"),
        sections.Column("change", [change.change for change in changes], "number"),
        sections.Column("interval", [(change.low, change.high) for change in changes], "span"),
    )
    return sections.Section(
        "history", "What changed", sentences, table, charts=(lambda: plots.draw_history(points),)
    )


def _list_estimated(record: EvaluationRecord, metric: str) -> set[str]:
    """Models of which the record has an estimate of ``metric`` on all rows."""
    return {
        each.model
        for each in record.estimates
        if (each.metric, each.group) == (metric, ALL) and each.estimate is not None
    }


# -------------------------------------------------------------------------------------------------
# MLflow, and W&B in its place


class WandbRun:
    """A run of W&B with the methods of MLflow that `log_evaluation` calls."""

    def __init__(self, run: Any = None) -> None:
        if run is None:
            try:
                import wandb
            except ImportError:
                problem = "logging to W&B needs wandb"
                raise InputError(problem, hint="run `pip install wandb`, or pass `run`") from None
            run = wandb.run or wandb.init()
        self.run = run

    def log_metrics(self, values: Mapping[str, float]) -> None:
        self.run.summary.update(dict(values))

    def log_params(self, values: Mapping[str, Any]) -> None:
        self.run.config.update(dict(values))

    def log_text(self, text: str, name: str) -> None:
        path = Path(self.run.dir) / name  # files in this folder belong to the run
        path.write_text(text, encoding="utf-8")
        self.run.save(str(path), base_path=self.run.dir)

    def log_dict(self, content: Mapping[str, Any], name: str) -> None:
        self.log_text(json.dumps(content, indent=2, ensure_ascii=False), name)


def log_evaluation(
    evaluation: Evaluation, *, tracker: Any = None, report: str = "report.html"
) -> None:
    """Log to the active MLflow run, or start one.

    ``tracker`` is anything with MLflow's ``log_metrics``, ``log_params``, ``log_text`` and
    ``log_dict``; by default the module mlflow.
    """
    tracker = _import_mlflow() if tracker is None else tracker
    values = list(list_metric_values(evaluation).items())
    for start in range(0, len(values), BATCH):
        tracker.log_metrics(dict(values[start : start + BATCH]))
    settings = evaluation.settings
    names = ("method", "level", "threshold", "random_state", "n_rows", "n_labeled")
    tracker.log_params({f"ssme.{name}": settings[name] for name in names if name in settings})
    document = build_document(evaluation)
    tracker.log_dict(describe_report(evaluation, document), "ssme.json")
    tracker.log_text(html.render_html(document, charts.draw_charts(document)), report)


def list_metric_values(evaluation: Evaluation) -> dict[str, float]:
    """Key -> value of everything that is defined."""
    found: dict[str, float] = {}
    for row in evaluation.rows():
        parts = [row["metric"], row["model"]] + ([] if row["group"] == ALL else [row["group"]])
        key = _number_key(FORBIDDEN.sub("_", "/".join(parts))[:KEY_LENGTH], found)
        columns = {"": "estimate", ".low": "low", ".high": "high"}
        if row["group"] == ALL or row["labels_only_from"] == "group":
            columns[".labels_only"] = "labels_only"
        for suffix, column in columns.items():
            if row[column] == row[column]:
                found[f"{key}{suffix}"] = row[column]
    return found


def _number_key(key: str, taken: dict[str, float]) -> str:
    """``key``, numbered where two names became one."""
    count, name = 1, key
    while any(f"{name}{suffix}" in taken for suffix in ("", ".labels_only")):
        count += 1
        name = f"{key}_{count}"
    return name


def _import_mlflow() -> Any:
    try:
        import mlflow
    except ImportError:
        raise MissingExtraError("logging to MLflow", "mlflow") from None
    return mlflow
