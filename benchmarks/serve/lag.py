"""How far estimates, stop rule and plan are behind the labels of a person.

    python -m benchmarks.serve.lag [--rows 10000 100000] [--batches 3]

A person labels ten rows of a made file of so many rows and five models, waits for the estimates
with these labels, which also say whether one may stop, then for the number of labels that are still
needed. Seconds after the tenth label, one line per batch.
Writes ``benchmarks/results/serve_lag.csv``.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.experiment import read_arguments, write_measured
from benchmarks.serve.made import write_scores
from benchmarks.serve.running import Person, Running, find_row

BATCH = 10


def measure(rows: int, batches: int) -> list[dict[str, Any]]:
    """Seconds after each batch."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        write_scores(root / "made.parquet", rows)
        with Running(Path(folder) / "project", "--root", str(root)) as server:
            person = Person(server)
            person.post("/open", path="made.parquet")
            person.wait_for("/files/1", "Models</h2>")
            person.post("/me", name="Ada")
            person.post("/files/1/names", plain="1")
            for batch in range(batches):
                for number in range(BATCH):
                    card = person.wait_for("/files/1/label", 'name="label"')
                    key = f"{batch}-{number}"
                    answer = person.post(
                        "/files/1/label", key=key, row=find_row(card), label=str(number % 2)
                    )
                began, job = time.monotonic(), answer["job"]
                person.wait_for(f"/jobs/{job}/state", '"state":"done"')
                estimated = time.monotonic() - began
                while "job" in json.loads(person.get("/files/1/plan")):
                    time.sleep(0.1)
                planned = time.monotonic() - began
                lines.append(
                    {
                        "rows": rows,
                        "labels": BATCH * (batch + 1),
                        "estimated_s": round(estimated, 2),
                        "planned_s": round(planned, 2),
                    }
                )
                print(lines[-1], flush=True)
            server.stop()
    return lines


def main() -> None:
    """Run and write the table."""
    args = read_arguments(__doc__, rows=[10_000, 100_000], batches=3)
    load, began = round(os.getloadavg()[0], 2), time.perf_counter()
    lines = [line for rows in args.rows for line in measure(rows, args.batches)]
    table = pd.DataFrame(lines).assign(cores=os.cpu_count(), load=load)
    write_measured("serve_lag", table, began)


if __name__ == "__main__":
    main()
