"""How often intervals of systems contain the truth, in made worlds, with the Monte-Carlo error.

Each case has 3 systems in 100 runs. The coverage of 95 % intervals over runs has a standard error
of about 0.015, so that 0.90 is more than three of them below 0.95.
"""

from __future__ import annotations

import numpy as np
import pytest

import ssme
from tests.systems.made import make_table

RUNS = 100
LEAST = 0.90


@pytest.mark.parametrize(
    "world",
    [
        {"labels": 30},
        {"labels": 120},
        {"labels": 60, "favored": 0.3},
        {"labels": 100, "items": 40, "epochs": 5},
        {"labels": 200, "items": 100, "epochs": 10, "repeated": True},
        {"labels": 60, "accuracies": (0.75,)},
        {"labels": 60, "levels": (1.5, 1.9, 2.2)},
    ],
    ids=[
        "few",
        "many",
        "favored system",
        "epochs",
        "same answers in all epochs",
        "one judge",
        "high rates",
    ],
)
def test_intervals_of_rates_and_differences_hold(world: dict[str, object]):
    held, differ, narrower, error = [], [], [], []
    for seed in range(RUNS):
        table, truth = make_table(seed, **world)
        result = ssme.evaluate_systems(table, "human", n_draws=1000)
        found = result.frame()
        held.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
        gaps = [truth[a] - truth[b] for a, b in ((0, 1), (0, 2), (1, 2))]
        rows = result.differences()
        differ.append(
            np.mean([r["low"] <= g <= r["high"] for r, g in zip(rows, gaps, strict=True)])
        )
        alone = found["labels_only_high"] - found["labels_only_low"]
        narrower.append((found["high"] - found["low"] <= alone + 5e-3).mean())
        error.append(
            [
                (found["estimate"] - truth).abs().mean(),
                (found["labels_only"] - truth).abs().mean(),
            ]
        )
    assert np.mean(held) >= LEAST
    assert np.mean(differ) >= LEAST
    assert np.mean(narrower) == 1.0
    ours, alone = np.nanmean(error, axis=0)
    assert ours < alone
