"""How far answers agree with the truth beyond chance, how far grades are off, and who wins.

With the confusion table C[k, l] of true and predicted classes as shares, r_k and c_l its margins,

    Cohen's kappa       (sum_k C_kk - sum_k r_k c_k) / (1 - sum_k r_k c_k)
    quadratic kappa     1 - sum C_kl (k - l)^2 / sum r_k c_l (k - l)^2
    grade error         sum C_kl |k - l| / (K - 1)
    win rate            sum_k r_k k / (K - 1)

Quadratic kappa and grade error take the classes as ordered grades. The win rate is a share of the
true classes, of the rows that a judge answered: where the class says which of two systems is
better, it is how often the second one wins, a tie between them counting half.

Cohen, Educational and Psychological Measurement 20, 1960, and Psychological Bulletin 70, 1968.
"""

from __future__ import annotations

import numpy as np

from ssme.metrics.base import FloatArray, Metric, MetricPlan
from ssme.metrics.decisions import decision_metric
from ssme.metrics.kinds import Loss, Tables
from ssme.metrics.mass import compute_ratio, linear_plan
from ssme.metrics.per_class import compute_share

__all__ = ["AGREEMENT_METRICS"]


def _measure_distances(n_classes: int) -> FloatArray:
    """|k - l| (K, K)."""
    place = np.arange(n_classes, dtype=np.float64)
    out: FloatArray = np.abs(place[:, None] - place)
    return out


def _kappa(tables: Tables) -> FloatArray:
    total = tables.occurring.sum(axis=2)
    agreed = compute_share(tables.hits.sum(axis=2), total)
    chance = compute_share((tables.occurring * tables.predicted).sum(axis=2), total**2)
    return np.clip(compute_ratio(agreed - chance, 1.0 - chance), -1.0, 1.0)


def _quadratic_kappa(tables: Tables) -> FloatArray:
    squares = _measure_distances(tables.occurring.shape[2]) ** 2
    total = tables.occurring.sum(axis=2)
    expected = np.einsum("dmk,kl,dml->dm", tables.occurring, squares, tables.predicted)
    return np.clip(1.0 - compute_ratio(tables.total_of(squares) * total, expected), -1.0, 1.0)


def _grade_error(tables: Tables) -> FloatArray:
    n_classes = tables.occurring.shape[2]
    off = tables.total_of(_measure_distances(n_classes) / (n_classes - 1))
    return compute_share(off, tables.occurring.sum(axis=2))


def _plan_win_rate(scores: FloatArray) -> MetricPlan:
    place = np.linspace(0.0, 1.0, scores.shape[2])
    return linear_plan(np.where(np.isnan(scores), np.nan, place))


AGREEMENT_METRICS: tuple[Metric, ...] = (
    decision_metric(
        _kappa,
        name="cohen_kappa",
        title="Cohen's kappa",
        definition="agreement of the predicted with the true class beyond chance",
        low=-1.0,
    ),
    decision_metric(
        _quadratic_kappa,
        name="quadratic_kappa",
        title="Quadratic kappa",
        definition="the same for ordered classes: squared distances compared with those by chance",
        low=-1.0,
        of_order=True,
    ),
    decision_metric(
        _grade_error,
        name="grade_error",
        title="Grade error",
        definition="mean distance of the predicted from the true class on the ordered scale, as a "
        "share of the scale",
        greater_is_better=False,
        of_order=True,
    ),
    Metric(
        name="win_rate",
        title="Win rate",
        plan=_plan_win_rate,
        kind=Loss(),
        greater_is_better=None,
        definition="share of rows whose true class is the last of two; a middle class, a tie, "
        "counts half",
        of_positive=True,
        of_order=True,
    ),
)
