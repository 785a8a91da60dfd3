"""Tables as frames of pandas, polars or pyarrow, and as prompts and notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ssme.errors import InputError
from ssme.wording import make_printable, shorten

LIBRARIES = ("pandas", "polars", "pyarrow")
LONGEST_NAME = 60
SHOWN_ROWS = 40

Columns = Mapping[str, Sequence[Any]]


def build_frame(columns: Columns, library: str = "pandas") -> Any:
    """``columns`` as a frame of ``library``.

    Half of a surrogate pair, which may come out of a damaged file name, cannot be stored by Arrow:
    pandas keeps such a name as a Python object, polars and pyarrow get it with the half escaped.
    """
    if library not in LIBRARIES:
        must = f"be one of {', '.join(LIBRARIES)}"
        raise InputError(option="library", value=library, must=must)
    if library == "pandas":
        import pandas as pd

        return pd.DataFrame(
            {name: _make_pandas_column(values, pd) for name, values in columns.items()},
            columns=list(columns),
        )
    import narwhals as nw

    safe = {
        name: [make_printable(v) if _is_broken(v) else v for v in values]
        for name, values in columns.items()
    }
    return nw.from_dict(safe, backend=cast(Any, library)).to_native()


def build_frame_of_rows(rows: Sequence[Mapping[str, Any]], library: str = "pandas") -> Any:
    """``rows``, all with the keys of the first one, as a frame of ``library``."""
    return build_frame({key: [row[key] for row in rows] for key in rows[0]}, library)


def render_frame_text(columns: Columns) -> str:
    """``columns`` as lines of text that are safe for a terminal; long tables are cut."""
    text: str = _show(columns).to_string(index=False, max_rows=SHOWN_ROWS)
    return text


def render_frame_html(columns: Columns) -> str:
    """``columns`` as an HTML table in which every name is text; long tables are cut."""
    html: str = _show(columns).to_html(index=False, border=0, max_rows=SHOWN_ROWS, escape=True)
    return html


def _show(columns: Columns) -> Any:
    safe = {
        name: [shorten(v, LONGEST_NAME) if isinstance(v, str) else v for v in values]
        for name, values in columns.items()
    }
    return build_frame(safe).round(4)


def _make_pandas_column(values: Sequence[Any], pd: Any) -> Any:
    broken = any(_is_broken(value) for value in values)
    return pd.Series(list(values), dtype=object) if broken else list(values)


def _is_broken(value: Any) -> bool:
    return isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value)
