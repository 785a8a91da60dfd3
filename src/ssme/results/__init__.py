"""Evaluation, comparison and ranking."""

from ssme.results.comparison import Comparison, Difference, Rank, Ranking
from ssme.results.evaluation import Evaluation, Group

__all__ = ["Comparison", "Difference", "Evaluation", "Group", "Rank", "Ranking"]
