"""What may pass the door: probabilities on the simplex, names, weights, groups and ids.

Every check is vectorized over rows; the first offender is looked up only once a check has failed,
so that the message can name its row, its model and its value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError

__all__ = [
    "SUM_TOLERANCE",
    "as_floats",
    "as_groups",
    "as_ids",
    "as_models",
    "as_weights",
    "did_you_mean",
    "is_missing",
    "listing",
    "to_simplex",
]

FloatArray = NDArray[np.float64]

SUM_TOLERANCE = 1e-3
"""Sums of class probabilities this close to 1 are rounding and are renormalized."""

RANGE_TOLERANCE = 1e-6
"""Probabilities this little outside [0, 1] are float32 rounding and are clipped."""


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


def as_floats(values: object, where: str) -> FloatArray:
    """Numbers as a new float64 array; None and NA become NaN, text and objects are refused."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(
            f"{where} is ragged: its parts have different lengths",
            allowed="one rectangular array of numbers",
            fix="give every row the same number of values",
        ) from None
    if isinstance(values, np.ma.MaskedArray):
        array = np.ma.filled(values.astype(np.float64), np.nan)
    if array.dtype.kind == "O":
        return _floats_of_objects(array, where)
    if array.dtype.kind not in "fiub":
        sample = array.flat[0] if array.size else array.dtype.name
        raise InputError(
            f"{where} holds {array.dtype.name} values such as {_shown(sample)}",
            allowed="numbers",
            fix="convert to numbers first; check for a decimal comma or a text column",
        )
    return np.array(array, dtype=np.float64, order="C")


def _floats_of_objects(array: NDArray[Any], where: str) -> FloatArray:
    import pandas

    missing = np.asarray(pandas.isna(array), dtype=bool).reshape(array.shape)
    out: FloatArray = np.full(array.shape, np.nan)
    for index in zip(*np.nonzero(~missing), strict=True):
        value = array[index]
        try:
            if isinstance(value, str | bytes):
                raise TypeError
            out[index] = float(value)
        except (TypeError, ValueError):
            place = ", ".join(map(str, index))
            raise InputError(
                f"{where} is an object array holding {_shown(value)} at [{place}]",
                allowed="numbers, with NaN or None where there is no score",
                fix="convert to a numeric array first, for example with .astype(float)",
            ) from None
    return out


def _shown(value: object) -> str:
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def to_simplex(
    scores: FloatArray, models: Sequence[str], *, logits: bool = False, normalize: bool = False
) -> FloatArray:
    """(n, M) P(positive) or (n, M, K) class scores -> (n, M, K) that sums to one or is all NaN."""
    _refuse_infinite(scores, models)
    missing = np.isnan(scores)
    if scores.ndim == 3:
        part = missing.any(axis=2) & ~missing.all(axis=2)
        if part.any():
            row, model = np.argwhere(part)[0]
            raise InputError(
                f"model {models[model]!r} has NaN for some classes only at row {row}: "
                f"{_vector(scores[row, model])}",
                allowed="scores for every class, or NaN for every class where a model has none",
                fix="fill in the missing class scores, or set the whole vector to NaN",
            )
        missing = missing[:, :, 0]
    _refuse_unscored(missing, models)
    if scores.ndim == 2:
        positive = _sigmoid(scores) if logits else _in_range(scores, models, normalize=False)
        return np.stack([1.0 - positive, positive], axis=2)
    if logits:
        return _softmax(scores)
    return _renormalized(_in_range(scores, models, normalize), models, normalize)


def _refuse_infinite(scores: FloatArray, models: Sequence[str]) -> None:
    infinite = np.isinf(scores)
    if infinite.any():
        index = tuple(np.argwhere(infinite)[0])
        raise InputError(
            f"model {models[index[1]]!r} has score {scores[index]} at row {index[0]}",
            allowed="finite numbers, or NaN where a model has no score",
            fix="replace infinite scores; a log-probability of -inf is a probability of 0",
        )


def _refuse_unscored(missing: NDArray[np.bool_], models: Sequence[str]) -> None:
    empty_rows = missing.all(axis=1)
    if empty_rows.any():
        rows = np.flatnonzero(empty_rows)
        raise InputError(
            f"row {rows[0]} has no score from any of the {len(models)} models"
            + (f" (nor have {rows.size - 1} other rows)" if rows.size > 1 else ""),
            allowed="rows scored by at least one model",
            fix="drop these rows",
        )
    empty_models = missing.all(axis=0)
    if empty_models.any():
        raise InputError(
            f"model {models[int(np.argmax(empty_models))]!r} has no score on any row",
            allowed="models with at least one score",
            fix="leave this model out",
        )


def _in_range(scores: FloatArray, models: Sequence[str], normalize: bool) -> FloatArray:
    high = np.inf if normalize else 1.0 + RANGE_TOLERANCE
    low = 0.0 if normalize else -RANGE_TOLERANCE
    outside = (scores < low) | (scores > high)
    if outside.any():
        index = tuple(np.argwhere(outside)[0])
        raise InputError(
            f"model {models[index[1]]!r} has score {scores[index]:.6g} at row {index[0]}",
            allowed="nonnegative numbers" if normalize else "probabilities between 0 and 1",
            fix="declare logits=True if these are logits; rescale percentages to 0..1",
        )
    clipped: FloatArray = np.clip(scores, 0.0, None if normalize else 1.0)
    return clipped


def _renormalized(scores: FloatArray, models: Sequence[str], normalize: bool) -> FloatArray:
    sums = scores.sum(axis=2, keepdims=True)
    if normalize:
        wrong = sums[:, :, 0] <= 0.0
        allowed, fix = "at least one class score above 0", "set the vector to NaN if it is unscored"
    else:
        wrong = np.abs(sums[:, :, 0] - 1.0) > SUM_TOLERANCE
        allowed = f"class probabilities that sum to 1 (within {SUM_TOLERANCE:g})"
        fix = "pass normalize=True to rescale them, or logits=True if they are logits"
    if wrong.any():
        row, model = np.argwhere(wrong)[0]
        raise InputError(
            f"the class scores of model {models[model]!r} at row {row} sum to "
            f"{sums[row, model, 0]:.6g}: {_vector(scores[row, model])}",
            allowed=allowed,
            fix=fix,
        )
    out: FloatArray = scores / sums
    return out


def _vector(values: FloatArray) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:6])
    return f"[{shown}{', ...' if values.size > 6 else ''}]"


def _sigmoid(logits: FloatArray) -> FloatArray:
    from scipy.special import expit

    out: FloatArray = expit(logits)
    return out


def _softmax(logits: FloatArray) -> FloatArray:
    from scipy.special import softmax

    out: FloatArray = softmax(logits, axis=2)
    return out


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
    out = {}
    for name, values in groups.items():
        column = as_objects(values)
        _refuse_length(column, n, f"group column {name!r}")
        column[is_missing(column)] = None
        out[str(name)] = column
    return out


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
