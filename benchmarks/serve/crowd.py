"""Many people who label at once while a job runs: how long clicks take, and is any label lost?

    python -m benchmarks.serve.crowd [--people 20] [--seconds 300] [--rows 1000000]

Guests label the rows of one file, each with a second between two clicks, while a made file of
``--rows`` rows is evaluated, and the labeled one after each 50 labels. Afterwards the labels that
the project keeps are compared with those that the page has confirmed.
Writes ``benchmarks/results/serve_crowd.csv``.
"""

from __future__ import annotations

import csv
import io
import os
import random
import re
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pandas as pd

from benchmarks.experiment import read_arguments, write_measured
from benchmarks.serve.clicks import write_texts
from benchmarks.serve.load import summarize
from benchmarks.serve.made import write_scores
from benchmarks.serve.running import Person, Running, find_row

PAUSE = 1.0


def label_rows(person: Person, seed: int, until: float, found: dict[str, Any]) -> None:
    """Label the rows that a person is shown; a page without a row is loaded again."""
    rng, card, number = random.Random(seed), "", 0
    while time.monotonic() < until:
        try:
            if 'name="label"' not in card:
                card = person.get("/files/1/label")
            if 'name="label"' in card:
                key, row = f"{seed}-{number}", find_row(card)
                number += 1
                began = time.perf_counter()
                answer = person.post("/files/1/label", key=key, row=row, label=rng.choice("01"))
                found["seconds"].append(time.perf_counter() - began)
                found["given"].append((row, seed))
                card = answer["card"]
            else:
                found["waits"].append(seed)
        except (HTTPError, OSError):
            found["errors"].append(seed)
        time.sleep(PAUSE * rng.uniform(0.5, 1.5))


def measure(people: int, seconds: float, rows: int) -> dict[str, Any]:
    """One line: clicks, their times, and what became of the labels."""
    load = round(os.getloadavg()[0], 2)
    found: dict[str, Any] = {name: [] for name in ("seconds", "given", "errors", "waits")}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        write_texts(root / "texts.csv", 50_000, 500)
        write_scores(root / "made.parquet", rows)
        options = ("--root", str(root), "--batch", "50")
        with Running(Path(folder) / "project", *options) as server:
            owner = Person(server)
            owner.post("/open", path="texts.csv")
            owner.wait_for("/files/1", "press “Use this”")
            owner.post("/files/1/mapping", **{"part-0": "id", "classes": "0, 1"})
            owner.wait_for("/files/1", "Models</h2>")
            owner.post("/files/1/names", plain="1")
            owner.post("/open", path="made.parquet")
            owner.wait_for("/files/2", "Models</h2>")
            owner.post("/me", name="Owner")
            guests = [owner.invite(f"Guest {number}") for number in range(people)]
            guests[0].wait_for("/files/1/label", 'name="label"')
            owner.evaluate(2)
            until = time.monotonic() + seconds
            threads = [
                threading.Thread(target=label_rows, args=(guest, seed, until, found))
                for seed, guest in enumerate(guests)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            jobs = owner.get("/jobs")
            lines = [*csv.DictReader(io.StringIO(owner.get("/files/1/labels.csv")))]
            server.stop()
    kept = Counter((f'"{line["id"]}"', line["annotator"]) for line in lines)
    given = Counter((row, f"Guest {seed}") for row, seed in found["given"])
    return {
        "people": people,
        "seconds": seconds,
        "clicks": len(found["seconds"]),
        **{name: v for name, v in summarize(found["seconds"]).items() if name != "requests"},
        "errors": len(found["errors"]),
        "waits": len(found["waits"]),
        "lost": sum((given - kept).values()),
        "doubled": sum((kept - given).values()),
        "evaluations": len(re.findall(r"<td>evaluate</td>", jobs)),
        "cores": os.cpu_count(),
        "load": load,
    }


def main() -> None:
    """Measure and write the table."""
    args = read_arguments(__doc__, people=20, seconds=300.0, rows=1_000_000)
    began = time.perf_counter()
    table = pd.DataFrame([measure(args.people, args.seconds, args.rows)])
    write_measured("serve_crowd", table, began)


if __name__ == "__main__":
    main()
