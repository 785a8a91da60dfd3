"""Coverage and width of 95% intervals, and whether called pairs are ranked rightly.

The SSME paper's protocol (`ssme.bench`): labels of half of the rows, one of each class first; the
truth is the metric on the other half. Real classifier sets come from SSME_DATA; the simulated ones
(`simulate`) need nothing. A run counts for a metric where value and truth are defined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tests.shared_data import available, load_set, set_names

from benchmarks.accuracy.tables import TORTURE, Methods
from benchmarks.experiment import Setup, experiment, run_cells, save
from benchmarks.studies import Measure, Protocol, Runner, Study
from ssme.arrays import FloatArray
from ssme.bench.runner import Truth
from ssme.data.scoreset import ScoreSet
from ssme.methods.base import Estimate
from ssme.methods.beliefs import LabelPosterior
from ssme.metrics import metric_names
from ssme.metrics.base import Metric, one_hot_mass
from ssme.results.comparison import compute_probability_better
from ssme.results.evaluation import Evaluation
from ssme.results.groups import ALL

N_LABELED = (20, 50, 100)
SIMULATED = {
    "simulated_even": (2, 0.5),
    "simulated_rare": (2, 0.1),
    "simulated_four": (4, 0.25),
}
LABELED: Methods = {"labeled": ("labeled", {"n_draws": 400})}


def simulate(n_classes: int, rare: float) -> tuple[FloatArray, NDArray[np.int64]]:
    """40,000 rows of six classifiers, from weak to strong and from flat to overconfident."""
    rng = np.random.default_rng(20)
    share = np.full(n_classes, (1.0 - rare) / (n_classes - 1))
    share[-1] = rare
    y = rng.choice(n_classes, size=40_000, p=share)
    logits = rng.normal(size=(y.size, 6, n_classes)) + np.log(share)
    logits[np.arange(y.size), :, y] += np.linspace(0.7, 3.0, 6)
    logits *= np.array([0.6, 1.0, 1.6, 1.0, 0.6, 1.6])[:, None]
    scores = np.exp(logits - logits.max(axis=2, keepdims=True))
    return scores, y


def load_scores(name: str) -> ScoreSet:
    """A real or simulated set, all rows labeled."""
    scores, y = simulate(*SIMULATED[name]) if name in SIMULATED else load_set(name)[:2]
    scores = scores / scores.sum(axis=2, keepdims=True)
    _, n_models, n_classes = scores.shape
    return ScoreSet(scores, y, tuple(map(str, range(n_models))), tuple(range(n_classes)))


def list_real_sets() -> list[str]:
    return [name for name in set_names() if name != TORTURE] if available() else []


def plan_study(
    sets: tuple[str, ...],
    runs: int,
    measure: Measure,
    methods: Methods = LABELED,
    n_labeled: tuple[int, ...] = N_LABELED,
    n_unlabeled: int = 0,
    **settings: Any,
) -> Study:
    """Methods on each of the sets, measured by ``measure``."""
    protocol = Protocol(
        methods, n_labeled=n_labeled, n_unlabeled=(n_unlabeled,), runs=runs, **settings
    )
    return Study(Runner(protocol, load_scores, measure), sets)


def run_and_save(studies: list[Study], setup: Setup, summarize: Any) -> None:
    """Run the studies and save what ``summarize`` makes of their cells."""
    cells = run_cells(studies, setup.name, setup.executor)
    setup.times.append(cells.times)
    save(summarize(cells.rows), setup)


def list_estimates(
    result: Evaluation, truth: Truth, estimates: list[Estimate] | None = None
) -> Iterator[tuple[Metric, Estimate, FloatArray]]:
    """Each metric with its estimate on all rows and the truth (M,)."""
    for metric, got in zip(result.metrics, estimates or result.estimates[0], strict=True):
        yield (
            metric,
            got,
            np.array([truth[ALL, metric.name, model] for model in result.data.models]),
        )


def sum_cells(cells: pd.DataFrame, values: list[str], keys: tuple[str, ...] = ()) -> pd.DataFrame:
    """Sums of a cell over its number of classifiers, by ``keys``, set, metric and labels."""
    by = [*keys, "dataset", "metric", "n_labeled"]
    sums = cells.groupby(by, sort=False)[["cells", *values]].sum()
    sums = sums[sums["cells"] > 0]
    sums[values] = sums[values].div(sums["cells"], axis=0).round(4)
    return sums.reset_index().rename(columns={"dataset": "set"})


@experiment(runs=25)
def labeled_intervals(setup: Setup) -> None:
    """Coverage and width of the 95% intervals of `labeled` at 20, 50 and 100 labels.

    Per set, metric and number of labels: cells (runs x classifiers), coverage, width; by all
    metrics or those of ``--only``.
    """
    studies = [
        plan_study(
            (name,),
            setup.runs,
            measure_intervals,
            metrics=setup.only or metric_names(load_scores(name).n_classes),
        )
        for name in setup.sets or (*SIMULATED, *list_real_sets())
    ]
    run_and_save(studies, setup, lambda cells: sum_cells(cells, ["coverage", "width"]))


def measure_intervals(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric, classifiers with an interval, those covered, sum of widths."""
    rows = []
    for metric, estimate, exact in list_estimates(result, truth):
        low, high = estimate.interval()
        known = np.isfinite(low) & np.isfinite(exact)
        inside = (low <= exact) & (exact <= high)
        found = {"cells": int(known.sum()), "coverage": int((inside & known).sum())}
        rows.append({"metric": metric.name, **found, "width": float((high - low)[known].sum())})
    return rows


