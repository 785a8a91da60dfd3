"""One pass over the parts: the fitted P(y | s) of every row, added up over all rows and by group.

`Counting` is everything that counting a part needs; it travels to the workers. `count_all` adds
the parts up in their order, keeps a checkpoint on the way, and leaves one behind when it is
interrupted.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.scoreset import ScoreSet
from ssme.engines.executors import hold_interrupts, map_in_order
from ssme.errors import InputError, SsmeWarning
from ssme.methods.base import Predictor
from ssme.methods.beliefs import clamp
from ssme.progress import tell
from ssme.stream import checkpoint as checkpoints
from ssme.stream.blocks import Block, read_block
from ssme.stream.checkpoint import Progress, RunMark
from ssme.stream.columns import Reading
from ssme.stream.files import refuse_changed
from ssme.stream.group_keys import GroupKey, GroupTable
from ssme.stream.source import Part, Source, read_table
from ssme.stream.tally import Sums, Tally

__all__ = ["Counting", "count_all"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CHUNK_ROWS = 131_072
"""Rows worked on at once: few enough for the cache, enough to keep threads out of each other's
way (between two array operations a thread holds the interpreter's lock)."""
SECONDS_BETWEEN_CHECKPOINTS = 10.0


@dataclass(frozen=True, eq=False)
class Counting:
    """What is counted: ``predictor`` gives P(y | s), ``clamps`` whether known labels replace it,
    ``classes`` the numbers of the classes, ``group_tables`` the groups counted by; weights are
    multiplied by ``weight_unit``, the same for all parts."""

    reading: Reading
    tally: Tally
    predictor: Predictor
    clamps: bool
    classes: dict[Any, int]
    group_tables: tuple[GroupTable, ...]
    weight_unit: float = 1.0

    def count(self, part: Part) -> Progress:
        """Sums over the rows of a part."""
        block = read_block(
            read_table(part, self.reading.columns.names), part, self.reading, self.group_tables
        )
        labels = np.full(part.n_rows, -1, dtype=np.int64)
        labels[block.labeled] = [self._number_class(label, part) for label in block.labels]
        total = Progress()
        for first in range(0, len(labels), CHUNK_ROWS):
            total.add(self._count_chunk(block, labels, slice(first, first + CHUNK_ROWS)))
        total.n_parts = 1
        return total

    def count_sample(self, sample: ScoreSet) -> Progress:
        """The same sums over the rows of the sample."""
        groupings = [table.group_values(sample.groups) for table in self.group_tables]
        members = (each for grouping in groupings for each in grouping.list_members())
        return self._count_rows(sample.scores, sample.labels, sample.weights, members)

    def _count_chunk(self, block: Block, labels: IntArray, rows: slice) -> Progress:
        weights = None if block.weights is None else block.weights[rows] * self.weight_unit
        members = (each for grouping in block.groups for each in grouping.list_members(rows))
        return self._count_rows(block.read_scores(rows), labels[rows], weights, members)

    def _count_rows(
        self,
        scores: FloatArray,
        labels: IntArray,
        weights: FloatArray | None,
        members: Iterator[tuple[GroupKey, IntArray]],
    ) -> Progress:
        mass = self._make_mass(scores, labels, weights)
        known = labels >= 0
        total = Progress(0, len(labels), int(known.sum()), self.tally.count(scores, mass))

        def count_by_group() -> Iterator[tuple[GroupKey, Sums, int, int]]:
            for key, inside in members:
                sums = self.tally.count(scores[inside], mass[inside])
                yield key, sums, inside.size, int(known[inside].sum())

        total.groups.add_rows(count_by_group())
        return total

    def _make_mass(
        self, scores: FloatArray, labels: IntArray, weights: FloatArray | None
    ) -> FloatArray:
        posterior = self.predictor(scores)
        if self.clamps and (labels >= 0).any():
            posterior = clamp(posterior, labels)
        return posterior if weights is None else posterior * weights[:, None]

    def _number_class(self, label: Any, part: Part) -> int:
        if label not in self.classes:
            raise InputError(
                f"label {label!r} in {part.path}, rows from {part.first_row} on",
                allowed=", ".join(map(repr, self.classes)),
            )
        return self.classes[label]


def count_all(
    pool: Executor, source: Source, counting: Counting, checkpoint: Path | None, mark: RunMark
) -> Progress:
    """The sums over all parts, from the checkpoint on where there is one.

    Raises `InputError` where a file is not at the end what it was at the beginning.
    """
    progress = Progress() if checkpoint is None else checkpoints.load(checkpoint, mark)
    n_parts, saved = len(source.parts), time.monotonic()
    try:
        for counted in map_in_order(pool, counting.count, source.parts[progress.n_parts :]):
            with hold_interrupts():
                progress.add(counted)
            tell("counting", progress.n_parts, n_parts)
            if checkpoint is not None and time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                checkpoints.save(checkpoint, progress, mark)
                saved = time.monotonic()
    except KeyboardInterrupt:
        if checkpoint is not None:
            with hold_interrupts():
                checkpoints.save(checkpoint, progress, mark)
            warnings.warn(
                f"interrupted: {progress.n_parts} of {n_parts} parts are counted and kept in "
                f"{checkpoint}; the same call goes on from there",
                SsmeWarning,
                stacklevel=3,
            )
        raise
    refuse_changed(source.files)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)
    return progress
