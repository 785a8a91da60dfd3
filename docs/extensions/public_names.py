"""The reference covers every public name, or the build fails.

Public are the names in ``ssme.__all__`` and those in ``__all__`` of the modules of ``ROOMS``. A
name is covered where the reference documents it, or the same object under another name:
``ssme.Metric`` is ``ssme.metrics.Metric``.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

ROOMS = (
    "ssme",
    "ssme.bench",
    "ssme.diagnostics",
    "ssme.errors",
    "ssme.memory",
    "ssme.memory.tracking",
    "ssme.methods",
    "ssme.metrics",
    "ssme.progress",
    "ssme.sample",
    "ssme.sklearn",
    "ssme.stream",
    "ssme.testing",
)


def list_public_names() -> list[str]:
    """Full names of everything public: rooms, and what each has in ``__all__``."""
    names = list(ROOMS)
    for room in ROOMS:
        own = getattr(import_module(room), "__all__", [])
        names += [f"{room}.{name}" for name in own if not name.startswith("__")]
    return sorted(set(names))


def resolve(name: str) -> Any:
    """The object with a full name, such as ``ssme.metrics.Metric``."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        room, _, last = name.rpartition(".")
        return getattr(resolve(room), last)


def list_missing_names(documented: set[str]) -> list[str]:
    """Public names that ``documented`` does not cover, neither by name nor by object.

    Examples
    --------
    >>> "ssme.evaluate" in list_missing_names({"ssme.ScoreSet"})
    True
    """
    public = list_public_names()
    covered = [resolve(name) for name in public if name in documented]
    same = {id(each) for each in covered if isinstance(each, type | ModuleType) or callable(each)}
    return [name for name in public if name not in documented and id(resolve(name)) not in same]


def check(app: Any, env: Any) -> None:
    """Warn of every public name that the reference lacks; a warning fails the build."""
    from sphinx.util import logging

    logger = logging.getLogger(__name__)
    for name in list_missing_names(set(env.domains.python_domain.objects)):
        logger.warning("%s is public, and the reference does not have it", name)


def setup(app: Any) -> dict[str, bool]:
    """Check once, when every page has been read."""
    app.connect("env-check-consistency", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
