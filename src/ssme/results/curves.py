"""Statistics behind the pictures: curves, densities, confusion, agreement; nothing is drawn here.

A curve is a metric with several values per classifier: the true positive rate at each false
positive rate, the precision at each recall, the share that is right at each confidence. So it is
estimated by the method itself, and its band comes from the same draws as every interval.
Densities, confusion and agreement are expectations under P(y | s). Where there are judges, the
labels correct every metric beyond that, and the diagonal of a confusion matrix is the recall of
each class as the method estimates it.

Rows are plain dicts, so that a table, a chart and JSON are made from the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.errors import InputError
from ssme.methods.base import number_rows
from ssme.metrics import calibration, confusion, get_metric, kinds
from ssme.metrics.base import Metric, MetricPlan
from ssme.results.groups import ALL

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

GRID: FloatArray = np.linspace(0.0, 1.0, 41)
"""Where curves are read off."""
THRESHOLDS = 256
"""Most thresholds a curve is computed at: quantiles of the model's scores."""

Models = Sequence[str] | None
"""The models wanted; None: all."""
CurvePlan = Callable[[FloatArray, int], MetricPlan]
"""Scores (n, K) of one classifier and its place -> mass (D, n, K) -> values (D, G)."""


def estimate_roc(
    evaluation: Evaluation, group: str = ALL, class_index: int = -1, models: Models = None
) -> list[dict[str, Any]]:
    """True positive rate over false positive rate, class ``class_index`` against the rest."""

    def read_off(positive: FloatArray, total: FloatArray) -> FloatArray:
        caught, false = _cumulate_shares(positive), _cumulate_shares(total - positive)
        return np.stack([np.interp(GRID, f, c) for f, c in zip(false, caught, strict=True)])

    names = ("false_positive_rate", "true_positive_rate")
    plan = _plan_thresholds(class_index, read_off)
    return _estimate_curve(evaluation, group, plan, names, GRID, models)


def estimate_precision_recall(
    evaluation: Evaluation, group: str = ALL, class_index: int = -1, models: Models = None
) -> list[dict[str, Any]]:
    """Precision at the first threshold that reaches a recall, one class against the rest."""

    def read_off(positive: FloatArray, total: FloatArray) -> FloatArray:
        recall = _cumulate_shares(positive)[:, 1:]
        flagged = np.cumsum(total, axis=1)
        precision = np.cumsum(positive, axis=1) / np.where(flagged > 0, flagged, np.nan)
        last = precision.shape[1] - 1
        at = [np.minimum(np.searchsorted(r, GRID - 1e-12), last) for r in recall]
        return np.stack([p[i] for p, i in zip(precision, at, strict=True)])

    plan = _plan_thresholds(class_index, read_off)
    return _estimate_curve(evaluation, group, plan, ("recall", "precision"), GRID, models)


AREAS = {
    ("false_positive_rate", "true_positive_rate"): "roc_auc",
    ("recall", "precision"): "average_precision",
}
"""The statistic that the area under a curve is, by the axes of the curve."""


def find_other_areas(
    evaluation: Evaluation, rows: Sequence[dict[str, Any]], *, slack: float = 0.02
) -> list[tuple[str, str, float]]:
    """(model, metric, area) of curves whose area is not in the interval that the table has for it.

    A method may correct an estimate of the area beyond what it knows of the single points of the
    curve, as `auto` does where its usual assumptions do not hold. ``slack`` allows for the few
    points at which ``rows`` of a curve are read off.
    """
    axes = next((names for names in AREAS if rows and set(names) <= set(rows[0])), None)
    if axes is None or evaluation.data.n_classes != 2:
        return []
    found = []
    for m, metric in enumerate(evaluation.metrics):
        if not isinstance(metric.kind, kinds.Ranking) or metric.kind.statistic != AREAS[axes]:
            continue
        low, high = evaluation.estimates[0][m].interval(evaluation.level)
        for j, model in enumerate(evaluation.data.models):
            x, y = (np.array([r[name] for r in rows if r["model"] == model]) for name in axes)
            area = float((np.diff(x) * (y[1:] + y[:-1]) / 2.0).sum()) if x.size else np.nan
            if area < low[j] - slack or area > high[j] + slack:
                found.append((model, metric.name, area))
    return found


