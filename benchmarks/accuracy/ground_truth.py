"""Tables S1 and S2: the classifiers' true performance, and how alike they are.

The metrics of each classifier on all rows of the two public sets beside the paper's. The paper's
evaluation split is half of the rows, so the last digit may differ. ``correlation`` is the mean over
pairs of classifiers, of the scores and of their log-odds; the paper gives 0.81 for CivilComments
and does not say of what. ``ties`` is the share of scores whose largest entry is not the only one,
as at exactly 0.5: where it is 0, it does not matter to which class a tie goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, save, start
from benchmarks.paper import PAPER_MODELS, PAPER_NAMES, read_paper_file
from ssme.bench.store import DECISIVE, describe_process
from ssme.data.scoreset import ScoreSet
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import FloatArray, one_hot_mass

RUNS = 1
CLIP = 1e-6


def main(setup: Setup) -> None:
    rows = [row for dataset in PAPER_NAMES for row in describe_set(dataset, load_dataset(dataset))]
    versions = {name: describe_process()[name] for name in DECISIVE}
    save(pd.DataFrame(rows).assign(**versions), setup)


def describe_set(dataset: str, data: ScoreSet) -> list[dict[str, Any]]:
    """One row per classifier and metric, then the mean correlations and the share of ties."""
    mass = one_hot_mass(data.labels, data.n_classes)
    published = read_paper_file("ground_truth").set_index(["dataset", "model", "metric"])["truth"]
    rows: list[dict[str, Any]] = []
    for metric in default_metrics(data.n_classes):
        values = get_metric(metric)(data.scores, mass)[0]
        for model, value in zip(data.models, values, strict=True):
            key = (PAPER_NAMES[dataset], name_in_paper(dataset, model), metric)
            rows.append(make_row(dataset, model, metric, value, published.get(key, np.nan)))
    ratios = np.log(np.clip(data.scores, CLIP, 1.0))
    told = 0.81 if dataset == "civilcomments" else np.nan
    for what, scores in (("scores", data.scores), ("log-odds", ratios - ratios[:, :, :1])):
        value = compute_mean_correlation(scores[:, :, 1:])
        rows.append(make_row(dataset, "all", f"correlation of {what}", value, told))
    return [*rows, make_row(dataset, "all", "ties", compute_share_of_ties(data.scores), np.nan)]


def make_row(dataset: str, model: str, what: str, value: float, paper: float) -> dict[str, Any]:
    """One row of the table."""
    return {"dataset": dataset, "model": model, "metric": what, "ours": value, "paper": paper}


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


def compute_share_of_ties(scores: FloatArray) -> float:
    """Rows and classifiers whose two largest scores are equal."""
    top = np.sort(scores, axis=2)[:, :, -2:]
    return float((top[:, :, 0] == top[:, :, 1]).mean())


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
