"""Clients that want to stop the server, on this machine: does its owner get in, is memory bounded?

    python -m benchmarks.serve.attacks [--connections 540] [--megabytes 200]

A server with a password is started as people start it. Each attack opens ``--connections``
connections to it and keeps them open

- ``silent``: and sends nothing;
- ``half a head``: and sends a part of a request;
- ``large head``: with 30 kB of headers and no end;
- ``half a form``: and sends a part of a form before login;
- ``half a guest's form``: and sends 49 kB of a form, as a guest;
- ``unread answers``: and asks again and again, but reads no answer;

or sends ``--megabytes`` of a form before login, over 20 connections, with its length said
(``large form``) or not (``endless form``). Meanwhile the owner asks for a page over new
connections. ``slowest_s`` is the longest time to an answer, ``errors`` the number of requests
without one, ``sent_mb`` what was sent before it was cut off and ``peak_mb`` the most memory that
the server held (resident). An answer within `BOUND` seconds and memory below `MOST_MB` are
demanded.
Writes ``benchmarks/results/serve_attacks.csv``.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
import urllib.error
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.experiment import read_arguments, write_measured
from benchmarks.serve.running import Person, Running

BOUND, MOST_MB = 2.0, 80.0
"""Seconds to an answer, and megabytes, that are demanded."""
ASKED = 10
PIECE = 1_000_000
SENDERS = 20
PASSWORD = "correct horse battery"


class Attacker:
    """Opens connections to a server and keeps them."""

    def __init__(self, server: Running, guest: Person) -> None:
        self.port, self.guest = server.port, guest
        self.sent = 0
        self._stack = ExitStack()

    def open(self, count: int, content: bytes) -> None:
        """Open connections that send so much and then nothing."""
        for _ in range(count):
            self._send(self.connect(), content)

    def connect(self) -> socket.socket:
        found = socket.socket()
        self._stack.enter_context(found)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        found.settimeout(5.0)
        with suppress(OSError):
            found.connect(("127.0.0.1", self.port))
        return found

    def _send(self, connection: socket.socket, content: bytes) -> bool:
        try:
            connection.sendall(content)
        except OSError:
            return False
        self.sent += len(content)
        return True

    def write_head(self, line: str, *headers: str) -> bytes:
        own = (f"host: 127.0.0.1:{self.port}", f"origin: http://127.0.0.1:{self.port}")
        form = "content-type: application/x-www-form-urlencoded"
        return "\r\n".join([f"{line} HTTP/1.1", *own, form, *headers, "", ""]).encode()

    def push(self, megabytes: int, head: bytes, piece: bytes) -> None:
        """Send a form of so many megabytes over several connections, as far as it is taken."""
        connections = [self.connect() for _ in range(SENDERS)]
        for connection in connections:
            self._send(connection, head)
        left = megabytes
        while left and connections:
            for connection in [*connections]:
                if not self._send(connection, piece):
                    connections.remove(connection)
                left = max(0, left - 1)

    def __enter__(self) -> Attacker:
        return self

    def __exit__(self, *_: Any) -> None:
        self._stack.close()


def list_attacks(connections: int, megabytes: int) -> dict[str, Callable[[Attacker], None]]:
    """Name of an attack -> what it does."""
    chunk = b"%x\r\n%s\r\n" % (PIECE, b"a" * PIECE)

    def send_half_form(by: Attacker) -> None:
        head = by.write_head("POST /login", "content-length: 9000")
        by.open(connections, head + b"password=")

    def send_guests_form(by: Attacker) -> None:
        cookie = f"cookie: {by.guest.cookie}"
        head = by.write_head("POST /files/1/label", "content-length: 16000", cookie)
        by.open(connections, head + b"a" * 15_000)

    return {
        "silent": lambda by: by.open(connections, b""),
        "half a head": lambda by: by.open(connections, b"GET / HTTP/1.1\r\nhost: 127.0.0.1"),
        "large head": lambda by: by.open(connections, b"GET / HTTP/1.1\r\na: " + b"b" * 30_000),
        "half a form": send_half_form,
        "half a guest's form": send_guests_form,
        "unread answers": lambda by: by.open(
            connections, by.write_head("GET /static/serve.css") * 20
        ),
        "large form": lambda by: by.push(
            megabytes,
            by.write_head("POST /login", f"content-length: {megabytes * PIECE}"),
            b"a" * PIECE,
        ),
        "endless form": lambda by: by.push(
            megabytes, by.write_head("POST /login", "transfer-encoding: chunked"), chunk
        ),
    }


def measure(connections: int, megabytes: int) -> pd.DataFrame:
    """One line per attack.

    Parameters
    ----------
    connections : int
        Connections of each attack.
    megabytes : int
        Size of the large forms.
    """
    lines: list[dict[str, Any]] = []
    load = round(os.getloadavg()[0], 2)
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder) / "password"
        secret.write_text(f"{PASSWORD}\n", encoding="utf-8")
        with Running(Path(folder) / "project", "--password-file", str(secret)) as server:
            owner = Person(server)
            owner.open_sample()
            guest = owner.invite("Gil")
            for name, attack in list_attacks(connections, megabytes).items():
                reset_peak(server.process.pid)
                with Attacker(server, guest) as attacker:
                    attack(attacker)
                    took, errors = ask(owner)
                lines.append(
                    {
                        "attack": name,
                        "connections": connections,
                        "asked": ASKED,
                        "errors": errors,
                        "slowest_s": round(max(took), 3),
                        "sent_mb": round(attacker.sent / 1e6, 1),
                        "peak_mb": round(measure_peak(server.process.pid), 1),
                        "cores": os.cpu_count(),
                        "load": load,
                    }
                )
            server.stop()
    return pd.DataFrame(lines)


def ask(owner: Person) -> tuple[list[float], int]:
    """Seconds to each answer to the owner, and the number of errors."""
    took, errors = [], 0
    for _ in range(ASKED):
        began = time.monotonic()
        try:
            errors += "</html>" not in owner.get("/files/1")
        except (OSError, urllib.error.URLError):
            errors += 1
        took.append(time.monotonic() - began)
    return took, errors


def reset_peak(process: int) -> None:
    """Begin to measure the peak of a process's memory anew."""
    Path(f"/proc/{process}/clear_refs").write_text("5", encoding="ascii")


def measure_peak(process: int) -> float:
    """The most memory that a process held (resident), in MB."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1000


def main() -> None:
    """Measure, write the table and fail where a bound is broken."""
    args = read_arguments(__doc__, connections=540, megabytes=200)
    began = time.perf_counter()
    table = measure(args.connections, args.megabytes)
    write_measured("serve_attacks", table, began)
    if table["errors"].any() or (table["slowest_s"] > BOUND).any():
        raise SystemExit(f"The owner had to wait longer than {BOUND:g} s.")
    if (table["peak_mb"] > MOST_MB).any():
        raise SystemExit(f"The server took more than {MOST_MB:g} MB.")


if __name__ == "__main__":
    main()
