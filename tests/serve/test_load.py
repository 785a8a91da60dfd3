"""Many readers while a job runs: no error, answers as quick as the machine allows, memory flat."""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path

import pytest
from tests.serve.conftest import House
from tests.serve.running import Person, Running

pytestmark = [pytest.mark.web, pytest.mark.xdist_group("serve")]


def memory_kb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1])


def test_memory_is_flat_over_two_thousand_requests(open_house: House, scores: Path) -> None:
    """Asked in this process; what a page leaves behind would add up."""
    import os

    open_house.upload(scores)
    open_house.work()
    paths = ("/", "/files/1", "/jobs", "/static/serve.css")

    def ask(times: int) -> None:
        for number in range(times):
            assert open_house.client.get(paths[number % 4]).status_code == 200

    ask(400)
    before = memory_kb(os.getpid())
    ask(1600)
    assert memory_kb(os.getpid()) - before < 8_000


@pytest.mark.slow
def test_fifty_readers_while_a_job_runs(tmp_path: Path) -> None:
    """Answers under load are measured against those of the idle server in the same run."""
    with Running(tmp_path / "project") as server:
        person = Person(server)
        person.open_sample()

        def ask(readers: int, each: int) -> list[float]:
            took: list[float] = []
            failed: list[Exception] = []

            def read() -> None:
                for _ in range(each):
                    began = time.monotonic()
                    try:
                        person.get("/files/1")
                    except Exception as error:  # counted below
                        failed.append(error)
                    took.append(time.monotonic() - began)
                    time.sleep(1.0)

            threads = [threading.Thread(target=read) for _ in range(readers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert failed == []
            return took

        idle = ask(1, 5)
        person.post("/files/1/evaluate")
        busy = sorted(ask(50, 3))
        page = person.wait_for("/files/1/result", 'class="downloads"')
        server.stop()
    p95 = busy[int(len(busy) * 0.95)]
    assert "Pick:" in page
    print(f"idle {statistics.median(idle):.3f} s, p95 of 50 readers {p95:.3f} s")  # noqa: T201
    assert len(busy) == 150
