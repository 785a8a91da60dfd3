"""Work in forked processes, each in a group of its own with limits of CPU, clock and memory.

Nothing here waits without end: a process that is past its limit is killed with all that it started,
and what it was doing is reported as such.
"""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import os
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

MEMORY = 8 << 30
"""Bytes of data that a process may take."""
CLOCK = 10
"""Seconds of the clock that a process may take for each second of its limit, which is of CPU."""
Task = tuple[Callable[..., Any], tuple[Any, ...], float]


def run_in_processes(
    tasks: Sequence[Task], workers: int, until: float = math.inf, grace: float = math.inf
) -> Iterator[tuple[int, Any]]:
    """The results of functions, each in a forked process with a limit of CPU seconds.

    A process that did not return has ``{"ended": ...}`` for its result: ``"timeout"`` where it
    spent its CPU seconds, ``"stuck"`` where it let the clock run without spending them. No process
    is started once ``time.monotonic()`` is past ``until``, and those that run are killed ``grace``
    seconds later.
    """
    fork = multiprocessing.get_context("fork")
    waiting = list(enumerate(tasks))[::-1]
    running: dict[Any, tuple[int, Any, float, Path]] = {}
    with tempfile.TemporaryDirectory() as folder:
        try:
            while waiting or running:
                if time.monotonic() > until:
                    waiting.clear()
                while waiting and len(running) < workers:
                    number, (function, arguments, limit) = waiting.pop()
                    answer = Path(folder) / f"{number}.json"
                    process = fork.Process(
                        target=_answer, args=(answer, limit, function, arguments)
                    )
                    process.start()
                    end = min(time.monotonic() + CLOCK * limit, until + grace)
                    running[process.sentinel] = (number, process, end, answer)
                wait(list(running), timeout=0.5)
                for sentinel, (number, process, end, answer) in list(running.items()):
                    late = time.monotonic() >= end
                    if not late and _is_running(process.pid):
                        continue
                    _kill(process)
                    del running[sentinel]
                    yield number, _read_result(answer, process, late)
        finally:
            for _, process, _, _ in running.values():
                _kill(process)


def _is_running(number: int) -> bool:
    """Whether a child has not ended; one that has stays to be waited for."""
    try:
        return os.waitid(os.P_PID, number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # the start of another process waits for all that have ended
        return False


def _kill(process: Any) -> None:
    """Kill a process and all that it started, and wait for its end."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.join()


def _read_result(answer: Path, process: Any, late: bool) -> Any:
    """What a function returned, or how its process ended before that."""
    if answer.exists():
        return json.loads(answer.read_text())
    if process.exitcode == 1:
        return {"ended": "error"}
    if process.exitcode == -signal.SIGXCPU:
        return {"ended": "timeout"}
    return {"ended": "stuck" if late else f"exit {process.exitcode}"}


def _answer(
    path: Path, limit: float, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    os.setsid()
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(quiet, stream)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = function(*arguments)
    path.with_suffix(".part").write_text(json.dumps(found))
    path.with_suffix(".part").rename(path)
    os._exit(0)
