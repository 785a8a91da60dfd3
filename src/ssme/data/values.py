"""Values as people hold them, as numpy arrays: numbers, text, objects, and what is missing."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal
from functools import cache
from itertools import compress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.errors import InputError
from ssme.wording import cut_end

EXACT_INTEGER = 2**53
"""Whole numbers up to this are exact as floating-point numbers; beyond it some are not."""

NARROW = (np.float32, np.float16)
"""Types whose numbers are read as decimals (`to_float64`)."""

NO_NUMBERS = (
    "check for a decimal comma or a text column; classes and grades that judges give are read by "
    "ScoreSet.from_answers, or as columns with `answers=[...]` or `ratings=[...]`"
)
"""What to do about text where scores should be."""

FEW = 100_000
"""Values up to which importing pandas takes longer than it spares."""

LARGEST_EXPONENT = 100
"""Weights up to 2^100, and down to 2^-100, are used as they are given."""


def is_missing(values: NDArray[Any]) -> BoolArray:
    """Mask of NaN / None / NA / empty text in a one-dimensional array."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "US":
        return np.char.str_len(np.char.strip(values)) == 0
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    codes, distinct = factorize(values)
    blank = [isinstance(value, str) and not value.strip() for value in distinct]
    return np.array([*blank, True], dtype=bool)[codes]


def make_plain(value: Any) -> Hashable:
    """A Python scalar; a whole number is an integer (1.0 is how tables with holes hold 1)."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        whole = value.is_finite() and value == value.to_integral_value()
        return int(value) if whole else float(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return cast(Hashable, value)


def factorize(values: NDArray[Any]) -> tuple[IntArray, list[Any]]:
    """Codes into distinct values, in order of appearance; -1 for NaN, None and NA."""
    objects, seen = values.astype(object), dict[Any, int]()
    if values.dtype.kind == "f":
        objects[np.isnan(values)] = None
    try:
        if len(objects) > FEW:
            import pandas

            found, distinct = pandas.factorize(objects)
            return found.astype(np.int64), list(distinct)
        codes = np.array([seen.setdefault(value, len(seen)) for value in objects], dtype=np.int64)
    except TypeError:
        row = next(i for i, value in enumerate(values) if not isinstance(value, Hashable))
        problem = f"{values[row]!r} at row {row} is a {type(values[row]).__name__}"
        raise InputError(problem, hint="give each row one number, boolean or text") from None
    known = np.array([type(v) is str or not _is_absent(v) for v in seen], dtype=bool)
    order = np.where(known, np.cumsum(known) - 1, -1)
    return order[codes], list(compress(seen, known))


def _is_absent(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA, which is neither true nor false
        return True


BLOCK = 1 << 15
"""Numbers that are widened at once, few enough for the cache."""


def to_float64(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers of 32 or 16 bits as the shortest decimals that they are the nearest numbers to.

    float32(0.7) becomes 0.7 as a CSV file has it, and not 0.699999988, which no score of 0.7 would
    reach as a threshold. Other arrays are returned as they are.

    A decimal with k places is the only one that a number can represent while 10^-k is larger than
    the step to the next number; with one place more, or two at powers of 2, there is always one.
    """
    if array.dtype.kind != "f" or array.dtype.itemsize >= 8:
        return array
    narrow = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(-1)
    mantissa, scales = np.finfo(narrow.dtype).nmant, _find_scales(narrow.dtype)
    out: FloatArray = np.empty(narrow.size)
    for start in range(0, narrow.size, BLOCK):
        part, decimal = narrow[start : start + BLOCK], out[start : start + BLOCK]
        exact = part.astype(np.float64)
        scale = scales.take((part.view(f"u{part.itemsize}") >> mantissa) & (len(scales) - 1))
        for _ in range(3):
            np.multiply(exact, scale, out=decimal)
            np.rint(decimal, out=decimal)
            decimal /= scale
            longer = (decimal.astype(part.dtype) != part) & (exact == exact)
            if not longer.any():
                break
            np.multiply(scale, 10.0, out=scale, where=longer)
    return out.reshape(array.shape)


