"""How a file writes its numbers: ``0.5``, or ``0,5``, or ``1.234,5``.

What is not declared is not guessed: a column that reads like numbers with a comma is refused with
the option that says what the comma means. With a declared style, a cell is a number only if it is
written in that style to the last character, groups of thousands included.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ssme.errors import InputError, argument

__all__ = ["NumberStyle", "refuse_commas"]

WITH_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*", re.ASCII)
PLAIN = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


@dataclass(frozen=True)
class NumberStyle:
    """A decimal mark and, if there is one, the mark between thousands.

    Examples
    --------
    >>> NumberStyle(",", ".").to_plain("1.234,5")
    '1234.5'
    >>> NumberStyle(",", ".").to_plain("12.34,5") is None
    True
    """

    decimal: str = "."
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal == self.thousands:
            raise InputError(
                f"{argument('decimal', repr(self.decimal))} and "
                f"{argument('thousands', repr(self.thousands))}",
                allowed="two different marks",
                fix=f"say what {self.decimal!r} stands for, and leave the other out",
            )
        point = re.escape(self.decimal)
        whole = r"\d+"
        if self.thousands is not None:
            whole = rf"(?:\d{{1,3}}(?:{re.escape(self.thousands)}\d{{3}})+|\d+)"
        number = rf"\s*([+-]?)({whole})?(?:{point}(\d*))?([eE][+-]?\d+)?\s*"
        object.__setattr__(self, "_number", re.compile(number, re.ASCII))

    def to_plain(self, cell: str) -> str | None:
        """The number in ``cell`` as Python writes it; None where it is none."""
        found = self._number.fullmatch(cell)  # type: ignore[attr-defined]
        if found is None or not (found[2] or found[3]):
            return None
        whole = (found[2] or "0").replace(self.thousands or "", "")
        fraction = f".{found[3]}" if found[3] else ""
        return f"{found[1]}{whole}{fraction}{found[4] or ''}"

    def find_columns_of_numbers(
        self,
        names: Sequence[str | None],
        rows: Iterable[tuple[int, list[str]]],
        missing: Collection[str],
    ) -> frozenset[int]:
        """Places of the columns whose cells are all numbers or missing.

        ``names`` has None for a column that is left out. A column that is mostly numbers is refused
        with the first cell that is none, and so is one whose numbers are all written with a point
        where another mark is declared.
        """
        numbers, others, points = ([0] * len(names) for _ in range(3))
        first: dict[int, tuple[int, str]] = {}
        for line, row in rows:
            for place, cell in enumerate(row[: len(names)]):
                if cell.strip() in missing:
                    continue
                if self.to_plain(cell) is not None:
                    numbers[place] += 1
                    continue
                others[place] += 1
                points[place] += PLAIN.fullmatch(cell) is not None
                first.setdefault(place, (line, cell))
        for place, name in enumerate(names):
            odd = numbers[place] > others[place] > 0 or points[place] == others[place] > 0
            if odd and name is not None:
                raise self._tell_stray(name, *first[place])
        return frozenset(
            p for p, name in enumerate(names) if numbers[p] and not others[p] and name is not None
        )

    def _tell_stray(self, name: str, line: int, cell: str) -> InputError:
        marks = argument("decimal", repr(self.decimal))
        if self.thousands is not None:
            marks += f" and {argument('thousands', repr(self.thousands))}"
        return InputError(
            f"column {name!r} holds {cell!r} in line {line}, which is not a number with {marks}",
            allowed="numbers that are all written in the declared way",
            fix=f"correct {argument('decimal')} or {argument('thousands')}, or the cell; or leave "
            f"the column out with {argument('ignore', repr(name))}",
        )


def refuse_commas(what: str, frame: Any, ignored: Collection[str]) -> None:
    """Refuse a column of text in ``frame`` whose cells all read like numbers with a comma."""
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if kind.kind in "fiub" or str(name) in ignored:
            continue
        cells = frame[name].dropna()
        if len(cells) and all(isinstance(c, str) and WITH_COMMA.fullmatch(c) for c in cells):
            raise InputError(
                f"{what}: column {str(name)!r} holds {cells.iloc[0]!r} at row {cells.index[0]}, "
                "in which the comma may stand before decimals or between thousands",
                allowed="numbers with a decimal point, or marks that are declared",
                fix=f"say {argument('decimal', repr(','))} or {argument('thousands', repr(','))}; "
                f"for text say {argument('decimal', repr('.'))}",
            )
