"""The queue: each job in a worker process of its own, with its progress, limits and end.

    waiting --> running --> done | failed | cancelled

Looking at files and choosing rows have a lane of their own, so that a long evaluation keeps nobody
from labeling; so have pictures and plans, so that they keep no evaluation waiting. A lane runs one
job at a time. What was running when the server stopped is started
again; after `TRIES` such ends it has failed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from ssme import __version__
from ssme.serve.desk import Desk, Records
from ssme.serve.store import JobRecord
from ssme.serve.workshop import Worker, Workshop

__all__ = ["LANES", "JobRunner", "make_job_key"]

LANES = (("look", "rows"), ("evaluate",), ("report", "plan"))
TRIES = 2
PULSE = 15.0
"""Seconds after which a listener hears that the server is still there."""


def make_job_key(kind: str, request: Mapping[str, Any]) -> str:
    """The name of a job's results: the same content and the same spec have the same."""
    text = json.dumps([__version__, kind, request], sort_keys=True, default=str)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


class JobRunner:
    """Runs the jobs of the queue.

    Parameters
    ----------
    desk : Desk
        Where the queue is kept.
    when_done : callable
        ``when_done(records, job, folder)``, called in the desk's thread with the results of a job
        before anybody hears that it is done.
    workshop : Workshop, optional
        Where workers come from; a new one by default.
    """

    def __init__(
        self,
        desk: Desk,
        when_done: Callable[[Records, JobRecord, Path], None],
        workshop: Workshop | None = None,
    ) -> None:
        self.desk, self.settings = desk, desk.settings
        self._when_done = when_done
        self._progress: dict[int, dict[str, Any]] = {}
        self._workshop = workshop or Workshop()
        self._workers: dict[int, Worker] = {}
        self._changed = asyncio.Condition()
        self._changes = 0
        self._is_ending = False
        self._lanes: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._workshop.open()
        await self.desk.ask(lambda records: records.store.resume_jobs(TRIES))
        self._lanes = [asyncio.create_task(self._run_lane(kinds)) for kinds in LANES]

    async def hush(self) -> None:
        """End what listeners hear: the server is about to stop."""
        self._is_ending = True
        await self._ring()

    async def stop(self) -> None:
        for lane in self._lanes:
            lane.cancel()
        await asyncio.gather(*self._lanes, return_exceptions=True)
        self._workshop.close()

    async def add(
        self,
        file: int,
        kind: str,
        request: Mapping[str, Any],
        note: Callable[[Records, JobRecord], None] = lambda records, job: None,
    ) -> JobRecord:
        """Put a job into the queue, or find the one that did the same before.

        ``note(records, job)`` is called before anybody can work on it.
        """
        key = make_job_key(kind, request)
        folder = self.settings.results / key

        def put(records: Records) -> JobRecord:
            job = records.store.add_job(file, kind, key, request)
            if job.state == "done" and not folder.is_dir():
                records.store.forget_job(job.id)
                job = records.store.add_job(file, kind, key, request)
            note(records, job)
            return job

        job = await self.desk.ask(put)
        await self._ring()
        return job

    async def cancel(self, number: int) -> None:
        await self.desk.ask(lambda records: records.store.end_job(number, "cancelled"))
        worker = self._workers.get(number)
        if worker is not None:
            worker.kill()
        await self._ring()

    def find_folder(self, job: JobRecord) -> Path:
        return self.settings.results / job.key

    async def describe_state(self, number: int) -> dict[str, Any]:
        """How a job stands, as plain values."""
        if number in self._progress:
            return {"job": number, "state": "running", **self._progress[number]}
        job = await self.desk.ask(lambda records: records.store.find_job(number))
        return {"job": number, "state": job.state}

    async def follow(self, number: int) -> AsyncIterator[dict[str, Any]]:
        """How a job stands, each time that it changes, until it has ended."""
        before: dict[str, Any] = {}
        while True:
            seen = self._changes
            state = await self.describe_state(number)
            if state != before:
                yield state
            if state["state"] not in ("waiting", "running") or self._is_ending:
                return
            before = state
            try:
                async with asyncio.timeout(PULSE):
                    await self._hear_after(seen)
            except TimeoutError:
                yield {}

    async def _ring(self) -> None:
        self._changes += 1
        async with self._changed:
            self._changed.notify_all()

    async def _hear_after(self, seen: int) -> None:
        """Wait until something has changed since ``seen``."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._changes != seen)

    async def _run_lane(self, kinds: tuple[str, ...]) -> None:
        while True:
            seen = self._changes
            job = await self.desk.ask(lambda records: records.store.take_next_job(kinds))
            if job is None:
                await self._hear_after(seen)
                continue
            self._progress[job.id] = {"doing": "starting", "done": 0, "of": 1}
            await self._ring()
            await self._run(job)

    async def _run(self, job: JobRecord) -> None:
        worker = self._workers[job.id] = await self._workshop.hire(job.kind)
        try:
            await worker.meet()
            async with asyncio.timeout(self.settings.job_seconds):
                state, message = await self._listen(job, worker)
        except TimeoutError:
            state, message = (
                "failed",
                _say(
                    f"the job took longer than {self.settings.job_seconds:,} seconds",
                    "give fewer rows or models, or start the server with a larger --job-seconds",
                ),
            )
        finally:
            worker.kill()
            self._workers.pop(job.id, None)
            self._progress.pop(job.id, None)
        await self.desk.ask(self._end, job, state, message)
        await self._ring()

    async def _listen(self, job: JobRecord, worker: Worker) -> tuple[str, str]:
        """What the worker says, until it has ended."""
        await worker.give(
            {
                "kind": job.kind,
                "folder": str(self.find_folder(job)),
                "request": job.request,
                "job_mb": self.settings.job_mb,
            }
        )
        while said := await worker.hear():
            if "ended" in said:
                return said["ended"], json.dumps(said.get("error") or "")
            self._progress[job.id] = said
            await self._ring()
        return "failed", _say(
            "the job ended without a result: it was stopped by the system, most likely for lack of "
            "memory",
            "try it again; if it happens once more, give fewer rows",
        )

    def _end(self, records: Records, job: JobRecord, state: str, message: str) -> None:
        if records.store.find_job(job.id).state != "running":
            return
        if state == "done":
            self._when_done(records, job, self.find_folder(job))
        records.store.end_job(job.id, state, message)


def _say(got: str, fix: str) -> str:
    return json.dumps(
        {"got": f"{got[0].upper()}{got[1:]}.", "allowed": "", "fix": fix, "fields": []}
    )
