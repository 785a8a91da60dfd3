"""One pass over the parts: the fitted P(y | s) of every row, added up over all rows and by group.

`Counting` is everything that counting a part needs; it travels to the workers. `count_all` adds
the parts up in their order, keeps a checkpoint on the way, and leaves one behind when it is
interrupted.
"""

from __future__ import annotations

import hashlib
import io
import json
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.arrays import refuse_bad_weights, to_simplex
from ssme.data.judges import observe_answers, refuse_unanswered
from ssme.data.labels import observe
from ssme.data.readers.tables import Table, from_arrow
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.data.values import undo_widening
from ssme.errors import InputError, translate_foreign_errors, warn
from ssme.executors import hold_interrupts, map_in_order
from ssme.methods import base, beliefs
from ssme.progress import tell
from ssme.stream.files import File, refuse_changed
from ssme.stream.groups import Cells, GroupSums, GroupTable, list_members
from ssme.stream.source import Part, Reading, Source, read_table
from ssme.stream.tally import Sums, Tally, add_sums
from ssme.writing import write_bytes

# -------------------------------------------------------------------------------------------------
# The rows of one part as scores, labels, weights and groups, checked as in memory.


@dataclass(frozen=True, eq=False)
class Block:
    """The rows of a part, scores as the columns of the file.

    ``numbers`` are the columns of classifiers, ``said`` (J, n) the places of what each judge said
    among its classes or grades. ``labeled`` are the positions of labeled rows, ``labels`` theirs;
    ``groups`` has each grouping of the rows.
    """

    part: Part
    reading: Reading
    numbers: tuple[tuple[FloatArray, ...], ...]
    said: tuple[IntArray, ...]
    weights: FloatArray | None
    groups: tuple[IntArray, ...]
    labeled: IntArray
    labels: list[Hashable]

    def read_scores(self, rows: slice) -> FloatArray:
        """(r, M, K) of some rows, checked as at the front door, rows fastest in memory."""
        if not self.said:
            return self._read_probabilities(rows)
        parts = [self._read_probabilities(rows)] if self.numbers else []
        judges = self.reading.judges.values()
        judged = zip(judges, self.said, strict=True)
        parts.append(
            np.stack([judge.compute_scores(codes[rows]) for judge, codes in judged], axis=1)
        )
        joined = np.concatenate(parts, axis=1)
        try:
            refuse_unanswered(joined, first_row=self.part.first_row + (rows.start or 0))
        except InputError as error:
            raise error.at(str(self.part.path)) from None
        return joined

    def _read_probabilities(self, rows: slice) -> FloatArray:
        """The scores (r, M, K) of the classifiers, those that give probabilities."""
        one_each = all(len(of) == 1 for of in self.numbers)
        if one_each and not self.reading.options.logits:
            lines = [line[rows] for (line,) in self.numbers]
            both: FloatArray = np.empty((2, len(lines), len(lines[0])))
            np.stack(lines, out=both[1])
            np.subtract(1.0, both[1], out=both[0])
            lowest = np.minimum.reduce(both, axis=None)
            if np.isnan(lowest) and not np.isnan(both[1]).all(axis=0).any():
                lowest = np.fmin.reduce(both, axis=None)
            if lowest >= 0.0:
                return both.transpose(2, 1, 0)
        raw = np.stack([np.stack([line[rows] for line in of]) for of in self.numbers])
        given = raw[:, 0].T if one_each else raw.transpose(2, 0, 1)
        options, models = self.reading.options, tuple(self.reading.columns.scores)
        how = {"logits": options.logits, "normalize": options.normalize}
        try:
            return to_simplex(given, models, all_rows=False, **how)
        except InputError as error:
            first = self.part.first_row + (rows.start or 0)
            raise error.at(f"{self.part.path}, rows from {first} on") from None


def find_labeled_rows(table: Any, reading: Reading) -> tuple[IntArray, list[Hashable]]:
    """Positions of labeled rows and their labels; cheap where nearly all are null."""
    import pyarrow.compute as pc

    label = reading.columns.label
    if label is None:
        return np.zeros(0, dtype=np.int64), []
    column = table[label]
    valid = np.from_dlpack(pc.indices_nonzero(column.is_valid())).astype(np.int64)
    values = from_arrow(column.drop_null())
    if values.dtype.kind == "f":
        kept = ~np.isnan(values)
        valid, values = valid[kept], values[kept]
    raw = observe(values, len(values), reading.options.unlabeled)
    known = raw.codes != UNLABELED
    return valid[known], [raw.values[code] for code in raw.codes[known]]


