"""All checks, and the one call that asks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.case import Case
from ssme.diagnostics.classifier_checks import CLASSIFIER_CHECKS
from ssme.diagnostics.doubt import SEVERITIES, Check, Doubt, Outcome
from ssme.diagnostics.fit_checks import FIT_CHECKS
from ssme.diagnostics.label_checks import LABEL_CHECKS
from ssme.diagnostics.label_sampling import weigh_labels
from ssme.diagnostics.limits import Limits
from ssme.methods.base import Belief, Estimate
from ssme.methods.facts import Facts
from ssme.metrics.base import Metric

__all__ = ["CHECKS", "ask_all", "check_all"]

CHECKS: tuple[Check, ...] = (*LABEL_CHECKS, *CLASSIFIER_CHECKS, *FIT_CHECKS)


def ask_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
    limits: Limits | None = None,
    groups: Mapping[str, int] | None = None,
) -> tuple[Outcome, ...]:
    """The answer of every check; ``estimates`` and ``labels_only`` of all rows, one per metric.

    ``groups`` has the number of labels of every group that is estimated.
    """
    posterior, facts = (None, Facts()) if belief is None else (belief.posterior, belief.facts)
    limits = limits or Limits()
    case = Case(data, posterior, facts, metrics, estimates, labels_only, limits, groups)
    return weigh_labels([Outcome(check, check.ask(case)) for check in CHECKS], data)


def check_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
    limits: Limits | None = None,
    groups: Mapping[str, int] | None = None,
) -> tuple[Doubt, ...]:
    """The doubts, most serious first; of equal severity, by code."""
    outcomes = ask_all(data, belief, metrics, estimates, labels_only, limits, groups)
    doubts = [outcome.doubt for outcome in outcomes if outcome.doubt is not None]
    return tuple(sorted(doubts, key=lambda d: (SEVERITIES.index(d.severity), d.code)))
