"""From arrays to the fields of a `ScoreSet`: the one place where they are checked.

Every check is vectorized over rows; the first offender is looked up only once a check has failed,
so that the message can name its row and its value.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
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
from ssme.data.simplex import find_class_columns, to_simplex
from ssme.data.values import (
    EXACT_INTEGER,
    FloatArray,
    as_floats,
    as_objects,
    factorize,
    has_128_bits,
    is_missing,
    make_plain,
    refuse_duplicates,
)
from ssme.errors import InputError, SsmeWarning
from ssme.schema import ArrayOptions
from ssme.wording import quote

MANY_MODELS = 20
"""Without names, more models than this, and than rows, are likely to be rows."""

LARGEST_EXPONENT = 100
"""Weights up to 2^100, and down to 2^-100, are used as they are given."""


def check_arrays(
    scores: object,
    labels: object | None,
    options: ArrayOptions,
    *,
    weights: object | None = None,
    groups: Mapping[str, object] | None = None,
    ids: object | None = None,
    clusters: object | None = None,
    design: object | None = None,
    layout: Layout | None = None,
    frame_library: str = "pandas",
) -> dict[str, Any]:
    """The fields of a `ScoreSet`, everything checked; see `ScoreSet.from_arrays`."""
    class_columns: dict[str, tuple[str, ...]] = {}
    in_order: list[tuple[str, object]] = [("the labels", labels), ("the weights", weights)]
    in_order.append(("the clusters", clusters))
    if isinstance(groups, Mapping):
        in_order += [(f"the values of group {name!r}", each) for name, each in groups.items()]
    if isinstance(scores, Mapping):
        in_order[:0] = [(f"the scores of model {str(m)!r}", each) for m, each in scores.items()]
        frames = {str(name): getattr(each, "columns", None) for name, each in scores.items()}
        class_columns = {m: tuple(map(str, each)) for m, each in frames.items() if each is not None}
    refuse_other_order(in_order)
    if isinstance(scores, Mapping):
        array, models = stack_scores(scores, options.models)
        layout = layout or Layout("mapping")
    elif hasattr(type(scores), "columns"):
        raise InputError(
            f"scores is a {type(scores).__module__.split('.')[0]} {type(scores).__name__}",
            hint="use ScoreSet.from_frame, which keeps the column names",
        )
    else:
        array, models = as_floats(scores, "scores"), options.models
        _check_shape(array)
        if models is None:
            _check_axes(array, options)
        layout = layout or Layout("arrays")
    n, n_models = array.shape[:2]
    names = as_models(models, n_models)
    raw = observe(labels, n, options.unlabeled)
    listed = options.classes
    if class_columns and not listed:
        listed = _find_classes(class_columns, raw, names, options.positive)
    classes = resolve_classes(
        raw,
        2 if array.ndim == 2 else array.shape[2],
        classes=listed,
        positive=options.positive,
        unlabeled=options.unlabeled,
        one_column=array.ndim == 2,
    )
    if class_columns:
        _align_classes(array, class_columns, names, classes)
    encoded = encode(raw, classes)
    return {
        "scores": to_simplex(array, names, logits=options.logits, normalize=options.normalize),
        "labels": encoded,
        "models": names,
        "classes": classes,
        "weights": None if weights is None else as_weights(weights, n),
        "groups": {} if groups is None else as_groups(groups, n),
        "ids": None if ids is None else as_ids(ids, n),
        "clusters": None if clusters is None else as_clusters(clusters, n),
        "design": as_design(options.design if design is None else design, encoded),
        "frame_library": frame_library,
        "layout": replace(
            layout,
            encoding={name: index for index, name in enumerate(classes)},
            unlabeled=options.unlabeled or (),
            order=layout.order or name_order(classes, listed=options.lists_classes),
        ),
    }


def refuse_other_order(parts: Iterable[tuple[str, object]]) -> None:
    """Refuse Series that name the same rows as the first one in another order.

    ``parts`` are the name of each in a message, and its values, which are taken row by row. An
    index with other or repeated names says nothing about the order.
    """
    indexed = [(what, find_index(values)) for what, values in parts]
    indexed = [(what, index) for what, index in indexed if index is not None]
    for what, index in indexed[1:]:
        first, rows = indexed[0]
        if len(index) == len(rows) and name_same_rows(rows, index):
            raise InputError(
                f"{what} have an index with the rows of {first} in another order",
                hint="align them with reindex, or pass to_numpy() of each if they are in order",
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


def stack_scores(
    scores: Mapping[str, object], models: Sequence[str] | None
) -> tuple[FloatArray, Sequence[str]]:
    """A mapping model -> (n,) or (n, K) as one array, in the order of ``models`` if given."""
    given = {str(name): values for name, values in scores.items()}
    names = list(given if models is None else models)
    if not scores:
        raise InputError("scores has no models", hint="give the scores of at least one model")
    if len(given) != len(scores) or set(names) != set(given):
        raise InputError(
            f"`models` are {quote(names)}, and the keys of scores {quote(scores)}",
            hint="leave `models` out, or name all",
        )
    arrays = {name: as_floats(given[name], f"scores of model {name!r}") for name in names}
    shape = arrays[names[0]].shape
    for name, array in arrays.items():
        if array.ndim not in (1, 2) or array.shape[1:] == (1,):
            raise InputError(
                f"scores of model {name!r} have shape {array.shape}",
                hint="give (n,), the probability of the positive class, such as scores[:, 0], or "
                "(n, K) for K classes",
            )
        if array.shape != shape:
            raise InputError(
                f"scores of model {name!r} have shape {array.shape}, those of {names[0]!r} {shape}",
                hint="align the rows; write NaN where a model has no score"
                if array.ndim == len(shape)
                else "give every model (n,), such as scores[:, 1], or every model (n, K)",
            )
    stacked = np.stack(list(arrays.values()), axis=1)
    _check_shape(stacked)
    return stacked, names


def _check_shape(scores: FloatArray) -> None:
    """Refuse what is not (n, M) or (n, M, K)."""
    shape = scores.shape
    if len(shape) not in (2, 3):
        raise InputError(
            f"scores has {len(shape)} dimensions, shape {shape}, and not (n, M) or (n, M, K)",
            hint="one binary model is scores[:, None]; one model with K classes scores[:, None, :]",
        )
    if 0 in shape:
        raise InputError(f"scores is empty, shape {shape}", hint="check the file or the filter")
    if len(shape) == 3 and shape[2] < 2:
        problem = f"scores has one class only, shape {shape}"
        raise InputError(problem, hint="for P(positive) of each model pass scores[:, :, 0]")


def _check_axes(scores: FloatArray, options: ArrayOptions) -> None:
    """Of models without names, warn of swapped axes and refuse the classes of one model."""
    n, m = scores.shape[:2]
    if m > max(n, MANY_MODELS):
        warnings.warn(
            f"scores of shape {scores.shape} have {n} rows and {m} models. If the first axis is "
            "that of the models, give numpy.swapaxes(scores, 0, 1), or a dict from model to array.",
            SsmeWarning,
            stacklevel=2,
        )
    found = None if scores.ndim == 3 or options.logits else find_class_columns(scores)
    if found is not None:
        one = "scores[:, [1]] or " if len(found) == 2 else ""
        raise InputError(
            f"columns {', '.join(map(str, found))} of scores sum to 1 on every row: they look like "
            f"the {len(found)} classes of one model",
            hint=f"one model with {len(found)} classes is {one}scores[:, None, :]; name "
            f"`models=[...]` if these are {len(found)} models",
        )


def _find_classes(
    class_columns: Mapping[str, tuple[str, ...]],
    raw: RawLabels,
    models: Sequence[str],
    positive: Hashable | None,
) -> tuple[Hashable, ...] | None:
    """The columns of frames, if every model has one and every label is one of its columns."""
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

    Frames whose columns have other names must all have them in one order.
    """
    texts = [spell_class(name) for name in classes]
    orders: dict[tuple[str, ...], tuple[str, list[str]]] = {}
    for model, names in class_columns.items():
        columns = [spell_class(name) for name in names]
        if sorted(columns) == sorted(texts):
            m = models.index(model)
            scores[:, m] = scores[:, m, [columns.index(text) for text in texts]]
            continue
        first, order = orders.setdefault(tuple(sorted(columns)), (model, columns))
        if order != columns:
            raise InputError(
                f"the scores of model {first!r} are a data frame with the columns {quote(order)}, "
                f"and those of {model!r} have the order {quote(columns)}",
                hint="name the columns of each frame by the classes, or reorder them",
            )


