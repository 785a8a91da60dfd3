"""What a project's memory holds, one record per row of its tables."""

from __future__ import annotations

import math
import uuid
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ssme.errors import InputError, argument
from ssme.options import Number, Option, accept

__all__ = [
    "DecisionRecord",
    "EstimateRecord",
    "EvaluationRecord",
    "LabelEvent",
    "make_key",
    "tell_time",
]

PROBABILITY = Option(
    "probability",
    Number(0.0, 1.0, open_least=True),
    None,
    "Probability with which the row was chosen for a label.",
)


def make_key() -> str:
    """A key that no other record has, so that a record sent twice is kept once."""
    return uuid.uuid4().hex


def tell_time() -> str:
    """The present time in UTC, to the microsecond, as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True)
class LabelEvent:
    """Somebody gave a row a label, or took it back.

    Parameters
    ----------
    row : str or int
        Name of the row, as in the data's id column.
    label : str, int, bool or None
        The class; None says that the annotator was unsure or took the label back.
    annotator : str
        Who gave it.
    probability : float, optional
        Probability in (0, 1] with which the row was chosen for a label; None where it is unknown.
    reason : str
        Why the row was chosen.
    key : str
        Identifies the event; an event with the same key is stored once.
    given_at : str
        When, in UTC.
    """

    row: Hashable
    label: Hashable | None
    annotator: str = ""
    probability: float | None = None
    reason: str = ""
    key: str = field(default_factory=make_key)
    given_at: str = field(default_factory=tell_time)

    def __post_init__(self) -> None:
        for name in ("row", "label"):
            value = getattr(self, name)
            plain = isinstance(value, (str, int)) or (
                isinstance(value, float) and math.isfinite(value)
            )
            if not (plain or (name == "label" and value is None)):
                raise InputError(
                    f"{argument(name, value)} of type {type(value).__name__}",
                    allowed="text, a number or a boolean",
                    fix="convert it first",
                )
        if self.probability is not None:
            object.__setattr__(self, "probability", accept(PROBABILITY, self.probability))


@dataclass(frozen=True)
class EstimateRecord:
    """The metric of one model on one group of rows, as an evaluation gave it.

    Attributes
    ----------
    model, metric, group : str
        What was estimated.
    estimate, low, high : float or None
        The estimate and its interval; None where it is undefined.
    labels_only : float or None
        The same from labels alone.
    """

    model: str
    metric: str
    group: str
    estimate: float | None
    low: float | None
    high: float | None
    labels_only: float | None


@dataclass(frozen=True)
class DecisionRecord:
    """The model that an evaluation picked by one metric.

    Attributes
    ----------
    metric, pick : str
        The metric, and the model with the best estimate of it.
    p_best, regret : float or None
        Probability that the pick is the best, and the expected loss by taking it.
    possible_best : tuple of str
        The smallest set of models that contains the best one with 95 % probability.
    sureness : str
        The set and P(best) in words (`Choice.sureness`); empty in memories of older
        versions.
    """

    metric: str
    pick: str
    p_best: float | None
    regret: float | None
    possible_best: tuple[str, ...]
    sureness: str = ""

    def describe_sureness(self) -> str:
        """Describe how sure the decision was.

        Returns
        -------
        str
            The words that were stored. Where the decision came with a probability, and an older
            version stored it without these words, they say that its record is not known.
        """
        if self.sureness or self.p_best is None:
            return self.sureness
        return (
            "An older version of ssme stored this decision without saying whether its probability "
            "is calibrated."
        )


@dataclass(frozen=True)
class EvaluationRecord:
    """One evaluation: what was asked, of which data, and what came out.

    Attributes
    ----------
    spec : mapping
        The `RunSpec` as plain values: enough to run it again.
    method, version : str
        The method and the version of ssme.
    n_rows, n_labeled : int
        Size of the data.
    scores : mapping
        Model -> shares of its scores in fixed bins, which tell drift.
    scored : mapping
        Model -> number of rows that it has scored; empty in memories of older versions.
    """

    spec: Mapping[str, Any]
    method: str
    n_rows: int
    n_labeled: int
    version: str
    estimates: tuple[EstimateRecord, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()
    scores: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    key: str = field(default_factory=make_key)
    made_at: str = field(default_factory=tell_time)
    scored: Mapping[str, int] = field(default_factory=dict)
