"""How rows were chosen for labeling, as far as the user says.

- ``"random"``: every row had the same chance.
- ``"by_class"``: by their class, such as as many cases as controls. Labels then say nothing about
  how frequent the classes are.
- ``"by_score"``: by the scores, such as the rows on which classifiers are unsure. Labels are then
  those of rows unlike the rest, and still right for rows with such scores.
- weights: how many rows each label stands for, one over its chance of being chosen.
- not said (None): taken for random unless labels and scores say otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.data.rounds import LabelRounds
from ssme.data.values import as_floats
from ssme.errors import InputError, argument
from ssme.wording import suggest_nearest

__all__ = ["DESIGNS", "NOT_SAID", "LabelDesign", "as_design", "find_rounds", "make_design"]

DESIGNS = ("random", "by_class", "by_score")


@dataclass(frozen=True, eq=False)
class LabelDesign:
    """How rows were chosen for labeling.

    Attributes
    ----------
    kind : str or None
        ``"random"``, ``"by_class"``, ``"by_score"``, ``"weights"``; None where nobody said.
    weights : array (n,) or None
        For ``"weights"``, how many rows each label stands for; rows without a label do not count.
    rounds : LabelRounds or None
        For ``"weights"`` that come from probabilities, those (`ssme.data.rounds`); also where
        rows were drawn and none has its label yet, which says nothing of the labels there are.
    assumed : str or None
        For ``"weights"`` that correct a shift, which one was assumed: ``"label"`` or
        ``"covariate"``.
    """

    kind: str | None = None
    weights: NDArray[np.float64] | None = None
    rounds: LabelRounds | None = None
    assumed: str | None = None

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer]) -> LabelDesign:
        """The design of some of the rows."""
        rounds = None if self.rounds is None else self.rounds.take(rows)
        if self.weights is None:
            return self if rounds is None else LabelDesign(self.kind, None, rounds)
        return LabelDesign(self.kind, self.weights[rows], rounds, self.assumed)


NOT_SAID = LabelDesign()
"""The design of labels where nobody said."""


def make_design(rounds: LabelRounds, labels: NDArray[np.int64]) -> LabelDesign:
    """The design of ``labels`` (n,), -1 where unknown, that came in ``rounds``."""
    if np.isnan(rounds.probability[labels >= 0]).all():
        return LabelDesign(rounds=rounds)
    return LabelDesign("weights", rounds.compute_weights(labels), rounds)


def find_rounds(design: LabelDesign, labels: NDArray[np.int64]) -> LabelRounds:
    """The rounds that ``labels`` (n,) came in; one at random where nobody said."""
    if design.rounds is not None:
        return design.rounds
    known = labels >= 0
    chance = np.full(labels.size, np.nan)
    if design.weights is not None and known.any():
        scale = design.weights[known].sum() / labels.size
        chance[known] = np.minimum(scale / design.weights[known], 1.0)
    return LabelRounds(chance, np.zeros(labels.size, dtype=np.int64))


def as_design(design: object | None, labels: NDArray[np.int64]) -> LabelDesign:
    """What the caller said, checked against the ``labels`` (n,), -1 where unknown."""
    labeled = np.flatnonzero(labels >= 0)
    if design is None or isinstance(design, LabelDesign):
        return design or NOT_SAID
    if isinstance(design, LabelRounds):
        return make_design(design, labels) if labeled.size else NOT_SAID
    if labeled.size == 0 and isinstance(design, str):
        raise InputError(
            f"a design of the labels is given and none of the {labels.size} rows has one",
            allowed="a design where rows have labels",
            fix="leave design out, or check the label column",
        )
    if isinstance(design, str):
        return _read_name(design, labels[labeled])
    weights = as_floats(design, "design")
    if weights.shape != labels.shape:
        raise InputError(
            f"design has the shape {weights.shape} and there are {labels.size} rows",
            allowed=f"{', '.join(map(repr, DESIGNS))}, or one weight per row",
            fix="give a weight to every row; those without a label do not count",
        )
    bad = labeled[~(np.isfinite(weights[labeled]) & (weights[labeled] > 0.0))]
    if bad.size:
        raise InputError(
            f"row {bad[0]} has a label and the design weight {weights[bad[0]]:g}",
            allowed="for rows with a label, finite weights above 0",
            fix="give the number of rows that the label stands for: one over its chance to be "
            "chosen",
        )
    if labeled.size == 0:
        return NOT_SAID
    return LabelDesign("weights", np.where(labels >= 0, weights, 0.0))


def _read_name(design: str, labels: NDArray[np.int64]) -> LabelDesign:
    if design not in DESIGNS:
        raise InputError(
            f"{argument('design', design)} is unknown",
            allowed=f"{', '.join(map(repr, DESIGNS))}, or weights of the labels",
            fix=f"{suggest_nearest(design, DESIGNS)}or leave it out where it is not known",
        )
    if design == "by_class" and np.unique(labels).size < 2:
        raise InputError(
            f"{argument('design', design)} is given, and all {labels.size} labels are of one class",
            allowed="labels of two classes or more where rows were chosen by class",
            fix="label rows of the other classes too, or leave design out",
        )
    return LabelDesign(design)