def estimate_reliability(
    evaluation: Evaluation, group: str = ALL, models: Models = None, n_bins: int = 10
) -> list[dict[str, Any]]:
    """Share of rows that are right at each confidence: P(positive) of two classes, else the top."""

    def plan(scores: FloatArray, _: int) -> MetricPlan:
        confidence, target = _find_confidence(scores)
        which = calibration.find_even_bins(confidence, n_bins)
        sums = sum_by_code(which, n_bins)

        def compute_values(mass: FloatArray) -> FloatArray:
            right = np.take_along_axis(mass, target[None, :, None], axis=2)[:, :, 0]
            total = sums(mass.sum(axis=2))
            return sums(right) / np.where(total > 0, total, np.nan)

        return compute_values

    binned = {}
    for model, scores, mass in _expect_mass(evaluation, group, models):
        confidence, weights = _find_confidence(scores)[0], mass.sum(axis=1)
        codes = calibration.find_even_bins(confidence, n_bins)
        shares = np.bincount(codes, weights, n_bins) / weights.sum()
        means = np.bincount(codes, weights * confidence, n_bins) / weights.sum()
        binned[model] = shares, means / np.where(shares > 0.0, shares, np.nan)
    rows = []
    for row in _estimate_curve(
        evaluation, group, plan, ("bin", "right"), np.arange(n_bins), models
    ):
        share, mean = (float(each[row["bin"]]) for each in binned[row["model"]])
        if share > 0.0 and np.isfinite(row["right"]):
            rows.append({**row, "confidence": mean, "share": share})
    return rows


def estimate_densities(
    evaluation: Evaluation,
    group: str = ALL,
    class_index: int = -1,
    models: Models = None,
    n_bins: int = 40,
) -> list[dict[str, Any]]:
    """Share of rows per bin of P(class), split by the class the belief puts them in."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    rows = []
    for model, scores, mass in _expect_mass(evaluation, group, models):
        which = calibration.find_even_bins(scores[:, class_index], n_bins)
        for k, name in enumerate(evaluation.data.classes):
            share = np.bincount(which, mass[:, k], n_bins) / mass.sum()
            rows += [
                {
                    "model": model,
                    "class": str(name),
                    "from": float(edges[b]),
                    "to": float(edges[b + 1]),
                    "middle": float(edges[b : b + 2].mean()),
                    "share": float(share[b]),
                }
                for b in range(n_bins)
            ]
    return rows


def estimate_confusion(
    evaluation: Evaluation, group: str = ALL, models: Models = None
) -> list[dict[str, Any]]:
    """Expected share of rows by true and predicted class, and within the true class."""
    classes = [str(name) for name in evaluation.data.classes]
    recalls = None
    if evaluation.data.judges:  # as the table of metrics has them
        metrics = [get_metric(f"recall[{k}]") for k in range(len(classes))]
        (found,) = evaluation.belief.estimate(metrics, [_find_rows(evaluation, group)])
        recalls = np.stack([estimate.value for estimate in found])
    part, rows = _find_rows(evaluation, group), []
    mass = _weigh_posterior(evaluation)[part]
    threshold = _find_threshold(evaluation)
    tables = confusion.confusion_matrices(
        evaluation.data.scores[part], mass[None], threshold=threshold
    )[0]
    for model in models or evaluation.data.models:
        table = tables[evaluation.model_index(model)]
        total = table.sum()
        truly = table.sum(axis=1, keepdims=True)
        within = table / np.where(truly > 0, truly, np.nan)
        if recalls is not None:  # recalls on the diagonal, the rest in scale
            recall = recalls[:, evaluation.model_index(model)]
            off = within * (1.0 - np.eye(len(classes)))
            missed = off.sum(axis=1, keepdims=True)
            even = (1.0 - np.eye(len(classes))) / (len(classes) - 1.0)
            spread = np.where(missed > 0.0, off / np.where(missed > 0.0, missed, 1.0), even)
            moved = spread * (1.0 - recall[:, None]) + np.diag(recall)
            within = np.where(np.isfinite(recall)[:, None], moved, within)
            table = np.nan_to_num(truly * within)
        rows += [
            {
                "model": model,
                "true": classes[t],
                "predicted": classes[p],
                "share": float(table[t, p] / total),
                "within_true": float(within[t, p]),
            }
            for t in range(len(classes))
            for p in range(len(classes))
        ]
    return rows


def estimate_agreement(
    evaluation: Evaluation, group: str = ALL, models: Models = None
) -> list[dict[str, Any]]:
    """For each pair: share of rows with the same decision, and correlation of their errors."""
    names = list(models or evaluation.data.models)
    places = [evaluation.model_index(name) for name in names]
    part = _find_rows(evaluation, group)
    scores = evaluation.data.scores[part][:, places]
    mass = _weigh_posterior(evaluation)[part]
    weights = mass.sum(axis=1)
    present: BoolArray = np.isfinite(scores[:, :, 0])
    decided = confusion.predicted_classes(scores, _find_threshold(evaluation))
    wrong = decided[:, :, None] != np.arange(scores.shape[2])
    rows = []
    for a, first in enumerate(names):
        for b, second in enumerate(names):
            both = present[:, a] & present[:, b]
            if not weights[both].sum():
                continue
            same = np.asarray(decided[:, a] == decided[:, b]) & both
            rows.append(
                {
                    "model": first,
                    "other": second,
                    "agree": float(weights[same].sum() / weights[both].sum()),
                    "error_correlation": _correlate(wrong[both, a], wrong[both, b], mass[both]),
                }
            )
    return rows


def read_convergence(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The fit's objective at each step, where the method keeps it."""
    rows = [
        {"fit": name or "fit", "step": step, "objective": float(value)}
        for name, fit in evaluation.belief.facts.fits.items()
        if fit.objective_history is not None
        for step, value in enumerate(fit.objective_history)
    ]
    if not rows:
        problem = f"method {evaluation.method!r} keeps no objective history: it does not iterate"
        raise InputError(problem, hint="use a method that iterates, such as `ssme`")
    return rows


