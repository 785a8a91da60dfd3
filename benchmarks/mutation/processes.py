"""Work in forked processes, each with a limit of CPU seconds and of memory."""

from __future__ import annotations

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

__all__ = ["Task", "in_processes"]

MEMORY = 8 << 30
"""Bytes of data that a process may take."""
WALL = 2
"""Seconds of the clock that a process may take for each second of its limit, which is of CPU."""
Task = tuple[Callable[..., Any], tuple[Any, ...], float]


def in_processes(
    tasks: Sequence[Task], workers: int, until: float = math.inf
) -> Iterator[tuple[int, Any]]:
    """The results of functions, each in a forked process with a limit of CPU seconds.

    No process is started once ``time.monotonic()`` is past ``until``.
    """
    fork = multiprocessing.get_context("fork")
    waiting = list(enumerate(tasks))[::-1]
    running: dict[Any, tuple[int, Any, float, Path]] = {}
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            if time.monotonic() > until:
                waiting.clear()
            while waiting and len(running) < workers:
                number, (function, arguments, limit) = waiting.pop()
                answer = Path(folder) / f"{number}.json"
                process = fork.Process(target=_answer, args=(answer, limit, function, arguments))
                process.start()
                end = time.monotonic() + WALL * limit
                running[process.sentinel] = (number, process, end, answer)
            wait(list(running), timeout=1.0)
            for sentinel, (number, process, end, answer) in list(running.items()):
                if process.is_alive() and time.monotonic() < end:
                    continue
                if late := process.is_alive():
                    process.kill()
                process.join()
                del running[sentinel]
                yield number, _result(answer, process, late)


def _result(answer: Path, process: Any, late: bool) -> Any:
    """What a function returned, or how its process ended before that."""
    if answer.exists():
        return json.loads(answer.read_text())
    if process.exitcode == 1:
        return {"ended": "error"}
    out_of_time = late or process.exitcode == -signal.SIGXCPU
    return {"ended": "timeout" if out_of_time else f"exit {process.exitcode}"}


def _answer(
    path: Path, limit: float, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    found = function(*arguments)
    path.with_suffix(".part").write_text(json.dumps(found))
    path.with_suffix(".part").rename(path)
    os._exit(0)
