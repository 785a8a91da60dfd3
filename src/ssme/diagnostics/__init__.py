"""Doubts: coded checks with severity, numbers and advice."""

from ssme.diagnostics.doubt import Answer, Check, Doubt, Outcome
from ssme.diagnostics.registry import CHECKS, check_all, outcomes

__all__ = ["CHECKS", "Answer", "Check", "Doubt", "Outcome", "check_all", "outcomes"]
