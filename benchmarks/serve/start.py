"""How soon `ssme serve` answers: the first page, the first result, a file of a million rows.

    python -m benchmarks.serve.start [--rows 1000000] [--runs 3]

Each run starts the program in an empty folder and measures seconds,

- ``first page``: from the start of the program to the last byte of the first page;
- ``first result``: from the start of the program to the page with the decision on the bundled
  sample, which is opened and evaluated without a pause;
- ``sample opened``, ``sample evaluated``: from the click to the page, in a server that has run for
  a while;
- ``large opened``, ``large evaluated``: the same of a made Parquet file of ``--rows`` rows and five
  models. Meanwhile another page is read ten times a second: ``slowest_page_s`` is its slowest
  answer.

``bytecode`` says whether Python finds the libraries compiled, as ``pip install`` leaves them and as
every start after the first one finds them (kept), or compiles all of them while somebody waits
(none; of Python itself the bytecode is always there). Before the first run, a start that is not
counted compiles them into a folder of its own.
``cpu_s`` is the time that the server and its processes have worked until then, whether or not
others wanted the machine too; the first page is shown while the process that will do jobs imports.
``looked_at`` is the number of rows that were looked at when the file was opened; evaluations use
all. ``load`` is the load of the machine, of one minute, before the run: other programs take part in
every figure. Writes ``benchmarks/results/serve_start.csv``.
"""

from __future__ import annotations

import os
import re
import shutil
import sysconfig
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.experiment import read_arguments, write_measured
from benchmarks.serve.made import write_scores
from benchmarks.serve.running import Person, Running

DECIDED = 'class="downloads"'
UNDERSTOOD = "Models</h2>"


class OtherPage:
    """Reads the first page ten times a second while something else is done."""

    def __init__(self, person: Person) -> None:
        self.slowest = 0.0
        self._person, self._end = person, threading.Event()
        self._thread = threading.Thread(target=self._read)

    def _read(self) -> None:
        while not self._end.wait(0.1):
            began = time.monotonic()
            self._person.get("/")
            self.slowest = max(self.slowest, time.monotonic() - began)

    def __enter__(self) -> OtherPage:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._end.set()
        self._thread.join()


def choose_bytecode(folder: Path, bytecode: str) -> dict[str, str]:
    """The environment of a program that keeps its bytecode in ``folder``, or has none."""
    keeps = bytecode == "kept"
    return {
        "PYTHONPYCACHEPREFIX": str(folder / bytecode),
        "PYTHONDONTWRITEBYTECODE": "" if keeps else "1",
    }


def compile_once(folder: Path) -> None:
    """Start once to have all bytecode that a first result needs, and Python's own apart from it."""
    measure_start(folder, -1, "kept")
    python = Path(sysconfig.get_path("stdlib")).resolve().relative_to("/")
    shutil.copytree(
        folder / "kept" / python,
        folder / "none" / python,
        ignore=shutil.ignore_patterns("site-packages"),
    )


def measure_start(folder: Path, run: int, bytecode: str) -> list[dict[str, Any]]:
    """A server that has just been started: its first page and the first result."""
    load = round(os.getloadavg()[0], 2)
    environment = choose_bytecode(folder, bytecode)
    began = time.monotonic()
    with Running(folder / f"first-{run}-{bytecode}", environment=environment) as server:
        person = Person(server)
        page = {"seconds": time.monotonic() - began, "cpu_s": server.measure_cpu_seconds()}
        person.open_sample()
        person.evaluate(1)
        person.wait_for("/files/1/result", DECIDED)
        result = {"seconds": time.monotonic() - began, "cpu_s": server.measure_cpu_seconds()}
        server.stop()
    common = {"run": run, "bytecode": bytecode, "load": load}
    return [
        {"step": "first page", **page, **common},
        {"step": "first result", **result, **common},
    ]


def measure_running(folder: Path, rows: int, run: int) -> list[dict[str, Any]]:
    """A server that has run for a while: the sample, then a large file."""
    lines: list[dict[str, Any]] = []
    load = round(os.getloadavg()[0], 2)
    root = folder / f"root-{run}"
    root.mkdir()
    write_scores(root / "large.parquet", rows, seed=run)
    environment = choose_bytecode(folder, "kept")
    with Running(folder / f"running-{run}", "--root", str(root), environment=environment) as server:
        person = Person(server)
        (root / "first.csv").write_text("id,label,a\n1,1,0.9\n2,0,0.3\n3,,0.5\n", encoding="utf-8")
        person.post("/open", path="first.csv")
        person.wait_for("/files/1", UNDERSTOOD)

        def keep(step: str, post: tuple[str, dict[str, str]], page: str, text: str) -> str:
            with OtherPage(person) as other:
                began = time.monotonic()
                person.post(post[0], **post[1])
                found = person.wait_for(page, text)
                took = time.monotonic() - began
            lines.append(
                {"step": step, "seconds": took, "slowest_page_s": other.slowest, "run": run}
            )
            return found

        keep("sample opened", ("/open", {"sample": "1"}), "/files/2", UNDERSTOOD)
        keep("sample evaluated", ("/files/2/evaluate", {}), "/files/2/result", DECIDED)
        page = keep("large opened", ("/open", {"path": "large.parquet"}), "/files/3", UNDERSTOOD)
        said = re.search(r"([\d,]+) of them were looked at", page)
        lines[-1] |= {"rows": rows, "looked_at": int(said[1].replace(",", "")) if said else rows}
        keep("large evaluated", ("/files/3/evaluate", {}), "/files/3/result", DECIDED)
        lines[-1] |= {"rows": rows}
        server.stop()
    return [{**line, "bytecode": "kept", "load": load} for line in lines]


def main() -> None:
    """Measure and write the table."""
    args = read_arguments(__doc__, rows=1_000_000, runs=3)
    lines: list[dict[str, Any]] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        compile_once(Path(folder))
        for run in range(args.runs):
            for bytecode in ("kept", "none"):
                lines += measure_start(Path(folder), run, bytecode)
            if args.rows:
                lines += measure_running(Path(folder), args.rows, run)
    names = ["step", "bytecode", "run", "seconds", "cpu_s"]
    names += ["slowest_page_s", "rows", "looked_at", "load"]
    table = pd.DataFrame(lines).reindex(columns=names).round({"seconds": 3, "slowest_page_s": 3})
    table = table.astype({"rows": "Int64", "looked_at": "Int64"}).sort_values(
        ["step", "bytecode", "run"], kind="stable"
    )
    table["cores"] = os.cpu_count()
    write_measured("serve_start", table, began)


if __name__ == "__main__":
    main()
