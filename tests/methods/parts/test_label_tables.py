"""Tables drawn through the cells that hold mass, against tables drawn cell by cell."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from ssme.methods.parts.label_draws import CellTables, break_sticks, draw_tables
from ssme.metrics import get_metric
from ssme.metrics.confusion import FullTables
from ssme.metrics.kinds import Decision

K = 40


def counts_of(seed: int = 0) -> np.ndarray:
    """A table of 120 rows, two thirds of them right, some weighing a fraction."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, K, 120)
    said = np.where(rng.random(120) < 0.67, true, rng.integers(0, K, 120))
    counts = np.zeros((K, K))
    np.add.at(counts, (true, said), rng.uniform(0.5, 1.0, 120))
    return counts


def statistics() -> dict[str, object]:
    found = {}
    for name in ("accuracy", "f1_macro", "balanced_accuracy", "precision_macro"):
        kind = get_metric(name).kind
        assert isinstance(kind, Decision)
        found[name] = kind.statistic
    costs = np.abs(np.subtract.outer(np.arange(K), np.arange(K))).astype(float)
    found["cost"] = lambda t: t.total_of(costs) / t.occurring.sum(axis=2)
    return found


@pytest.mark.parametrize("name", list(statistics()))
def test_both_ways_draw_from_one_distribution(name: str):
    statistic = statistics()[name]
    counts, draws = counts_of(), {}
    for whole in (True, False):
        rng = np.random.default_rng(int(whole))
        tables = draw_tables(counts, 2.0, 3000, rng, whole=whole)
        draws[whole] = statistic(tables)[:, 0]
    assert ks_2samp(draws[True], draws[False]).pvalue > 0.001
    assert np.allclose(draws[True].mean(), draws[False].mean(), rtol=0.01)


def test_sums_of_cells_are_those_of_the_whole_table():
    rng = np.random.default_rng(1)
    cells = CellTables.draw(counts_of(), 2.0, 7, rng)
    whole = np.zeros((7, 1, K, K))
    for d in range(7):
        np.add.at(whole[d, 0], cells.cell, cells.observed[d])
        whole[d, 0] += np.diag(cells.right[d])
        np.add.at(whole[d, 0], (cells.true[d], cells.said[d]), cells.wrong[d])
    full, values = FullTables(whole), rng.normal(size=(K, K))
    np.testing.assert_allclose(cells.hits, full.hits, atol=1e-12)
    np.testing.assert_allclose(cells.occurring, full.occurring, atol=1e-12)
    np.testing.assert_allclose(cells.predicted, full.predicted, atol=1e-12)
    np.testing.assert_allclose(cells.total_of(values), full.total_of(values), atol=1e-12)


def test_the_prior_alone_is_one_right_and_one_wrong_row():
    cells = CellTables.draw(np.zeros((K, K)), 2.0, 20_000, np.random.default_rng(2))
    right, wrong = cells.right.sum(axis=1), cells.wrong.sum(axis=1)
    assert (cells.true != cells.said).all()
    for mass in (right, wrong):  # both are Gamma(1): mean 1, variance 1
        assert mass.mean() == pytest.approx(1.0, abs=0.03)
        assert mass.var() == pytest.approx(1.0, abs=0.08)


@pytest.mark.parametrize("total", [0.5, 2.0])
def test_sticks_add_up_to_a_gamma_and_the_first_is_its_share(total: float) -> None:
    rng = np.random.default_rng(0)
    sticks = break_sticks(total, 10_000, rng)
    whole = sticks.sum(axis=1)
    assert whole.mean() == pytest.approx(total, rel=0.05)
    assert whole.var() == pytest.approx(total, rel=0.1)
    # v_1 ~ Beta(1, A), and what is left of it is broken again
    first, second = (sticks[:, j].mean() / total for j in (0, 1))
    assert first == pytest.approx(1 / (1 + total), rel=0.05)
    assert second == pytest.approx(total / (1 + total) ** 2, rel=0.1)
    few = break_sticks(total, 500, np.random.default_rng(1), n_sticks=2)
    rest = few[:, 1] / few.sum(axis=1)
    assert ((rest >= 0.0) & (rest <= 1.0)).all()
    assert (few[:, 0] / few.sum(axis=1)).mean() == pytest.approx(1 / (1 + total), rel=0.1)
