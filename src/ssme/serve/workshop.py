"""Where workers come from: one process has imported everything and forks one for each job.

    server --(end of a socket)--> forge --fork--> worker <--(job, progress, end)--> server

A worker is ready at once, and the forge imports once for all jobs. It is started before the server
imports anything and gets ready for one kind of job after another. Where a process with threads
cannot be forked safely (anywhere but on Linux), each job has a forge of its own, which does it.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

__all__ = ["KINDS", "Worker", "Workshop"]

KINDS = ("look", "evaluate", "rows", "report", "plan")
"""Kinds of jobs, in the order in which the forge gets ready for them."""
LONGEST_LINE = 2**22
"""Characters that a worker may say at once."""


class Worker:
    """The server's end of one worker: a job goes in, what it says comes out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._process: int | None = None

    async def meet(self) -> None:
        """Wait until the worker is there and has said which process it is."""
        said = await self.hear()
        self._process = None if said is None else said["process"]

    async def give(self, job: Mapping[str, Any]) -> None:
        """Hand the job over."""
        with suppress(ConnectionError):
            self._writer.write(json.dumps(job).encode() + b"\n")
            await self._writer.drain()

    async def hear(self) -> dict[str, Any] | None:
        """What the worker says next; None when it is gone."""
        try:
            line = await self._reader.readline()
        except ConnectionError:
            return None
        found: dict[str, Any] | None = json.loads(line) if line else None
        return found

    def kill(self) -> None:
        """End the worker and whatever it has started."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process, signal.SIGKILL)
        self._writer.close()  # a worker that was not met ends by itself


class Workshop:
    """Starts the forge and asks it for workers."""

    def __init__(self, *, forks: bool = sys.platform == "linux") -> None:
        self._forks = forks
        self._forge: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        self._busy: list[subprocess.Popen[bytes]] = []

    def open(self) -> None:
        """Start the forge, which gets ready while nobody waits for it; one that runs is kept."""
        if self._forge is not None and self._forge.poll() is None:
            return
        self._dismiss()
        ours, theirs = socket.socketpair()
        how = "forks" if self._forks else "works"
        with theirs:
            self._forge = subprocess.Popen(
                [sys.executable, "-m", "ssme.serve.worker", str(theirs.fileno()), how],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
        self._orders = ours

    async def hire(self, kind: str) -> Worker:
        """A new worker for a job of this kind; a forge that has died is replaced."""
        self.open()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._order(kind, theirs)
            except OSError:
                self._dismiss()
                self.open()
                self._order(kind, theirs)
        reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
        return Worker(reader, writer)

    def _order(self, kind: str, line: socket.socket) -> None:
        """Send the worker's end of a line to the forge."""
        assert self._orders is not None
        assert self._forge is not None
        socket.send_fds(self._orders, [bytes([KINDS.index(kind)])], [line.fileno()])
        if not self._forks:  # this forge does the job itself
            self._busy = [one for one in (*self._busy, self._forge) if one.poll() is None]
            self._orders.close()
            self._forge = self._orders = None

    def close(self) -> None:
        """End the forge; workers end when their sockets do."""
        self._dismiss()
        for forge in self._busy:
            forge.kill()
            forge.wait()
        self._busy = []

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _dismiss(self) -> None:
        if self._forge is not None and self._orders is not None:
            self._forge.kill()
            self._forge.wait()
            self._orders.close()
        self._forge = self._orders = None
