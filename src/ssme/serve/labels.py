"""Which label of a row counts, who labels which row next, and how far people agree.

The newest label of each person on a row is used. A row counts if all who labeled it gave the same
class, or if somebody adjudicated it; a row on which people differ counts for nothing until then.

Rows are drawn in rounds; a new round takes the place of what is left of the one before. A row goes
to one person; one of five (or as the owner says) goes to several, so that their agreement can be
measured. Where the owner has divided the rows, each goes to whoever labels its share or group. A
row that one person is looking at is kept from others for a while. A label is in the memory before
the page confirms it; sent twice, it is kept once.

All this follows from the label events. Tables derived from them are brought up to date with every
event, so that a click costs the same however many labels there are.
"""

from __future__ import annotations

import copy
import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, Self

from ssme.errors import InputError
from ssme.memory import LabelEvent, Memory
from ssme.memory.database import list_columns, utc_now

ADJUDICATED, UNSURE, TAKEN_BACK, IMPORTED = "adjudicated", "unsure", "taken back", "imported"
"""Reasons of events that are more than a label."""
AT_RANDOM = "drawn at random"
"""How the reason of rows begins that were drawn with the same probability as all others."""
CLAIM_LIFETIME = timedelta(minutes=10)
"""How long a row that somebody is looking at is kept from others."""
SHARING = {"double_every": 5, "people": 2, "third": 0}
"""One row of so many is labeled by so many people, unless the owner says otherwise; whether a row
on which they differ goes to one more, so that the majority counts."""
LISTED = 50
"""Labels of one page of a person's labels."""
LONGEST_PAUSE = 600.0
"""Seconds between two labels above which somebody did something else."""

MOST_COUNTED = 300
"""Rows that wait for a person are counted up to so many, so that a click costs the same."""

# Whether a row waits for :me. It needs ``needs`` more people; ``given_by`` is who labeled it first.
# Others label a row that is assigned to somebody after them.
WAITS = """
s.data = :data AND s.needs > 0
AND (s.assigned IN ('', :me) OR s.given_by = s.assigned)
AND NOT EXISTS (SELECT 1 FROM given AS g WHERE (g.data, g.row, g.annotator) = (s.data, s.row, :me))
AND s.needs > (
    SELECT count(*) FROM claim AS other
    WHERE other.data = s.data AND other.row = s.row AND other.annotator NOT IN (:me, s.given_by)
    AND other.skipped = 0 AND other.at > :since)
"""
# Rows that :me was shown before: taken back, being looked at or put off.
CLAIMED = f"""
FROM claim AS mine CROSS JOIN suggestion AS s ON s.row = mine.row
WHERE mine.data = :data AND mine.annotator = :me AND {WAITS}
AND (s.given_by != '' OR mine.skipped = 0
     OR s.round = (SELECT max(round) FROM suggestion WHERE data = :data))
"""
# All others, where the index has those of each ``giver`` in order.
FRESH = f"""
WHERE s.given_by = giver.value AND {WAITS}
AND NOT EXISTS (SELECT 1 FROM claim AS c WHERE (c.data, c.row, c.annotator) = (s.data, s.row, :me))
"""
# The first come those taken back or being looked at, the last those put off.
NEXT = f"""
FROM (SELECT s.rowid AS place_of, mine.skipped AS skipped, mine.at AS at {CLAIMED}
      UNION ALL
      SELECT (SELECT s.rowid FROM suggestion AS s {FRESH} ORDER BY s.round, s.place LIMIT 1),
      NULL, NULL FROM json_each(:givers) AS giver)
JOIN suggestion AS s ON s.rowid = place_of
ORDER BY coalesce(2 * skipped, 1), iif(skipped, at, NULL), at DESC, s.round, s.place LIMIT 1
"""
WAITING = f"""
FROM (SELECT 1 {CLAIMED}
      UNION ALL SELECT 1 FROM json_each(:givers) AS giver CROSS JOIN suggestion AS s {FRESH}
      LIMIT {MOST_COUNTED})
"""


