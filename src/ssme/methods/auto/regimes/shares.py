"""Shares: the classifiers were made where the classes had other shares than here."""

from __future__ import annotations

from dataclasses import replace

from ssme.methods.auto.prior import TemperaturePrior
from ssme.methods.auto.regimes.base import Regime, Situation, View
from ssme.methods.auto.regimes.evidence import conflict_density, correlation_density

__all__ = ["SHARES"]


def look(situation: Situation) -> View:
    of = situation.constants
    evidence = conflict_density(situation, False) + correlation_density(situation, False)
    prior = TemperaturePrior(situation.usual_prior.center, of.regimes.shares_scale)
    freer = replace(of.model, sd_a=of.regimes.shares_shift)
    return View(situation.usual_pooling, prior, freer, evidence)


SHARES = Regime("shares", "the classes have other shares than the scores state", look)
