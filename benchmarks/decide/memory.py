"""A memory under fire: two writers that are killed at random moments lose and double no label.

    python -m benchmarks.decide.memory --rounds 5

In every round two processes write 500 label events each into one file. Each is killed (SIGKILL)
after a random time, again and again, and started anew from the first event that it has not seen
stored; events whose fate it does not know are sent again. ``decide_memory`` counts the kills, the
events that are not in the file in the end, and those that are in it twice.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pandas as pd

from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from ssme.bench.store import describe_process
from ssme.memory import Memory

EVENTS, WRITERS = 500, ("ada", "bob")
SHORTEST, LONGEST = 0.5, 3.0
"""Seconds after which a writer is killed."""

WRITER = """
import sys
import time
from ssme.memory import LabelEvent, Memory

path, who, first, last = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with Memory(path) as memory:
    for i in range(first, last):
        memory.add_labels([LabelEvent(f"{who}-{i}", i % 2, annotator=who, key=f"{who}-{i}")])
        print(i, flush=True)
        time.sleep(0.02)
"""


def run_round(seed: int) -> dict[str, float]:
    """One round in a folder of its own."""
    rng = random.Random(seed)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "project.sqlite"
        kills, told = 0, dict.fromkeys(WRITERS, 0)
        while any(done < EVENTS for done in told.values()):
            running = {who: _start(path, who, done) for who, done in told.items() if done < EVENTS}
            for who, process in running.items():
                try:
                    process.wait(rng.uniform(SHORTEST, LONGEST))
                except subprocess.TimeoutExpired:
                    os.kill(process.pid, signal.SIGKILL)
                    kills += 1
                printed, _ = process.communicate()
                lines = [line for line in printed.split("\n")[:-1] if line]
                told[who] = int(lines[-1]) + 1 if lines else told[who]
        with Memory(path) as memory:
            stored = Counter(event.key for event in memory.label_events())
    wanted = {f"{who}-{i}" for who in WRITERS for i in range(EVENTS)}
    return {
        "round": seed,
        "events": len(wanted),
        "kills": kills,
        "lost": len(wanted - set(stored)),
        "doubled": sum(count - 1 for count in stored.values()),
        "seconds": time.perf_counter() - began,
    }


def _start(path: Path, who: str, first: int) -> subprocess.Popen[str]:
    arguments = [str(path), who, str(first), str(EVENTS)]
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments], stdout=subprocess.PIPE, text=True
    )


def main() -> None:
    """Run the rounds and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="files written (default %(default)s)")
    args = parser.parse_args()
    rows = [run_round(seed) for seed in range(args.rounds)]
    times = pd.DataFrame([{**describe_process(), "seconds": row["seconds"]} for row in rows])
    table = pd.DataFrame(rows).drop(columns="seconds")
    table.to_csv(RESULTS / "decide_memory.csv", index=False)
    record(RESULTS / "decide_memory.csv", None, times)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
