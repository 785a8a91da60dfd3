"""Streaming 20 million rows x 5 models of generated Parquet against merely reading them.

    python -m benchmarks.speed.streaming [--rows 20000000] [--part-that-fits 1000000]
        [--executors threads:2 dask:1 dask:2] [--compression snappy] [--turns 5]
        [--out benchmarks/results]

Writes the files to a temporary folder and deletes them. Prints and writes streaming_*.csv: seconds
to read every column with pyarrow (one pass over all row groups, its own threads), seconds of
`evaluate_parquet` by `auto` (four metrics with intervals) and their ratio, peak resident memory,
and how far estimates on the part that fits are from the evaluation in memory. Each figure comes
from a process of its own, so that memory is counted apart. Reading and the first executor are timed
in turns, and the fastest turn of each counts, the one that other work on the machine disturbed
least. CPU seconds stand beside wall seconds for the same reason.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.experiment import RESULTS
from benchmarks.speed import _common
from benchmarks.speed._common import measure_peak, write_rows

run_alone = partial(_common.run_alone, "streaming", "--child")
N_MODELS, N_LABELED = 5, 200
FILE_ROWS, GROUP_ROWS = 2_500_000, 250_000


def write(folder: Path, n_rows: int, compression: str) -> float:
    """Score files with ids, a group and a label column; their size in bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    labeled = np.sort(rng.choice(n_rows, N_LABELED, replace=False))
    for first in range(0, n_rows, FILE_ROWS):
        n = min(FILE_ROWS, n_rows - first)
        y = (rng.random(n) < 0.3).astype(int)
        spread = np.linspace(0.8, 1.6, N_MODELS)
        logits = (2 * y[:, None] - 1) * 1.2 + 0.8 * rng.normal(size=(n, 1))
        logits = logits + rng.normal(size=(n, N_MODELS)) * spread
        label = np.full(n, np.nan)
        here = labeled[(labeled >= first) & (labeled < first + n)] - first
        label[here] = y[here]
        columns = {"id": np.arange(first, first + n)}
        columns |= {f"m{j}": 1 / (1 + np.exp(-logits[:, j])) for j in range(N_MODELS)}
        columns["label"] = pa.array(label, from_pandas=True)
        pq.write_table(
            pa.table(columns),
            folder / f"part{first // FILE_ROWS:03d}.parquet",
            row_group_size=GROUP_ROWS,
            compression=compression,
        )
    return sum(file.stat().st_size for file in folder.glob("*.parquet"))


def read(folder: Path) -> dict[str, float]:
    """Seconds to read all files once, row group by row group, on pyarrow's own threads."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    start, cpu = time.perf_counter(), time.process_time()
    for file in sorted(folder.glob("*.parquet")):
        opened = pq.ParquetFile(file)
        for group in range(opened.num_row_groups):
            opened.read_row_group(group)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "threads": pa.cpu_count(),
    }


def stream(folder: Path, executor: str, workers: int | None) -> dict[str, object]:
    from ssme.stream import evaluate_parquet

    start, cpu = time.perf_counter(), time.process_time()
    result = evaluate_parquet(folder, executor=executor, workers=workers)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peak_bytes": measure_peak(),
        "estimates": [row["estimate"] for row in result.rows()],
        "bounds": result.settings["stream"]["error_bounds"]["all"],
    }


def evaluate_in_memory(folder: Path) -> dict[str, object]:
    import pyarrow.parquet as pq

    import ssme

    start = time.perf_counter()
    result = ssme.evaluate(pq.read_table(folder))
    rows = list(result.rows())
    return {
        "seconds": time.perf_counter() - start,
        "peak_bytes": measure_peak(),
        "estimates": [row["estimate"] for row in rows],
        "metrics": [row["metric"] for row in rows],
        "widths": [row["high"] - row["low"] for row in rows],
    }


def run_child(arguments: list[str]) -> None:
    what, folder, *more = arguments
    if what == "read":
        print(json.dumps(read(Path(folder))))
    elif what == "memory":
        print(json.dumps(evaluate_in_memory(Path(folder))))
    else:
        workers = int(more[1]) if len(more) > 1 else None
        print(json.dumps(stream(Path(folder), more[0], workers)))


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        run_child(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--part-that-fits", type=int, default=1_000_000)
    parser.add_argument("--executors", nargs="+", default=["threads:2", "dask:1", "dask:2"])
    parser.add_argument("--compression", default="snappy", choices=["snappy", "zstd", "none"])
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    found: list[tuple[str, float]] = []

    def tell(name: str, value: float) -> None:
        found.append((name, value))
        print(f"{name}: {value:.6g}", flush=True)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "all"
        folder.mkdir()
        tell("rows", arguments.rows)
        tell("file_bytes", write(folder, arguments.rows, arguments.compression))
        run_alone("read", folder)
        first, *others = arguments.executors
        turns = [
            (
                run_alone("read", folder),
                run_alone("stream", folder, *first.split(":")),
            )
            for _ in range(arguments.turns)
        ]
        reading = min(float(read["seconds"]) for read, _ in turns)
        reading_cpu = min(float(read["cpu"]) for read, _ in turns)
        tell("turns", arguments.turns)
        tell("read_threads", float(turns[0][0]["threads"]))
        tell("read_s", reading)
        tell("read_cpu_s", reading_cpu)
        fastest = min((run for _, run in turns), key=lambda run: float(run["seconds"]))
        runs = [(first, fastest)]
        runs += [
            (executor, run_alone("stream", folder, *executor.split(":"))) for executor in others
        ]
        answers = []
        for executor, streamed in runs:
            seconds = float(streamed["seconds"])
            tell(f"{executor}_s", seconds)
            tell(f"{executor}_ratio_to_reading", seconds / reading)
            if executor.startswith("threads"):
                tell(f"{executor}_cpu_s", float(streamed["cpu"]))
                tell(f"{executor}_cpu_ratio", float(streamed["cpu"]) / reading_cpu)
            tell(f"{executor}_peak_bytes", float(streamed["peak_bytes"]))
            answers.append(np.array(streamed["estimates"]))
            tell(f"{executor}_difference_from_first", float(np.abs(answers[-1] - answers[0]).max()))
        for metric, bound in streamed["bounds"].items():
            tell(f"bound_{metric}", bound)
        part = Path(temporary) / "part"
        part.mkdir()
        write(part, arguments.part_that_fits, arguments.compression)
        inside, streamed = (
            run_alone("memory", part),
            run_alone("stream", part, "threads"),
        )
        gap = np.abs(np.array(inside["estimates"]) - np.array(streamed["estimates"]))
        tell("part_rows", arguments.part_that_fits)
        for metric in dict.fromkeys(inside["metrics"]):
            mine = np.array(inside["metrics"]) == metric
            tell(f"part_max_difference_{metric}", float(gap[mine].max()))
            tell(
                f"part_mean_interval_width_{metric}", float(np.array(inside["widths"])[mine].mean())
            )
    name = f"streaming_{arguments.compression}"
    write_rows(name, ["figure", "value"], found, folder=arguments.out)


if __name__ == "__main__":
    main()
