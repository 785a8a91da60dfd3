"""The paper's headline trends, held against our runs: each holds, is refuted, or is lost in noise.

A trend says that one error is smaller than another. It holds where it is smaller by more than the
two half-widths of the 95 % intervals added, is refuted where it is larger by more than that. Where
a half-width is unknown, so is the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas as pd

from benchmarks.experiment import RESULTS


@dataclass(frozen=True)
class Trend:
    """A claim that ``small`` < ``large``, both (error, half-width)."""

    claim: str
    measured: str
    small: tuple[float, float]
    large: tuple[float, float]

    @property
    def verdict(self) -> str:
        noise = self.small[1] + self.large[1]
        if pd.isna(noise):
            return "unknown"
        if self.small[0] < self.large[0] - noise:
            return "holds"
        return "refuted" if self.small[0] > self.large[0] + noise else "within the noise"

    def make_row(self) -> dict[str, str]:
        """A line of the report's table, errors in points."""
        return {
            "the paper": self.claim,
            "measured on": self.measured,
            "error that should be smaller": _format_points(self.small),
            "error that should be larger": _format_points(self.large),
            "verdict": self.verdict,
        }


def compare_classifiers(frame: pd.DataFrame) -> Iterator[Trend]:
    for method in ("ssme", "auto"):
        seven, two = (_find_error(frame, classifiers=n, method=method) for n in (7, 2))
        yield Trend("seven classifiers beat two", f"{method}, civilcomments, 20 labels", seven, two)


def compare_bandwidths(frame: pd.DataFrame) -> Iterator[Trend]:
    for other in ("silverman", "fixed 1.0", "fixed 2.0"):
        for n in (20, 100):
            isj, rival = (_find_error(frame, method=m, n_labeled=n) for m in ("isj", other))
            where = f"civilcomments, {n} labels"
            yield Trend(f"Sheather-Jones beats {other}", where, isj, rival)


def compare_one_at_a_time(frame: pd.DataFrame) -> Iterator[Trend]:
    for dataset in ("civilcomments", "multinli"):
        for n in (20, 100):
            one, each = (
                _find_error(frame, method=m, n_labeled=n, dataset=dataset)
                for m in ("ssme", "ssme_m")
            )
            yield Trend("SSME beats SSME-M", f"{dataset}, {n} labels", one, each)


def compare_synthetic(frame: pd.DataFrame) -> Iterator[Trend]:
    claims = {"n_u": "unlabeled rows", "d": "classifiers", "c": "separation"}
    worlds = frame[["reading", "noise"]].drop_duplicates().itertuples(index=False)
    for (reading, noise), method in product(worlds, ("ssme", "ssme, gmm")):
        for axis, what in claims.items():
            part = frame[frame["axis"] == axis]
            least, most = part["value"].min(), part["value"].max()
            large, small = (
                _find_error(part, reading=reading, noise=noise, value=value, method=method)
                for value in (least, most)
            )
            claim = f"better with more {what} ({least:g} to {most:g})"
            yield Trend(claim, f"{method}, scores {reading}, {noise}, 20 labels", small, large)


TRENDS: dict[str, Callable[[pd.DataFrame], Iterator[Trend]]] = {
    "classifiers": compare_classifiers,
    "bandwidths": compare_bandwidths,
    "ssme_vs_ssme_m": compare_one_at_a_time,
    "synthetic_trends": compare_synthetic,
}


def judge_trends() -> pd.DataFrame:
    """The verdict on every trend whose result file is there, on accuracy."""
    rows = []
    for name, claims in TRENDS.items():
        path = RESULTS / f"{name}.csv"
        if path.exists():
            rows += [trend.make_row() for trend in claims(pd.read_csv(path))]
    return pd.DataFrame(rows)


def _find_error(frame: pd.DataFrame, **where: Any) -> tuple[float, float]:
    """Error of accuracy and its half-width, NaN where unknown, in the row ``where`` names."""
    row = frame[frame["metric"] == "accuracy"]
    for column, value in where.items():
        row = row[row[column] == value]
    return row["mae"].item(), row["ci95"].item()


def _format_points(error: tuple[float, float]) -> str:
    return f"{100 * error[0]:.2f} ± {100 * error[1]:.2f}"
