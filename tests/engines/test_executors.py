"""Every executor gives the same results in the same order."""

from __future__ import annotations

import time
from concurrent.futures import Executor, Future

import pytest

from ssme.engines.executors import EXECUTORS, SerialExecutor, open_executor, ordered_map
from ssme.errors import InputError


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
        assert list(ordered_map(executor, square, range(20), ahead=5)) == [x * x for x in range(20)]


@pytest.mark.parametrize("kind", ["serial", "threads"])
def test_an_error_reaches_the_caller_and_the_rest_is_cancelled(kind: str) -> None:
    with open_executor(kind, workers=1) as executor:
        results = ordered_map(executor, fail_at_three, range(100), ahead=2)
        assert [next(results) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="three"):
            next(results)


def test_at_most_ahead_pieces_are_submitted_before_one_is_taken() -> None:
    class Counting(SerialExecutor):
        submitted = 0

        def submit(self, fn, /, *args, **kwargs) -> Future:  # type: ignore[no-untyped-def, type-arg]
            self.submitted += 1
            return super().submit(fn, *args, **kwargs)

    executor = Counting()
    results = ordered_map(executor, square, iter(range(1000)), ahead=4)
    next(results)
    assert executor.submitted == 4


def test_unknown_kind_bad_workers_and_stray_address_are_refused() -> None:
    with pytest.raises(InputError, match=r"unknown executor 'ray'.*serial, threads"):
        open_executor("ray").__enter__()
    with pytest.raises(InputError, match="0 workers"):
        open_executor("threads", workers=0).__enter__()
    with pytest.raises(InputError, match="only for the executor 'dask'"):
        open_executor("threads", scheduler="tcp://x:1").__enter__()
