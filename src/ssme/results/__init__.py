"""The numbers of an evaluation: table, comparison and ranking."""

from ssme.results.comparison import Comparison, Difference, ModelRanking, Rank
from ssme.results.evaluation import BaseEvaluation
from ssme.results.groups import Group, StreamPass

__all__ = [
    "BaseEvaluation",
    "Comparison",
    "Difference",
    "Group",
    "ModelRanking",
    "Rank",
    "StreamPass",
]
