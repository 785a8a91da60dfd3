"""What a project's memory tells: how estimates tightened, what changed, whether scores drifted."""

from ssme.tracking.changes import (
    Change,
    Drift,
    compare_records,
    find_drift,
    tell_differences,
    trace_estimates,
)
from ssme.tracking.record import read_events, record_evaluation

__all__ = [
    "Change",
    "Drift",
    "compare_records",
    "find_drift",
    "read_events",
    "record_evaluation",
    "tell_differences",
    "trace_estimates",
]
