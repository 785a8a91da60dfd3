"""Warnings: coded checks with severity, numbers and advice."""

from ssme.diagnostics.check import Case, ResultWarning
from ssme.diagnostics.page import explain
from ssme.diagnostics.registry import CHECKS, ask_all, check_all

__all__ = ["CHECKS", "Case", "ResultWarning", "ask_all", "check_all", "explain"]
