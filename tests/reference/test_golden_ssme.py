"""The public-code preset against runs of the paper's public code on fixed rows.

Its bandwidths are exact targets. Its estimates are random, so they are compared with the spread of
our own repeats: the public code must look like one more repeat of ours.
"""

import numpy as np
import pytest
from benchmarks.accuracy.causes import compare, read_golden_data, repeat_estimates
from tests.shared_data import golden_runs

from ssme.mixture.kde import select_bandwidth
from ssme.mixture.model import stack_alr

pytestmark = pytest.mark.data


def test_bandwidths_of_all_runs() -> None:
    for run in golden_runs():
        points = stack_alr(read_golden_data(run).scores, 1e-4, only_exact=True)
        ours = select_bandwidth(points, "public_code").values
        np.testing.assert_allclose(ours, run["bandwidth"], rtol=1e-7)


def test_estimates_are_as_close_as_our_own_repeats() -> None:
    distances = [
        compare(ours, np.asarray(run["reference_ssme"][name]))
        for run in golden_runs()[::3]
        for name, ours in repeat_estimates(run, 12).items()
    ]
    to_reference, among, _ = np.mean(distances, axis=0)
    assert to_reference < 1.25 * among