def undo_widening(numbers: FloatArray) -> FloatArray:
    """Scores (n, ...) of 64 bits that were made from 32 bits, as the decimals of `to_float64`.

    JSON and Excel files made from float32 contain 0.699999988079071 for 0.7; with 15 digits, one
    number in 10^7 is that near to one of 32 bits by chance. With ten decimals (0.6999999881) one in
    a thousand is, so that the whole column has to be. Exact numbers with up to 12 decimals remain
    as they are: 511 / 512.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = numbers.astype(np.float32)
        gaps = np.abs(narrow - numbers)
        widened = gaps <= 5e-15 * np.abs(numbers)
    widened[widened] = np.round(numbers[widened], 12) != numbers[widened]
    near = (gaps < 6e-11) | np.isnan(numbers)
    if near[:1].any():
        inexact = (gaps > 0) & (gaps < 6e-11)
        telling = (inexact & (np.abs(numbers) > 0.05)).sum(axis=0) >= 5
        widened |= inexact & telling & near.all(axis=0)
    return np.where(widened, to_float64(narrow), numbers) if widened.any() else numbers


def restore_decimals(shares: FloatArray, logits: FloatArray, least: float = 0.9) -> FloatArray:
    """Sigmoids (n, M) of logits that were made of up to four decimals, as these decimals.

    log(0.9 / 0.1) and back is 0.8999999999999999, which no threshold of 0.9 would count. Logits of
    32 bits are further off, so that ``least`` of a model's have to be near a decimal.
    """
    decimal = np.round(shares, 4)
    gap = np.abs(decimal - shares)
    with np.errstate(invalid="ignore"):  # infinite logits
        slope = 4.0 * shares * (1.0 + np.abs(logits) * (1.0 - shares))
    near = gap <= np.finfo(np.float64).eps * slope
    within = gap <= np.finfo(np.float32).eps * slope
    known = np.maximum((~np.isnan(logits)).sum(axis=0), 1)
    near |= within & (within.sum(axis=0) >= least * known) & (known >= 20)
    return np.where(near, decimal, shares)


@cache
def _find_scales(kind: np.dtype[Any]) -> FloatArray:
    """The largest 10^k, for each value of the exponent's bits, with 10^-k above the step; at least
    1, since larger numbers are whole."""
    bits = np.finfo(kind)
    exponent = np.maximum(np.arange(1 << bits.iexp), 1) + bits.minexp - 1
    out: FloatArray = 10.0 ** np.maximum(np.ceil((bits.nmant - exponent) * np.log10(2.0)) - 1, 0.0)
    return out


def has_128_bits(values: Any) -> bool:
    """Whether ``values`` are whole numbers of polars that numpy has no type for."""
    return str(getattr(values, "dtype", "")) in ("Int128", "UInt128")


def as_array(values: object, where: str) -> NDArray[Any]:
    """``numpy.asarray`` with failures explained; narrow numbers as `to_float64` has them."""
    if has_128_bits(values):
        return to_objects(cast(Any, values).to_list())
    try:
        array = np.asarray(values)
    except ValueError:
        problem = f"{where} is ragged"
        raise InputError(problem, hint="give every row the same number of values") from None
    except (RuntimeError, TypeError) as error:
        problem = f"{where} is a {type(values).__name__} that numpy cannot convert: {error}"
        hint = "convert it first, for example with .detach().cpu().numpy()"
        raise InputError(problem, hint=hint) from None
    if array.ndim == 0 and array.dtype.kind == "O":
        problem = f"{where} is a {type(values).__name__}, which is not an array"
        raise InputError(problem, hint="convert it first; a sparse matrix has .toarray()")
    return to_float64(array)


def as_objects(values: object) -> NDArray[np.object_]:
    """A new object array of Python scalars."""
    if isinstance(values, list | tuple) or has_128_bits(values):
        return to_objects(list(cast(Any, values)))
    array = to_float64(np.asarray(values))
    if array.dtype.kind in "mM":
        import pandas

        return np.array(pandas.Series(array).astype(object), dtype=object)
    return np.array(array.tolist() if array.dtype.kind in "fiubUS" else array, dtype=object)


def to_objects(values: Sequence[Any]) -> NDArray[np.object_]:
    """An object array of these very objects: a list among them stays one object."""
    return np.fromiter(values, dtype=object, count=len(values))


def as_floats(values: object, where: str) -> FloatArray:
    """Numbers as a new float64 array; None and NA become NaN, text and objects are refused."""
    array = as_array(values, where)
    if isinstance(values, np.ma.MaskedArray):
        array = np.where(np.ma.getmaskarray(values), np.nan, as_array(values.data, where))
    flat, large = array.reshape(-1), np.zeros(1, dtype=bool)
    if flat.size and not is_numeric(flat):
        strange = [i for i, value in enumerate(flat) if not is_numeric(to_objects([value]))] or [0]
        first = next((i for i in strange if not reads_as_number(flat[i])), strange[0])
        raise _explain_value(array, first, where, "not a number", NO_NUMBERS)
    if array.dtype.kind == "O":
        large = np.array([isinstance(v, int) and abs(v) > EXACT_INTEGER for v in flat], dtype=bool)
    elif array.dtype.kind in "iu":
        large = (flat > EXACT_INTEGER) | (flat < -EXACT_INTEGER)
    if large.any():
        hint = "check that these are not ids; list the score columns with `models=[...]`"
        why = "too large to be exact in 64 bits"
        raise _explain_value(array, int(np.argmax(large)), where, why, hint)
    if array.dtype.kind != "O":
        return np.array(array, dtype=np.float64, order="C")
    import pandas

    known = ~np.asarray(pandas.isna(flat), dtype=bool)
    out: FloatArray = np.full(flat.shape, np.nan)
    out[known] = [float(str(v)) if isinstance(v, NARROW) else v for v in flat[known]]
    return out.reshape(array.shape)


def _explain_value(array: NDArray[Any], at: int, where: str, why: str, hint: str) -> InputError:
    index = np.unravel_index(at, array.shape)
    place = f"row {index[0]}" if len(index) == 1 else f"[{', '.join(map(str, index))}]"
    value = array[index]
    shown = cut_end(repr(value.item() if isinstance(value, np.generic) else value), 60)
    return InputError(f"{where}: {shown} at {place} is {why}", hint=hint)


def reads_as_number(value: Any) -> bool:
    """Whether a value is a number or text that reads like one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


