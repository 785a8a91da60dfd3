"""Column names that hold a model and a class: which columns form a complete grid of the two."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ssme.data.labels import RawLabels, spell_class
from ssme.data.readers.tables import Table
from ssme.data.simplex import find_rounding, find_wrong_sums

__all__ = ["PATTERNS", "Grid", "find_grids", "list_blocks"]

PATTERNS = tuple(
    f"{{model}}{mark}{{class}}" for mark in (":", "__", "|", "/", ".", "_", "-", " ", "")
)
"""Patterns tried when none is given, from the most to the least deliberate separator. Without one,
a class is a number."""


@dataclass(frozen=True)
class Grid:
    """model -> class -> column; without classes, one column of P(positive) per model."""

    columns: Mapping[str, Mapping[Hashable, str]]
    classes: tuple[Hashable, ...] | None

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(self.columns)

    @property
    def used(self) -> set[str]:
        return {column for of in self.columns.values() for column in of.values()}

    def list_by_model(self) -> dict[str, tuple[str, ...]]:
        """model -> its columns, in the order of the classes."""
        if self.classes is None:
            return {model: tuple(of.values()) for model, of in self.columns.items()}
        return {
            model: tuple(of[name] for name in self.classes) for model, of in self.columns.items()
        }

    def sums_to_one(self, table: Table) -> bool:
        """Whether the class columns of every model are probabilities on every row."""
        return self.find_wrong_sum(table) is None

    def fits(self, raw: RawLabels) -> bool:
        """Whether every label seen is one of the classes."""
        names = {spell_class(name) for name in self.classes or ()}
        return all(spell_class(value) in names for value in raw.values)

    def find_wrong_sum(self, table: Table) -> tuple[str, int, float] | None:
        """Model, row and sum of the first class columns that do not sum to one."""
        for model, of in self.columns.items():
            scores = np.stack([table.read_floats(column) for column in of.values()], axis=1)
            wrong = find_wrong_sums(scores)
            if wrong.any():
                row = int(np.argmax(wrong))
                return model, row, float(scores[row].sum())
        return None

    def is_meant(
        self, table: Table, raw: RawLabels, *, near: float = 0.05, by_chance: float = 1e-6
    ) -> bool:
        """Whether columns that do not sum to one are classes all the same.

        They are if the labels name several classes that no number of a seed or version would be,
        or if the columns of some model sum to one, within ``near`` or rounding, on most rows, and
        on more rows than unrelated columns would with the probability ``by_chance``.
        """
        if not raw.values or not self.fits(raw):
            return False
        if len(raw.values) > 2 or not all(str(name).isdigit() for name in self.classes or ()):
            return True
        from scipy.special import bdtrc

        for of in self.columns.values():
            scores = np.stack([table.read_floats(column) for column in of.values()], axis=1)
            off, within = np.abs(scores.sum(axis=1) - 1.0), max(near, find_rounding(scores, 1))
            known, sound = np.sum(~np.isnan(off)), np.sum(off <= within)
            if sound > 0.5 * known and bdtrc(sound - 1, known, 2.0 * within) < by_chance:
                return True
        return False


def find_grids(
    columns: Sequence[str],
    pattern: str,
    *,
    models: Sequence[str] | None = None,
    classes: Sequence[Hashable] | None = None,
    required: Collection[str] = (),
) -> list[Grid]:
    """The complete grids of two or more classes that ``columns`` form, mostly one or none.

    There are two where the separator also occurs inside names. ``models`` and ``classes`` are
    those that are known. A grid that leaves a ``required`` column over does not count; names with
    none of these columns, and with other classes than the rest, are not models of it.
    """
    grids: list[Grid] = []
    for longest in (True, False):
        found = _match(columns, _compile_pattern(pattern, models, classes, longest))
        grid = _complete(found, models)
        if grid is None and required:
            needed = {m: set(of) for m, of in found.items() if {*required} & {*of.values()}}
            alike = {m: of for m, of in found.items() if m in needed or set(of) in needed.values()}
            grid = _complete(alike, models)
        if grid is not None and grid.used.issuperset(required) and grid not in grids:
            grids.append(grid)
    return grids


def list_blocks(columns: Sequence[str]) -> list[list[str]]:
    """Columns whose names begin alike up to a separator or a number: perhaps one model's."""
    matchers = [_compile_pattern(pattern, None, None, longest=True) for pattern in PATTERNS]
    return [list(of.values()) for each in matchers for of in _match(columns, each).values()]


def _compile_pattern(
    pattern: str,
    models: Sequence[str] | None,
    classes: Sequence[Hashable] | None,
    longest: bool,
) -> re.Pattern[str]:
    """``pattern`` as a regular expression; ``longest``: the model takes all it can."""
    apart = "}{" not in pattern
    free = (".+" if longest else ".+?") if apart or classes is not None else r".*\D"
    model = free if models is None else "|".join(map(re.escape, models))
    name = ".+" if apart else r"\d+"
    if classes is not None:
        name = "|".join(re.escape(str(name)) for name in classes)
    text = re.escape(pattern)
    text = text.replace(r"\{model\}", f"(?P<model>{model})", 1)
    return re.compile(text.replace(r"\{class\}", f"(?P<name>{name})", 1))


def _match(columns: Sequence[str], matcher: re.Pattern[str]) -> dict[str, dict[Hashable, str]]:
    found: dict[str, dict[Hashable, str]] = {}
    for column in columns:
        match = matcher.fullmatch(column)
        if match:
            found.setdefault(match["model"], {})[match["name"]] = column
    return found


def _complete(found: dict[str, dict[Hashable, str]], models: Sequence[str] | None) -> Grid | None:
    """A grid if every model (wanted) has the same two or more classes."""
    wanted = list(found) if models is None else list(models)
    if not wanted or set(wanted) != set(found):
        return None
    names = tuple(found[wanted[0]])
    if len(names) < 2 or any(set(found[model]) != set(names) for model in wanted):
        return None
    return Grid({model: found[model] for model in wanted}, names)
