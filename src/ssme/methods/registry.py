"""Methods by name; ``members.py`` lists them. A class is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ssme.errors import UnsupportedError, make_unknown_name_error
from ssme.methods.members import METHODS
from ssme.options import accept_all

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet
    from ssme.methods.base import Method


def method_names() -> tuple[str, ...]:
    """Names of all methods, in the order of the table of ``ssme methods``."""
    return tuple(METHODS)


def find_method_class(name: str) -> type[Method]:
    """The class behind ``name``."""
    if name not in METHODS:
        raise make_unknown_name_error("method", name, METHODS, "`ssme methods` describes each")
    module, attribute = METHODS[name].split(":")
    return cast("type[Method]", getattr(import_module(module), attribute))


def get_method(name: str, **options: Any) -> Method:
    """The method ``name`` with ``options``, which are checked."""
    cls = find_method_class(name)
    return cls(**accept_all(cls, options, f"method {name!r}"))


def list_supported(data: ScoreSet) -> tuple[list[str], dict[str, str]]:
    """Names of the methods that accept ``data``, and by name why the others do not."""
    from ssme.methods.base import check_supported  # names alone need no numpy

    can: list[str] = []
    cannot: dict[str, str] = {}
    for name in method_names():
        try:
            check_supported(find_method_class(name).spec, data, [])
            can.append(name)
        except UnsupportedError as error:
            cannot[name] = error.problem or str(error)
    return can, cannot
