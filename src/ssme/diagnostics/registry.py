"""All checks, and the one call that asks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics import classifier_checks, fit_checks, label_checks
from ssme.diagnostics.check import Answer, Case, Check, Limits, ResultWarning
from ssme.diagnostics.label_checks import weigh_labels
from ssme.diagnostics.page import SEVERITIES
from ssme.methods.base import Belief, Estimate, Facts
from ssme.metrics.base import Metric

CHECKS: tuple[Check, ...] = tuple(
    sorted(
        (
            each
            for module in (label_checks, classifier_checks, fit_checks)
            for each in vars(module).values()
            if isinstance(each, Check)
        ),
        key=lambda check: check.code,
    )
)
"""Every check, by code."""


def ask_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
    limits: Limits | None = None,
    groups: Mapping[str, int] | None = None,
) -> tuple[Answer, ...]:
    """Ask every check about an evaluation.

    Parameters
    ----------
    data : ScoreSet
        Scores and labels.
    belief : Belief, optional
        What the fitted method believes (default: no method was fitted).
    metrics : sequence of Metric
        The metrics that were estimated.
    estimates, labels_only : sequence of Estimate
        Estimates on all rows, one per metric, by the method and from labels alone.
    limits : Limits, optional
        Levels of the tests and numbers of rows that are looked at.
    groups : mapping of str to int, optional
        Number of labels of every group that is estimated.

    Returns
    -------
    tuple of Answer
        The answer of every check, in the order of their codes.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.7, 0.4]})
    >>> ask_all(data)[0].outcome
    'warning'
    """
    posterior, facts = (None, Facts()) if belief is None else (belief.posterior, belief.facts)
    limits = limits or Limits()
    case = Case(data, posterior, facts, metrics, estimates, labels_only, limits, groups)
    return weigh_labels([check.ask(case) for check in CHECKS], data)


def check_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
    limits: Limits | None = None,
    groups: Mapping[str, int] | None = None,
) -> tuple[ResultWarning, ...]:
    """Ask every check about an evaluation and return the warnings.

    Parameters
    ----------
    data, belief, metrics, estimates, labels_only, limits, groups
        As in `ask_all`.

    Returns
    -------
    tuple of ResultWarning
        The most serious ones first; those of equal severity by their code.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.7, 0.4]})
    >>> check_all(data)[0].title
    'No labels'
    """
    answers = ask_all(data, belief, metrics, estimates, labels_only, limits, groups)
    warnings = [answer.warning for answer in answers if answer.warning is not None]
    return tuple(sorted(warnings, key=lambda d: (SEVERITIES.index(d.severity), d.code)))
