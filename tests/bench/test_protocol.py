import numpy as np
import pytest

from ssme.bench import Protocol, split_rows
from ssme.errors import InputError

LABELS = np.random.default_rng(0).integers(0, 3, 400)


def test_split_halves_are_disjoint_and_complete():
    split = split_rows(LABELS, 20, 100, 3, seed=0, dataset="x")
    seen = np.concatenate([split.labeled, split.unlabeled])
    assert len(seen) == 120
    assert len(split.truth) == 200
    assert not set(seen) & set(split.truth)
    assert len(set(seen)) == 120


@pytest.mark.parametrize("run", range(10))
def test_every_class_has_a_label(run):
    rare = np.zeros(400, dtype=np.int64)
    rare[:8] = 1
    split = split_rows(rare, 5, 50, run, seed=0, dataset="x")
    assert set(rare[split.labeled]) == {0, 1}


def test_runs_differ_and_repeat():
    first = split_rows(LABELS, 20, 100, 0, seed=0, dataset="x")
    again = split_rows(LABELS, 20, 100, 0, seed=0, dataset="x")
    other = split_rows(LABELS, 20, 100, 1, seed=0, dataset="x")
    assert np.array_equal(first.labeled, again.labeled)
    assert not np.array_equal(first.labeled, other.labeled)


def test_more_labels_hold_the_fewer_and_the_truth_stays():
    few = split_rows(LABELS, 20, 100, 0, seed=0, dataset="x")
    many = split_rows(LABELS, 50, 100, 0, seed=0, dataset="x")
    assert set(few.labeled) <= set(many.labeled)
    assert np.array_equal(few.truth, many.truth)


def test_too_many_rows_asked_for():
    with pytest.raises(InputError, match=r"has 200 rows in its half.*at most 180 unlabeled"):
        split_rows(LABELS, 20, 1000, 0, seed=0, dataset="x")


def test_too_few_labels_for_the_classes():
    with pytest.raises(InputError, match="3 classes in the half, 2 labels"):
        split_rows(LABELS, 2, 100, 0, seed=0, dataset="x")


def test_cells_are_every_combination():
    protocol = Protocol.of(
        ["ensemble", "labeled"], n_labeled=(10, 20), n_unlabeled=(50, 100), runs=3
    )
    cells = list(protocol.cells(["a", "b"]))
    assert len(cells) == 2 * 2 * 2 * 2 * 3
    assert len({cell.key for cell in cells}) == len(cells)
