"""What a run was asked for, in one form: its method with options, how scores are read, its seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

import numpy as np

from ssme.data.readers.options import ReadOptions
from ssme.errors import InputError, argument, name_argument
from ssme.methods.base import Method
from ssme.methods.registry import find_method_class, get_method, method_names
from ssme.options import (
    Anything,
    NamedValues,
    Option,
    Series,
    Text,
    accept,
    accept_all,
    list_declared,
)

__all__ = [
    "READING",
    "ColumnNames",
    "OnePath",
    "Paths",
    "check_reading",
    "draw_seed",
    "holds_data",
    "settle_method",
]

READING: dict[str, Option] = {each.name: each for each in list_declared(ReadOptions)}


@dataclass(frozen=True)
class ColumnNames:
    """Names of group columns, none at all among them."""

    def accept(self, value: Any) -> tuple[str, ...]:
        return Series(Text()).accept([value] if isinstance(value, str) else value)

    def describe(self) -> str:
        return "a name, or a list of names that may be empty"


@dataclass(frozen=True)
class Paths:
    """One or more files, folders, patterns or addresses, kept as text."""

    def accept(self, value: Any) -> str | tuple[str, ...]:
        if isinstance(value, (str, Path)):
            return Text().accept(str(value))
        return tuple(Text().accept(str(path)) for path in Series(_ONE_PATH, least=1).accept(value))

    def describe(self) -> str:
        return "the path of a file, or a list of paths"


_ONE_PATH = Anything("a path")


@dataclass(frozen=True)
class OnePath:
    """One file, kept as text."""

    def accept(self, value: Any) -> str:
        return Text().accept(str(value) if isinstance(value, Path) else value)

    def describe(self) -> str:
        return "the path of a file"


def draw_seed() -> int:
    """A seed that nobody has chosen, short enough to be written down."""
    return int(np.random.SeedSequence().generate_state(1)[0])


def settle_method(method: Any, options: Any) -> tuple[str | Method, dict[str, Any]]:
    """Name and checked options of a method that is in the registry; else the object itself."""
    given = NamedValues().accept(options or {})
    if isinstance(method, str):
        with name_argument("method"):
            known = find_method_class(method)
        if list_declared(known) or not given:
            return method, accept_all(known, given, f"method {method!r}")
        get_method(method, **given)
        return method, given
    if not hasattr(method, "spec") or not hasattr(method, "fit"):
        raise InputError(
            f"{argument('method', method)} is not a method",
            allowed="the name of a method or a method object",
            fix=f"choose among {', '.join(method_names())}",
        )
    if given:
        raise InputError(
            f"a method object was given together with {argument('options')} {', '.join(given)}",
            fix="set its options when you make it",
        )
    name = method.spec.name
    if name not in method_names() or type(method) is not find_method_class(name):
        return cast(Method, method), {}
    plain = get_method(name)
    return name, {
        each.name: getattr(method, each.name)
        for each in fields(cast(Any, method))
        if each.init and not _compare(getattr(method, each.name), getattr(plain, each.name))
    }


def _compare(one: Any, two: Any) -> bool:
    try:
        return bool(one == two)
    except ValueError:
        return False


def check_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options of reading, in one form each; arrays that come with them are left as they are."""
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        known = READING.get(name)
        is_data = holds_data(name, value) or (
            name == "labels" and not isinstance(value, (str, Path, bool))
        )
        if known is None or is_data:
            checked[name] = value
        elif value is not False or known.default is not False:
            checked[name] = accept(known, value)
    return checked


def holds_data(name: str, value: Any) -> bool:
    """Whether an option of reading is given as values of the rows."""
    if name == "design":
        return not isinstance(value, str)
    return name == "groups" and isinstance(value, Mapping)
