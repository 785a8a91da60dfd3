"""Shares: the classifiers were made where the classes had other shares than here.

The shifts a of the classes are then much freer than usual, and log b has a wider prior. All else is
as in the usual regime.
"""

from __future__ import annotations

from dataclasses import replace

from ssme.methods.auto.prior import TemperaturePrior
from ssme.methods.auto.regimes.base import Regime, Situation, View
from ssme.methods.auto.regimes.evidence import log_usual_density

__all__ = ["SHARES"]


def look(situation: Situation) -> View:
    """The usual view, with wider priors of log b and of the shifts of the classes."""
    of = situation.constants
    evidence = log_usual_density(situation)
    prior = TemperaturePrior(situation.usual_prior.center, of.regimes.shares_scale)
    freer = replace(of.model, sd_a=of.regimes.shares_shift)
    return View(situation.usual_pooling, prior, freer, evidence)


SHARES = Regime("shares", "the classes have other shares than the scores state", look)
