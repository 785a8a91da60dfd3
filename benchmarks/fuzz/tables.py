"""What fuzzers share: arguments, a time limit, damaged files, counts and where they are written."""

from __future__ import annotations

import argparse
import csv
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.mutations import mutate
from benchmarks.provenance import record
from ssme.errors import InputError

RESULTS = Path(__file__).resolve().parents[1] / "results"
CHUNK = 1_000
"""Cases that one worker does in one go, with a seed of their own."""
SECONDS = 60
"""Time after which a case counts as hanging."""
GOOD = ("refused", "read", "read_changed")
"""Outcomes that may be."""


class Hang(Exception):
    """A case took too long."""


@contextmanager
def limit_time(seconds: int = SECONDS) -> Iterator[None]:
    """Raise `Hang` in what takes longer."""

    def stop(*_: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Outcomes:
    """How often each kind of change ended how; ``failures`` are unexpected exceptions.

    A file without checksums may be read although it was changed: ``read_changed`` counts these.
    """

    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    columns: tuple[str, ...] = ("refused", "read", "not_named", "wrong_number", "uncaught")

    def count_bad(self) -> int:
        """Cases that should not be."""
        return sum(n for (_, outcome), n in self.counts.items() if outcome not in GOOD)

    def list_rows(self) -> list[dict[str, object]]:
        """One row per kind of change."""
        changes = sorted({change for change, _ in self.counts})
        return [
            {"change": change, **{name: self.counts[change, name] for name in self.columns}}
            for change in changes
        ]


def try_damaged(
    path: Path,
    is_as_written: Callable[[Path], bool],
    cases: int,
    rng: np.random.Generator,
    columns: tuple[str, ...] = Outcomes.columns,
) -> Outcomes:
    """Change the sound file ``path``, alone in its folder, ``cases`` times, and read each one."""
    outcomes, sound = Outcomes(columns=columns), path.read_bytes()
    for _ in range(cases):
        change, content = mutate(sound, rng)
        for each in path.parent.iterdir():
            each.unlink()
        path.write_bytes(content)
        try:
            with limit_time():
                different = "read_changed" if "read_changed" in columns else "wrong_number"
                outcome = "read" if is_as_written(path) else different
        except InputError as error:
            outcome = "refused" if path.name in str(error) else "not_named"
        except Hang:
            outcome = "hang"
        except Exception as error:
            outcome = "uncaught"
            failure = f"{change}: {type(error).__name__}: {error}: {content[:200]!r}"
            outcomes.failures.append(failure)
        outcomes.counts[change, outcome] += 1
    return outcomes


def make_parser(doc: str | None, cases: int = 10_000) -> argparse.ArgumentParser:
    """The arguments of a fuzzer."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--cases", type=int, default=cases, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    return parser


def split_cases(cases: int, size: int = CHUNK) -> list[tuple[int, int]]:
    """The first case of each chunk, and how many it has."""
    return [(first, min(size, cases - first)) for first in range(0, cases, size)]


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
    arguments = make_parser(doc).parse_args()
    chunks = split_cases(arguments.cases)
    tasks = [(size, [arguments.seed, number]) for number, (_, size) in enumerate(chunks)]
    outcomes, *others = spread(attack, tasks, arguments.workers)
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
