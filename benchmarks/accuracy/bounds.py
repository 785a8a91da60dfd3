"""Figure S1: how far an estimate may be off, by the classifier's own performance (theorem 1).

For an error eps in the estimated separation, the bound on accuracy and AUC: the weaker the
classifier, the wider.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

import ssme
from benchmarks.charts import lines
from benchmarks.experiment import Setup, save, start
from ssme.theory import accuracy_bound, auc_bound

RUNS = 1
EPSILONS = (0.05, 0.1, 0.2, 0.4)


def main(setup: Setup) -> None:
    separation = np.linspace(0.2, 4.0, 20)
    rows = []
    for epsilon in EPSILONS:
        for metric, performance, bound in (
            ("accuracy", ndtr(separation / 2), accuracy_bound(separation, epsilon)),
            ("roc_auc", ndtr(separation / np.sqrt(2)), auc_bound(separation, epsilon)),
        ):
            rows += [
                {"metric": metric, "epsilon": epsilon, "performance": p, "bound": b}
                for p, b in zip(performance, bound, strict=True)
            ]
    save(pd.DataFrame(rows).assign(ssme=ssme.__version__, numpy=np.__version__), setup, figure)


def figure(frame: pd.DataFrame) -> Any:
    frame = frame.assign(series="eps " + frame["epsilon"].astype(str))
    return lines(frame, "performance:Q", "bound:Q", "series", facet="metric")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
