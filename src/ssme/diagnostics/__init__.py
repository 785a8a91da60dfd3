"""Doubts: coded checks with severity, numbers and advice."""

from ssme.diagnostics.doubt import Answer, Check, Doubt
from ssme.diagnostics.page import explain
from ssme.diagnostics.registry import CHECKS, ask_all, check_all

__all__ = ["CHECKS", "Answer", "Check", "Doubt", "ask_all", "check_all", "explain"]
