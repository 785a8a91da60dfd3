"""Probabilities, logits and unnormalized scores as points on the probability simplex.

    (n, M) P(positive), (n, M, K) probabilities or logits  ->  (n, M, K) that sums to one

Probabilities are left as they are given, rounded or not: rescaling would break ties between equal
scores, and change ranks and which scores reach a threshold.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ssme.data.values import FloatArray, make_plain
from ssme.errors import InputError, SsmeWarning

SUM_TOLERANCE = 1e-3
"""Sums of class probabilities may be this far from 1, whatever their decimals."""

RANGE_TOLERANCE = 1e-6
"""Probabilities this little outside [0, 1] are float32 rounding and are clipped."""

FEW_LOGITS = 10
"""So few logits may lie between 0 and 1, or on one side of 0, by chance."""

PAIR_ROWS, PAIR_MODELS = 10, 500
"""Rows from which, and models up to which, pairs of columns that sum to one are looked for."""

BLOCK_ROWS = 3
"""Rows from which three columns or more that sum to one are taken for classes."""


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
        raise InputError(
            "`normalize=True` was given with "
            + ("`logits=True`" if logits else "one score per model"),
            hint="leave it out: there is no sum to rescale",
        )
    infinite = np.isinf(scores)
    if infinite.any():
        index = tuple(np.argwhere(infinite)[0])
        raise InputError(
            f"model {models[index[1]]!r} has the infinite score {scores[index]} at row {index[0]}",
            hint="replace infinite scores; a log-probability of -inf is a probability of 0",
        )
    missing = np.isnan(scores)
    if missing.any():
        _check_missing(scores, missing, models, all_rows)
    if logits:
        from scipy.special import expit, softmax

        if all_rows and len(scores) >= FEW_LOGITS:
            _check_logits(scores, models)
        return _add_negative(expit(scores)) if scores.ndim == 2 else softmax(scores, axis=2)
    scores = _check_range(scores, models, normalize)
    return _add_negative(scores) if scores.ndim == 2 else _check_sums(scores, models, normalize)


def _add_negative(positive: FloatArray) -> FloatArray:
    """(n, M, 2) of P(positive) (n, M)."""
    return np.stack([1.0 - positive, positive], axis=2)


def find_wrong_sums(scores: FloatArray, decimals: int = 2) -> NDArray[np.bool_]:
    """Rows (n,) of class probabilities (n, K) whose sum is not 1; false where scores are missing.

    Scores that all have few ``decimals``, at least so many, may have been rounded.
    """
    off = np.abs(scores.sum(axis=1) - 1.0)
    wrong: NDArray[np.bool_] = off > SUM_TOLERANCE
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
    if n < PAIR_ROWS or m > PAIR_MODELS:
        return None
    head = scores[:PAIR_ROWS]
    off = np.abs(head[:, :, None] + head[:, None, :] - 1.0)
    near = ~(off > 0.11).any(axis=0)
    for pair in np.argwhere(np.triu(near, k=1)).tolist():
        if _sum_to_one(scores[:, pair], PAIR_ROWS):
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
    scores: FloatArray, missing: NDArray[np.bool_], models: Sequence[str], all_rows: bool
) -> None:
    """Refuse a model with some classes only, a row without models and a model without rows."""
    if scores.ndim == 3:
        part = missing.any(axis=2) & ~missing.all(axis=2)
        if part.any():
            row, model = np.argwhere(part)[0]
            raise InputError(
                f"model {models[model]!r} has NaN for some classes only at row {row}: "
                f"{_format_vector(scores[row, model])}",
                hint="fill in the missing class scores, or set the whole vector to NaN",
            )
        missing = missing[:, :, 0]
    rows = np.flatnonzero(missing.all(axis=1))
    if rows.size:
        others = f" (nor have {rows.size - 1} other rows)" if rows.size > 1 else ""
        raise InputError(
            f"row {rows[0]} has no score from any of the {len(models)} models{others}",
            hint="drop these rows",
        )
    unscored = np.flatnonzero(missing.all(axis=0))
    if all_rows and unscored.size:
        raise InputError(
            f"model {models[unscored[0]]!r} has no score on any row", hint="leave this model out"
        )


def _check_range(scores: FloatArray, models: Sequence[str], normalize: bool) -> FloatArray:
    """``scores`` clipped to [0, 1], or to 0 and more where they are rescaled."""
    low, high = (0.0, np.inf) if normalize else (-RANGE_TOLERANCE, 1.0 + RANGE_TOLERANCE)
    # NaN makes min and max NaN, so that the comparison is false
    within = scores.size == 0 or bool(scores.min() >= low and scores.max() <= high)
    outside = np.zeros(1, dtype=bool) if within else (scores < low) | (scores > high)
    if outside.any():
        index = tuple(np.argwhere(outside)[0])
        raise InputError(
            f"model {models[index[1]]!r} has score {make_plain(scores[index])!r} at row "
            f"{index[0]}, not {'0 or more' if normalize else 'between 0 and 1'}",
            hint="pass `logits=True` if these are logits; "
            + (
                "rescale percentages to 0..1"
                if (scores > 0.0).any()
                else "of log-probabilities give numpy.exp"
            ),
        )
    clipped: FloatArray = np.clip(scores, 0.0, None if normalize else 1.0)
    return clipped


def _check_sums(scores: FloatArray, models: Sequence[str], normalize: bool) -> FloatArray:
    """Class scores (n, M, K) that sum to one, or are rescaled to it."""
    sums = scores.sum(axis=2, keepdims=True)
    if normalize:
        wrong = sums[:, :, 0] <= 0.0
    else:
        wrong = np.stack([find_wrong_sums(each) for each in scores.swapaxes(0, 1)], axis=1)
    if wrong.any():
        row, model = np.argwhere(wrong)[0]
        raise InputError(
            f"the class scores of model {models[model]!r} at row {row} sum to "
            f"{sums[row, model, 0]:.9g}: {_format_vector(scores[row, model])}",
            hint="set the vector to NaN if it is unscored"
            if normalize
            else "pass `normalize=True` to rescale them, or `logits=True` if they are logits",
        )
    out: FloatArray = scores / sums if normalize else scores
    return out


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
        warnings.warn(
            f"No logit of any model is {side} 0, so that no model ever predicts the {never} class. "
            "Log-probabilities and percentages are not logits: give numpy.exp of the former and a "
            "hundredth of the latter, without `logits`.",
            SsmeWarning,
            stacklevel=2,
        )
