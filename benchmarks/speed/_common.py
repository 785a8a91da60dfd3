"""What measurements of speed share: the clock, processes of their own, and the result file."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.experiment import RESULTS, write_table


def measure_seconds(
    work: Callable[[], object],
    turns: int = 1,
    *,
    choose: Callable[[list[float]], Any] = min,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """CPU seconds of ``work``: of its fastest turn, as other processes can only add time."""
    taken = []
    for _ in range(turns):
        start = clock()
        work()
        taken.append(clock() - start)
    return float(choose(taken))


def measure_peak() -> float:
    """Peak resident bytes of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def run_alone(module: str, *arguments: object) -> Any:
    """What a module prints last, as JSON, in a process of its own: its memory is its own."""
    command = [sys.executable, "-m", f"benchmarks.speed.{module}", *map(str, arguments)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])


def write_rows(
    name: str, head: Iterable[str], rows: Iterable[Iterable[object]], *, folder: Path = RESULTS
) -> None:
    """Write a result and the line on how it was made."""
    table = pd.DataFrame([*map(tuple, rows)], columns=[*head], dtype=object)
    write_table(folder / f"{name}.csv", table)