def read_block(
    table: Any, part: Part, reading: Reading, tables: Sequence[GroupTable] = ()
) -> Block:
    """The rows of ``table`` as a block, grouped as ``tables`` say."""
    columns = reading.columns
    labeled, labels = find_labeled_rows(table, reading)
    weights = None if columns.weight is None else read_numbers(table, columns.weight)
    if weights is not None:
        refuse_bad_weights(weights, part.first_row)
    groups = tuple(each.group_arrow(table, columns.groups) for each in tables)
    numbers = tuple(
        tuple(undo_widening(read_numbers(table, name)) for name in columns.scores[model])
        for model in columns.scores
    )
    said = tuple(_read_answers(table, part, reading, name) for name in reading.judges)
    return Block(part, reading, numbers, said, weights, groups, labeled, labels)


def _read_answers(table: Any, part: Part, reading: Reading, name: str) -> IntArray:
    """Places (n,) of what a judge said, read as in memory."""
    try:
        values = Table(table.select([name])).read_values(name)
        answers = observe_answers(values, part.n_rows, name, reading.options)
        return reading.judges[name].encode(answers)
    except InputError as error:
        raise error.at(f"{part.path}, rows from {part.first_row} on") from None


def read_numbers(table: Any, name: str) -> FloatArray:
    """A column of numbers, read as in memory; without a copy where it can be."""
    import pyarrow as pa

    of = table.schema.field(name).type
    if pa.types.is_floating(of) or pa.types.is_integer(of):
        return np.asarray(from_arrow(table[name]), dtype=np.float64)
    return Table(table.select([name])).read_floats(name)


# -------------------------------------------------------------------------------------------------
# What a pass has counted so far, on disk: written whole or not at all.
#
#     ssme checkpoint 3
#     SHA-256 of what follows
#     npz: the sums over all rows and by group, and as JSON the run they belong to
#
# A run is known by its files (name, size, time of change, footer) and by the sums over its sample,
# which depend on every option that matters. Sums of another run are refused, never mixed in.


HEAD = b"ssme checkpoint 3\n"
START_OVER = "name another file, or delete this one to start over"
ALL_ROWS, PLACES, VALUES = "all", "places", "values"


@dataclass(eq=False)
class Progress:
    """Sums over the first ``n_parts`` parts, over all their rows and by group."""

    n_parts: int = 0
    n_rows: int = 0
    n_labeled: int = 0
    sums: Sums = field(default_factory=dict)
    groups: GroupSums = field(default_factory=GroupSums)

    def add(self, part: Progress) -> None:
        """Add what was counted over the next part or parts."""
        self.n_parts += part.n_parts
        self.n_rows += part.n_rows
        self.n_labeled += part.n_labeled
        self.sums = add_sums(self.sums, part.sums)
        self.groups.add(part.groups)


@dataclass(frozen=True)
class RunMark:
    """What tells one run from another: its files, and a hash of its options and fit."""

    files: tuple[tuple[str, int, int, str], ...]
    fit: str

    @classmethod
    def of(cls, files: Iterable[File], facts: Any, sample: Progress) -> RunMark:
        """``facts`` are plain; ``sample`` has the sums over the sample."""
        marks = tuple((file.path, file.size, file.modified, file.footer) for file in files)
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode())
        for name, array in _pack_arrays(sample).items():
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return cls(marks, digest.hexdigest())


def save(path: Path, progress: Progress, mark: RunMark) -> None:
    """Write ``progress`` to ``path`` in one step."""
    facts = {
        "files": mark.files,
        "fit": mark.fit,
        "n_parts": progress.n_parts,
        "n_rows": progress.n_rows,
        "n_labeled": progress.n_labeled,
        "rows": list(progress.groups.rows.items()),
        "labeled": list(progress.groups.labeled.items()),
        "shapes": {name: cells.shape for name, cells in progress.groups.cells.items()},
    }
    content = io.BytesIO()
    np.savez(content, facts=np.array(json.dumps(facts)), **_pack_arrays(progress))
    body = content.getvalue()
    write_bytes(path, HEAD + _compute_checksum(body) + b"\n" + body)


def load(path: Path, mark: RunMark) -> Progress:
    """The progress in ``path``; nothing yet where there is no such file."""
    if not path.exists():
        return Progress()
    facts, arrays = read_checkpoint(path)
    files = [tuple(file) for file in facts["files"]]
    if facts["fit"] != mark.fit or [file[0] for file in files] != [file[0] for file in mark.files]:
        problem = f"{path} is the checkpoint of another run: files, options, seed or fit differ"
        raise InputError(problem, hint=START_OVER)
    for before, now in zip(files, mark.files, strict=True):
        if before != now:
            problem = f"{now[0]} changed since the checkpoint {path} was written"
            raise InputError(problem, hint=START_OVER)
    groups = GroupSums(
        Counter(dict(facts["rows"])),
        Counter(dict(facts["labeled"])),
        {
            name: Cells(tuple(shape), arrays[f"{name}/{PLACES}"], arrays[f"{name}/{VALUES}"])
            for name, shape in facts["shapes"].items()
        },
    )
    start = f"{ALL_ROWS}/"
    sums = {name[len(start) :]: each for name, each in arrays.items() if name.startswith(start)}
    return Progress(facts["n_parts"], facts["n_rows"], facts["n_labeled"], sums, groups)


