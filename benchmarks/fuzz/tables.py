"""What a fuzzer counts, and where it writes it."""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.provenance import record

__all__ = ["CHUNK", "Outcomes", "spread", "start", "write_counts"]

RESULTS = Path(__file__).resolve().parents[1] / "results"
CHUNK = 1_000
"""Cases that one worker does in one go, with a seed of their own."""
COLUMNS = ("refused", "read", "not_named", "wrong_number", "uncaught")


@dataclass
class Outcomes:
    """How often each kind of change ended how; ``failures`` are exceptions of another kind."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def count(self, change: str, outcome: str) -> None:
        self.counts[change, outcome] += 1

    def note_failure(self, change: str, error: Exception, content: bytes) -> None:
        """An exception that is none of ours, kept with the bytes that caused it."""
        self.count(change, "uncaught")
        self.failures.append(f"{change}: {type(error).__name__}: {error}: {content[:200]!r}")

    def count_bad(self) -> int:
        """Cases that should not be."""
        wrong = ("not_named", "wrong_number", "uncaught")
        return sum(n for (_, outcome), n in self.counts.items() if outcome in wrong)

    def list_rows(self) -> list[dict[str, object]]:
        """One row per kind of change."""
        changes = sorted({change for change, _ in self.counts})
        return [
            {"change": change, **{name: self.counts[change, name] for name in COLUMNS}}
            for change in changes
        ]


def spread(
    function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], workers: int
) -> list[Any]:
    """The results of ``function`` for each of the ``tasks``, whose number is not that of workers.

    A task says by itself which random numbers it uses, so that the results are the same with any
    number of workers.
    """
    if workers == 1:
        return [function(*task) for task in tasks]
    with ProcessPoolExecutor(workers) as pool:
        turns = [pool.submit(function, *task) for task in tasks]
        return [turn.result() for turn in turns]


def start(attack: Callable[[int, Any], Outcomes], name: str, doc: str | None) -> None:
    """Run a fuzzer from the command line and write its counts."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    arguments = parser.parse_args()
    sizes = [min(CHUNK, arguments.cases - at) for at in range(0, arguments.cases, CHUNK)]
    seeds = [[arguments.seed, number] for number in range(len(sizes))]
    first, *others = spread(attack, list(zip(sizes, seeds, strict=True)), arguments.workers)
    outcomes = first
    for found in others:
        outcomes.counts.update(found.counts)
        outcomes.failures += found.failures
    rows = [{**row, "seed": arguments.seed} for row in outcomes.list_rows()]
    write_counts(rows, name)
    print("\n".join(outcomes.failures[:20]))
    print(f"{arguments.cases} cases, {outcomes.count_bad()} that should not be")


def write_counts(rows: list[dict[str, Any]], name: str) -> None:
    """Write and print the rows of a result, with a line on how it was made."""
    path = RESULTS / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    record(path)
    for row in rows:
        print(row)
