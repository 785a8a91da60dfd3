"""Progress of long work, reported to listeners; without a listener it costs nothing.

Loops that may take more than a second run over ``track(items, title)``. A person sees them with

    with ssme.progress.show():          # a bar with the time left, in a terminal or a notebook
        result = ssme.evaluate("scores.csv")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

__all__ = ["Listener", "listen", "show", "tell", "track"]

T = TypeVar("T")
Listener = Callable[[str, int, int], None]
"""Called with a loop's title, the steps done and the steps in all."""

_listener: ContextVar[Listener | None] = ContextVar("ssme_progress", default=None)


def track(items: Sequence[T], title: str) -> Iterator[T]:
    """Go through items and tell the listener how far the loop is.

    Parameters
    ----------
    items : sequence
        What to go through.
    title : str
        What the loop does.

    Yields
    ------
    object
        The items, one by one.

    Examples
    --------
    >>> list(track([1, 2], "fitting"))
    [1, 2]
    """
    for done, item in enumerate(items):
        tell(title, done, len(items))
        yield item
    tell(title, len(items), len(items))


def tell(title: str, done: int, total: int) -> None:
    """Tell the listener, if there is one, how far a loop is.

    Parameters
    ----------
    title : str
        What the loop does.
    done, total : int
        Number of steps that are done, and of all steps.
    """
    listener = _listener.get()
    if listener is not None:
        listener(title, done, total)


@contextmanager
def listen(listener: Listener | None) -> Iterator[None]:
    """Let a function hear of every long loop that runs in the block.

    Parameters
    ----------
    listener : callable or None
        ``listener(title, done, total)`` is called after each step; None silences all loops.

    Examples
    --------
    >>> with listen(lambda title, done, total: print(title, done, "of", total)):
    ...     tell("fitting", 1, 2)
    fitting 1 of 2
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def show(title: str = "working", console: Any = None) -> Iterator[None]:
    """Show progress bars with the elapsed time and the time left while the block runs.

    The bars disappear when the block ends.

    Parameters
    ----------
    title : str
        What is shown before the first loop begins.
    console : rich.console.Console, optional
        Where the bars are drawn (default: the terminal or the notebook).
    """
    from rich import progress
    from rich.console import Console

    bars = progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=console or Console(stderr=True),
        transient=True,
    )
    tasks = {title: bars.add_task(title, total=None)}

    def hear(title: str, done: int, total: int) -> None:
        if title not in tasks:
            tasks[title] = bars.add_task(title, total=total)
        elif done == 0:
            bars.reset(tasks[title], total=total)
        bars.update(tasks[title], completed=done, total=total)

    with bars, listen(hear):
        yield
