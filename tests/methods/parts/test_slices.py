"""Elliptical slice sampling: the bracket keeps the state and every refused angle shrinks it."""

from __future__ import annotations

import numpy as np

from ssme.methods.parts.draws import Angles


def test_brackets_shrink_to_the_refused_angle_and_keep_zero() -> None:
    rng = np.random.default_rng(0)
    angles = Angles.draw(1000, rng)
    np.testing.assert_allclose(angles.high - angles.low, 2 * np.pi)
    refused, width = np.arange(0, 1000, 2), angles.high - angles.low
    for _ in range(5):
        before = angles.angle.copy()
        angles.shrink(refused, rng)
        assert (angles.low[refused] <= 0).all()
        assert (angles.high[refused] >= 0).all()
        ends = np.where(before[refused] < 0, angles.low[refused], angles.high[refused])
        np.testing.assert_array_equal(ends, before[refused])
        now = angles.high - angles.low
        assert (now[refused] <= width[refused]).all()
        width = now
    assert (np.abs(angles.angle[refused]).mean()) < 0.5
    np.testing.assert_allclose((angles.high - angles.low)[1::2], 2 * np.pi)


def test_many_steps_sample_the_posterior_of_a_normal_mean() -> None:
    """Prior N(0, 1), one observation 2 with unit error: the posterior is N(1, 1/2)."""
    rng = np.random.default_rng(1)
    state = rng.standard_normal(4000)
    for _ in range(30):
        other = rng.standard_normal(4000)
        bar = -0.5 * (state - 2.0) ** 2 - rng.standard_exponential(4000)
        angles, active, moved = Angles.draw(4000, rng), np.arange(4000), state.copy()
        while active.size:
            angle = angles.angle[active]
            tried = np.cos(angle) * state[active] + np.sin(angle) * other[active]
            accepted = -0.5 * (tried - 2.0) ** 2 > bar[active]
            moved[active[accepted]] = tried[accepted]
            active = active[~accepted]
            angles.shrink(active, rng)
        state = moved
    assert abs(state.mean() - 1.0) < 0.04
    assert abs(state.var() - 0.5) < 0.04
