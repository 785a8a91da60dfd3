"""The influence of a label on a mean over rows is that of changing the row and computing anew."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.metrics import get_metric
from ssme.metrics.base import Metric
from ssme.metrics.costs import expected_cost
from ssme.metrics.influence import measure_influence

COSTS = expected_cost([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [8.0, 3.0, 0.0]])


@pytest.mark.parametrize("metric", [get_metric("accuracy"), COSTS], ids=["accuracy", "costs"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_change_of_the_metric(metric: Metric, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(3), size=(12, 4))
    scores[2, 1] = scores[5, 1] = np.nan
    belief = rng.dirichlet(np.ones(3), size=12)
    weights = rng.uniform(0.5, 2.0, 12) if weighted else None
    asked = np.arange(12) != 7
    found = measure_influence(metric, scores, belief, weights, asked, 0.02)
    by_row = np.ones(12) if weights is None else weights
    value = metric(scores, (belief * by_row[:, None])[None])[0]
    for i in range(12):
        for k in range(3):
            mass = belief.copy()
            mass[i] = np.eye(3)[k]
            moved = metric(scores, (mass * by_row[:, None])[None])[0] - value
            if i == 7 or belief[i, k] < 0.02:
                moved = np.zeros(4)
            np.testing.assert_allclose(found[i, k], moved, atol=1e-12)
