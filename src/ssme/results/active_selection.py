"""Rows that published methods of active model selection would label, and the models they pick.

    coda            CODA: the greatest expected fall of the entropy of P(best) under a consensus
    selector        Model Selector: the least expected entropy of the models' weights
    uncertainty     the greatest entropy of the mean score
    active_testing  drawn in proportion to the models' mean expected error
    vma             drawn in proportion to the standard deviation of differences of their errors

The first three take the rows of greatest value: no probability is known with which a row was
taken, so labels are ``by_score`` afterwards. The last two draw rows, which then have one. All are
about accuracy, and written from the papers:

*CODA* (Kay et al., ICCV 2025). Row i has the consensus s(i), the class of the greatest mean score;
M_h is the soft confusion matrix of model h with it, rows summing to one, and

    D_h[c, .] = m (B[c, .] + (1 - alpha) M_h[c, .]) + eta (labels of class c by decision of h)

with B one on the diagonal and 1 / (K - 1) off it, alpha = 0.9, m = 2 and eta = 0.01. A row is of
class c with probability pi(c | i), proportional to sum_h sum_s D_h[c, s] q_h(i, s), and

    P(best h | c) = int f_h prod_(l != h) F_l,     Beta(D_h[c, c], sum_(s != c) D_h[c, s])
    P(best) = sum_c pi(c) P(best | c),             pi(c) the mean of pi(c | i)

A label c of row i adds one, not eta, to the decision of every model in row c of its D; the row
with the greatest fall of the entropy of P(best), expected under pi(c | i), comes next. Our reading:
256 points at the middles of equal parts of (0, 1), densities and distributions that are sums over
them, pi(c) as it is before the label, models without a score left as they are. With two classes B
is one everywhere.

*Model Selector* (Okanovic et al., AISTATS 2025). Models have weights w_h proportional to gamma^(its
right labels), gamma = (1 - eps) / eps with eps = 0.46; the row comes next with the least mean
entropy over classes c, all equally probable, of the weights after the label c.

*VMA* (Matsuura and Hara, 2023): s_i^2 = sum_c pi(c | i) sum_(h < l) (1[h right] - 1[l right])^2
under the mean score pi; *active testing* (Kossen et al., ICML 2021): s_i = mean_h P(h wrong).

CODA and Model Selector look only at rows on which models decide differently, while there are some.
With H models, a step of CODA costs three matrix products (rows x H x 256) per class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.methods.votes import average_scores
from ssme.metrics.confusion import predicted_classes

SIZED = ("active_testing", "vma")
"""Methods that draw rows with known probabilities."""


@dataclass(frozen=True)
class CodaConstants:
    """The constants of CODA, as its paper has them."""

    consensus: float = 0.9  # alpha: 1 - alpha is the weight of the confusion with the consensus
    strength: float = 2.0  # m, what the prior counts
    rate: float = 0.01  # eta, what a label counts
    points: int = 256  # points of the integral
    least: float = 1e-30  # least value of a distribution function


SELECTOR_ERROR = 0.46
"""eps of Model Selector: its gamma is (1 - eps) / eps."""

DECIMALS = 10
"""Decimals of a value: rounding decides no order of rows."""


def value_rows(draw: str, data: ScoreSet) -> FloatArray:
    """What the label of each row (n,) is worth to a method of `TAKEN`; minus infinity if labeled.

    Where models decide differently on some rows without a label, the others are worth nothing.
    """
    decisions, free = predicted_classes(data.scores), ~data.labeled
    value: FloatArray = np.full(data.n_rows, -np.inf)
    if draw == "uncertainty":
        mean = average_scores(data.scores)[free]
        value[free] = _measure_entropy(mean)
    else:
        asked = free & find_disagreement(decisions)
        rows = np.flatnonzero(asked if asked.any() else free)
        value[free] = -1e9
        if draw == "coda":
            value[rows] = Coda(data).measure_gain(rows)
        else:
            value[rows] = -_expect_selector_entropy(data, decisions, rows)
    return np.round(value, DECIMALS)


def size_rows(draw: str, data: ScoreSet) -> FloatArray:
    """The sizes (n,) that a method of `SIZED` draws rows in proportion to."""
    decisions, mean = predicted_classes(data.scores), average_scores(data.scores)
    votes = np.stack([(decisions == k).sum(axis=1) for k in range(data.n_classes)], axis=1)
    models = votes.sum(axis=1, keepdims=True)
    if draw == "active_testing":
        return 1.0 - (mean * votes).sum(axis=1) / np.maximum(models[:, 0], 1)
    return np.sqrt((mean * votes * (models - votes)).sum(axis=1))


def find_disagreement(decisions: IntArray) -> BoolArray:
    """Rows (n,) on which two of ``decisions`` (n, M) differ, missing ones (-1) left out."""
    most = decisions.max(axis=1, keepdims=True)
    found: BoolArray = ((decisions != most) & (decisions >= 0)).any(axis=1)
    return found


def count_right(data: ScoreSet) -> IntArray:
    """How many labels each model (M,) has right."""
    known = data.labeled
    right = predicted_classes(data.scores[known]) == data.labels[known][:, None]
    return right.sum(axis=0).astype(np.int64)


def _measure_entropy(shares: FloatArray) -> FloatArray:
    """The entropy along the last axis."""
    return -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=-1)


class Coda:
    """CODA's belief after the labels of ``data``: `p_best` (M,), and what further labels gain."""

    def __init__(self, data: ScoreSet, constants: CodaConstants | None = None) -> None:
        self.constants = constants or CodaConstants()
        self.decisions = predicted_classes(data.scores)
        q = np.where(np.isfinite(data.scores), data.scores, 0.0)
        self.counts = self._count(data, q)  # D (M, K, K)
        shares = np.einsum("hcs,nhs->nc", self.counts, q, optimize=True)
        whole = shares.sum(axis=1, keepdims=True)
        equal = 1.0 / data.n_classes
        self.shares = np.where(whole > 0.0, shares / np.where(whole > 0.0, whole, 1.0), equal)
        self.class_shares = self.shares.mean(axis=0)
        middles = (np.arange(self.constants.points) + 0.5) / self.constants.points
        self._logs = np.log(middles), np.log1p(-middles)
        by_class = []
        for c in range(data.n_classes):
            density, below = self._integrate(c)
            whole_log = np.log(below).sum(axis=0)
            each = (density / below) @ np.exp(whole_log)
            by_class.append(each / each.sum())
        self.by_class = np.stack(by_class)  # P(best | c) (K, M)
        self.p_best: FloatArray = self.class_shares @ self.by_class

    def _count(self, data: ScoreSet, q: FloatArray) -> FloatArray:
        """D (M, K, K): the prior, and the labels."""
        constants, n_classes = self.constants, data.n_classes
        consensus = np.eye(n_classes)[average_scores(data.scores).argmax(axis=1)]
        confusion = np.einsum("nc,nhs->hcs", consensus, q, optimize=True)
        seen = confusion.sum(axis=2, keepdims=True)
        confusion = np.where(seen > 0.0, confusion / np.where(seen > 0.0, seen, 1.0), 0.0)
        apart = 1.0 / (n_classes - 1)
        base = np.full((n_classes, n_classes), apart) + (1.0 - apart) * np.eye(n_classes)
        counts = constants.strength * (base + (1.0 - constants.consensus) * confusion)
        for row in np.flatnonzero(data.labeled):
            decided = np.flatnonzero(self.decisions[row] >= 0)
            counts[decided, data.labels[row], self.decisions[row, decided]] += constants.rate
        return counts

    def _integrate(self, c: int, right: float = 0.0, wrong: float = 0.0) -> tuple[FloatArray, ...]:
        """f and F (M, G) of the recall of class c, with counts added to right and wrong."""
        a = self.counts[:, c, c]
        b = self.counts[:, c].sum(axis=1) - a + wrong
        a = a + right
        log_density = (a[:, None] - 1.0) * self._logs[0] + (b[:, None] - 1.0) * self._logs[1]
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        density /= density.sum(axis=1, keepdims=True)
        below = np.cumsum(density, axis=1) - 0.5 * density
        return density, np.maximum(below, self.constants.least)

    def measure_gain(self, rows: IntArray) -> FloatArray:
        """How far the labels of ``rows`` (r,) are expected to lower the entropy of P(best)."""
        expected: FloatArray = np.zeros(rows.size)
        decided = self.decisions[rows]
        missing = decided < 0
        for c in range(len(self.by_class)):
            right = decided == c
            wrong = ~right & ~missing
            kinds = [(right, self._integrate(c, right=1.0)), (wrong, self._integrate(c, wrong=1.0))]
            if missing.any():
                kinds.append((missing, self._integrate(c)))
            logs = sum(kind.astype(np.float64) @ np.log(below) for kind, (_, below) in kinds)
            together = np.exp(logs - np.max(logs, axis=1, keepdims=True))
            best = sum(kind * (together @ (f / below).T) for kind, (f, below) in kinds)
            best = best / best.sum(axis=1, keepdims=True)
            p_best = self.p_best + self.class_shares[c] * (best - self.by_class[c])
            expected += self.shares[rows, c] * _measure_entropy(p_best)
        return float(_measure_entropy(self.p_best)) - expected


def _expect_selector_entropy(data: ScoreSet, decisions: IntArray, rows: IntArray) -> FloatArray:
    """Mean entropy (r,) of Model Selector's weights after a label of each of ``rows``."""
    log_gamma = np.log((1.0 - SELECTOR_ERROR) / SELECTOR_ERROR)
    logs = log_gamma * count_right(data)
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    surprise = weight * np.log(weight)
    gain, total = np.exp(log_gamma), np.zeros(rows.size)
    for c in range(data.n_classes):
        right = (decisions[rows] == c).astype(np.float64)
        share, own = right @ weight, right @ surprise
        whole = 1.0 + (gain - 1.0) * share
        # sum of w log w over weights multiplied by gain where the model is right
        sums = surprise.sum() + (gain - 1.0) * own + gain * log_gamma * share
        total += np.log(whole) - sums / whole
    return total / data.n_classes
