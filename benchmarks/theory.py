"""The paper's theory as functions: theorem 1, the estimator it is about, its corollary.

`theorem_1` gives the bound and its conditions, `bound_for` the same for a `ScoreSet` of your own
with the assumptions checked, `ul_plus` is the estimator the theorem speaks of, and
`least_useful_separation` says when one more classifier tightens the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, make_unknown_name_error

FloatArray = NDArray[np.float64]

# -------------------------------------------------------------------------------------------------
# How good a classifier is whose scores are normal given the label.
#
# Scores of classifier k are N(c_k, 1) in the positive class and N(0, 1) in the negative one; the
# classes are balanced. With Phi the standard normal distribution function,
#
#     AUC_k      = Phi(|c_k| / sqrt 2)
#     accuracy_k = Phi(|c_k| / 2)          with the best threshold, c_k / 2.
#
# Source: Shanmugam et al. 2025, sec. 3.2 and app. C.


AUC_SCALE, ACCURACY_SCALE = float(np.sqrt(2.0)), 2.0


def auc_of_separation(separation: ArrayLike) -> FloatArray:
    """The AUC of a classifier from its separation."""
    return ndtr(np.abs(np.asarray(separation, dtype=np.float64)) / AUC_SCALE)


def accuracy_of_separation(separation: ArrayLike) -> FloatArray:
    """The accuracy of a classifier, at the best threshold, from its separation."""
    return ndtr(np.abs(np.asarray(separation, dtype=np.float64)) / ACCURACY_SCALE)


# -------------------------------------------------------------------------------------------------
# Theorem 1 of the SSME paper: how far an estimate can be from the truth.
#
# Given the label, the scores of d classifiers are N(c, I) in one class and N(0, I) in the other,
# balanced. An estimate that misses c by at most eps misses classifier k's performance by at most
#
#     |AUC_k - AUC_k^| <= Phi(c_k / sqrt 2) - Phi((c_k - eps) / sqrt 2)
#     |ACC_k - ACC_k^| <= Phi(c_k / 2)      - Phi((c_k - eps) / 2).
#
# With probability 1 - p, for an estimator of the class UL+ (`benchmarks.theory.ul_plus`),
#
#     eps <= constant / p [ sqrt(d / (|c|^2 n_u)) + |c| exp(-n_l |c|^2 / 2 (1 - C0 r / |c|^2)_+^2) ]
#     r    = sqrt(d log n_u / (|c|^2 n_u)),
#
# provided that d >= 2 and
#
#     n_u >= rows_constant max{ d, d / |c|^4, log n_u / min(|c|^2, |c|^4), d log(d n_u) / |c|^6 }.
#
# The paper prints "up to a constant" for ``constant`` and ``rows_constant`` and calls ``c0`` a
# universal constant; none is given. They are parameters here, 1 by default, so that the bound shows
# how the error scales and not how large it is. Where 1 - C0 r / |c|^2 is negative the printed
# square would grow again; it is taken as 0, which is the weaker and only meaningful reading.
#
# Source: Shanmugam et al. 2025, sec. 3.2 and app. C; the bound on eps is that of Tifrea et al.,
# "Can semi-supervised learning use all the data effectively? A lower bound perspective", NeurIPS
# 2023, turned into a probability by Markov's inequality.


SCALES = {"accuracy": ACCURACY_SCALE, "roc_auc": AUC_SCALE}


def auc_bound(separation: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """The largest error in AUC that an error in the separation can cause."""
    return (
        ndtr(np.asarray(separation) / AUC_SCALE)
        - performance_band("roc_auc", separation, epsilon)[0]
    )


def accuracy_bound(separation: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """The largest error in accuracy that an error in the separation can cause."""
    return (
        ndtr(np.asarray(separation) / ACCURACY_SCALE)
        - performance_band("accuracy", separation, epsilon)[0]
    )


def performance_band(
    metric: str, separation: ArrayLike, epsilon: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Least and largest estimate of ``metric`` when ``separation`` is missed by ``epsilon``."""
    if metric not in SCALES:
        raise make_unknown_name_error("metric", metric, SCALES)
    c, eps = np.asarray(separation, float), np.asarray(epsilon, float)
    scale = SCALES[metric]
    return ndtr((c - eps) / scale), ndtr((c + eps) / scale)