@dataclass(frozen=True)
class StoredSuggestion:
    """A row to be labeled, as annotators see it: its ``cells`` are (column, kind, text).

    ``round`` is the number of the draw, from 1 on, ``place`` the row's place in it, and
    ``probability`` that of being drawn in it; ``groups`` are those that the row is in.
    """

    row: Any
    round: int
    place: int
    cells: Iterable[tuple[str, str, str]]
    probability: float | None
    reason: str
    groups: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelView:
    """The row that one person sees, the label that they gave it before, and counts of rows.

    ``row`` is None where no row is left; ``note`` is what this person wrote on it. ``mine`` rows
    were labeled by this person, ``settled`` rows have a label that counts, and ``left`` rows wait
    for this person.
    """

    row: StoredSuggestion | None
    given: Hashable | None
    mine: int
    settled: int
    conflicts: int
    left: int
    note: str = ""


@dataclass(frozen=True)
class Agreement:
    """Two people's labels of the same rows; ``kappa`` is None where chance would always agree."""

    first: str
    second: str
    rows: int
    share: float
    kappa: float | None


class LabelStore(Memory):
    """The memory of a project, with the rows to label of each of its data."""

    def memory(self, data: str) -> Self:
        """The memory of the data of that name, over the same connection."""
        found = copy.copy(self)
        found.data = data
        return found

    def add_labels(self, events: Iterable[LabelEvent]) -> int:
        """Store label events and what follows from them."""
        with self._write() as connection:
            added = super().add_labels(events)
            self._catch_up(connection)
        return added

    # giving labels

    def import_labels(self, data: str, labels: Iterable[Sequence[Any]], key: str) -> None:
        """Store the (row, label, annotator, note) of a file, once for the same ``key``.

        Nobody knows why these rows were labeled. Those that were chosen and that nobody has labeled
        leave their round, which stays a random part of the rows that it was drawn from.
        """
        with self._write() as connection:
            events = []
            for number, (row, label, annotator, note) in enumerate(labels):
                place = (data, json.dumps(row))
                connection.execute(
                    "DELETE FROM suggestion WHERE (data, row) = (?, ?) AND given_by = ''", place
                )
                if note:
                    connection.execute(
                        "INSERT OR REPLACE INTO note VALUES (?, ?, ?, ?)", (*place, annotator, note)
                    )
                named = f"{key}-{number}"
                events.append(LabelEvent(row, label, annotator, None, IMPORTED, named))
            self.memory(data).add_labels(events)

    def give_label(
        self,
        data: str,
        annotator: str,
        row: Any,
        label: Hashable | None,
        key: str,
        note: str | None = None,
    ) -> None:
        """Store the label of a suggested row, or that the person is unsure (None), and a note."""
        chosen = self._find_suggestion(data, row)
        reason = UNSURE if label is None else chosen.reason
        event = LabelEvent(chosen.row, label, annotator, chosen.probability, reason, key)
        with self._write():
            self.memory(data).add_labels([event])
            before = self._read_notes(data, json.dumps(row)).get(annotator, "")
            if note is not None and note != before:
                self.write_note(data, annotator, row, note)

    def write_note(self, data: str, annotator: str, row: Any, text: str) -> None:
        """Keep what a person wrote on a suggested row; an empty text deletes it."""
        place = (data, json.dumps(self._find_suggestion(data, row).row), annotator)
        with self._write() as connection:
            connection.execute("DELETE FROM note WHERE (data, row, annotator) = (?, ?, ?)", place)
            if text:
                connection.execute("INSERT INTO note VALUES (?, ?, ?, ?)", (*place, text))

    def skip_row(self, data: str, annotator: str, row: Any) -> None:
        """Put a row off: it comes again when no other is left."""
        self._claim(data, self._find_suggestion(data, row).row, annotator, skipped=True)

    def undo_label(self, data: str, annotator: str, key: str) -> Any:
        """Take the person's last label back; the row, or None if there is nothing to take back."""
        if self._fetch("SELECT 1 FROM label_event WHERE key = ?", key):
            return None
        last = self._find_given(data, annotator)
        if last is None:
            return None
        with self._write():
            event = LabelEvent(last[0], None, annotator, None, TAKEN_BACK, key)
            self.memory(data).add_labels([event])
            self._claim(data, last[0], annotator)
        return last[0]

    def adjudicate(self, data: str, annotator: str, row: Any, label: Hashable, key: str) -> None:
        """Settle a row on which people differ."""
        classes = self._fetch(
            "SELECT DISTINCT label FROM given WHERE data = ? AND row = ? AND label IS NOT NULL",
            *(data, json.dumps(row)),
        )
        if len(classes) < 2:
            raise InputError(f"people do not differ about row {row!r}", hint="load the page again")
        chances = self._fetch(
            "SELECT probability FROM label_event WHERE data = ? AND row = ?"
            " AND probability IS NOT NULL ORDER BY id LIMIT 1",
            *(data, json.dumps(row)),
        )
        chance = chances[0][0] if chances else None
        self.memory(data).add_labels([LabelEvent(row, label, annotator, chance, ADJUDICATED, key)])

    def _claim(self, data: str, row: Any, annotator: str, *, skipped: bool = False) -> None:
        """Note that somebody is looking at the row, or put it off."""
        self._execute(
            "INSERT INTO claim (data, row, annotator, at, skipped) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at = excluded.at, skipped = excluded.skipped",
            *(data, json.dumps(row), annotator, utc_now(), int(skipped)),
        )

    # rows to label

    def add_suggestions(self, data: str, rows: Iterable[StoredSuggestion]) -> None:
        """Add the rows of a round without those that got a label while they were drawn.

        A row that is there stays as it is.
        """
        with self._write() as connection:
            rows = [row for row in rows if not self._is_seen(data, row.row)]
            sharing, assigned = self._read_sharing(data), self.list_assigned(_find_file(data))
            every, people = sharing["double_every"], sharing["people"]
            self._insert(
                connection,
                "suggestion",
                [
                    {
                        "data": data,
                        **vars(row),
                        "people": people if every and row.place % every == 0 else 1,
                        "assigned": _assign(row, assigned),
                    }
                    for row in rows
                ],
            )
            connection.execute(  # a new round takes the place of what is left of the one before
                "UPDATE suggestion SET needs = 0 WHERE data = :data AND needs > 0 AND given_by = ''"
                " AND round < (SELECT max(round) FROM suggestion WHERE data = :data) AND NOT EXISTS"
                " (SELECT 1 FROM claim WHERE claim.data = :data AND claim.row = suggestion.row"
                " AND NOT skipped)",
                {"data": data},
            )
            for row in rows:
                self._update_needs(connection, data, json.dumps(row.row))

    def _read_sharing(self, data: str) -> dict[str, int]:
        """How the owner wants rows of the data to be labeled by several people."""
        found = self._select(SHARING, "file", "WHERE id = ?", _find_file(data))
        return found[0] if found else SHARING

    def list_assigned(self, file: int) -> list[tuple[str, float, str]]:
        """(person, share, group) of those to whom rows of a file are assigned.

        A person without a group labels that share of all rows that are in nobody's group.
        """
        query = "SELECT annotator, share, [group] FROM person WHERE file = ? AND share > 0"
        return [*map(tuple, self._fetch(f"{query} ORDER BY annotator", file))]

    def count_waiting(self, data: str, annotator: str) -> int:
        """Rows that wait for a person, or `MOST_COUNTED`."""
        asked = self._ask_for(data, annotator)
        ((left,),) = self._fetch(f"SELECT count(*) {WAITING}", **asked)
        return int(left)

    def _ask_for(self, data: str, annotator: str) -> dict[str, Any]:
        """Values of `WAITING` and `NEXT`."""
        since = (datetime.now(UTC) - CLAIM_LIFETIME).isoformat(timespec="microseconds")
        people = [name[3:] for name in self.read_totals(data) if name.startswith("by ")]
        givers = json.dumps(["", *(who for who in people if who != annotator)])
        return {"data": data, "me": annotator, "since": since, "givers": givers}

    def gives_rows_to(self, data: str, annotator: str, round: int) -> bool:
        """Whether a round had rows for a person."""
        query = "SELECT 1 FROM suggestion WHERE data = ? AND round = ? AND assigned IN ('', ?)"
        return bool(self._fetch(f"{query} LIMIT 1", data, round, annotator))

    def _is_seen(self, data: str, row: Any) -> bool:
        query = "SELECT 1 FROM labeled_row WHERE data = ? AND row = ?"
        return bool(self._fetch(query, data, json.dumps(row)))

    def next_row(self, data: str, annotator: str) -> LabelView:
        """The next row for a person, kept from others while they look at it."""
        columns = list_columns(StoredSuggestion)
        with self._write() as connection:
            found = connection.execute(
                f"SELECT {', '.join(f's.[{name}]' for name in columns)}, coalesce(skipped, 0)"
                f" {NEXT}",
                self._ask_for(data, annotator),
            ).fetchone()
            if found is None:
                return self._make_view(data, annotator, None, None)
            *values, skipped = found
            row = StoredSuggestion(
                **{name: self._parse(name, v) for name, v in zip(columns, values, strict=True)}
            )
            self._claim(data, row.row, annotator, skipped=bool(skipped))
        return self._make_view(data, annotator, row, None)

    def previous_row(self, data: str, annotator: str, row: Any) -> LabelView:
        """The row that the person labeled before ``row`` (None: the last one), to see or change."""
        before = self._fetch(
            "SELECT event FROM given WHERE data = ? AND annotator = ? AND row = ?",
            *(data, annotator, json.dumps(row)),
        )
        found = self._find_given(data, annotator, before[0][0] if before else None)
        return self.view_row(data, annotator, *found) if found else self.next_row(data, annotator)

    def view_row(
        self, data: str, annotator: str, row: Any, label: Hashable | None = None
    ) -> LabelView:
        """A row that the person has labeled with ``label`` (None: unsure), to see or change."""
        suggestion = next(iter(self._list_suggestions(data, row)), None)
        return self._make_view(data, annotator, suggestion, UNSURE if label is None else label)

    def find_row(self, data: str, annotator: str, row: Any) -> LabelView | None:
        """The same by the name of the row; None where the person has not labeled it."""
        rest = "WHERE data = ? AND annotator = ? AND row = ?"
        found = self._select(("label",), "given", rest, data, annotator, json.dumps(row))
        return self.view_row(data, annotator, row, found[0]["label"]) if found else None

    def list_mine(
        self, data: str, annotator: str, search: str = "", label: str = "", skip: int = 0
    ) -> list[dict[str, Any]]:
        """A page of a person's labels, the newest first: row, label, when, note and cells.

        ``search`` is in the name of the row, its cells or the note; ``label`` is a class as JSON,
        "null" for unsure, or "noted" for rows with a note.
        """
        rows = self._fetch(
            "SELECT g.row, g.label, e.given_at, coalesce(n.text, '') AS note, s.cells"
            " FROM given AS g JOIN label_event AS e ON e.id = g.event"
            " LEFT JOIN note AS n USING (data, row, annotator)"
            " LEFT JOIN suggestion AS s ON s.data = g.data AND s.row = g.row AND s.round ="
            "  (SELECT max(round) FROM suggestion WHERE data = g.data AND row = g.row)"
            " WHERE g.data = :data AND g.annotator = :me"
            " AND (:label = '' OR :label = 'noted' AND n.text IS NOT NULL"
            "  OR coalesce(g.label, 'null') = :label)"
            " AND (:search = '' OR instr(lower(g.row || s.cells), lower(:search))"
            "  OR instr(lower(note), lower(:plain)))"
            " ORDER BY g.event DESC LIMIT :limit OFFSET :skip",
            **{"data": data, "me": annotator, "label": label, "plain": search, "skip": skip},
            **{"search": json.dumps(search)[1:-1], "limit": LISTED + 1},
        )
        with self.refuse_corrupt():
            return [
                {
                    "row": row,
                    "name": str(json.loads(row)),
                    "label": None if given is None else json.loads(given),
                    "given_at": given_at,
                    "note": note,
                    "cells": json.loads(cells or "[]"),
                }
                for row, given, given_at, note, cells in rows
            ]

    def _make_view(
        self, data: str, annotator: str, row: StoredSuggestion | None, given: Hashable | None
    ) -> LabelView:
        totals, left = self.read_totals(data), self.count_waiting(data, annotator)
        mine, settled, conflicts = (
            totals.get(name, 0) for name in (f"by {annotator}", "settled", "conflicts")
        )
        note = "" if row is None else self._read_notes(data, json.dumps(row.row)).get(annotator, "")
        return LabelView(row, given, mine, settled, conflicts, left, note)

    def _read_notes(self, data: str, row: str) -> dict[str, str]:
        """Person -> what they wrote on a row."""
        query = "SELECT annotator, text FROM note WHERE data = ? AND row = ?"
        return dict(self._fetch(query, data, row))

    def _find_given(
        self, data: str, annotator: str, before: int | None = None
    ) -> tuple[Any, Any] | None:
        """Row and label of the newest label of a person, before the event of that number."""
        found = self._select(
            ("row", "label"),
            "given",
            "WHERE data = ? AND annotator = ? AND event < ? ORDER BY event DESC LIMIT 1",
            *(data, annotator, 2**62 if before is None else before),
        )
        return (found[0]["row"], found[0]["label"]) if found else None

    def _list_suggestions(self, data: str, row: Any) -> list[StoredSuggestion]:
        """The newest suggestion of a row, if there is one."""
        found = self._select(
            list_columns(StoredSuggestion),
            "suggestion",
            "WHERE data = ? AND row = ? ORDER BY round DESC LIMIT 1",
            *(data, json.dumps(row)),
        )
        return [StoredSuggestion(**each) for each in found]

    def _find_suggestion(self, data: str, row: Any) -> StoredSuggestion:
        found = self._list_suggestions(data, row)
        if not found:
            raise InputError(
                f"row {row!r} is not among those to be labeled",
                hint="load the page again; the labels that were given before are kept",
            )
        return found[0]

    def shows_image(self, data: str, row: Any, path: str) -> bool:
        """Whether a row to label has a cell that names this picture."""
        cells = [cell for each in self._list_suggestions(data, row) for cell in each.cells]
        return any((kind, text) == ("image", path) for _, kind, text in cells)

    def list_cells(self, data: str) -> dict[Any, list[tuple[str, str, str]]]:
        """Row -> what annotators saw of it."""
        rows = self._fetch("SELECT row, cells FROM suggestion WHERE data = ?", data)
        with self.refuse_corrupt():
            return {json.loads(row): json.loads(cells) for row, cells in rows}

    # what follows from the labels

    def read_totals(self, data: str) -> dict[str, int]:
        """Numbers of rows: with any event, settled, in conflict, and labeled by each person."""
        return dict(self._fetch("SELECT name, number FROM total WHERE data = ?", data))

    def list_classes(self) -> list[Any]:
        """Classes that anybody gave to any row of the data."""
        query = "SELECT DISTINCT label FROM label_event WHERE data = ? AND label IS NOT NULL"
        return sorted((json.loads(row[0]) for row in self._fetch(query, self.data)), key=repr)

    def count_settled(self, data_names: Collection[str]) -> int:
        return sum(self.read_totals(data).get("settled", 0) for data in data_names)

    def find_newest_event(self, data: str) -> int:
        """The number of the newest label event of the data; another one means other labels."""
        ((newest,),) = self._fetch("SELECT max(id) FROM label_event WHERE data = ?", data)
        return newest or 0

    def count_unseen(self, data: str) -> tuple[int, int]:
        """The number of the newest round, and of its rows that nobody has labeled or put aside."""
        ((newest,),) = self._fetch("SELECT max(round) FROM suggestion WHERE data = ?", data)
        ((left,),) = self._fetch(
            # without the hint, SQLite goes through all rounds in the index of the primary key
            "SELECT count(*) FROM suggestion AS s INDEXED BY suggestion_round"
            " WHERE data = ? AND round = ? AND NOT EXISTS"
            " (SELECT 1 FROM labeled_row AS r WHERE r.data = s.data AND r.row = s.row)",
            *(data, newest),
        )
        return newest or 0, left

    def list_settled_labels(self, data: str) -> list[list[Any]]:
        """(row, label, probability, round) of all rows whose label counts.

        Of the n rows of a round, shown in random order, m have a label that counts: a row that was
        drawn with probability p has one with probability p m / n. Where rows are assigned to
        people, n and m are those of the person. Rows of other rounds that were drawn at random have
        no probability: they count equally.
        """
        rows = self._fetch(
            "SELECT r.row, r.label, s.round, s.probability, s.reason, s.assigned"
            " FROM labeled_row AS r LEFT JOIN suggestion AS s ON s.data = r.data AND s.row = r.row"
            " AND s.round = (SELECT max(round) FROM suggestion WHERE data = r.data AND row = r.row)"
            " WHERE r.data = ? AND r.label IS NOT NULL",
            data,
        )
        sizes = {
            tuple(key): n
            for *key, n in self._fetch(
                "SELECT round, assigned, count(*) FROM suggestion WHERE data = ? GROUP BY 1, 2",
                data,
            )
        }
        divided = {drawn for drawn, assigned in sizes if assigned}
        counts = Counter((drawn, assigned) for _, _, drawn, _, _, assigned in rows)
        found = []
        with self.refuse_corrupt():
            for row, label, drawn, chance, reason, assigned in rows:
                if chance is not None:
                    is_equal = reason.startswith(AT_RANDOM) and drawn not in divided
                    share = counts[drawn, assigned] / sizes[drawn, assigned]
                    chance = None if is_equal else chance * share
                found.append([json.loads(row), json.loads(label), chance, drawn or 0])
        return sorted(found, key=repr)

    def list_people(self, data_names: Collection[str]) -> dict[str, dict[str, Any]]:
        """Person -> numbers of labels and of unsure rows, the last time, median seconds a label."""
        rows = self._fetch(
            "SELECT annotator, max(given_at) FROM label_event"
            " WHERE data IN (SELECT value FROM json_each(?)) GROUP BY annotator ORDER BY min(id)",
            json.dumps(data_names),
        )
        people: dict[str, dict[str, Any]] = {
            who: {"labels": 0, "unsure": 0, "last": last, "seconds": None} for who, last in rows
        }
        for who, labels, unsure in self._fetch(
            "SELECT annotator, count(label), count(*) - count(label) FROM given"
            " WHERE data IN (SELECT value FROM json_each(?)) GROUP BY annotator",
            json.dumps(data_names),
        ):
            people[who] |= {"labels": labels, "unsure": unsure}
        pauses: dict[str, list[float]] = {}
        for who, pause in self._fetch(
            "SELECT annotator, pause FROM (SELECT annotator, 86400 * (julianday(given_at) -"
            "  julianday(lag(given_at) OVER (PARTITION BY annotator ORDER BY id))) AS pause"
            "  FROM label_event WHERE data IN (SELECT value FROM json_each(?)))"
            " WHERE pause < ?",
            *(json.dumps(data_names), LONGEST_PAUSE),
        ):
            pauses.setdefault(who, []).append(pause)
        for who, found in pauses.items():
            people[who]["seconds"] = median(found)
        return people

    def measure_agreement(self, data_names: Collection[str]) -> list[Agreement]:
        """Agreement of every two people who labeled some of the same rows.

        With p the share of rows on which they agree and e = sum over classes of the product of the
        two people's shares of that class, kappa = (p - e) / (1 - e) (Cohen, 1960).
        """
        tables: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
        for first, second, one, two, n in self._fetch(
            "SELECT a.annotator, b.annotator, a.label, b.label, count(*) FROM given AS a"
            " JOIN given AS b ON a.data = b.data AND a.row = b.row AND a.annotator < b.annotator"
            " WHERE a.data IN (SELECT value FROM json_each(?)) AND a.label IS NOT NULL"
            " AND b.label IS NOT NULL GROUP BY 1, 2, 3, 4",
            json.dumps(data_names),
        ):
            tables.setdefault((first, second), Counter())[one, two] = n
        return [_compare(*pair, table) for pair, table in sorted(tables.items())]

    def list_conflicts(self, data: str) -> list[dict[str, Any]]:
        """Rows on which people differ: what each of them gave, and the cells."""
        rows = self._fetch("SELECT row FROM labeled_row WHERE data = ? AND in_conflict", data)
        found = []
        for (row,) in rows:
            rest = "WHERE data = ? AND row = ? ORDER BY event"
            given = self._select(("annotator", "label"), "given", rest, data, row)
            shown = self._list_suggestions(data, json.loads(row))
            found.append(
                {
                    "row": row,
                    "name": str(json.loads(row)),
                    "given": {each["annotator"]: each["label"] for each in given},
                    "cells": shown[0].cells if shown else (),
                    "notes": self._read_notes(data, row),
                }
            )
        return found

    def list_all_labels(self, data_names: Collection[str]) -> list[dict[str, Any]]:
        """Every label event, the oldest first, and whether its label ``counts`` now."""
        rows = self._fetch(
            "SELECT e.row, e.label, e.annotator, e.given_at, e.probability, e.reason,"
            " r.label = e.label AND (e.reason = ? OR EXISTS (SELECT 1 FROM given AS g"
            "  WHERE (g.data, g.row, g.annotator) = (e.data, e.row, e.annotator))),"
            " coalesce(n.text, '')"
            " FROM label_event AS e LEFT JOIN note AS n USING (data, row, annotator)"
            " JOIN labeled_row AS r ON r.data = e.data AND r.row = e.row"
            " WHERE e.data IN (SELECT value FROM json_each(?)) ORDER BY e.data, e.id",
            *(ADJUDICATED, json.dumps(data_names)),
        )
        names = ("id", "label", "annotator", "given_at", "probability", "reason")
        with self.refuse_corrupt():
            return [
                {
                    **dict(zip(names, row, strict=False)),
                    "id": json.loads(row[0]),
                    "label": None if row[1] is None else json.loads(row[1]),
                    "counts": bool(row[-2]),
                    "note": row[-1],
                }
                for row in rows
            ]

    # keeping the derived tables up to date

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        """Bring the derived tables up to date, also with events that another program added."""
        query = "SELECT coalesce(max(number), 0) FROM total WHERE (data, name) = ('', 'seen')"
        (seen,) = connection.execute(query).fetchone()
        events = connection.execute(
            "SELECT id, data, row, label, annotator, reason FROM label_event WHERE id > ?"
            " ORDER BY id",
            (seen,),
        ).fetchall()
        for event in events:
            self._note_event(connection, *event)
        if events:
            _add_to_total(connection, "", "seen", events[-1][0] - seen)

    def _note_event(
        self,
        connection: sqlite3.Connection,
        number: int,
        data: str,
        row: str,
        label: str | None,
        annotator: str,
        reason: str,
    ) -> None:
        """Update what was given to the row, which of its labels counts, and the totals."""
        place, verdict = (data, row, annotator), None
        query = "SELECT count(*) FROM given WHERE (data, row, annotator) = (?, ?, ?)"
        (was_given,) = connection.execute(query, place).fetchone()
        is_given = was_given
        if reason == ADJUDICATED:
            verdict = label
        elif label is None and reason == TAKEN_BACK:
            connection.execute("DELETE FROM given WHERE (data, row, annotator) = (?, ?, ?)", place)
            is_given = 0
        else:
            connection.execute(
                "INSERT INTO given (data, row, annotator, label, event) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET label = excluded.label, event = excluded.event",
                (*place, label, number),
            )
            connection.execute("DELETE FROM claim WHERE (data, row, annotator) = (?, ?, ?)", place)
            is_given = 1
        if is_given != was_given:
            _add_to_total(connection, data, f"by {annotator}", is_given - was_given)
        self._settle(connection, data, row, verdict)

    def settle_again(self, data: str) -> None:
        """Look again at rows on which people differ, with what the owner now says of them."""
        query = "SELECT row FROM labeled_row WHERE data = ? AND in_conflict"
        with self._write() as connection:
            for (row,) in self._fetch(query, data):
                self._settle(connection, data, row)

    def _settle(
        self, connection: sqlite3.Connection, data: str, row: str, verdict: str | None = None
    ) -> None:
        """Update which label of a row counts and how many people it needs, and the totals."""
        query = "SELECT label, verdict, in_conflict FROM labeled_row WHERE data = ? AND row = ?"
        before = connection.execute(query, (data, row)).fetchone()
        settled, known, in_conflict = before or (None, None, 0)
        verdict = verdict or known
        classes = connection.execute(
            "SELECT label, count(*) FROM given WHERE data = ? AND row = ? AND label IS NOT NULL"
            " GROUP BY label ORDER BY count(*) DESC",
            (data, row),
        ).fetchall()
        n, third = sum(count for _, count in classes), self._read_sharing(data)["third"]
        agreed = len(classes) == 1 or (third and n > 2 and 2 * classes[0][1] > n)
        counts = verdict or (classes[0][0] if agreed else None)
        differ = int(verdict is None and len(classes) > 1 and not agreed)
        connection.execute(
            "INSERT INTO labeled_row (data, row, label, verdict, in_conflict)"
            " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET label = excluded.label,"
            " verdict = excluded.verdict, in_conflict = excluded.in_conflict",
            (data, row, counts, verdict, differ),
        )
        for name, change in (
            ("rows", int(before is None)),
            ("settled", (counts is not None) - (settled is not None)),
            ("conflicts", differ - in_conflict),
        ):
            if change:
                _add_to_total(connection, data, name, change)
        self._update_needs(connection, data, row, int(third and differ))

    def _update_needs(
        self, connection: sqlite3.Connection, data: str, row: str, more: int = 0
    ) -> None:
        """Note in the newest suggestion of a row how many people it still needs."""
        query = "SELECT annotator FROM given WHERE data = ? AND row = ?"
        people = connection.execute(query, (data, row)).fetchall()
        connection.execute(
            "UPDATE suggestion SET given_by = :by, needs ="
            " iif(round < (SELECT max(round) FROM suggestion WHERE data = :data AND row = :row), 0,"
            "  max(0, people + :more - :n)) WHERE data = :data AND row = :row",
            {
                "by": people[0][0] if people else "",
                "n": len(people),
                "more": more,
                "data": data,
                "row": row,
            },
        )


