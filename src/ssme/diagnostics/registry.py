"""All checks, and the one call that asks them."""

from __future__ import annotations

from collections.abc import Sequence

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.classifier_checks import CLASSIFIER_CHECKS
from ssme.diagnostics.doubt import SEVERITIES, Check, Doubt, Outcome
from ssme.diagnostics.evidence import Evidence
from ssme.diagnostics.fit_checks import FIT_CHECKS
from ssme.diagnostics.label_checks import LABEL_CHECKS
from ssme.diagnostics.yardstick import weigh_labels
from ssme.methods.base import Belief, Estimate
from ssme.metrics.base import Metric

__all__ = ["CHECKS", "check_all", "outcomes"]

CHECKS: tuple[Check, ...] = (*LABEL_CHECKS, *CLASSIFIER_CHECKS, *FIT_CHECKS)


def outcomes(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
) -> tuple[Outcome, ...]:
    """The answer of every check; ``estimates`` and ``labels_only`` of all rows, one per metric."""
    posterior, notes = (None, {}) if belief is None else (belief.posterior, belief.notes)
    evidence = Evidence(data, posterior, notes, metrics, estimates, labels_only)
    return weigh_labels([Outcome(check, check.ask(evidence)) for check in CHECKS], data)


def check_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
) -> tuple[Doubt, ...]:
    """The doubts, most serious first; of equal severity, by code."""
    found = [o.doubt for o in outcomes(data, belief, metrics, estimates, labels_only)]
    doubts = [doubt for doubt in found if doubt is not None]
    return tuple(sorted(doubts, key=lambda d: (SEVERITIES.index(d.severity), d.code)))
