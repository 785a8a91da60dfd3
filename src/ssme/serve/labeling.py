"""Who labels which row next, and what happens to a label the moment it is given.

Rows are drawn in rounds; a new round takes the place of what is left of the one before. A row goes
to one person; every fifth goes to two, so that their agreement can be measured. A row that
lies before somebody is kept from others for a while. A label is in the memory before the page says
so; sent twice, it is kept once.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ssme.errors import InputError
from ssme.memory import LabelEvent
from ssme.serve.desk import Records
from ssme.serve.settling import ADJUDICATED, TAKEN_BACK, UNSURE, Standing, settle
from ssme.serve.store import StoredSuggestion

__all__ = [
    "AT_RANDOM",
    "Bench",
    "adjudicate",
    "give_label",
    "list_settled_labels",
    "look_back",
    "skip",
    "take_seat",
    "undo",
]

AT_RANDOM = "drawn at random"
"""How the reason of rows begins that were drawn with the same probability as all others."""
KEPT = timedelta(minutes=10)
"""How long a row that lies before somebody is kept from others."""


@dataclass(frozen=True)
class Bench:
    """What lies before one person.

    Attributes
    ----------
    row : Suggestion or None
        The row to label; None where no row is left.
    given : optional
        What the person said of it before.
    mine, settled, conflicts, left : int
        Rows that this person labeled, rows whose label counts, rows in conflict, and rows that
        wait for this person.
    """

    row: StoredSuggestion | None
    given: Hashable | None
    mine: int
    settled: int
    conflicts: int
    left: int


def take_seat(records: Records, data: str, annotator: str) -> Bench:
    """The next row for a person, kept from others while it lies there."""
    rows = settle(records.open_memory(data).label_events())
    waiting = _list_waiting(records, data, annotator, rows)
    row = waiting[0] if waiting else None
    if row is not None:
        records.store.claim(
            data, row.row, annotator, skipped=_is_skipped(records, data, row, annotator)
        )
    return _prepare_bench(row, None, rows, annotator, len(waiting))


def look_back(records: Records, data: str, annotator: str, row: Any) -> Bench:
    """The row that the person labeled before ``row`` (None: the last one), to see or change."""
    events = records.open_memory(data).label_events()
    rows = settle(events)
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
        return take_seat(records, data, annotator)
    known = {each.row: each for each in records.store.list_suggestions(data)}
    found = known.get(order[place])
    waiting = _list_waiting(records, data, annotator, rows)
    given = rows[order[place]].given[annotator]
    return _prepare_bench(found, UNSURE if given is None else given, rows, annotator, len(waiting))


def give_label(
    records: Records, data: str, annotator: str, row: Any, label: Hashable | None, key: str
) -> None:
    """Store a label, or that the person is unsure (None); with the same key, once.

    Parameters
    ----------
    records : Records
        Where labels are kept.
    data : str
        Name of the data.
    annotator : str
        Who gives the label.
    row : str or int
        Name of the row, which has to be one of those chosen for labeling.
    label : optional
        The class; None if the person is unsure.
    key : str
        Chosen by the page when it showed the row.
    """
    known = {each.row: each for each in records.store.list_suggestions(data)}
    if row not in known:
        raise _tell_unknown_row(row)
    chosen = known[row]
    reason = UNSURE if label is None else chosen.reason
    event = LabelEvent(chosen.row, label, annotator, chosen.probability, reason, key)
    records.open_memory(data).add_labels([event])


def skip(records: Records, data: str, annotator: str, row: Any) -> None:
    """Put a row off: it comes again when no other is left."""
    if all(row != each.row for each in records.store.list_suggestions(data)):
        raise _tell_unknown_row(row)
    records.store.claim(data, row, annotator, skipped=True)


def undo(records: Records, data: str, annotator: str, key: str) -> Any:
    """Take the person's last label back; the row, or None where there is nothing to take back."""
    events = records.open_memory(data).label_events()
    if any(event.key == key for event in events):
        return None
    rows = settle(events)
    for event in reversed(events):
        mine = event.annotator == annotator and event.reason not in (ADJUDICATED, TAKEN_BACK)
        if mine and annotator in rows[event.row].given:
            back = LabelEvent(event.row, None, annotator, None, TAKEN_BACK, key)
            records.open_memory(data).add_labels([back])
            records.store.claim(data, event.row, annotator)
            return event.row
    return None


