"""What may pass the door beside scores: names, weights, groups and ids, one per row.

Every check is vectorized over rows; the first offender is looked up only once a check has failed,
so that the message can name its row and its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.simplex import find_wrong_sums
from ssme.data.values import (
    EXACT_INTEGER,
    FloatArray,
    as_floats,
    as_objects,
    factorize,
    has_128_bits,
    is_blank,
    is_missing,
    make_plain,
)
from ssme.errors import InputError, argument
from ssme.wording import quote

__all__ = [
    "as_groups",
    "as_ids",
    "as_models",
    "as_weights",
    "find_class_columns",
    "find_weight_unit",
    "refuse_duplicate_ids",
    "refuse_duplicates",
    "refuse_rounded_ids",
]


COMPARED = (10, 500)
"""Rows from which, and models up to which, complements are looked for."""
FEW_ROWS = 3
"""Rows from which three columns or more that sum to one tell something."""
ROUNDING = 1e-3
"""Scores that differ by no more than this are one value."""


def find_class_columns(
    scores: FloatArray, blocks: Iterable[Sequence[int]] = ()
) -> tuple[int, ...] | None:
    """Columns of (n, M) that sum to one on every row: the classes of one model.

    Looked at are all columns together, ``blocks`` of three or more and every pair. Columns of one
    value tell nothing, and neither do a few rows.
    """
    n, m = scores.shape
    for block in [range(m), *blocks]:
        if len(block) > 2 and _sum_to_one(scores[:, list(block)], FEW_ROWS):
            return tuple(block)
    if n < COMPARED[0] or m > COMPARED[1]:
        return None
    head = scores[: COMPARED[0]]
    off = np.abs(head[:, :, None] + head[:, None, :] - 1.0)
    near = ~(off > 0.11).any(axis=0)
    for pair in np.argwhere(np.triu(near, k=1)).tolist():
        if _sum_to_one(scores[:, pair], COMPARED[0]):
            return tuple(pair)
    return None


def _sum_to_one(scores: FloatArray, least_rows: int) -> bool:
    missing = np.isnan(scores)
    known = scores[~missing.any(axis=1)]
    varied = len(known) >= least_rows and np.ptp(known, axis=0).max() > 2.0 * ROUNDING
    if not varied or (missing.any(axis=1) != missing.all(axis=1)).any():
        return False
    decimals = 1 if len(known) >= COMPARED[0] else 2
    return bool((known >= 0.0).all()) and not find_wrong_sums(known, decimals).any()


def as_models(models: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Unique, nonempty model names for the second axis."""
    if models is None:
        return tuple(f"model_{m}" for m in range(1, count + 1))
    names = tuple(models)
    if len(names) != count:
        raise InputError(
            f"{len(names)} model names were given for {count} models: {quote(names)}",
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


LARGEST_EXPONENT = 100
"""Weights up to 2^100, and down to 2^-100, are used as they are given."""


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
            f"the weight at row {row} is {make_plain(out[row])!r}",
            allowed="finite weights of 0 or more",
            fix="drop the row or give it a weight of 0",
        )
    if not out.any():
        raise InputError(
            f"all {n} weights are 0",
            allowed="at least one weight above 0",
            fix="check the weight column, or leave weights out",
        )
    unit = find_weight_unit(out)
    return out if unit == 1.0 else out * unit


def find_weight_unit(weights: FloatArray) -> float:
    """The power of two that brings very large or very small weights near one; usually 1.

    Only ratios of weights matter, and a power of two keeps them to the bit. Metrics multiply up to
    four weights with one another, which must neither overflow nor vanish.
    """
    exponent = int(np.frexp(weights.max(initial=0.0))[1])
    power = min(-exponent, 1000)  # a subnormal number would ask for more than a float can hold
    return 1.0 if abs(exponent) <= LARGEST_EXPONENT else float(np.ldexp(1.0, power))


def as_groups(groups: Mapping[str, object] | None, n: int) -> dict[str, NDArray[np.object_]]:
    """Group columns as object arrays, None where a row belongs to no group."""
    if groups is None:
        return {}
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups is a {type(groups).__name__}",
            allowed="a mapping from column name to values, one per row",
            fix="pass " + argument("groups", "{'name': values}"),
        )
    return {str(name): _check_group(values, n, str(name)) for name, values in groups.items()}


def _check_group(values: object, n: int, name: str) -> NDArray[np.object_]:
    column = as_objects(values)
    _refuse_length(column, n, f"group column {name!r}")
    codes, distinct = factorize(column)
    table: NDArray[np.object_] = np.full(len(distinct) + 1, None, dtype=object)
    table[:-1] = [None if is_blank(value) else make_plain(value) for value in distinct]
    return table[codes]


def as_ids(ids: object | None, n: int) -> NDArray[np.object_] | None:
    """(n,) unique row names."""
    if ids is None:
        return None
    out = as_objects(ids)
    _refuse_length(out, n, "ids")
    as_they_are = isinstance(ids, list | tuple) or has_128_bits(ids)
    given = out if as_they_are else np.asarray(ids)
    refuse_rounded_ids(given, 2**24 if given.dtype == np.float32 else EXACT_INTEGER)
    missing = is_missing(given if given.dtype.kind in "iu" else out)
    if missing.any():
        raise InputError(
            f"the id at row {int(np.argmax(missing))} is missing",
            allowed="one id per row",
            fix="fill in the id or drop the row",
        )
    refuse_duplicate_ids(out, "ids")
    return out


def refuse_rounded_ids(ids: NDArray[Any], exact: int) -> None:
    """Refuse floating-point numbers from ``exact`` on, which may stand for several whole ones."""
    if ids.dtype.kind not in "fO":
        return
    large = [isinstance(id, float) and abs(id) >= exact for id in ids.tolist()]
    if any(large):
        row = large.index(True)
        raise InputError(
            f"the id at row {row} is {float(ids[row])!r}, a floating-point number that may have "
            "been rounded to the id of another row",
            allowed=f"ids that are text or whole numbers; floating-point numbers below {exact:,}",
            fix="write the ids as text or as whole numbers, without decimals or exponent",
        )


def refuse_duplicate_ids(ids: NDArray[np.object_], where: str) -> None:
    if len(set(ids)) < ids.size:
        import pandas

        repeated = pandas.Series(ids, dtype=object).duplicated().to_numpy()
        again = np.flatnonzero(repeated)
        value = ids[again[0]]
        first = int(np.flatnonzero(ids == value)[0])
        raise InputError(
            f"{where}: id {value!r} appears at row {first} and again at row {again[0]}"
            + (f" ({again.size - 1} more repeated rows)" if again.size > 1 else ""),
            allowed="each id once",
            fix=f"remove the repeated rows, or say {argument('layout', repr('long'))} if there is "
            "one row per score",
        )


def _refuse_length(values: NDArray[Any], n: int, what: str) -> None:
    if values.shape != (n,):
        found = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError(
            f"{what} has {found} for {n} rows of scores",
            allowed=f"one value per row: {n}",
            fix="check that both come from the same rows in the same order",
        )
