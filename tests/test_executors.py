"""Every executor gives the same results in the same order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from pathlib import Path

import pytest

from ssme.errors import InputError
from ssme.executors import (
    EXECUTORS,
    SerialExecutor,
    map_in_order,
    open_executor,
    run_on_thread,
)


def square(x: int) -> int:
    time.sleep(0.002 * (x % 3))
    return x * x


def fail_at_three(x: int) -> int:
    if x == 3:
        raise ValueError("three")
    return x


@pytest.mark.parametrize("kind", [kind for kind in EXECUTORS if kind != "dask"])
def test_results_come_in_the_order_of_the_items(kind: str) -> None:
    with open_executor(kind, workers=2) as executor:
        assert isinstance(executor, Executor)
        assert list(map_in_order(executor, square, range(20), ahead=5)) == [
            x * x for x in range(20)
        ]


@pytest.mark.parametrize("kind", ["serial", "threads"])
def test_an_error_reaches_the_caller_and_the_rest_is_cancelled(kind: str) -> None:
    with open_executor(kind, workers=1) as executor:
        results = map_in_order(executor, fail_at_three, range(100), ahead=2)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="three"):
            next(results)


class Counted(SerialExecutor):
    """Counts the pieces of work; the first ``late`` are done when somebody waits for them."""

    def __init__(self, late: int) -> None:
        self.late, self.submitted = late, 0

    def submit(self, fn, /, *args, **kwargs) -> Future:  # type: ignore[no-untyped-def, type-arg]
        self.submitted += 1
        done = super().submit(fn, *args, **kwargs)
        if self.submitted <= self.late:
            done.done = lambda: False  # type: ignore[method-assign]
        return done


@pytest.mark.parametrize(("late", "submitted"), [(10, 4), (0, 1)])
def test_at_most_ahead_pieces_are_submitted_before_one_is_taken(late: int, submitted: int) -> None:
    executor = Counted(late)
    results = map_in_order(executor, square, iter(range(1000)), ahead=4)
    next(results)
    assert executor.submitted == submitted


def test_unknown_kind_bad_workers_and_stray_address_are_refused() -> None:
    with pytest.raises(InputError, match=r"unknown executor 'ray'.*serial, threads"):
        open_executor("ray").__enter__()
    with pytest.raises(InputError, match="workers must be 1"):
        open_executor("threads", workers=0).__enter__()
    with pytest.raises(InputError, match="for the executor 'dask'"):
        open_executor("threads", scheduler="tcp://x:1").__enter__()


def is_running(number: int) -> bool:
    """Whether the process is there and not merely waiting to be buried."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks into /proc")
@pytest.mark.parametrize(
    ("name", "to_all"),
    [("SIGKILL", False), ("SIGTERM", False), ("SIGINT", False), ("SIGINT", True)],
)
def test_no_worker_outlives_its_parent(tmp_path: Path, name: str, to_all: bool) -> None:
    """Killed alone or, as Ctrl-C does it, with all its processes."""
    script = Path(__file__).with_name("pool_script.py")
    parent = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)],
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        workers = [int(path.stem) for path in tmp_path.glob("*.pid")]
        assert all(map(is_running, workers))
        number = getattr(signal, name)
        if to_all:
            os.killpg(parent.pid, number)
        else:
            parent.send_signal(number)
        _, told = parent.communicate(timeout=30)
        assert wait_until(lambda: not any(map(is_running, workers)), 10)
        assert told.count("Traceback") == (name == "SIGINT")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(parent.pid, signal.SIGKILL)


def test_what_runs_beside_gives_its_result_or_its_error() -> None:
    assert run_on_thread(square, 3).result() == 9
    with pytest.raises(ValueError, match="three"):
        run_on_thread(fail_at_three, 3).result()


@pytest.mark.parametrize("address", ["nonsense", "foo://x:1", "inproc://x", "a:b", "tls://x:1"])
def test_an_address_at_which_no_scheduler_can_be_makes_no_client(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    distributed = pytest.importorskip("distributed")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a client was made, which would wait when it is thrown away")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(InputError, match="no Dask scheduler answers at"):
        open_executor("dask", scheduler=address).__enter__()


def test_a_scheduler_inside_this_process_is_used() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("inproc://")
        with open_executor("dask", scheduler=address) as executor:
            assert executor.submit(square, 3).result() == 9
    with pytest.raises(InputError, match="it is not in this process"):
        open_executor("dask", scheduler=address).__enter__()
