"""What theorem 1 says about your own classifiers, and how far they are from what it assumes.

The separation of classifier k is taken from the labeled rows: with s its log-odds,

    c_k = (mean of s in the positive class - mean in the negative class) / s.d. within a class.

The theorem assumes more than that, and each assumption is checked on the same rows: balanced
classes, classifiers independent given the label, scores that are normal with the same variance in
both classes, every classifier better than chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.theory.bounds import TheoremOne, theorem_1
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError

__all__ = ["Assumption", "OwnBound", "bound_for"]

FloatArray = NDArray[np.float64]

CLIP = 1e-6
"""Probabilities are kept this far from 0 and 1 before the log-odds, as in the preset ``paper``."""

FLAT = 1e-9
"""A standard deviation that is rounding: this share of the largest log-odds."""

LEAST_LABELS = 3
"""Labeled rows of each class below which a standard deviation cannot be had."""


@dataclass(frozen=True)
class Assumption:
    """One assumption of the theorem beside what the labeled rows show.

    Attributes
    ----------
    name : str
        What the assumption is about.
    assumed : str
        What the theorem assumes, in words.
    found : float
        What the labeled rows show.
    allowed : tuple of float
        The range in which ``found`` agrees with the assumption.
    """

    name: str
    assumed: str
    found: float
    allowed: tuple[float, float]

    @property
    def holds(self) -> bool:
        """Whether what was found lies within what is allowed."""
        return self.allowed[0] <= self.found <= self.allowed[1]


@dataclass(frozen=True, eq=False)
class OwnBound:
    """Theorem 1 for a `ScoreSet`: what it says, and whether it may be believed.

    Attributes
    ----------
    models : tuple of str
        Names of the classifiers.
    theorem : TheoremOne
        What the theorem says about them.
    assumptions : tuple of Assumption
        The assumptions of the theorem beside what the labeled rows show.
    """

    models: tuple[str, ...]
    theorem: TheoremOne
    assumptions: tuple[Assumption, ...]

    @property
    def credible(self) -> bool:
        """Whether all conditions and all assumptions hold."""
        return self.theorem.applies and all(each.holds for each in self.assumptions)

    def rows(self) -> list[dict[str, Any]]:
        """Return one entry per classifier.

        Returns
        -------
        list of dict
            Name, separation, performance and bounds of each classifier.
        """
        pairs = zip(self.models, self.theorem.rows(), strict=True)
        return [{"model": model, **row} for model, row in pairs]

    def text(self) -> str:
        """Describe the bound and all objections to it in a few lines.

        Returns
        -------
        str
            The description.
        """
        lines = [
            f"epsilon at most {self.theorem.epsilon:.3g}, so the error in AUC is at most "
            f"{self.theorem.auc_bound.max():.3g} and in accuracy at most "
            f"{self.theorem.accuracy_bound.max():.3g}."
        ]
        lines += [
            f"The condition {each.name} fails: {each.found:g} is less than {each.required:.3g}."
            for each in self.theorem.conditions
            if not each.holds
        ]
        lines += [
            f"The theorem assumes {each.assumed}; {each.name} is {each.found:.2f} here."
            for each in self.assumptions
            if not each.holds
        ]
        return "\n".join(lines)


def bound_for(
    data: ScoreSet,
    *,
    p: float = 0.1,
    c0: float = 1.0,
    constant: float = 1.0,
    rows_constant: float = 1.0,
    imbalance: float = 0.1,
    correlation: float = 0.2,
    variance_ratio: float = 2.0,
    skewness: float = 1.0,
) -> OwnBound:
    """Theorem 1 for the classifiers of ``data``, with its conditions and assumptions checked.

    Parameters
    ----------
    data : ScoreSet
        Two classes, no missing scores, at least 3 labeled rows of each class.
    p, c0, constant, rows_constant : float
        As in `theorem_1`.
    imbalance, correlation, variance_ratio, skewness : float
        How far the labeled rows may be from balanced classes (share of the positive class from
        one half), independent classifiers (mean absolute correlation within a class), equal
        variances (largest ratio between the classes) and symmetric scores (largest absolute
        skewness within a class) before an assumption counts as broken.

    Returns
    -------
    OwnBound

    Examples
    --------
    >>> from benchmarks.datasets.synthetic import gaussian_set
    >>> data = gaussian_set(2000, np.full(4, 1.5), rng=np.random.default_rng(0))
    >>> said = bound_for(data.replace(labels=np.where(np.arange(2000) < 200, data.labels, -1)))
    >>> said.credible
    True
    >>> bool(said.theorem.epsilon < 0.3)
    True
    """
    scores, y = _take_labeled_log_odds(data)
    groups = scores[y == 0], scores[y == 1]
    gap = groups[1].mean(axis=0) - groups[0].mean(axis=0)
    within = np.concatenate([group - group.mean(axis=0) for group in groups])
    deviation = np.sqrt((within**2).sum(axis=0) / (len(within) - 2))
    if (deviation <= FLAT * np.abs(scores).max(initial=1.0)).any():
        constant_one = data.models[int(np.argmin(deviation))]
        raise InputError(
            f"classifier {constant_one!r} gives all labeled rows of a class the same score",
            hint="leave it out: its separation is not defined",
        )
    separation = gap / deviation
    theorem = theorem_1(
        np.maximum(separation, 0.0) if (separation > 0).any() else np.abs(separation),
        data.n_rows - len(y),
        len(y),
        p=p,
        c0=c0,
        constant=constant,
        rows_constant=rows_constant,
    )
    ratio = groups[1].var(axis=0, ddof=1) / np.maximum(groups[0].var(axis=0, ddof=1), 1e-300)
    standard = within / deviation
    found = {
        "the share of the positive class": ("balanced classes", float(y.mean())),
        "the mean absolute correlation within a class": (
            "classifiers independent given the label",
            _average_correlation(standard),
        ),
        "the largest ratio of variances": (
            "the same variance in both classes",
            float(np.maximum(ratio, 1.0 / ratio).max()),
        ),
        "the largest skewness within a class": (
            "normal scores",
            float(np.abs((standard**3).mean(axis=0)).max()),
        ),
        "the least separation": ("every classifier better than chance", float(separation.min())),
    }
    allowed = [
        (0.5 - imbalance, 0.5 + imbalance),
        (0.0, correlation),
        (1.0, variance_ratio),
        (0.0, skewness),
        (0.0, np.inf),
    ]
    assumptions = tuple(
        Assumption(name, assumed, value, limits)
        for (name, (assumed, value)), limits in zip(found.items(), allowed, strict=True)
    )
    return OwnBound(data.models, theorem, assumptions)


def _take_labeled_log_odds(data: ScoreSet) -> tuple[FloatArray, NDArray[np.int64]]:
    """Log-odds (n_l, d) and labels (n_l,) of the labeled rows."""
    if data.n_classes != 2:
        raise InputError(
            f"the data have {data.n_classes} classes",
            hint="the theorem is about two classes: take one class against the rest",
        )
    rows = data.labeled
    y = data.labels[rows]
    counts = np.bincount(y, minlength=2)
    if counts.min() < LEAST_LABELS:
        raise InputError(
            f"there are {counts[0]} labeled rows of class {data.classes[0]!r} and {counts[1]} of "
            f"class {data.classes[1]!r}",
            hint=f"label at least {LEAST_LABELS} of each",
        )
    p = np.clip(data.scores[rows, :, 1], CLIP, 1.0 - CLIP)
    if np.isnan(p).any():
        raise InputError(
            "scores are missing on labeled rows", hint="drop those rows or classifiers"
        )
    return np.log(p / (1.0 - p)), y


def _average_correlation(standard: FloatArray) -> float:
    """Mean absolute correlation of the columns, 0 with one column."""
    d = standard.shape[1]
    if d == 1:
        return 0.0
    correlation = np.asarray(np.corrcoef(standard, rowvar=False))
    return float(np.abs(correlation[np.triu_indices(d, 1)]).mean())
