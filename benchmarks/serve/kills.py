"""A server that is killed while labels arrive: is a label lost or doubled?

    python -m benchmarks.serve.kills [--kills 50] [--runs 3] [--seed 0]

A person labels rows through the page. The server's process is killed (SIGKILL) at a random moment
within the time that four labels take, and started again; a label that was not confirmed is sent
again with the key that the page gave it, as the page does. In the end is looked at

- lost: a label that was confirmed is not in the memory;
- doubled: a label is in it twice;
- unknown: a label is in it that nobody gave;
- unconfirmed: labels whose confirmation was cut off, of which those ``kept`` were in the memory.

Writes ``benchmarks/results/serve_kills.csv``, one line per run.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd

import ssme
from benchmarks.experiment import write_measured
from benchmarks.serve.running import Person, Running, find_row
from ssme.memory import Memory

LABELS = 4.0
"""A server is killed within the time that so many labels took the last time."""
CUT_OFF = (OSError, http.client.HTTPException, json.JSONDecodeError)


class ForkingServers:
    """Starts servers of one project at once, one after another."""

    def __init__(self, project: Path) -> None:
        paths = [str(Path(ssme.__file__).parents[1]), os.getcwd(), *filter(None, sys.path)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.serve.forking", str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )

    def start(self) -> tuple[int, int]:
        """Process and port of a new server."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        process, port = map(int, self._process.stdout.readline().split())
        return process, port

    def __enter__(self) -> ForkingServers:
        return self

    def __exit__(self, *_: Any) -> None:
        self._process.communicate()


def prepare(project: Path) -> tuple[str, str]:
    """Open the sample and have rows chosen; the cookie and the page's token of one browser."""
    with Running(project, "--batch", "1000") as server:
        person = Person(server)
        person.open_sample()
        person.post("/me", name="Ada")
        person.post("/files/1/names", plain="1")
        person.wait_for("/files/1/label", 'name="label"')
        server.stop()
    return person.cookie.split("=", 1)[1], person.csrf


def run(kills: int, seed: int) -> dict[str, int]:
    """Kill the server so many times while labels arrive, and count what became of them.

    Parameters
    ----------
    kills : int
        How many times.
    seed : int
        Of the moments.
    """
    rng = random.Random(seed)
    confirmed: set[str] = set()
    given: set[str] = set()
    unconfirmed: set[str] = set()
    number, took, row = 0, 0.05, "null"
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        cookie, csrf = prepare(project)
        with ForkingServers(project) as servers:
            for _ in range(kills):
                process, port = servers.start()
                person = Person.known(f"http://127.0.0.1:{port}", port, cookie, csrf)
                card = person.get("/files/1/label")
                moment = rng.uniform(0.0, LABELS * took)
                bomb = threading.Timer(moment, os.kill, (process, signal.SIGKILL))
                bomb.start()
                try:
                    while True:
                        # the same row again once all are labeled: a newer word on it
                        row = find_row(card) if find_row(card) != "null" else row
                        key = f"label-{number}"
                        given.add(key)
                        began = time.monotonic()
                        answer = person.post("/files/1/label", key=key, row=row, label="1")
                        card, number = answer["card"], number + 1
                        confirmed.add(key)
                        took = (took + time.monotonic() - began) / 2
                except urllib.error.HTTPError as error:
                    raise AssertionError(error.read()) from error
                except CUT_OFF:
                    unconfirmed.add(f"label-{number}")
                    took *= 1.2 if len(confirmed) <= len(unconfirmed) else 1.0  # a slower machine
                bomb.join()
        with Memory(project / "memory.sqlite", "file 1") as memory:
            kept = Counter(event.key for event in memory.label_events())
    return {
        "run": seed,
        "kills": kills,
        "labels": len(given),
        "confirmed": len(confirmed),
        "unconfirmed": len(unconfirmed),
        "kept": sum(key in kept for key in unconfirmed),
        "lost": len(confirmed - kept.keys()),
        "doubled": sum(kept.values()) - len(kept),
        "unknown": len(kept.keys() - given),
    }


def main() -> None:
    """Run and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=50, help="in each run (default %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="default %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="of the first (default %(default)s)")
    args = parser.parse_args()
    began = time.perf_counter()
    table = pd.DataFrame([run(args.kills, args.seed + i) for i in range(args.runs)])
    write_measured("serve_kills", table, began)


if __name__ == "__main__":
    main()
