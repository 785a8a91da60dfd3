"""Probabilities, logits and unnormalized scores as points on the probability simplex.

    (n, M) P(positive), (n, M, K) probabilities or logits  ->  (n, M, K) that sums to one

Probabilities are left as they are given, rounded or not: to rescale them would make different
numbers of equal ones, and change ranks and what is at a threshold.

Every check is vectorized over rows; the first offender is looked up only once a check has failed,
so that the message can name its row, its model and its value.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ssme.data.values import FloatArray, make_plain
from ssme.errors import InputError, SsmeWarning, argument

SUM_TOLERANCE = 1e-3
"""Sums of class probabilities may be this far from 1, whatever their decimals."""

FEW_LOGITS = 10
"""So few logits may lie between 0 and 1, or on one side of 0, by chance."""

RANGE_TOLERANCE = 1e-6
"""Probabilities this little outside [0, 1] are float32 rounding and are clipped."""


def to_simplex(
    scores: FloatArray,
    models: Sequence[str],
    *,
    logits: bool = False,
    normalize: bool = False,
    all_rows: bool = True,
) -> FloatArray:
    """(n, M) P(positive) or (n, M, K) class scores -> (n, M, K) that sums to one or is all NaN.

    Class scores may be off by rounding (`find_wrong_sums`).

    ``all_rows`` says that there are no other rows, so that a model without a score is refused.
    """
    if normalize and (logits or scores.ndim == 2):
        raise InputError(
            f"{argument('normalize', True)} was given with "
            + (argument("logits", True) if logits else "one score per model"),
            allowed=f"{argument('normalize')} for class probabilities (n, M, K)",
            fix="leave it out: there is no sum to rescale",
        )
    _refuse_infinite(scores, models)
    missing = np.isnan(scores)
    if missing.any():
        _refuse_missing(scores, missing, models, all_rows)
    if logits and all_rows:
        _check_logits(scores, models)
    if scores.ndim == 2:
        positive = _sigmoid(scores) if logits else _require_range(scores, models, normalize=False)
        return np.stack([1.0 - positive, positive], axis=2)
    if logits:
        return _softmax(scores)
    return _require_sums(_require_range(scores, models, normalize), models, normalize)


def find_wrong_sums(scores: FloatArray, decimals: int = 2) -> NDArray[np.bool_]:
    """Rows (n,) of class probabilities (n, K) whose sum is not 1; false where scores are missing.

    Scores that all have few ``decimals``, at least so many, may have been rounded.
    """
    off = np.abs(scores.sum(axis=1) - 1.0)
    wrong: NDArray[np.bool_] = off > SUM_TOLERANCE
    return wrong & (off > find_rounding(scores, decimals)) if wrong.any() else wrong


def find_rounding(scores: FloatArray, decimals: int = 2, most: float = 0.05) -> float:
    """How far rounding may take the sums of (n, K): half a unit of the last decimal per class.

    From two decimals on it counts up to ``most``: where classes are many, too much has been lost.
    """
    known = scores[~np.isnan(scores).any(axis=1)]
    for unit in 0.1 ** np.arange(decimals, 7):
        parts = known / unit
        if (np.abs(parts - np.rint(parts)) < 1e-4).all():
            off = float(0.5 * unit * scores.shape[1])
            return (min(off, most) if decimals > 1 else off) + RANGE_TOLERANCE
    return 0.0


def _refuse_infinite(scores: FloatArray, models: Sequence[str]) -> None:
    infinite = np.isinf(scores)
    if infinite.any():
        index = tuple(np.argwhere(infinite)[0])
        raise InputError(
            f"model {models[index[1]]!r} has score {scores[index]} at row {index[0]}",
            allowed="finite numbers, or NaN where a model has no score",
            fix="replace infinite scores; a log-probability of -inf is a probability of 0",
        )


def _refuse_missing(
    scores: FloatArray, missing: NDArray[np.bool_], models: Sequence[str], all_rows: bool
) -> None:
    if scores.ndim == 3:
        part = missing.any(axis=2) & ~missing.all(axis=2)
        if part.any():
            row, model = np.argwhere(part)[0]
            raise InputError(
                f"model {models[model]!r} has NaN for some classes only at row {row}: "
                f"{_format_vector(scores[row, model])}",
                allowed="scores for every class, or NaN for every class where a model has none",
                fix="fill in the missing class scores, or set the whole vector to NaN",
            )
        missing = missing[:, :, 0]
    _refuse_unscored(missing, models, all_rows)


def _refuse_unscored(missing: NDArray[np.bool_], models: Sequence[str], all_rows: bool) -> None:
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
    if all_rows and empty_models.any():
        raise InputError(
            f"model {models[int(np.argmax(empty_models))]!r} has no score on any row",
            allowed="models with at least one score",
            fix="leave this model out",
        )


def _require_range(scores: FloatArray, models: Sequence[str], normalize: bool) -> FloatArray:
    high = np.inf if normalize else 1.0 + RANGE_TOLERANCE
    low = 0.0 if normalize else -RANGE_TOLERANCE
    # false where scores are missing
    within = scores.size == 0 or bool(scores.min() >= low and scores.max() <= high)
    outside = np.zeros(1, dtype=bool) if within else (scores < low) | (scores > high)
    if outside.any():
        index = tuple(np.argwhere(outside)[0])
        raise InputError(
            f"model {models[index[1]]!r} has score {make_plain(scores[index])!r} at row {index[0]}",
            allowed="nonnegative numbers" if normalize else "probabilities between 0 and 1",
            fix=f"declare {argument('logits', True)} if these are logits; "
            + (
                "of log-probabilities give numpy.exp"
                if not (scores > 0.0).any()
                else "rescale percentages to 0..1"
            ),
        )
    clipped: FloatArray = np.clip(scores, 0.0, None if normalize else 1.0)
    return clipped


def _require_sums(scores: FloatArray, models: Sequence[str], normalize: bool) -> FloatArray:
    sums = scores.sum(axis=2, keepdims=True)
    if normalize:
        wrong = sums[:, :, 0] <= 0.0
        allowed, fix = "at least one class score above 0", "set the vector to NaN if it is unscored"
    else:
        wrong = np.stack([find_wrong_sums(of) for of in scores.swapaxes(0, 1)], axis=1)
        allowed = f"class probabilities that sum to 1 (within {SUM_TOLERANCE:g} or rounding)"
        fix = (
            f"pass {argument('normalize', True)} to rescale them, or {argument('logits', True)} "
            "if they are logits"
        )
    if wrong.any():
        row, model = np.argwhere(wrong)[0]
        raise InputError(
            f"the class scores of model {models[model]!r} at row {row} sum to "
            f"{sums[row, model, 0]:.9g}: {_format_vector(scores[row, model])}",
            allowed=allowed,
            fix=fix,
        )
    out: FloatArray = scores / sums if normalize else scores
    return out


def _format_vector(values: FloatArray) -> str:
    shown = ", ".join(f"{value:.4g}" for value in values[:6])
    return f"[{shown}{', ...' if values.size > 6 else ''}]"


def _check_logits(scores: FloatArray, models: Sequence[str]) -> None:
    """Refuse probabilities that were declared as logits; warn of logits on one side of zero."""
    if len(scores) < FEW_LOGITS:
        return
    known = ~np.isnan(scores)
    for m, model in enumerate(models):
        values = scores[:, m][known[:, m]]
        varied = values.size and values.min() < values.max()
        if scores.ndim == 3:
            total = scores[:, m].sum(axis=1)[known[:, m, 0]]
            shares = varied and values.min() >= 0.0 and np.ptp(total) <= SUM_TOLERANCE * total.max()
        else:
            shares = varied and values.min() >= 0.0 and values.max() <= 1.0
        if shares:
            what = "between 0 and 1" if scores.ndim == 2 else f"that sum to {total[0]:.6g}"
            raise InputError(
                f"{argument('logits', True)} was given, and model {model!r} has numbers {what} "
                "only, which are no logits",
                allowed="logits of any size and sign for every model",
                fix=f"leave {argument('logits')} out where scores are probabilities; where some "
                "models have logits, give the probabilities of all (scipy.special.expit or "
                "softmax of logits)",
            )
    if scores.ndim == 2 and (not (scores > 0.0).any() or not (scores < 0.0).any()):
        side, never = ("above", "positive") if not (scores > 0.0).any() else ("below", "negative")
        warnings.warn(
            f"no logit of any model is {side} 0, so that no model ever predicts the {never} class. "
            "Log-probabilities and percentages are no logits: give numpy.exp of the former, and a "
            "hundredth of the latter, and do not declare them as logits.",
            SsmeWarning,
            stacklevel=2,
        )


def _sigmoid(logits: FloatArray) -> FloatArray:
    from scipy.special import expit

    out: FloatArray = expit(logits)
    return out


def _softmax(logits: FloatArray) -> FloatArray:
    from scipy.special import softmax

    out: FloatArray = softmax(logits, axis=2)
    return out


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