def is_numeric(values: NDArray[Any]) -> bool:
    """Whether an array contains numbers, booleans and missing values only."""
    numbers = ("floating", "integer", "mixed-integer-float", "decimal", "boolean", "empty")
    return values.dtype.kind in "fiub" or _infer_type(values) in numbers


def is_boolean(values: NDArray[Any]) -> bool:
    """Whether an array contains booleans and missing values only, and at least one boolean."""
    return values.dtype.kind == "b" or _infer_type(values) == "boolean"


def _infer_type(values: NDArray[Any]) -> str:
    if values.dtype.kind != "O" or any(isinstance(value, str) for value in values):
        return ""
    from pandas.api.types import infer_dtype

    return infer_dtype(values, skipna=True)


def find_weight_unit(weights: FloatArray) -> float:
    """The power of two that brings very large or very small weights near one; usually 1.

    Only ratios of weights matter, and a power of two keeps them to the bit. Metrics multiply up to
    four weights with one another, which must neither overflow nor vanish.
    """
    exponent = int(np.frexp(weights.max(initial=0.0))[1])
    power = min(-exponent, 1000)  # a subnormal number would ask for more than a float can hold
    return 1.0 if abs(exponent) <= LARGEST_EXPONENT else float(np.ldexp(1.0, power))


def refuse_duplicates(
    names: Sequence[object], what: str, hint: str = "rename or remove one of them"
) -> None:
    seen: set[object] = set()
    for place, name in enumerate(names):
        if name in seen:
            problem = f"{what} {name!r} appears twice (again at position {place})"
            raise InputError(problem, hint=hint)
        seen.add(name)
