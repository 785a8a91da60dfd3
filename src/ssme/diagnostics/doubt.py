"""What a doubt is, and what a check may answer: a doubt, fine, or not applicable."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ssme.diagnostics.case import Case

__all__ = ["SEVERITIES", "Answer", "Check", "Doubt", "Outcome", "Severity"]

Severity = Literal["serious", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "info")
"""Worst first."""


@dataclass(frozen=True)
class Doubt:
    """A reason to trust the result less, with the numbers behind it and what to do."""

    code: str
    title: str
    severity: Severity
    reason: str
    advice: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.code} {self.title}. {self.reason} {self.advice}"


@dataclass(frozen=True)
class Answer:
    """What a check found: a ``reason`` to doubt, or why it is fine or does not apply."""

    outcome: Literal["doubt", "fine", "not applicable"]
    reason: str
    severity: Severity | None = None  # where it depends on what was found
    advice: str | None = None  # likewise

    @classmethod
    def doubt(cls, reason: str, severity: Severity | None = None) -> Answer:
        return cls("doubt", reason, severity)

    @classmethod
    def fine(cls, reason: str = "") -> Answer:
        return cls("fine", reason)

    @classmethod
    def not_applicable(cls, reason: str) -> Answer:
        return cls("not applicable", reason)


@dataclass(frozen=True)
class Check:
    """One coded question; ``ask`` answers it for a case.

    ``by_labels``: its doubts hold only if the labels are a random sample of the rows.
    ``before_rounds``: where rows were suggested in rounds, it is asked of the labels before them.
    """

    code: str
    title: str
    severity: Severity
    advice: str
    ask: Callable[[Case], Answer]
    by_labels: bool = False
    before_rounds: bool = False

    @property
    def anchor(self) -> str:
        """Where docs/doubts.md explains it."""
        return f"docs/doubts.md#{self.code.lower()}"


@dataclass(frozen=True)
class Outcome:
    """The answer of one check, kept also when there is no doubt."""

    check: Check
    answer: Answer

    @property
    def doubt(self) -> Doubt | None:
        """The doubt, where there is one."""
        if self.answer.outcome != "doubt":
            return None
        check = self.check
        severity = self.answer.severity or check.severity
        advice = self.answer.advice or check.advice
        return Doubt(check.code, check.title, severity, self.answer.reason, advice, check.anchor)
