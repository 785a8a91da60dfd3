"""The counters that a set of metrics needs, and their sums per group of rows.

A `Tally` is fixed before the pass: which counters, and the bins of equal-mass calibration errors.
Its `Sums` are plain arrays by name that add up (`add_sums`); they travel between processes and into
checkpoints as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.errors import UnsupportedError
from ssme.metrics import Metric, get_metric, kinds, metric_names, predicted_classes
from ssme.metrics.calibration import compute_gaps_norm, find_even_bins, take_scores_and_events
from ssme.metrics.confusion import FullTables, compute_ratio
from ssme.metrics.kinds import SettledCalibration

# -------------------------------------------------------------------------------------------------
# A fixed grid over [0, 1], fine at both ends, that a score is put on by looking at its bits.
#
# The bin of a score p is read off the bits of its odds p / (1 - p): their exponent and the first 7
# bits of their mantissa. So a bin spans less than 0.8% of the odds, from 2^-32 to 2^32; scores
# beyond share the first or the last bin. Rounding keeps order: the bin number never falls as p
# grows, and `MIDDLE`, where the odds are one, is the first bin of scores that are 1/2 or more.


MANTISSA_BITS = 7
OCTAVES = 32
"""Doublings of the odds on either side of one."""
MIDDLE = OCTAVES << MANTISSA_BITS
N_BINS = 2 * MIDDLE

_DROPPED_BITS = 52 - MANTISSA_BITS
_LEAST, _MOST = 2.0**-OCTAVES, float(np.nextafter(2.0**OCTAVES, 0.0))
_FIRST = int(np.array(_LEAST).view(np.int64)) >> _DROPPED_BITS


def find_bins(score: FloatArray) -> IntArray:
    """Bin (n,) of each score in [0, 1]; never smaller for a larger score."""
    odds = np.subtract(1.0, score)
    with np.errstate(divide="ignore"):
        np.divide(score, odds, out=odds)
    np.clip(odds, _LEAST, _MOST, out=odds)
    bins = odds.view(np.int64)
    bins >>= _DROPPED_BITS
    bins -= _FIRST
    return bins


# -------------------------------------------------------------------------------------------------
# What one pass over the rows has to remember: arrays of sums that add up.
#
# Each counter turns rows (scores, and mass w_i P(y_i = k | s_i)) into an array; the arrays of
# two sets of rows add to the array of their union. So parts of a file can be counted anywhere, in
# any order, and again after a crash.
#
#     Decisions     mass of true class k among the rows predicted l               exact MeanLoss
#     sum of a scoring rule, sum of weights                         exact Calibration   weight,
#     event mass and weighted score per fixed bin           exact for those bins Ranking
#     mass on and off a class per fine score bin                    bounded error
#
# From its array a counter gives each metric's value per classifier and a bound on its error: the
# metric's own definition is applied to one pseudo-row a cell. Equal-mass calibration bins are those
# of the sample the method was fitted on, rounded to the fine grid.
#
# Ranking loses the order inside a bin. With P_b and N_b the mass of bin b on and off the class,
# ties counting one half, ROC AUC is off by at most  sum_b P_b N_b / (2 P N).  For average
# precision every threshold inside a bin has between TP and TP + P_b hits and between FP and FP +
# N_b false alarms, TP and FP being those above the bin; that bounds the precision that the mass
# P_b meets.


Values = tuple[FloatArray, FloatArray]
"""Value and error bound per classifier, (M,) each."""


class CountReader(Protocol):
    """What metrics the sums of a counter determine."""

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        """``metric`` of all rows counted into ``sums``, and the bound on its error."""


class Counter(CountReader, Protocol):
    """Sums over rows; reads its own."""

    def count(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        """Sums over the rows of ``scores`` (n, M, K) with ``mass`` (n, K)."""


@dataclass(frozen=True)
class Decisions:
    """Confusion matrices (M, predicted, true) at one threshold."""

    threshold: float

    def count(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        n_models, n_classes = scores.shape[1:]
        predicted = predicted_classes(scores, self.threshold) + 1  # 0: no score
        sums = np.empty((n_models, n_classes, n_classes))
        for m in range(n_models):
            for k in range(n_classes):
                sums[m, :, k] = np.bincount(predicted[:, m], mass[:, k], n_classes + 1)[1:]
        return sums

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        assert isinstance(metric.kind, kinds.Decision)
        value = metric.kind.statistic(FullTables(sums.transpose(0, 2, 1)[None]))[0]
        return value, np.zeros_like(value)


@dataclass(frozen=True)
class FineDecisions:
    """Decisions at one half between two classes, read off the fine bins of a `Ranking`."""

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        sides = np.add.reduceat(sums[:2, :, 0, :-1], [0, MIDDLE], axis=2)  # (2, M, predicted)
        weight, event = sides
        return Decisions(0.5).compute_values(metric, np.stack([weight - event, event], axis=2))


@dataclass(frozen=True)
class MeanLoss:
    """Sum of w times a scoring rule, and sum of w: (2, M)."""

    rule: Metric

    def count(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        present = ~np.isnan(scores).any(axis=2)
        weight = mass.sum(axis=1) @ present
        mean = self.rule(scores, mass[None])[0]
        return np.stack([np.where(weight > 0, mean * weight, 0.0), weight])

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        value = compute_ratio(sums[0], sums[1])
        return value, np.zeros_like(value)


@dataclass(frozen=True, eq=False)
class CalibrationCounter:
    """Weight, event mass and weighted score (3, M, columns, bins) in fixed bins.

    ``scheme`` is a settled calibration error: its target, bins and norm; ``edges``
    (M, classes or 1, bins - 1) are inner edges of right-closed bins of the top score, of the rows
    of one predicted class each where these are counted separately; None for bins of equal width.
    """

    scheme: SettledCalibration
    edges: FloatArray | None = None

    @classmethod
    def of_top_score(cls, scheme: SettledCalibration, sample: FloatArray) -> CalibrationCounter:
        """Bins at the quantiles of the top scores of ``sample`` (n, M, K)."""
        at = np.linspace(0.0, 1.0, scheme.n_bins + 1)[1:-1]
        top, predicted = take_scores_and_events(sample, scheme.target)
        parts = [predicted >= 0]
        if scheme.target == "top_label_by_class":
            parts = [predicted == k for k in range(sample.shape[2])]
        edges = np.ones((sample.shape[1], len(parts), scheme.n_bins - 1))
        for c, part in enumerate(parts):
            for m in np.flatnonzero(part.any(axis=0)):
                edges[m, c] = np.quantile(top[part[:, m], m], at)
        return cls(scheme, edges)

    def count(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        n_models, n_classes = scores.shape[1:]
        n_bins, n_held = self.scheme.n_bins, self.scheme.count_bins(n_classes)
        every_score, every_class = take_scores_and_events(scores, self.scheme.target)
        weights = mass.sum(axis=1)
        sums = np.zeros((3, every_score.shape[1], n_held))
        for c in range(every_score.shape[1]):
            present = ~np.isnan(every_score[:, c])
            score, of, weight = every_score[present, c], every_class[present, c], weights[present]
            own = of if self.scheme.target == "top_label_by_class" else np.zeros_like(of)
            if self.edges is None:
                bins = find_even_bins(score, n_bins)
            else:
                bins = (self.edges[c, own] < score[:, None]).sum(axis=1)
            event = mass[present, of]
            for part, values in enumerate((weight, event, weight * score)):
                sums[part, c] = np.bincount(own * n_bins + bins, values, n_held)
        return sums.reshape(3, n_models, -1, n_held)

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        return _compute_calibration_error(self.scheme, sums)


@dataclass(frozen=True, eq=False)
class FineCalibration:
    """Equal-mass bins, read off the fine bins of a `Ranking`: ``bins`` (M, columns, N_BINS)."""

    scheme: SettledCalibration
    bins: IntArray

    @classmethod
    def from_sample(
        cls, scheme: SettledCalibration, classes: tuple[int, ...], sample: FloatArray
    ) -> FineCalibration:
        """Bins at the quantiles of ``sample`` (n, M, K), each rounded up to the fine grid."""
        at = np.linspace(0.0, 1.0, scheme.n_bins + 1)[1:-1]
        n_models = sample.shape[1]
        bins = np.zeros((n_models, len(classes), N_BINS), dtype=np.int64)
        for m in range(n_models):
            for c, k in enumerate(classes):
                scored = sample[~np.isnan(sample[:, m, k]), m, k]
                if scored.size:
                    edges = find_bins(np.quantile(scored, at))
                    bins[m, c] = np.searchsorted(edges, np.arange(N_BINS), side="left")
        return cls(scheme, bins)

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        """From the sums of a `Ranking`, whose first three parts are those of `Calibration`."""
        _, n_models, n_columns, _ = sums.shape
        coarse = np.zeros((3, n_models, n_columns, self.scheme.n_bins))
        for part in range(3):
            for m in range(n_models):
                for c in range(n_columns):
                    coarse[part, m, c] = np.bincount(
                        self.bins[m, c], sums[part, m, c, :-1], self.scheme.n_bins
                    )
        return _compute_calibration_error(self.scheme, coarse)


@dataclass(frozen=True)
class RankingCounter:
    """Weight, mass of the class, weighted score (3, M, classes, N_BINS + 1).

    One cell after the bins counts the self-pairs, sum of p_i (w_i - p_i): what rows would
    contribute if paired with themselves. ``scored`` says whether weighted scores are needed.
    """

    classes: tuple[int, ...]
    scored: bool

    def count(self, scores: FloatArray, mass: FloatArray) -> FloatArray:
        n_models = scores.shape[1]
        sums = np.zeros((3, n_models, len(self.classes), N_BINS + 1))
        weight = mass @ np.ones(mass.shape[1])
        for c, k in enumerate(self.classes):
            event = np.ascontiguousarray(mass[:, k])
            for m in range(n_models):
                score, w, e = scores[:, m, k], weight, event
                if np.isnan(score).any():
                    present = ~np.isnan(score)
                    score, w, e = score[present], w[present], e[present]
                bins = find_bins(score)
                sums[0, m, c, :-1] = np.bincount(bins, w, N_BINS)
                sums[1, m, c, :-1] = np.bincount(bins, e, N_BINS)
                sums[1, m, c, -1] = e @ (w - e)
                if self.scored:
                    sums[2, m, c, :-1] = np.bincount(bins, w * score, N_BINS)
        return sums

    def compute_values(self, metric: Metric, sums: FloatArray) -> Values:
        kind = metric.kind
        assert isinstance(kind, kinds.Ranking)
        weight, event = sums[:2, ..., -2::-1]  # from the highest score down
        of = _average_precision if kind.statistic == "average_precision" else _compute_roc_auc
        value, bound = of(event, np.maximum(weight - event, 0.0), sums[1, ..., -1])
        share = np.full_like(value, 1.0 / len(self.classes))
        if kind.average == "weighted" and len(self.classes) > 1:
            share = compute_ratio(event.sum(axis=2), event.sum(axis=(1, 2))[:, None])
        return (value * share).sum(axis=1), (bound * share).sum(axis=1)


def _compute_roc_auc(event: FloatArray, other: FloatArray, self_pairs: FloatArray) -> Values:
    """AUC and bound (M, classes) from masses (M, classes, bins), highest scores first."""
    pairs = event.sum(axis=2) * other.sum(axis=2) - self_pairs
    tied = (event * other).sum(axis=2) - self_pairs
    below = other.sum(axis=2, keepdims=True) - np.cumsum(other, axis=2)
    wins = (event * below).sum(axis=2) + 0.5 * tied
    return compute_ratio(wins, pairs), compute_ratio(0.5 * np.maximum(tied, 0.0), pairs)


def _average_precision(event: FloatArray, other: FloatArray, self_pairs: FloatArray) -> Values:
    """AP with each bin entering as one tie, and how far the order inside bins can move it.

    A row that is positive counts itself as a full hit, which adds sum_i p_i (w_i - p_i) / seen_i:
    the self-pairs are put on the bins in proportion to P_b N_b / (P_b + N_b), their upper limit.
    """
    hits, alarms = np.cumsum(event, axis=2), np.cumsum(other, axis=2)
    above = hits - event + alarms - other
    total = hits[..., -1]

    def find_recall(top: FloatArray, bottom: FloatArray) -> FloatArray:
        return compute_ratio((event * _divide(top, bottom)).sum(axis=2), total)

    limit = _divide(event * other, event + other)
    put = limit * _divide(self_pairs, limit.sum(axis=2))[..., None]
    value = find_recall(hits, hits + alarms) + compute_ratio(
        _divide(put, hits + alarms).sum(axis=2), total
    )
    lowest = find_recall(hits - event, hits - event + alarms)
    highest = find_recall(hits, hits + alarms - other)
    itself = np.where(above > 0, np.minimum(_divide(limit, above), event), event)
    most = highest + compute_ratio(itself.sum(axis=2), total)
    return value, np.maximum(value - lowest, most - value)


def _divide(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """``top / bottom``, 0 where there is nothing."""
    out: FloatArray = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0)
    return out


def _compute_calibration_error(scheme: SettledCalibration, sums: FloatArray) -> Values:
    """Exact error of bins ``sums`` (3, M, columns, bins)."""
    weight, event, scored = sums
    gap = np.abs(compute_ratio(event - scored, weight)).clip(max=1.0)
    n_models, n_columns, n_bins = weight.shape
    flat = (n_models * n_columns, n_bins, 1)
    error = compute_gaps_norm(gap.reshape(flat), weight.reshape(flat), scheme)
    mean: FloatArray = error.reshape(n_models, n_columns).mean(axis=1)
    return mean, np.zeros_like(mean)


Sums = dict[str, FloatArray]
"""Counter -> its array of sums."""


@dataclass(frozen=True, eq=False)
class Tally:
    """Counters by name, and for each metric its counter and what reads it there."""

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
    schemes = [
        metric.kind.settle(n_classes) if isinstance(metric.kind, kinds.Calibration) else None
        for metric in metrics
    ]
    # the fine bins of a ranking hold calibration errors of equal-mass bins of class scores
    fine = [
        each is not None and each.binning == "quantile" and each.target in BY_CLASS_SCORE
        for each in schemes
    ]
    ranked = any(fine) or any(isinstance(metric.kind, kinds.Ranking) for metric in metrics)
    ranking = RankingCounter(classes, scored=any(fine))
    counters: dict[str, Counter] = {}
    readers: list[tuple[str, CountReader]] = []
    for number, (metric, scheme) in enumerate(zip(metrics, schemes, strict=True)):
        kind, name = metric.kind, "ranking"
        counter: Counter = ranking
        reader: CountReader = ranking
        if scheme is not None and fine[number]:
            reader = FineCalibration.from_sample(scheme, classes, sample)
        elif scheme is not None:
            name = f"{scheme.target} scores in {scheme.n_bins} {scheme.binning} bins"
            calibration = CalibrationCounter(scheme)
            if scheme.binning == "quantile":
                calibration = CalibrationCounter.of_top_score(scheme, sample)
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
        elif not adds_up(metric, n_classes):
            allowed = [n for n in metric_names(n_classes) if adds_up(get_metric(n), n_classes)]
            problem = f"metric `{metric.name}` cannot be added up over the parts of a stream"
            hint = f"ask for one of {', '.join(allowed)}, or evaluate in memory"
            raise UnsupportedError(problem, hint=hint)
        counters[name] = counter
        readers.append((name, reader))
    return Tally(counters, tuple(readers), tuple(metrics))


BY_CLASS_SCORE = ("positive", "classwise")
"""Targets that are the score of a class, as a `RankingCounter` counts them."""


def adds_up(metric: Metric, n_classes: int) -> bool:
    """Whether sums over parts determine ``metric``: rankings count a class against the rest."""
    kind = metric.kind
    if isinstance(kind, kinds.Ranking):
        return kind.settle(n_classes).average != "one_vs_one"
    return isinstance(kind, kinds.Decision | kinds.Loss | kinds.Calibration)