def _find_file(data: str) -> int:
    """The number of the file whose data have that name (`ssme.serve.files.name_data`)."""
    words = data.split()
    return int(words[1]) if words[:1] == ["file"] and words[1:2] and words[1].isdecimal() else 0


def _assign(row: StoredSuggestion, assigned: Sequence[tuple[str, float, str]]) -> str:
    """Who labels a row: chance decides by the shares of those whose group it is in, else of those
    without a group; empty for anybody.
    """
    groups = {"", *(f"{name}={value}" for name, value in row.groups.items())}
    found = [(bool(group), who, share) for who, share, group in assigned if group in groups]
    shares = [(who, share) for of, who, share in found if of == max(found)[0]]
    digest = hashlib.sha256(json.dumps(row.row).encode()).digest()
    at = int.from_bytes(digest[:8]) / 2**64 * max(1.0, sum(share for _, share in shares))
    for who, share in shares:
        at -= share
        if at < 0.0:
            return who
    return ""


def _compare(first: str, second: str, table: Counter[tuple[str, str]]) -> Agreement:
    """Agreement of two people, from how many rows have each pair of labels."""
    n, one, two = table.total(), Counter[str](), Counter[str]()
    for (a, b), rows in table.items():
        one[a] += rows
        two[b] += rows
    share = sum(rows for (a, b), rows in table.items() if a == b) / n
    chance = sum(one[label] * two[label] for label in one) / n**2
    kappa = None if chance == 1.0 else (share - chance) / (1.0 - chance)
    return Agreement(first, second, n, share, kappa)


def _add_to_total(connection: sqlite3.Connection, data: str, name: str, change: int) -> None:
    connection.execute(
        "INSERT INTO total (data, name, number) VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET number = number + excluded.number",
        (data, name, change),
    )
