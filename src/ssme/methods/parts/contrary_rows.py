"""Pseudo-rows on which each classifier is right or wrong without regard to the others.

Two classifiers are told apart by the rows on which one is right and the other wrong. Among few
labels there are few such rows, often none or one, and resampling what is there then calls the
lucky classifier better in every draw. Rows are of four kinds (both right, the one alone, the other
alone, none), and Bayes' uniform prior over their shares is one pseudo-row of each kind: with b rows
for the one and c for the other, P(better) is P(Beta(b + 1, c + 1) > 1/2), and not 0 or 1.

`make_contrary_rows` gives rows that are a quarter of each kind for every pair of classifiers at
once: who is right about which of them is a Hadamard matrix (Sylvester's), whose columns are
orthogonal. A row has the label and the scores of a labeled row, a classifier's scores of two
classes being swapped where it has to be right instead of wrong, or wrong instead of right.
Classifiers with the same scores everywhere are right and wrong together, so that they remain equal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.metrics.base import FloatArray

__all__ = ["ContraryRows", "make_contrary_rows"]


@dataclass(frozen=True, eq=False)
class ContraryRows:
    """Scores (H, M, K), labels (H,) and weights (H,) of the pseudo-rows."""

    scores: FloatArray
    labels: NDArray[np.int64]
    weights: FloatArray

    def draw_mass(self, n_draws: int, pseudo_rows: float, rng: np.random.Generator) -> FloatArray:
        """Mass (D, H, K) that adds up to Gamma(``pseudo_rows``) in each draw."""
        n, n_classes = self.labels.size, self.scores.shape[2]
        drawn = rng.standard_gamma(pseudo_rows / n, (n_draws, n)) * self.weights
        mass = np.zeros((n_draws, n, n_classes))
        mass[:, np.arange(n), self.labels] = drawn
        return mass


def make_contrary_rows(
    scores: FloatArray,
    labels: NDArray[np.int64],
    weights: FloatArray,
    originals: NDArray[np.int64],
    rng: np.random.Generator,
    least_rows: int = 32,
) -> ContraryRows:
    """Pseudo-rows made of labeled rows in random order.

    Parameters
    ----------
    scores, labels, weights : arrays (n, M, K), (n,) of int and (n,)
        The labeled rows.
    originals : array (M,) of int
        What `find_originals` gives.
    rng : numpy.random.Generator
        Decides which labeled row a pseudo-row is made of.
    least_rows : int
        Fewest pseudo-rows; there is a power of two of them.
    """
    distinct, place = np.unique(originals, return_inverse=True)
    is_right = _balance(distinct.size, least_rows)[:, place]
    taken: NDArray[np.int64] = np.resize(rng.permutation(labels.size), len(is_right))
    own, made = labels[taken], scores[taken]
    known = np.asarray(np.isfinite(made).all(axis=2))
    order = np.argsort(np.where(known[:, :, None], made, 0.0), axis=2)
    top, second = order[:, :, -1], order[:, :, -2]
    label = np.broadcast_to(own[:, None], top.shape)
    other = np.asarray(np.where(top != label, top, second))
    change = known & (is_right != (top == label))
    row, model = np.nonzero(change)
    one, two = label[change], other[change]
    swapped = made.copy()
    swapped[row, model, one], swapped[row, model, two] = (
        made[row, model, two],
        made[row, model, one],
    )
    return ContraryRows(swapped, own, weights[taken])


def _balance(n_models: int, least_rows: int) -> NDArray[np.bool_]:
    """Who is right (H, M): columns of a Hadamard matrix, of which any two are orthogonal."""
    matrix = np.ones((1, 1), dtype=np.int64)
    while len(matrix) < max(least_rows, n_models + 1):
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    out: NDArray[np.bool_] = matrix[:, 1 : n_models + 1] > 0
    return out
