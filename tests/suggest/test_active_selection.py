"""Rows that published methods take, against computations that share no code with ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.made_sets import binary_set

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.results.active_selection import Coda, size_rows, value_rows

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def digits() -> ScoreSet:
    """Six classifiers of uneven quality for three of the digits, on 120 rows."""
    x, y = load_digits(return_X_y=True)
    some = np.flatnonzero(np.isin(y, (3, 8, 9)))
    x, y = x[some], np.searchsorted((3, 8, 9), y[some])
    models = {
        "logistic": (LogisticRegression(C=0.001, max_iter=200), 60),
        "few": (LogisticRegression(C=0.1, max_iter=200), 15),
        "bayes": (GaussianNB(var_smoothing=0.1), 60),
        "near": (KNeighborsClassifier(5), 40),
        "tree": (DecisionTreeClassifier(max_depth=3, random_state=0), 60),
        "stump": (DecisionTreeClassifier(max_depth=1, random_state=0), 60),
    }
    scores = {name: m.fit(x[:n], y[:n]).predict_proba(x[60:180]) for name, (m, n) in models.items()}
    return ScoreSet.from_arrays(scores, y[60:180])


def compute_p_best(counts: Array, c: int) -> Array:
    """P(best | c) by numerical integration, model by model."""
    x = (np.arange(256) + 0.5) / 256
    a, b = counts[:, c, c], counts[:, c].sum(axis=1) - counts[:, c, c]
    density = np.array([beta.pdf(x, *each) for each in zip(a, b, strict=True)])
    below = np.array([beta.cdf(x, *each) for each in zip(a, b, strict=True)])
    n_models = len(counts)
    best = [
        np.sum(density[h] * np.prod([below[j] for j in range(n_models) if j != h], axis=0))
        for h in range(n_models)
    ]
    return np.array(best) / np.sum(best)


def compute_entropy(shares: Array) -> float:
    return -sum(float(p) * np.log(p) for p in shares if p > 0.0)


def take_with_coda(scores: Array, y: NDArray[np.int64], n: int) -> tuple[list[int], list[Array]]:
    """The first ``n`` rows of CODA and P(best) before each: one row, class, model at a time."""
    n_rows, n_models, n_classes = scores.shape
    consensus, decided = scores.mean(axis=1).argmax(axis=1), scores.argmax(axis=2)
    counts = np.zeros((n_models, n_classes, n_classes))
    for h in range(n_models):
        for c in range(n_classes):
            for s in range(n_classes):
                counts[h, c, s] = 1.0 if c == s else 1.0 / (n_classes - 1)
            confusion = sum(scores[i, h] for i in range(n_rows) if consensus[i] == c)
            counts[h, c] += 0.1 * confusion / np.sum(confusion)
    counts *= 2.0
    taken: list[int] = []
    seen: list[Array] = []
    for _ in range(n):
        pi = np.zeros((n_rows, n_classes))
        for i in range(n_rows):
            for c in range(n_classes):
                pi[i, c] = sum(counts[h, c] @ scores[i, h] for h in range(n_models))
            pi[i] /= pi[i].sum()
        shares = pi.mean(axis=0)
        each = [compute_p_best(counts, c) for c in range(n_classes)]
        p_best = sum(shares[c] * each[c] for c in range(n_classes))
        gains: dict[int, float] = {}
        known: dict[tuple[int, bytes], Array] = {}
        for i in range(n_rows):
            if i in taken or np.unique(decided[i]).size == 1:
                continue
            expected = 0.0
            for c in range(n_classes):
                key = c, (decided[i] == c).tobytes()
                if key not in known:
                    after = counts.copy()
                    for h in range(n_models):
                        after[h, c, decided[i, h]] += 1.0
                    known[key] = compute_p_best(after, c)
                changed = p_best + shares[c] * (known[key] - each[c])
                expected += pi[i, c] * compute_entropy(changed)
            gains[i] = compute_entropy(p_best) - expected
        taken.append(max(gains, key=lambda i: gains[i]))
        seen.append(p_best)
        for h in range(n_models):
            counts[h, y[taken[-1]], decided[taken[-1], h]] += 0.01
    return taken, seen


def test_the_first_twelve_rows_of_coda_are_those_of_a_straightforward_computation(
    digits: ScoreSet,
) -> None:
    rows, p_best = take_with_coda(digits.scores, digits.labels, 12)
    labels = np.full(digits.n_rows, -1)
    for row, expected in zip(rows, p_best, strict=True):
        data = digits.replace(labels=labels)
        np.testing.assert_allclose(Coda(data).p_best, expected, atol=2e-3)
        value = value_rows("coda", data)
        assert int(np.argmax(value)) == row
        labels = labels.copy()
        labels[row] = digits.labels[row]


def test_model_selector_takes_the_row_of_least_expected_entropy(digits: ScoreSet) -> None:
    known = np.arange(0, 120, 7)
    labels = np.full(digits.n_rows, -1)
    labels[known] = digits.labels[known]
    decided = digits.scores.argmax(axis=2)
    gamma = 0.54 / 0.46
    weight = gamma ** (decided[known] == labels[known][:, None]).sum(axis=0)
    entropy = {}
    for i in np.flatnonzero(labels < 0):
        if np.unique(decided[i]).size > 1:
            after = [weight * gamma ** (decided[i] == c) for c in range(3)]
            entropy[i] = np.mean([compute_entropy(w / w.sum()) for w in after])
    value = value_rows("selector", digits.replace(labels=labels))
    assert entropy[int(np.argmax(value))] == pytest.approx(min(entropy.values()), abs=1e-9)
    for i, expected in entropy.items():
        assert value[i] == pytest.approx(-expected, abs=1e-9)


def test_sizes_of_vma_and_active_testing_are_their_formulas(digits: ScoreSet) -> None:
    decided, mean = digits.scores.argmax(axis=2), digits.scores.mean(axis=1)
    for i in (0, 17, 63):
        right = np.array([decided[i] == c for c in range(3)], dtype=float)  # (K, M)
        wrong = sum(mean[i, c] * (1.0 - right[c]).mean() for c in range(3))
        assert size_rows("active_testing", digits)[i] == pytest.approx(wrong)
        square = sum(
            mean[i, c] * (right[c, h] - right[c, j]) ** 2
            for c in range(3)
            for h in range(6)
            for j in range(h)
        )
        assert size_rows("vma", digits)[i] == pytest.approx(square**0.5)


@pytest.mark.parametrize("draw", ["coda", "selector", "uncertainty"])
def test_a_missing_score_says_nothing_and_two_classes_work(draw: str) -> None:
    data = binary_set(n=80, n_labeled=10)
    scores = data.scores.copy()
    scores[11, 0] = scores[30:40, 1] = np.nan
    data = data.replace(scores=scores)
    value = value_rows(draw, data)
    assert np.isfinite(value[~data.labeled]).all()
    assert (value[data.labeled] == -np.inf).all()
    same = data.select(data.models)
    np.testing.assert_allclose(Coda(same).p_best.sum(), 1.0)


@pytest.mark.parametrize("draw", ["coda", "selector", "uncertainty"])
def test_taken_rows_have_no_probability_and_methods_that_need_one_refuse(draw: str) -> None:
    data = binary_set(n=120, n_labeled=12)
    r = ssme.evaluate(data, method="ensemble", metrics="accuracy")
    found = r.suggest(6, draw=draw)
    assert np.isnan(found.probability).all()
    assert "probability" not in found.table()[0]
    assert len(found.list_earlier()) == 12
    filled = found.fill_in([1, 0, None, 1, 0, 1])
    assert filled.design.kind == "by_score"
    assert filled.n_labeled == 17
    again = ssme.evaluate(filled, method="ensemble", metrics="accuracy")
    assert not set(again.suggest(6, draw=draw).rows) & set(np.flatnonzero(filled.labeled))
    with pytest.raises(InputError, match="by_score"):
        ssme.evaluate(filled, method="labeled", metrics="accuracy")
    with pytest.raises(InputError, match="the probabilities"):
        again.suggest(6)


def test_coda_and_selector_are_about_accuracy_alone() -> None:
    r = ssme.evaluate(
        binary_set(n=80, n_labeled=10), method="ensemble", metrics=["roc_auc", "accuracy"]
    )
    for goal in ("best", "metric:accuracy"):
        with pytest.raises(InputError, match="best:accuracy"):
            r.suggest(3, goal, draw="coda")
    assert r.suggest(3, "best:accuracy", draw="selector").rows.size == 3


@pytest.mark.parametrize(
    ("more", "option"),
    [
        ({"draw": "random", "goal": "metric:accuracy"}, "goal"),
        ({"draw": "vma", "goal": "best:accuracy"}, "goal"),
        ({"draw": "uncertainty", "goal": "metric:accuracy"}, "goal"),
        ({"draw": "coda", "uniform": 0.5}, "uniform"),
        ({"draw": "random", "uniform": 0.5}, "uniform"),
    ],
)
def test_an_option_that_a_draw_does_not_use_is_refused(more: dict[str, Any], option: str) -> None:
    r = ssme.evaluate(binary_set(n=80, n_labeled=10), method="ensemble", metrics="accuracy")
    with pytest.raises(InputError, match="does not use it") as refused:
        r.suggest(3, **more)
    assert refused.value.option == option


def test_one_model_has_rows_drawn_without_a_goal_and_none_are_left_where_all_are_labeled() -> None:
    data = binary_set(n=80, n_labeled=10)
    r = ssme.evaluate(data.select(data.models[:1]), method="ensemble", metrics="accuracy")
    assert r.suggest(3, draw="random").rows.size == 3
    everyone = ssme.evaluate(binary_set(n=40, n_labeled=40), method="ensemble", metrics="accuracy")
    with pytest.raises(InputError, match="every row has a label"):
        everyone.suggest()


@pytest.mark.parametrize("design", [None, "random"])
def test_taken_rows_are_refused_as_a_random_sample(design: str | None, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"id": np.arange(60), "a": rng.random(60), "b": rng.random(60)})
    nothing = ssme.evaluate(scores, False, id="id", metrics="accuracy")
    found = nothing.suggest(8, draw="selector")
    labels = pd.read_csv(found.save(tmp_path / "next.csv")).assign(label=[0, 1] * 4)
    with pytest.raises(InputError, match="taken by selector") as refused:
        ssme.evaluate(scores, labels, id="id", design=design, metrics="accuracy")
    assert "by_score" in str(refused.value.hint)
    r = ssme.evaluate(scores, labels, id="id", design="by_score", metrics="accuracy")
    assert r.data.design.kind == "by_score"


@pytest.mark.parametrize("draw", ["active_testing", "vma"])
def test_rows_drawn_by_expected_errors_have_probabilities(draw: str) -> None:
    r = ssme.evaluate(binary_set(n=120, n_labeled=12), method="ensemble", metrics="accuracy")
    found = r.suggest(10, draw=draw)
    assert ((found.probability > 0.0) & (found.probability <= 1.0)).all()
    assert np.ptp(found.probability) > 0.0
    assert found.fill_in([1] * 10).design.kind == "weights"
