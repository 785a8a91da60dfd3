"""What every classifier believes by itself, and their mean."""

from __future__ import annotations

import numpy as np

from ssme import ScoreSet
from ssme.methods.beliefs import PerModelPosterior


def test_the_posterior_is_the_mean_of_those_that_scored_the_row() -> None:
    scores = np.full((3, 2, 2), 0.5)
    scores[1, 0] = np.nan
    data = ScoreSet.from_arrays(scores, classes=range(2))
    each = np.array([[[0.9, 0.1], [np.nan] * 2, [0.6, 0.4]], [[0.5, 0.5], [0.2, 0.8], [0.0, 1.0]]])
    belief = PerModelPosterior(data, each, 10, 5, np.random.SeedSequence(0))
    np.testing.assert_allclose(belief.posterior, [[0.7, 0.3], [0.2, 0.8], [0.3, 0.7]])
