"""From arrays to the fields of a `ScoreSet`: the one place where they are checked."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.design import as_design
from ssme.data.labels import (
    RawLabels,
    convert_as_labels,
    encode,
    name_order,
    observe,
    order_classes,
    resolve_classes,
    spell_class,
)
from ssme.data.layout import Layout
from ssme.data.options import ArrayOptions
from ssme.data.simplex import find_class_columns, to_simplex
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
    refuse_duplicates,
)
from ssme.errors import InputError, SsmeWarning, argument
from ssme.wording import quote

MANY_MODELS = 20
"""More models than this, and than rows, are warned of where they have no names."""


def check_arrays(
    scores: object,
    labels: object | None,
    options: ArrayOptions,
    *,
    weights: object | None = None,
    groups: Mapping[str, object] | None = None,
    ids: object | None = None,
    design: object | None = None,
    layout: Layout | None = None,
    frame_library: str = "pandas",
) -> dict[str, Any]:
    """The fields of a `ScoreSet`, everything checked; see `ScoreSet.from_arrays`."""
    models = options.models
    refuse_other_order(_name_parts(scores, labels, weights, groups))
    class_columns: Mapping[str, tuple[str, ...]] = {}
    if isinstance(scores, Mapping):
        class_columns = _find_class_columns(scores)
        array, models = stack_scores(scores, models)
        layout = layout or Layout("mapping")
    elif hasattr(type(scores), "columns"):
        raise InputError(
            f"scores is a {type(scores).__module__.split('.')[0]} {type(scores).__name__}",
            allowed="an array, or a mapping from model to array",
            fix="use ScoreSet.from_frame, which keeps the column names",
        )
    else:
        array = _require_rectangle(as_floats(scores, "scores"))
        layout = layout or Layout("arrays")
        if models is None:
            _warn_of_other_axes(array)
        if models is None and array.ndim == 2 and not options.logits:
            _refuse_class_columns(array)
    n, n_models = array.shape[:2]
    one_column = array.ndim == 2
    n_classes = 2 if one_column else array.shape[2]
    names = as_models(models, n_models)
    raw = observe(labels, n, options.unlabeled)
    classes = resolve_classes(
        raw,
        n_classes,
        classes=options.classes or _name_classes(class_columns, raw, names, options.positive),
        positive=options.positive,
        unlabeled=options.unlabeled,
        one_column=one_column,
    )
    _align_classes(array, class_columns, names, classes)
    encoded = encode(raw, classes)
    return {
        "scores": to_simplex(array, names, logits=options.logits, normalize=options.normalize),
        "labels": encoded,
        "models": names,
        "classes": classes,
        "weights": as_weights(weights, n),
        "groups": as_groups(groups, n),
        "ids": as_ids(ids, n),
        "design": as_design(options.design if design is None else design, encoded),
        "frame_library": frame_library,
        "layout": replace(
            layout,
            encoding={name: index for index, name in enumerate(classes)},
            unlabeled=options.unlabeled or (),
            order=layout.order or name_order(classes, listed=options.lists_classes),
        ),
    }


def _name_parts(
    scores: object, labels: object, weights: object, groups: Mapping[str, object] | None
) -> Iterator[tuple[str, object]]:
    """What may be a Series, and what a message calls it."""
    if isinstance(scores, Mapping):
        yield from ((f"the scores of model {str(name)!r}", each) for name, each in scores.items())
    yield "the labels", labels
    yield "the weights", weights
    if isinstance(groups, Mapping):
        yield from ((f"the values of group {name!r}", each) for name, each in groups.items())


def _warn_of_other_axes(scores: FloatArray) -> None:
    """Warn where the first axis looks like that of the models, as in a list of their scores."""
    n, m = scores.shape[:2]
    if m > max(n, MANY_MODELS):
        warnings.warn(
            f"scores of shape {scores.shape} have {n} rows and {m} models. If the first axis is "
            "that of the models, give numpy.swapaxes(scores, 0, 1), or a dict from model to array.",
            SsmeWarning,
            stacklevel=2,
        )


def _refuse_class_columns(scores: FloatArray) -> None:
    """Refuse the class probabilities of one model, which would be read as several models."""
    found = find_class_columns(scores)
    if found is not None:
        one = (
            " is scores[:, [1]] or scores[:, None, :]"
            if len(found) == 2
            else " is scores[:, None, :]"
        )
        raise InputError(
            f"columns {', '.join(map(str, found))} of scores sum to 1 on every row: they look like "
            f"the {len(found)} classes of one model",
            allowed="one column per model, the probability of the positive class, or (n, M, K)",
            fix=f"one model with {len(found)} classes{one}; give "
            f"{argument('models', '[...]')} if these are {len(found)} models",
        )


def _find_class_columns(scores: Mapping[str, object]) -> dict[str, tuple[str, ...]]:
    """The names of the columns of each model whose class scores are a data frame."""
    frames = {str(name): getattr(each, "columns", None) for name, each in scores.items()}
    return {name: tuple(map(str, of)) for name, of in frames.items() if of is not None}


def _name_classes(
    class_columns: Mapping[str, tuple[str, ...]],
    raw: RawLabels,
    models: Sequence[str],
    positive: Hashable | None,
) -> tuple[Hashable, ...] | None:
    """The columns of the frames, where every model has one and every label is such a column."""
    if set(class_columns) != set(models):
        return None
    columns = class_columns[models[0]]
    texts = {spell_class(name) for name in columns}
    if not all(spell_class(value) in texts for value in raw.values):
        return None
    return convert_as_labels(order_classes(columns, positive=positive), raw.values)


def _align_classes(
    scores: FloatArray,
    class_columns: Mapping[str, tuple[str, ...]],
    models: Sequence[str],
    classes: Sequence[Hashable],
) -> None:
    """Put the columns of frames that name the classes into the order of ``classes``, in place.

    Frames that name something else have to name it in one order.
    """
    texts = [spell_class(name) for name in classes]
    orders: dict[tuple[str, ...], list[str]] = {}
    for model, columns in class_columns.items():
        own = [spell_class(name) for name in columns]
        if sorted(own) == sorted(texts):
            m = models.index(model)
            scores[:, m] = scores[:, m, [own.index(text) for text in texts]]
            continue
        first = orders.setdefault(tuple(sorted(own)), [model, *own])
        if first[1:] != own:
            raise InputError(
                f"the scores of model {first[0]!r} are a data frame with the columns "
                f"{quote(first[1:])}, and those of {model!r} have the order {quote(own)}",
                allowed="the columns of every frame in the order of the classes",
                fix="name the columns of each frame by the classes, or reorder them",
            )


def _require_rectangle(scores: FloatArray) -> FloatArray:
    if scores.ndim not in (2, 3):
        raise InputError(
            f"scores has {scores.ndim} dimensions, shape {scores.shape}",
            allowed="(n, M) probabilities of the positive class, or (n, M, K) for K classes",
            fix="one binary model is scores[:, None]; one model with K classes scores[:, None, :]",
        )
    if 0 in scores.shape:
        raise InputError(
            f"scores is empty, shape {scores.shape}",
            allowed="at least one row and one model",
            fix="check the file or the filter that made it",
        )
    if scores.ndim == 3 and scores.shape[2] < 2:
        raise InputError(
            f"scores has one class only, shape {scores.shape}",
            allowed="two classes or more on the last axis",
            fix="for P(positive) of each model pass scores[:, :, 0]",
        )
    return scores


def stack_scores(
    scores: Mapping[str, object], models: Sequence[str] | None
) -> tuple[FloatArray, Sequence[str]]:
    """A mapping model -> (n,) or (n, K) as one array, in the order of ``models`` if given."""
    if not scores:
        raise InputError(
            "scores is an empty mapping",
            allowed="model name -> array",
            fix="give the scores of at least one model",
        )
    names = [str(name) for name in scores] if models is None else list(models)
    given = {str(name): values for name, values in scores.items()}
    if len(given) != len(scores) or set(names) != set(given):
        raise InputError(
            f"models {quote(names)} and the keys of scores {quote(scores)} differ",
            allowed="the same names in both",
            fix=f"leave {argument('models')} out to keep the mapping's own order",
        )
    arrays = {name: as_floats(given[name], f"scores of model {name!r}") for name in names}
    first = names[0]
    for name, array in arrays.items():
        if array.ndim not in (1, 2) or array.shape[1:] == (1,):
            raise InputError(
                f"scores of model {name!r} have shape {array.shape}",
                allowed="(n,) probabilities of the positive class, or (n, K) for K classes",
                fix="give one vector or one matrix per model; one column is scores[:, 0]",
            )
        if array.shape != arrays[first].shape:
            raise InputError(
                f"scores of model {name!r} have shape {array.shape}, those of {first!r} "
                f"{arrays[first].shape}",
                allowed="the same shape for every model",
                fix="align the rows; write NaN where a model has no score"
                if array.ndim == arrays[first].ndim
                else "give every model (n,), the probability of the positive class, such as "
                "scores[:, 1], or every model (n, K)",
            )
    return _require_rectangle(np.stack(list(arrays.values()), axis=1)), names


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


def find_index(values: object) -> Any:
    """The index of a pandas Series or frame; None for anything else."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") and hasattr(index, "isin") else None


def name_same_rows(own: Any, theirs: Any) -> bool:
    """Whether two indexes differ although all rows of ``theirs`` are among those of ``own``."""
    if own is None or theirs is None or own.equals(theirs):
        return False
    return bool(own.is_unique and theirs.is_unique and theirs.isin(own).all())


def refuse_other_order(parts: Iterable[tuple[str, object]]) -> None:
    """Refuse Series whose index has the rows of the first one in another order.

    Parameters
    ----------
    parts : iterable of (str, object)
        What each thing is called in a message, and its values.
    """
    first: tuple[str, Any] | None = None
    for what, values in parts:
        index = find_index(values)
        if index is None:
            continue
        if first is None:
            first = what, index
        elif len(index) == len(first[1]) and name_same_rows(first[1], index):
            raise InputError(
                f"{what} are a {type(values).__name__} whose index has the rows of {first[0]} in "
                "another order",
                allowed="one value per row, in the same order everywhere",
                fix="align them by their index with reindex, or pass to_numpy() of each if they "
                "are in order",
            )
