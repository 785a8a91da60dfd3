"""Which rows to label next, and how many."""

from ssme.suggest.plan import (
    LabelPlan,
    LabelPlans,
    count_effective_labels,
    plan_labels,
    plan_several,
)
from ssme.suggest.rows import Suggestion, suggest_rows

__all__ = [
    "LabelPlan",
    "LabelPlans",
    "Suggestion",
    "count_effective_labels",
    "plan_labels",
    "plan_several",
    "suggest_rows",
]