def separation_error(
    n_unlabeled: ArrayLike,
    n_labeled: ArrayLike,
    d: ArrayLike,
    norm: ArrayLike,
    *,
    p: float = 1.0,
    c0: float = 1.0,
    constant: float = 1.0,
) -> FloatArray:
    """The bound on eps, the error in the estimated separation."""
    _check_constants(p=p, c0=c0, constant=constant)
    n_u = _check("n_unlabeled", n_unlabeled, "at least", 1.0)
    n_l = _check("n_labeled", n_labeled, "at least", 0.0)
    dims, c = _check("d", d, "at least", 1.0), _check("norm", norm, "above", 0.0)
    unlabeled_term = np.sqrt(dims / (c**2 * n_u))
    slack = 1.0 - c0 / c**2 * np.sqrt(dims * np.log(n_u) / (c**2 * n_u))
    labeled_term = c * np.exp(-0.5 * n_l * c**2 * np.maximum(slack, 0.0) ** 2)
    return constant * (unlabeled_term + labeled_term) / p


@dataclass(frozen=True)
class Requirement:
    """A condition or an assumption of the theorem: what it allows, and what there is."""

    name: str
    found: float
    least: float
    most: float = np.inf
    words: str = ""

    @property
    def holds(self) -> bool:
        """Whether what was found lies within what is allowed."""
        return self.least <= self.found <= self.most


@dataclass(frozen=True, eq=False)
class TheoremOne:
    """What theorem 1 says about d classifiers."""

    separation: FloatArray
    epsilon: float
    auc: FloatArray
    accuracy: FloatArray
    auc_bound: FloatArray
    accuracy_bound: FloatArray
    conditions: tuple[Requirement, ...]

    @property
    def applies(self) -> bool:
        """Whether every condition holds."""
        return all(condition.holds for condition in self.conditions)

    def rows(self) -> list[dict[str, Any]]:
        """Return one entry per classifier."""
        names = ("separation", "auc", "auc_bound", "accuracy", "accuracy_bound")
        columns = zip(*(getattr(self, name).tolist() for name in names), strict=True)
        return [dict(zip(names, values, strict=True)) for values in columns]


def theorem_1(
    separation: ArrayLike,
    n_unlabeled: int,
    n_labeled: int,
    *,
    p: float = 0.1,
    c0: float = 1.0,
    constant: float = 1.0,
    rows_constant: float = 1.0,
) -> TheoremOne:
    """Theorem 1 for classifiers with these separations, its conditions included."""
    _check_constants(p=p, c0=c0, constant=constant, rows_constant=rows_constant)
    c = np.atleast_1d(np.asarray(separation, dtype=np.float64))
    if c.ndim != 1 or not (np.isfinite(c) & (c >= 0)).all() or not (c > 0).any():
        raise InputError(
            option="separation",
            value=c.tolist(),
            must="have one number of at least 0 per classifier, not all 0",
            hint="swap the classes of a classifier that is worse than chance",
        )
    d, norm = len(c), float(np.linalg.norm(c))
    epsilon = float(
        separation_error(n_unlabeled, n_labeled, d, norm, p=p, c0=c0, constant=constant)
    )
    needed = {
        "n_u >= d": d,
        "n_u >= d / |c|^4": d / norm**4,
        "n_u >= log n_u / min(|c|^2, |c|^4)": np.log(n_unlabeled) / min(norm**2, norm**4),
        "n_u >= d log(d n_u) / |c|^6": d * np.log(d * n_unlabeled) / norm**6,
    }
    conditions = [Requirement("d >= 2", float(d), 2.0)]
    conditions += [
        Requirement(name, float(n_unlabeled), rows_constant * float(value))
        for name, value in needed.items()
    ]
    return TheoremOne(
        c,
        epsilon,
        auc_of_separation(c),
        accuracy_of_separation(c),
        auc_bound(c, epsilon),
        accuracy_bound(c, epsilon),
        tuple(conditions),
    )


def _check_constants(**constants: float) -> None:
    """``p`` in (0, 1], ``c0`` at least 0, the others above 0."""
    for name, value in constants.items():
        _check(name, value, "at least" if name == "c0" else "above", 0.0)
        if name == "p" and value > 1.0:
            raise InputError(option=name, value=value, must="be above 0 and at most 1")


def _check(name: str, values: ArrayLike, relation: str, least: float) -> FloatArray:
    """Finite numbers ``above`` or ``at least`` so much."""
    numbers = np.asarray(values, dtype=np.float64)
    allowed = numbers > least if relation == "above" else numbers >= least
    if not (np.isfinite(numbers) & allowed).all():
        raise InputError(option=name, value=np.min(numbers), must=f"be {relation} {least:g}")
    return numbers


