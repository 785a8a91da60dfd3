"""The one thread that touches the databases, so that no page waits for a disk it does not use.

`Desk.ask(function, ...)` runs a function of the desk's things in that thread, one after another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, ParamSpec, TypeVar

from ssme.memory import Memory
from ssme.serve.settings import ServeSettings
from ssme.serve.store import Store

__all__ = ["Desk", "Records"]

P = ParamSpec("P")
T = TypeVar("T")


class Records:
    """What lies on the disk: the server's own tables, and the memory of each file."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.store = Store(settings.store_file)
        self._memories: dict[str, Memory] = {}

    def open_memory(self, data: str) -> Memory:
        """The memory of the data of that name."""
        if data not in self._memories:
            self._memories[data] = Memory(self.settings.memory_file, data)
        return self._memories[data]

    def list_annotators(self) -> set[str]:
        """Names of all who labeled anything in this project."""
        return set(self.open_memory("").list_annotators())

    def list_data(self, file: int) -> list[str]:
        """Names of all data of a file that the memory holds something about."""
        known = self.open_memory(f"file {file}").list_data()
        return [name for name in known if f"{name} ".startswith(f"file {file} ")]

    def close(self) -> None:
        for memory in self._memories.values():
            memory.close()
        self.store.close()


class Desk:
    """Runs functions of `Records` in a thread of their own."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self._thread = ThreadPoolExecutor(1, "ssme-desk")
        self._closed = False
        self._records = self._thread.submit(Records, settings).result()

    async def ask(
        self, function: Callable[Concatenate[Records, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """``function(records, ...)``, run in the desk's thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(
            self._thread, lambda: function(self._records, *args, **named)
        )

    def ask_now(
        self, function: Callable[Concatenate[Records, P], T], *args: P.args, **named: P.kwargs
    ) -> T:
        """The same for a caller that is not asynchronous."""
        return self._thread.submit(lambda: function(self._records, *args, **named)).result()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._thread.submit(self._records.close).result()
            self._thread.shutdown()

    def __enter__(self) -> Desk:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
