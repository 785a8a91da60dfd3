"""Evaluation, comparison and ranking."""

from ssme.results.evaluation import Evaluation, Group

__all__ = ["Evaluation", "Group"]
