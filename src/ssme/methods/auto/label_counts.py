"""How often a label counts, given how rows were chosen for labeling.

    at random       1
    with weights    w_i n_eff / sum w,       n_eff = (sum w)^2 / sum w^2        `count_labels`
    by class        p_k / (n_k / n)          for a label of class k             `count_by_class`
    by score        (N_h / N) / (n_h / n)    for a label in stratum h           `count_by_score`

- With weights, the label of row i counts by its weight, and n labels are worth their effective
  number, (sum w)^2 / sum w^2 (Kish), in the likelihood and in the residual correction. Where the
  weights come from probabilities that looked at the scores and at earlier labels alone
  (`ssme.data.rounds`), the choice says nothing about P(y | s): all labels count the same in the
  likelihood, and by their weight in the correction.
- Chosen by class, a label of class k stands, in the residual correction, for p_k / (n_k / n) labels
  drawn at random, p_k the share of the class under W.
- Chosen by score, labels are post-stratified: with strata cut at quantiles of the top probability
  under W, a label in stratum h stands for (N_h / N) / (n_h / n) labels drawn at random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ssme.data.design import LabelDesign
from ssme.methods.auto.constants import CorrectionConstants
from ssme.metrics.base import FloatArray

__all__ = [
    "count_by_class",
    "count_by_score",
    "count_evidence",
    "count_labels",
    "find_effective_number",
]

IntArray = NDArray[np.int64]


def count_labels(design: LabelDesign, rows: IntArray) -> FloatArray | None:
    """Weights (r,) of the labels of ``rows``, which sum to their effective number.

    None where the design has no weights, and all labels count the same.
    """
    if design.weights is None or rows.size == 0:
        return None
    weights = design.weights[rows]
    out: FloatArray = weights * find_effective_number(weights) / weights.sum()
    return out


def count_evidence(design: LabelDesign, rows: IntArray) -> FloatArray | None:
    """Weights (r,) of the labels of ``rows`` in the likelihood; None where they count the same."""
    return None if design.rounds is not None else count_labels(design, rows)


def count_by_class(shares: FloatArray, labels: IntArray) -> FloatArray:
    """How often a label of each class counts (K,), the classes having ``shares`` (K,) under W.

    A class without a label counts once.
    """
    seen = np.bincount(labels, minlength=len(shares))
    out: FloatArray = np.where(seen > 0, shares * labels.size / np.maximum(seen, 1), 1.0)
    return out


def count_by_score(
    everywhere: FloatArray, labeled: FloatArray, constants: CorrectionConstants
) -> FloatArray:
    """How often each label counts (r,), after stratifying rows by their top probability under W.

    ``everywhere`` (n, K) is W of rows that stand for all rows, ``labeled`` (r, K) that of the
    labeled ones.
    """
    strata = int(np.clip(len(labeled) // constants.labels_a_stratum, 1, constants.strata))
    sure, known = everywhere.max(axis=1), labeled.max(axis=1)
    cuts = np.quantile(sure, np.linspace(0.0, 1.0, strata + 1)[1:-1])
    size = np.bincount(np.searchsorted(cuts, sure), minlength=strata) / len(sure)
    place = np.searchsorted(cuts, known)
    share = np.bincount(place, minlength=strata) / len(known)
    out: FloatArray = (size / np.maximum(share, 1.0 / len(known)))[place]
    return out


def find_effective_number(weights: FloatArray) -> float:
    """Kish's effective number of labels: (sum w)^2 / sum w^2."""
    return float(weights.sum() ** 2 / (weights**2).sum())
