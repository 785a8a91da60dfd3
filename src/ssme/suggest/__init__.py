"""Which rows to label next, and how many."""

from ssme.suggest.plan import LabelPlan, count_effective_labels, plan_labels
from ssme.suggest.rows import Suggestion, suggest_rows

__all__ = ["LabelPlan", "Suggestion", "count_effective_labels", "plan_labels", "suggest_rows"]
