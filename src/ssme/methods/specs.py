"""What every method declares about itself, in the order of the table of ``ssme methods``.

The implementations stand apart, one per file, so that listing and asking what a method can do
imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssme.metrics import get_metric
from ssme.metrics.base import Metric
from ssme.metrics.kinds import is_same_metric

__all__ = ["SPECS", "MethodSpec"]


@dataclass(frozen=True)
class MethodSpec:
    """What a method declares about itself; printed by ``ssme methods`` and enforced.

    ``title`` is a name for people, ``source`` the paper. ``binary`` and ``multiclass`` say for how
    many classes it is made; ``needs_labels`` is false where it runs without any label;
    ``gives_intervals``, ``gives_posterior`` and ``groups`` say whether its belief has intervals,
    has P(y | s) of single rows and answers for groups; ``missing_scores`` is false where every
    classifier must have a score for every row.

    ``metrics`` names those of the registry that the method can estimate, or is None where it can
    estimate every metric, custom callables too. A metric is one of them if it is of the same kind,
    whatever it is called; ``any_threshold`` says whether at any threshold of its decisions.
    ``designs`` are the ways of choosing rows for labeling that it allows for. A method that learns
    P(y | s) by likelihood allows for all that look at the scores alone, by weights or without:
    which rows were chosen then says nothing about P(y | s).
    """

    name: str
    title: str
    source: str
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
        """Whether the method can estimate ``metric``."""
        return self.metrics is None or any(
            is_same_metric(
                get_metric(name).kind, metric.kind, n_classes, any_threshold=self.any_threshold
            )
            for name in self.metrics
        )


SPECS: dict[str, MethodSpec] = {
    each.name: each
    for each in (
        MethodSpec(
            name="auto",
            title="Recalibrated pool of the classifiers",
            source="this project: docs/auto.md",
            needs_labels=False,
            designs=("random", "by_class", "by_score", "weights"),
        ),
        MethodSpec(
            name="answers",
            title="Judges who share difficulty",
            source="this project: docs/answers.md",
            needs_labels=False,
            designs=("random", "by_class", "by_score", "weights"),
        ),
        MethodSpec(
            name="labeled",
            title="Labeled rows alone",
            source="the metric itself; intervals: Wilson 1927, Newcombe 2006, Boyd et al. 2013",
            gives_posterior=False,
            designs=("random", "weights"),
        ),
        MethodSpec(
            name="ensemble",
            title="Mean score of the classifiers",
            source="Shanmugam et al. 2025, app. D",
            needs_labels=False,
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="ssme",
            title="Semi-supervised mixture of all classifiers' scores, as published",
            source="Shanmugam et al. 2025, sec. 3",
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="ssme_m",
            title="SSME fitted to one classifier at a time",
            source="Shanmugam et al. 2025, app. D",
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="weighted_ensemble",
            title="Linear pool weighted by labeled log score",
            source="Geweke and Amisano 2011",
            needs_labels=False,
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="majority_vote",
            title="Vote of the classifiers, weighted by labeled accuracy",
            source="Shanmugam et al. 2025, app. B.2",
            needs_labels=False,
        ),
        MethodSpec(
            name="pseudo_label",
            title="Model from scores to labels, fitted on the labeled rows",
            source="Shanmugam et al. 2025, app. B.2",
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="dawid_skene",
            title="Dawid-Skene on the votes, labels clamped",
            source="Dawid and Skene 1979",
            needs_labels=False,
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="bayesian_calibration",
            title="Bayesian beta calibration per classifier",
            source="Ji et al. 2020",
            multiclass=False,
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="spe",
            title="Mixture of truncated normals per classifier",
            source="Welinder et al. 2013",
            multiclass=False,
            designs=("random", "by_score", "weights"),
        ),
        MethodSpec(
            name="autoeval",
            title="AutoEval: PPI++ on accuracy",
            source="Boyeau et al. 2025",
            metrics=("accuracy",),
            any_threshold=True,
            gives_posterior=False,
            designs=("random", "weights"),
        ),
        MethodSpec(
            name="ppi",
            title="Prediction-powered inference, power-tuned",
            source="Angelopoulos et al. 2023; Zrnic 2024; Eyre and Madras 2025",
            gives_posterior=False,
            designs=("random", "weights"),
        ),
        MethodSpec(
            name="stratified_ppi",
            title="Stratified PPI++ on accuracy",
            source="Fisch et al. 2024",
            metrics=("accuracy",),
            any_threshold=True,
            gives_posterior=False,
        ),
        MethodSpec(
            name="active_testing",
            title="Active testing: chosen labels, LURE weights",
            source="Kossen et al. 2021",
            metrics=("accuracy",),
            needs_labels=False,
            gives_intervals=False,
            gives_posterior=False,
            groups=False,
            missing_scores=False,
            designs=("random", "weights"),
        ),
        MethodSpec(
            name="cbpe",
            title="Each classifier's own confidence",
            source="Bialek et al. 2024 (CBPE)",
            needs_labels=False,
        ),
        MethodSpec(
            name="atc",
            title="Average thresholded confidence",
            source="Garg et al. 2022",
            metrics=("accuracy",),
            gives_intervals=False,
            gives_posterior=False,
        ),
        MethodSpec(
            name="agreement",
            title="Agreement with the other classifiers",
            source="Jiang et al. 2022",
            metrics=("accuracy",),
            any_threshold=True,
            needs_labels=False,
            gives_intervals=False,
            gives_posterior=False,
        ),
    )
}
