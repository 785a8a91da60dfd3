"""The scales of the bias of `auto`'s model, tried on the part "fit" and on the development sets.

    python -m benchmarks.corpus.bias

Every panel is fitted once, with 20 and 100 labels, and estimated with each setting of the constants
of `CorrectionConstants` that say how large a bias is: those that ship, no bias, a larger and a
smaller one. ``benchmarks/results/corpus_bias.csv`` has the error relative to labels alone,
geometric means over panels and metrics.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.corpus.panels import list_panels, load_panel
from benchmarks.corpus.study import SHARED, UNLABELED_ROWS, CorpusScene, load_shared
from benchmarks.experiment import write_tables
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import Auto
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

OF = Constants()
N_DRAWS = 20
METRICS = ("accuracy", "ece", "roc_auc", "average_precision")


def change(**values: float) -> Constants:
    return replace(OF, correction=replace(OF.correction, **values))


SETTINGS = {
    "as shipped": OF,
    "no bias": change(bias=1e-9),
    "half as large": change(bias=0.5 * OF.correction.bias),
    "twice as large": change(bias=2.0 * OF.correction.bias),
    "not by labels": change(bias_growth=0.0),
}


def try_panel(data: ScoreSet, name: str, n_labeled: int) -> Iterator[dict[str, Any]]:
    """The error of each setting and that of labels alone, a line per metric."""
    split = CorpusScene().split(data.labels, n_labeled, UNLABELED_ROWS, 0, seed=0, dataset=name)
    seen = data.take(np.concatenate([split.labeled, split.unlabeled]))
    labels = np.where(np.arange(seen.n_rows) < split.labeled.size, seen.labels, UNLABELED)
    belief: Any = Auto(n_draws=N_DRAWS).fit(
        seen.replace(labels=labels), np.random.default_rng(n_labeled)
    )
    metrics = [get_metric(each) for each in METRICS[: 4 if data.n_classes == 2 else 2]]
    every = one_hot_mass(data.labels, data.n_classes)
    exact = [metric(data.scores, every)[0] for metric in metrics]
    alone = [metric(data.scores[split.labeled], every[:, split.labeled])[0] for metric in metrics]
    for setting, constants in SETTINGS.items():
        found = replace(belief, constants=constants).estimate(metrics, [None])[0]
        for metric, ours, labeled, truth in zip(metrics, found, alone, exact, strict=True):
            yield {
                "panel": name,
                "n_labeled": n_labeled,
                "metric": metric.name,
                "setting": setting,
                "error": float(np.abs(ours.value - truth).mean()),
                "labels_error": float(np.abs(labeled - truth).mean()),
            }


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0]).parse_args()
    rows: list[dict[str, Any]] = []
    for part in ("fit", SHARED):
        for name in SETS if part == SHARED else list_panels(part):
            data = load_shared(name) if part == SHARED else load_panel(name)
            for n_labeled in (20, 100):
                rows += [{"part": part, **row} for row in try_panel(data, name, n_labeled)]
    frame = pd.DataFrame(rows)
    frame = frame[frame["error"].notna() & (frame["labels_error"] > 0.0)]
    frame["rmae"] = np.log((frame["error"] / frame["labels_error"]).clip(0.02, 50.0))
    table = np.exp(frame.groupby(["setting", "part", "n_labeled"], sort=False)["rmae"].mean())
    write_tables({"corpus_bias": table.reset_index()}, digits=4)
    print(table.unstack([1, 2]).round(4).to_string())


if __name__ == "__main__":
    main()
