"""All regimes, in the order in which they are tried."""

from __future__ import annotations

from ssme.methods.auto.regimes.added import ADDED
from ssme.methods.auto.regimes.base import Regime
from ssme.methods.auto.regimes.distorted import DISTORTED
from ssme.methods.auto.regimes.selected import SELECTED
from ssme.methods.auto.regimes.shares import SHARES
from ssme.methods.auto.regimes.usual import USUAL

__all__ = ["MEANINGS", "REGIMES"]

REGIMES: tuple[Regime, ...] = (USUAL, DISTORTED, SHARES, ADDED, SELECTED)

MEANINGS = {regime.name: regime.meaning for regime in REGIMES} | {
    "stated": "every classifier is right as often as its own scores say"
}
"""What is so in each regime; "stated" has no pool and stands in `mixture`."""