def adjudicate(
    records: Records, data: str, annotator: str, row: Any, label: Hashable, key: str
) -> None:
    """Settle a row on which people differ."""
    rows = settle(records.open_memory(data).label_events())
    if row not in rows or len(rows[row].classes) < 2:
        raise InputError(f"people do not differ about row {row!r}", fix="load the page again")
    event = LabelEvent(row, label, annotator, rows[row].probability, ADJUDICATED, key)
    records.open_memory(data).add_labels([event])


def list_settled_labels(records: Records, data: str) -> list[list[Any]]:
    """(row, label, probability, round) of all rows whose label counts.

    Of the n rows of a round, shown in random order, m have a label that counts: a row that was
    drawn with probability p has one with probability p m / n. The probability of rows of rounds
    that were drawn at random is None: they count alike.
    """
    rows = settle(records.open_memory(data).label_events())
    counting = {row for row, standing in rows.items() if standing.label is not None}
    drawn: dict[int, list[StoredSuggestion]] = {}
    last: dict[Any, StoredSuggestion] = {}
    for each in records.store.list_suggestions(data):
        drawn.setdefault(each.round, []).append(each)
        if each.row in counting:
            last[each.row] = each
    share = {
        number: sum(last.get(each.row) is each for each in of) / len(of)
        for number, of in drawn.items()
    }
    found: list[list[Any]] = []
    for row in counting:
        at, chance = last.get(row), None
        if at is not None and at.probability is not None and not at.reason.startswith(AT_RANDOM):
            chance = at.probability * share[at.round]
        found.append([row, rows[row].label, chance, 0 if at is None else at.round])
    return sorted(found, key=repr)


def _tell_unknown_row(row: Any) -> InputError:
    return InputError(
        f"row {row!r} is not among those to be labeled",
        fix="load the page again; the labels that were given before are kept",
    )


def _prepare_bench(
    row: StoredSuggestion | None,
    given: Hashable | None,
    rows: dict[Hashable, Standing],
    annotator: str,
    left: int,
) -> Bench:
    return Bench(
        row,
        given,
        sum(annotator in standing.given for standing in rows.values()),
        sum(standing.label is not None for standing in rows.values()),
        sum(standing.in_conflict for standing in rows.values()),
        left,
    )


def _is_skipped(records: Records, data: str, row: StoredSuggestion, annotator: str) -> bool:
    return any(
        skipped and (name, who) == (row.row, annotator)
        for name, who, _, skipped in records.store.list_claims(data)
    )


def _list_waiting(
    records: Records,
    data: str,
    annotator: str,
    rows: dict[Hashable, Standing],
    double_every: int = 5,
) -> list[StoredSuggestion]:
    """Rows for this person, those put off last, one taken back first.

    One row of ``double_every`` waits for two people.
    """
    skipped: dict[Any, int] = {}
    mine: dict[Any, int] = {}
    kept: dict[Any, set[str]] = {}
    since = (datetime.now(UTC) - KEPT).isoformat(timespec="microseconds")
    for number, (row, who, at, is_skipped) in enumerate(records.store.list_claims(data)):
        if who == annotator:
            (skipped if is_skipped else mine)[row] = number
        elif not is_skipped and at > since:
            kept.setdefault(row, set()).add(who)
    found = []
    drawn = records.store.list_suggestions(data)
    newest = drawn[-1].round if drawn else 0
    for each in {each.row: each for each in drawn}.values():
        given = rows[each.row].given if each.row in rows else {}
        wanted = 2 if each.place % double_every == 0 else 1
        if each.round < newest and not given and each.row not in mine:
            continue
        if annotator in given or len(given) >= wanted:
            continue
        at_work = kept.get(each.row, set()) - {*given}
        if at_work and len(given) + len(at_work) >= wanted:
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
