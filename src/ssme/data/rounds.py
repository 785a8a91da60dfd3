"""Labels that came in rounds, each with rows drawn with known probabilities: what each stands for.

In round t, n_t of the N_t rows without a label get one, row i drawn with probability p_i. Each
round gives an unbiased estimate of a total over all N rows, the rows labeled before plus
sum_i x_i / p_i; averaged over rounds with weights a_t a label of round t stands for

    w_i = a_t / p_i + sum_{s > t} a_s        rows,   a_t = n_t / N_t (N / n - sum_{s > t} a_s)

with n = sum n_t. The a_t sum to one and are those for which all n labels stand for N / n rows when
every round is drawn at random. Rounds of one row each are the LURE weights of Farquhar, Gal and
Rainforth (ICLR 2021). Labels without a probability count as a first round drawn at random. Rows of
a round that were drawn and got no label are taken to be missing by chance: the p_i of the others
are multiplied by the share of the round that has a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError

__all__ = ["LabelRounds"]


@dataclass(frozen=True, eq=False)
class LabelRounds:
    """In which round each row got its label, and with which probability it was drawn.

    Attributes
    ----------
    probability : array (n,)
        Probability in (0, 1] of the row in its round; NaN where nobody said.
    number : array (n,) of int
        Number of the round; 0 for labels that were there before.
    """

    probability: NDArray[np.float64]
    number: NDArray[np.int64]

    @property
    def next_number(self) -> int:
        """Number of the round that comes next."""
        return int(self.number.max(initial=0)) + 1

    def compute_weights(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many rows each label stands for (n,), 0 for rows without a label."""
        labeled = labels >= 0
        chance = self._check_chances(labeled)
        n_rows, n_labels = labels.size, int(labeled.sum())
        out = np.zeros(n_rows)
        later = 0.0
        for number in np.unique(self.number[labeled])[::-1]:
            own = labeled & (self.number == number)
            before = int((labeled & (self.number < number)).sum())
            share = own.sum() / (n_rows - before)
            average = share * (n_rows / n_labels - later)
            drawn = (self.number == number) & ~np.isnan(self.probability)
            answered = (drawn & labeled).sum() / max(int(drawn.sum()), 1)
            stated = np.where(np.isnan(chance[own]), share, chance[own] * answered)
            out[own] = average / stated + later
            later += average
        return out

    def count_drawn(self, labels: NDArray[np.int64]) -> tuple[int, int]:
        """Number of rows drawn in rounds, and of those among them without a label."""
        drawn = (self.number > 0) & ~np.isnan(self.probability)
        return int(drawn.sum()), int((drawn & (labels < 0)).sum())

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer]) -> LabelRounds:
        """Those of some of the rows."""
        return LabelRounds(self.probability[rows], self.number[rows])

    def _check_chances(self, labeled: NDArray[np.bool_]) -> NDArray[np.float64]:
        chance = np.where(labeled, self.probability, np.nan)
        bad = np.flatnonzero(~np.isnan(chance) & ~((chance > 0.0) & (chance <= 1.0)))
        if bad.size:
            raise InputError(
                f"probability {chance[bad[0]]:g} at row {bad[0]}, which has a label",
                allowed="probabilities above 0 and up to 1",
                fix="give the probability with which the row was chosen, or leave it empty",
            )
        return chance
