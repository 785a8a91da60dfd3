"""A project's memory: labels as they were given, evaluations and decisions, in one SQLite file."""

from ssme.memory.database import Memory, refuse_no_memory
from ssme.memory.records import DecisionRecord, EstimateRecord, EvaluationRecord, LabelEvent

__all__ = [
    "DecisionRecord",
    "EstimateRecord",
    "EvaluationRecord",
    "LabelEvent",
    "Memory",
    "refuse_no_memory",
]
