"""What a fit tells about itself: typed, so that checks, curves and reports read fields, not keys.

    belief.facts.fits["model"].converged        what a check asks
    belief.facts.describe()                     the same as plain values, for JSON and the report

Facts of one method stand in that method's file; those of several are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ssme.metrics.base import FloatArray

__all__ = ["Convergence", "Facts", "ModelNumbers", "NamedNumbers"]


@dataclass(frozen=True, eq=False)
class Convergence:
    """How an iterative fit ended.

    Attributes
    ----------
    converged : bool or None
        Whether it converged; None for a fit that runs a fixed number of steps.
    n_iter : int or None
        Number of steps, where they are counted.
    objective_history : array or None
        The objective after each step, where it is kept.
    """

    converged: bool | None
    n_iter: int | None = None
    objective_history: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class Facts:
    """Facts of a fit; this one is of a method that has none to tell."""

    @property
    def fits(self) -> Mapping[str, Convergence]:
        """The iterative fits by name: ``""`` where there is one for all classifiers."""
        return {}

    @property
    def is_mixture(self) -> bool:
        """Whether one mixture of all classifiers' scores was fitted."""
        return False

    @property
    def other_worlds(self) -> Mapping[str, tuple[float, str]]:
        """Ways the world can be that the method does not take for usual: name -> its probability,
        and what is so in it."""
        return {}

    @property
    def agreement_conflict(self) -> float | None:
        """log of the sharpness that agreement between classifiers implies, minus that which their
        confidence implies; None where the method does not compare them."""
        return None

    def describe(self) -> dict[str, Any]:
        """The facts as plain values by name."""
        return {}


@dataclass(frozen=True, eq=False)
class NamedNumbers(Facts):
    """One number per classifier, such as the weights of a vote, under the name ``what``."""

    what: str
    numbers: Mapping[str, float]

    def describe(self) -> dict[str, Any]:
        return {self.what: dict(self.numbers)}


@dataclass(frozen=True, eq=False)
class ModelNumbers(Facts):
    """Several numbers per classifier, such as fitted parameters."""

    of: Mapping[str, Mapping[str, float]]

    def describe(self) -> dict[str, Any]:
        return {model: dict(numbers) for model, numbers in self.of.items()}
