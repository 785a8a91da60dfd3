"""Commands on a running Dask cluster: scheduler and worker are processes of their own, on TCP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from tests.stream.worlds import binary_table, written

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

Run = Callable[..., Result]
SOURCES = str(Path(__file__).resolve().parents[2] / "src")
FAST = ("--method", "ensemble", "--n-draws", 5, "--metrics", "accuracy,roc_auc")


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a scheduler with two workers."""
    where = {
        "cwd": tmp_path_factory.mktemp("cluster"),
        "env": {**os.environ, "PYTHONPATH": SOURCES},
    }
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    command = [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
    head = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **where)
    assert head.stderr is not None
    started = []
    try:
        address = next(
            found[0] for line in head.stderr if (found := re.search(r"tcp://[\d.]+:\d+", line))
        )
        command = [*dask, "worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
        started.append(subprocess.Popen(command, **quiet, **where))
        yield address
    finally:
        for process in [*started, head]:
            process.terminate()
            process.wait(timeout=30)
        head.stderr.close()


def test_evaluate_on_a_running_cluster(run: Run, scheduler: str, tmp_path: Path) -> None:
    files = written(binary_table(1200, 40), tmp_path, row_group=100)
    asked = ("evaluate", files, *FAST, "--sample-rows", 300, "--json", "-")
    here = run(*asked, "--engine", "stream")
    there = run(*asked, "--engine", "dask", "--scheduler", scheduler)
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    assert json.loads(there.stdout)["estimates"] == json.loads(here.stdout)["estimates"]


def test_bench_on_a_running_cluster(run: Run, scheduler: str, scores: Path) -> None:
    truth = scores.read_text().splitlines()
    labeled = [line for line in truth if not line.startswith(",")]
    scores.write_text("\n".join(labeled) + "\n")
    asked = ("bench", scores, "--label", "y", "--models", "forest,logistic", "--methods")
    asked += ("ensemble,labeled", "--n-labeled", 10, "--runs", 2, "--metrics", "accuracy")
    here = run(*asked, "--json", "-")
    there = run(*asked, "--json", "-", "--scheduler", scheduler)
    assert (here.exit_code, there.exit_code) == (0, 0), there.output
    assert _but_times(there) == _but_times(here)


def test_no_scheduler_there_is_said(run: Run, tmp_path: Path) -> None:
    files = written(binary_table(200, 20), tmp_path)
    nobody = ("--engine", "dask", "--scheduler", "nosuch://127.0.0.1:1")
    result = run("evaluate", files, *FAST, *nobody)
    assert result.exit_code == 2
    assert "no Dask scheduler answers" in result.stderr


def _but_times(result: Result) -> list[dict[str, object]]:
    rows = json.loads(result.stdout)
    return [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]