def as_models(models: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Unique, nonempty model names for the second axis."""
    if models is None:
        return tuple(f"model_{m}" for m in range(1, count + 1))
    names = tuple(models)
    if len(names) != count or "" in names:
        raise InputError(
            f"`models` has {len(names)} names for {count} models: {quote(names)}",
            hint="give one nonempty name per model, in the order of the second axis of scores",
        )
    refuse_duplicates(names, "model name")
    return names


def as_weights(weights: object, n: int) -> FloatArray:
    """(n,) finite, nonnegative, not all zero."""
    out = as_floats(weights, "weights")
    _check_length(out, n, "weights")
    refuse_bad_weights(out)
    if not out.any():
        raise InputError(f"all {n} weights are 0", hint="check the weight column")
    unit = find_weight_unit(out)
    return out if unit == 1.0 else out * unit


def refuse_bad_weights(weights: FloatArray, first_row: int = 0) -> None:
    """Refuse weights (n,) that are missing, negative or infinite; rows are from ``first_row``."""
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"the weight at row {first_row + row} is {make_plain(weights[row])!r}, not a finite "
            "number of 0 or more",
            hint="drop the row or give it a weight of 0",
        )


def find_weight_unit(weights: FloatArray) -> float:
    """The power of two that brings very large or very small weights near one; usually 1.

    Only ratios of weights matter, and a power of two keeps them to the bit. Metrics multiply up to
    four weights with one another, which must neither overflow nor vanish.
    """
    exponent = int(np.frexp(weights.max(initial=0.0))[1])
    power = min(-exponent, 1000)  # a subnormal number would ask for more than a float can hold
    return 1.0 if abs(exponent) <= LARGEST_EXPONENT else float(np.ldexp(1.0, power))


def as_groups(groups: Mapping[str, object], n: int) -> dict[str, NDArray[np.object_]]:
    """Group columns as object arrays, None where a row belongs to no group."""
    if not isinstance(groups, Mapping):
        raise InputError(
            f"groups is a {type(groups).__name__}", hint="pass `groups={'name': values}`"
        )
    out = {}
    for name, values in groups.items():
        column = as_objects(values)
        _check_length(column, n, f"group column {str(name)!r}")
        codes, distinct = factorize(column)
        table: NDArray[np.object_] = np.full(len(distinct) + 1, None, dtype=object)
        for place, value in enumerate(distinct):
            blank = isinstance(value, str) and not value.strip()
            table[place] = None if blank else make_plain(value)
        out[str(name)] = table[codes]
    return out


def as_clusters(clusters: object, n: int) -> NDArray[np.int64]:
    """Number (n,) of the cluster of each row, counted in order of appearance; none is missing."""
    column = as_objects(clusters)
    _check_length(column, n, "clusters")
    codes, distinct = factorize(column)
    blank = [isinstance(value, str) and not value.strip() for value in distinct]
    missing = np.append(is_missing(as_objects(distinct)) | np.array(blank, dtype=bool), True)[codes]
    if missing.any():
        raise InputError(
            f"row {int(np.argmax(missing))} has no cluster",
            hint="give every row a cluster; a row that belongs with no other one has its own",
        )
    if len(distinct) == 1 and n > 1:
        raise InputError(
            f"all {n} rows are in the cluster {make_plain(distinct[0])!r}",
            hint="name the column that says which rows belong together, such as patient or prompt",
        )
    return np.asarray(codes, dtype=np.int64)


def as_ids(ids: object, n: int) -> NDArray[np.object_]:
    """(n,) unique row names."""
    out = as_objects(ids)
    _check_length(out, n, "ids")
    as_given = out if isinstance(ids, list | tuple) or has_128_bits(ids) else np.asarray(ids)
    refuse_rounded_ids(as_given, 2**24 if as_given.dtype == np.float32 else EXACT_INTEGER)
    missing = is_missing(as_given if as_given.dtype.kind in "iu" else out)
    if missing.any():
        problem = f"the id at row {int(np.argmax(missing))} is missing"
        raise InputError(problem, hint="fill in the id or drop the row")
    if len(set(out)) < n:
        import pandas

        again = np.flatnonzero(pandas.Series(out, dtype=object).duplicated().to_numpy())
        first = int(np.argmax(out == out[again[0]]))
        more = f" ({again.size - 1} more repeated rows)" if again.size > 1 else ""
        raise InputError(
            f"id {out[first]!r} appears at row {first} and again at row {again[0]}{more}",
            hint="remove the repeated rows; if rows with one id belong together, such as several "
            "answers to one prompt, pass that column as `cluster`, not as `id`; or pass "
            "`layout='long'` if there is one row per score",
        )
    return out


def refuse_rounded_ids(ids: NDArray[Any], exact: int) -> None:
    """Refuse floating-point numbers from ``exact`` on, which may represent several whole ones."""
    for row, id in enumerate(ids.tolist() if ids.dtype.kind in "fO" else ()):
        if isinstance(id, float) and abs(id) >= exact:
            raise InputError(
                f"the id at row {row} is {id!r}, a floating-point number that may have been "
                "rounded to the id of another row",
                hint="write ids as text or as whole numbers, without decimals or exponent",
            )


def _check_length(values: NDArray[Any], n: int, what: str) -> None:
    if values.shape != (n,):
        found = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}"
        raise InputError(
            f"{what} has {found} for {n} rows of scores",
            hint="check that both come from the same rows in the same order",
        )
