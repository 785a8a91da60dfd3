"""Labeled and unlabeled rows from different distributions: find it, name it, correct it.

Finding it: two permutation tests on the scores (`ssme.diagnostics.significance`). Which shift it is
decides how it may be corrected, each by weights of the labels (`LabelDesign`):

    label shift       classes have other frequencies, rows of a class look the same: P(s | y) stays.
                      w = pi_k / lambda_k for a label of class k, lambda its share of the labels and
                      pi the share of class k among the unlabeled rows. pi is found by EM (Saerens,
                      Latinne and Decaestecker, Neural Computation 14, 2002) on the pooled scores,
                      recalibrated on the labels with a ridge.
    covariate shift   other rows, the same labels for rows with the same scores: P(y | s) stays.
                      w = P(unlabeled | s) / P(labeled | s), from a ridge logistic regression, at
                      most `ShiftConstants.largest_weight` times the mean.

Label shift can be refuted: with its weights the labeled scores must have the means of the unlabeled
ones (a chi-square test). Covariate shift cannot be refuted without labels of unlabeled rows: a
correction for it is never known to be right. It needs labels wherever there are rows, which the
effective number of labels under its weights shows. A corrected evaluation has the warning D109.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import chdtrc, expit, logsumexp

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics import check, significance
from ssme.errors import InputError
from ssme.methods import label_draws, votes
from ssme.methods.clusters import take_one_of_each
from ssme.options import Enumeration, Option, accept
from ssme.results.table import Answer

KIND = Option("kind", Enumeration("label", "covariate"), "label", "The shift that is corrected.")


@dataclass(frozen=True)
class ShiftConstants:
    """Numbers that decide what is found about a shift and how it is corrected."""

    largest_weight: float = 20.0  # weight of a label over the mean weight, at most
    # penalty on each coefficient of a logistic regression on standardized features
    ridge: float = 1.0
    refuted: float = 0.05  # p-value below which label shift does not explain the scores
    least_share: float = 0.25  # share of the labels that must be left, in effect, under weights
    least_labels: float = 10.0  # labels that must be left, in effect, under weights
    least_rows: int = 10  # rows on either side below which nothing can be told
    steps: int = 200  # steps of EM, at most
    small: float = 1e-6  # least share of a class, and least weight of a label


@dataclass(frozen=True)
class Shift(Answer):
    """What the scores say about a shift between labeled and unlabeled rows.

    Attributes
    ----------
    p_scores, p_classes : float
        p-values of the classifier two-sample test and of the test of prior shift.
    classes : tuple of str
        The classes.
    labeled_shares, unlabeled_shares : tuple of float
        Share of each class among the labels, and among unlabeled rows if it is label shift.
    p_label : float
        p-value of label shift as the explanation; small where it is refuted.
    effective_labels, effective_by_class, effective_by_score : float
        Number of labels, and how many they are worth under the weights of each correction.
    found : bool
        Whether a test found a shift.
    not_refuted : tuple of str
        Corrections that leave enough labels and that nothing refutes: "label", "covariate", both or
        none. Scores cannot refute "covariate".
    """

    derived: ClassVar[tuple[str, ...]] = ("sentence",)
    p_scores: float
    p_classes: float
    classes: tuple[str, ...]
    labeled_shares: tuple[float, ...]
    unlabeled_shares: tuple[float, ...]
    p_label: float
    effective_labels: float
    effective_by_class: float
    effective_by_score: float
    found: bool
    not_refuted: tuple[str, ...]

    def sentence(self) -> str:
        """Describe what was found and what can be done."""
        tests = f"p = {self.p_scores:.3f} by scores, {self.p_classes:.3f} by classes"
        if not self.found:
            return f"No shift between labeled and unlabeled rows was found ({tests})."
        head = f"Labeled and unlabeled rows have shifted ({tests})."
        label = f"label shift (p = {self.p_label:.3f})"
        left = f"{self.effective_by_score:.0f} of {self.effective_labels:.0f} labels"
        if not self.not_refuted:
            return (
                f"{head} It does not look like {label}, and weights for covariate shift leave "
                f"{left}: correct neither. Label current rows drawn at random."
            )
        if len(self.not_refuted) == 2:
            return (
                f"{head} Neither label shift nor covariate shift is refuted, and scores cannot "
                "show which one it is. Correct the one that is known to have happened, or label "
                "some current rows drawn at random."
            )
        if self.not_refuted == ("label",):
            return (
                f"{head} Label shift is not refuted, and weights for covariate shift leave {left}: "
                "correct for label shift, if only the class proportions have changed."
            )
        return (
            f"{head} It does not look like {label}. Covariate shift is not refuted, and scores "
            "cannot refute it: correct for it only if rows with the same scores still have the "
            "same labels."
        )


@dataclass(frozen=True, eq=False)
class _Sides:
    """Labeled and unlabeled rows as the corrections see them: all rows have a score."""

    pool: FloatArray
    features: FloatArray
    labeled: BoolArray
    labels: IntArray
    rows: IntArray
    constants: ShiftConstants

    @classmethod
    def of(cls, data: ScoreSet, constants: ShiftConstants) -> _Sides:
        scored = np.isfinite(data.scores[:, :, 0]).any(axis=1)
        rows = np.flatnonzero(scored)
        labeled = data.labeled[rows]
        if min(labeled.sum(), (~labeled).sum()) < constants.least_rows:
            raise InputError(
                f"{int(labeled.sum())} labeled and {int((~labeled).sum())} unlabeled rows cannot "
                "show a shift",
                hint=f"at least {constants.least_rows} of each are needed",
            )
        pool = votes.average_scores(data.scores[rows])
        features = significance.make_score_features(pool, votes.fill_missing(data.scores[rows]))
        return cls(pool, features, labeled, data.labels[rows][labeled], rows, constants)


def find_shift(data: ScoreSet) -> Shift:
    """Test whether labeled and unlabeled rows, at least ten of each, have shifted."""
    limits, constants = check.Limits(), ShiftConstants()
    sides = _Sides.of(data, constants)
    rng = np.random.default_rng(1)
    tested = np.zeros(sides.rows.size, dtype=bool)
    clusters = None if data.clusters is None else data.clusters[sides.rows]
    tested[take_one_of_each(clusters, np.arange(sides.rows.size), np.random.default_rng(4))] = True
    if min((tested & sides.labeled).sum(), (tested & ~sides.labeled).sum()) < constants.least_rows:
        raise InputError(
            f"fewer than {constants.least_rows} clusters have labeled or unlabeled rows, which "
            "cannot show a shift",
            hint="label rows of more clusters",
        )
    first = rng.permutation(np.flatnonzero(tested & sides.labeled))[: limits.compared_labeled]
    second = rng.permutation(np.flatnonzero(tested & ~sides.labeled))[: limits.compared_classes]
    every = np.concatenate([first, second])
    both = every[: first.size + limits.compared_unlabeled]
    _, p_scores = significance.run_classifier_test(
        sides.features[both], sides.labeled[both], rng, limits.permutations
    )
    _, p_classes = significance.run_class_test(
        sides.pool[every], sides.labeled[every], rng, limits.permutations
    )
    n_classes = sides.pool.shape[1]
    shares = np.bincount(sides.labels, minlength=n_classes) / sides.labels.size
    unlabeled = _estimate_unlabeled_shares(sides)
    by_class, by_score = _compute_class_weights(sides, unlabeled), _compute_score_weights(sides)
    p_label = _test_explained(sides, by_class, tested)
    left = [float(label_draws.kish(each[:, None])[0]) for each in (by_class, by_score)]
    least = max(constants.least_labels, constants.least_share * sides.labels.size)
    not_refuted = [
        *(["label"] if p_label >= constants.refuted and left[0] >= least else []),
        *(["covariate"] if left[1] >= least else []),
    ]
    return Shift(
        p_scores=p_scores,
        p_classes=p_classes,
        classes=tuple(str(name) for name in data.classes),
        labeled_shares=tuple(shares.tolist()),
        unlabeled_shares=tuple(unlabeled.tolist()),
        p_label=p_label,
        effective_labels=float(sides.labels.size),
        effective_by_class=left[0],
        effective_by_score=left[1],
        found=min(p_scores, p_classes) <= limits.shift_level,
        not_refuted=tuple(not_refuted),
    )


def correct_shift(
    data: ScoreSet, kind: str = "label", *, constants: ShiftConstants | None = None
) -> ScoreSet:
    """Weight the labels so that they represent the unlabeled rows.

    Methods that can use a design of weights do. Evaluations have the warning D109: scores alone
    cannot show that the correction is right.

    Parameters
    ----------
    data : ScoreSet
        Labeled and unlabeled rows, at least ten of each.
    kind : {"label", "covariate"}
        What has changed: the frequencies of the classes, or the rows (default "label").
    constants : ShiftConstants, optional
        Numbers that change a result.

    Examples
    --------
    >>> import ssme
    >>> from ssme import correct_shift
    >>> from ssme.sample import sample_path
    >>> data = ssme.ScoreSet.read(sample_path(), label="label", id="id")
    >>> correct_shift(data, "covariate").design.kind
    'weights'
    """
    kind = accept(KIND, kind)
    if data.design.weights is not None:
        problem = f"labels that have weights already cannot be corrected for {kind} shift"
        raise InputError(problem, hint="leave out `design`, or the correction")
    constants = constants or ShiftConstants()
    sides = _Sides.of(data, constants)
    if kind == "label":
        found = _compute_class_weights(sides, _estimate_unlabeled_shares(sides))
    else:
        found = _compute_score_weights(sides)
    weights = np.ones(data.n_rows)
    weights[sides.rows[sides.labeled]] = np.maximum(found, constants.small)
    weighted = data.with_design(weights)
    return replace(weighted, design=replace(weighted.design, assumed=kind))


def _compute_class_weights(sides: _Sides, unlabeled: FloatArray) -> FloatArray:
    """Weight (n_l,) of each label: share of its class in the pool over its share of the labels."""
    counts = np.bincount(sides.labels, minlength=unlabeled.size).astype(np.float64)
    ratio = np.divide(unlabeled, counts, out=np.zeros_like(counts), where=counts > 0)
    return _bound_weights(ratio[sides.labels], sides.constants.largest_weight)


def _compute_score_weights(sides: _Sides) -> FloatArray:
    """Weight (n_l,) of each label: the odds of its scores among unlabeled rows."""
    from scipy.optimize import minimize

    x, member = sides.features, (~sides.labeled).astype(np.float64)
    ridge = sides.constants.ridge

    def compute_loss(theta: FloatArray) -> tuple[float, FloatArray]:
        z = x @ theta[1:] + theta[0]
        value = float(
            np.logaddexp(0.0, z).sum() - member @ z + 0.5 * ridge * (theta[1:] ** 2).sum()
        )
        gap = expit(z) - member
        return value, np.concatenate([[gap.sum()], x.T @ gap + ridge * theta[1:]])

    theta = minimize(compute_loss, np.zeros(x.shape[1] + 1), jac=True, method="L-BFGS-B").x
    z = x[sides.labeled] @ theta[1:]
    return _bound_weights(np.exp(np.clip(z - z.max(), -50.0, 0.0)), sides.constants.largest_weight)


def _bound_weights(weights: FloatArray, largest: float) -> FloatArray:
    """Weights of mean one, none above ``largest`` before they are made so again."""
    mean = weights.mean()
    if mean <= 0.0:
        return np.ones_like(weights)
    cut = np.minimum(weights / mean, largest)
    return cut / cut.mean()


def _estimate_unlabeled_shares(sides: _Sides) -> FloatArray:
    """Share (K,) of each class among the unlabeled rows, under label shift."""
    n_classes = sides.pool.shape[1]
    counts = np.bincount(sides.labels, minlength=n_classes).astype(np.float64)
    prior = (counts + 1.0 / n_classes) / (counts.sum() + 1.0)
    log_p = _recalibrate(sides)
    shares = prior.copy()
    for _ in range(sides.constants.steps):
        z = log_p + np.log(np.maximum(shares, sides.constants.small) / prior)
        posterior = np.exp(z - logsumexp(z, axis=1, keepdims=True))
        new = (posterior.sum(axis=0) + 1.0 / n_classes) / (len(posterior) + 1.0)
        done = np.abs(new - shares).max() < 1e-8
        shares = new
        if done:
            break
    return shares


def _recalibrate(sides: _Sides) -> FloatArray:
    """Log probabilities (n_u, K) of the unlabeled rows, as the labels would have them.

    log P(k | s) = a log pool_k + b_k + const, with a ridge towards a = 1 and b = 0.
    """
    from scipy.optimize import minimize

    log_pool = np.log(np.clip(sides.pool, 1e-6, 1.0))
    known, n_classes = log_pool[sides.labeled], log_pool.shape[1]
    one, strength = np.eye(n_classes)[sides.labels], sides.constants.ridge

    def compute_loss(theta: FloatArray) -> tuple[float, FloatArray]:
        z = theta[0] * known + theta[1:]
        log_p = z - logsumexp(z, axis=1, keepdims=True)
        gap = np.exp(log_p) - one
        penalty = 0.5 * ((theta[0] - 1.0) ** 2 + (theta[1:] ** 2).sum()) * strength
        gradient = np.concatenate([[(gap * known).sum()], gap.sum(axis=0)])
        ridge = strength * np.concatenate([[theta[0] - 1.0], theta[1:]])
        return float(penalty - (log_p * one).sum()), gradient + ridge

    start = np.concatenate([[1.0], np.zeros(n_classes)])
    theta = minimize(compute_loss, start, jac=True, method="L-BFGS-B").x
    z = theta[0] * log_pool[~sides.labeled] + theta[1:]
    return z - logsumexp(z, axis=1, keepdims=True)


def _test_explained(sides: _Sides, weights: FloatArray, tested: BoolArray) -> float:
    """p-value of equal mean features of labeled rows with ``weights`` and of unlabeled rows."""
    weights = weights[tested[sides.labeled]]
    x = sides.features[:, : max(1, min(6, int(weights.size / 10)))]
    labeled, unlabeled = x[tested & sides.labeled], x[tested & ~sides.labeled]
    share = weights / weights.sum()
    mean = share @ labeled
    off = (labeled - mean) * share[:, None]
    covariance = off.T @ off + np.atleast_2d(np.cov(unlabeled.T)) / len(unlabeled)
    gap = mean - unlabeled.mean(axis=0)
    size = x.shape[1]
    value = float(gap @ np.linalg.solve(covariance + 1e-9 * np.eye(size), gap))
    return float(chdtrc(size, value))