def read_checkpoint(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The facts and the arrays in the file ``path``, which has to be whole and unaltered."""
    content = path.read_bytes()
    checksum, _, body = content.removeprefix(HEAD).partition(b"\n")
    if not content.startswith(HEAD) or checksum != _compute_checksum(body):
        what = "is not whole" if HEAD.startswith(content[: len(HEAD)]) else "is not a checkpoint"
        raise InputError(f"{path} {what}, or was altered", hint=START_OVER)
    with (
        translate_foreign_errors(f"reading the checkpoint {path}", hint=START_OVER),
        np.load(io.BytesIO(body), allow_pickle=False) as file,
    ):
        facts = json.loads(str(file["facts"]))
        return facts, {name: file[name] for name in file.files if name != "facts"}


def _pack_arrays(progress: Progress) -> dict[str, Any]:
    arrays: dict[str, Any] = {f"{ALL_ROWS}/{name}": v for name, v in progress.sums.items()}
    for name, cells in progress.groups.cells.items():
        cells.settle()
        arrays |= {f"{name}/{PLACES}": cells.places, f"{name}/{VALUES}": cells.values}
    return arrays


def _compute_checksum(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


# -------------------------------------------------------------------------------------------------
# The pass.


CHUNK_ROWS = 131_072
"""Rows worked on at once: few enough for the cache, enough to keep threads out of each other's
way (between two array operations a thread keeps the interpreter's lock)."""
SECONDS_BETWEEN_CHECKPOINTS = 10.0


@dataclass(frozen=True, eq=False)
class Counting:
    """What is counted: ``predictor`` gives P(y | s), ``clamps`` whether known labels replace it,
    ``classes`` the numbers of the classes, ``group_tables`` the groups counted by; weights are
    multiplied by ``weight_unit``, the same for all parts."""

    reading: Reading
    tally: Tally
    predictor: base.Predictor
    clamps: bool
    classes: dict[Any, int]
    group_tables: tuple[GroupTable, ...]
    weight_unit: float = 1.0

    def count(self, part: Part) -> Progress:
        """Sums over the rows of a part."""
        table = read_table(part, self.reading.columns.names)
        block = read_block(table, part, self.reading, self.group_tables)
        unknown = next((label for label in block.labels if label not in self.classes), None)
        if unknown is not None:
            raise InputError(
                f"label {unknown!r} in {part.path}, rows from {part.first_row} on, is not one of "
                f"the classes {', '.join(map(repr, self.classes))}"
            )
        labels = np.full(part.n_rows, -1, dtype=np.int64)
        labels[block.labeled] = [self.classes[label] for label in block.labels]
        total = Progress(n_parts=1)
        for first in range(0, len(labels), CHUNK_ROWS):
            rows = slice(first, first + CHUNK_ROWS)
            weights = None if block.weights is None else block.weights[rows] * self.weight_unit
            groups = [codes[rows] for codes in block.groups]
            total.add(self._count_rows(block.read_scores(rows), labels[rows], weights, groups))
        return total

    def count_sample(self, sample: ScoreSet) -> Progress:
        """The same sums over the rows of the sample."""
        groups = [table.group_values(sample.groups) for table in self.group_tables]
        return self._count_rows(sample.scores, sample.labels, sample.weights, groups)

    def _count_rows(
        self,
        scores: FloatArray,
        labels: IntArray,
        weights: FloatArray | None,
        groups: Sequence[IntArray],
    ) -> Progress:
        known = labels >= 0
        mass = self.predictor(scores)
        if self.clamps and known.any():
            mass = beliefs.clamp(mass, labels)
        if weights is not None:
            mass = mass * weights[:, None]
        total = Progress(0, len(labels), int(known.sum()), self.tally.count(scores, mass))
        total.groups.add_rows(
            (
                group,
                self.tally.count(scores[inside], mass[inside]),
                inside.size,
                int(known[inside].sum()),
            )
            for codes in groups
            for group, inside in list_members(codes)
        )
        return total


def count_all(
    pool: Executor, source: Source, counting: Counting, checkpoint: Path | None, mark: RunMark
) -> Progress:
    """The sums over all parts, from the checkpoint on; files must not change meanwhile."""
    progress = Progress() if checkpoint is None else load(checkpoint, mark)
    n_parts, saved = len(source.parts), time.monotonic()
    try:
        for counted in map_in_order(pool, counting.count, source.parts[progress.n_parts :]):
            with hold_interrupts():
                progress.add(counted)
            tell("counting", progress.n_parts, n_parts)
            if checkpoint is not None and time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                save(checkpoint, progress, mark)
                saved = time.monotonic()
    except KeyboardInterrupt:
        if checkpoint is not None:
            with hold_interrupts():
                save(checkpoint, progress, mark)
            warn(
                f"interrupted: {progress.n_parts} of {n_parts} parts are counted and kept in "
                f"{checkpoint}; the same call goes on from there"
            )
        raise
    refuse_changed(source.files)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return progress
