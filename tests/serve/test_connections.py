"""Clients that send slowly, too much or nonsense, over real connections on this machine."""

from __future__ import annotations

import logging
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import h11
import pytest
import uvicorn
from benchmarks.serve.attacks import MOST_MB, measure
from tests.serve.conftest import House

from ssme.serve import connections
from ssme.serve.connections import Connection
from ssme.serve.settings import ServeSettings

pytestmark = [pytest.mark.web, pytest.mark.xdist_group("serve")]

GUARD = 60.0
"""Seconds after which something hangs."""


@contextmanager
def serve(app: Any) -> Iterator[int]:
    """The port at which an app is served as `ssme serve` does it."""
    server = uvicorn.Server(connections.configure(app, ServeSettings(Path("unused"))))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(GUARD)


def connect(port: int, content: bytes = b"") -> socket.socket:
    found = socket.create_connection(("127.0.0.1", port), timeout=GUARD)
    found.sendall(content)
    return found


def wait_for_end(connection: socket.socket) -> bytes:
    """What the server says until it closes the connection."""
    said = []
    with suppress(ConnectionError):
        while piece := connection.recv(65_536):
            said.append(piece)
    return b"".join(said)


GET = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n"


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """An app that reads all and answers with as many bytes as the query says."""
    if scope["type"] != "http":
        raise NotImplementedError
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
    size = int(scope["query_string"] or b"2")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(0, size, 65_536):
        await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"G",
        b"GET / HTTP/1.1\r\nhost: 127.0.0.1",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 90\r\n\r\nhalf",
        b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhalf",
        GET.replace(b"close", b"keep-alive") + b"GET / HTT",
    ],
)
def test_a_request_that_does_not_arrive_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    monkeypatch.setattr(connections, "PULSE", 0.1)
    with serve(answer) as port, connect(port, content) as slow:
        wait_for_end(slow)
        monkeypatch.undo()
        with connect(port, GET) as other:
            assert wait_for_end(other).startswith(b"HTTP/1.1 200")


def test_a_request_that_trickles_in_ends_and_one_that_comes_on_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.5)
    monkeypatch.setattr(connections, "PULSE", 0.05)
    head = b"POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 400000\r\n\r\n"
    with serve(answer) as port:
        with connect(port, head + b"a" * 4_000) as large:
            for _ in range(99):  # longer than the patience, with 4 seconds for each piece
                time.sleep(0.01)
                large.sendall(b"a" * 4_000)
            assert wait_for_end(large).startswith(b"HTTP/1.1 200")
        with connect(port, b"GET / HTTP/1.1\r\n") as trickle:
            trickle.setblocking(False)
            for _ in range(int(GUARD / 0.05)):
                try:
                    trickle.sendall(b"a")
                except ConnectionError:
                    break
                time.sleep(0.05)
            else:
                pytest.fail("the connection is still open")


def test_an_answer_that_nobody_reads_ends_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.3)
    monkeypatch.setattr(connections, "PULSE", 0.1)
    ended = threading.Event()
    lost = Connection.connection_lost

    def note(self: Connection, error: Exception | None) -> None:
        lost(self, error)
        ended.set()

    monkeypatch.setattr(Connection, "connection_lost", note)
    with serve(answer) as port:
        with connect(port, GET.replace(b"/ ", b"/?30000000 ")):
            assert ended.wait(GUARD)
        monkeypatch.undo()
        with connect(port, GET.replace(b"/ ", b"/?30000000 ")) as reader:
            assert len(wait_for_end(reader)) > 30_000_000


def test_new_connections_get_in_whatever_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST", 20)
    with serve(answer) as port, ExitStack() as stack:
        waiting = [stack.enter_context(connect(port, b"GET / HTTP")) for _ in range(60)]
        for _ in range(5):
            with connect(port, GET) as other:
                assert wait_for_end(other).startswith(b"HTTP/1.1 200")
        for ended in waiting[:30]:  # the oldest
            assert wait_for_end(ended) == b""


def stand_in(role: str, state: Any, since: float, address: str = "a") -> Any:
    found = SimpleNamespace(role=role, conn=SimpleNamespace(their_state=state), _since=since)
    found.client = (address, 1)
    found._is_waiting = state in (h11.IDLE, h11.SEND_BODY)
    found.rank = lambda: Connection.rank(found)
    return found


