"""`SSME` under scikit-learn's own estimator checks, and what they do not cover."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from ssme.errors import InputError
from ssme.sklearn import SSME
from tests.methods.test_ssme import score_set

RELATIVE_WEIGHTS = (
    "bandwidth rules take weights as relative (Kish's effective size): repeating every row "
    "sharpens a bandwidth, doubling every weight does not"
)
EXEMPT = {"check_sample_weight_equivalence_on_dense_data": RELATIVE_WEIGHTS}
FIXED = SSME(scores="real", unlabeled=None, bandwidth=1.0)
RULED = SSME(scores="real", unlabeled=None)


def exemptions(estimator: SSME) -> dict[str, str]:
    """None with a fixed bandwidth; with a bandwidth rule, those of `EXEMPT`."""
    return {} if estimator.bandwidth == 1.0 else EXEMPT


NOT_APPLICABLE = {"check_array_api_input": "SSME computes in numpy and declares no array API"}


@parametrize_with_checks([FIXED, RULED], expected_failed_checks=exemptions)
def test_scikit_learn_checks(estimator, check) -> None:
    if check.func.__name__ not in NOT_APPLICABLE:
        check(estimator)


def arrays(n_classes=2, seed=0):
    data = score_set(n_classes=n_classes, seed=seed, noise=0.5)
    columns = data.scores[:, :, 1] if n_classes == 2 else data.scores.reshape(data.n_rows, -1)
    truth = np.random.default_rng(seed).integers(0, n_classes, data.n_rows)
    return np.array(columns), np.array(data.labels), truth


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("preset", ["paper", "public_code"])
def test_probabilities_in_classes_out(n_classes, preset) -> None:
    X, y, truth = arrays(n_classes)
    tol = 1e-2 if preset == "paper" else None
    model = SSME(preset=preset, bandwidth=0.6, tol=tol, random_state=0).fit(X, y)
    assert (model.predict(X) == truth).mean() > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.posterior_[:30], np.eye(n_classes)[y[:30]])
    assert model.objective_history_.shape == (model.n_iter_,)
    assert model.converged_ is (True if preset == "paper" else None)


def test_gaussians_instead_of_kernels() -> None:
    X, y, truth = arrays()
    model = SSME(density="gmm", covariance="tied", tol=1e-2, random_state=0).fit(X, y)
    assert model.fit_notes_["density"] == "gmm"
    assert (model.predict(X) == truth).mean() > 0.9


def test_string_classes_and_a_declared_code() -> None:
    X, y, _ = arrays()
    named = np.array(["no", "yes", "?"])[y]
    model = SSME(bandwidth=0.6, tol=1e-2, unlabeled="?", random_state=0).fit(X, named)
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(X)) == {"no", "yes"}


def test_missing_scores_are_marginalized() -> None:
    X, y, truth = arrays()
    X[::2, 0] = np.nan
    X[::3, 1] = np.nan
    model = SSME(bandwidth=0.6, tol=1e-2, random_state=0).fit(X, y)
    assert (model.predict(X) == truth).mean() > 0.85
    everything_missing = model.predict_proba(np.full((1, 3), np.nan))
    np.testing.assert_allclose(everything_missing[0], model.class_prior_)


def test_frame_in_and_grid_search() -> None:
    X, _, truth = arrays()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    search = GridSearchCV(SSME(tol=1e-2), {"bandwidth": [0.3, 0.6]}, cv=2).fit(frame, truth)
    assert search.best_score_ > 0.9
    assert clone(search.best_estimator_).bandwidth == search.best_params_["bandwidth"]


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({"scores": "logit"}, None, "unknown scores 'logit'"),
        ({"density": "kdee"}, None, "Did you mean .*'kde'"),
        ({"lambda_u": 0.0}, None, "lambda_u must be"),
        ({"scores": "real", "init": "draw"}, None, "init='draw' needs probabilities"),
        ({}, "range", r"X\[3, 0\] is 1.5"),
        ({}, "one class", "labels of 1 classes"),
        ({}, "no labels", "labels of 0 classes"),
    ],
)
def test_bad_input_is_refused(options, change, message) -> None:
    X, y, _ = arrays()
    if change == "range":
        X[3, 0] = 1.5
    elif change == "one class":
        y = np.where(y == 0, -1, y)
    elif change == "no labels":
        y = np.full_like(y, -1)
    with pytest.raises(InputError, match=message):
        SSME(**options).fit(X, y)


def test_multiclass_columns_must_be_distributions() -> None:
    X, y, _ = arrays(n_classes=3)
    with pytest.raises(InputError, match="8 columns and y has 3 classes"):
        SSME().fit(X[:, :8], y)
    X[5, 3:6] = 0.5
    with pytest.raises(InputError, match=r"classifier 1 on row 5 are \[0.5, 0.5, 0.5\]"):
        SSME().fit(X, y)
