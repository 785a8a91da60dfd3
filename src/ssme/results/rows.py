"""Results as rows: one way from a result to a data frame, to JSON, to print and to a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any, ClassVar

import numpy as np

from ssme.results.frames import build_frame, render_frame_html, render_frame_text
from ssme.wording import make_printable


class Row:
    """Base of the frozen dataclasses that hold a result.

    ``derived`` names properties, and methods without arguments, that `to_dict` adds to the fields.
    """

    derived: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; NaN and infinities become None."""
        shown = [each.name for each in fields(self) if each.repr]  # type: ignore[arg-type]
        values = {name: getattr(self, name) for name in (*shown, *self.derived)}
        return {k: to_plain_values(v() if callable(v) else v) for k, v in values.items()}


class Answer(Row):
    """A result in words: `sentence` is what print shows, a notebook adds the table of `frame`."""

    library: str = "pandas"
    remarks: tuple[str, ...] = ()

    def sentence(self) -> str:
        """Describe the result in words."""
        raise NotImplementedError

    def frame(self, library: str | None = None) -> Any:
        """The rows as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).
        """
        return build_frame(self._list_columns(), library or self.library)

    def _list_columns(self) -> dict[str, list[Any]]:
        """The columns of the table; none where there is no table."""
        return {}

    def __str__(self) -> str:
        return make_printable(self.sentence())

    def _repr_html_(self) -> str:
        columns = _drop_raw(self._list_columns())
        said = [f"<p>{escape(make_printable(text))}</p>" for text in self.remarks]
        table = render_frame_html(columns) if columns else ""
        return "".join([f"<p>{escape(make_printable(self.sentence()))}</p>", table, *said])


@dataclass(frozen=True, eq=False, repr=False)
class RowTable(Answer):
    """An answer that is its table: ``rows`` of the class ``kind`` with a line above them."""

    kind: ClassVar[type[Row]]
    rows: tuple[Any, ...]
    level: float
    library: str = "pandas"
    remarks: tuple[str, ...] = field(default=(), kw_only=True)

    def _list_columns(self) -> dict[str, list[Any]]:
        names = [column.name for column in fields(self.kind)]  # type: ignore[arg-type]
        return {name: [getattr(row, name) for row in self.rows] for name in names}

    def __repr__(self) -> str:
        table = render_frame_text(_drop_raw(self._list_columns()))
        return "\n".join([str(self.sentence()), table, *map(make_printable, self.remarks)])

    __str__ = __repr__

    def __len__(self) -> int:
        return len(self.rows)


def _drop_raw(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The columns that people see: one probability for each event."""
    return {name: column for name, column in columns.items() if not name.endswith("_raw")}


def make_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Columns of ``rows`` that all have the keys of the first one."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def to_plain_values(value: Any) -> Any:
    """``value`` as JSON knows it: arrays to lists, NaN and infinities to None."""
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    if isinstance(value, Row):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(k): to_plain_values(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return to_plain_values(value.tolist())
    if isinstance(value, (list, tuple)):
        return [to_plain_values(v) for v in value]
    if isinstance(value, np.generic):
        return to_plain_values(value.item())
    return str(value)