def test_what_ends_first() -> None:
    """Strangers before guests before owners, who asks before who works, many before few."""
    order = [
        stand_in("anyone", h11.SEND_BODY, 5, "many"),
        stand_in("anyone", h11.IDLE, 6, "many"),
        stand_in("anyone", h11.IDLE, 1),
        stand_in("anyone", h11.IDLE, 2),
        stand_in("anyone", h11.DONE, 0),
        stand_in("guest", h11.SEND_BODY, 0),
        stand_in("owner", h11.IDLE, 0.5),
        stand_in("guest", h11.DONE, 0),
        stand_in("owner", h11.SEND_BODY, 0),
        stand_in("owner", h11.DONE, 1),
    ]
    more = [stand_in("owner", h11.DONE, 9, "many") for _ in range(20)]
    left = [*order, *more]
    ended = []
    while len(left) > 22:
        ended.append(connections._find_least_needed(left))
        left.remove(ended[-1])
    assert ended == order[:8]


def spoil(rng: random.Random) -> bytes:
    """A request with a wrong part, or nonsense."""
    parts = [
        b"POST /login HTTP/1.1\r\n",
        b"host: 127.0.0.1\r\n",
        b"origin: http://127.0.0.1\r\n",
        rng.choice((b"content-length: 5\r\n", b"transfer-encoding: chunked\r\n", b"a: b\r\n")),
        b"\r\n",
        rng.choice((b"a=b&c", b"5\r\na=b&c\r\n0\r\n\r\n", b"zz\r\n", b"-1\r\n", b"")),
    ]
    place = rng.randrange(len(parts))
    parts[place] = rng.choice(
        (
            b"\x00\xff\r\n",
            b"content-length: -5\r\n",
            b"content-length: 5\r\ncontent-length: 6\r\n",
            b"transfer-encoding: gzip\r\n",
            b"host: a\r\nhost: b\r\n",
            b" folded\r\n",
            b"a" * 40_000 + b"\r\n",
            b"a: b\r\n" * 6_000,
            b"GET / HTTP/9.9\r\n",
            b"GET http://[ HTTP/1.1\r\n",
            b"GET /%ff%00?%ff HTTP/1.1\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00",
            bytes(rng.randrange(256) for _ in range(200)),
        )
    )
    return b"".join(parts) * rng.randrange(1, 3)


def test_nonsense_on_a_connection_is_answered_and_not_a_failure(
    house: House, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(24)
    with caplog.at_level(logging.ERROR), serve(house.app) as port:
        monkeypatch.setattr(logging.getLogger("uvicorn"), "propagate", True)
        for _ in range(60):
            with connect(port) as client:
                with suppress(OSError):
                    client.sendall(spoil(rng))
                    client.shutdown(socket.SHUT_WR)
                said = wait_for_end(client)
            for line in said.split(b"\r\n"):
                assert not line.startswith(b"HTTP/1.1 5")
        with connect(port, GET) as client:
            assert wait_for_end(client).startswith(b"HTTP/1.1 401")
    assert caplog.records == []


def test_nobody_can_say_to_come_from_another_address() -> None:
    """The pause after a wrong password is that of an address."""
    seen: list[str] = []

    async def note(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            seen.append(f"{scope['scheme']} {scope['client'][0]}")
        await answer(scope, receive, send)

    forged = b"x-forwarded-for: 10.0.0.1\r\nx-forwarded-proto: https\r\nconnection"
    with serve(note) as port, connect(port, GET.replace(b"connection", forged)) as client:
        assert wait_for_end(client).startswith(b"HTTP/1.1 200")
    assert seen == ["http 127.0.0.1"]


def test_attacks_leave_the_owner_in_and_memory_bounded() -> None:
    """How long the owner waits is for `python -m benchmarks.serve.attacks`."""
    table = measure(connections=300, megabytes=60).set_index("attack")
    assert table["errors"].sum() == 0
    assert table["peak_mb"].max() < MOST_MB
    assert {"half a head", "large form", "endless form"} <= {*table.index}
