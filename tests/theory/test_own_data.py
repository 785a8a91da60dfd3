import numpy as np
import pytest
from benchmarks.datasets.synthetic import gaussian_set
from benchmarks.theory import bound_for, theorem_1

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError


def partly_labeled(data, n_labeled=300):
    labels = np.where(np.arange(data.n_rows) < n_labeled, data.labels, -1)
    return data.replace(labels=labels)


def normal_set(separation=(1.0, 1.5, 2.0), n=3000, seed=0):
    return gaussian_set(n, np.asarray(separation), rng=np.random.default_rng(seed))


def test_separations_come_from_the_labeled_rows() -> None:
    data = partly_labeled(normal_set())
    said = bound_for(data, p=0.2)
    np.testing.assert_allclose(said.theorem.separation, [1.0, 1.5, 2.0], atol=0.25)
    again = theorem_1(said.theorem.separation, 2700, 300, p=0.2)
    assert said.theorem.epsilon == again.epsilon
    assert [row["model"] for row in said.rows()] == list(data.models)
    assert said.credible
    assert said.text().count("\n") == 0


def broken(kind):
    rng = np.random.default_rng(1)
    n = 3000
    share = 0.1 if kind == "imbalance" else 0.5
    y = (rng.random(n) < share).astype(int)
    noise = rng.standard_normal((n, 4))
    if kind == "correlation":
        noise = 0.6 * noise + 0.8 * rng.standard_normal((n, 1))
    if kind == "skew":
        noise = rng.standard_exponential((n, 4)) - 1.0
    if kind == "variances":
        noise *= np.where(y == 1, 3.0, 1.0)[:, None]
    gap = np.array([1.5, 1.5, 1.5, -1.5 if kind == "worse than chance" else 1.5])
    return ScoreSet.from_arrays(noise + y[:, None] * gap, y, logits=True)


@pytest.mark.parametrize(
    ("kind", "assumption"),
    [
        ("imbalance", "the share of the positive class"),
        ("correlation", "the mean absolute correlation within a class"),
        ("skew", "the largest skewness within a class"),
        ("variances", "the largest ratio of variances"),
        ("worse than chance", "the least separation"),
    ],
)
def test_each_broken_assumption_is_named(kind, assumption) -> None:
    said = bound_for(partly_labeled(broken(kind), 400))
    assert [each.name for each in said.assumptions if not each.holds] == [assumption]
    assert not said.credible
    assert assumption in said.text()


def test_a_failing_condition_is_told() -> None:
    said = bound_for(partly_labeled(normal_set((0.3, 0.2), n=1500), 1450))
    assert not said.theorem.applies
    assert "The condition n_u >=" in said.text()


def test_too_few_labels_and_other_data_are_refused() -> None:
    with pytest.raises(InputError, match="at least 3 of each"):
        bound_for(partly_labeled(normal_set(), 3))
    three = ScoreSet.from_arrays(np.full((9, 2, 3), 1 / 3), np.arange(9) % 3)
    with pytest.raises(InputError, match="the data have 3 classes"):
        bound_for(three)
    same = ScoreSet.from_arrays(np.full((20, 2), 0.3), np.arange(20) % 2)
    with pytest.raises(InputError, match="the same score"):
        bound_for(same)
    holes = np.random.default_rng(0).random((20, 2))
    holes[3, 1] = np.nan
    with pytest.raises(InputError, match="scores are missing"):
        bound_for(ScoreSet.from_arrays(holes, np.arange(20) % 2))
