"""``r.plot``: every picture of an evaluation by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssme.plots import curves, heatmaps, intervals
from ssme.plots.display import Plot
from ssme.results.evaluation import Evaluation

__all__ = ["Plots"]


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """The pictures; calling it draws the first one.

    Each returns a `Plot` with ``.chart``, ``.frame()``, ``.alt`` and ``.save(path)``. ``group``
    restricts rows to one group, ``models`` names models; otherwise the best ``limit`` are drawn.
    """

    evaluation: Evaluation

    def __call__(self, **options: Any) -> Plot:
        return self.estimates(**options)

    def __repr__(self) -> str:
        names = ", ".join(name for name in dir(type(self)) if not name.startswith("_"))
        return f"Plots: {names}"

    def estimates(self, **options: Any) -> Plot:
        """Estimates with intervals against labels alone (``group``, ``limit``, ``truth``)."""
        return intervals.estimates(self.evaluation, **options)

    def groups(self, metric: str | None = None, **options: Any) -> Plot:
        """One metric by group (``limit``, ``models``)."""
        return intervals.groups(self.evaluation, metric, **options)

    def ranking(self, metric: str | None = None, **options: Any) -> Plot:
        """Probability of being best (``limit``)."""
        return intervals.ranking(self.evaluation, metric, **options)

    def roc(self, **options: Any) -> Plot:
        """ROC curves with bands (``group``, ``class_name``, ``limit``, ``models``)."""
        return curves.roc(self.evaluation, **options)

    def precision_recall(self, **options: Any) -> Plot:
        """Precision-recall curves with bands (``group``, ``class_name``, ``limit``, ``models``)."""
        return curves.precision_recall(self.evaluation, **options)

    def reliability(self, **options: Any) -> Plot:
        """Reliability with intervals (``group``, ``limit``, ``models``)."""
        return curves.reliability(self.evaluation, **options)

    def densities(self, **options: Any) -> Plot:
        """Scores by class (``group``, ``class_name``, ``limit``, ``models``)."""
        return heatmaps.densities(self.evaluation, **options)

    def confusion(self, **options: Any) -> Plot:
        """Confusion matrices (``group``, ``limit``, ``models``)."""
        return heatmaps.confusion(self.evaluation, **options)

    def agreement(self, **options: Any) -> Plot:
        """Agreement and correlation of errors (``group``, ``limit``)."""
        return heatmaps.agreement(self.evaluation, **options)

    def convergence(self) -> Plot:
        """The fit's objective step by step."""
        return heatmaps.convergence(self.evaluation)
