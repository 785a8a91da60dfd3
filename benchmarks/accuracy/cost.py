"""Computational cost: each method on 1,020 rows and 7 classifiers, as a ratio to labels alone.

The paper's comparison: Bayesian calibration 32.1 s, SSME 21.5 s at this size on one CPU.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd

import ssme
from benchmarks.experiment import arguments, save
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.data.synthetic import gaussian_set
from ssme.engines.executors import single_threaded_blas
from ssme.errors import SsmeWarning
from ssme.methods.registry import get_method, method_class, method_names

N_LABELED, N_UNLABELED = 20, 1000


def main() -> None:
    args = arguments(__doc__, runs=3)
    single_threaded_blas()
    full = gaussian_set(N_LABELED + N_UNLABELED, np.full(7, 1.2), rng=np.random.default_rng(0))
    labels = full.labels.copy()
    labels[N_LABELED:] = UNLABELED
    data = full.replace(labels=labels)
    rows = [
        {"method": name, "seconds": min(timed(name, data, full) for _ in range(args.runs))}
        for name in method_names()
    ]
    frame = pd.DataFrame(rows)
    alone = float(frame.loc[frame["method"] == "labeled", "seconds"].iloc[0])
    save("cost", frame.assign(ratio_to_labeled=frame["seconds"] / alone), args)


def timed(name: str, data: ScoreSet, full: ScoreSet) -> float:
    """Seconds of one evaluation with the metrics the method declares."""
    spec = method_class(name).spec
    options = {"budget": N_LABELED, "oracle": full.labels} if name == "active_testing" else {}
    metrics = [
        m
        for m in ("accuracy", "ece", "roc_auc", "average_precision")
        if spec.metrics is None or m in spec.metrics
    ]
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SsmeWarning)
        ssme.evaluate(data, method=get_method(name, **options), metrics=metrics)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
