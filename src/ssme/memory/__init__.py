"""A project's memory: labels as they were given, evaluations and decisions, in one SQLite file."""

from ssme.memory.database import (
    DecisionRecord,
    EstimateRecord,
    EvaluationRecord,
    LabelEvent,
    Memory,
    refuse_no_memory,
)

__all__ = [
    "DecisionRecord",
    "EstimateRecord",
    "EvaluationRecord",
    "LabelEvent",
    "Memory",
    "refuse_no_memory",
]
