"""How far each judge can be trusted, from the rows that people judged too.

Shares (accuracy, sensitivity, specificity) have Wilson's interval with the cluster-robust variance
by item. Cohen's kappa and the correlation have one from the jackknife over items (Efron and Stein,
Annals of Statistics 9, 1981) on the scale artanh, with Student's t.

The effective number of judges is the mean variance of their errors over the variance of the mean
error: as many judges who err independently would be worth as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit, stdtrit

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.methods.clusters import number_clusters, sum_by_cluster
from ssme.systems.pairs import find_position
from ssme.systems.rates import JudgedRows, find_mean_interval

PEOPLE_RIGHT = 0.95
"""How often people are taken to be right before it is asked which of two who differ errs."""
PASS = 0.5
"""Verdict from which on a judge passes an answer."""


def list_judges(rows: JudgedRows, names: Sequence[str], level: float) -> Iterator[dict[str, Any]]:
    """One dict per judge: of pass and fail the shares and kappa, of numbers how far they are off.

    Of comparisons: how often it prefers the same answer, or calls it a tie as people do, kappa, and
    how often it prefers the first of two answers as good (``position``).

    ``bias`` is how much higher the judge's mean is than that of people on the same rows.
    """
    labeled = np.isfinite(rows.outcomes)
    if rows.binary:  # people who differ have no majority
        labeled &= rows.outcomes != PASS
    for at, name in enumerate(names):
        both = labeled & np.isfinite(rows.verdicts[:, at])
        y, x, items = rows.outcomes[both], rows.verdicts[both, at], rows.items[both]
        row: dict[str, Any] = {"judge": name, "n_labels": int(y.size)}
        row["base_rate"] = float(y.mean()) if y.size else np.nan
        row["bias"] = float((x - y).mean()) if y.size else np.nan
        if rows.binary:
            y = (y >= PASS).astype(np.float64)
            said = (x >= PASS).astype(np.float64)
            right = (said == y).astype(np.float64)
            for key, part in (
                ("accuracy", np.ones(y.size, dtype=bool)),
                ("sensitivity", y == 1.0),
                ("specificity", y == 0.0),
            ):
                row |= _name_ends(key, _find_share(right[part], items[part], level))
            row |= _name_ends("kappa", _jackknife(_find_kappa, y, said, items, level))
        elif rows.seconds is not None:
            # people who differ, and judges who grade, prefer the nearest of the three
            y, said = np.round(2.0 * y) / 2.0, np.round(2.0 * x) / 2.0
            row |= _name_ends("accuracy", _find_share((said == y).astype(float), items, level))
            row |= _name_ends("kappa", _jackknife(_find_kappa, y, said, items, level))
            row |= _name_ends("position", find_position(rows, rows.verdicts[:, at], level))
        else:
            row["mean_error"] = float(np.abs(x - y).mean()) if y.size else np.nan
            row |= _name_ends("correlation", _jackknife(_find_correlation, y, x, items, level))
        yield row


def list_pairs(
    labels: FloatArray, rows: JudgedRows, names: Sequence[str], level: float
) -> Iterator[dict[str, Any]]:
    """One dict per two people who judged the same rows: how well they agree."""
    for at, first in enumerate(names):
        both = replace(rows, verdicts=labels[:, at + 1 :], outcomes=labels[:, at])
        for row in list_judges(both, names[at + 1 :], level):
            found = {"first": first, "second": row["judge"], "n_rows": row["n_labels"]}
            for name in ("accuracy", "kappa") if "kappa" in row else ("correlation",):
                told = "agreement" if name == "accuracy" else name
                found |= {f"{told}{end}": row[f"{name}{end}"] for end in ("", "_low", "_high")}
            yield found


def _name_ends(name: str, found: Sequence[float]) -> dict[str, float]:
    return {name: found[0], f"{name}_low": found[1], f"{name}_high": found[2]}


def _find_share(right: FloatArray, items: IntArray, level: float) -> tuple[float, float, float]:
    if not right.size:
        return np.nan, np.nan, np.nan
    return find_mean_interval(right, items, level, binary=True)


def _find_kappa(y: FloatArray, said: FloatArray) -> float:
    """Cohen's kappa: agreement beyond that of two who say each as often, at random."""
    chance = sum((y == each).mean() * (said == each).mean() for each in (0.0, 0.5, 1.0))
    return float(((y == said).mean() - chance) / (1.0 - chance)) if chance < 1.0 else np.nan


