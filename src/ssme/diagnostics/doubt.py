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
    """A reason to trust the result less, with the numbers behind it and what to do.

    Attributes
    ----------
    code, title : str
        Code of the doubt, such as ``"D104"``, and what is doubted.
    severity : {"serious", "warning", "info"}
        How serious it is.
    reason, advice : str
        The numbers behind it, and what to do.
    anchor : str
        Where docs/doubts.md explains it.

    Examples
    --------
    >>> import ssme
    >>> r = ssme.evaluate([[0.9], [0.2], [0.6]], None, method="ensemble", metrics="accuracy")
    >>> r.doubts[0].code
    'D101'
    """

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
    """What a check found.

    Attributes
    ----------
    outcome : {"doubt", "fine", "not applicable"}
        What the check answers.
    reason : str
        Why, with the numbers behind it.
    severity : {"serious", "warning", "info"} or None
        How serious the doubt is, where that depends on what was found.
    advice : str or None
        What to do, where that depends on what was found.
    """

    outcome: Literal["doubt", "fine", "not applicable"]
    reason: str
    severity: Severity | None = None  # where it depends on what was found
    advice: str | None = None  # likewise

    @classmethod
    def doubt(cls, reason: str, severity: Severity | None = None) -> Answer:
        """Answer that there is a doubt.

        Parameters
        ----------
        reason : str
            Why, with the numbers behind it.
        severity : {"serious", "warning", "info"}, optional
            How serious it is (default: the severity of the check).

        Returns
        -------
        Answer
        """
        return cls("doubt", reason, severity)

    @classmethod
    def fine(cls, reason: str = "") -> Answer:
        """Answer that there is no doubt.

        Parameters
        ----------
        reason : str
            What was looked at.

        Returns
        -------
        Answer
        """
        return cls("fine", reason)

    @classmethod
    def not_applicable(cls, reason: str) -> Answer:
        """Answer that the check cannot be asked of these data.

        Parameters
        ----------
        reason : str
            Why not.

        Returns
        -------
        Answer
        """
        return cls("not applicable", reason)


@dataclass(frozen=True)
class Check:
    """One question about data, fit or estimates, with a code.

    Attributes
    ----------
    code : str
        Code of the doubt, such as ``"D104"``.
    title : str
        What is doubted.
    severity : {"serious", "warning", "info"}
        How serious the doubt is.
    advice : str
        What to do.
    ask : callable
        ``ask(case)`` returns an `Answer`.
    by_labels : bool
        Whether the doubt holds only if the labels are a random sample of the rows.
    before_rounds : bool
        Whether the check looks only at labels from before `ssme suggest` chose rows.
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
    """The answer of one check, kept also when there is no doubt.

    Attributes
    ----------
    check : Check
        The check.
    answer : Answer
        What it found.
    """

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