# -------------------------------------------------------------------------------------------------
# When does one more classifier tighten the bound of theorem 1?
#
# A classifier with separation delta makes the distance of the class means sqrt(|c|^2 + delta^2) and
# the number of dimensions d + 1. The paper (app. C.1) says that the first term of eps then falls if
#
#     |c|^2 + delta^2 > d + 1,     that is   delta > sqrt(d + 1 - |c|^2).           "printed"
#
# That does not follow from its own eps: the first term is sqrt(d / (|c|^2 n_u)), and
#
#     (d + 1) / (|c|^2 + delta^2) < d / |c|^2     exactly if     delta > |c| / sqrt(d).   "epsilon"
#
# In words: the new classifier must be better than the root mean square of those already there. The
# two agree only where |c|^2 = d; the printed condition refuses good classifiers where the others
# are weak (|c|^2 < d) and lets every classifier in where they are strong (|c|^2 > d + 1), even one
# that is worse than all of them and makes the bound looser.


CONDITIONS = ("printed", "epsilon")


def least_useful_separation(d: int, norm: float, *, condition: str = "epsilon") -> float:
    """The separation above which one more classifier tightens the first term of the bound."""
    _check("d", d, "at least", 1.0)
    _check("norm", norm, "above", 0.0)
    if condition not in CONDITIONS:
        raise make_unknown_name_error("condition", condition, CONDITIONS)
    if condition == "printed":
        return float(np.sqrt(max(d + 1 - norm**2, 0.0)))
    return float(norm / np.sqrt(d))


def bound_with_one_more(
    n_unlabeled: int,
    n_labeled: int,
    d: int,
    norm: float,
    separation: float,
    *,
    c0: float = 1.0,
) -> tuple[float, float]:
    """Compute the bound on epsilon (both terms, p = 1) without and with one more classifier."""
    _check("separation", separation, "at least", 0.0)
    grown = float(np.hypot(norm, separation))
    before = separation_error(n_unlabeled, n_labeled, d, norm, c0=c0)
    after = separation_error(n_unlabeled, n_labeled, d + 1, grown, c0=c0)
    return float(before), float(after)


# -------------------------------------------------------------------------------------------------
# UL+: the estimator that theorem 1 is about. Unlabeled rows find the line, labels its direction.
#
# Model: s | y = 1 ~ N(m + c/2, I), s | y = 0 ~ N(m - c/2, I), classes balanced.
#
# 1. From the unlabeled rows alone: m is their mean, and theta = c/2 is known up to its sign. It
#    starts at the leading eigenvector of their covariance I + theta theta', with length
#    sqrt(lambda - 1), and is improved by EM for the mixture of N(theta, I) and N(-theta, I),
#
#        theta <- mean_i x_i tanh(theta' x_i),       x_i = s_i - m,
#
#    until it moves by no more than ``tol``.
# 2. The labeled rows choose the sign: theta' sum_i (2 y_i - 1) x_i must not be negative.
#
# Labels serve for nothing else, so UL+ is no estimator to use; SSME, which fits labeled and
# unlabeled rows together, is said to do at least as well.
#
# Source: Shanmugam et al. 2025, sec. 3.2 and app. C; Tifrea et al., NeurIPS 2023, sec. 2.3; EM for
# this mixture: Wu and Zhou, "Randomly initialized EM algorithm for two-component Gaussian mixture
# achieves near optimality in O(sqrt n) iterations", Math. Stat. Learn. 4, 2021.


@dataclass(frozen=True, eq=False)
class UlPlusFit:
    """What UL+ found."""

    separation: FloatArray
    center: FloatArray
    n_iter: int
    converged: bool

    @property
    def auc(self) -> FloatArray:
        """AUC (d,) of each classifier; below 0.5 where its separation is negative."""
        return _sign(auc_of_separation(self.separation), self.separation)

    @property
    def accuracy(self) -> FloatArray:
        """Accuracy (d,) of each classifier at the threshold between its class means."""
        return _sign(accuracy_of_separation(self.separation), self.separation)


