"""Which label of a row counts, who labels which row next, and how far people agree.

The newest word of each person on a row is used. A row counts if all who labeled it gave the same
class, or if somebody adjudicated it; a row on which people differ counts for nothing until then.

Rows are drawn in rounds; a new round takes the place of what is left of the one before. A row goes
to one person; every fifth goes to two, so that their agreement can be measured. A row that one
person is looking at is kept from others for a while. A label is in the memory before the page
confirms it; sent twice, it is kept once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

from ssme.errors import InputError
from ssme.memory import LabelEvent
from ssme.serve.store import AT_RANDOM, Store, StoredSuggestion

ADJUDICATED, UNSURE, TAKEN_BACK = "adjudicated", "unsure", "taken back"
"""Reasons of events that are more than a label."""
CLAIM_LIFETIME = timedelta(minutes=10)
"""How long a row that somebody is looking at is kept from others."""
DOUBLE_EVERY = 5
"""One row of so many is labeled by two people."""


@dataclass
class RowLabels:
    """The labels of one row: ``given`` by each person (None: unsure), and a ``verdict``."""

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
        return next(iter(self.classes)) if len(self.classes) == 1 else None

    @property
    def in_conflict(self) -> bool:
        return self.verdict is None and len(self.classes) > 1


def resolve_labels(events: Iterable[LabelEvent]) -> dict[Hashable, RowLabels]:
    """The labels of every row, in the order in which rows were first labeled.

    >>> events = [LabelEvent("a", 1, "ada"), LabelEvent("a", 0, "bob"), LabelEvent("b", 1, "ada")]
    >>> rows = resolve_labels(events)
    >>> rows["a"].in_conflict, rows["b"].label
    (True, 1)
    >>> resolve_labels([*events, LabelEvent("a", 0, "eve", reason=ADJUDICATED)])["a"].label
    0
    """
    rows: dict[Hashable, RowLabels] = {}
    for event in events:
        row = rows.setdefault(event.row, RowLabels(event.row))
        row.probability = row.probability or event.probability
        if event.reason == ADJUDICATED:
            row.verdict = event.label
        elif event.label is None and event.reason == TAKEN_BACK:
            row.given.pop(event.annotator, None)
        else:
            row.given[event.annotator] = event.label
    return rows


@dataclass(frozen=True)
class Agreement:
    """Two people's labels of the same rows; ``kappa`` is None where chance would always agree."""

    first: str
    second: str
    rows: int
    share: float
    kappa: float | None


def measure_agreement(rows: Iterable[RowLabels]) -> list[Agreement]:
    """Agreement of every two people who labeled some of the same rows.

    With p the share of rows on which they agree and e = sum over classes of the product of the two
    people's shares of that class, kappa = (p - e) / (1 - e) (Cohen, 1960).
    """
    rows = list(rows)
    people = sorted({who for row in rows for who in row.given})
    found = []
    for first, second in combinations(people, 2):
        pairs = [
            (row.given[first], row.given[second])
            for row in rows
            if row.given.get(first) is not None and row.given.get(second) is not None
        ]
        if pairs:
            found.append(_compare_two(first, second, pairs))
    return found


def _compare_two(
    first: str, second: str, pairs: list[tuple[Hashable | None, Hashable | None]]
) -> Agreement:
    n, (one, two) = len(pairs), zip(*pairs, strict=True)
    share = sum(a == b for a, b in pairs) / n
    chance = sum(one.count(label) * two.count(label) for label in {*one, *two}) / n**2
    kappa = None if chance == 1.0 else (share - chance) / (1.0 - chance)
    return Agreement(first, second, n, share, kappa)


@dataclass(frozen=True)
class LabelView:
    """The row that one person sees, the label that they gave it before, and counts of rows.

    ``row`` is None where no row is left; ``mine`` rows were labeled by this person, ``settled``
    rows have a label that counts, and ``left`` rows wait for this person.
    """

    row: StoredSuggestion | None
    given: Hashable | None
    mine: int
    settled: int
    conflicts: int
    left: int


def next_row(store: Store, data: str, annotator: str) -> LabelView:
    """The next row for a person, kept from others while they look at it."""
    rows = resolve_labels(store.memory(data).label_events())
    waiting = _list_waiting(store, data, annotator, rows)
    row = waiting[0] if waiting else None
    if row is not None:
        is_skipped = any(
            skipped and (name, who) == (row.row, annotator)
            for name, who, _, skipped in store.list_claims(data)
        )
        store.claim(data, row.row, annotator, skipped=is_skipped)
    return _make_view(row, None, rows, annotator, len(waiting))


def previous_row(store: Store, data: str, annotator: str, row: Any) -> LabelView:
    """The row that the person labeled before ``row`` (None: the last one), to see or change."""
    events = store.memory(data).label_events()
    rows = resolve_labels(events)
    mine = [
        event.row
        for event in events
        if event.annotator == annotator
        and event.reason != ADJUDICATED
        and annotator in rows[event.row].given
    ]
    order = list(dict.fromkeys(reversed(mine)))
    place = order.index(row) + 1 if row in order else 0
    if place >= len(order):
        return next_row(store, data, annotator)
    found = _find_suggestions(store, data).get(order[place])
    given = rows[order[place]].given[annotator]
    left = len(_list_waiting(store, data, annotator, rows))
    return _make_view(found, UNSURE if given is None else given, rows, annotator, left)


