"""Log an evaluation to MLflow: metrics with their bounds, settings, the report as an artifact.

A metric's key is ``<metric>/<model>``, with ``.low``, ``.high`` and ``.labels_only`` beside it, and
``<metric>/<model>/<group>`` within groups.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ssme.errors import MissingExtraError
from ssme.results.groups import ALL
from ssme.show.charts import draw_charts
from ssme.show.document import build_document
from ssme.show.html import render_html
from ssme.show.report import describe_report

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

BATCH = 500
"""Metrics sent at once; MLflow takes 1,000."""
KEY_LENGTH = 200
FORBIDDEN = re.compile(r"[^\w\-. /]")
"""What MLflow does not allow in a key."""


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
    tracker.log_text(render_html(document, draw_charts(document)), report)


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
