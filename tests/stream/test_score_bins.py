"""Bins read off the bits of the odds, against exponent and mantissa computed with arithmetic."""

from __future__ import annotations

import math

import numpy as np

from ssme.stream.tally import MIDDLE, N_BINS, find_bins


def plain_bin(score: float) -> int:
    """128 equal steps of the mantissa for each doubling of the odds, from 2^-32 to 2^32."""
    odds = math.inf if score == 1.0 else score / (1.0 - score)
    if odds < 2.0**-32:
        return 0
    if odds >= 2.0**32:
        return N_BINS - 1
    mantissa, exponent = math.frexp(odds)  # odds = mantissa 2^exponent, mantissa in [1/2, 1)
    doublings = exponent - 1
    return (doublings + 32) * 128 + math.floor((2.0 * mantissa - 1.0) * 128)


def test_bits_give_the_bins_of_arithmetic() -> None:
    rng = np.random.default_rng(0)
    tails = 10.0 ** -rng.uniform(0.3, 320, 3000)
    ends = [0.0, 5e-324, 0.5, np.nextafter(0.5, 0), np.nextafter(0.5, 1), 1 - 2**-53, 1.0]
    edges = [odds / (1 + odds) for odds in 2.0 ** np.arange(-34, 35)]
    scores = np.concatenate([ends, edges, tails, 1.0 - tails, rng.random(3000)])
    assert find_bins(scores).tolist() == [plain_bin(score) for score in scores.tolist()]


def test_the_middle_is_where_class_one_is_predicted() -> None:
    assert find_bins(np.array([np.nextafter(0.5, 0), 0.5])).tolist() == [MIDDLE - 1, MIDDLE]