def _make_view(
    row: StoredSuggestion | None,
    given: Hashable | None,
    rows: Mapping[Hashable, RowLabels],
    annotator: str,
    left: int,
) -> LabelView:
    return LabelView(
        row,
        given,
        mine=sum(annotator in each.given for each in rows.values()),
        settled=sum(each.label is not None for each in rows.values()),
        conflicts=sum(each.in_conflict for each in rows.values()),
        left=left,
    )


def _find_suggestions(store: Store, data: str) -> dict[Any, StoredSuggestion]:
    """Row -> its newest suggestion."""
    return {each.row: each for each in store.list_suggestions(data)}


def _find_suggestion(store: Store, data: str, row: Any) -> StoredSuggestion:
    found = _find_suggestions(store, data).get(row)
    if found is None:
        raise InputError(
            f"row {row!r} is not among those to be labeled",
            hint="load the page again; the labels that were given before are kept",
        )
    return found


def give_label(
    store: Store, data: str, annotator: str, row: Any, label: Hashable | None, key: str
) -> None:
    """Store the label of a suggested row, or that the person is unsure (None); once for a key."""
    chosen = _find_suggestion(store, data, row)
    reason = UNSURE if label is None else chosen.reason
    event = LabelEvent(chosen.row, label, annotator, chosen.probability, reason, key)
    store.memory(data).add_labels([event])


def skip_row(store: Store, data: str, annotator: str, row: Any) -> None:
    """Put a row off: it comes again when no other is left."""
    store.claim(data, _find_suggestion(store, data, row).row, annotator, skipped=True)


def undo_label(store: Store, data: str, annotator: str, key: str) -> Any:
    """Take the person's last label back; the row, or None where there is nothing to take back."""
    events = store.memory(data).label_events()
    if any(event.key == key for event in events):
        return None
    rows = resolve_labels(events)
    for event in reversed(events):
        is_mine = event.annotator == annotator and event.reason not in (ADJUDICATED, TAKEN_BACK)
        if is_mine and annotator in rows[event.row].given:
            back = LabelEvent(event.row, None, annotator, None, TAKEN_BACK, key)
            store.memory(data).add_labels([back])
            store.claim(data, event.row, annotator)
            return event.row
    return None


def adjudicate(
    store: Store, data: str, annotator: str, row: Any, label: Hashable, key: str
) -> None:
    """Settle a row on which people differ."""
    rows = resolve_labels(store.memory(data).label_events())
    if row not in rows or len(rows[row].classes) < 2:
        raise InputError(f"people do not differ about row {row!r}", hint="load the page again")
    event = LabelEvent(row, label, annotator, rows[row].probability, ADJUDICATED, key)
    store.memory(data).add_labels([event])


def list_settled_labels(store: Store, data: str) -> list[list[Any]]:
    """(row, label, probability, round) of all rows whose label counts.

    Of the n rows of a round, shown in random order, m have a label that counts: a row that was
    drawn with probability p has one with probability p m / n. Rows of rounds that were drawn at
    random have no probability: they count equally.
    """
    rows = resolve_labels(store.memory(data).label_events())
    settled = {row for row, labels in rows.items() if labels.label is not None}
    rounds: dict[int, list[StoredSuggestion]] = {}
    newest: dict[Any, StoredSuggestion] = {}
    for each in store.list_suggestions(data):
        rounds.setdefault(each.round, []).append(each)
        if each.row in settled:
            newest[each.row] = each
    share = {
        number: sum(newest.get(each.row) is each for each in drawn) / len(drawn)
        for number, drawn in rounds.items()
    }
    found: list[list[Any]] = []
    for row in settled:
        drawn, probability = newest.get(row), None
        if drawn is not None and drawn.probability and not drawn.reason.startswith(AT_RANDOM):
            probability = drawn.probability * share[drawn.round]
        found.append([row, rows[row].label, probability, 0 if drawn is None else drawn.round])
    return sorted(found, key=repr)


def _list_waiting(
    store: Store, data: str, annotator: str, rows: Mapping[Hashable, RowLabels]
) -> list[StoredSuggestion]:
    """Rows for this person: one taken back first, those put off last."""
    skipped: dict[Any, int] = {}
    mine: dict[Any, int] = {}
    claimed: dict[Any, set[str]] = {}
    since = (datetime.now(UTC) - CLAIM_LIFETIME).isoformat(timespec="microseconds")
    for number, (row, who, at, is_skipped) in enumerate(store.list_claims(data)):
        if who == annotator:
            (skipped if is_skipped else mine)[row] = number
        elif not is_skipped and at > since:
            claimed.setdefault(row, set()).add(who)
    found = []
    suggestions = _find_suggestions(store, data)
    newest = max((each.round for each in suggestions.values()), default=0)
    for each in suggestions.values():
        given = rows[each.row].given if each.row in rows else {}
        wanted = 2 if each.place % DOUBLE_EVERY == 0 else 1
        if each.round < newest and not given and each.row not in mine:
            continue
        if annotator in given or len(given) >= wanted:
            continue
        others = claimed.get(each.row, set()) - {*given}
        if others and len(given) + len(others) >= wanted:
            continue
        found.append(each)
    return sorted(
        found,
        key=lambda each: (
            each.row in skipped,
            skipped.get(each.row, 0),
            -mine.get(each.row, -1),
            each.round,
            each.place,
        ),
    )