CALLED = 0.9


@experiment(runs=8)
def labeled_ranking(setup: Setup) -> None:
    """P(a better than b) from labels alone: of pairs called with 0.9 or more, how many are right?

    The truth is the metric on at most 30,000 rows of the other half. Per metric and number of
    labels over the real sets: pairs called, share right, mean called probability.
    """
    sets = setup.sets or tuple(list_real_sets())
    study = plan_study(sets, setup.runs, count_calls, truth_rows=30_000)
    run_and_save([study], setup, summarize_calls)


def count_calls(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric, pairs that are called, those that are right, said in all."""
    rows = []
    for metric, got, exact in list_estimates(result, truth):
        better = compute_probability_better(got, bool(metric.greater_is_better))
        gap = exact[:, None] - exact[None, :]
        right = gap > 0 if metric.greater_is_better else gap < 0
        called = better >= CALLED
        found = {"called": int(called.sum()), "right": int(right[called].sum())}
        rows.append({"metric": metric.name, **found, "said": float(better[called].sum())})
    return rows


def summarize_calls(cells: pd.DataFrame) -> pd.DataFrame:
    """Share right and mean probability of all pairs called, by metric and number of labels."""
    sums = cells.groupby(["metric", "n_labeled"])[["called", "right", "said"]].sum()
    shares = sums[["right", "said"]].div(sums["called"], axis=0).round(3)
    found = sums[["called"]].join(shares.rename(columns={"said": "mean_probability"}))
    return found.reset_index()


@experiment(runs=8)
def posterior_intervals(setup: Setup) -> None:
    """Coverage of the 95% intervals of methods that draw labels from a posterior.

    What each source of uncertainty adds, on real sets with 1,000 unlabeled rows: `labels` unknown
    labels alone, `rows` the sampling of the rows too, `refits` refits to resampled rows as well
    (ssme). None of them knows of errors that all classifiers share. Per method, draws, set, metric
    and number of labels: cells, coverage, width, error (mean absolute error of the estimates).
    """
    methods = {name: (name, {}) for name in ("ssme", "ensemble", "pseudo_label", "dawid_skene")}
    methods["ssme"] = ("ssme", {"max_iter": 50})
    studies = [
        plan_study(
            (name,), setup.runs, measure_variants, methods, (20, 100), 1000, truth_rows=20_000
        )
        for name in setup.sets
        or ("civilcomments", "multinli", "adult", "subj", "mmlupro_llm_logit")
    ]
    values, keys = ["coverage", "width", "error"], ("method", "draws")
    run_and_save(studies, setup, lambda cells: sum_cells(cells, values, keys))


def estimate_variants(belief: LabelPosterior, metrics: list[Metric]) -> dict[str, list[Estimate]]:
    """Estimates whose draws hold labels alone, labels and rows, and refits where there are any."""
    scores, k = belief.data.scores, belief.data.n_classes
    batches = [one_hot_mass(labels, k) for labels in belief.draw_label_batches()]
    stacked = [np.concatenate([metric(scores, mass) for mass in batches]) for metric in metrics]
    found = {
        "labels": [Estimate(np.nanmean(draws, axis=0), draws) for draws in stacked],
        "rows": replace(belief, refits=()).estimate(metrics, [None])[0],
    }
    if belief.refits:
        found["refits"] = belief.estimate(metrics, [None])[0]
    return found


def measure_variants(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: by kind of draws and metric, sums over classifiers."""
    rows = []
    for draws, estimates in estimate_variants(result.belief, list(result.metrics)).items():
        for metric, got, exact in list_estimates(result, truth, estimates):
            low, high = got.interval()
            found = {
                "coverage": float(((low <= exact) & (exact <= high)).sum()),
                "width": float((high - low).sum()),
                "error": float(np.abs(got.value - exact).sum()),
            }
            rows.append({"draws": draws, "metric": metric.name, "cells": exact.size, **found})
    return rows


@experiment(runs=8)
def ppi_intervals(setup: Setup) -> None:
    """Coverage of the intervals of PPI for calibration and ranking, beside those of its resamples.

    With 600 unlabeled rows. An interval of the method is that of labels alone, moved to its
    estimate and shrunk (`ssme.methods.ppi`); "resamples" are the quantiles of its draws.
    Per set, metric and number of labels: runs, coverage and width of both intervals, over runs and
    classifiers.
    """
    real = ("adult", "civilcomments", "diabetes_readmit", "multinli", "mmlupro_llm_logit")
    study = plan_ppi_study(setup.sets or (*SIMULATED, *real), setup.runs)
    run_and_save([study], setup, summarize_ppi)


def plan_ppi_study(sets: tuple[str, ...], runs: int) -> Study:
    """PPI with few and with many labels on each set."""
    methods: Methods = {"ppi": ("ppi", {"n_boot": 200})}
    metrics = ("ece", "average_precision", "roc_auc")
    return plan_study(sets, runs, measure_both, methods, (20, 100), 600, metrics=metrics)


def measure_both(result: Evaluation, truth: Truth) -> list[dict[str, Any]]:
    """What a cell keeps: per metric and classifier, whether each interval covers, and its width."""
    rows = []
    for metric, got, exact in list_estimates(result, truth):
        low, high = got.interval()
        assert got.draws is not None
        ends = np.quantile(got.draws, [0.025, 0.975], axis=0)
        least, most = np.minimum(ends[0], got.value), np.maximum(ends[1], got.value)
        columns = {
            "coverage": 0.0 + ((low <= exact) & (exact <= high)),
            "width": high - low,
            "resampled_coverage": 0.0 + ((least <= exact) & (exact <= most)),
            "resampled_width": most - least,
        }
        rows += [
            {"metric": metric.name, "model": model, **{k: float(v[j]) for k, v in columns.items()}}
            for j, model in enumerate(result.data.models)
        ]
    return rows


def summarize_ppi(cells: pd.DataFrame) -> pd.DataFrame:
    """Means over runs and classifiers, by set, metric and number of labels."""
    measured = ["coverage", "width", "resampled_coverage", "resampled_width"]
    by = cells.groupby(["dataset", "n_labeled", "metric"], sort=False)
    found = by[measured].mean().round(4)
    found.insert(0, "runs", by["run"].nunique())
    columns = ["set", "metric", "n_labeled", "runs", *measured]
    return found.reset_index().rename(columns={"dataset": "set"})[columns]
