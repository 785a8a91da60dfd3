"""One look at every data frame library, through narwhals: columns as numpy arrays.

pandas, polars (eager and lazy), pyarrow and whatever else narwhals reads come in as a `Table`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import refuse_rounded_ids
from ssme.data.readers.arrow import from_arrow
from ssme.data.values import (
    EXACT_INTEGER,
    FloatArray,
    as_floats,
    has_128_bits,
    is_boolean,
    is_numeric,
    to_float64,
    to_objects,
)
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

__all__ = ["Table", "is_frame"]


def is_frame(value: object) -> bool:
    """Whether narwhals knows ``value`` as a data frame."""
    import narwhals
    from narwhals.exceptions import DuplicateError

    try:
        native = narwhals.from_native(value, pass_through=True)
    except DuplicateError:  # a frame whose columns `Table` refuses by name
        return True
    return isinstance(native, narwhals.DataFrame | narwhals.LazyFrame)


class Table:
    """A named set of equally long columns.

    Parameters
    ----------
    frame : data frame
        A frame of any library that narwhals reads.
    what : str
        What the table is called in messages.
    """

    def __init__(self, frame: Any, what: str = "the frame") -> None:
        import narwhals
        from narwhals.exceptions import DuplicateError

        self.what = what
        try:
            native = narwhals.from_native(frame, pass_through=True)
            if not isinstance(native, narwhals.DataFrame | narwhals.LazyFrame):
                raise InputError(
                    f"{what} is a {type(frame).__name__}",
                    allowed="a pandas, polars or pyarrow data frame",
                    fix="pass a data frame, or arrays to ScoreSet.from_arrays",
                )
            self._frame: Any = (
                native.collect() if isinstance(native, narwhals.LazyFrame) else native
            )
            self._name_columns()
            self._types = dict(self._frame.schema)
        except DuplicateError:
            names = getattr(frame, "column_names", None) or frame.columns
            raise self._explain_duplicates(names) from None
        self.library: str = self._frame.implementation.name.lower()
        self.n_rows: int = len(self._frame)
        if not self.columns or self.n_rows == 0:
            raise InputError(
                f"{what} is empty: {self.n_rows} rows, columns {quote(self.columns)}",
                allowed="at least one row",
                fix="check the file or the filter that made it",
            )

    def _name_columns(self) -> None:
        """Column names as text; pandas also knows numbers and tuples."""
        import narwhals

        names = list(self._frame.columns)
        odd = next((name for name in names if isinstance(name, tuple)), None)
        if odd is not None:
            raise InputError(
                f"{self.what} has column names of several levels such as {odd!r}",
                allowed="one name per column",
                fix="join the levels, for example frame.columns = [':'.join(c) for c in columns]",
            )
        if not all(isinstance(name, str) for name in names):
            native = self._frame.to_native().rename(columns=str)
            self._frame = narwhals.from_native(native, eager_only=True)
        self.columns: tuple[str, ...] = tuple(map(str, names))
        if len(set(self.columns)) < len(self.columns):
            raise self._explain_duplicates(self.columns)

    def _explain_duplicates(self, names: Sequence[Any]) -> InputError:
        repeated = [name for name, count in Counter(map(str, names)).items() if count > 1]
        return InputError(
            f"{self.what} has duplicated column names: {quote(repeated)}",
            allowed="unique column names",
            fix="rename or drop the repeated columns",
        )

    @property
    def row_index(self) -> Any:
        """The index of a pandas frame, which names its rows; None for other libraries."""
        return self._frame.to_native().index if self.library == "pandas" else None

    def drop(self, names: Sequence[str]) -> Table:
        """The table without some of its columns, each of which must be there."""
        if not names:
            return self
        for name in names:
            self.require(name, "to leave out", "ignore")
        return Table(self._frame.drop(list(names)).to_native(), self.what)

    def require(self, name: str, role: str, option: str) -> str:
        """``name`` if it is a column; otherwise an error with the closest ones.

        ``option`` is what names the column, or would.
        """
        if name in self._types:
            return name
        raise InputError(
            f"{self.what} has no column {name!r} ({role})",
            allowed=f"the columns {quote(self.columns, limit=20)}",
            fix=f"{suggest_nearest(name, self.columns)}name a column that is there with "
            f"{argument(option)}",
        )

    def find(self, named: str | None, usual: Sequence[str], option: str) -> str | None:
        """The column ``named``, or the only one with a usual name for what ``option`` names."""
        role = f"{option.strip('_')} column"
        if named is not None:
            return self.require(named, role, option)
        found = [name for name in self.columns if name.lower() in usual]
        if len(found) > 1:
            raise InputError(
                f"{self.what} has {len(found)} columns that may be the {role}: {quote(found)}",
                allowed=f"one {role}",
                fix=f"name it: {argument(option, repr(found[0]))}",
            )
        return found[0] if found else None

    def read_values(self, name: str) -> NDArray[Any]:
        """A column as it is: numbers (NaN where missing), or objects (None where missing)."""
        return _read_values(self._frame.get_column(name))

    def read_ids(self, name: str) -> NDArray[Any]:
        """A column of names of rows, none of them a number that was rounded."""
        import narwhals

        values, single = self.read_values(name), self._types[name] == narwhals.Float32
        refuse_rounded_ids(values, 2**24 if single else EXACT_INTEGER)
        return values

    def find_kind(self, name: str) -> str:
        """``"number"``, ``"boolean"`` or ``"other"``, which is mostly text."""
        import narwhals

        dtype = self._types[name]
        if dtype == narwhals.Boolean:
            return "boolean"
        if dtype.is_numeric():
            return "number"
        if dtype == narwhals.String:
            return "other"
        values = self.read_values(name)
        if is_boolean(values):
            return "boolean"
        known = values.dtype.kind != "O" or any(value is not None for value in values)
        return "number" if known and is_numeric(values) else "other"

    def read_floats(self, name: str) -> FloatArray:
        """A column of numbers, NaN where missing; anything else is refused."""
        return as_floats(self.read_values(name), f"column {name!r}")

    def refuse_percent(self, name: str) -> None:
        """Refuse a text column that mostly holds texts such as ``46 %``: scores, not words."""
        import pandas

        texts = pandas.Series(self.read_values(name), dtype=object).dropna().astype(str).str.strip()
        bare = pandas.to_numeric(texts.str.removesuffix("%"), errors="coerce")
        percent = texts.str.endswith("%") & bare.notna()
        if len(texts) and percent.mean() >= 0.5:
            row = int(texts.index[int(percent.argmax())])
            raise InputError(
                f"column {name!r} holds {texts.loc[row]!r} at row {row}, a percentage written as "
                "text",
                allowed="numbers between 0 and 1, empty where a model has no score",
                fix="take the sign away and divide by 100, or leave the column out with "
                f"{argument('ignore', f'[{name!r}]')}",
            )

    def refuse_numbers_as_text(self, name: str) -> None:
        """Refuse a text column that is meant for scores: mostly numbers, or all of them shares.

        Whole numbers written as text, such as postal codes, are text.
        """
        import narwhals
        import pandas

        if self._types[name] not in (narwhals.String, narwhals.Object):
            return
        values = pandas.Series(self.read_values(name), dtype=object).dropna()
        numbers = pandas.to_numeric(values, errors="coerce")
        stray = numbers.isna()
        if not len(values) or stray.mean() >= 0.5:
            return
        whole = not stray.any() and bool((numbers % 1 == 0).all())
        if whole:
            return
        row = int(values.index[int(stray.argmax())])
        what = "text among numbers" if stray.any() else "a number written as text"
        raise InputError(
            f"column {name!r} holds {values.loc[row]!r} at row {row}, {what}",
            allowed="numbers, empty where a model has no score",
            fix=f"correct the entry or make numbers of the column, leave it out with "
            f"{argument('ignore', f'[{name!r}]')}, or list the score columns with "
            f"{argument('models', '[...]')}",
        )


def _read_values(series: Any) -> NDArray[Any]:
    native, library = series.to_native(), series.implementation
    if library.is_pyarrow():
        return from_arrow(native)
    if library.is_polars():
        return to_float64(_from_polars(native))
    if library.is_pandas():
        return to_float64(_from_pandas(native))
    return to_float64(np.asarray(series.to_numpy()))


def _from_polars(series: Any) -> NDArray[Any]:
    kind = series.dtype
    inexact = has_128_bits(series) or (
        kind.is_integer() and series.null_count() > 0 and _is_large(series)
    )
    if kind.is_float() or (kind.is_integer() and not inexact):
        out: NDArray[Any] = np.asarray(series.to_numpy())
        return out
    return to_objects(series.to_list())


def _from_pandas(series: Any) -> NDArray[Any]:
    """Missing values of every kind of pandas column as NaN among floats, else as None."""
    import pandas

    kind = series.dtype
    if isinstance(kind, pandas.CategoricalDtype):
        return _from_categorical(series)
    if isinstance(kind, pandas.ArrowDtype):
        import pyarrow

        column = series.array.__arrow_array__()
        whole = isinstance(column, pyarrow.ChunkedArray)
        return from_arrow(column if whole else pyarrow.chunked_array([column]))
    if isinstance(kind, np.dtype):
        out: NDArray[Any] = np.asarray(series.to_numpy())
        return out if kind.kind in "fiubOUS" else np.asarray(series.astype(object))
    if kind.kind in "iuf" and not (kind.kind in "iu" and series.hasnans and _is_large(series)):
        held = kind.numpy_dtype if kind.kind == "f" or not series.hasnans else np.float64
        return np.asarray(series.to_numpy(dtype=held, na_value=np.nan))
    return np.asarray(series.astype(object).to_numpy(dtype=object, na_value=None))


def _from_categorical(series: Any) -> NDArray[Any]:
    """The value of each row's category, None or NaN where a row has none."""
    codes = np.asarray(series.cat.codes)
    categories = to_float64(_from_pandas(series.cat.categories.to_series()))
    if codes.min(initial=0) >= 0 and categories.size:
        taken: NDArray[Any] = categories[codes]
        return taken
    if categories.dtype.kind == "f" or (
        categories.dtype.kind in "iu" and not _is_large(series.cat.categories)
    ):
        numbers: NDArray[Any] = np.append(categories.astype(np.float64), np.nan)
        return numbers.take(codes)
    table: NDArray[np.object_] = np.empty(categories.size + 1, dtype=object)
    table[:-1] = categories.tolist()
    return table.take(codes)


def _is_large(values: Any) -> bool:
    """Whether whole numbers go beyond those that floating-point numbers hold exactly."""
    import pandas

    low, high = values.min(), values.max()
    return not pandas.isna(low) and bool(low < -EXACT_INTEGER or high > EXACT_INTEGER)
