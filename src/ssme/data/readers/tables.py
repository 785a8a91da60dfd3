"""One look at every data frame library, through narwhals: columns as numpy arrays.

pandas, polars (eager and lazy), pyarrow and whatever else narwhals reads come in as a `Table`;
`make_frame` gives columns back as a frame of the library the data came in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.readers.arrow import decode, from_arrow
from ssme.data.values import FloatArray, as_floats, is_numeric
from ssme.errors import InputError
from ssme.wording import did_you_mean, listing

__all__ = ["Table", "is_frame", "make_frame"]

EAGER_LIBRARIES = ("pandas", "polars", "pyarrow")


def is_frame(value: object) -> bool:
    """Whether narwhals knows ``value`` as a data frame."""
    import narwhals

    return isinstance(
        narwhals.from_native(value, pass_through=True), narwhals.DataFrame | narwhals.LazyFrame
    )


def make_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """A native frame of ``library`` from arrays or lists (None where a value is missing)."""
    import narwhals

    backend: Any = library if library in EAGER_LIBRARIES else "pandas"
    plain = {
        name: values.tolist()
        if isinstance(values, np.ndarray) and values.dtype == object
        else values
        for name, values in columns.items()
    }
    return narwhals.from_dict(plain, backend=backend).to_native()


class Table:
    """A named set of equally long columns; ``what`` it is called in messages."""

    def __init__(self, frame: Any, what: str = "the frame") -> None:
        import narwhals
        from narwhals.exceptions import DuplicateError

        self.what = what
        try:
            native = narwhals.from_native(frame, pass_through=True)
            self._frame: Any = (
                native.collect() if isinstance(native, narwhals.LazyFrame) else native
            )
            if not isinstance(self._frame, narwhals.DataFrame):
                raise InputError(
                    f"{what} is a {type(frame).__name__}",
                    allowed="a pandas, polars or pyarrow data frame",
                    fix="pass a data frame, or arrays to ScoreSet.from_arrays",
                )
            self._name_columns()
            self._decode_columns()
        except DuplicateError as error:
            raise InputError(
                f"{what} has duplicated column names: {error}",
                allowed="unique column names",
                fix="rename or drop the repeated columns",
            ) from None
        self.library: str = self._frame.implementation.name.lower()
        self.n_rows: int = len(self._frame)
        if not self.columns or self.n_rows == 0:
            raise InputError(
                f"{what} is empty: {self.n_rows} rows, columns {listing(self.columns)}",
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

    def _decode_columns(self) -> None:
        """Dictionary-encoded columns and categoricals as the values they stand for."""
        import narwhals

        native, library = self._frame.to_native(), self._frame.implementation
        if library.is_pyarrow():
            for place, name in enumerate(self.columns):
                native = native.set_column(place, name, decode(native.column(place)))
        elif library.is_pandas_like():
            categories = {n: getattr(native[n].dtype, "categories", None) for n in self.columns}
            native = native.astype(
                {name: _type_of(of) for name, of in categories.items() if of is not None}
            )
        self._frame = narwhals.from_native(native, eager_only=True)

    def require(self, name: str, role: str) -> str:
        """``name`` if it is a column; otherwise an error with the closest ones."""
        if name in self.columns:
            return name
        raise InputError(
            f"{self.what} has no column {name!r} ({role})",
            allowed=f"the columns {listing(self.columns, limit=20)}",
            fix=f"{did_you_mean(name, self.columns)}name a column that is there",
        )

    def find(self, named: str | None, usual: Sequence[str], role: str) -> str | None:
        """The column ``named``, or the only one with a usual name for this role."""
        if named is not None:
            return self.require(named, role)
        found = [name for name in self.columns if name.lower() in usual]
        if len(found) > 1:
            raise InputError(
                f"{self.what} has {len(found)} columns that may be the {role}: {listing(found)}",
                allowed=f"one {role} column",
                fix=f"name it: {role.split()[0]}={found[0]!r}",
            )
        return found[0] if found else None

    def values(self, name: str) -> NDArray[Any]:
        """A column as it is, missing values as NaN or None."""
        return _to_numpy(self._frame[name])

    def kind(self, name: str) -> str:
        """``"number"``, ``"boolean"`` or ``"other"``, which is mostly text."""
        import narwhals

        dtype = self._frame.schema[name]
        if dtype == narwhals.Boolean:
            return "boolean"
        if dtype == narwhals.Object and is_numeric(self.values(name)):
            return "number"
        return "number" if dtype.is_numeric() else "other"

    def floats(self, name: str) -> FloatArray:
        """A column of numbers, NaN where missing; anything else is refused."""
        import narwhals

        series = self._frame[name]
        if series.dtype.is_numeric() or series.dtype == narwhals.Boolean:
            series = series.cast(narwhals.Float64)
        return as_floats(_to_numpy(series), f"column {name!r}")

    def refuse_numbers_as_text(self, name: str) -> None:
        """A text column that is mostly numbers is a score column with a stray entry."""
        import narwhals
        import pandas

        if self._frame.schema[name] not in (narwhals.String, narwhals.Object):
            return
        values = pandas.Series(self.values(name), dtype=object).dropna()
        numbers = pandas.to_numeric(values, errors="coerce")
        stray = numbers.isna()
        if len(values) and stray.mean() < 0.5:
            row = int(values.index[int(stray.argmax())])
            raise InputError(
                f"column {name!r} holds {values.loc[row]!r} at row {row}, text among numbers",
                allowed="numbers, empty where a model has no score",
                fix="correct the entry, or list the score columns with models=[...]",
            )


def _type_of(categories: Any) -> Any:
    """The type of a categorical's values that also holds what is missing."""
    kind = categories.dtype
    holds_missing = getattr(kind, "kind", "O") not in "iub" or not hasattr(kind, "itemsize")
    return kind if holds_missing else object


def _to_numpy(series: Any) -> NDArray[Any]:
    if series.implementation.is_pyarrow():
        return from_arrow(series.to_native())
    out: NDArray[Any] = np.asarray(series.to_numpy())
    return out
