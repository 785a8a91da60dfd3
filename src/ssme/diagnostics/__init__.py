"""Warnings: coded checks with severity, numbers and advice."""

from ssme.diagnostics.check import Answer, Check, ResultWarning
from ssme.diagnostics.page import explain
from ssme.diagnostics.registry import CHECKS, ask_all, check_all

__all__ = ["CHECKS", "Answer", "Check", "ResultWarning", "ask_all", "check_all", "explain"]