def _find_correlation(y: FloatArray, x: FloatArray) -> float:
    spread = y.std() * x.std()
    return float(((y - y.mean()) * (x - x.mean())).mean() / spread) if spread > 0.0 else np.nan


def _jackknife(
    find: Callable[[FloatArray, FloatArray], float],
    y: FloatArray,
    x: FloatArray,
    items: IntArray,
    level: float,
) -> tuple[float, float, float]:
    """A statistic from -1 to 1 and the ends of its interval, items left out one by one."""
    codes = number_clusters(items)
    number = int(codes.max()) + 1 if codes.size else 0
    value = find(y, x) if number > 1 else np.nan
    if not abs(value) < 1.0:
        return value, np.nan, np.nan
    left_out = np.array([find(y[codes != at], x[codes != at]) for at in range(number)])
    left_out = np.arctanh(np.clip(left_out[np.isfinite(left_out)], -0.9999, 0.9999))
    if left_out.size < 2:
        return value, np.nan, np.nan
    squares = ((left_out - left_out.mean()) ** 2).sum()
    error = np.sqrt(squares * (left_out.size - 1) / left_out.size)
    half = float(stdtrit(left_out.size - 1, 0.5 + level / 2.0)) * error
    center = np.arctanh(value)
    return value, float(np.tanh(center - half)), float(np.tanh(center + half))


def find_biases(
    rows: JudgedRows,
    judges: Sequence[str],
    systems: Sequence[str],
    lengths: FloatArray | None,
    level: float,
) -> Iterator[dict[str, Any]]:
    """One dict per judge and kind of bias: how much higher its verdict is than people's.

    ``length``: for an answer twice as long; ``own system``: for the system with its name. Both
    are coefficients of a regression of verdicts on what people say, so that better answers may be
    longer, with the cluster-robust variance by item.
    """
    for at, judge in enumerate(judges):
        columns: dict[str, FloatArray] = {}
        if lengths is not None:
            columns["length"] = np.log2(np.maximum(lengths, 1.0))
        own = [i for i, name in enumerate(systems) if _is_own(judge, name)]
        if own and len(systems) > 1:
            columns["own system"] = np.isin(rows.systems, own).astype(np.float64)
        for kind, column in columns.items():
            both = np.isfinite(rows.outcomes) & np.isfinite(rows.verdicts[:, at])
            both &= np.isfinite(column)
            x, y = rows.verdicts[both, at], rows.outcomes[both]
            found = _find_slope(x, y, column[both], rows.items[both], level)
            row = {"judge": judge, "kind": kind, "n_labels": int(both.sum())}
            yield row | _name_ends("bias", found)


def _is_own(judge: str, system: str) -> bool:
    """Whether a judge has the name of a system, apart from judge_ and the provider."""
    name = judge.removeprefix("judge_").casefold()
    return name in (system.casefold(), system.casefold().rpartition("/")[2])


def _find_slope(
    x: FloatArray, y: FloatArray, column: FloatArray, items: IntArray, level: float
) -> tuple[float, float, float]:
    """The coefficient of ``column`` (n,) in a regression of x on it and y, with its interval."""
    missing = (np.nan, np.nan, np.nan)
    if x.size < 5 or column.std() <= 0.0:
        return missing
    design = np.stack([np.ones(x.size), y, column], axis=1)
    inverse = np.linalg.pinv(design.T @ design)
    found = inverse @ design.T @ x
    sums = sum_by_cluster(design * (x - design @ found)[:, None], items)
    groups = float(len(sums))
    if groups < 4:
        return missing
    covariance = inverse @ (sums.T @ sums) @ inverse * groups / (groups - 3.0)
    if covariance[2, 2] < 1e-12:  # no error depends on the column, which says nothing of others
        return float(found[2]), np.nan, np.nan
    half = float(stdtrit(groups - 3.0, 0.5 + level / 2.0)) * np.sqrt(covariance[2, 2])
    return float(found[2]), float(found[2] - half), float(found[2] + half)


