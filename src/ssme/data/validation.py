"""What may pass the door besides scores: numbers, names, weights, groups and ids.

Every check is vectorized over rows; the first offender is looked up only once a check has failed,
so that the message can name its row, its model and its value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError

__all__ = [
    "as_floats",
    "as_groups",
    "as_ids",
    "as_models",
    "as_weights",
    "did_you_mean",
    "is_missing",
    "listing",
]

FloatArray = NDArray[np.float64]


def listing(items: Iterable[object], limit: int = 8) -> str:
    """``'a', 'b', 'c' and 4 more``."""
    names = [repr(item) for item in items]
    if not names:
        return "none"
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def did_you_mean(name: object, choices: Iterable[object]) -> str:
    """A hint such as "did you mean 'bert'? " or nothing."""
    close = get_close_matches(str(name), [str(choice) for choice in choices], n=3, cutoff=0.6)
    return f"did you mean {' or '.join(repr(match) for match in close)}? " if close else ""


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of NaN / None / NA / empty text in a one-dimensional array."""
    if values.dtype.kind == "f":
        missing: NDArray[np.bool_] = np.isnan(values)
    elif values.dtype.kind in "US":
        missing = np.char.str_len(np.char.strip(values)) == 0
    elif values.dtype.kind == "O":
        codes, distinct = factorize(values)
        missing = np.append([_blank(value) for value in distinct], True).astype(bool)[codes]
    else:
        missing = np.zeros(values.shape, dtype=bool)
    return missing


def _blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def plain(value: Any) -> Hashable:
    """A Python scalar; a whole number is an integer (1.0 is how tables with holes hold 1)."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float | Decimal) and float(value).is_integer():
        return int(value)
    return cast(Hashable, value)


def factorize(values: NDArray[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Codes into distinct values, in order of appearance; -1 for NaN, None and NA."""
    import pandas

    try:
        codes, distinct = pandas.factorize(values.astype(object))
    except TypeError:
        row = next(i for i, value in enumerate(values) if not isinstance(value, Hashable))
        raise InputError(
            f"{values[row]!r} at row {row} is a {type(values[row]).__name__}",
            allowed="numbers, booleans or text",
            fix="give each row one value",
        ) from None
    return codes.astype(np.int64), list(distinct)


def as_names(names: object, what: str) -> list[str]:
    """One name or several, as a list."""
    if isinstance(names, str):
        return [names]
    listed = list(names) if isinstance(names, Iterable) else []
    if not listed:
        raise InputError(
            f"{what}={names!r}", allowed="one name or a list of names", fix="name at least one"
        )
    return [str(name) for name in listed]


def as_array(values: object, where: str) -> NDArray[Any]:
    """``numpy.asarray`` with failures told."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            f"{where} is ragged: its parts have different lengths",
            allowed="one rectangular array",
            fix="give every row the same number of values",
        ) from None
    except (RuntimeError, TypeError) as error:
        raise InputError(
            f"{where} is a {type(values).__name__} that gives no array: {error}",
            allowed="numpy arrays or what converts to them",
            fix="convert it first, for example with .detach().cpu().numpy()",
        ) from None
    if array.ndim == 0 and array.dtype.kind == "O":
        raise InputError(
            f"{where} is a {type(values).__name__}",
            allowed="numpy arrays or what converts to them",
            fix="convert it first; a sparse matrix has .toarray()",
        )
    return array


def as_floats(values: object, where: str) -> FloatArray:
    """Numbers as a new float64 array; None and NA become NaN, text and objects are refused."""
    array = as_array(values, where)
    if isinstance(values, np.ma.MaskedArray):
        array = np.ma.filled(values.astype(np.float64), np.nan)
    if array.dtype.kind == "O":
        return _floats_of_objects(array, where)
    if array.dtype.kind not in "fiub":
        kind = "text" if array.dtype.kind == "U" else array.dtype.name
        sample = array.flat[0] if array.size else None
        raise InputError(
            f"{where} holds {kind} values such as {_shown(sample)}",
            allowed="numbers, with NaN or None where there is no score",
            fix="convert to numbers first; check for a decimal comma or a text column",
        )
    return np.array(array, dtype=np.float64, order="C")


def _floats_of_objects(array: NDArray[Any], where: str) -> FloatArray:
    import pandas

    flat = array.reshape(-1)
    if is_numeric(flat):
        known = ~np.asarray(pandas.isna(flat), dtype=bool)
        out: FloatArray = np.full(flat.shape, np.nan)
        out[known] = flat[known].astype(np.float64)
        return out.reshape(array.shape)
    index, value = next((i, v) for i, v in np.ndenumerate(array) if not _is_number(v))
    place = f"row {index[0]}" if len(index) == 1 else f"[{', '.join(map(str, index))}]"
    raise InputError(
        f"{where} holds {_shown(value)} at {place}",
        allowed="numbers, with NaN or None where there is no score",
        fix="convert to numbers first; check for a decimal comma or a text column",
    )


def is_numeric(values: NDArray[np.object_]) -> bool:
    """Whether an object array holds numbers and missing values only."""
    from pandas.api.types import infer_dtype

    numbers = ("floating", "integer", "mixed-integer-float", "decimal", "boolean", "empty")
    return infer_dtype(values, skipna=True) in numbers


def _is_number(value: object) -> bool:
    return is_numeric(np.array([value, None], dtype=object)[:1])


def _shown(value: object) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def as_models(models: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Unique, nonempty model names for the second axis."""
    if models is None:
        return tuple(f"model_{m}" for m in range(1, count + 1))
    if isinstance(models, str):
        models = [models]
    names = tuple(str(model) for model in models)
    if len(names) != count:
        raise InputError(
            f"{len(names)} model names for {count} models: {listing(names)}",
            allowed=f"{count} names, in the order of the second axis of scores",
            fix="give one name per model",
        )
    refuse_duplicates(names, "model name", "unique model names")
    if "" in names:
        raise InputError(
            f"model {names.index('')} has an empty name",
            allowed="nonempty model names",
            fix="name every model",
        )
    return names


