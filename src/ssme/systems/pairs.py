"""Strengths of systems from comparisons of two answers to one item: Bradley-Terry with ties.

What people say about row i, y_i, is 1 where they prefer the first answer, 0 where the second, and
1/2 where they call it a tie. Strengths t (mean zero) and the advantage d of the first position are

    sum_i x_i (y_i - p_i) = 0,    p_i = 1 / (1 + exp(-(t_first - t_second + d))),

x_i being 1 for the first system and d, and -1 for the second (Bradley and Terry, Biometrika 39,
1952; a tie is half a win for each). The equation is linear in y: where people did not look, y_i is
what the regression of `ssme.systems.rates` expects of them given what judges say, with effects of
systems that have opposite signs for the two of a row. Draws of its coefficients, and of other items
(the cluster-robust covariance of the sum by item), become draws of t by the inverse of the
derivative of the sum.

The win rate of a system is the mean probability that it is preferred to another one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, stdtrit

from ssme.arrays import FloatArray, IntArray
from ssme.errors import InputError
from ssme.methods.clusters import correct_few, find_t_factor, number_clusters
from ssme.systems import rates

WIN_RATE, STRENGTH = "win_rate", "bradley_terry"
RIDGE = 1e-8
"""Precision of a normal prior on strengths, so that a system that always wins has a finite one."""
LONGEST_STEP, MOST_STEPS = 2.0, 100


class Position(NamedTuple):
    """The probability that the first of two answers as good is preferred, with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Which systems some rows compare: ``first`` and ``second`` (n,), codes below ``number``.

    ``pairs`` (n,) is the row's place among the ordered pairs that occur, of which ``columns``
    (P, S or S + 1) are the x; the last column is that of the position, where it is not confounded
    with the strengths.
    """

    first: IntArray
    second: IntArray
    pairs: IntArray
    columns: FloatArray
    number: int

    @classmethod
    def of(cls, rows: rates.JudgedRows, chosen: IntArray, number: int) -> Comparisons:
        """Those of the ``chosen`` rows."""
        assert rows.seconds is not None
        first, second = rows.systems[chosen], rows.seconds[chosen]
        both, pairs = np.unique(first * number + second, return_inverse=True)
        columns = np.zeros((both.size, number))
        columns[np.arange(both.size), both // number] += 1.0
        columns[np.arange(both.size), both % number] -= 1.0
        whole = np.column_stack([columns, np.ones(both.size)])
        rank = np.linalg.matrix_rank
        has_position = both.size > 0 and rank(whole) > rank(columns)
        return cls(first, second, pairs, whole if has_position else columns, number)

    @property
    def has_position(self) -> bool:
        """Whether the advantage of the first position is not confounded with the strengths."""
        return self.columns.shape[1] > self.number

    def solve(self, outcomes: FloatArray) -> FloatArray:
        """Strengths (S,), and the advantage of the first position, at ``outcomes`` (n,)."""
        counts = np.bincount(self.pairs).astype(np.float64)
        means = np.bincount(self.pairs, outcomes) / counts
        found = np.zeros(self.columns.shape[1])
        for _ in range(MOST_STEPS):
            p = expit(self.columns @ found)
            left = self.columns.T @ (counts * (means - p)) - RIDGE * found
            step = np.linalg.solve(self._find_slope(counts, p), left)
            step /= max(1.0, float(np.abs(step).max()) / LONGEST_STEP)
            found = found + step
            if np.abs(step).max() < 1e-10:
                break
        return found

    def _find_slope(self, counts: FloatArray, p: FloatArray) -> FloatArray:
        slope: FloatArray = (self.columns * (counts * p * (1.0 - p))[:, None]).T @ self.columns
        return slope + RIDGE * np.eye(len(slope))

    def predict(self, strengths: FloatArray) -> FloatArray:
        """The mean outcome (n,) of the rows."""
        return np.asarray(expit(self.columns @ strengths)[self.pairs])

    def invert(self, strengths: FloatArray) -> FloatArray:
        """The derivative of strengths by the sum of the equation."""
        counts = np.bincount(self.pairs).astype(np.float64)
        slope = self._find_slope(counts, expit(self.columns @ strengths))
        inverse = np.asarray(np.linalg.inv(slope), dtype=np.float64)
        # strengths have mean zero: what is common to all of them is taken out
        inverse[: self.number] -= inverse[: self.number].mean(axis=0)
        return inverse

    def find_covariance(self, residuals: FloatArray, items: IntArray) -> FloatArray:
        """Covariance of the sum of the equation, were other items drawn."""
        from scipy.sparse import coo_array

        codes = number_clusters(items)
        groups = int(codes.max()) + 1
        parts = [(self.first, 1.0), (self.second, -1.0)]
        if self.has_position:
            parts.append((np.full(codes.size, self.number), 1.0))
        values = np.concatenate([sign * residuals for _, sign in parts])
        places = np.tile(codes, len(parts)), np.concatenate([codes for codes, _ in parts])
        shape = (groups, self.columns.shape[1])
        by_item = coo_array((values, places), shape=shape).tocsr()
        found: FloatArray = (by_item.T @ by_item).toarray()
        return found * float(np.minimum(correct_few(float(groups)), 2.0))


def estimate_strengths(
    rows: rates.JudgedRows,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    n_draws: int = 4000,
    prior: rates.Prior = rates.PRIOR,
) -> dict[str, rates.Rates]:
    """Win rates and strengths of all systems, from judges' verdicts and those of people."""
    assert rows.seconds is not None
    number = 1 + int(max(rows.systems.max(), rows.seconds.max()))
    compared = Comparisons.of(rows, np.arange(rows.systems.size), number)
    parts = _find_parts(compared.first, compared.second, compared.number)
    if parts.max() > 0:
        raise InputError(
            f"the systems are in {int(parts.max()) + 1} groups that are not compared with each "
            "other, and strengths of one say nothing about another",
            hint="evaluate each group by itself, or add comparisons between them",
        )
    consensus = rates.find_consensus(rows.verdicts)
    judged = compared.solve(consensus)
    both = ((rows.systems, 1.0), (rows.seconds, -1.0))
    center = compared.predict(judged)
    # judges who err often see smaller differences of systems than people do
    design = rates.Design.of(rows.verdicts, consensus, center, [both], prior, between=center - 0.5)

    def smooth(fitted: FloatArray) -> FloatArray:
        return compared.predict(compared.solve(np.clip(fitted, 0.0, 1.0)))

    fit = rates.fit_verdicts(rows, design, smooth, prior)
    fitted = design.predict(fit.mode)
    strengths = compared.solve(fitted)
    columns = design.add_up(both, number)[0]
    if compared.has_position:
        every = ((np.zeros(rows.systems.size, dtype=np.int64), 1.0),)
        columns = np.concatenate([columns, design.add_up(every, 1)[0]])
    sums = fit.draw(columns, n_draws, rng) - columns @ fit.mode
    noise = compared.find_covariance(fitted - compared.predict(strengths), rows.items)
    sums = sums + rng.multivariate_normal(np.zeros(len(noise)), noise, n_draws, method="eigh")
    draws = (strengths + sums @ compared.invert(strengths).T)[:, :number]
    alone = _draw_labels_only(rows, number, rng, level, n_draws)
    known = rows.labeled
    counts = np.bincount(rows.systems[known], minlength=number)
    counts = counts + np.bincount(rows.seconds[known], minlength=number)
    found = {}
    for name, change in ((WIN_RATE, find_win_rates), (STRENGTH, _center)):
        value, own = change(strengths[None, :number])[0], change(draws)
        only, ends = np.full(number, np.nan), np.tile([[0.0], [1.0]], number)
        if name == STRENGTH:
            ends = np.tile([[-np.inf], [np.inf]], number)
        if alone is not None:
            only = change(alone[0][None])[0]
            ends = np.quantile(change(alone[1]), [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
        low, high = np.quantile(own, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
        ratio = np.minimum(1.0, (ends[1] - ends[0]) / np.maximum(high - low, 1e-12))
        own = value + ratio * (own - value)
        said = change(judged[None, :number])[0]
        found[name] = rates.Rates(value, own, only, ends, counts, np.clip(fitted, 0.0, 1.0), said)
    return found


def find_win_rates(strengths: FloatArray) -> FloatArray:
    """The mean probability (D, S) that a system is preferred to another one."""
    number = strengths.shape[1]
    found = np.empty(strengths.shape)
    for at in range(number):
        others = np.delete(strengths, at, axis=1)
        found[:, at] = expit(strengths[:, [at]] - others).mean(axis=1)
    return found


def _center(strengths: FloatArray) -> FloatArray:
    centered: FloatArray = strengths - strengths.mean(axis=1, keepdims=True)
    return centered


def _draw_labels_only(
    rows: rates.JudgedRows, number: int, rng: np.random.Generator, level: float, n_draws: int
) -> tuple[FloatArray, FloatArray] | None:
    """Strengths (S,) from the labels alone and draws (D, S); None where they have no maximum."""
    known = rows.labeled
    if not known.size:
        return None
    compared = Comparisons.of(rows, known, number)
    if not _is_bounded(compared, rows.outcomes[known]):
        return None
    found = _fit_outcomes(compared, rows.outcomes[known], rows.items[known])
    if found is None:
        return None
    strengths, covariance = found
    factor = float(find_t_factor(level, float(np.unique(rows.items[known]).size)))
    off = rng.multivariate_normal(np.zeros(len(covariance)), covariance, n_draws, method="eigh")
    return strengths[:number], (strengths + factor * off)[:, :number]


def _fit_outcomes(
    compared: Comparisons, outcomes: FloatArray, items: IntArray
) -> tuple[FloatArray, FloatArray] | None:
    """Strengths and position by the ``outcomes`` (n,) of rows, and their robust covariance."""
    free = outcomes.size - compared.columns.shape[1] + 1
    if free < 1:
        return None
    strengths = compared.solve(outcomes)
    left = outcomes - compared.predict(strengths)
    inverse = compared.invert(strengths)
    noise = compared.find_covariance(left, items) * outcomes.size / free
    return strengths, inverse @ noise @ inverse.T


def find_position(rows: rates.JudgedRows, outcomes: FloatArray, level: float) -> Position:
    """How much more often the first answer is preferred, by the ``outcomes`` (n,) of someone."""
    assert rows.seconds is not None
    known = np.flatnonzero(np.isfinite(outcomes))
    missing = Position(np.nan, np.nan, np.nan)
    number = 1 + int(max(rows.systems.max(), rows.seconds.max()))
    if not known.size:
        return missing
    compared = Comparisons.of(rows, known, number)
    found = _fit_outcomes(compared, outcomes[known], rows.items[known])
    if not compared.has_position or found is None:
        return missing
    strengths, covariance = found
    if not _is_bounded(compared, outcomes[known]):
        return missing._replace(value=float(expit(strengths[-1])))
    freedom = max(1.0, np.unique(rows.items[known]).size - 1.0)
    off = float(stdtrit(freedom, 0.5 + level / 2.0)) * np.sqrt(covariance[-1, -1])
    value = strengths[-1]
    return Position(*(float(expit(each)) for each in (value, value - off, value + off)))


def _find_parts(first: IntArray, second: IntArray, number: int) -> IntArray:
    """The part (S,) of the graph of comparisons in which each system is."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(first.size), (first, second)), shape=(number, number))
    return np.asarray(connected_components(graph.tocsr(), directed=False)[1], dtype=np.int64)


def _is_bounded(compared: Comparisons, outcomes: FloatArray) -> bool:
    """Whether strengths and position have a maximum: no change of them explains all ``outcomes``.

    Such a change makes each answer that was preferred more probable, and none less (Albert and
    Anderson, Biometrika 71, 1984).
    """
    from scipy.optimize import linprog

    columns = compared.columns
    if np.linalg.matrix_rank(columns) < columns.shape[1] - 1:
        return False
    won, lost = (np.unique(compared.pairs[part]) for part in (outcomes > 0.0, outcomes < 1.0))
    preferred = np.concatenate([columns[won], -columns[lost]])
    change = linprog(-preferred.sum(axis=0), -preferred, np.zeros(len(preferred)), bounds=(-1, 1))
    return bool((preferred @ change.x).sum() < 1e-6)
