"""One job in a process of its own, which may be killed at any moment; and the forge of such.

    forge: ready for looking --> ready for evaluating --> ... ; forks a worker whenever one is asked

The server writes the job as one line of JSON into the worker's socket and reads lines of JSON from
it: how far it is, and at last how it ended. Results are written to a folder that takes its name
when all of it is there. If the server goes away, the socket ends and so does the process.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from ssme.errors import InputError, MissingExtraError
from ssme.progress import listen
from ssme.serve.spelling import spell_for_page
from ssme.serve.workshop import KINDS

__all__ = ["main", "work"]

PAUSE = 0.1
"""Seconds between two reports of progress."""
SPARE = 64_000_000
"""Bytes that a job must be able to take when it has failed, or memory was the reason."""
COURTESY = 5
"""How far a job stands back behind the pages where both need the machine (`os.nice`)."""

SOON = ("look", "evaluate")
"""Kinds of jobs that the first result waits for."""
REST = 3.0
"""Seconds without an order after which the forge gets ready for a kind that nobody waits for."""


def work(job: dict[str, Any]) -> None:
    """Do a job and publish its results under ``job["folder"]``, whole or not at all."""
    target = Path(job["folder"])
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    unfinished.mkdir(mode=0o700)
    try:
        _refuse_changed(job["request"])
        find_job(job["kind"])(job["request"], unfinished)
        if target.exists():
            shutil.rmtree(target)
        os.rename(unfinished, target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _refuse_changed(request: dict[str, Any]) -> None:
    """Refuse a file that is not the one that was opened."""
    path = Path(request["path"])
    if not path.is_file():
        raise InputError(
            f"{path.name} is no longer there",
            fix="put it back, or open another file; the labels are kept",
        )
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    if digest != request["sha256"]:
        raise InputError(
            f"{path.name} was changed on the disk since it was opened",
            fix="choose “Read it again” on the page of the file; the labels are kept",
        )


JOBS = {
    "look": ("looking", "look_at_file"),
    "evaluate": ("evaluating", "evaluate_file"),
    "rows": ("choosing", "write_rows"),
    "report": ("evaluating", "draw_report"),
    "plan": ("evaluating", "plan_further"),
}
"""Kind of job -> file and function that does it, imported when the forge gets ready for it."""
LIBRARIES = {
    "look": ("pandas", "narwhals", "scipy.special"),
    "evaluate": ("scipy.linalg", "scipy.sparse"),
    "report": ("altair", "jinja2"),
    "rows": ("pyarrow.parquet",),
}
"""Kind of job -> libraries that it imports on its way, where they are installed."""


def find_job(kind: str) -> Callable[[dict[str, Any], Path], None]:
    """The function that does jobs of this kind."""
    module, name = JOBS[kind]
    found: Callable[[dict[str, Any], Path], None]
    found = getattr(import_module(f"ssme.serve.{module}"), name)
    return found


def get_ready(kind: str) -> None:
    """Import what a job of this kind will need, so that no job waits for it."""
    from ssme.methods.registry import find_method_class, method_names

    for name in LIBRARIES.get(kind, ()):
        with suppress(ImportError):
            import_module(name)
    find_job(kind)
    for name in method_names():
        find_method_class(name)


class Forge:
    """Makes a worker for each socket that the server sends.

    Parameters
    ----------
    orders : socket
        Where sockets of workers come from, each with the number of the kind of job.
    forks : bool
        Whether each worker is a process that is forked; otherwise the forge itself does the first
        job, and no other after it.
    """

    def __init__(self, orders: socket.socket, *, forks: bool) -> None:
        self._orders, self._forks = orders, forks
        self._unready = list(KINDS)

    def run(self) -> None:
        """Get ready for one kind of job after another and make workers, until the server ends."""
        while True:
            if self._unready:
                rest = 0 if self._unready[0] in SOON else REST
                if not select.select([self._orders], [], [], rest)[0]:
                    get_ready(self._unready.pop(0))
                    continue
            kind, sockets, _, _ = socket.recv_fds(self._orders, 1, 1)
            if not sockets:
                return
            with socket.socket(fileno=sockets[0]) as line:
                self._make_worker(KINDS[kind[0]], line)

    def _make_worker(self, kind: str, line: socket.socket) -> None:
        if kind in self._unready:
            self._unready.remove(kind)
            get_ready(kind)
        gc.freeze()  # workers share what was imported, and never look through it
        if self._forks and os.fork():
            return
        gc.enable()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._orders.close()
        if self._forks:
            os.setsid()
        try:
            _work_for(line)
        finally:
            os._exit(0)


def main(orders: socket.socket, *, forks: bool) -> None:
    """Be the forge."""
    warnings.simplefilter("ignore")
    with suppress(OSError):
        os.nice(COURTESY)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for workers
    gc.disable()  # imports leave nothing to collect
    Forge(orders, forks=forks).run()


def _work_for(line: socket.socket) -> None:
    """Wait for a job on the socket, do it, say how it ended."""
    hears, speaks = line.makefile("r", encoding="utf-8"), line.makefile("w", encoding="utf-8")
    _say(speaks, {"process": os.getpid()})
    order = hears.readline()
    if not order:
        return
    threading.Thread(target=_leave_with_server, args=(hears,), daemon=True).start()
    job = json.loads(order)
    _limit_memory(job["job_mb"])
    told = 0.0

    def hear(title: str, done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told >= PAUSE or done in (0, total):
            told = now
            _say(speaks, {"doing": title, "done": done, "of": total})

    try:
        with listen(hear):
            work(job)
        _say(speaks, {"ended": "done"})
    except Exception as error:
        said = spell_for_page(_explain(error, job["job_mb"]), job["request"]["path"])
        _say(speaks, {"ended": "failed", "error": said})


def _explain(error: Exception, megabytes: int) -> Exception:
    """What the page says of a failure: lack of memory has many faces, such as a failed import."""
    if _is_for_memory(error):
        return InputError(
            f"the memory of {megabytes:,} MB that a job may use is not enough",
            fix="give fewer rows, or start the server with a larger --job-mb",
        )
    if isinstance(error, InputError | MissingExtraError | OSError):
        return error
    traceback.print_exception(error)
    return RuntimeError(f"The program made a mistake: {type(error).__name__}: {error}")


def _is_for_memory(error: BaseException) -> bool:
    """Whether a job failed because it may take no more memory."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return True
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, InputError):
        return False
    try:
        bytearray(SPARE)
    except MemoryError:
        return True
    return False


def _say(speaks: IO[str], message: dict[str, Any]) -> None:
    speaks.write(f"{json.dumps(message)}\n")
    speaks.flush()


def _leave_with_server(hears: IO[str]) -> None:
    """End the process when the server has closed its end."""
    with suppress(OSError):
        while hears.readline():
            pass
    os._exit(1)


def _limit_memory(megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    limit = megabytes * 1_000_000
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard == resource.RLIM_INFINITY or limit < hard:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), forks=sys.argv[2] == "forks")
