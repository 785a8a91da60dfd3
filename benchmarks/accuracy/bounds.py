"""Figure S1: the band of estimates by the classifier's own performance (theorem 1).

For an error of at most eps in the estimated separation, the least and the largest estimate of
accuracy and AUC: the weaker the classifier, the wider the band.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import ssme
from benchmarks.experiment import Setup, save, start
from benchmarks.theory import accuracy_of_separation, auc_of_separation, performance_band

RUNS = 1
EPSILONS = (0.05, 0.1, 0.2, 0.4)
PERFORMANCES = {"accuracy": accuracy_of_separation, "roc_auc": auc_of_separation}


def main(setup: Setup) -> None:
    separation = np.linspace(0.2, 4.0, 20)
    parts = []
    for metric, performance in PERFORMANCES.items():
        for epsilon in EPSILONS:
            low, high = performance_band(metric, separation, epsilon)
            columns = {"performance": performance(separation), "low": low, "high": high}
            parts.append(pd.DataFrame({"metric": metric, "epsilon": epsilon, **columns}))
    result = pd.concat(parts)
    result["bound"] = result["performance"] - result["low"]
    save(result.assign(ssme=ssme.__version__, numpy=np.__version__), setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
