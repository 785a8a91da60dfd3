"""A slight change of the scores changes intervals slightly, wherever rules begin and end."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.arrays import FloatArray
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.methods.auto.method import Auto
from ssme.metrics import get_metric

METRICS = [get_metric(name) for name in ("accuracy", "roc_auc")]


def find_ends(sharpness: float) -> FloatArray:
    """Ends (metrics, 2, M) of 95 % intervals of four classifiers whose log-odds are multiplied."""
    rng = np.random.default_rng(0)
    truth = (rng.random(400) < 0.4).astype(np.int64)
    noise = np.sqrt(0.6) * rng.standard_normal((400, 1)) + np.sqrt(0.4) * rng.normal(size=(400, 4))
    gap = np.linspace(1.4, 2.2, 4)
    odds = sharpness * gap * (noise + gap * (truth[:, None] - 0.5))
    p = 1.0 / (1.0 + np.exp(-odds))
    labels = np.where(np.arange(400) < 30, truth, UNLABELED)
    data = ScoreSet(np.stack([1.0 - p, p], axis=2), labels, tuple("abcd"), (0, 1))
    estimates = Auto().fit(data, np.random.default_rng(0)).estimate(METRICS, [None])[0]
    return np.array([estimate.interval() for estimate in estimates])


@pytest.mark.parametrize("sharpness", [1.0, 3.9, 4.4, 12.0, 28.0, 36.0])
def test_one_percent_of_temperature_moves_no_end_by_a_tenth_of_the_width(sharpness: float) -> None:
    """Scores that state an error of 0.18 to 0.005, across both ends of the range in which agreement
    takes the place of what is stated (0.05 and 0.007): the most that was seen is 0.03."""
    one, other = find_ends(sharpness), find_ends(1.01 * sharpness)
    width = one[:, 1] - one[:, 0]
    assert (np.abs(other - one) <= 0.1 * width[:, None]).all()
