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
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any, Self

from ssme.errors import InputError
from ssme.memory import LabelEvent, Memory
from ssme.memory.database import utc_now

ADJUDICATED, UNSURE, TAKEN_BACK, IMPORTED = "adjudicated", "unsure", "taken back", "imported"
"""Reasons of events that are more than a label."""
AT_RANDOM = "drawn at random"
"""How the reason of rows begins that were drawn with the same probability as all others."""
CLAIM_LIFETIME = timedelta(minutes=10)
"""How long a row that somebody is looking at is kept from others."""
SHARING = {"double_every": 5, "people": 2, "third": 0, "proposed": 0}
"""One row of so many is labeled by so many people, unless the owner says otherwise; whether a row
on which they differ goes to one more, so that the majority counts; whether proposals are shown."""
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
OF_NAMES = "data IN (SELECT value FROM json_each(:names))"


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
    for this person. ``proposal`` is the class that a file proposes, where annotators see it.
    """

    row: StoredSuggestion | None
    given: Hashable | None
    mine: int
    settled: int
    conflicts: int
    left: int
    note: str = ""
    proposal: Hashable | None = None


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
        with self._write():
            added = super().add_labels(events)
            self._catch_up()
        return added

    # giving labels

    def import_labels(
        self, data: str, labels: Iterable[Sequence[Any]], proposals: Iterable[Any], key: str
    ) -> None:
        """Store the (row, label, annotator, note, proposal) of a file, once for the same ``key``,
        and its proposals, (row, class).

        Nobody knows why these rows were labeled. Those that were chosen and that nobody has labeled
        leave their round, which stays a random part of the rows that it was drawn from.
        """
        unseen = "DELETE FROM suggestion WHERE (data, row) = (?, ?) AND given_by = ''"
        with self._write():
            events = []
            for number, (row, label, annotator, note, proposal) in enumerate(labels):
                self._execute(unseen, data, json.dumps(row))
                if note:
                    self._put_note(data, annotator, row, note)
                named = f"{key}-{number}"
                event = LabelEvent(row, label, annotator, None, IMPORTED, named, proposal=proposal)
                events.append(event)
            self.memory(data).add_labels(events)
            for row, proposal in proposals:
                place = (data, json.dumps(row), json.dumps(proposal))
                self._execute("INSERT OR REPLACE INTO proposal VALUES (?, ?, ?)", *place)

    def give_label(
        self,
        data: str,
        annotator: str,
        row: Any,
        label: Hashable | None,
        key: str,
        note: str | None = None,
        *,
        proposed: bool = False,
    ) -> None:
        """Store the label of a suggested row, or that the person is unsure (None), and a note.

        ``proposed`` says that the person saw the class that a file proposes.
        """
        chosen = self._find_suggestion(data, row)
        proposal = self._find_proposal(data, row) if proposed else None
        event = LabelEvent(
            chosen.row,
            label,
            annotator,
            chosen.probability,
            UNSURE if label is None else chosen.reason,
            key,
            proposal=proposal,
        )
        with self._write():
            self.memory(data).add_labels([event])
            if note is not None:
                self._put_note(data, annotator, row, note)

    def write_note(self, data: str, annotator: str, row: Any, text: str) -> None:
        """Keep what a person wrote on a suggested row; an empty text deletes it."""
        self._put_note(data, annotator, self._find_suggestion(data, row).row, text)

    def _put_note(self, data: str, annotator: str, row: Any, text: str) -> None:
        place = (data, json.dumps(row), annotator)
        with self._write():
            self._execute("DELETE FROM note WHERE (data, row, annotator) = (?, ?, ?)", *place)
            if text:
                self._execute("INSERT INTO note VALUES (?, ?, ?, ?)", *place, text)

    def skip_row(self, data: str, annotator: str, row: Any) -> None:
        """Put a row off: it comes again when no other is left."""
        self._claim(data, self._find_suggestion(data, row).row, annotator, skipped=True)

    def undo_label(self, data: str, annotator: str, key: str) -> Any:
        """Take the person's last label back; the row, or None if there is nothing to take back."""
        last = self._list_given(data, annotator)
        if not last or self._fetch("SELECT 1 FROM label_event WHERE key = ?", key):
            return None
        row = last[0]["row"]
        with self._write():
            event = LabelEvent(row, None, annotator, None, TAKEN_BACK, key)
            self.memory(data).add_labels([event])
            self._claim(data, row, annotator)
        return row

    def adjudicate(self, data: str, annotator: str, row: Any, label: Hashable, key: str) -> None:
        place = (data, json.dumps(row))
        ((classes,),) = self._fetch(
            "SELECT count(DISTINCT label) FROM given WHERE (data, row) = (?, ?)", *place
        )
        if classes < 2:
            raise InputError(f"people do not differ about row {row!r}", hint="load the page again")
        chances = self._fetch(
            "SELECT probability FROM label_event WHERE (data, row) = (?, ?)"
            " AND probability IS NOT NULL ORDER BY id LIMIT 1",
            *place,
        )
        chance = chances[0][0] if chances else None
        self.memory(data).add_labels([LabelEvent(row, label, annotator, chance, ADJUDICATED, key)])

    def _claim(self, data: str, row: Any, annotator: str, *, skipped: bool = False) -> None:
        """Note that somebody is looking at the row, or put it off."""
        self._execute(
            "INSERT INTO claim (data, row, annotator, at, skipped) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET at = excluded.at, skipped = max(skipped, excluded.skipped)",
            *(data, json.dumps(row), annotator, utc_now(), int(skipped)),
        )

    # rows to label

    def add_suggestions(self, data: str, rows: Iterable[StoredSuggestion]) -> None:
        """Add the rows of a round without those that got a label while they were drawn.

        A row that is there stays as it is.
        """
        seen = "SELECT 1 FROM labeled_row WHERE (data, row) = (?, ?)"
        with self._write():
            rows = [row for row in rows if not self._fetch(seen, data, json.dumps(row.row))]
            sharing, assigned = self._read_sharing(data), self.list_assigned(_find_file(data))
            every, people = sharing["double_every"], sharing["people"]
            self._insert(
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
            self._execute(  # a new round takes the place of what is left of the one before
                "UPDATE suggestion SET needs = 0 WHERE data = :data AND needs > 0 AND given_by = ''"
                " AND round < (SELECT max(round) FROM suggestion WHERE data = :data) AND NOT EXISTS"
                " (SELECT 1 FROM claim WHERE claim.data = :data AND claim.row = suggestion.row"
                " AND NOT skipped)",
                data=data,
            )
            for row in rows:
                self._update_needs(data, json.dumps(row.row))

    def _read_sharing(self, data: str) -> dict[str, int]:
        """How the owner wants rows of the data to be labeled by several people."""
        found = self._read(f"SELECT {', '.join(SHARING)} FROM file WHERE id = ?", _find_file(data))
        return found[0] if found else SHARING

    def list_assigned(self, file: int) -> list[tuple[str, float, str]]:
        """(person, share, group) of those to whom rows of a file are assigned.

        A person without a group labels that share of all rows that are in nobody's group.
        """
        query = "SELECT annotator, share, [group] FROM person WHERE file = ? AND share > 0"
        return self._fetch(f"{query} ORDER BY annotator", file)

    def count_waiting(self, data: str, annotator: str) -> int:
        ((left,),) = self._fetch(f"SELECT count(*) {WAITING}", **self._ask_for(data, annotator))
        return int(left)

    def _ask_for(self, data: str, annotator: str) -> dict[str, Any]:
        since = (datetime.now(UTC) - CLAIM_LIFETIME).isoformat(timespec="microseconds")
        people = [name[3:] for name in self.read_totals(data) if name.startswith("by ")]
        givers = json.dumps(["", *(who for who in people if who != annotator)])
        return {"data": data, "me": annotator, "since": since, "givers": givers}

    def gives_rows_to(self, data: str, annotator: str, round: int) -> bool:
        """Whether a round had rows for a person."""
        query = "SELECT 1 FROM suggestion WHERE data = ? AND round = ? AND assigned IN ('', ?)"
        return bool(self._fetch(f"{query} LIMIT 1", data, round, annotator))

    def next_row(self, data: str, annotator: str) -> LabelView:
        """The next row for a person, kept from others while they look at it."""
        with self._write():
            found = self._load(StoredSuggestion, NEXT, **self._ask_for(data, annotator))
            if found:
                self._claim(data, found[0].row, annotator)
        return self._make_view(data, annotator, found)

    def previous_row(self, data: str, annotator: str, row: Any) -> LabelView:
        """The row that the person labeled before ``row`` (None: the last one), to see or change."""
        found = self._list_given(data, annotator, row)
        return self._view_given(data, annotator, found) or self.next_row(data, annotator)

    def find_row(self, data: str, annotator: str, row: Any) -> LabelView | None:
        """A row that the person has labeled, to see or change; None where they have not."""
        query = "SELECT row, label FROM given WHERE (data, annotator, row) = (?, ?, ?)"
        found = self._read(query, data, annotator, json.dumps(row))
        return self._view_given(data, annotator, found)

    def _view_given(
        self, data: str, annotator: str, found: Sequence[Mapping[str, Any]]
    ) -> LabelView | None:
        if not found:
            return None
        row, label = found[0]["row"], found[0]["label"]
        shown = self._list_suggestions(data, row)
        return self._make_view(data, annotator, shown, UNSURE if label is None else label)

    def list_mine(
        self, data: str, annotator: str, search: str = "", label: str = "", skip: int = 0
    ) -> list[dict[str, Any]]:
        """A page of a person's labels, the newest first: row, label, when, note and cells.

        ``search`` is in the name of the row, its cells or the note; ``label`` is a class as JSON,
        "null" for unsure, or "noted" for rows with a note. ``place`` is the row as JSON.
        """
        return self._read(
            "SELECT g.row AS place, g.row, g.label, e.given_at, coalesce(n.text, '') AS note,"
            " coalesce(s.cells, '[]') AS cells"
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

    def _make_view(
        self,
        data: str,
        annotator: str,
        shown: Sequence[StoredSuggestion],
        given: Hashable | None = None,
    ) -> LabelView:
        totals, left = self.read_totals(data), self.count_waiting(data, annotator)
        mine, settled, conflicts = (
            totals.get(name, 0) for name in (f"by {annotator}", "settled", "conflicts")
        )
        row = shown[0] if shown else None
        if row is None:
            return LabelView(None, given, mine, settled, conflicts, left)
        note = self._read_notes(data, json.dumps(row.row)).get(annotator, "")
        shows = self._read_sharing(data)["proposed"]
        proposal = self._find_proposal(data, row.row) if shows else None
        return LabelView(row, given, mine, settled, conflicts, left, note, proposal)

    def list_proposals(self, data: str) -> dict[Any, Any]:
        """Row -> the class that a file proposes."""
        found = self._read("SELECT row, proposal FROM proposal WHERE data = ?", data)
        return {each["row"]: each["proposal"] for each in found}

    def _find_proposal(self, data: str, row: Any) -> Any:
        query = "SELECT proposal FROM proposal WHERE data = ? AND row = ?"
        return next((each["proposal"] for each in self._read(query, data, json.dumps(row))), None)

    def _read_notes(self, data: str, row: str) -> dict[str, str]:
        query = "SELECT annotator, text FROM note WHERE data = ? AND row = ?"
        return dict(self._fetch(query, data, row))

    def _list_given(self, data: str, annotator: str, before: Any = None) -> list[dict[str, Any]]:
        """Row and label of the newest label of a person, or of the one before that of a row."""
        return self._read(
            "SELECT row, label FROM given WHERE data = :data AND annotator = :me AND event <"
            " coalesce((SELECT event FROM given WHERE (data, row, annotator) = (:data, :row, :me)),"
            " 9e18) ORDER BY event DESC LIMIT 1",
            **{"data": data, "me": annotator, "row": json.dumps(before)},
        )

    def _list_suggestions(self, data: str, row: Any) -> list[StoredSuggestion]:
        rest = "FROM suggestion WHERE data = ? AND row = ? ORDER BY round DESC LIMIT 1"
        return self._load(StoredSuggestion, rest, data, json.dumps(row))

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
        rows = self._read("SELECT row, cells FROM suggestion WHERE data = ?", data)
        return {each["row"]: each["cells"] for each in rows}

    # what follows from the labels

    def read_totals(self, data: str) -> dict[str, int]:
        """Numbers of rows: with any event, settled, in conflict, and labeled by each person."""
        return dict(self._fetch("SELECT name, number FROM total WHERE data = ?", data))

    def list_classes(self) -> list[Any]:
        query = "SELECT DISTINCT label FROM label_event WHERE data = ? AND label IS NOT NULL"
        return sorted((each["label"] for each in self._read(query, self.data)), key=repr)

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
        """(row, label, probability, round, proposed) of all rows whose label counts.

        Of the n rows of a round, shown in random order, m have a label that counts: a row that was
        drawn with probability p has one with probability p m / n. Where rows are assigned to
        people, n and m are those of the person. Rows of other rounds that were drawn at random have
        no probability: they count equally. ``proposed`` says that somebody who labeled the row saw
        what a file proposes, then or before.
        """
        rows = self._read(
            "SELECT r.row, r.label, s.round AS drawn, s.probability, s.reason, s.assigned, EXISTS"
            "  (SELECT 1 FROM given AS g JOIN label_event AS e USING (data, row, annotator)"
            "   WHERE g.data = r.data AND g.row = r.row AND e.proposal IS NOT NULL) AS proposed"
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
        counts = Counter((each["drawn"], each["assigned"]) for each in rows)
        for each in rows:
            each["drawn"], each["proposed"] = each["drawn"] or 0, bool(each["proposed"])
            if each["probability"] is not None:
                key = (each["drawn"], each["assigned"])
                is_equal = each["reason"].startswith(AT_RANDOM) and each["drawn"] not in divided
                chance = each["probability"] * counts[key] / sizes[key]
                each["probability"] = None if is_equal else chance
        columns = ("row", "label", "probability", "drawn", "proposed")
        found = [[each[name] for name in columns] for each in rows]
        return sorted(found, key=repr)

    def list_people(self, data_names: Collection[str]) -> dict[str, dict[str, Any]]:
        """Person -> numbers of labels and of unsure rows, the last time, median seconds a label."""
        names = json.dumps(data_names)
        people = {
            each.pop("annotator"): {**each, "seconds": None}
            for each in self._read(
                "SELECT e.annotator, max(given_at) AS last, (SELECT count(label) FROM given AS g"
                f"  WHERE {OF_NAMES} AND g.annotator = e.annotator) AS labels, (SELECT count(*) -"
                f"  count(label) FROM given AS g WHERE {OF_NAMES} AND g.annotator = e.annotator)"
                f" AS unsure FROM label_event AS e WHERE {OF_NAMES} GROUP BY 1 ORDER BY min(id)",
                names=names,
            )
        }
        pauses: dict[str, list[float]] = {}
        for who, pause in self._fetch(
            "SELECT annotator, pause FROM (SELECT annotator, 86400 * (julianday(given_at) -"
            "  julianday(lag(given_at) OVER (PARTITION BY annotator ORDER BY id))) AS pause"
            f"  FROM label_event WHERE {OF_NAMES}) WHERE pause < :most",
            **{"names": names, "most": LONGEST_PAUSE},
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
        query = "SELECT row AS place, row FROM labeled_row WHERE data = ? AND in_conflict"
        people = "SELECT annotator, label FROM given WHERE data = ? AND row = ? ORDER BY event"
        found = self._read(query, data)
        for each in found:
            given = self._read(people, data, each["place"])
            shown = self._list_suggestions(data, each["row"])
            each["given"] = {one["annotator"]: one["label"] for one in given}
            each["cells"] = shown[0].cells if shown else ()
            each["notes"] = self._read_notes(data, each["place"])
        return found

    def list_all_labels(self, data_names: Collection[str]) -> list[dict[str, Any]]:
        """Every label event, the oldest first, and whether its label ``counts`` now."""
        rows = self._read(
            "SELECT e.row, e.label, e.annotator, e.given_at, e.probability, e.reason,"
            " r.label = e.label AND (e.reason = :verdict OR EXISTS (SELECT 1 FROM given AS g"
            "  WHERE (g.data, g.row, g.annotator) = (e.data, e.row, e.annotator))) AS counts,"
            " coalesce(n.text, '') AS note, e.proposal"
            " FROM label_event AS e LEFT JOIN note AS n USING (data, row, annotator)"
            " JOIN labeled_row AS r ON r.data = e.data AND r.row = e.row"
            f" WHERE e.{OF_NAMES} ORDER BY e.data, e.id",
            **{"verdict": ADJUDICATED, "names": json.dumps(data_names)},
        )
        return [{"id": each.pop("row"), **each, "counts": bool(each["counts"])} for each in rows]

    # keeping the derived tables up to date

    def _catch_up(self) -> None:
        """Bring the derived tables up to date, also with events that another program added."""
        query = "SELECT coalesce(max(number), 0) FROM total WHERE (data, name) = ('', 'seen')"
        ((seen,),) = self._fetch(query)
        columns = "data, row, label, annotator, reason"
        events = self._fetch(
            f"SELECT id, {columns} FROM label_event WHERE id > ? ORDER BY id", seen
        )
        for event in events:
            self._note_event(*event)
        if events:
            self._count("", "seen", events[-1][0] - seen)

    def _note_event(
        self, number: int, data: str, row: str, label: str | None, annotator: str, reason: str
    ) -> None:
        """Update what was given to the row, which of its labels counts, and the totals."""
        place, verdict = (data, row, annotator), None
        own = "FROM given WHERE (data, row, annotator) = (?, ?, ?)"
        ((before,),) = self._fetch(f"SELECT count(*) {own}", *place)
        if reason == ADJUDICATED:
            verdict = label
        elif label is None and reason == TAKEN_BACK:
            self._execute(f"DELETE {own}", *place)
        else:
            self._execute(
                "INSERT INTO given (data, row, annotator, label, event) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET label = excluded.label, event = excluded.event",
                *(*place, label, number),
            )
            self._execute("DELETE FROM claim WHERE (data, row, annotator) = (?, ?, ?)", *place)
        ((now,),) = self._fetch(f"SELECT count(*) {own}", *place)
        self._count(data, f"by {annotator}", now - before)
        self._settle(data, row, verdict)

    def settle_again(self, data: str) -> None:
        """Look again at rows on which people differ, with what the owner now says of them."""
        query = "SELECT row FROM labeled_row WHERE data = ? AND in_conflict"
        with self._write():
            for (row,) in self._fetch(query, data):
                self._settle(data, row)

    def _settle(self, data: str, row: str, verdict: str | None = None) -> None:
        """Update which label of a row counts and how many people it needs, and the totals."""
        query = "SELECT label, verdict, in_conflict FROM labeled_row WHERE data = ? AND row = ?"
        before = self._fetch(query, data, row)
        ((settled, known, in_conflict),) = before or [(None, None, 0)]
        verdict = verdict or known
        classes = self._fetch(
            "SELECT label, count(*) FROM given WHERE data = ? AND row = ? AND label IS NOT NULL"
            " GROUP BY label ORDER BY count(*) DESC",
            *(data, row),
        )
        n, third = sum(count for _, count in classes), self._read_sharing(data)["third"]
        agreed = len(classes) == 1 or (third and n > 2 and 2 * classes[0][1] > n)
        counts = verdict or (classes[0][0] if agreed else None)
        differ = int(verdict is None and len(classes) > 1 and not agreed)
        self._execute(
            "INSERT OR REPLACE INTO labeled_row (data, row, label, verdict, in_conflict)"
            " VALUES (?, ?, ?, ?, ?)",
            *(data, row, counts, verdict, differ),
        )
        self._count(data, "rows", int(not before))
        self._count(data, "settled", (counts is not None) - (settled is not None))
        self._count(data, "conflicts", differ - in_conflict)
        self._update_needs(data, row, int(third and differ))

    def _update_needs(self, data: str, row: str, more: int = 0) -> None:
        """Note in the newest suggestion of a row how many people it still needs."""
        people = self._fetch("SELECT annotator FROM given WHERE data = ? AND row = ?", data, row)
        self._execute(
            "UPDATE suggestion SET given_by = :by, needs ="
            " iif(round < (SELECT max(round) FROM suggestion WHERE data = :data AND row = :row), 0,"
            "  max(0, people + :more - :n)) WHERE data = :data AND row = :row",
            **{"by": people[0][0] if people else "", "n": len(people), "more": more},
            **{"data": data, "row": row},
        )

    def _count(self, data: str, name: str, change: int) -> None:
        if change:
            self._execute(
                "INSERT INTO total (data, name, number) VALUES (?, ?, ?)"
                " ON CONFLICT DO UPDATE SET number = number + excluded.number",
                *(data, name, change),
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
