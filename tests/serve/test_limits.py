"""A job has a process of its own: limits of time and memory, and what becomes of a killed one."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import Loop

from ssme.sample import sample_path
from ssme.serve import jobs
from ssme.serve.files import fingerprint
from ssme.serve.jobs import TRIES, JobRunner
from ssme.serve.settings import ServeSettings
from ssme.serve.store import DbThread, JobRecord, Store
from ssme.spec import RunSpec

pytestmark = [pytest.mark.web, pytest.mark.xdist_group("serve")]

LONG = {
    "source": str(sample_path()),
    "read": {"label": "label", "id": "id"},
    "run": {"method": "ssme", "options": {"n_bootstrap": 1000}},
}
"""An evaluation with 1,000 refits: minutes, whatever the processor."""


@dataclass
class Queue:
    """The queue of a server, whose clock only runs while a test waits for something."""

    db: DbThread
    runner: JobRunner
    loop: Loop
    file: int = 0

    def add(self, kind: str, **request: Any) -> JobRecord:
        sha256, *_ = fingerprint(sample_path())
        full = {"path": str(sample_path()), "sha256": sha256, **request}
        return self.loop.run(self.runner.add(self.file, kind, full))

    def evaluate(self, **more: Any) -> JobRecord:
        config = RunSpec.from_dict(LONG).to_dict()
        return self.add("evaluate", config=config, labels=[], title="t", data="file 1", **more)

    def wait(self, job: JobRecord) -> JobRecord:
        """The job when it has ended."""

        async def until_end() -> None:
            async for _ in self.runner.follow(job.id):
                pass

        self.loop.run(until_end())
        return self.db.run_now(lambda store: store.find_job(job.id))

    def process_of(self, job: JobRecord) -> int:
        """The process that works on the job."""

        async def until_known() -> int:
            for _ in range(3000):
                worker = self.runner._workers.get(job.id)
                if worker is not None and worker.process.pid is not None:
                    return int(worker.process.pid)
                await asyncio.sleep(0.02)
            raise TimeoutError

        return self.loop.run(until_known())

    def limit(self, **limits: int) -> None:
        self.runner.settings = replace(self.db.settings, **limits)


@pytest.fixture(scope="module")
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Queue]:
    settings = ServeSettings(tmp_path_factory.mktemp("limits") / "project")
    settings.make_folders()
    with DbThread(settings) as db, Loop() as loop:
        runner = JobRunner(db, lambda *_: None)
        loop.run(runner.start())
        found = Queue(db, runner, loop)
        path, facts = str(sample_path()), fingerprint(sample_path())
        found.file = db.run_now(lambda store: store.add_file(path, "s.csv", *facts))
        yield found
        loop.run(runner.stop())


@pytest.fixture(autouse=True)
def _usual_limits(queue: Queue) -> None:
    queue.limit()


def is_gone(process: int, seconds: float = 10.0) -> bool:
    """Whether a process has ended by then; one that nobody asked for yet has."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state.split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_job_that_takes_too_long_is_ended_and_says_so(queue: Queue) -> None:
    queue.limit(job_seconds=1)
    job = queue.evaluate(number=1)
    process = queue.process_of(job)
    ended = queue.wait(job)
    assert ended.state == "failed"
    assert "longer than 1 seconds" in json.loads(ended.message)["got"]
    assert "--job-seconds" in json.loads(ended.message)["fix"]
    assert is_gone(process)
    assert not queue.runner.find_folder(job).exists()


@pytest.mark.parametrize("megabytes", [100, 115, 130])
def test_a_job_that_takes_too_much_memory_is_ended_and_says_so(
    queue: Queue, megabytes: int
) -> None:
    queue.limit(job_mb=megabytes)
    ended = queue.wait(queue.evaluate(number=2))
    assert ended.state == "failed"
    assert "memory" in json.loads(ended.message)["got"]


def test_the_next_job_is_not_touched_by_the_limits_of_the_last(queue: Queue) -> None:
    assert queue.wait(queue.add("look", read={}, run={})).state == "done"


def test_a_job_whose_process_is_killed_has_failed_and_can_be_asked_for_again(queue: Queue) -> None:
    job = queue.evaluate(number=3)
    os.kill(queue.process_of(job), signal.SIGKILL)
    ended = queue.wait(job)
    assert ended.state == "failed"
    assert "most likely for lack of memory" in json.loads(ended.message)["got"]
    again = queue.evaluate(number=3)
    assert again.id != job.id
    assert queue.wait(again).state == "done"
    assert (queue.runner.find_folder(again) / "summary.json").is_file()


def test_a_cancelled_job_leaves_no_process_and_no_result(queue: Queue) -> None:
    job = queue.evaluate(number=4)
    process = queue.process_of(job)
    queue.loop.run(queue.runner.cancel(job.id))
    assert queue.wait(job).state == "cancelled"
    assert is_gone(process)
    assert not queue.runner.find_folder(job).exists()


def test_a_fork_server_that_died_is_replaced(queue: Queue) -> None:
    server = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    os.kill(server, signal.SIGKILL)
    assert is_gone(server)
    assert queue.wait(queue.add("look", read={"id": "id"}, run={})).state == "done"


def test_a_job_that_was_cut_off_too_often_has_failed(tmp_path: Path) -> None:
    """The server was killed while it ran, each time."""
    settings = ServeSettings(tmp_path / "project")
    settings.make_folders()

    def start(store: Store) -> str:
        store.resume_jobs(TRIES)
        if not store.list_files():
            store.add_file("a.csv", "a.csv", "", 0, 0)
            store.add_job(1, "look", "look-1", {})
        store.take_next_job(["look"])
        return store.find_job(1).state

    states = []
    for _ in range(TRIES + 1):
        with DbThread(settings) as db:
            states.append(db.run_now(start))
    assert states == ["running"] * TRIES + ["failed"]


def test_where_nothing_is_forked_each_job_has_a_new_process(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "CONTEXT", multiprocessing.get_context("spawn"))
    job = queue.wait(queue.add("look", read={"label": "label"}, run={}))
    assert job.state == "done"
    found = json.loads((queue.runner.find_folder(job) / "look.json").read_text())
    assert found["rows"] == 1297
