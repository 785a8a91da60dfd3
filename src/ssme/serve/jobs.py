"""The queue: each job in a separate process, with its progress, limits and end.

    waiting --> running --> done | failed | cancelled

Reading files and choosing rows have their own lane, so that a long evaluation keeps nobody from
labeling; so have charts and plans. A lane runs one job at a time. What was running when the
server stopped is started again; after `TRIES` such ends it has failed.

Worker processes are forked from a process that has imported what they need (`start_fork_server`).
A worker reports in lines of JSON on a socket, and ends when the server closes its end.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from importlib import import_module
from multiprocessing import forkserver
from pathlib import Path
from typing import IO, Any

from ssme import __version__, progress, writing
from ssme.errors import InputError, MissingExtraError
from ssme.methods.members import METHODS
from ssme.serve import forms, labels, settings
from ssme.serve.store import DbThread, JobRecord, Store

LANES = (("look", "rows", "labels"), ("evaluate",), ("report", "plan"))
"""Kinds of jobs that wait for one another."""
JOBS = {
    "look": ("preview", "write_preview"),
    "evaluate": ("worker", "evaluate_file"),
    "rows": ("worker", "write_rows"),
    "labels": ("exchange", "write_labels"),
    "report": ("worker", "draw_report"),
    "plan": ("worker", "plan_labels"),
}
"""Kind of job -> module and function that does it; only workers import them."""
PRELOADED = (
    *("pandas", "narwhals", "scipy.special", "scipy.linalg", "scipy.sparse"),
    *("ssme.serve.preview", "ssme.serve.worker"),
    *(path.split(":")[0] for path in METHODS.values()),
)
"""What the fork server imports: all that the first result needs, not what charts need."""
TRIES = 2
RESTART_PAUSES = (0.1, 0.5, 2.0)
"""Seconds to wait before a worker is asked for again."""
START_SECONDS = 90.0
"""Longest time until a new worker reports, imports of a new fork server included."""
HEARTBEAT = 15.0
"""Seconds after which a listener hears that the server is still there."""
OUTLIVED_SECONDS = 60
"""Seconds after its time limit at which the system ends a worker that no server has ended."""
REPORT_INTERVAL = 0.1
"""Seconds between two reports of progress."""
NICENESS = 5
"""Jobs give way to pages where both need the machine."""
SPARE_BYTES = 64_000_000
"""What a job must be able to allocate when it has failed, or memory was the reason."""
LONGEST_LINE = 2**22
GIVEN_FILE = "given.json"
"""The labels by hand that a job used, in the folder of its results."""

# Elsewhere a process with threads, which the libraries start, cannot be forked safely.
CONTEXT: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")


def start_fork_server() -> None:
    """Start the process from which workers are forked; it imports while nobody waits."""
    if CONTEXT.get_start_method() == "forkserver":
        CONTEXT.set_forkserver_preload([*PRELOADED])
        forkserver.ensure_running()


def find_fork_server() -> int | None:
    return vars(forkserver)["_forkserver"]._forkserver_pid


def kill_fork_server() -> None:
    """End the fork server, so that the next worker gets a new one."""
    process = find_fork_server()
    if process is not None:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def make_job_key(kind: str, request: Mapping[str, Any]) -> str:
    """The name of a job's results: the same content and the same spec have the same."""
    text = json.dumps([__version__, kind, request], sort_keys=True, default=str)
    return f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:24]}"


# -------------------------------------------------------------------------------------------------
# In the server


