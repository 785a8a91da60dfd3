"""How rows were chosen for labeling, as far as the user says.

- ``"random"``: every row had the same chance.
- ``"by_class"``: by their class, such as as many cases as controls. Labels then say nothing about
  how frequent the classes are.
- ``"by_score"``: by the scores, such as the rows on which classifiers are unsure. Labels are then
  those of rows unlike the rest, and still right for rows with such scores.
- weights: how many rows each label represents, one over its chance of being chosen.
- not declared (None): taken as random unless labels and scores say otherwise.

Labels may come in rounds. In round t, n_t of the N_t rows without a label get one, row i drawn with
probability p_i. Each round gives an unbiased estimate of a total over all N rows, the rows labeled
before plus sum_i x_i / p_i; averaged over rounds with weights a_t a label of round t represents

    w_i = a_t / p_i + sum_{s > t} a_s        rows,   a_t = n_t / N_t (N / n - sum_{s > t} a_s)

with n = sum n_t. The a_t sum to one and are those for which all n labels represent N / n rows when
every round is drawn at random. Rounds of one row each are the LURE weights of Farquhar, Gal and
Rainforth (ICLR 2021). Labels without a probability count as a first round drawn at random. Rows of
a round that were drawn and got no label are assumed missing at random: the p_i of the others are
multiplied by the share of the round that has a label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ssme.data.values import as_floats, find_weight_unit
from ssme.errors import InputError
from ssme.wording import suggest_nearest


@dataclass(frozen=True, eq=False)
class LabelRounds:
    """In which round each row (n,) got its label, and with which probability it was drawn.

    The probability is NaN where it is not declared; labels that were there before have number 0.
    """

    probability: NDArray[np.float64]
    number: NDArray[np.int64]

    @property
    def next_number(self) -> int:
        """Number of the round that comes next."""
        return int(self.number.max(initial=0)) + 1

    def __post_init__(self) -> None:
        known = ~np.isnan(self.probability)
        bad = np.flatnonzero(known & ~((self.probability > 0.0) & (self.probability <= 1.0)))
        if bad.size:
            problem = f"the probability of row {bad[0]} must be above 0 and at most 1, got "
            hint = "give the probability with which the row was chosen, or leave it empty"
            raise InputError(f"{problem}{self.probability[bad[0]]:g}", hint=hint)

    def compute_weights(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """How many rows each label represents (n,), 0 for rows without a label."""
        labeled = labels >= 0
        chance = np.where(labeled, self.probability, np.nan)
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


DESIGNS = ("random", "by_class", "by_score")


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """How rows were chosen for labeling.

    ``kind`` is one of `DESIGNS`, ``"weights"``, or None if it is not declared. ``weights`` (n,) are
    how many rows each label represents; ``rounds`` those that they come from, also where rows were
    drawn and none has its label yet, which says nothing of the labels there are. Weights that
    correct a shift have ``assumed`` that of the ``"label"`` or ``"covariate"``. ``n_proposed``
    labels were given by people who saw which class was proposed.
    """

    kind: str | None = None
    weights: NDArray[np.float64] | None = None
    rounds: LabelRounds | None = None
    assumed: str | None = None
    n_proposed: int = 0

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer]) -> LabelDesign:
        """The design of some of the rows."""
        rounds = None if self.rounds is None else self.rounds.take(rows)
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, weights=weights, rounds=rounds)


NOT_SAID = LabelDesign()
"""The design of labels if it is not declared."""


def make_design(rounds: LabelRounds, labels: NDArray[np.int64]) -> LabelDesign:
    """The design of ``labels`` (n,), -1 where unknown, that came in ``rounds``."""
    if np.isnan(rounds.probability[labels >= 0]).all():
        return LabelDesign(rounds=rounds)
    return LabelDesign("weights", rounds.compute_weights(labels), rounds)


def find_rounds(design: LabelDesign, labels: NDArray[np.int64]) -> LabelRounds:
    """The rounds that ``labels`` (n,) came in; one at random if it is not declared."""
    if design.rounds is not None:
        return design.rounds
    known = labels >= 0
    chance = np.full(labels.size, np.nan)
    if design.weights is not None and known.any():
        scale = design.weights[known].sum() / labels.size
        chance[known] = np.minimum(scale / design.weights[known], 1.0)
    return LabelRounds(chance, np.zeros(labels.size, dtype=np.int64))


def as_design(design: object | None, labels: NDArray[np.int64]) -> LabelDesign:
    """What the caller passed, checked against the ``labels`` (n,), -1 where unknown."""
    labeled = np.flatnonzero(labels >= 0)
    if design is None or isinstance(design, LabelDesign):
        return design or NOT_SAID
    if isinstance(design, LabelRounds):
        return make_design(design, labels) if labeled.size else NOT_SAID
    if isinstance(design, str):
        if design not in DESIGNS:
            raise InputError(
                option="design",
                value=design,
                must=f"be {', '.join(map(repr, DESIGNS))}, or weights of the labels",
                hint=f"{suggest_nearest(design, DESIGNS)}leave it out if it is not known",
            )
        if not labeled.size or (design == "by_class" and np.ptp(labels[labeled]) == 0):
            found = "all of one class" if labeled.size else "missing"
            problem = f"`design={design!r}` was given, but the labels are {found}"
            raise InputError(problem, hint="check the label column, or leave `design` out")
        return LabelDesign(design)
    weights = as_floats(design, "design")
    if weights.shape != labels.shape:
        problem = (
            f"`design` must have one weight per row ({labels.size}), got shape {weights.shape}"
        )
        hint = "weights of rows without a label are ignored"
        raise InputError(problem, hint=hint)
    bad = labeled[~(np.isfinite(weights[labeled]) & (weights[labeled] > 0.0))]
    if bad.size:
        problem = f"the weight of labeled row {bad[0]} must be above 0, got {weights[bad[0]]:g}"
        hint = "give the number of rows that it represents: 1 / its probability of being chosen"
        raise InputError(problem, hint=hint)
    if labeled.size == 0:
        return NOT_SAID
    weights = np.where(labels >= 0, weights, 0.0)
    return LabelDesign("weights", weights * find_weight_unit(weights))
