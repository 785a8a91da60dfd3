"""Scores from fitted scikit-learn models, to estimates, end to end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import ssme
from ssme.errors import InputError
from ssme.sklearn import scores_from

X, Y = make_classification(
    600, n_features=8, n_informative=5, n_classes=3, random_state=0, class_sep=1.5
)
NAMES = np.array(["cat", "dog", "emu"])[Y]
FITTED = {
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:200], NAMES[:200]),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0).fit(X[:200], NAMES[:200]),
}


def test_end_to_end() -> None:
    labels = np.where(np.arange(400) < 60, NAMES[200:], None)
    data = scores_from(FITTED, X[200:], labels)
    assert data.classes == ("cat", "dog", "emu")
    assert data.models == ("pipeline", "tree")
    assert data.n_labeled == 60
    assert np.allclose(data.scores[:, 1], FITTED["tree"].predict_proba(X[200:]))
    result = ssme.evaluate(data, method="ensemble", metrics="accuracy")
    assert 0.4 < result.estimate().value.min() < 1.0


def test_classes_are_aligned_by_name() -> None:
    turned = LogisticRegression().fit(X[:200], NAMES[:200])
    turned.classes_ = turned.classes_[::-1].copy()
    data = scores_from({"straight": FITTED["tree"], "turned": turned}, X[200:])
    assert np.allclose(data.scores[:, 1], turned.predict_proba(X[200:])[:, ::-1])


def test_lists_are_named_by_class() -> None:
    data = scores_from([FITTED["pipeline"], FITTED["tree"], FITTED["tree"]], X[200:])
    expected = ("LogisticRegression", "DecisionTreeClassifier", "DecisionTreeClassifier_2")
    assert data.models == expected


def test_own_features_for_each() -> None:
    few = GaussianNB().fit(X[:200, :3], NAMES[:200])
    rows = {"tree": X[200:], "few": X[200:, :3]}
    assert scores_from({"tree": FITTED["tree"], "few": few}, rows).n_models == 2
    with pytest.raises(InputError, match="X has no rows for 'few'"):
        scores_from({"few": few}, {"tree": X})


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"no predict_proba \(it has decision_function\).*Calib"):
        scores_from({"svm": LinearSVC().fit(X[:200], NAMES[:200])}, X)
    with pytest.raises(InputError, match="'raw' is not fitted"):
        scores_from({"raw": GaussianNB()}, X)
    with pytest.raises(InputError, match="fitted to classes"):
        scores_from({**FITTED, "numbers": GaussianNB().fit(X[:200], Y[:200])}, X)
    with pytest.raises(InputError, match="no estimator"):
        scores_from({}, X)
    pair = DecisionTreeClassifier().fit(X[:200], np.stack([Y, 1 - (Y > 1)], axis=1)[:200])
    with pytest.raises(InputError, match="2 outputs"):
        scores_from({"pair": pair}, X)


def test_labels_in_another_order_than_the_rows_are_refused() -> None:
    rows = pd.DataFrame(X[200:])
    labels = pd.Series(NAMES[200:]).sample(frac=1.0, random_state=0)
    with pytest.raises(InputError, match="the labels have an index with rows of"):
        scores_from(FITTED, rows, labels)
    assert scores_from(FITTED, rows.loc[labels.index], labels).n_labeled == 400


def test_one_estimator_is_a_list_of_one() -> None:
    assert scores_from(FITTED["tree"], X[200:]).models == ("DecisionTreeClassifier",)


def test_what_does_not_say_its_classes_is_refused() -> None:
    class Bare:
        def predict_proba(self, rows: np.ndarray) -> np.ndarray:
            return FITTED["tree"].predict_proba(rows)

    with pytest.raises(InputError, match="a Bare, has no classes_"):
        scores_from([Bare()], X[200:])
    with pytest.raises(InputError, match="classes was given"):
        scores_from(FITTED, X[200:], classes=["emu", "dog", "cat"])
