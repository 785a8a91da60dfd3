"""What ``auto`` tells about its fit, as typed facts that diagnostics and reports read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ssme.methods.auto.regimes.registry import MEANINGS
from ssme.methods.auto.regimes.usual import USUAL
from ssme.methods.facts import Facts

__all__ = ["AutoFacts"]


@dataclass(frozen=True, eq=False)
class AutoFacts(Facts):
    """What `Auto` tells about its fit.

    Attributes
    ----------
    label_free : bool
        Whether there was no label to learn from.
    regimes : dict
        Probability of each regime that labels and scores leave possible.
    conflict : float or None
        Logarithm of the sharpness that agreement between the classifiers implies, minus the one
        that their stated error implies; None where one of them says nothing.
    temperature, prior_temperature : float
        How much the pool is sharpened in the usual regime, after and before the labels.
    prior_scale : float
        Scale of the logarithm of the temperature before the labels.
    standing : dict
        Weight of each classifier by agreement with the others, before the labels.
    pool_weights : dict
        Weight of each classifier in the pool of the usual regime.
    effective_classifiers : float
        Number of classifiers that check each other: copies count as one, noise as none.
    correction_weight : float
        Weight of the residual correction where the labels confirm the model.
    rows_behind_draws : int
        Number of rows on which draws are computed.
    """

    label_free: bool
    regimes: Mapping[str, float]
    conflict: float | None
    temperature: float
    prior_temperature: float
    prior_scale: float
    standing: Mapping[str, float]
    pool_weights: Mapping[str, float]
    effective_classifiers: float
    correction_weight: float
    rows_behind_draws: int

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        """Regimes beside the usual one: name -> probability, and what is so in it."""
        return {
            name: (chance, MEANINGS[name])
            for name, chance in self.regimes.items()
            if name != USUAL.name
        }

    @property
    def agreement_conflict(self) -> float | None:
        return self.conflict

    def describe(self) -> dict[str, Any]:
        return asdict(self)
