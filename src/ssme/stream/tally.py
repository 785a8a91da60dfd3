"""The counters that a set of metrics needs, and their sums per group of rows.

A `Tally` is fixed before the pass: which counters, and the bins of equal-mass calibration errors.
Its `Sums` are plain arrays by name that add up (`add_sums`); they travel between processes and into
checkpoints as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ssme.errors import UnsupportedError
from ssme.metrics import Metric, get_metric, kinds, metric_names
from ssme.stream.counters import (
    CalibrationCounter,
    Counter,
    CountReader,
    Decisions,
    FineCalibration,
    FineDecisions,
    MeanLoss,
    RankingCounter,
    Values,
)

__all__ = ["Sums", "Tally", "add_sums", "adds_up", "plan_tally"]

FloatArray = NDArray[np.float64]
Sums = dict[str, FloatArray]
"""Counter -> its array of sums."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counters by name, and for each metric the counter that holds it and what reads it there."""

    counters: Mapping[str, Counter]
    readers: tuple[tuple[str, CountReader], ...]
    metrics: tuple[Metric, ...]

    def count(self, scores: FloatArray, mass: FloatArray) -> Sums:
        """Sums over the rows of ``scores`` (n, M, K) with ``mass`` (n, K)."""
        return {name: counter.count(scores, mass) for name, counter in self.counters.items()}

    def compute_values(self, sums: Sums) -> list[Values]:
        """Value and error bound per classifier of each metric."""
        return [
            reader.compute_values(metric, sums[name])
            for metric, (name, reader) in zip(self.metrics, self.readers, strict=True)
        ]


def add_sums(one: Sums, other: Sums) -> Sums:
    """Sums over the rows of both."""
    return {name: one[name] + other[name] for name in one} if one else other


def plan_tally(metrics: Sequence[Metric], sample: FloatArray) -> Tally:
    """What ``metrics`` need; equal-mass bins are those of ``sample`` (n, M, K)."""
    n_classes = sample.shape[2]
    classes = (1,) if n_classes == 2 else tuple(range(n_classes))
    schemes = [_settle_scheme(metric, n_classes) for metric in metrics]
    scored = any(_is_fine(scheme) for scheme in schemes)
    ranked = scored or any(isinstance(metric.kind, kinds.Ranking) for metric in metrics)
    ranking = RankingCounter(classes, scored)
    counters: dict[str, Counter] = {}
    readers: list[tuple[str, CountReader]] = []
    for number, (metric, scheme) in enumerate(zip(metrics, schemes, strict=True)):
        kind, name = metric.kind, "ranking"
        counter: Counter = ranking
        reader: CountReader = ranking
        if scheme is not None and _is_fine(scheme):
            reader = FineCalibration.from_sample(scheme, classes, sample)
        elif scheme is not None:
            name = f"{scheme.target} scores in {scheme.n_bins} {scheme.binning} bins"
            given = scheme.binning == "quantile"
            calibration = (
                CalibrationCounter.of_top_score(scheme, sample)
                if given
                else CalibrationCounter(scheme)
            )
            counter = reader = calibration
        elif isinstance(kind, kinds.Decision):
            usual = kind.threshold == kinds.DEFAULT_THRESHOLD
            if usual and n_classes == 2 and ranked:
                reader = FineDecisions()
            else:
                name = f"decisions at {kind.threshold!r}"
                counter = reader = Decisions(kind.threshold)
        elif isinstance(kind, kinds.Loss):
            name = f"mean of metric {number}"
            counter = reader = MeanLoss(metric)
        elif not _is_added_by_class(kind, n_classes):
            raise _tell_not_additive(metric, n_classes)
        counters[name] = counter
        readers.append((name, reader))
    return Tally(counters, tuple(readers), tuple(metrics))


def _settle_scheme(metric: Metric, n_classes: int) -> kinds.SettledCalibration | None:
    kind = metric.kind
    return kind.settle(n_classes) if isinstance(kind, kinds.Calibration) else None


def _is_fine(scheme: kinds.SettledCalibration | None) -> bool:
    """Whether the fine bins of a `Ranking` hold the error: equal-mass bins of class scores."""
    return scheme is not None and scheme.binning == "quantile" and scheme.target in BY_CLASS_SCORE


BY_CLASS_SCORE = ("positive", "classwise")
"""Targets that are the score of a class, as a `Ranking` counts them."""


def _is_added_by_class(kind: kinds.Kind, n_classes: int) -> bool:
    """Whether a `Ranking` holds the metric: each class against the rest, never against another."""
    return isinstance(kind, kinds.Ranking) and kind.settle(n_classes).average != "one_vs_one"


def adds_up(metric: Metric, n_classes: int) -> bool:
    """Whether sums over the parts of a stream determine ``metric``."""
    kind = metric.kind
    return isinstance(kind, kinds.Decision | kinds.Loss | kinds.Calibration) or _is_added_by_class(
        kind, n_classes
    )


def _tell_not_additive(metric: Metric, n_classes: int) -> UnsupportedError:
    allowed = [name for name in metric_names(n_classes) if adds_up(get_metric(name), n_classes)]
    return UnsupportedError(
        f"metric `{metric.name}` cannot be added up over the parts of a stream",
        allowed=", ".join(allowed),
        fix="ask for one of these, or evaluate a sample that fits in memory",
    )
