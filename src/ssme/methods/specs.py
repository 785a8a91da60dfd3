"""`MethodSpec`: what a method declares about itself, in its own file."""

from __future__ import annotations

from dataclasses import dataclass

from ssme.metrics import get_metric
from ssme.metrics.base import Metric
from ssme.metrics.kinds import is_same_metric

__all__ = ["MethodSpec"]


@dataclass(frozen=True)
class MethodSpec:
    """What a method declares about itself: `ssme methods` prints it, and `evaluate` enforces it.

    Parameters
    ----------
    name, title : str
        The name that ``method=`` takes, and a name for people.
    source : str
        The paper or page that the method is from.
    does, assumes, fails : str
        Full sentences for the report and the documentation: what the method does, what it assumes
        and where it is unreliable.
    binary, multiclass : bool
        Whether the method is made for two classes, and for more than two.
    metrics : tuple of str, optional
        Names of the metrics that the method can estimate; None where it can estimate every metric,
        also a user's own. A metric is one of them if it is of the same kind, whatever its name.
    any_threshold : bool
        Whether the method can estimate ``metrics`` at every threshold of the decisions.
    needs_labels : bool
        Whether the method needs at least one label.
    gives_intervals, gives_posterior, groups : bool
        Whether what the method returns has intervals, has P(y | s) of single rows, and can be
        asked about groups.
    missing_scores : bool
        Whether a classifier may have no score for some rows.
    designs : tuple of str
        The ways of choosing rows for labeling that the method allows for. A method that learns
        P(y | s) by likelihood allows for all that depend on the scores alone, by weights or
        without: which rows were chosen then says nothing about P(y | s).
    """

    name: str
    title: str
    source: str
    does: str = ""
    assumes: str = ""
    fails: str = ""
    binary: bool = True
    multiclass: bool = True
    metrics: tuple[str, ...] | None = None
    any_threshold: bool = False
    needs_labels: bool = True
    gives_intervals: bool = True
    gives_posterior: bool = True
    groups: bool = True
    missing_scores: bool = True
    designs: tuple[str, ...] = ("random",)

    def can_estimate(self, metric: Metric, n_classes: int) -> bool:
        """Say whether the method can estimate ``metric`` of data with ``n_classes`` classes."""
        return self.metrics is None or any(
            is_same_metric(
                get_metric(name).kind, metric.kind, n_classes, any_threshold=self.any_threshold
            )
            for name in self.metrics
        )
