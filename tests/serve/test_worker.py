"""The forge and its workers, in this process: what they hear, do and say."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from ssme.errors import InputError, MissingExtraError
from ssme.progress import tell
from ssme.serve import worker
from ssme.serve.workshop import KINDS

pytestmark = pytest.mark.web


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No limit on the memory of the tests, and no end of their process."""
    monkeypatch.setattr(worker, "_limit_memory", lambda megabytes: None)
    monkeypatch.setattr(worker, "_leave_with_server", lambda hears: None)


def talk(order: str) -> list[dict[str, Any]]:
    """Everything that a worker says after an order."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(order.encode())
        ours.shutdown(socket.SHUT_WR)
        worker._work_for(theirs)
        theirs.shutdown(socket.SHUT_WR)
        with ours.makefile("r", encoding="utf-8") as hears:
            return [json.loads(line) for line in hears]


def order_of(path: Path, **others: Any) -> str:
    job = {"kind": "look", "folder": "f", "job_mb": 100, "request": {"path": str(path)}, **others}
    return json.dumps(job) + "\n"


def test_a_worker_without_a_job_says_who_it_is_and_ends(quiet: None) -> None:
    assert talk("") == [{"process": os.getpid()}]


def test_a_worker_tells_how_far_it_is_and_that_it_is_done(
    quiet: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def work(job: dict[str, Any]) -> None:
        for done in range(6):
            tell("reading", done, 5)

    monkeypatch.setattr(worker, "work", work)
    told = talk(order_of(tmp_path / "a.csv"))[1:]
    assert told[0] == {"doing": "reading", "done": 0, "of": 5}
    assert told[-2] == {"doing": "reading", "done": 5, "of": 5}
    assert told[-1] == {"ended": "done"}
    assert len(told) < 8


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InputError("no label column", fix="name it"), "No label column"),
        (MissingExtraError("reading Parquet", "parquet"), "parquet"),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full"),
        (ZeroDivisionError("division by zero"), "The program made a mistake: ZeroDivisionError"),
        (MemoryError(), "the memory of 100 MB that a job may use is not enough"),
    ],
)
def test_a_worker_says_why_it_failed(
    quiet: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    error: Exception,
    expected: str,
) -> None:
    def work(job: dict[str, Any]) -> None:
        raise error

    monkeypatch.setattr(worker, "work", work)
    last = talk(order_of(tmp_path / "a.csv"))[-1]
    assert last["ended"] == "failed"
    assert expected.lower() in last["error"]["got"].lower()
    assert ("Traceback" in capsys.readouterr().err) == isinstance(error, ZeroDivisionError)


def test_memory_is_blamed_where_it_is_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = InputError("a failed import")
    hidden.__cause__ = MemoryError()
    assert worker._is_for_memory(hidden)
    assert not worker._is_for_memory(InputError("a bad file"))
    assert not worker._is_for_memory(RuntimeError("something else"))

    def no_room(size: int) -> bytearray:
        raise MemoryError

    monkeypatch.setattr(worker, "bytearray", no_room, raising=False)
    assert worker._is_for_memory(RuntimeError("something else"))


def test_a_worker_leaves_when_the_server_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    left = []
    monkeypatch.setattr(os, "_exit", left.append)
    ours, theirs = socket.socketpair()
    with theirs, theirs.makefile("r", encoding="utf-8") as hears:
        waiting = threading.Thread(target=worker._leave_with_server, args=(hears,))
        waiting.start()
        ours.close()
        waiting.join(10)
    assert left == [1]


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_file_that_is_not_the_one_that_was_opened_is_refused(tmp_path: Path, change: str) -> None:
    path, folder = tmp_path / "a.csv", tmp_path / "results"
    if change == "other":
        path.write_text("id,a\n1,0.5\n")
    request = {"path": str(path), "sha256": "0" * 64, "digest": "0" * 64}
    with pytest.raises(InputError, match=r"no longer there|changed"):
        worker.work({"kind": "look", "folder": str(folder), "request": request})
    assert not folder.exists()
    assert [name for name in os.listdir(tmp_path) if "unfinished" in name] == []


def test_the_forge_gets_ready_and_makes_a_worker_per_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ready: list[str] = []
    made: list[str] = []
    monkeypatch.setattr(worker, "get_ready", ready.append)
    monkeypatch.setattr(worker, "REST", 0.0)
    ours, theirs = socket.socketpair()
    forge = worker.Forge(theirs, forks=False)
    monkeypatch.setattr(forge, "_make_worker", lambda kind, line: made.append(kind))
    with ours, theirs:
        for number in (1, 0):
            one, other = socket.socketpair()
            socket.send_fds(ours, [bytes([number])], [one.fileno()])
            one.close()
            other.close()
        ours.shutdown(socket.SHUT_WR)
        forge.run()
    assert made == [KINDS[1], KINDS[0]]
    assert ready == list(KINDS)[: len(ready)]


def test_a_worker_without_a_fork_does_its_job_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Any] = []

    def leave(code: int) -> None:
        done.append(("left", code))

    monkeypatch.setattr(worker, "get_ready", lambda kind: done.append(("ready", kind)))
    monkeypatch.setattr(worker, "_work_for", lambda line: done.append("worked"))
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    monkeypatch.setattr(os, "_exit", leave)
    ours, theirs = socket.socketpair()
    line, other = socket.socketpair()
    with ours, line, other:
        forge = worker.Forge(theirs, forks=False)
        forge._make_worker(KINDS[0], line)
    assert done == [("ready", KINDS[0]), "worked", ("left", 0)]


def test_a_limit_of_memory_is_set_below_that_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    seen = []
    monkeypatch.setattr(resource, "setrlimit", lambda which, both: seen.append(both))
    for hard in (resource.RLIM_INFINITY, 10**12, 10**6):
        monkeypatch.setattr(resource, "getrlimit", lambda which, hard=hard: (hard, hard))
        worker._limit_memory(100)
    assert seen == [(100_000_000, resource.RLIM_INFINITY), (100_000_000, 10**12)]
