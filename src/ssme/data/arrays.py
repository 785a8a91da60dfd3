"""From arrays to the fields of a `ScoreSet`: the one place where they are checked.

Every check is vectorized over rows; the first offender is looked up only once a check has failed,
so that the message can name its row and its value.

Scores become points on the probability simplex: (n, M) P(positive) or (n, M, K) class scores or
logits become (n, M, K) that sums to one. Probabilities are left as they are given, rounded or not:
rescaling would break ties between equal scores, and change which scores reach a threshold.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data import labels as labeling
from ssme.data import values as cells
from ssme.data.design import as_design
from ssme.errors import InputError, warn
from ssme.schema import ArrayOptions
from ssme.wording import quote

GROUP_PREFIX = "group_"
"""Prefix of group columns; the rest of the column name is the name of the grouping."""

MANY_MODELS = 20
"""Without names, more models than this, and than rows, are likely to be rows."""

SUM_TOLERANCE = 1e-3
"""Sums of class probabilities may be this far from 1, whatever their decimals."""

RANGE_TOLERANCE = 1e-6
"""Probabilities this little outside [0, 1] are float32 rounding and are clipped."""

FEW_LOGITS = 10
"""So few logits may lie between 0 and 1, or on one side of 0, by chance."""

PAIR_ROWS, PAIR_MODELS = 10, 500
"""Rows from which, and models up to which, pairs of columns of one or two decimals that sum to one
are looked for."""

BLOCK_ROWS = 3
"""Rows from which three columns or more that sum to one, or two of more than two decimals, are
taken for classes."""


@dataclass(frozen=True)
class Layout:
    """How a table, a file or arrays were read.

    Attributes
    ----------
    kind : ``"arrays"``, ``"mapping"``, ``"wide"``, ``"wide by class"`` or ``"long"``.
    columns : model -> columns its scores came from (one, or one per class).
    label, id, weight, design, cluster : column names, None for no such column.
    groups : column names.
    ignored : columns that were left out.
    skipped : column -> why it is not taken for a model unless it is named; these are ignored too.
    encoding : class -> index on the class axis.
    order : what says the order of classes: ``"listed"``, ``"known"`` (numbers, or a pair such as no
        and yes) or ``"unknown"``; the last of two is the positive class where one of these does.
    unlabeled : codes declared to mean unlabeled, besides NaN, None, NA and empty text.
    labels_source, source : where labels and scores came from when it was a file or second table.
    judges : what judges say and how it was understood, title -> text.
    clustered : column whose values repeat and within which scores hardly differ -> number of its
        values; only where no clusters were declared.
    """

    kind: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    label: str | None = None
    id: str | None = None
    weight: str | None = None
    design: str | None = None
    groups: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    encoding: Mapping[Hashable, int] = field(default_factory=dict)
    unlabeled: tuple[object, ...] = ()
    labels_source: str | None = None
    source: str | None = None
    judges: Mapping[str, str] = field(default_factory=dict)
    order: labeling.ClassOrder | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    clustered: Mapping[str, int] = field(default_factory=dict)

    def describe(self) -> dict[str, str]:
        """Title -> text, only what applies; for people."""
        codes = ", ".join(f"{name!r} = {index}" for name, index in self.encoding.items())
        if self.order == "unknown":
            codes += " (in no order)" if len(self.encoding) > 2 else " (none known to be positive)"
        elif len(self.encoding) == 2:
            codes += " (positive)"
        missing = ["NaN", "None", "NA", "empty", *(repr(code) for code in self.unlabeled)]
        used = {columns: model for model, columns in self.columns.items()}
        if len(used) == 1 < len(self.columns):  # the long layout
            score_columns = ", ".join(next(iter(used)))
        else:
            score_columns = "; ".join(
                model if columns == (model,) else f"{model}: {', '.join(columns)}"
                for model, columns in self.columns.items()
            )
        facts = {
            "source": self.source,
            "layout": self.kind,
            "score columns": score_columns,
            "labels from": self.labels_source,
            "label column": self.label,
            "classes": codes,
            "unlabeled means": ", ".join(missing),
            "id column": self.id,
            "weight column": self.weight,
            "label weight column": self.design,
            "cluster column": self.cluster,
            "group columns": ", ".join(self.groups),
            "not taken for models": list_reasons(self.skipped),
            "ignored columns": ", ".join(n for n in self.ignored if n not in self.skipped),
            **self.judges,
        }
        return {title: text for title, text in facts.items() if text}

    def __str__(self) -> str:
        return "\n".join(f"{title}: {text}" for title, text in self.describe().items())


def list_reasons(skipped: Mapping[str, str], limit: int = 20) -> str:
    """Columns with the reason of each, for people; ``limit`` of them."""
    listed = [f"{name!r} ({reason})" for name, reason in skipped.items()]
    more = len(listed) - limit
    return "; ".join(listed[:limit]) + (f"; and {more} more" if more > 0 else "")


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
        problem = f"scores is a {type(scores).__module__.split('.')[0]} {type(scores).__name__}"
        raise InputError(problem, hint="use ScoreSet.from_frame, which keeps the column names")
    else:
        array, models = cells.as_floats(scores, "scores"), options.models
        _check_shape(array, options)
        layout = layout or Layout("arrays")
    n, n_models = array.shape[:2]
    names = as_models(models, n_models)
    raw = labeling.observe(labels, n, options.unlabeled)
    listed = options.classes
    if class_columns and not listed:
        listed = _find_classes(class_columns, raw, names, options.positive)
    classes = labeling.resolve_classes(
        raw,
        2 if array.ndim == 2 else array.shape[2],
        classes=listed,
        positive=options.positive,
        unlabeled=options.unlabeled,
        one_column=array.ndim == 2,
    )
    if class_columns:
        _align_classes(array, class_columns, names, classes)
    encoded = labeling.encode(raw, classes)
    return {
        "scores": to_simplex(array, names, logits=options.logits, normalize=options.normalize),
        "labels": encoded,
        "models": names,
        "classes": classes,
        "weights": None if weights is None else as_weights(weights, n),
        "groups": {} if groups is None else as_groups(groups, n),
        "ids": None if ids is None else as_ids(ids, n, layout.id),
        "clusters": None if clusters is None else as_clusters(clusters, n),
        "design": as_design(options.design if design is None else design, encoded),
        "frame_library": frame_library,
        "layout": replace(
            layout,
            encoding={name: index for index, name in enumerate(classes)},
            unlabeled=options.unlabeled or (),
            order=layout.order or labeling.name_order(classes, listed=options.lists_classes),
        ),
    }


def refuse_other_order(parts: Iterable[tuple[str, object]]) -> None:
    """Refuse Series with rows of the first one in another order, or with some of its rows only.

    ``parts`` are the name of each in a message, and its values, which are taken row by row. An
    index with other or repeated names says nothing about the order.
    """
    found = [(what, getattr(values, "index", None)) for what, values in parts]
    indexed: list[Any] = [each for each in found if hasattr(each[1], "equals")]
    for what, index in indexed[1:]:
        first, rows = indexed[0]
        if index.is_unique and rows.is_unique and index.isin(rows).all() and not index.equals(rows):
            problem = f"{what} have an index with rows of {first} in another order, or some of them"
            raise InputError(problem, hint="align them with reindex, or pass to_numpy() of each")


def stack_scores(
    scores: Mapping[str, object], models: Sequence[str] | None
) -> tuple[FloatArray, Sequence[str]]:
    """A mapping model -> (n,) or (n, K) as one array, in the order of ``models`` if given."""
    given = {str(name): values for name, values in scores.items()}
    names = list(given if models is None else models)
    if not scores:
        raise InputError("scores has no models", hint="give the scores of at least one model")
    if len(given) != len(scores) or set(names) != set(given):
        problem = f"`models` are {quote(names)}, and the keys of scores {quote(scores)}"
        raise InputError(problem, hint="leave `models` out, or name all")
    arrays = {name: cells.as_floats(given[name], f"scores of model {name!r}") for name in names}
    shape = arrays[names[0]].shape
    for name, array in arrays.items():
        problem = f"scores of model {name!r} have shape {array.shape}"
        if array.ndim not in (1, 2) or array.shape[1:] == (1,):
            hint = "give (n,), the probability of the positive class, such as scores[:, 0], or "
            raise InputError(problem, hint=f"{hint}(n, K) for K classes")
        if array.shape != shape:
            hint = "align the rows; write NaN where a model has no score"
            if array.ndim != len(shape):
                hint = "give every model (n,), such as scores[:, 1], or every model (n, K)"
            raise InputError(f"{problem}, those of {names[0]!r} {shape}", hint=hint)
    stacked = np.stack(list(arrays.values()), axis=1)
    _check_shape(stacked, None)
    return stacked, names


def _check_shape(scores: FloatArray, options: ArrayOptions | None) -> None:
    """Refuse what is not (n, M) or (n, M, K).

    With ``options`` that name no models, warn of swapped axes and refuse the classes of one model.
    """
    shape = scores.shape
    if len(shape) not in (2, 3):
        raise InputError(
            f"scores must have shape (n, M) or (n, M, K), got {shape}",
            hint="for one binary model pass scores[:, None]; for one model with K classes pass "
            "scores[:, None, :]",
        )
    if 0 in shape:
        raise InputError(f"scores is empty, shape {shape}", hint="check the file or the filter")
    if len(shape) == 3 and shape[2] < 2:
        problem = f"scores has one class only, shape {shape}"
        raise InputError(problem, hint="for P(positive) of each model pass scores[:, :, 0]")
    if options is None or options.models is not None:
        return
    if shape[1] > max(shape[0], MANY_MODELS):
        warn(
            f"scores of shape {shape} have {shape[0]} rows and {shape[1]} models. If the first "
            "axis is that of the models, give numpy.swapaxes(scores, 0, 1), or a dict from model "
            "to array."
        )
    found = None if len(shape) == 3 or options.logits else find_class_columns(scores)
    if found is not None:
        one = "scores[:, [1]] or " if len(found) == 2 else ""
        raise InputError(
            f"columns {', '.join(map(str, found))} of scores sum to 1 on every row: they look like "
            f"the {len(found)} classes of one model",
            hint=f"if they are one model, pass {one}scores[:, None, :]; if they are {len(found)} "
            "models, name `models=[...]`",
        )


def _find_classes(
    class_columns: Mapping[str, tuple[str, ...]],
    raw: labeling.RawLabels,
    models: Sequence[str],
    positive: Hashable | None,
) -> tuple[Hashable, ...] | None:
    """The columns of frames, if every model has one and every label is one of its columns."""
    if set(class_columns) != set(models):
        return None
    columns = class_columns[models[0]]
    texts = {labeling.spell_class(name) for name in columns}
    if not all(labeling.spell_class(value) in texts for value in raw.values):
        return None
    return labeling.convert_as_labels(
        labeling.order_classes(columns, positive=positive), raw.values
    )


def _align_classes(
    scores: FloatArray,
    class_columns: Mapping[str, tuple[str, ...]],
    models: Sequence[str],
    classes: Sequence[Hashable],
) -> None:
    """Put the columns of frames that name the classes into the order of ``classes``, in place.

    Frames whose columns have other names must all have them in one order.
    """
    texts = [labeling.spell_class(name) for name in classes]
    orders: dict[tuple[str, ...], tuple[str, list[str]]] = {}
    for model, names in class_columns.items():
        columns = [labeling.spell_class(name) for name in names]
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
        problem = f"`models` must have a name for each of {count} models, got {quote(names)}"
        raise InputError(problem, hint="give one nonempty name per model, in the order of scores")
    cells.refuse_duplicates(names, "model name")
    return names


def as_weights(weights: object, n: int) -> FloatArray:
    """(n,) finite, nonnegative, not all zero."""
    out = cells.as_floats(weights, "weights")
    _check_length(out, n, "weights")
    refuse_bad_weights(out)
    if not out.any():
        raise InputError(f"all {n} weights are 0", hint="check the weight column")
    return out * cells.find_weight_unit(out)


def refuse_bad_weights(weights: FloatArray, first_row: int = 0) -> None:
    """Refuse weights (n,) that are missing, negative or infinite; rows are from ``first_row``."""
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        problem = f"the weight at row {first_row + row} is {cells.make_plain(weights[row])!r}"
        raise InputError(problem, hint="give a finite number of 0 or more, or drop the row")


def as_groups(groups: Mapping[str, object], n: int) -> dict[str, np.typing.NDArray[np.object_]]:
    """Group columns as object arrays, None where a row belongs to no group."""
    if not isinstance(groups, Mapping):
        raise InputError(f"groups is a {type(groups).__name__}", hint="give {'name': values}")
    out = {}
    for name, values in groups.items():
        column = cells.as_objects(values)
        _check_length(column, n, f"group column {str(name)!r}")
        codes, distinct = cells.factorize(column)
        plain = [
            None if isinstance(v, str) and not v.strip() else cells.make_plain(v) for v in distinct
        ]
        out[str(name)] = cells.to_objects([*plain, None])[codes]
    return out


def as_clusters(clusters: object, n: int) -> IntArray:
    """Number (n,) of the cluster of each row, counted in order of appearance; none is missing."""
    column = cells.as_objects(clusters)
    _check_length(column, n, "clusters")
    missing = cells.is_missing(column)
    if missing.any():
        problem = f"row {int(np.argmax(missing))} has no cluster"
        raise InputError(problem, hint="give every row a cluster, a lone one its own")
    codes, distinct = cells.factorize(column)
    if len(distinct) == 1 and n > 1:
        problem = f"all {n} rows are in the cluster {cells.make_plain(distinct[0])!r}"
        hint = "name the column of what rows belong to, such as patient or prompt"
        raise InputError(problem, hint=hint)
    return codes


def as_ids(ids: object, n: int, column: str | None = None) -> np.typing.NDArray[np.object_]:
    """(n,) unique row names, which are in ``column``."""
    out = cells.as_objects(ids)
    _check_length(out, n, "ids")
    as_given = out if isinstance(ids, list | tuple) or cells.has_128_bits(ids) else np.asarray(ids)
    refuse_rounded_ids(as_given, 2**24 if as_given.dtype == np.float32 else cells.EXACT_INTEGER)
    missing = cells.is_missing(as_given if as_given.dtype.kind in "iu" else out)
    if missing.any():
        problem = f"the id at row {int(np.argmax(missing))} is missing"
        raise InputError(problem, hint="fill in the id or drop the row")
    if len(set(out)) < n:
        import pandas

        again = np.flatnonzero(pandas.Series(out, dtype=object).duplicated().to_numpy())
        first = int(np.argmax(out == out[again[0]]))
        more = f" ({again.size - 1} more repeated rows)" if again.size > 1 else ""
        named = "them as `cluster`" if column is None else f"`cluster={column!r}`"
        raise InputError(
            f"id {out[first]!r} appears at row {first} and again at row {again[0]}{more}",
            hint="remove the repeated rows; if rows with one id belong together, such as several "
            f"answers to one prompt, pass {named} instead of an id; if there is one row per score, "
            "name the column of models with `model`",
        )
    return out


def refuse_rounded_ids(ids: np.typing.NDArray[Any], exact: int) -> None:
    """Refuse floating-point numbers from ``exact`` on, which may represent several whole ones."""
    for row, id in enumerate(ids.tolist() if ids.dtype.kind in "fO" else ()):
        if isinstance(id, float) and abs(id) >= exact:
            problem = f"the id at row {row} is {id!r}, a floating-point number that may be rounded"
            raise InputError(problem, hint="write ids as text or as whole numbers without decimals")


def _check_length(values: np.typing.NDArray[Any], n: int, what: str) -> None:
    if values.shape != (n,):
        found = f"{values.size} values" if values.ndim == 1 else f"shape {values.shape}"
        problem = f"{what} has {found} for {n} rows of scores"
        raise InputError(problem, hint="check that both come from the same rows in the same order")


# -------------------------------------------------------------------------------------------------
# Scores as points on the probability simplex.


def to_simplex(
    scores: FloatArray,
    models: Sequence[str],
    *,
    logits: bool = False,
    normalize: bool = False,
    all_rows: bool = True,
) -> FloatArray:
    """(n, M) P(positive) or (n, M, K) class scores -> (n, M, K) that sums to one or is all NaN.

    Class scores may be off by rounding (`find_wrong_sums`). With ``all_rows`` there are no other
    rows, so that a model without a score is refused.
    """
    if normalize and (logits or scores.ndim == 2):
        what = "`logits=True`" if logits else "one score per model"
        problem = f"`normalize=True` was given with {what}"
        raise InputError(problem, hint="leave it out: there is no sum to rescale")
    scores = cells.undo_widening(scores)
    infinite = np.isinf(scores)
    if infinite.any():
        at = tuple(np.argwhere(infinite)[0])
        problem = f"model {models[at[1]]!r} has the infinite score {scores[at]} at row {at[0]}"
        raise InputError(problem, hint="replace it; a log-probability of -inf is a probability 0")
    missing = np.isnan(scores)
    if missing.any():
        _check_missing(scores, missing, models, all_rows)
    if logits:
        from scipy.special import expit, softmax

        if all_rows and len(scores) >= FEW_LOGITS:
            _check_logits(scores, models)
        if scores.ndim == 3:
            return softmax(scores, axis=2)
        scores = cells.restore_decimals(expit(scores), scores)
    else:
        low, high = (0.0, np.inf) if normalize else (-RANGE_TOLERANCE, 1.0 + RANGE_TOLERANCE)
        # NaN makes min and max NaN, so that the comparison is false
        within = scores.size == 0 or bool(scores.min() >= low and scores.max() <= high)
        outside = np.zeros(1, dtype=bool) if within else (scores < low) | (scores > high)
        if outside.any():
            at = tuple(np.argwhere(outside)[0])
            value, least = (
                cells.make_plain(scores[at]),
                "0 or more" if normalize else "between 0 and 1",
            )
            problem = f"model {models[at[1]]!r} has score {value!r} at row {at[0]}, not {least}"
            logs = "for log-probabilities pass numpy.exp(scores)"
            scale = "rescale percentages to 0..1" if (scores > 0.0).any() else logs
            raise InputError(problem, hint=f"pass `logits=True` if these are logits; {scale}")
        scores = np.clip(scores, 0.0, None if normalize else 1.0)
    if scores.ndim == 2:
        return np.stack([1.0 - scores, scores], axis=2)
    sums = scores.sum(axis=2, keepdims=True)
    if normalize:
        wrong = sums[:, :, 0] <= 0.0
    else:
        wrong = np.stack([find_wrong_sums(each) for each in scores.swapaxes(0, 1)], axis=1)
    if wrong.any():
        row, model = np.argwhere(wrong)[0]
        hint = "pass `normalize=True` to rescale them, or `logits=True` if they are logits"
        raise InputError(
            f"the class scores of model {models[model]!r} at row {row} sum to "
            f"{sums[row, model, 0]:.9g}: {_format_vector(scores[row, model])}",
            hint="set the vector to NaN if it is unscored" if normalize else hint,
        )
    return np.divide(scores, sums) if normalize else scores


def find_wrong_sums(scores: FloatArray, decimals: int = 2) -> BoolArray:
    """Rows (n,) of class probabilities (n, K) whose sum is not 1; false where scores are missing.

    Scores that all have few ``decimals``, at least so many, may have been rounded.
    """
    off = np.abs(scores.sum(axis=1) - 1.0)
    wrong: BoolArray = off > SUM_TOLERANCE
    return wrong & (off > find_rounding(scores, decimals)) if wrong.any() else wrong


def find_rounding(scores: FloatArray, decimals: int = 2, most: float = 0.05) -> float:
    """How far rounding may take the sums of (n, K): half a unit of the last decimal per class.

    From two decimals on it counts up to ``most``: with many classes, too much has been lost.
    """
    known = scores[~np.isnan(scores).any(axis=1)]
    for unit in 0.1 ** np.arange(decimals, 7):
        parts = known / unit
        if (np.abs(parts - np.rint(parts)) < 1e-4).all():
            off = float(0.5 * unit * scores.shape[1])
            return (min(off, most) if decimals > 1 else off) + RANGE_TOLERANCE
    return 0.0


def find_class_columns(
    scores: FloatArray, blocks: Iterable[Sequence[int]] = ()
) -> tuple[int, ...] | None:
    """Columns of (n, M) that sum to one on every row: the classes of one model.

    Candidates are all columns together, ``blocks`` of three or more whose names begin in the
    same way and every pair. Columns of one value and very few rows are not evidence, nor are few
    rows of one decimal unless names say so too.
    """
    n, m = scores.shape
    if m > 2 and _sum_to_one(scores, BLOCK_ROWS):
        return tuple(range(m))
    for block in blocks:
        if len(block) > 2 and _sum_to_one(scores[:, list(block)], BLOCK_ROWS, decimals=1):
            return tuple(block)
    if n < BLOCK_ROWS or m > PAIR_MODELS:
        return None
    head = scores[:PAIR_ROWS]
    off = np.abs(head[:, :, None] + head[:, None, :] - 1.0)
    near = ~(off > 0.11).any(axis=0)
    for pair in np.argwhere(np.triu(near, k=1)).tolist():
        coarse = find_rounding(scores[:, pair], decimals=1) > 0.005
        if _sum_to_one(scores[:, pair], PAIR_ROWS if coarse else BLOCK_ROWS):
            return tuple(pair)
    return None


def _sum_to_one(scores: FloatArray, least_rows: int, decimals: int = 2) -> bool:
    missing = np.isnan(scores)
    known = scores[~missing.any(axis=1)]
    varied = len(known) >= least_rows and np.ptp(known, axis=0).max() > 2.0 * SUM_TOLERANCE
    if not varied or (missing.any(axis=1) != missing.all(axis=1)).any():
        return False
    decimals = 1 if len(known) >= PAIR_ROWS else decimals
    return bool((known >= 0.0).all()) and not find_wrong_sums(known, decimals).any()


def _check_missing(
    scores: FloatArray, missing: BoolArray, models: Sequence[str], all_rows: bool
) -> None:
    """Refuse a model with some classes only, a row without models and a model without rows."""
    if scores.ndim == 3:
        part = missing.any(axis=2) & ~missing.all(axis=2)
        if part.any():
            row, model = np.argwhere(part)[0]
            found = _format_vector(scores[row, model])
            problem = f"model {models[model]!r} has NaN for some classes only at row {row}: {found}"
            raise InputError(problem, hint="fill in the missing scores, or set them all to NaN")
        missing = missing[:, :, 0]
    rows = np.flatnonzero(missing.all(axis=1))
    if rows.size:
        row = f"row {rows[0]}"
        which = f"{row} has" if rows.size == 1 else f"{rows.size:,} rows, first {row}, have"
        problem = f"{which} no score from any of the {len(models)} models"
        raise InputError(problem, hint="drop these rows")
    unscored = np.flatnonzero(missing.all(axis=0))
    if all_rows and unscored.size:
        problem = f"model {models[unscored[0]]!r} has no score on any row"
        raise InputError(problem, hint="leave this model out")


def _format_vector(values: FloatArray) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:6])
    return f"[{shown}{', ...' if values.size > 6 else ''}]"


def _check_logits(scores: FloatArray, models: Sequence[str]) -> None:
    """Refuse probabilities that were declared as logits; warn of logits on one side of zero."""
    known = ~np.isnan(scores)
    for m, model in enumerate(models):
        values = scores[:, m][known[:, m]]
        if not values.size or values.min() == values.max() or values.min() < 0.0:
            continue
        if scores.ndim == 3:
            total = scores[:, m].sum(axis=1)[known[:, m, 0]]
            what = f"that sum to {total[0]:.6g}"
            shares = np.ptp(total) <= SUM_TOLERANCE * total.max()
        else:
            what, shares = "between 0 and 1", values.max() <= 1.0
        if shares:
            raise InputError(
                f"`logits=True` was given, and all scores of model {model!r} are numbers {what}",
                hint="leave `logits` out if scores are probabilities; if only some models have "
                "logits, give probabilities of all (scipy.special.expit or softmax of logits)",
            )
    above, below = (scores > 0.0).any(), (scores < 0.0).any()
    if scores.ndim == 2 and not (above and below):
        side, never = ("below", "negative") if above else ("above", "positive")
        warn(
            f"No logit of any model is {side} 0, so no model ever predicts the {never} class. If "
            "these are log-probabilities, pass numpy.exp of them; if percentages, divide by 100; "
            "leave `logits` out in both cases."
        )