def ul_plus(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    labels_in_em: bool = False,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> UlPlusFit:
    """Estimate the separation of each classifier by UL+.

    With ``labels_in_em`` labeled rows enter EM with their classes, as in SSME, and not only to name
    the two sides.
    """
    points, known = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if points.ndim != 2 or known.shape != points.shape[:1] or not np.isfinite(points).all():
        raise InputError(
            f"scores have the shape {points.shape} and labels {known.shape}, or are not finite",
            hint="give finite scores (n, d) and labels (n,)",
        )
    if not np.isin(known, (-1, 0, 1)).all():
        raise InputError(option="labels", must="be 0, 1 or -1")
    unlabeled, labeled = points[known == -1], known >= 0
    if len(unlabeled) < 2 or not labeled.any():
        raise InputError(
            f"there are {len(unlabeled)} unlabeled and {int(labeled.sum())} labeled rows",
            hint="add rows: UL+ needs unlabeled rows for a line and labels for its direction",
        )
    center = unlabeled.mean(axis=0)
    x = unlabeled - center
    theta, n_iter, converged = _find_line(x, max_iter, tol)
    signs = 2.0 * known[labeled] - 1.0
    if signs @ ((points[labeled] - center) @ theta) < 0:
        theta = -theta
    if labels_in_em:
        known_sum = signs @ (points[labeled] - center)
        theta, n_iter, converged = _run_em(x, theta, known_sum, int(labeled.sum()), max_iter, tol)
    return UlPlusFit(2.0 * theta, center, n_iter, converged)


def _find_line(x: FloatArray, max_iter: int, tol: float) -> tuple[FloatArray, int, bool]:
    """theta (d,) up to its sign, steps taken, and whether they came to rest."""
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    # beside noise alone the leading eigenvalue is near 1; EM at theta = 0 would never move
    length = np.sqrt(max(values[-1] - 1.0, x.shape[1] / len(x)))
    return _run_em(x, length * vectors[:, -1], 0.0, 0, max_iter, tol)


def _run_em(
    x: FloatArray,
    theta: FloatArray,
    known_sum: FloatArray | float,
    n_known: int,
    max_iter: int,
    tol: float,
) -> tuple[FloatArray, int, bool]:
    """EM from ``theta`` on unlabeled rows, and on labeled ones by their sum over signs."""
    for step in range(1, max_iter + 1):
        moved = (np.tanh(x @ theta) @ x + known_sum) / (len(x) + n_known)
        change = np.abs(moved - theta).max()
        theta = moved
        if change <= tol:
            return theta, step, True
    return theta, max_iter, False


def _sign(performance: FloatArray, separation: FloatArray) -> FloatArray:
    return np.where(separation >= 0, performance, 1.0 - performance)


# -------------------------------------------------------------------------------------------------
# What theorem 1 says about your own classifiers, and how far they are from what it assumes.
#
# The separation of classifier k is taken from the labeled rows: with s its log-odds,
#
#     c_k = (mean of s in the positive class - mean in the negative class) / s.d. within a class.
#
# The theorem assumes more than that, and each assumption is checked on the same rows: balanced
# classes, classifiers independent given the label, scores that are normal with the same variance in
# both classes, every classifier better than chance.


CLIP = 1e-6
"""Probabilities are kept this far from 0 and 1 before the log-odds, as in the preset ``paper``."""

FLAT = 1e-9
"""A standard deviation that is rounding: this share of the largest log-odds."""

LEAST_LABELS = 3
"""Labeled rows of each class below which a standard deviation cannot be had."""


@dataclass(frozen=True, eq=False)
class OwnBound:
    """Theorem 1 for a `ScoreSet`: what it says, and whether it may be believed."""

    models: tuple[str, ...]
    theorem: TheoremOne
    assumptions: tuple[Requirement, ...]

    @property
    def credible(self) -> bool:
        """Whether all conditions and all assumptions hold."""
        return self.theorem.applies and all(each.holds for each in self.assumptions)

    def rows(self) -> list[dict[str, Any]]:
        """Return one entry per classifier."""
        pairs = zip(self.models, self.theorem.rows(), strict=True)
        return [{"model": model, **row} for model, row in pairs]

    def text(self) -> str:
        """Describe the bound and all objections to it in a few lines."""
        lines = [
            f"epsilon at most {self.theorem.epsilon:.3g}, so the error in AUC is at most "
            f"{self.theorem.auc_bound.max():.3g} and in accuracy at most "
            f"{self.theorem.accuracy_bound.max():.3g}."
        ]
        lines += [
            f"The condition {each.name} fails: {each.found:g} is less than {each.least:.3g}."
            for each in self.theorem.conditions
            if not each.holds
        ]
        lines += [
            f"The theorem assumes {each.words}; {each.name} is {each.found:.2f} here."
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
    """Theorem 1 for the classifiers of ``data``, with its conditions and assumptions checked."""
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
    spread = float(np.maximum(ratio, 1.0 / ratio).max())
    skewed = float(np.abs((standard**3).mean(axis=0)).max())
    assumptions = (
        Requirement(
            "the share of the positive class",
            float(y.mean()),
            0.5 - imbalance,
            0.5 + imbalance,
            "balanced classes",
        ),
        Requirement(
            "the mean absolute correlation within a class",
            _average_correlation(standard),
            0.0,
            correlation,
            "classifiers independent given the label",
        ),
        Requirement(
            "the largest ratio of variances",
            spread,
            1.0,
            variance_ratio,
            "the same variance in both classes",
        ),
        Requirement("the largest skewness within a class", skewed, 0.0, skewness, "normal scores"),
        Requirement(
            "the least separation",
            float(separation.min()),
            0.0,
            words="every classifier better than chance",
        ),
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
