"""Added: classifiers err independently given the class, so their evidence adds up.

Real classifiers share their hard rows and a pool averages them; independent ones, as simulated
ones and raters who do not know of each other, multiply,

    W_k  proportional to  p_k prod_j (q_jk / p_k)^b',

the geometric pool with b = b' M. With weak correlation rho the evidence of M classifiers counts as
M / (1 + (M - 1) rho). Where agreement can tell, b is the one at which the classifiers err as often
as their disagreement implies when errors are independent.
"""

from __future__ import annotations

import numpy as np

from ssme.methods.auto.pool_rule import GEOMETRIC, PoolRule
from ssme.methods.auto.prior import TemperaturePrior, predict_agreed_temperature
from ssme.methods.auto.regimes.base import Regime, Situation, View
from ssme.methods.auto.regimes.evidence import log_correlation_density

__all__ = ["ADDED"]


def look(situation: Situation) -> View | None:
    """The geometric pool, with a prior from agreement; None where rho cannot be told."""
    rho, of, summary = situation.correlation, situation.constants, situation.summary
    if not np.isfinite(rho):
        return None
    pooling = PoolRule(summary.counts, summary.counts, situation.stated_shares, GEOMETRIC)
    offset = of.agreement.offset_independent
    log_pi = pooling(summary.q, summary.present)
    center = predict_agreed_temperature(summary, log_pi, pooling.log_share, offset, of.agreement)
    if center is None:
        m = 1.0 / float((summary.counts**2).sum())
        center = float(np.log(m / (1.0 + (m - 1.0) * max(rho, 0.0))))
    prior = TemperaturePrior(center, of.regimes.added_scale)
    evidence = log_correlation_density(situation, True) - np.log(
        of.regimes.distorted_conflict * 2.5
    )
    return View(pooling, prior, of.model, float(evidence))


ADDED = Regime("added", "the classifiers err independently of each other", look)
