"""Statistics behind the pictures: curves, densities, confusion, agreement; nothing is drawn here.

A curve is computed for the expected labeling P(y | s) (the line) and for label draws (the band):
the belief's own draws where it keeps them, else independent draws from P(y | s). Rows are plain
dicts, so that a table, a chart and JSON are made from the same numbers.

ROC: (FPR, TPR) as the threshold falls; precision-recall: precision at the first threshold that
reaches a recall; reliability: share of rows that are right among those with similar confidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.errors import InputError
from ssme.methods.posterior import draw_labels
from ssme.metrics.base import FloatArray
from ssme.results.evaluation import ALL, Evaluation

__all__ = [
    "Labelings",
    "agreement",
    "class_densities",
    "confusion",
    "convergence",
    "labelings",
    "precision_recall",
    "reliability",
    "roc",
]

MAX_DRAWS = 200
DRAW_CELLS = 20_000_000
"""Draws x rows held for the bands; large sets get fewer draws, never fewer rows."""
THRESHOLDS = 256
"""Thresholds a curve is computed at: quantiles of the model's scores."""
GRID = np.linspace(0.0, 1.0, 51)
"""Where curves are read off."""


@dataclass(frozen=True, eq=False)
class Labelings:
    """Scores (n, M, K), the expected labeling as mass (n, K) and draws (D, n) of class indices."""

    scores: FloatArray
    mass: FloatArray
    weights: FloatArray
    draws: NDArray[np.int64]


