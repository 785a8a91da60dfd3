"""The nearest falling values: neighbors that rise are pooled into their mean.

    minimize  sum_i w_i (x_i - v_i)^2   so that   x_1 >= x_2 >= ...

(Barlow, Bartholomew, Bremner and Brunk 1972: pooling of adjacent violators).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ssme.arrays import FloatArray


def make_falling(
    values: Sequence[float] | FloatArray, weights: Sequence[float] | FloatArray | None = None
) -> FloatArray:
    """The nearest values (least squares) that never rise."""
    pools: list[tuple[float, float, int]] = []
    for value, weight in zip(
        values, np.ones(len(values)) if weights is None else weights, strict=True
    ):
        mean, mass, size = float(value), float(weight), 1
        while pools and pools[-1][0] < mean:
            before, heavy, many = pools.pop()
            mean = (before * heavy + mean * mass) / (heavy + mass)
            mass, size = heavy + mass, many + size
        pools.append((mean, mass, size))
    return np.repeat([mean for mean, _, _ in pools], [size for _, _, size in pools])
