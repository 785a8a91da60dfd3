"""Which methods accept some data, and why the others do not."""

from __future__ import annotations

from ssme.data.scoreset import ScoreSet
from ssme.errors import UnsupportedError
from ssme.methods.base import check_supported
from ssme.methods.registry import find_method_class, method_names

__all__ = ["list_supported"]


def list_supported(data: ScoreSet) -> tuple[list[str], dict[str, str]]:
    """Names of the methods that accept ``data``, and by name why the others do not."""
    can: list[str] = []
    cannot: dict[str, str] = {}
    for name in method_names():
        try:
            check_supported(find_method_class(name).spec, data, [])
            can.append(name)
        except UnsupportedError as error:
            cannot[name] = error.got
    return can, cannot
