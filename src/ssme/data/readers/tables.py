"""Tables of every data frame library, through narwhals: columns as numpy arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import FloatArray, IntArray
from ssme.data import values as cells
from ssme.data.arrays import refuse_rounded_ids
from ssme.errors import InputError, MissingExtraError
from ssme.options import parse_number
from ssme.schema import ReadOptions
from ssme.wording import quote, suggest_nearest

LISTS = (list, tuple, np.ndarray)


def is_frame(value: object) -> bool:
    """Whether ``value`` is a data frame that narwhals knows, or a stream of Arrow tables."""
    import narwhals
    from narwhals.exceptions import DuplicateError

    try:
        native = narwhals.from_native(value, pass_through=True, allow_series=True)
    except DuplicateError:  # a frame whose columns `Table` refuses by name
        return True
    if native is value:
        return hasattr(value, "__arrow_c_stream__")
    return isinstance(native, narwhals.DataFrame | narwhals.LazyFrame)


class ArrayFrame(dict[str, NDArray[Any]]):
    """Columns (n,) by name, of the types of `Table.read_values`."""

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values()), ()))

    @property
    def index(self) -> Any:
        """The order of the rows, as pandas has it."""
        import pandas

        return pandas.RangeIndex(self.n_rows)

    def take(self, rows: IntArray) -> ArrayFrame:
        return ArrayFrame((name, values[rows]) for name, values in self.items())


class Table:
    """A frame of any library that narwhals reads; ``what`` is its name in messages."""

    def __init__(self, frame: Any, what: str = "the frame") -> None:
        self.what, self._frame = what, frame
        self._types: dict[str, Any] = {}
        if isinstance(frame, ArrayFrame):
            self.columns, self.library, self.n_rows = tuple(frame), "pandas", frame.n_rows
        else:
            self._take_native(frame)
        if not self.columns or self.n_rows == 0:
            problem = f"{what} is empty: {self.n_rows} rows, columns {quote(self.columns)}"
            raise InputError(problem, hint="check the file or the filter that made it")

    def _take_native(self, frame: Any) -> None:
        import narwhals
        from narwhals.exceptions import DuplicateError

        what = self.what
        try:
            table: Any = narwhals.from_native(frame, pass_through=True)
            if table is frame and is_frame(frame):
                try:
                    table = narwhals.from_arrow(frame, backend="pyarrow")
                except ModuleNotFoundError:
                    raise MissingExtraError("reading a stream of Arrow tables", "parquet") from None
            if isinstance(table, narwhals.LazyFrame):
                table = table.collect()
            if not isinstance(table, narwhals.DataFrame):
                problem = f"{what} is a {type(frame).__name__}, not a data frame"
                hint = "pass a pandas, polars or pyarrow frame, or use ScoreSet.from_arrays"
                raise InputError(problem, hint=hint)
            names: list[Any] = list(table.columns)
        except DuplicateError:
            names = list(getattr(frame, "column_names", None) or frame.columns)
        levels = next((name for name in names if isinstance(name, tuple)), None)
        if levels is not None:
            problem = f"{what} has column names of several levels such as {levels!r}"
            hint = "join the levels: frame.columns = [':'.join(c) for c in frame.columns]"
            raise InputError(problem, hint=hint)
        self.columns = tuple(map(str, names))
        repeated = [name for name, count in Counter(self.columns).items() if count > 1]
        if repeated:
            problem = f"{what} has duplicated column names: {quote(repeated)}"
            raise InputError(problem, hint="rename or drop the repeated columns")
        if self.columns != tuple(names):  # pandas also takes numbers for names
            table = narwhals.from_native(table.to_native().rename(columns=str), eager_only=True)
        self._frame, self._types = table, dict(table.schema)
        self.library = table.implementation.name.lower()
        self.n_rows = len(table)

    @property
    def native(self) -> Any:
        """The frame as its library has it."""
        return self._frame.to_native() if self._types else self._frame

    def drop(self, names: Sequence[str]) -> Table:
        """The table without some of its columns, each of which must be there."""
        if not names:
            return self
        for name in names:
            self.require(name, "to leave out", "ignore")
        if not self._types:
            kept = {name: self._frame[name] for name in self.columns if name not in names}
            return Table(ArrayFrame(kept), self.what)
        return Table(self._frame.drop(list(names)).to_native(), self.what)

    def require(self, name: str, role: str, option: str) -> str:
        """``name`` if it is a column; otherwise an error with the closest ones.

        ``option`` is what names the column, or would.
        """
        if name in self.columns:
            return name
        raise InputError(
            f"{self.what} has no column {name!r} ({role}); its columns are "
            f"{quote(self.columns, limit=20)}",
            hint=f"{suggest_nearest(name, self.columns)}pass an existing column to `{option}`",
        )

    def explain_no_column(self, role: str, hint: str) -> InputError:
        """The error of a table in which no column has a usual name for its ``role``."""
        listed = quote(self.columns, limit=20)
        problem = f"no {role} was found in {self.what}; its columns are {listed}"
        return InputError(problem, hint=hint)

    def find(
        self, named: str | None, usual: Sequence[str], option: str, taken: str | None = None
    ) -> str | None:
        """The column ``named``, or the only one but ``taken`` with a usual name for ``option``."""
        role = f"{option.strip('_')} column"
        if named is not None:
            return self.require(named, role, option)
        found = [name for name in self.columns if name.lower() in usual and name != taken]
        if len(found) > 1:
            problem = f"{self.what} has {len(found)} columns that may be the {role}: {quote(found)}"
            raise InputError(problem, hint=f"name it: `{option}={found[0]!r}`")
        return found[0] if found else None

    def read_values(self, name: str) -> NDArray[Any]:
        """A column as it is: numbers (NaN where missing), or objects (None where missing)."""
        if not self._types:
            values: NDArray[Any] = self._frame[name]
            return values
        series = self._frame.get_column(name)
        native = series.to_native()
        if self.library == "pyarrow":
            return from_arrow(native)
        if self.library == "pandas":
            return cells.to_float64(from_pandas(native))
        if self.library == "polars":
            kind = series.dtype
            large = kind.is_integer() and native.null_count() > 0 and _is_large(native)
            if cells.has_128_bits(native) or large or not kind.is_numeric() or kind.is_decimal():
                return cells.to_objects(native.to_list())
        return cells.to_float64(np.asarray(series.to_numpy()))

    def read_ids(self, name: str) -> NDArray[Any]:
        """A column of names of rows, none of them a number that was rounded."""
        values = self.read_values(name)
        single = str(self._types.get(name)) == "Float32"
        refuse_rounded_ids(values, 2**24 if single else cells.EXACT_INTEGER)
        return values

    def find_kind(self, name: str) -> str:
        """``"number"``, ``"boolean"`` or ``"other"``, which is mostly text."""
        dtype = self._types.get(name)
        if str(dtype) == "Boolean":
            return "boolean"
        if dtype is not None and dtype.is_numeric():
            return "number"
        if str(dtype) == "String":
            return "other"
        values = self.read_values(name)
        if cells.is_boolean(values):
            return "boolean"
        known = values.dtype.kind != "O" or any(value is not None for value in values)
        return "number" if known and cells.is_numeric(values) else "other"

    def is_text(self, name: str) -> bool:
        """Whether a column is of text or of Python objects."""
        if not self._types:
            return self.read_values(name).dtype == object
        return str(self._types[name]) in ("String", "Object")

    def is_nested(self, name: str) -> bool:
        """Whether cells of a column contain lists or objects."""
        values = self.read_values(name)
        return values.dtype.kind == "O" and any(isinstance(v, (*LISTS, dict)) for v in values)

    def assign(self, columns: Mapping[str, NDArray[Any]], dropped: Collection[str] = ()) -> Table:
        """The table with new columns, and without those that are ``dropped``."""
        own = {name: self.read_values(name) for name in self.columns if name not in dropped}
        return Table(ArrayFrame({**own, **columns}), self.what)

    def read_floats(self, name: str) -> FloatArray:
        """A column of numbers or percentages, NaN where missing; anything else is refused."""
        values = self.read_values(name)
        found = read_percentages(values)
        return cells.as_floats(values, f"column {name!r}") if found is None else found


def read_percentages(values: NDArray[Any]) -> FloatArray | None:
    """The numbers of a column in which every value is a percentage such as ``"84.4%"``."""
    if values.dtype.kind != "O":
        return None
    found: FloatArray = np.full(len(values), np.nan)
    for row, value in enumerate(values):
        if value is None or value != value:
            continue
        if not isinstance(value, str) or not value.rstrip().endswith("%"):
            return None
        try:
            found[row] = parse_number(f"{value.strip().removesuffix('%').strip()}e-2")
        except ValueError:
            return None
    return None if np.isnan(found).all() else found


def spread_lists(table: Table, options: ReadOptions) -> tuple[Table, ReadOptions]:
    """Columns of lists of class scores as one column per class; ``models`` says which is whose.

    A column of lists that is neither named as a model nor numeric is left out.
    """
    lists, kept = [], {}
    named = options.models
    for name in table.columns:
        values = table.read_values(name)
        first = next((value for value in values if value is not None), None)
        if values.dtype.kind != "O" or not isinstance(first, LISTS):
            continue
        lists.append(name)
        numbers = all(isinstance(each, int | float | np.number) for each in first)
        if name in named if named is not None else numbers:
            kept[name] = values
    if not kept:
        return table.assign({}, dropped=lists), options
    if named is not None and len(kept) < len(named):
        single = [name for name in named if name not in kept]
        problem = f"{quote(kept)} contain lists of class scores, {quote(single)} do not"
        raise InputError(problem, hint="give every model a list of class scores")
    spread: dict[str, dict[Any, str]] = {}
    columns: dict[str, NDArray[Any]] = {}
    for name, values in kept.items():
        held = np.array([isinstance(value, LISTS) for value in values])
        sizes = {len(value) for value in values[held]}
        if len(sizes) != 1:
            problem = f"column {name!r} contains lists of lengths {sorted(sizes)}"
            hint = f"give every row one score per class, or pass `ignore={name!r}`"
            raise InputError(problem, hint=hint)
        scores: FloatArray = np.full((len(values), sizes.pop()), np.nan)
        scores[held] = cells.as_floats(list(values[held]), f"column {name!r}")
        classes = options.classes or range(scores.shape[1])
        if len(classes) != scores.shape[1]:
            problem = f"column {name!r} has {scores.shape[1]} scores for classes {quote(classes)}"
            raise InputError(problem, hint="list as many with `classes=[...]` as there are scores")
        spread[name] = {each: f"{name}:{each}" for each in classes}
        columns.update(zip(spread[name].values(), scores.T, strict=True))
    return table.assign(columns, dropped=lists), replace(options, models=spread)


# -------------------------------------------------------------------------------------------------
# Columns of every library as numpy arrays.


def from_pandas(series: Any) -> NDArray[Any]:
    """Missing values of every kind of pandas column as NaN among floats, else as None."""
    import pandas

    kind = series.dtype
    if isinstance(kind, pandas.CategoricalDtype):
        if kind.categories.dtype.kind == "f":
            numbers = cells.to_float64(from_pandas(kind.categories.to_series()))
            return np.append(numbers, np.nan).take(series.cat.codes)
        return np.asarray(series.astype(object))  # as floats, whole numbers might be rounded
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


def _is_large(values: Any) -> bool:
    """Whether whole numbers go beyond those that floating-point numbers hold exactly."""
    import pandas

    low, high = values.min(), values.max()
    return not pandas.isna(low) and bool(low < -cells.EXACT_INTEGER or high > cells.EXACT_INTEGER)


# -------------------------------------------------------------------------------------------------
# Arrow columns, without a copy where numbers have no holes.
#
# pyarrow's own ``to_numpy`` imports pandas, which takes longer than reading ten million scores; the
# DLPack protocol does not. Only what it cannot carry (text, booleans) goes the long way.


def decode(column: Any) -> Any:
    """A ``ChunkedArray`` without its dictionary or run-length encoding; a null is a null.

    A null may be among the indices or in the dictionary they point into, and every chunk may have
    its own dictionary.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(column.type):
        column = pc.run_end_decode(column)
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def from_arrow(column: Any) -> NDArray[Any]:
    """A pyarrow ``ChunkedArray``: numbers with NaN where null, else objects with None.

    Whole numbers that have holes and are too large to be exact as floating-point numbers stay
    whole, as Python objects. Numbers of 32 or 16 bits are decimals (`to_float64`), also in lists.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = decode(column)
    if pa.types.is_floating(column.type):
        return _read_numbers(column)
    if pa.types.is_integer(column.type):
        ends: Any = pc.min_max(column).as_py() if column.null_count else {"min": None}
        if (
            ends["min"] is None
            or -cells.EXACT_INTEGER <= ends["min"] <= ends["max"] <= cells.EXACT_INTEGER
        ):
            return _read_numbers(column)
        return cells.to_objects(column.to_pylist())
    is_bool = pa.types.is_boolean(column.type)
    if is_bool or is_arrow_text(column.type):
        dtype = bool if is_bool and column.null_count == 0 else object
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=dtype)
    if pa.types.is_nested(column.type) and column.type.num_fields == 1:
        kind = column.type.field(0).type
        if pa.types.is_float32(kind) or pa.types.is_float16(kind):
            sizes = from_arrow(pc.fill_null(pc.list_value_length(column), 0))
            lists = np.split(from_arrow(pc.list_flatten(column)), np.cumsum(sizes)[:-1])
            valid = from_arrow(column.is_valid())
            return cells.to_objects(
                [v.tolist() if k else None for v, k in zip(lists, valid, strict=True)]
            )
    return cells.to_objects(column.to_pylist())


def _read_numbers(column: Any) -> NDArray[Any]:
    import pyarrow.compute as pc

    if column.null_count == 0:
        whole = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        dense: NDArray[Any] = np.from_dlpack(whole)
        return cells.to_float64(dense)
    numbers: NDArray[Any] = np.full(len(column), np.nan)
    present = np.from_dlpack(pc.indices_nonzero(column.is_valid()))
    numbers[present] = cells.to_float64(np.from_dlpack(column.drop_null().combine_chunks()))
    return numbers


def is_arrow_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))
