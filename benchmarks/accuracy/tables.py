"""Tables of errors on real sets: methods at their defaults, variants of SSME, case studies.

The paper's protocol (`ssme.bench`): 20, 50 and 100 labels, 1,000 unlabeled rows, the truth on the
other half of the rows. Methods at their defaults on sets by name are computed once for all.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.datasets.registry import data_folder, dataset_names, load_dataset
from benchmarks.datasets.synthetic import gaussian_set
from benchmarks.experiment import CACHE, Setup, experiment, run, save, write
from benchmarks.paper import (
    PAPER_METHODS,
    PAPER_MODELS,
    PAPER_NAMES,
    join_paper,
    read_paper_file,
)
from benchmarks.studies import Protocol
from ssme.arrays import FloatArray
from ssme.bench import summarize
from ssme.bench.protocol import split_rows
from ssme.bench.store import DECISIVE, describe_process
from ssme.bench.summary import provenance
from ssme.data.scoreset import ScoreSet
from ssme.executors import limit_blas_threads
from ssme.methods.registry import method_names
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass

Methods = dict[str, tuple[str, dict[str, Any]]]

REAL_SETS = "real_sets"
"""The cells of methods at their defaults on the sets by name: several experiments read them."""
PUBLIC = ["civilcomments", "multinli"]
TORTURE = "civilcomments_coral_seeds"
MAIN = [*PAPER_METHODS, "ensemble", "auto"]
NO_REFITS: tuple[str, dict[str, Any]] = ("ssme", {"n_bootstrap": 0})
PUBLIC_CODE: tuple[str, dict[str, Any]] = ("ssme", {"preset": "public_code", "n_bootstrap": 0})


def run_methods(
    setup: Setup, methods: list[str] | Methods, datasets: list[str], cells: str = REAL_SETS
) -> pd.DataFrame:
    """Estimates and truths of methods, some of them at their defaults, on real sets."""
    return run(Protocol(methods, runs=setup.runs), datasets, setup, cells=cells)


def drop_keys(summary: pd.DataFrame, *more: str) -> pd.DataFrame:
    """``summary`` without the keys that are the same in all of its rows."""
    return summary.drop(columns=["subset", "group", *more])


@experiment(runs=50)
def main_tables(setup: Setup) -> None:
    """Main tables: every method of the paper, and ours, on the paper's own predictions.

    Shows the mean absolute error of each method's estimates on CivilComments (the paper's Toxicity
    Detection, binary: accuracy, ECE, AUC, AUPRC) and MultiNLI (multiclass: accuracy, ECE) beside
    the paper's figures.
    """
    save(drop_keys(join_paper(summarize(run_methods(setup, MAIN, PUBLIC)))), setup)


@experiment(runs=50)
def ssme_paper(setup: Setup) -> None:
    """SSME and SSME-M under both presets, beside the paper's own numbers.

    The preset ``paper`` runs EM to convergence as the paper says, ``public_code`` runs the loop of
    the paper's public code. Beside them stand a choice that the paper leaves open (one bandwidth a
    dimension instead of the smallest), labels alone, which check the protocol, and the ensemble.
    """
    methods: Methods = {
        "labeled": ("labeled", {}),
        "ensemble": ("ensemble", {}),
        "ssme": ("ssme", {}),
        "ssme, a bandwidth per dimension": ("ssme", {"across": "each", "n_bootstrap": 0}),
        "ssme, public code": PUBLIC_CODE,
        "ssme_m": ("ssme_m", {}),
        "ssme_m, public code": ("ssme_m", {"preset": "public_code"}),
    }
    summary = summarize(run_methods(setup, methods, PUBLIC))
    columns = {label: PAPER_METHODS.get(name, "") for label, (name, _) in methods.items()}
    result = drop_keys(join_paper(summary, also=columns))
    save(sort_rows(result, ["dataset", "method", "n_labeled", "metric"], "method", methods), setup)


def sort_rows(table: pd.DataFrame, by: list[str], column: str, order: Any) -> pd.DataFrame:
    """``table`` sorted ``by`` columns, one of which is in the order of ``order``."""
    place = {name: i for i, name in enumerate(order)}
    return table.sort_values(by, key=lambda each: each.map(place) if each.name == column else each)


READINGS: Methods = {
    "pseudo_label, nearest neighbors": ("pseudo_label", {"model": "knn"}),
    "majority_vote, hard": ("majority_vote", {"hard": True}),
    "bayesian_calibration, tighter prior": (
        "bayesian_calibration",
        {"slope_sd": 0.25, "shift_sd": 1.4},
    ),
    "active_testing, hardly uniform": ("active_testing", {"uniform": 1e-3}),
}
"""Other readings of a method of the paper."""


@experiment(runs=50)
def rivals_paper(setup: Setup) -> None:
    """Every rival under the paper's protocol, beside the paper's own numbers, with its intervals.

    Shows where our rivals match the paper's and where they do not, with other readings of three of
    them to find where a difference comes from (evidence/rivals.md), and what share of their 95%
    intervals hold the truth.
    """
    rivals = [name for name in PAPER_METHODS if name not in ("ssme", "ssme_m")]
    also = ["ensemble", "weighted_ensemble", "ppi", "stratified_ppi", "cbpe", "atc", "agreement"]
    methods = {name: (name, {}) for name in rivals} | READINGS | {name: (name, {}) for name in also}
    methods["ensemble, no labels"] = ("ensemble", {"labels": False})
    summary = summarize(run_methods(setup, methods, PUBLIC))
    columns = {label: PAPER_METHODS[name] for label, (name, _) in READINGS.items()}
    result = drop_keys(join_paper(summary, also=columns))
    save(sort_rows(result, ["dataset", "method", "metric", "n_labeled"], "method", methods), setup)


@experiment(runs=50)
def per_classifier(setup: Setup) -> None:
    """Per-classifier tables (S7 to S10): estimate and spread of every method, at 20 labels.

    The paper prints, for each of the CivilComments classifiers, the mean estimate over runs and
    1.96 standard deviations of it beside the truth. Here for both public sets, with the mean
    absolute error and the bias, and the paper's figures where it has them; from the runs of the
    main tables.
    """
    table = run_methods(setup, MAIN, PUBLIC)
    rows = table[table["n_labeled"] == 20]
    bias = rows["estimate"] - rows["truth"]
    rows = rows.assign(bias=bias, mae=bias.abs())
    grouped = rows.groupby(["dataset", "metric", "model", "method"], sort=False)
    result = grouped[["truth", "estimate", "bias", "mae"]].mean()
    result.insert(2, "spread", 1.96 * grouped["estimate"].std())
    result = join_paper_classifiers(result.reset_index())
    save(result.assign(runs=setup.runs, **provenance(table)), setup)


def join_paper_classifiers(ours: pd.DataFrame) -> pd.DataFrame:
    """``ours`` with the paper's estimate, its spread and its truth where it has them."""
    names = {"spread": "paper_spread", "estimate": "paper_estimate", "model": "classifier"}
    published = read_paper_file("per_classifier").rename(columns=names)
    truth = published[published["method"] == "Ground Truth"]
    truth = truth.rename(columns={"paper_estimate": "paper_truth"})
    joined = ours.assign(
        classifier=ours["model"].map(PAPER_MODELS).where(ours["dataset"] == "civilcomments"),
        column=ours["method"].map(PAPER_METHODS),
    )
    keys = ["metric", "classifier"]
    joined = joined.merge(
        published.rename(columns={"method": "column"}), how="left", on=[*keys, "column"]
    ).merge(truth[[*keys, "paper_truth"]], how="left", on=keys)
    return joined.drop(columns=["classifier", "column"])