def drop_judges(
    rows: JudgedRows,
    prices: Sequence[float],
    estimate: Callable[[JudgedRows], float],
    budget: float = np.inf,
) -> Iterator[tuple[list[int], float, float]]:
    """Judges, what their verdicts on all rows cost and the mean width of intervals.

    From all judges to one: the one that is dropped widens intervals least for what it costs; above
    the budget, it costs something, and brings the others within it if one can.
    """
    kept = list(range(rows.verdicts.shape[1]))
    given = np.isfinite(rows.verdicts).sum(axis=0)

    def find(judges: list[int]) -> tuple[float, float]:
        cost = float(sum(prices[j] * given[j] for j in judges))
        return cost, estimate(replace(rows, verdicts=rows.verdicts[:, judges]))

    cost, width = find(kept)
    yield kept, cost, width
    while len(kept) > 1:
        parts = [[j for j in kept if j != dropped] for dropped in kept]
        found = [find(part) for part in parts]
        lost = [(w - width) / max(cost - c, 1e-9 * max(cost, 1.0)) for c, w in found]
        if cost > budget:
            enough = [w if c <= budget else np.inf for c, w in found]
            paid = [loss if c < cost else np.inf for loss, (c, _) in zip(lost, found, strict=True)]
            lost = enough if min(enough) < np.inf else paid
        at = int(np.argmin(lost))
        kept, (cost, width) = parts[at], found[at]
        yield kept, cost, width


def count_effective_judges(rows: JudgedRows) -> float:
    """As many judges who err independently are worth as much; NaN where this cannot be seen."""
    whole = np.isfinite(rows.outcomes) & np.isfinite(rows.verdicts).all(axis=1)
    if whole.sum() < 3:
        return np.nan
    # judges who say the same of every row are one
    distinct = np.unique(np.nan_to_num(rows.verdicts, nan=-1.0), axis=1, return_index=True)[1]
    # what a class, or a level of the outcome, has in common is no shared error
    about = np.stack([np.ones(whole.sum()), rows.outcomes[whole]], axis=1)
    errors = rows.verdicts[np.ix_(whole, distinct)]
    errors = errors - about @ np.linalg.lstsq(about, errors, rcond=None)[0]
    together, alone = errors.mean(axis=1).var(), errors.var(axis=0).mean()
    most = float(distinct.size)
    return float(np.clip(alone / together, 1.0, most)) if together > 0.0 else np.nan


def rank_disagreements(rows: JudgedRows) -> list[tuple[int, int, float]]:
    """Rows and judges that differ from people, the most probable errors of judges first.

    Of comparisons, those that one of both calls a tie are left out.

    The probability that people are right starts at `PEOPLE_RIGHT`; each of the other judges moves
    it by how often that judge says so of answers that pass and that fail (add-one shares).
    """
    known = rows.labeled[rows.outcomes[rows.labeled] != PASS]  # people who differ have no majority
    y = rows.outcomes[known] >= PASS
    verdicts = rows.verdicts[known]
    if rows.seconds is not None:
        verdicts = np.where(verdicts == PASS, np.nan, verdicts)
    given, said = np.isfinite(verdicts), verdicts >= PASS
    weight = np.zeros(verdicts.shape)
    for at in range(verdicts.shape[1]):
        weight[:, at] = _weigh_verdicts(said[:, at], y, given[:, at])
    sides = np.where(y[:, None], weight, -weight)  # evidence for what people said
    total = sides.sum(axis=1, keepdims=True) - sides
    p_right = expit(np.log(PEOPLE_RIGHT / (1.0 - PEOPLE_RIGHT)) + total)
    differ = given & (said != y[:, None])
    places = np.argwhere(differ)
    order = np.argsort(-p_right[differ], kind="stable")
    return [(int(known[i]), int(j), float(p_right[i, j])) for i, j in places[order]]


def _weigh_verdicts(said: BoolArray, y: BoolArray, given: BoolArray) -> FloatArray:
    """The log-likelihood ratio (n,) of pass that each verdict of one judge is."""
    passes = [
        (1.0 + (said & given & (y == outcome)).sum()) / (2.0 + (given & (y == outcome)).sum())
        for outcome in (True, False)
    ]
    ratio = np.log(passes[0] / passes[1]), np.log((1.0 - passes[0]) / (1.0 - passes[1]))
    return np.where(given, np.where(said, *ratio), 0.0)
