"""From label events to the labels that count: one per row, none where people disagree.

Each person's newest word on a row stands. A row counts if all who labeled it gave the same class,
or if somebody adjudicated it; a row on which people differ counts for nothing until then.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from ssme.memory import LabelEvent

__all__ = [
    "ADJUDICATED",
    "TAKEN_BACK",
    "UNSURE",
    "AnnotatorAgreement",
    "Standing",
    "measure_agreement",
    "settle",
]

ADJUDICATED, UNSURE, TAKEN_BACK = "adjudicated", "unsure", "taken back"
"""Reasons of events that are more than a label."""


@dataclass
class Standing:
    """How the labels of one row stand.

    Attributes
    ----------
    row : str or int
        Name of the row.
    given : dict
        Person -> class; None where the person was unsure.
    verdict : optional
        The class that was adjudicated.
    probability : float or None
        Inclusion probability of the row.
    """

    row: Hashable
    given: dict[str, Hashable | None] = field(default_factory=dict)
    verdict: Hashable | None = None
    probability: float | None = None

    @property
    def classes(self) -> set[Hashable]:
        """The different classes that were given."""
        return {label for label in self.given.values() if label is not None}

    @property
    def label(self) -> Hashable | None:
        """The class that counts; None where there is none."""
        if self.verdict is not None:
            return self.verdict
        classes = self.classes
        return next(iter(classes)) if len(classes) == 1 else None

    @property
    def in_conflict(self) -> bool:
        return self.verdict is None and len(self.classes) > 1


def settle(events: Iterable[LabelEvent]) -> dict[Hashable, Standing]:
    """How the labels of every row stand, in the order in which rows were first labeled.

    Parameters
    ----------
    events : iterable of LabelEvent
        The oldest first.

    Examples
    --------
    >>> from ssme.memory import LabelEvent
    >>> events = [LabelEvent("a", 1, "ada"), LabelEvent("a", 0, "bob"), LabelEvent("b", 1, "ada")]
    >>> rows = settle(events)
    >>> rows["a"].in_conflict, rows["b"].label
    (True, 1)
    >>> settle([*events, LabelEvent("a", 0, "eve", reason=ADJUDICATED)])["a"].label
    0
    """
    rows: dict[Hashable, Standing] = {}
    for event in events:
        row = rows.setdefault(event.row, Standing(event.row))
        row.probability = row.probability or event.probability
        if event.reason == ADJUDICATED:
            row.verdict = event.label
        elif event.label is None and event.reason == TAKEN_BACK:
            row.given.pop(event.annotator, None)
        else:
            row.given[event.annotator] = event.label
    return rows


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Two people's labels of the same rows.

    ``kappa`` is Cohen's: the agreement beyond chance, 1 if perfect and 0 if no better than chance;
    None where chance alone would agree always.
    """

    first: str
    second: str
    rows: int
    share: float
    kappa: float | None


def measure_agreement(rows: Mapping[Hashable, Standing]) -> list[AnnotatorAgreement]:
    """Agreement of every two people who labeled some of the same rows.

    With p the share of rows on which they agree and e = sum over classes of the product of the two
    people's shares of that class, kappa = (p - e) / (1 - e) (Cohen, 1960).

    Parameters
    ----------
    rows : mapping
        What `settle` gives.

    Examples
    --------
    >>> from ssme.memory import LabelEvent
    >>> given = {"a": (1, 1), "b": (0, 0), "c": (1, 0), "d": (0, 0)}
    >>> events = [LabelEvent(row, label, who) for row, labels in given.items()
    ...           for who, label in zip(("ada", "bob"), labels, strict=True)]
    >>> found = measure_agreement(settle(events))[0]
    >>> found.rows, found.share, found.kappa
    (4, 0.75, 0.5)
    """
    people = sorted({who for row in rows.values() for who in row.given})
    found = []
    for number, first in enumerate(people):
        for second in people[number + 1 :]:
            pairs = [
                (row.given[first], row.given[second])
                for row in rows.values()
                if row.given.get(first) is not None and row.given.get(second) is not None
            ]
            if pairs:
                found.append(_compare_two(first, second, pairs))
    return found


def _compare_two(
    first: str, second: str, pairs: list[tuple[Hashable | None, Hashable | None]]
) -> AnnotatorAgreement:
    n = len(pairs)
    share = sum(a == b for a, b in pairs) / n
    classes = {label for pair in pairs for label in pair}
    chance = sum(sum(a == c for a, _ in pairs) * sum(b == c for _, b in pairs) for c in classes) / (
        n * n
    )
    kappa = None if chance == 1.0 else (share - chance) / (1.0 - chance)
    return AnnotatorAgreement(first, second, n, share, kappa)
