"""Exact copies among classifiers."""

import numpy as np
import pytest

from ssme.methods.parts.draws import find_originals


@pytest.mark.parametrize("first_look", [1, 7, 40, 100])
def test_copies_are_found_and_a_single_other_row_is_seen(first_look):
    scores = np.random.default_rng(0).dirichlet(np.ones(3), (40, 2)).repeat([3, 2], axis=1)
    scores[39, 1, 0] += 1e-12
    scores[5, 3:] = np.nan
    assert find_originals(scores, first_look).tolist() == [0, 1, 0, 3, 3]
