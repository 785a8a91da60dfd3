"""The counters that a set of metrics needs, and their sums per group of rows.

A `Tally` is fixed before the pass: which counters, and the bins of equal-mass calibration errors.
Its `Sums` are plain arrays by name that add up (`added`); they travel between processes and into
checkpoints as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.errors import UnsupportedError
from ssme.metrics import Metric, metric_names
from ssme.stream.counters import (
    Calibration,
    Counter,
    Decisions,
    FineCalibration,
    FineDecisions,
    MeanLoss,
    Ranking,
    Reader,
    Values,
)

__all__ = ["Sums", "Tally", "added", "plan_tally"]

FloatArray = NDArray[np.float64]
Sums = dict[str, FloatArray]
"""Counter -> its array of sums."""

RANKING_METRICS = ("roc_auc", "roc_auc_ovr_weighted", "average_precision")
NOT_ADDITIVE = ("roc_auc_ovo",)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counters by name, and for each metric the counter that holds it and the one that reads it."""

    counters: Mapping[str, Counter]
    readers: Mapping[str, tuple[str, Reader]]
    metrics: tuple[Metric, ...]

    def count(self, scores: FloatArray, mass: FloatArray) -> Sums:
        """Sums over the rows of ``scores`` (n, M, K) with ``mass`` (n, K)."""
        return {name: counter.count(scores, mass) for name, counter in self.counters.items()}

    def values(self, sums: Sums) -> list[Values]:
        """Value and error bound per classifier of each metric."""
        out = []
        for metric in self.metrics:
            name, reader = self.readers[metric.name]
            out.append(reader.values(metric, sums[name]))
        return out


def added(one: Sums, other: Sums) -> Sums:
    """Sums over the rows of both."""
    return {name: one[name] + other[name] for name in one} if one else other


def plan_tally(metrics: Sequence[Metric], sample: FloatArray) -> Tally:
    """What ``metrics`` need; equal-mass bins are those of ``sample`` (n, M, K)."""
    n_classes = sample.shape[2]
    classes = (1,) if n_classes == 2 else tuple(range(n_classes))
    schemes = {m.name: _options(m)["scheme"].settled(n_classes) for m in metrics if _is_binned(m)}
    fine = {
        name
        for name, scheme in schemes.items()
        if scheme.binning == "quantile" and scheme.target != "top_label"
    }
    ranked = bool(fine) or any(metric.name in RANKING_METRICS for metric in metrics)
    ranking = Ranking(classes, scored=bool(fine))
    counters: dict[str, Counter] = {}
    readers: dict[str, tuple[str, Reader]] = {}
    for metric in metrics:
        name: str
        reader: Reader
        if metric.name in fine:
            scheme = schemes[metric.name]
            counters[name := "ranking"] = ranking
            reader = FineCalibration.from_sample(scheme, classes, sample)
        elif metric.name in schemes:
            scheme = schemes[metric.name]
            name = f"{scheme.target} scores in {scheme.n_bins} {scheme.binning} bins"
            edges_given = scheme.binning == "quantile"
            counters[name] = reader = (
                Calibration.of_top_score(scheme, sample) if edges_given else Calibration(scheme)
            )
        elif metric.name in RANKING_METRICS:
            counters[name := "ranking"] = reader = ranking
        elif _options(metric).get("threshold") == 0.5 and n_classes == 2 and ranked:
            counters[name := "ranking"] = ranking
            reader = FineDecisions()
        elif "threshold" in _options(metric):
            decisions = Decisions(_options(metric)["threshold"])
            counters[name := f"decisions at {decisions.threshold:g}"] = reader = decisions
        elif metric.name in metric_names(n_classes) and metric.name not in NOT_ADDITIVE:
            counters[name := metric.name] = reader = MeanLoss(metric)
        else:
            raise _not_additive(metric, n_classes)
        readers[metric.name] = name, reader
    return Tally(counters, readers, tuple(metrics))


def _options(metric: Metric) -> dict[str, Any]:
    """The options bound into a metric of the registry: a calibration scheme, a threshold."""
    return dict(metric.plan.keywords) if isinstance(metric.plan, partial) else {}


def _is_binned(metric: Metric) -> bool:
    return "scheme" in _options(metric)


def _not_additive(metric: Metric, n_classes: int) -> UnsupportedError:
    return UnsupportedError(
        f"metric `{metric.name}` cannot be added up over the parts of a stream",
        allowed=", ".join(n for n in metric_names(n_classes) if n not in NOT_ADDITIVE),
        fix="ask for one of these, or evaluate a sample that fits in memory",
    )
