"""Many readers while a job runs: is there an error, how long do answers take, does memory grow?

    python -m benchmarks.serve.load [--readers 50] [--rows 1000000] [--seconds 20]

A server is started as people start it, and the bundled sample and a made file of ``--rows`` rows
are opened. Then the page of the sample is read

- ``idle``: by one reader, nothing else going on;
- ``readers``: by all readers, each with a second between an answer and its next request;
- ``job``: by all readers while the made file is evaluated;
- ``2,000 requests``: by ten readers without a pause, after as many to warm up.

Readers begin at random moments of the first second. ``p95_over_idle`` is the 95th percentile of the
time to an answer less the median of the idle one, ``memory_mb`` what the server's process holds
after the phase and ``memory_grown_mb`` how much of it is new. ``load`` is the load of the machine,
of one minute, before anything was started: other programs take part in every figure.
Writes ``benchmarks/results/serve_load.csv``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.experiment import read_arguments, write_measured
from benchmarks.serve.made import write_scores
from benchmarks.serve.running import Person, Running

PAUSE = 1.0
REQUESTS, EAGER = 2000, 10


def measure_memory(process: int) -> float:
    """Memory that a process holds (resident), in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1000


class Readers:
    """Browsers that read one page, each over a new connection per request."""

    def __init__(self, person: Person, path: str, seed: int = 0) -> None:
        self.port = int(person.url.rsplit(":", 1)[1])
        cookie = person.cookie
        self._request = (
            f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncookie: {cookie}\r\n"
            "connection: close\r\n\r\n"
        ).encode()
        self._rng = random.Random(seed)

    def read(
        self, readers: int, goes_on: Callable[[int], bool], pause: float = PAUSE
    ) -> tuple[list[float], int]:
        """Seconds of each answer, and the number of errors, until ``goes_on(requests)`` is false.

        Parameters
        ----------
        readers : int
            How many read at the same time.
        goes_on : callable
            Told the number of requests so far before each.
        pause : float
            Seconds between an answer and the reader's next request.
        """
        with ThreadPoolExecutor(1) as thread:  # the caller's may have a loop of its own
            return thread.submit(asyncio.run, self._read_all(readers, goes_on, pause)).result()

    async def _read_all(
        self, readers: int, goes_on: Callable[[int], bool], pause: float
    ) -> tuple[list[float], int]:
        took: list[float] = []
        errors = asked = 0

        async def keep_asking(start: float) -> None:
            nonlocal errors, asked
            await asyncio.sleep(start)
            while goes_on(asked):
                asked += 1
                began = time.monotonic()
                errors += not await self._ask()
                took.append(time.monotonic() - began)
                await asyncio.sleep(pause)

        await asyncio.gather(*(keep_asking(self._rng.uniform(0, PAUSE)) for _ in range(readers)))
        return took, errors

    async def _ask(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            writer.write(self._request)
            answer = await reader.read()
            writer.close()
        except OSError:
            return False
        return answer.startswith(b"HTTP/1.1 200 ") and answer.rstrip().endswith(b"</html>")


def measure(readers: int, rows: int, seconds: float, requests: int) -> pd.DataFrame:
    """One line per phase.

    Parameters
    ----------
    readers : int
        Readers at the same time.
    rows : int
        Rows of the file that the job evaluates.
    seconds : float
        Length of the phase ``readers``.
    requests : int
        Requests of the last phase.
    """
    lines: list[dict[str, Any]] = []
    load = round(os.getloadavg()[0], 2)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        write_scores(root / "made.parquet", rows)
        with Running(Path(folder) / "project", "--root", str(root)) as server:
            person = Person(server)
            person.open_sample()
            person.post("/open", path="made.parquet")
            person.wait_for("/files/2", "Models</h2>")
            page = Readers(person, "/files/1")

            def keep(phase: str, count: int, goes_on: Callable[[int], bool], pause: float) -> None:
                before = measure_memory(server.process.pid)
                took, errors = page.read(count, goes_on, pause)
                line = {"phase": phase, "readers": count, "errors": errors, **summarize(took)}
                idle = lines[0]["median_s"] if lines else line["median_s"]
                now = measure_memory(server.process.pid)
                lines.append(
                    {
                        **line,
                        "p95_over_idle_s": round(line["p95_s"] - idle, 4),
                        "memory_mb": round(now, 1),
                        "memory_grown_mb": round(now - before, 1),
                        "cores": os.cpu_count(),
                        "load": load,
                    }
                )

            keep("idle", 1, make_timer(min(5.0, seconds)), 0.1)
            keep("readers", readers, make_timer(seconds), PAUSE)
            with Watch(person, person.evaluate(2)) as job:
                keep("job", readers, lambda _: job.runs, PAUSE)
            page.read(EAGER, lambda asked: asked < requests, 0.0)
            keep(f"{requests:,} requests", EAGER, lambda asked: asked < requests, 0.0)
            server.stop()
    return pd.DataFrame(lines)


def make_timer(seconds: float) -> Callable[[int], bool]:
    """True for so many seconds from now."""
    end = time.monotonic() + seconds
    return lambda _: time.monotonic() < end


def summarize(took: list[float]) -> dict[str, Any]:
    """Number, median and 95th percentile."""
    return {
        "requests": len(took),
        "median_s": round(statistics.median(took), 4),
        "p95_s": round(sorted(took)[int(len(took) * 0.95)], 4),
    }


class Watch:
    """Whether a job still runs, asked five times a second by a thread."""

    def __init__(self, person: Person, job: int) -> None:
        self.runs = True
        self._person, self._job = person, job
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while self.runs:
            time.sleep(0.2)
            state = json.loads(self._person.get(f"/jobs/{self._job}/state"))["state"]
            self.runs = state in ("waiting", "running")

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._thread.join()


def main() -> None:
    """Measure and write the table."""
    args = read_arguments(__doc__, readers=50, rows=1_000_000, seconds=20.0)
    began = time.perf_counter()
    table = measure(args.readers, args.rows, args.seconds, REQUESTS)
    write_measured("serve_load", table, began)


if __name__ == "__main__":
    main()