class Worker:
    """A process that does one job, and the server's end of its socket."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self._reader: Any = None
        self._writer: Any = None
        self._socket, theirs = socket.socketpair()
        with theirs:
            arguments = (theirs, dict(job))
            self.process = CONTEXT.Process(target=run_in_worker, args=arguments, daemon=True)
            try:
                self.process.start()
            except BaseException:
                self._socket.close()
                raise

    async def wait_until_ready(self) -> None:
        self._reader, self._writer = await asyncio.open_connection(
            sock=self._socket, limit=LONGEST_LINE
        )
        if not await self._reader.readline():
            raise EOFError

    async def listen(self) -> AsyncIterator[dict[str, Any]]:
        with suppress(ConnectionError):
            while line := await self._reader.readline():
                yield json.loads(line)

    def kill(self) -> None:
        """End the process and whatever it has started."""
        if self._writer is None:
            self._socket.close()
        else:
            self._writer.close()
        if hasattr(os, "killpg") and self.process.pid is not None:
            with suppress(ProcessLookupError, PermissionError):  # it has no group of its own yet
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()


async def start_worker(order: Mapping[str, Any]) -> Worker:
    """A worker that has reported, started in a thread: the fork server may still import.

    A fork server that was killed refuses for as long as it takes to die; then it is replaced. So is
    one that does not answer, or whose worker does not: it may be stopped, or a lock that a thread
    held when it forked is never released.
    """
    for pause in (*RESTART_PAUSES, 0.0):
        worker = None
        try:
            async with asyncio.timeout(START_SECONDS):
                worker = await asyncio.to_thread(Worker, order)
                await worker.wait_until_ready()
                return worker
        except (OSError, EOFError) as error:  # a TimeoutError is an OSError
            if worker is not None:
                worker.kill()
            if isinstance(error, TimeoutError):
                kill_fork_server()  # a thread that waits for it then hears of its end
        await asyncio.sleep(pause)
    raise ChildProcessError("no worker process could be started")


class JobRunner:
    """Runs the jobs of the queue.

    ``when_done(store, job, folder)`` is called in the thread of the databases with the results of a
    job before anybody hears that it is done.
    """

    def __init__(self, db: DbThread, when_done: Callable[[Store, JobRecord, Path], None]) -> None:
        self.db, self.settings = db, db.settings
        self._when_done = when_done
        self._progress: dict[int, dict[str, Any]] = {}
        self._workers: dict[int, Worker] = {}
        self._changed = asyncio.Event()  # another one after each change
        self._is_ending = False
        self._lanes: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        start_fork_server()
        await self.db.run(Store.resume_jobs, TRIES)
        self._lanes = [asyncio.create_task(self._run_lane(kinds)) for kinds in LANES]

    def end_streams(self) -> None:
        """End what listeners hear: the server is about to stop."""
        self._is_ending = True
        self._notify()

    async def stop(self) -> None:
        for lane in self._lanes:
            lane.cancel()
        await asyncio.gather(*self._lanes, return_exceptions=True)

    async def add(
        self,
        file: int,
        kind: str,
        request: Mapping[str, Any],
        note: Callable[[Store, JobRecord], None] = lambda store, job: None,
    ) -> JobRecord:
        """Put a job into the queue, or find the one that did the same before.

        ``note(store, job)`` is called before anybody can work on it.
        """
        key = make_job_key(kind, request)

        def put(store: Store) -> JobRecord:
            job = store.add_job(file, kind, key, request)
            if job.state == "done" and not self.find_folder(job).is_dir():
                store.forget_job(key)
                job = store.add_job(file, kind, key, request)
            note(store, job)
            return job

        job = await self.db.run(put)
        self._notify()
        return job

    async def cancel(self, number: int) -> None:
        await self.db.run(Store.end_job, number, "cancelled")
        if number in self._workers:
            self._workers[number].kill()
        self._notify()

    def find_folder(self, job: JobRecord) -> Path:
        return self.settings.results / job.key

    async def describe_state(self, number: int) -> dict[str, Any]:
        if number in self._progress:
            return {"job": number, "state": "running", **self._progress[number]}
        job = await self.db.run(Store.find_job, number)
        return {"job": number, "state": job.state}

    async def follow(self, number: int) -> AsyncIterator[dict[str, Any]]:
        """The state of a job each time that it changes, until it has ended; {} as a heartbeat."""
        before: dict[str, Any] = {}
        while True:
            changed = self._changed
            state = await self.describe_state(number)
            if state != before:
                yield state
            if state["state"] not in ("waiting", "running") or self._is_ending:
                return
            before = state
            try:
                async with asyncio.timeout(HEARTBEAT):
                    await changed.wait()
            except TimeoutError:
                yield {}

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _run_lane(self, kinds: tuple[str, ...]) -> None:
        while True:
            changed = self._changed
            job = await self.db.run(Store.take_next_job, kinds)
            if job is None:
                await changed.wait()
                continue
            self._progress[job.id] = {"doing": "starting", "done": 0, "of": 1}
            self._notify()
            state, message = await self._run(job)
            await self.db.run(self._end, job, state, message)
            self._notify()

    async def _run(self, job: JobRecord) -> tuple[str, str]:
        """Do a job; the state in which it ended, and the message as JSON."""
        order = {
            "kind": job.kind,
            "folder": str(self.find_folder(job)),
            "request": job.request,
            "job_mb": self.settings.job_mb,
            "job_seconds": self.settings.job_seconds,
        }
        try:
            worker = self._workers[job.id] = await start_worker(order)
            if (await self.db.run(Store.find_job, job.id)).state != "running":
                return "cancelled", ""
            async with asyncio.timeout(self.settings.job_seconds):
                async for report in worker.listen():
                    if "ended" in report:
                        return report["ended"], json.dumps(report.get("error") or "")
                    self._progress[job.id] = report
                    self._notify()
        except TimeoutError:
            error = InputError(
                f"the job took longer than {self.settings.job_seconds:,} seconds",
                hint="give fewer rows or models, or start the server with a larger --job-seconds",
            )
        except Exception:  # the lane goes on
            traceback.print_exc()
            error = InputError("the job could not be started", hint="look at the terminal")
        else:
            error = InputError(
                "the job ended without a result: it was stopped by the system, most likely for "
                "lack of memory",
                hint="try it again; if it happens once more, give fewer rows",
            )
        finally:
            if job.id in self._workers:
                self._workers.pop(job.id).kill()
            self._progress.pop(job.id, None)
        return "failed", json.dumps(forms.spell_for_page(error))

    def _end(self, store: Store, job: JobRecord, state: str, message: str) -> None:
        if store.find_job(job.id).state != "running":
            return
        if state == "done":
            self._when_done(store, job, self.find_folder(job))
        store.end_job(job.id, state, message)


# -------------------------------------------------------------------------------------------------
# In a worker process


def run_in_worker(line: socket.socket, job: dict[str, Any]) -> None:
    """Do a job, and report progress and end on the socket."""
    gc.freeze()  # what was imported is shared with the fork server, and never looked through
    warnings.simplefilter("ignore")
    with suppress(OSError, AttributeError):
        os.setsid()
        os.nice(NICENESS)
    # a thread cannot end a process that is stuck outside Python; the system's alarm can
    signal.alarm(job["job_seconds"] + OUTLIVED_SECONDS)
    threading.Thread(target=_exit_with_server, args=(line,), daemon=True).start()
    with line.makefile("w", encoding="utf-8") as stream:
        stream.write("{}\n")  # ready
        stream.flush()
        report_job(stream, job)
        stream.flush()
    os._exit(0)  # nothing is left to tidy up


def report_job(stream: IO[str], job: dict[str, Any]) -> None:
    """Do a job within its limit of memory; its progress and end as lines of JSON."""
    # imports come first: where OpenBLAS gets no memory for its buffers, it tries again for ever
    import_module(f"ssme.serve.{JOBS[job['kind']][0]}")
    limit_memory(job["job_mb"])
    reported = 0.0

    def report(**message: Any) -> None:
        stream.write(f"{json.dumps(message)}\n")
        stream.flush()

    def report_progress(title: str, done: int, total: int) -> None:
        nonlocal reported
        now = time.monotonic()
        if now - reported >= REPORT_INTERVAL or done in (0, total):
            reported = now
            report(doing=title, done=done, of=total)

    try:
        with progress.listen(report_progress):
            do_job(job)
        report(ended="done")
    except Exception as error:
        shown = explain_failure(error, job["job_mb"])
        report(ended="failed", error=forms.spell_for_page(shown, job["request"]["path"]))


def do_job(job: Mapping[str, Any]) -> None:
    """Do a job and publish its results under ``job["folder"]``, whole or not at all."""
    module, function = JOBS[job["kind"]]
    target = Path(job["folder"])
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    unfinished.mkdir(mode=0o700)
    try:
        _refuse_changed(job["request"])
        request = {**job["request"]}
        if "events" in request:
            request["labels"] = _read_given(target, request)
            writing.write_text(unfinished / GIVEN_FILE, json.dumps(request["labels"]))
        getattr(import_module(f"ssme.serve.{module}"), function)(request, unfinished)
        if target.exists():
            shutil.rmtree(target)
        os.rename(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _read_given(target: Path, request: Mapping[str, Any]) -> list[list[Any]]:
    """The labels that count: those of the evaluation that a report or a plan is about, else all.

    Requests only name the number of the newest label event, and the server copies no labels.
    """
    kept = target.with_name(make_job_key("evaluate", request)) / GIVEN_FILE
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    with labels.LabelStore(target.parents[1] / settings.MEMORY_FILE, new=False) as store:
        return store.list_settled_labels(request["data"])


def _refuse_changed(request: Mapping[str, Any]) -> None:
    """Refuse a file that is not the one that was opened."""
    path = Path(request["path"])
    if not path.is_file():
        raise InputError(
            f"{path.name} is no longer there",
            hint="put it back, or open another file; the labels are kept",
        )
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != request["sha256"]:
        raise InputError(
            f"{path.name} was changed on the disk since it was opened",
            hint="choose “Read it again” on the page of the file; the labels are kept",
        )


def explain_failure(error: Exception, megabytes: int) -> Exception:
    """The error that the page shows: lack of memory has many forms, such as a failed import."""
    if _is_out_of_memory(error):
        return InputError(
            f"the job ran out of memory: it may use {megabytes:,} MB",
            hint="give fewer rows, or start the server with a larger --job-mb",
        )
    if isinstance(error, InputError | MissingExtraError | OSError):
        return error
    traceback.print_exception(error)
    return RuntimeError(f"Internal error: {type(error).__name__}: {error}")


def _is_out_of_memory(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return True
        cause = cause.__cause__ or cause.__context__
    try:
        bytearray(0 if isinstance(error, InputError) else SPARE_BYTES)
    except MemoryError:
        return True
    return False


def _exit_with_server(line: socket.socket) -> None:
    """End the process when the server has closed its end."""
    with suppress(OSError):
        while line.recv(1):
            pass
    os._exit(1)


def limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    limit = megabytes * 1_000_000
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
