"""Usual: the classifiers are as those of the sets that the prior was fitted to.

The pool of all classifiers is sharpened about the class shares that the scores state, by about as
much as their stated error predicts.
"""

from __future__ import annotations

from ssme.methods.auto.regimes.base import Regime, Situation, View
from ssme.methods.auto.regimes.evidence import log_usual_density

__all__ = ["USUAL"]


def look(situation: Situation) -> View:
    """The usual pool, with the usual prior of its sharpness."""
    evidence = log_usual_density(situation)
    of = situation.constants
    return View(situation.usual_pooling, situation.usual_prior, of.model, evidence)


USUAL = Regime("usual", "the classifiers are as classifiers usually are", look)
