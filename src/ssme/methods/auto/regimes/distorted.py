"""Distorted: all scores are sound ones raised to some power, much too flat or much too sharp.

A power works about equal class shares, q proportional to p^s, so its inverse does too: b sharpens
about equal shares, which repairs the stated shares as well. Answers survive any power, so the
center of log b comes from agreement alone.
"""

from __future__ import annotations

from dataclasses import replace

from ssme.methods.auto.pool_rule import make_equal_shares
from ssme.methods.auto.prior import TemperaturePrior
from ssme.methods.auto.regimes.base import Regime, Situation, View
from ssme.methods.auto.regimes.evidence import log_conflict_density, log_correlation_density

__all__ = ["DISTORTED"]


def look(situation: Situation) -> View | None:
    """The usual pool about equal shares, with a prior from agreement; None without agreement."""
    of, few = situation.constants, 1.0 / situation.summary.n_effective
    if situation.agreed is None or situation.answers_only:
        return None
    shares = make_equal_shares(situation.summary.n_classes)
    evidence = log_conflict_density(situation, True) + log_correlation_density(situation, False)
    scale = of.regimes.distorted_scale + of.regimes.distorted_scale_few * few
    prior = TemperaturePrior(situation.agreed, scale)
    return View(replace(situation.usual_pooling, log_share=shares), prior, of.model, evidence)


DISTORTED = Regime("distorted", "all scores are much too flat or much too sharp", look)
