"""How long a click on the page "Label" takes when many rows are labeled already.

    python -m benchmarks.serve.clicks [--labels 0 1000 10000 100000] [--clicks 100]

One line per number of labels that Ada has given before, of a fifth of which a second person is to
label the row, too, and per person who now labels: Ada, or Bob, who has just come. Wall and
processor time of the server for a click, in milliseconds. Batches are large, so that no evaluation
runs meanwhile. ``listed_ms`` is how long a job takes to read all labels, which no click waits for.
Writes ``benchmarks/results/serve_clicks.csv``.
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.experiment import read_arguments, write_measured
from benchmarks.serve.running import Person, Running, find_row
from ssme.memory import LabelEvent
from ssme.serve.labels import StoredSuggestion
from ssme.serve.settings import ServeSettings
from ssme.serve.store import Store

ROUND = 30
"""Rows of a round, of which a person labels the first 10 before the next one is drawn."""


def write_texts(path: Path, rows: int, characters: int) -> None:
    """Write a CSV file of two models and a long text per row; no row has a label."""
    rng = np.random.default_rng(0)
    scores = rng.uniform(size=(rows, 2)).round(4)
    text = ("All that was said of it. " * (characters // 25 + 1))[:characters]
    frame = pd.DataFrame({"id": [f"row-{i}" for i in range(rows)], "text": text})
    frame.assign(good=scores[:, 0], bad=scores[:, 1]).to_csv(path, index=False)


def fill(project: Path, labels: int, characters: int) -> None:
    """Store rounds of rows, and so many labels of Ada."""
    text = ("All that was said of it. " * (characters // 25 + 1))[:characters]
    with Store(ServeSettings(project)) as store, store._write():
        for first in range(0, labels, 10):
            number = first // 10 + 1
            rows = [
                StoredSuggestion(
                    f"row-{first + place}", number, place, (("text", "text", text),), 0.1, "why"
                )
                for place in range(ROUND)
            ]
            store.add_suggestions("file 1", rows)
            store.memory("file 1").add_labels(
                LabelEvent(each.row, each.place % 2, "Ada", 0.1, "why") for each in rows[:10]
            )


def measure_cpu(process: int) -> float:
    """Milliseconds that the server itself has worked, without its jobs."""
    facts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return 1000 * sum(map(int, facts[11:13])) / os.sysconf("SC_CLK_TCK")


def click(person: Person, clicks: int, process: int) -> dict[str, float]:
    """Milliseconds of clicks of a person, and of the server's processor for each."""
    card = person.wait_for("/files/1/label", 'name="label"')
    while int(re.search(r"(\d+)(?: or more)? chosen", card)[1]) < clicks:  # type: ignore[index]
        time.sleep(0.5)
        card = person.get("/files/1/label")
    took, before = [], measure_cpu(process)
    for number in range(clicks):
        key, began = f"{person.csrf}-{number}", time.perf_counter()
        found = person.post("/files/1/label", key=key, row=find_row(card), label="1")
        took.append(1000 * (time.perf_counter() - began))
        card = found["card"]
    return {
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(sorted(took)[int(0.95 * len(took))], 1),
        "cpu_ms": round((measure_cpu(process) - before) / clicks, 1),
    }


def measure(labels: int, clicks: int, characters: int) -> list[dict[str, Any]]:
    """Milliseconds of clicks after so many labels."""
    with tempfile.TemporaryDirectory() as folder:
        root, project = Path(folder) / "root", Path(folder) / "project"
        root.mkdir()
        write_texts(root / "texts.csv", labels + 20 * clicks + 100, characters)
        options = ("--root", str(root), "--batch", "1000000")
        with Running(project, *options) as server:
            person = Person(server)
            person.post("/open", path="texts.csv")
            person.wait_for("/files/1", "press “Use this”")
            person.post("/files/1/mapping", **{"part-0": "id", "classes": "0, 1"})
            person.wait_for("/files/1", "Models</h2>")
            server.stop()
        fill(project, labels, characters)
        with Running(project, *options) as server:
            person = Person(server)
            person.post("/me", name="Ada")
            person.post("/files/1/names", plain="1")
            person.post("/files/1/labeling", design="random", double_every="5")  # large rounds
            process, bob = server.process.pid, person.invite("Bob")
            lines = [
                {"labels": labels, "person": who, "clicks": clicks, **click(each, clicks, process)}
                for who, each in (("Ada", person), ("Bob", bob))
            ]
            server.stop()
        with Store(ServeSettings(project)) as store:
            began = time.perf_counter()
            store.list_settled_labels("file 1")
            listed = round(1000 * (time.perf_counter() - began), 1)
    return [{**line, "listed_ms": listed} for line in lines]


def main() -> None:
    """Run and write the table."""
    args = read_arguments(__doc__, labels=[0, 1_000, 10_000, 100_000], clicks=100, characters=500)
    load, began = round(os.getloadavg()[0], 2), time.perf_counter()
    lines = []
    for labels in args.labels:
        lines += measure(labels, args.clicks, args.characters)
        print(*lines[-2:], sep="\n", flush=True)
    table = pd.DataFrame(lines).assign(cores=os.cpu_count(), load=load)
    write_measured("serve_clicks", table, began)


if __name__ == "__main__":
    main()
