"""Labels drawn from a soft labeling, in batches, and the rows that stand for all."""

from __future__ import annotations

import numpy as np

from ssme.methods.beliefs import draw_labels, draw_masses, take_part
from ssme.metrics.base import one_hot_mass


def test_batches_are_the_draws_of_one_generator_in_turn() -> None:
    soft = np.random.default_rng(0).dirichlet(np.ones(3), size=(5, 2))
    seed = np.random.SeedSequence(7)
    whole = np.concatenate(list(draw_masses(soft, 11, batch_cells=4 * soft.size, seed=seed)))
    rng = np.random.default_rng(seed)
    labels = [draw_labels(soft.reshape(-1, 3), size, rng) for size in (4, 4, 3)]
    plain = one_hot_mass(np.concatenate(labels), 3).reshape(11, 5, 2, 3)
    np.testing.assert_array_equal(whole, plain)


def test_labels_follow_the_soft_labeling() -> None:
    soft = np.array([[0.1, 0.9], [0.6, 0.4]])
    mass = np.concatenate(list(draw_masses(soft, 20_000, 1 << 16, np.random.SeedSequence(0))))
    np.testing.assert_allclose(mass.mean(axis=0), soft, atol=0.015)


def test_a_part_of_the_rows_is_the_same_at_every_call_and_nested_in_larger_ones() -> None:
    rows, seed = np.arange(0, 1000, 3), np.random.SeedSequence(3)
    part = take_part(rows, 50, 1000, seed)
    assert part.size == 50
    assert np.isin(part, rows).all()
    assert (np.diff(part) > 0).all()
    np.testing.assert_array_equal(part, take_part(rows, 50, 1000, seed))
    assert np.isin(part, take_part(rows, 80, 1000, seed)).all()
    np.testing.assert_array_equal(take_part(rows, 1000, 1000, seed), rows)
