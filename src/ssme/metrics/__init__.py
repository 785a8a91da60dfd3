"""Metrics over many labelings at once: one registry, one contract (`Metric`)."""

from ssme.arrays import FloatArray
from ssme.metrics.base import Metric, MetricPlan, one_hot_mass
from ssme.metrics.calibration import ece
from ssme.metrics.confusion import confusion_matrices, predicted_classes
from ssme.metrics.costs import at_prevalence, expected_cost, expected_utility
from ssme.metrics.custom import from_callable
from ssme.metrics.decisions import at_threshold, decision_metric
from ssme.metrics.kinds import Calibration, Custom, Decision, Kind, Loss, Ranking, Rows
from ssme.metrics.registry import (
    MetricSpec,
    default_metrics,
    get_metric,
    metric_names,
    write_metric,
)

__all__ = [
    "Calibration",
    "Custom",
    "Decision",
    "FloatArray",
    "Kind",
    "Loss",
    "Metric",
    "MetricPlan",
    "MetricSpec",
    "Ranking",
    "Rows",
    "at_prevalence",
    "at_threshold",
    "confusion_matrices",
    "decision_metric",
    "default_metrics",
    "ece",
    "expected_cost",
    "expected_utility",
    "from_callable",
    "get_metric",
    "metric_names",
    "one_hot_mass",
    "predicted_classes",
    "write_metric",
]
