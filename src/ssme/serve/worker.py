"""One job in a process of its own, which may be killed at any moment; and the forge of such.

The server writes the job as one line of JSON into the worker's socket and reads lines of JSON from
it: how far it is, and at last how it ended. Results are written to a folder that takes its name
when all of it is there. If the server goes away, the socket ends and so does the process.
"""

from __future__ import annotations

import hashlib
import json
import os
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
from pathlib import Path
from typing import IO, Any

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, MissingExtraError
from ssme.progress import listen
from ssme.sample import sample_path
from ssme.serve.choosing import choose_rows
from ssme.serve.evaluating import draw_report, evaluate_file, plan_further
from ssme.serve.looking import look_at
from ssme.serve.spelling import spell_for_page
from ssme.writing import write_text

__all__ = ["main", "work"]

PAUSE = 0.1
"""Seconds between two reports of progress."""
SPARE = 64_000_000
"""Bytes that a job must be able to take when it has failed, or memory was the reason."""
COURTESY = 5
"""How far a job stands back behind the pages where both need the machine (`os.nice`)."""


def work(job: dict[str, Any]) -> None:
    """Do a job and publish its results under ``job["folder"]``, whole or not at all."""
    target = Path(job["folder"])
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    unfinished.mkdir(mode=0o700)
    try:
        _refuse_changed(job["request"])
        KINDS[job["kind"]](job["request"], unfinished)
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


def _look(request: dict[str, Any], folder: Path) -> None:
    found = look_at(request["path"], request["read"], request["run"])
    write_text(folder / "look.json", json.dumps(found))


def _choose(request: dict[str, Any], folder: Path) -> None:
    write_text(folder / "rows.json", json.dumps(choose_rows(request)))


KINDS: dict[str, Callable[[dict[str, Any], Path], None]] = {
    "look": _look,
    "rows": _choose,
    "evaluate": evaluate_file,
    "report": draw_report,
    "plan": plan_further,
}
"""Kind of job -> what does it."""


def main(orders: socket.socket) -> None:
    """The forge: import everything, then make a worker for each socket that the server sends.

    A socket that comes with the byte ``f`` goes to a process that is forked; with any other byte
    the forge itself does the job, and no other after it.
    """
    warnings.simplefilter("ignore")
    with suppress(OSError):
        os.nice(COURTESY)
    _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for workers
    while True:
        how, sockets, _, _ = socket.recv_fds(orders, 1, 1)
        if not sockets:
            return
        with socket.socket(fileno=sockets[0]) as line:
            if how == b"f" and os.fork():
                continue
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            orders.close()
            if how == b"f":
                os.setsid()
            try:
                _work_for(line)
            finally:
                os._exit(0)


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
        _say(speaks, {"ended": "failed", "error": spell_for_page(_explain(error, job["job_mb"]))})


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


def _warm_up() -> None:
    """Import what a job will need while there is none: it is seconds that nobody waits for."""
    import scipy.linalg  # noqa: F401

    with suppress(ImportError):
        import pyarrow.parquet  # noqa: F401

    ScoreSet.read(sample_path(), label="label", id="id")


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
    main(socket.socket(fileno=int(sys.argv[1])))
