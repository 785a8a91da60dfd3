import numpy as np
import pandas as pd
import pytest
from benchmarks.accuracy.tables import (
    effective_sample_size,
    geometric_rmae,
    labels_only_curve,
)
from benchmarks.datasets.synthetic import gaussian_set

from ssme.bench import summarize


def table():
    rows = []
    for run, (estimate, alone) in enumerate([(0.80, 0.70), (0.90, 1.00)]):
        rows.append(
            {
                "dataset": "d",
                "subset": "",
                "group": "all",
                "n_labeled": 20,
                "n_unlabeled": 100,
                "metric": "accuracy",
                "method": "m",
                "run": run,
                "model": "a",
                "estimate": estimate,
                "low": estimate - 0.04,
                "high": estimate + 0.06,
                "labels_only": alone,
                "labels_only_low": alone - 0.1,
                "labels_only_high": alone + 0.1,
                "truth": 0.85,
                "seed": 3,
                "ssme": "0.1.0",
                "numpy": "2.0.0",
            }
        )
    return pd.DataFrame(rows)


def test_numbers_by_hand():
    row = summarize(table()).iloc[0]
    assert row["mae"] == pytest.approx(0.05)
    assert row["rmae"] == pytest.approx(0.05 / 0.15)
    assert row["bias"] == pytest.approx(0.0)
    assert row["coverage"] == pytest.approx(0.5)
    assert row["width"] == pytest.approx(0.1)
    assert row["width_ratio"] == pytest.approx(0.5)
    assert row["runs"] == 2
    assert (row["seed"], row["ssme"], row["numpy"]) == (3, "0.1.0", "2.0.0")


def test_geometric_mean_and_worst_cell():
    summary = summarize(table())
    second = summary.assign(metric="ece", rmae=3 * summary["rmae"])
    both = geometric_rmae(pd.concat([summary, second]))
    assert both.iloc[0]["rmae"] == pytest.approx(1 / 3 * np.sqrt(3))
    assert both.iloc[0]["worst_cell"] == "d ece"
    assert (both.iloc[0]["runs"], both.iloc[0]["seed"]) == (2, 3)


def test_effective_sample_size_is_the_nearest_size():
    sizes = (10, 20, 40)
    curve = np.array([0.1, 0.05, 0.02])
    assert effective_sample_size(0.06, curve, sizes) == 20
    assert effective_sample_size(0.0, curve, sizes) == 40


def test_labels_only_error_falls_with_labels():
    data = gaussian_set(2000, np.array([1.0, 1.5]), rng=np.random.default_rng(0))
    curve = labels_only_curve(data, ("accuracy",), dataset="g", samples=20, sizes=(10, 100, 900))
    assert curve["accuracy"][0] > curve["accuracy"][1] > curve["accuracy"][2]
