"""Connections: those on which nothing comes end, and where there are too many, the least needed.

uvicorn by itself waits for a request as long as a client likes, and refuses everybody where there
are too many connections. Here a new connection always gets in: one that is in the way ends for it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ssme.serve.settings import ServeSettings

MOST = 150
"""Connections at the same time."""
LARGEST_HEAD = 32_768
"""Bytes of a request line with its headers; cookies of all servers of this machine are in it."""
PATIENCE, RATE = 10.0, 1_000
"""A request has to arrive within so many seconds, and one more for every so many bytes of it; an
answer has to be taken as far that it gets on within as many."""
GRACE = 1
"""Seconds that open connections have to end when the server stops."""
NEEDED = 4
"""Rank of a connection that does not end for another: an owner's request."""
PULSE = 1.0
"""Seconds between two looks at a connection."""


def configure(app: Any, settings: ServeSettings) -> Any:
    return uvicorn.Config(
        app,
        loop="asyncio",
        http=Connection,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        ssl_certfile=settings.certificate,
        ssl_keyfile=settings.certificate_key,
        # without a proxy anybody could say to come from another address
        proxy_headers=settings.address is not None,
        forwarded_allow_ips="127.0.0.1",
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )


class Connection(H11Protocol):  # type: ignore[misc]
    """A connection of a browser; ``role`` is that of its newest request, as the guard found it."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.app_state: dict[str, Any] = {**named["app_state"], "connection": self}
        self.role = "anyone"
        self._since = self._moved = self.loop.time()
        self._received = self._unsent = 0
        self._watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._watch = self.loop.call_later(PULSE, self._look)
        others = [each for each in self.connections - {self} if not each.transport.is_closing()]
        if len(others) >= MOST:
            least = _find_least_needed(others)
            (self if least.rank() == NEEDED else least).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._watch is not None:
            self._watch.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self.conn.their_state
        self._received += len(data)
        super().data_received(data)
        if self.conn.their_state is not before:
            self._wait_anew()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait_anew()

    def resume_writing(self) -> None:
        self._moved = self.loop.time()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # this is the answer, not what the app says
            self.cycle.message_event.set()
        try:
            super().send_400_response(msg)
        except h11.LocalProtocolError:  # in the middle of another answer
            self.transport.abort()

    def _wait_anew(self) -> None:
        self._since, self._received = self.loop.time(), 0

    @property
    def _is_waiting(self) -> bool:
        """Whether the client has something to send: the head of a request, or its body."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _look(self) -> None:
        """End the connection where the client lets us wait."""
        now, unsent = self.loop.time(), self.transport.get_write_buffer_size()
        if unsent == 0 or unsent < self._unsent:
            self._moved = now
        self._unsent = unsent
        if not self._is_waiting or self.flow.read_paused:
            self._since = now
        late = now > self._since + PATIENCE + self._received / RATE
        if late or now > self._moved + PATIENCE:
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(PULSE, self._look)

    def rank(self) -> int:
        """How much the connection is needed, from a request of a stranger that is not there yet."""
        if self.role == "anyone":
            return 0 if self._is_waiting else 1
        if self.conn.their_state is h11.IDLE or (self.role == "guest" and self._is_waiting):
            return 2
        return 3 if self.role == "guest" else NEEDED


def _find_least_needed(connections: list[Connection]) -> Connection:
    """The one that ends: of the address that has most, and of these the oldest."""
    found = Counter(each.client[0] for each in connections if each.client)

    def order(each: Connection) -> tuple[int, int, float]:
        return each.rank(), -found[each.client[0]] if each.client else 0, each._since

    return min(connections, key=order)