def _estimate_curve(
    evaluation: Evaluation,
    group: str,
    plan: CurvePlan,
    names: tuple[str, str],
    points: np.typing.NDArray[Any],
    models: Models,
) -> list[dict[str, Any]]:
    """Rows of a curve with its band, as the evaluation's own method estimates it."""
    _require_posterior(evaluation)
    every = evaluation.data.models
    wanted = [evaluation.model_index(name) for name in models or every]
    whole = plan_all_models(plan, wanted)
    metric = Metric(names[1], names[1], whole, kinds.Custom(), greater_is_better=None)
    _find_rows(evaluation, group)
    rows = evaluation.groups[evaluation.group_index(group)].rows
    estimate = evaluation.belief.estimate([metric], [rows])[0][0]
    size = len(points)
    shape = (len(every), size)
    low, high = (end.reshape(shape) for end in estimate.interval(evaluation.level))
    value = estimate.value.reshape(shape)
    return [
        {
            "model": every[j],
            names[0]: points[g].item(),
            names[1]: float(value[j, g]),
            "low": float(min(low[j, g], value[j, g])),
            "high": float(max(high[j, g], value[j, g])),
        }
        for j in wanted
        for g in range(size)
    ]


def plan_all_models(plan: CurvePlan, wanted: Sequence[int]) -> Callable[[FloatArray], MetricPlan]:
    """A metric's plan with G values per classifier, side by side; those not wanted are NaN.

    Scores of a single classifier come from methods that treat each by itself.
    """

    def plan_whole(scores: FloatArray) -> MetricPlan:
        n_models = scores.shape[1]
        chosen = range(n_models) if n_models == 1 else wanted
        present = {j: np.isfinite(scores[:, j, 0]) for j in chosen}
        plans = {j: plan(scores[rows, j], j) for j, rows in present.items()}

        def compute_values(mass: FloatArray) -> FloatArray:
            found = {j: plans[j](mass[:, rows]) for j, rows in present.items()}
            size = next(iter(found.values())).shape
            missing = np.full(size, np.nan)
            return np.concatenate([found.get(j, missing) for j in range(n_models)], axis=1)

        return compute_values

    return plan_whole