def refuse_duplicates(names: Sequence[object], what: str, allowed: str) -> None:
    seen: set[object] = set()
    for place, name in enumerate(names):
        if name in seen:
            raise InputError(
                f"{what} {name!r} appears twice (again at position {place})",
                allowed=allowed,
                fix=f"rename or remove one {what} {name!r}",
            )
        seen.add(name)


def as_weights(weights: object | None, n: int) -> FloatArray | None:
    """(n,) finite, nonnegative, not all zero."""
    if weights is None:
        return None
    out = as_floats(weights, "weights")
    _refuse_length(out, n, "weights")
    bad = ~(np.isfinite(out) & (out >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"weight {out[row]:g} at row {row}",
            allowed="finite weights of 0 or more",
            fix="drop the row or give it a weight of 0",
        )
    if not out.any():
        raise InputError(
            f"all {n} weights are 0",
            allowed="at least one weight above 0",
            fix="check the weight column, or leave weights out",
        )
    return out


def as_groups(groups: Mapping[str, object] | None, n: int) -> dict[str, NDArray[np.object_]]:
    """Group columns as object arrays, None where a row belongs to no group."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups is a {type(groups).__name__}",
            allowed="a mapping from column name to values, one per row",
            fix="pass groups={'name': values}",
        )
    return {str(name): _group(values, n, str(name)) for name, values in groups.items()}


def _group(values: object, n: int, name: str) -> NDArray[np.object_]:
    column = as_objects(values)
    _refuse_length(column, n, f"group column {name!r}")
    codes, distinct = factorize(column)
    table: NDArray[np.object_] = np.full(len(distinct) + 1, None, dtype=object)
    table[:-1] = [None if _blank(value) else plain(value) for value in distinct]
    return table[codes]


def as_ids(ids: object | None, n: int) -> NDArray[np.object_] | None:
    """(n,) unique row names."""
    if ids is None:
        return None
    out = as_objects(ids)
    _refuse_length(out, n, "ids")
    missing = is_missing(out)
    if missing.any():
        raise InputError(
            f"the id at row {int(np.argmax(missing))} is missing",
            allowed="one id per row",
            fix="fill in the id or drop the row",
        )
    refuse_duplicate_ids(out, "ids")
    return out


def refuse_duplicate_ids(ids: NDArray[np.object_], where: str) -> None:
    import pandas

    repeated = pandas.Series(ids, dtype=object).duplicated().to_numpy()
    if repeated.any():
        again = np.flatnonzero(repeated)
        value = ids[again[0]]
        first = int(np.flatnonzero(ids == value)[0])
        raise InputError(
            f"{where}: id {value!r} appears at row {first} and again at row {again[0]}"
            + (f" ({again.size - 1} more repeated rows)" if again.size > 1 else ""),
            allowed="each id once",
            fix="remove the repeated rows, or say layout='long' if there is one row per score",
        )


def as_objects(values: object) -> NDArray[np.object_]:
    """A new object array of Python scalars."""
    array = np.asarray(values)
    return np.array(array.tolist() if array.dtype.kind in "fiubUS" else array, dtype=object)


def _refuse_length(values: NDArray[Any], n: int, what: str) -> None:
    if values.shape != (n,):
        found = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError(
            f"{what} has {found} for {n} rows of scores",
            allowed=f"one value per row: {n}",
            fix="check that both come from the same rows in the same order",
        )