def labelings(evaluation: Evaluation, group: str = ALL) -> Labelings:
    """What the belief says about the labels of ``group``'s rows."""
    posterior = evaluation.posterior
    if posterior is None:
        raise InputError(
            f"method {evaluation.method!r} estimates metrics directly and says nothing about rows",
            fix="use a method that gives a posterior (`ssme methods` says which do)",
        )
    data = evaluation.data
    mask = evaluation.groups[evaluation.group_index(group)].rows
    rows = slice(None) if mask is None else np.flatnonzero(mask)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    n_draws = int(np.clip(DRAW_CELLS // max(data.n_rows, 1), 20, MAX_DRAWS))
    draws = _draws(evaluation, posterior, n_draws)[:, rows]
    weights = weights[rows]
    return Labelings(data.scores[rows], posterior[rows] * weights[:, None], weights, draws)


def _draws(evaluation: Evaluation, posterior: FloatArray, n_draws: int) -> NDArray[np.int64]:
    batches = getattr(evaluation.belief, "label_batches", None)
    if batches is None:
        return draw_labels(posterior, n_draws, np.random.default_rng(0))
    found: list[NDArray[np.int64]] = []
    for batch in batches():
        found.append(batch)
        if sum(map(len, found)) >= n_draws:
            break
    return np.concatenate(found)[:n_draws]


def roc(evaluation: Evaluation, group: str = ALL, class_index: int = -1) -> list[dict[str, Any]]:
    """True positive rate over false positive rate, class ``class_index`` against the rest."""
    rows = []
    for model, positive, total in _counts(evaluation, group, class_index):
        caught = _share(positive)
        false = _share(total - positive)
        rates = np.stack([np.interp(GRID, f, c) for f, c in zip(false, caught, strict=True)])
        rows += _curve(model, "false_positive_rate", "true_positive_rate", rates, evaluation.level)
    return rows


def precision_recall(
    evaluation: Evaluation, group: str = ALL, class_index: int = -1
) -> list[dict[str, Any]]:
    """Precision over recall, class ``class_index`` against the rest."""
    rows = []
    for model, positive, total in _counts(evaluation, group, class_index):
        recall = _share(positive)[:, 1:]
        flagged = np.maximum(np.cumsum(total), 1e-300)
        precision = np.cumsum(positive, axis=1) / flagged
        last = precision.shape[1] - 1
        at = [np.minimum(np.searchsorted(r, GRID - 1e-12), last) for r in recall]
        values = np.stack([p[i] for p, i in zip(precision, at, strict=True)])
        rows += _curve(model, "recall", "precision", values, evaluation.level)
    return rows


def reliability(evaluation: Evaluation, group: str = ALL, n_bins: int = 10) -> list[dict[str, Any]]:
    """Share of rows that are right at each confidence: P(positive) of two classes, else the top."""
    seen = labelings(evaluation, group)
    tail = (1.0 - evaluation.level) / 2.0
    rows = []
    for j, model in enumerate(evaluation.data.models):
        scores, mass, weights, draws = _present(seen, j)
        if scores.shape[1] == 2:
            confidence, target = scores[:, 1], np.ones(len(scores), dtype=np.int64)
        else:
            confidence, target = scores.max(axis=1), scores.argmax(axis=1)
        which = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
        right = np.concatenate(
            [mass[np.arange(len(target)), target][None], (draws == target) * weights]
        )
        total = np.bincount(which, weights, n_bins)
        hits = np.stack([np.bincount(which, r, n_bins) for r in right])
        mean = np.bincount(which, weights * confidence, n_bins)
        for b in np.flatnonzero(total > 0):
            share = hits[:, b] / total[b]
            low, high = np.quantile(share[1:], [tail, 1.0 - tail])
            rows.append(
                {
                    "model": model,
                    "confidence": float(mean[b] / total[b]),
                    "right": float(share[0]),
                    "low": float(low),
                    "high": float(high),
                    "share": float(total[b] / weights.sum()),
                }
            )
    return rows


def class_densities(
    evaluation: Evaluation, group: str = ALL, class_index: int = -1, n_bins: int = 40
) -> list[dict[str, Any]]:
    """Share of rows per bin of P(class), split by the class the belief puts them in."""
    seen = labelings(evaluation, group)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    rows = []
    for j, model in enumerate(evaluation.data.models):
        scores, mass, weights, _ = _present(seen, j)
        which = np.minimum((scores[:, class_index] * n_bins).astype(np.int64), n_bins - 1)
        for k, name in enumerate(evaluation.data.classes):
            share = np.bincount(which, mass[:, k], n_bins) / weights.sum()
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


def confusion(evaluation: Evaluation, group: str = ALL) -> list[dict[str, Any]]:
    """Expected share of rows by true and predicted class, and within the true class."""
    seen = labelings(evaluation, group)
    classes = [str(name) for name in evaluation.data.classes]
    rows = []
    for j, model in enumerate(evaluation.data.models):
        scores, mass, weights, _ = _present(seen, j)
        said = scores.argmax(axis=1)
        table = np.stack([mass[said == k].sum(axis=0) for k in range(len(classes))], axis=1)
        truly = np.maximum(table.sum(axis=1, keepdims=True), 1e-300)
        rows += [
            {
                "model": model,
                "true": classes[t],
                "predicted": classes[p],
                "share": float(table[t, p] / weights.sum()),
                "within_true": float(table[t, p] / truly[t, 0]),
            }
            for t in range(len(classes))
            for p in range(len(classes))
        ]
    return rows


def agreement(evaluation: Evaluation, group: str = ALL) -> list[dict[str, Any]]:
    """For each pair: share of rows with the same decision, and correlation of their errors."""
    seen = labelings(evaluation, group)
    models = evaluation.data.models
    present: NDArray[np.bool_] = np.isfinite(seen.scores[:, :, 0])
    said = np.where(present, np.nan_to_num(seen.scores).argmax(axis=2), -1)
    rows = []
    for a, first in enumerate(models):
        for b, second in enumerate(models):
            both = present[:, a] & present[:, b]
            mass, weights = seen.mass[both], seen.weights[both]
            if weights.sum() == 0.0:
                continue
            classes = np.arange(mass.shape[1])
            wrong_a = np.asarray(said[both, a, None] != classes)
            wrong_b = np.asarray(said[both, b, None] != classes)
            same = np.asarray(said[both, a] == said[both, b])
            rows.append(
                {
                    "model": first,
                    "other": second,
                    "agree": float(weights[same].sum() / weights.sum()),
                    "error_correlation": _correlation(wrong_a, wrong_b, mass),
                }
            )
    return rows


def convergence(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The fit's objective at each step, where the method keeps it."""
    histories = dict(_histories(evaluation.belief.notes, ""))
    if not histories:
        raise InputError(
            f"method {evaluation.method!r} keeps no objective history",
            fix="it fits nothing step by step; there is no convergence to look at",
        )
    return [
        {"fit": name or "fit", "step": step, "objective": float(value)}
        for name, values in histories.items()
        for step, value in enumerate(values)
    ]


def _histories(notes: Any, path: str) -> Iterator[tuple[str, Sequence[float]]]:
    for key, value in notes.items():
        if key == "objective_history":
            yield path, value
        elif hasattr(value, "items"):
            yield from _histories(value, str(key))


def _present(
    seen: Labelings, j: int
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.int64]]:
    """Model j's scores (n', K), mass, weights and draws on the rows it has scores for."""
    rows = np.isfinite(seen.scores[:, j, 0])
    return seen.scores[rows, j], seen.mass[rows], seen.weights[rows], seen.draws[:, rows]


def _counts(
    evaluation: Evaluation, group: str, class_index: int
) -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Per model: positives (1 + D, B) and rows (B,) between falling thresholds.

    Row 0 holds the expected labeling, the others the draws.
    """
    seen = labelings(evaluation, group)
    k = class_index % evaluation.data.n_classes
    for j, model in enumerate(evaluation.data.models):
        scores, mass, weights, draws = _present(seen, j)
        score = scores[:, k]
        cuts = np.unique(np.quantile(score, np.linspace(0.0, 1.0, THRESHOLDS)))
        which = len(cuts) - np.searchsorted(cuts, score, side="right")
        size = len(cuts) + 1
        hits = [mass[:, k], *((draw == k) * weights for draw in draws)]
        positive = np.stack([np.bincount(which, hit, size) for hit in hits])
        total: FloatArray = np.bincount(which, weights, size).astype(np.float64)
        yield model, positive.astype(np.float64), total


def _share(counts: FloatArray) -> FloatArray:
    """Cumulative share (D, B + 1), from 0 to 1."""
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    grown = np.cumsum(counts, axis=1) / total
    return np.concatenate([np.zeros((len(grown), 1)), grown], axis=1)


def _curve(model: str, x: str, y: str, values: FloatArray, level: float) -> list[dict[str, Any]]:
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(values[1:], [tail, 1.0 - tail], axis=0)
    return [
        {"model": model, x: float(g), y: float(v), "low": float(lo), "high": float(hi)}
        for g, v, lo, hi in zip(GRID, values[0], low, high, strict=True)
    ]


def _correlation(a: NDArray[np.bool_], b: NDArray[np.bool_], mass: FloatArray) -> float:
    total = mass.sum()
    mean_a, mean_b = (mass * a).sum() / total, (mass * b).sum() / total
    both = (mass * (a & b)).sum() / total
    scale = np.sqrt(mean_a * (1.0 - mean_a) * mean_b * (1.0 - mean_b))
    return float((both - mean_a * mean_b) / scale) if scale > 1e-12 else float("nan")