def _plan_thresholds(
    class_index: int, read_off: Callable[[FloatArray, FloatArray], FloatArray]
) -> CurvePlan:
    """A curve's plan; ``read_off`` makes it from positives and rows (D, B) between thresholds."""

    def plan(scores: FloatArray, _: int) -> MetricPlan:
        k = class_index % scores.shape[1]
        score = scores[:, k]
        cuts = np.unique(score)
        if len(cuts) > THRESHOLDS:
            cuts = np.unique(np.quantile(score, np.linspace(0.0, 1.0, THRESHOLDS)))
        sums = sum_by_code(len(cuts) - np.searchsorted(cuts, score, side="right"), len(cuts) + 1)
        return lambda mass: read_off(sums(mass[:, :, k]), sums(mass.sum(axis=2)))

    return plan


def sum_by_code(codes: IntArray, size: int) -> Callable[[FloatArray], FloatArray]:
    """values (D, n, ...) -> sums (D, size, ...) over the rows with the same one of ``codes``."""
    order = np.argsort(codes, kind="stable")
    filled, starts = np.unique(codes[order], return_index=True)

    def add_up(values: FloatArray) -> FloatArray:
        out = np.zeros((len(values), size, *values.shape[2:]))
        if len(order):
            out[:, filled] = np.add.reduceat(values[:, order], starts, axis=1)
        return out

    return add_up


def _cumulate_shares(counts: FloatArray) -> FloatArray:
    """Cumulative share (D, B + 1), from 0 to 1; NaN where there is nothing to share."""
    total = counts.sum(axis=1, keepdims=True)
    grown = np.cumsum(counts, axis=1) / np.where(total > 0, total, np.nan)
    return np.concatenate([np.zeros((len(grown), 1)), grown], axis=1)


def _find_confidence(scores: FloatArray) -> tuple[FloatArray, IntArray]:
    """P(positive) and the positive class for two classes; else the top score and its class."""
    if scores.shape[1] == 2:
        return scores[:, 1], np.ones(len(scores), dtype=np.int64)
    return scores.max(axis=1), scores.argmax(axis=1)


def _find_rows(evaluation: Evaluation, group: str) -> IntArray:
    rows = number_rows(
        evaluation.groups[evaluation.group_index(group)].rows, evaluation.data.n_rows
    )
    if not rows.size:
        problem = f"group {group!r} has no rows" + (" in the sample" if evaluation.streamed else "")
        raise InputError(problem, hint="choose a group with rows")
    return rows


def _require_posterior(evaluation: Evaluation) -> FloatArray:
    posterior = evaluation.posterior
    if posterior is None:
        raise InputError(
            f"method {evaluation.method!r} estimates metrics directly and says nothing about rows",
            hint="use a method that gives a posterior (`ssme methods` says which do)",
        )
    return posterior


def _weigh_posterior(evaluation: Evaluation) -> FloatArray:
    """Expected mass (n, K): P(y | s), rows counting by their weight."""
    posterior, weights = _require_posterior(evaluation), evaluation.data.weights
    return posterior if weights is None else posterior * weights[:, None]


def _find_threshold(evaluation: Evaluation) -> float:
    """The threshold that the metrics of decisions have."""
    threshold = evaluation.settings.get("threshold")
    return kinds.DEFAULT_THRESHOLD if threshold is None else float(threshold)


def _expect_mass(
    evaluation: Evaluation, group: str, models: Models
) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Per model: its scores (r, K) and the expected mass (r, K) on the rows it has scores for."""
    part = _find_rows(evaluation, group)
    mass = _weigh_posterior(evaluation)[part]
    for name in models or evaluation.data.models:
        scores = evaluation.data.scores[part, evaluation.model_index(name)]
        present = np.isfinite(scores[:, 0])
        yield name, scores[present], mass[present]


def _correlate(a: BoolArray, b: BoolArray, mass: FloatArray) -> float:
    total = mass.sum()
    mean_a, mean_b = (mass * a).sum() / total, (mass * b).sum() / total
    both = (mass * (a & b)).sum() / total
    scale = np.sqrt(mean_a * (1.0 - mean_a) * mean_b * (1.0 - mean_b))
    return float((both - mean_a * mean_b) / scale) if scale > 1e-12 else float("nan")
