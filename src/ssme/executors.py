"""Where independent pieces of work run: here, on threads, on processes, or on a Dask cluster.

    with open_executor("processes", workers=4) as executor:
        for result in map_in_order(executor, function, items):
            ...

Every kind is a `concurrent.futures.Executor`; Dask's own `Client.get_executor` is one too, so it
schedules, moves data and repeats the work of workers that die. `map_in_order` hands results over
in the order of the items whatever finishes first: what is merged from them does not depend on the
number of workers, not even in the last bit.

Worker processes end with the process that started them, however that one ends. Each watches the
end of a pipe whose other end only their parent keeps open: the system closes it when the parent is
killed, and the parent closes it itself when it is interrupted or gives up; it then also ends those
that have not come as far as watching.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, TypeVar

from ssme.errors import InputError, MissingExtraError, make_unknown_name_error

# -------------------------------------------------------------------------------------------------
# Which device torch works on, with a clear answer where it cannot.


def import_torch(what: str) -> Any:
    """The torch module, or `MissingExtraError` naming the extra that ``what`` needs."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError(what, "flow") from error
    return torch


def choose_torch_device(name: str | None, what: str) -> Any:
    """The torch device ``name`` ("cpu", "cuda", "cuda:1"); None: a GPU where there is one."""
    torch = import_torch(what)
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(option="device", value=name, must="be cpu, cuda, cuda:0, ...") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        problem = f"device={name!r}, and torch {torch.__version__} sees no NVIDIA GPU"
        raise InputError(problem, hint="leave device out, or run where `torch.cuda.is_available()`")
    return device


EXECUTORS = ("serial", "threads", "processes", "dask")
RETRIES = 3
"""Times Dask repeats a piece of work before it counts as failed."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class SerialExecutor(Executor):
    """Runs each piece at once, in the calling thread."""

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        future: Future[Result] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def open_executor(
    kind: str = "serial", *, workers: int | None = None, scheduler: str | None = None
) -> Iterator[Executor]:
    """An executor of one of the `EXECUTORS`, closed on the way out.

    ``workers`` are threads, processes or local Dask workers (default: one per core). Without the
    address of a running ``scheduler``, Dask starts a local cluster of single-threaded processes.
    """
    if kind not in EXECUTORS:
        raise make_unknown_name_error("executor", kind, EXECUTORS)
    if scheduler is not None and kind != "dask":
        problem = f"a scheduler address ({scheduler!r}) is for the executor 'dask', not {kind!r}"
        raise InputError(problem, hint="ask for 'dask', or leave the address out")
    if workers is not None and workers < 1:
        raise InputError(option="workers", value=workers, must="be 1 or more")
    if kind == "serial":
        yield SerialExecutor()
    elif kind == "threads":
        with ThreadPoolExecutor(workers or os.cpu_count()) as executor:
            yield executor
    elif kind == "processes":
        with _open_processes(workers or os.cpu_count() or 1) as executor:
            yield executor
    else:
        with _open_dask_client(workers, scheduler) as client:
            yield client.get_executor(pure=False, retries=RETRIES)


def map_in_order(
    executor: Executor, function: Callable[[Item], Result], items: Iterable[Item], *, ahead: int = 8
) -> Iterator[Result]:
    """``function`` of each item, in order, with at most ``ahead`` pieces under way at once."""
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(executor.submit(function, item))
            while waiting and (len(waiting) >= ahead or waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def limit_blas_threads() -> None:
    """One BLAS thread in this process: the cores are already shared by pieces of work."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


@contextmanager
def hold_interrupts() -> Iterator[None]:
    """Put a Ctrl-C off until the block is left, so that what it changes is changed as a whole."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[Any] = []
    signal.signal(signal.SIGINT, lambda *arguments: held.append(arguments))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            before(*held[0])


def run_on_thread(function: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """``function`` on a new daemon thread, which need not end before the program does."""
    future: Future[Result] = Future()
    context = copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(function, *arguments))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


class _ProcessPool(ProcessPoolExecutor):
    """Worker processes that ignore Ctrl-C, which reaches every process of a terminal.

    A new process takes over which signals are held back from the thread that starts it.
    """

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        if not hasattr(signal, "pthread_sigmask"):
            return super().submit(fn, *args, **kwargs)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return super().submit(fn, *args, **kwargs)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _open_processes(count: int) -> Iterator[Executor]:
    from multiprocessing import active_children, get_context

    others = set(active_children())
    context = get_context("spawn")
    watched, held = context.Pipe(duplex=False)
    pool = _ProcessPool(count, context, _prepare_worker, (watched,))
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        held.close()
        # First: a pool that finds its workers dead marks canceled futures as failed, and breaks.
        pool.shutdown(wait=False, cancel_futures=True)
        workers = set(active_children()) - others
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()
        raise
    finally:
        held.close()
        watched.close()


def _prepare_worker(watched: Any) -> None:
    from multiprocessing.connection import wait

    def end_with_parent() -> None:
        wait([watched])
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    limit_blas_threads()


@contextmanager
def _open_dask_client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise MissingExtraError("the executor 'dask'", "dask") from error
    if scheduler is not None:
        try:
            _check_address(scheduler)
            client = Client(scheduler, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(
                f"no Dask scheduler answers at {scheduler!r} ({error})",
                option="scheduler",
                hint="give an address such as tcp://host:8786, start one with `dask scheduler`, or "
                "leave it out for a local cluster",
            ) from error
        with client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=workers or os.cpu_count(), threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def _check_address(scheduler: str) -> None:
    """Raise ``ValueError`` for an address at which no scheduler can be.

    A client that fails on its address waits for a minute when it is thrown away.
    """
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.inproc import global_manager
    from distributed.comm.registry import get_backend
    from distributed.security import Security

    scheme, place = parse_address(scheduler)
    get_backend(scheme)
    if scheme == "inproc":
        if global_manager.get_listener_for(place) is None:
            raise ValueError("it is not in this process")
        return
    parse_host_port(place)
    secure = Security().get_connection_args("client").get("ssl_context") is not None
    if scheme in ("tls", "wss") and not secure:
        raise ValueError("Dask's own configuration names no certificates for it")
