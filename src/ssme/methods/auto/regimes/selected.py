"""Selected: rows were chosen for labeling by their class, as many cases as controls, say.

Label intercepts are then wide, and the classifiers' label weights come from labels that count as if
their classes had the stated shares: else class-weighted classifiers win, and their shares with
them. The scores of the labeled rows bear witness too (`mixture`): had labels been drawn by class,
they would be distributed as sum_k e^(d_k) W_k(x) times the scores at large.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from ssme.methods.auto.regimes.base import Regime, Situation, View
from ssme.methods.auto.regimes.evidence import log_usual_density

__all__ = ["SELECTED", "compute_design_bonus"]


def look(situation: Situation) -> View | None:
    """The usual view with wide label intercepts; None without labels or with a known design."""
    if situation.design is not None or situation.labels.size == 0:
        return None
    of = situation.constants
    evidence = log_usual_density(situation)
    counts = np.bincount(situation.labels.classes, minlength=situation.summary.n_classes)
    pooling = replace(situation.usual_pooling, weights=situation.class_weighted)
    shift = of.regimes.selected_shift
    return View(
        pooling,
        situation.usual_prior,
        of.model,
        evidence + compute_design_bonus(counts),
        least_shift=shift,
    )


def compute_design_bonus(counts: NDArray[np.int64]) -> float:
    """Log evidence of the counts (K,) of labels by class, were they fixed by design.

    Half of such designs take equally many of every class. Where the counts are as equal as can be
    that design explains them wholly, while labels drawn at random hit them by chance only, and no
    intercept had to be fitted for it.
    """
    n, n_classes = int(counts.sum()), len(counts)
    if n < n_classes or counts.max() - counts.min() > 1:
        return float(np.log(0.5))
    share = counts / n
    chance = gammaln(n + 1.0) - gammaln(counts + 1.0).sum()
    chance += (counts * np.log(share, where=share > 0.0, out=np.zeros(n_classes))).sum()
    return float(np.log(0.5) - chance + 0.5 * (n_classes - 1) * np.log(n / n_classes))


SELECTED = Regime("selected", "rows were chosen for labeling by their class", look)
