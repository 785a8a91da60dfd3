"""The tables of the study of choices count sets alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from benchmarks.decide.choices import tabulate_regret
from benchmarks.decide.said import tabulate_said


def rows_of(dataset: str, what: str, said: list[float], true: list[float]) -> pd.DataFrame:
    at = {"method": "m", "metric": "accuracy", "n_labeled": 20, "dataset": dataset, "what": what}
    return pd.DataFrame([{**at, "said": s, "true": t} for s, t in zip(said, true, strict=True)])


def test_a_set_with_many_splits_counts_as_one_with_few() -> None:
    frame = pd.concat(
        [
            rows_of("often", "best", [0.5] * 8, [1.0] * 8),
            rows_of("seldom", "best", [0.5] * 2, [0.0] * 2),
            rows_of("third", "best", [0.5] * 4, [0.0] * 4),
        ]
    )
    (row,) = tabulate_said(frame, "all").itertuples()
    assert (row.cases, row.low, row.high) == (14, 0.4, 0.6)
    assert (row.said, row.true) == (pytest.approx(0.5), pytest.approx(1 / 3))
    left_out = np.array([0.0, 0.5, 0.5]) - 0.5
    assert row.se == pytest.approx(np.sqrt(2 / 3 * ((left_out - left_out.mean()) ** 2).sum()))


def test_regret_is_the_mean_over_sets() -> None:
    frame = pd.concat(
        [
            rows_of("a", "choice", [0.1] * 3, [0.0] * 3),
            rows_of("b", "choice", [0.3], [0.2]),
        ]
    ).assign(held=1.0, picked=0.0, within=0.0, p_within=0.5)
    (row,) = tabulate_regret(frame, "all").itertuples()
    assert (row.said, row.true) == (pytest.approx(0.2), pytest.approx(0.1))
    assert row.off_se == pytest.approx(0.0)