@experiment(runs=50)
def ess(setup: Setup) -> None:
    """Effective sample size: how many labels alone would do as well as each method.

    As in the paper's appendix B: the error of labels alone at 10, 15, ..., 1,000 labels, and of
    those sizes the one whose error is nearest to the method's, from the runs of the main tables.
    The paper: SSME with 20 labels is worth 539 for ECE, the next best method 110 (averages over its
    own tasks).
    """
    summary = summarize(run_methods(setup, MAIN, PUBLIC))
    curves = {}
    for name in PUBLIC:
        data = load_dataset(name)
        metrics = default_metrics(data.n_classes)
        curves[name] = labels_only_curve(data, metrics, dataset=name, samples=setup.runs)
    result = add_effective_sample_size(summary, curves)
    columns = ["dataset", "metric", "n_labeled", "method", "mae", "ess", "runs", "seed"]
    save(result[[*columns, "ssme", "numpy"]], setup)


SIZES = tuple(range(10, 1001, 5))


def labels_only_curve(
    data: ScoreSet,
    metrics: tuple[str, ...],
    *,
    dataset: str,
    samples: int = 50,
    sizes: tuple[int, ...] = SIZES,
    seed: int = 0,
) -> dict[str, NDArray[np.float64]]:
    """The mean absolute error of labels alone at each size, by metric."""
    chosen = [get_metric(name) for name in metrics]
    errors = [np.zeros((samples, len(sizes))) for _ in chosen]
    for sample in range(samples):
        largest = min(max(sizes), data.n_rows // 2)
        split = split_rows(data.labels, largest, 0, sample, seed=seed, dataset=dataset)
        mass = one_hot_mass(data.labels[split.truth], data.n_classes)
        truth = [metric(data.scores[split.truth], mass)[0] for metric in chosen]
        for s, size in enumerate(sizes):
            rows = split.labeled[:size]
            mass = one_hot_mass(data.labels[rows], data.n_classes)
            for metric, error, exact in zip(chosen, errors, truth, strict=True):
                value = metric(data.scores[rows], mass)[0]
                error[sample, s] = np.nanmean(np.abs(value - exact))
    named = zip(chosen, errors, strict=True)
    return {metric.name: np.nanmean(error, axis=0) for metric, error in named}


def effective_sample_size(
    mae: float, curve: NDArray[np.float64], sizes: tuple[int, ...] = SIZES
) -> int:
    """The size at which the error ``curve`` of labels alone is nearest to ``mae``."""
    return int(sizes[int(np.nanargmin(np.abs(curve - mae)))])


def add_effective_sample_size(summary: Any, curves: dict[str, dict[str, Any]]) -> Any:
    """``summary`` with a column ``ess``; ``curves`` are `labels_only_curve` by data set."""
    out = summary.copy()
    out["ess"] = [
        effective_sample_size(row.mae, curves[row.dataset][row.metric])
        for row in summary.itertuples()
    ]
    return out


@experiment(runs=25)
def all_sets(setup: Setup) -> None:
    """Every method on every real set: which can be trusted?

    Geometric mean of RMAE over data set x metric cells at 20, 50 and 100 labels, the worst cell,
    cells worse than labels alone, coverage and width of the intervals. Half of these sets have
    nothing to do with the paper.
    """
    methods = ["auto", "ssme", "ensemble", "weighted_ensemble", "majority_vote", "dawid_skene"]
    datasets = [name for name in dataset_names("file") if name != TORTURE]
    summary = summarize(run_methods(setup, [*methods, "ppi", "labeled"], datasets))
    save(drop_keys(summary), setup)
    save(geometric_rmae(summary), setup, name="all_sets_overall")


def geometric_rmae(summary: pd.DataFrame) -> pd.DataFrame:
    """By method and number of labels: geometric mean of RMAE over cells, worst, those above 1."""
    grouped = summary.groupby(["method", "n_labeled"], sort=True)
    overall = grouped.apply(_average_over_cells, include_groups=False).reset_index()
    return overall.assign(**provenance(summary))


def _average_over_cells(cells: pd.DataFrame) -> pd.Series:
    rmae = cells["rmae"].to_numpy()
    worst = cells.iloc[int(np.nanargmax(rmae))]
    return pd.Series(
        {
            "rmae": float(np.exp(np.nanmean(np.log(rmae)))),
            "worst": float(np.nanmax(rmae)),
            "worst_cell": f"{worst['dataset']} {worst['metric']}",
            "cells": len(rmae),
            "cells_above_1": int((rmae > 1.0).sum()),
            "coverage": float(cells["coverage"].mean()),
            "width_ratio": float(cells["width_ratio"].mean()),
            "runs": int(cells["runs"].min()),
        }
    )


@experiment(runs=50)
def llm(setup: Setup) -> None:
    """Case study: classifiers made of language models.

    The paper's study is on MultiNLI, whose predictions are public and used here, and AG News, whose
    are not. In its place MMLU-Pro: real answers of nine language models to questions with ten
    options. Such an answer comes with one number, the mean probability of its tokens, and no score
    of the other options: the option that was chosen gets that number and the nine others share the
    rest evenly, and where no option was chosen all ten share alike. Nothing in these scores tells
    which of the other options comes next, and the models often err alike, which no consensus can
    see.

    The paper: with 20 labels SSME improves over labels alone by 2.3 times, the next best method,
    Majority-Vote, by 1.3; both are 1 / mean RMAE over its two tasks and two metrics. The methods
    are those of the paper's multiclass tables, the ensemble and ours.
    """
    methods = ["labeled", "majority_vote", "pseudo_label", "dawid_skene", "autoeval"]
    methods += ["active_testing", "ssme", "ensemble", "auto"]
    save(
        drop_keys(summarize(run_methods(setup, methods, ["multinli", "mmlupro_llm_logit"]))), setup
    )


@experiment(runs=10)
def quick(setup: Setup) -> None:
    """A reduced main table in minutes: labels alone, the ensemble, SSME and ours, from nothing.

    On CivilComments and MultiNLI where their predictions are found (``SSME_DATA``), otherwise on
    synthetic Gaussian sets, whose truth is known in closed form.
    """
    (CACHE / "cells" / "quick.jsonl").unlink(missing_ok=True)
    datasets = PUBLIC if (data_folder() / "civilcomments.npz").exists() else ["gaussian"]
    methods = ["labeled", "ensemble", "ssme", "auto"]
    write(drop_keys(summarize(run_methods(setup, methods, datasets, "quick"))), "quick")


# -------------------------------------------------------------------------------------------------
# Choices inside SSME, compared on CivilComments as in the paper's appendix. The one that is the
# paper's own is SSME at its defaults, computed once for all. The ensemble is beside them: the same
# estimate without any density.


def compare_choices(setup: Setup, variants: dict[str, dict[str, Any]]) -> None:
    methods = {name: ("ssme", {**options, "n_bootstrap": 0}) for name, options in variants.items()}
    methods["ensemble"] = ("ensemble", {})
    summary = summarize(run_methods(setup, methods, ["civilcomments"], "variants"))
    save(drop_keys(summary, "dataset"), setup)


@experiment(runs=50)
def bandwidths(setup: Setup) -> None:
    """Bandwidth rule: the improved Sheather-Jones rule against Silverman's, Scott's and fixed ones.

    The paper finds Sheather-Jones better than Silverman's rule and fixed 1.0 and 2.0.
    """
    rules: dict[str, Any] = {"silverman": "silverman", "scott": "scott"}
    rules |= {"fixed 1.0": 1.0, "fixed 2.0": 2.0, "public code": "public_code"}
    variants = {name: {"bandwidth": rule} for name, rule in rules.items()}
    compare_choices(setup, {"isj": {}, **variants})


@experiment(runs=50)
def kernels(setup: Setup) -> None:
    """Kernel choice: does the shape of SSME's kernel matter, under either preset?

    The paper finds no significant difference between the Gaussian, Epanechnikov and exponential.
    """
    names = ("gaussian", "epanechnikov", "exponential")
    variants: dict[str, dict[str, Any]] = {name: {"kernel": name} for name in names}
    public = {f"public code, {name}": {"preset": "public_code", "kernel": name} for name in names}
    compare_choices(setup, variants | public)


@experiment(runs=50)
def initialization(setup: Setup) -> None:
    """Initialization: where SSME's EM begins, and whether it matters.

    From a draw of labels by the mean score, or from the majority of the 5 nearest labeled rows. The
    paper finds the two comparable.
    """
    compare_choices(setup, {"draw": {}, "knn": {"init": "knn"}})


# -------------------------------------------------------------------------------------------------
# Numbers of classifiers, subgroups, cost, and the classifiers themselves.

SUBSETS_PER_SIZE = 10


@experiment(runs=25)
def classifiers(setup: Setup) -> None:
    """More classifiers help? SSME, also as its public code, and ours with 2 to 7 on CivilComments.

    The paper's table: with 20 labels the error in accuracy falls from 4.71 points with two
    classifiers to 2.23 with seven. Random subsets of each size, the same for every method. Runs r
    and subsets s are crossed, so with errors e_rs the half-width of the 95% interval of their mean
    is

        1.96 sqrt(Var_r(mean_s e_rs) / R + Var_s(mean_r e_rs) / S),

    the second term being 0 where there is a single subset. ``sd_subsets`` is the standard deviation
    over subsets of their mean error, which the paper finds below 0.011 (accuracy) and 0.015 (ECE).
    """
    name = "civilcomments"
    models = load_dataset(name).models
    chosen = [s for size in range(1, len(models) + 1) for s in choose_subsets(models, size)]
    methods: Methods = {"ensemble": ("ensemble", {}), "ssme": NO_REFITS, "auto": ("auto", {})}
    methods["ssme, public code"] = PUBLIC_CODE
    protocol = Protocol(methods, n_labeled=(20,), runs=setup.runs, subsets={name: chosen})
    table = run(protocol, [name], setup)
    save(with_half_widths(table).assign(runs=setup.runs, **provenance(table)), setup)


def choose_subsets(models: tuple[str, ...], size: int) -> list[tuple[str, ...]]:
    """At most `SUBSETS_PER_SIZE` subsets of ``size`` models, at random but always the same."""
    every = list(combinations(models, size))
    rng = np.random.default_rng(size)
    chosen = rng.choice(len(every), min(SUBSETS_PER_SIZE, len(every)), replace=False)
    return [every[i] for i in sorted(chosen)]


def compute_half_width(errors: pd.DataFrame) -> float:
    """Of the mean of ``error``, one row per ``run`` and ``subset``."""
    runs, subsets = (errors.groupby(each)["error"].mean() for each in ("run", "subset"))
    chosen = subsets.var() / subsets.size if subsets.size > 1 else 0.0
    return 1.96 * float(runs.var() / runs.size + chosen) ** 0.5


def with_half_widths(table: pd.DataFrame) -> pd.DataFrame:
    """Errors by number of classifiers, with half-widths over runs and subsets."""
    keys = ["classifiers", "method", "metric"]
    summary, rows = summarize(table), table.assign(error=(table["estimate"] - table["truth"]).abs())
    for frame in (summary, rows):
        frame["classifiers"] = frame["subset"].str.count(r"\+") + 1
    grouped = summary.groupby(keys)
    result = grouped[["mae", "rmae", "coverage"]].mean()
    result["subsets"] = grouped.size()
    errors = rows.groupby([*keys, "subset", "run"])["error"].mean().reset_index()
    by_subset = errors.groupby([*keys, "subset"])["error"].mean()
    result["sd_subsets"] = by_subset.groupby(level=keys).std()
    result["ci95"] = errors.groupby(keys)[["run", "subset", "error"]].apply(compute_half_width)
    return result.reset_index()


@experiment(runs=25)
def subgroups(setup: Setup) -> None:
    """Case study: performance in subgroups (table 1), 20 labels in all, 1,000 unlabeled rows.

    The paper's study is on MIMIC-IV, which is not public; here on Adult (sex, race, age) and on
    diabetes readmission (gender, race, age). The paper does not say how it bins ages; here they are
    decades. As in the paper, labels alone fall back to all labeled rows where a group has none
    (``fallback`` is the share of values that did, which the tables of runs mark), and RMAE is
    averaged over metrics and the subgroups of a category: ``rmae`` is the mean of the ratios.
    """
    names = ("pseudo_label", "dawid_skene", "bayesian_calibration", "ensemble", "ssme", "auto")
    methods = {name: (name, {}) for name in names} | {"ssme": NO_REFITS}
    categories = {"adult": ("sex", "race", "age"), "diabetes_readmit": ("gender", "race", "age")}
    parts = []
    for dataset, by in categories.items():
        protocol = Protocol(methods, n_labeled=(20,), runs=setup.runs, by=by)
        table = run(protocol, [dataset], setup, load_decades, name=f"subgroups_{dataset}")
        parts.append(average_by_category(table).assign(**provenance(table)))
    save(pd.concat(parts).assign(runs=setup.runs), setup)


def load_decades(name: str) -> ScoreSet:
    """The set ``name`` with ages in decades."""
    data = load_dataset(name)
    decades = (data.groups["age"].astype(int) // 10 * 10).astype(str).astype(object)
    return data.replace(groups={**data.groups, "age": decades + "s"})


def average_by_category(table: pd.DataFrame) -> pd.DataFrame:
    """Mean RMAE over the metrics and groups of a category, by method."""
    summary = summarize(table[table["group"] != "all"])
    summary["category"] = summary["group"].str.split("=").str[0]
    grouped = summary.groupby(["dataset", "category", "method"])
    result = grouped[["rmae", "mae", "labels_only_mae", "coverage", "fallback"]].mean()
    result["cells"] = grouped.size()
    return result.reset_index()


@experiment(runs=5)
def cost(setup: Setup) -> None:
    """Computational cost: each method on 1,020 rows and 7 classifiers, as a ratio to labels alone.

    One evaluation with its intervals at a time, in this process, on one core; the least of the
    runs. SSME without the refits behind our intervals, which the paper's has not, is there too,
    also with the EM loop of 20 steps of the public code. The paper's comparison: Bayesian
    calibration 32.1 s, SSME 21.5 s at this size on one CPU.
    """
    limit_blas_threads()
    methods: Methods = {name: (name, {}) for name in method_names()}
    methods["ssme, no refits"] = NO_REFITS
    methods["ssme, public code, no refits"] = ("ssme", {"preset": "public_code", "n_bootstrap": 0})
    metrics = ("accuracy", "ece", "roc_auc", "average_precision")
    protocol = Protocol(methods, metrics=metrics, n_labeled=(20,), runs=setup.runs)
    here = replace(setup, executor=None)
    table = run(protocol, ["gaussian_7"], here, load_normal_scores)
    frame = here.times[0].groupby("method", sort=False)["seconds"].min().reset_index()
    alone = float(frame.loc[frame["method"] == "labeled", "seconds"].iloc[0])
    frame["ratio_to_labeled"] = frame["seconds"] / alone
    save(frame.sort_values("seconds").assign(runs=setup.runs, **provenance(table)), here)


def load_normal_scores(name: str) -> ScoreSet:
    """Seven classifiers with normal scores; half of the rows are for the truth."""
    return gaussian_set(2040, np.full(7, 1.2), rng=np.random.default_rng(0))


@experiment(runs=1)
def ground_truth(setup: Setup) -> None:
    """Tables S1 and S2: the classifiers' true performance, and how alike they are.

    The metrics of each classifier on all rows of the two public sets beside the paper's. The
    paper's evaluation split is half of the rows, so the last digit may differ. ``correlation`` is
    the mean over pairs of classifiers, of the scores and of their log-odds; the paper gives 0.81
    for CivilComments and does not say of what. ``ties`` is the share of scores whose largest entry
    is not the only one, as at exactly 0.5: where it is 0, it does not matter to which class a tie
    goes.
    """
    rows = [row for dataset in PAPER_NAMES for row in describe_set(dataset, load_dataset(dataset))]
    table = pd.DataFrame(rows, columns=["dataset", "model", "metric", "ours", "paper"])
    save(table.assign(**{name: describe_process()[name] for name in DECISIVE}), setup)


def describe_set(dataset: str, data: ScoreSet) -> list[tuple[str, str, str, float, float]]:
    """One row per classifier and metric, then the mean correlations and the share of ties."""
    mass = one_hot_mass(data.labels, data.n_classes)
    published = read_paper_file("ground_truth").set_index(["dataset", "model", "metric"])["truth"]
    rows = []
    for metric in default_metrics(data.n_classes):
        values = get_metric(metric)(data.scores, mass)[0]
        for model, value in zip(data.models, values, strict=True):
            key = (PAPER_NAMES[dataset], name_in_paper(dataset, model), metric)
            rows.append((dataset, model, metric, value, published.get(key, np.nan)))
    ratios = np.log(np.clip(data.scores, 1e-6, 1.0))
    paper = 0.81 if dataset == "civilcomments" else np.nan
    for what, scores in (("scores", data.scores), ("log-odds", ratios - ratios[:, :, :1])):
        value = compute_mean_correlation(scores[:, :, 1:])
        rows.append((dataset, "all", f"correlation of {what}", value, paper))
    top = np.sort(data.scores, axis=2)[:, :, -2:]
    ties = float((top[:, :, 0] == top[:, :, 1]).mean())
    return [*rows, (dataset, "all", "ties", ties, np.nan)]


def name_in_paper(dataset: str, model: str) -> str:
    """The name of ``model`` in tables S1 and S2."""
    if dataset != "civilcomments":
        return f"distilbert-{model}"
    name = PAPER_MODELS[model]
    return name if "seed" in name else f"{name}-seed0"


def compute_mean_correlation(scores: FloatArray) -> float:
    """Mean over pairs of classifiers of the correlation of ``scores`` (n, M, k), pooled over k."""
    flat = scores.transpose(1, 0, 2).reshape(scores.shape[1], -1)
    correlation = np.corrcoef(flat)
    return float(correlation[np.triu_indices(len(flat), 1)].mean())
