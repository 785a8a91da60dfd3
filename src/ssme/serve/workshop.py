"""Where workers come from: one process has imported everything and forks one for each job.

    server --(end of a socket)--> forge --fork--> worker <--(job, progress, end)--> server

A worker is ready at once, and the forge imports once for all jobs. Where a process with threads
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

__all__ = ["Worker", "Workshop"]

LONGEST_LINE = 2**22
"""Characters that a worker may say at once."""


class Worker:
    """The server's end of one worker: a job goes in, what it says comes out."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._process: int | None = None

    async def give(self, job: Mapping[str, Any]) -> None:
        """Hand the job over."""
        with suppress(ConnectionError):
            self._writer.write(json.dumps(job).encode() + b"\n")
            await self._writer.drain()

    async def hear(self) -> dict[str, Any] | None:
        """What the worker says next; None when it is gone."""
        while True:
            try:
                line = await self._reader.readline()
            except ConnectionError:
                return None
            if not line:
                return None
            said: dict[str, Any] = json.loads(line)
            if "process" not in said:
                return said
            self._process = said["process"]

    def kill(self) -> None:
        """End the worker and whatever it has started."""
        if self._process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process, signal.SIGKILL)
        self._writer.close()  # a worker that has not said its number ends by itself


class Workshop:
    """Starts the forge and asks it for workers."""

    def __init__(self, *, forks: bool = sys.platform == "linux") -> None:
        self._forks = forks
        self._forge: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    def open(self) -> None:
        """Start the forge, which gets ready while nobody waits for it."""
        self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            self._forge = subprocess.Popen(
                [sys.executable, "-m", "ssme.serve.worker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
        self._orders = ours

    async def hire(self) -> Worker:
        """A new worker."""
        if self._orders is None or self._forge is None or self._forge.poll() is not None:
            self.open()
        assert self._orders is not None
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._orders, [b"f" if self._forks else b"1"], [theirs.fileno()])
        if not self._forks:
            self._forget()
        reader, writer = await asyncio.open_connection(sock=ours, limit=LONGEST_LINE)
        return Worker(reader, writer)

    def close(self) -> None:
        """End the forge; workers end when their sockets do."""
        if self._forge is not None:
            with suppress(ProcessLookupError):
                self._forge.kill()
            self._forge.wait()
        self._forget()

    def _forget(self) -> None:
        if self._orders is not None:
            self._orders.close()
        self._forge = self._orders = None
