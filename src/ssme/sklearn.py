"""For scikit-learn: scores from fitted classifiers, and the mixture as an estimator::

    data = ssme.sklearn.scores_from({"forest": forest, "logistic": pipeline}, X, y)
    ssme.evaluate(data)

`SSME` is for pipelines and for those who want P(y | s) itself: scores in, class probabilities out.
As in scikit-learn's own semi-supervised estimators, an unlabeled row has y = -1.

>>> import numpy as np
>>> from ssme.sklearn import SSME
>>> X = np.array([[0.9, 0.8], [0.1, 0.3], [0.8, 0.7], [0.2, 0.1]])
>>> model = SSME(bandwidth=1.0, random_state=0).fit(X, [1, 0, -1, -1])
>>> model.predict(X)
array([1, 0, 1, 0])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ssme.arrays import FloatArray
from ssme.data import arrays, scoreset, values
from ssme.data.labels import name_order, order_classes
from ssme.errors import InputError, make_unknown_name_error
from ssme.methods import beliefs, ssme
from ssme.mixture.model import MixtureOptions, draw_probabilities, fit_mixture, stack_alr

__all__ = ["SSME", "scores_from"]


def scores_from(
    estimators: Mapping[str, Any] | Sequence[Any] | Any,
    X: Any,
    y: object | None = None,
    **options: Any,
) -> scoreset.ScoreSet:
    """Make a `ScoreSet` of the probabilities that fitted classifiers give.

    Parameters
    ----------
    estimators : dict or list
        From a name to a fitted classifier or pipeline; or a list of these, or a single one, named
        by their class.
    X : array or dict
        The rows to score, the same for all; or a dict from name to rows, where features differ.
    y : array of shape (n,), optional
        Labels in the order of the rows of X, NaN or None where unknown.
    **options
        Passed on to `ssme.ScoreSet.from_arrays` (``positive``, ``groups``, ``weights``, ...).
        ``positive`` is needed for metrics of the positive class where classes are text:
        scikit-learn sorts them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> import ssme
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> scores_from([fitted], X[1::2]).classes
    (0, 1, 2)
    """
    if hasattr(estimators, "predict_proba"):
        estimators = [estimators]
    named = estimators if isinstance(estimators, Mapping) else _name_estimators(estimators)
    if not named:
        raise InputError("no estimator was given", hint="give one or more fitted classifiers")
    if "classes" in options:
        problem = "`classes` was given, and the estimators have theirs"
        raise InputError(problem, hint="leave `classes` out")
    rows_of = X if isinstance(X, dict) else {"": X}
    whose = [
        (f"the rows X of {name!r}" if name else "the rows X", x) for name, x in rows_of.items()
    ]
    arrays.refuse_other_order([*whose, ("the labels", y)])
    scores: dict[str, Any] = {}
    classes: list[Any] = []
    for name, estimator in named.items():
        rows = _take_rows(name, X)
        found = _predict_probabilities(name, estimator, rows)
        own = [values.make_plain(each) for each in estimator.classes_]
        if not classes:
            classes = list(order_classes(own, positive=options.get("positive")))
        elif set(own) != set(classes):
            problem = f"{name!r} was fitted to classes {own}, the first estimator to {classes}"
            raise InputError(problem, hint="fit them to the same labels")
        scores[name] = found[:, [own.index(c) for c in classes]]
    data = scoreset.ScoreSet.from_arrays(scores, y, classes=classes, **options)
    order = name_order(classes, listed=options.get("positive") is not None)
    return data.replace(layout=replace(cast(arrays.Layout, data.layout), order=order))


def _name_estimators(estimators: Sequence[Any]) -> dict[str, Any]:
    """Estimators by the name of their class (a pipeline's last step), numbered when repeated."""
    found: dict[str, Any] = {}
    for estimator in estimators:
        last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
        base = name = type(last).__name__
        count = 1
        while name in found:
            count += 1
            name = f"{base}_{count}"
        found[name] = estimator
    return found


def _take_rows(name: str, X: Any) -> Any:
    if not isinstance(X, dict):
        return X
    if name not in X:
        raise InputError(f"X has no rows for {name!r}, only for {', '.join(map(repr, X))}")
    return X[name]


def _predict_probabilities(name: str, estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    if not hasattr(estimator, "predict_proba"):
        other = " (it has decision_function)" if hasattr(estimator, "decision_function") else ""
        problem = f"{name!r}, a {type(estimator).__name__}, has no predict_proba{other}"
        raise InputError(problem, hint="wrap it in sklearn.calibration.CalibratedClassifierCV")
    try:
        found = estimator.predict_proba(X)
        if not hasattr(estimator, "classes_"):
            raise InputError(
                f"{name!r}, a {type(estimator).__name__}, has no classes_, which say which class "
                "each column of predict_proba is",
                hint="give the probabilities of each model to ssme.ScoreSet.from_arrays, with "
                "`classes=[...]` in their order",
            )
    except NotFittedError as error:
        raise InputError(f"{name!r} is not fitted", hint="call fit first") from error
    if isinstance(found, list):
        raise InputError(f"{name!r} predicts {len(found)} outputs", hint="score one at a time")
    return values.as_floats(found, f"predict_proba of {name!r}")


INPUTS = ("probability", "real")
MIXTURE_OPTIONS = (
    *("preset", "density", "kernel", "bandwidth", "across", "covariance", "components"),
    *("device", "init", "lambda_u", "max_iter", "tol", "clip"),
)
"""Options of the estimator that the method `ssme` has too, and checks."""


@dataclass(kw_only=True, eq=False, repr=False)
class SSME(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(y | s) from the scores of several classifiers and a few labels.

    Parameters
    ----------
    scores : {"probability", "real"}
        What the columns of X are. "probability": with two classes P(second class), one column per
        classifier; with K > 2 classes, K columns per classifier, side by side, in the order of
        `classes_`. "real": any real features (logits, say), used as they are; such rows start
        from ``init="knn"``. NaN marks a missing score in both.
    preset : {"paper", "public_code"}
        Values of all options below that are None.
    density, kernel, bandwidth, across, covariance, components, device
    init, lambda_u, max_iter, tol, clip
        As in `ssme.methods.ssme.SsmeMethod`.
    unlabeled : value of y that marks an unlabeled row; None if every row is labeled.
    random_state : int, RandomState or None

    Attributes
    ----------
    classes_ : (K,) classes among the labels, sorted.
    posterior_ : (n, K) P(y | s) of the fitted rows, labeled rows one-hot.
    class_prior_ : (K,)
    fit_notes_ : dict of what the density tells: bandwidth, engine, covariance, ...
    converged_ : bool, or None where the preset runs a fixed number of steps.
    n_iter_ : int
    objective_history_ : (number of iterations,)
    """

    scores: str = "probability"
    preset: str = "paper"
    density: str | None = None
    kernel: str | None = None
    bandwidth: str | float | None = None
    across: str | None = None
    covariance: str | None = None
    components: int | None = None
    device: str | None = None
    init: str | None = None
    lambda_u: float | None = None
    max_iter: int | None = None
    tol: float | None = None
    clip: float | None = None
    unlabeled: Any = -1
    random_state: Any = None

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the mixture to labeled and unlabeled rows together.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Scores of the classifiers, one column per classifier; for K > 2 classes, K columns per
            classifier, side by side.
        y : array-like of shape (n,)
            Labels; the value ``unlabeled`` marks a row without a label.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.
        """
        features, targets = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, features, ensure_non_negative=True)
        labels = self._encode(targets, weights)
        options = self._read_options()
        points, guess = self._make_points(features, options)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        if guess is None:
            guess = np.full((len(points), len(self.classes_)), 1.0 / len(self.classes_))
        fitted = fit_mixture(points, labels, guess, options, np.random.default_rng(seed), weights)
        self._fitted = fitted
        self.posterior_ = beliefs.clamp(fitted.em.responsibilities, labels)
        self.class_prior_ = fitted.em.priors
        self.converged_ = fitted.em.converged
        self.n_iter_ = fitted.em.n_iter
        self.objective_history_ = fitted.em.objective_history
        self.fit_notes_ = fitted.describe()
        return self

    def predict_proba(self, X: ArrayLike) -> FloatArray:
        """Compute P(y = k | s) of new rows under the fitted mixture.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Scores in the layout of `fit`.

        Returns
        -------
        ndarray of shape (m, K)
            Probabilities of the classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        features = validate_data(
            self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False
        )
        points, _ = self._make_points(features, self._read_options())
        return self._fitted.compute_posterior_at(points)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
            Scores in the layout of `fit`.
        """
        best = self.predict_proba(X).argmax(axis=1)
        chosen: NDArray[Any] = self.classes_[best]
        return chosen

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _read_options(self) -> MixtureOptions:
        if self.scores not in INPUTS:
            raise make_unknown_name_error("scores", self.scores, INPUTS)
        if self.scores == "real" and self.init == "draw":
            problem = "`init='draw'` needs probabilities, not `scores='real'`"
            raise InputError(problem, hint="use `init='knn'`")
        given = {name: getattr(self, name) for name in MIXTURE_OPTIONS}
        if self.scores == "real":
            given["init"] = "knn"
        return ssme.SsmeOptions(**given).make_mixture_options()

    def _encode(self, targets: NDArray[Any], weights: FloatArray | None) -> NDArray[np.int64]:
        """Class index per row, -1 where unlabeled; sets `classes_`."""
        targets = column_or_1d(targets, warn=True)
        missing = np.zeros(len(targets), dtype=bool)
        if self.unlabeled is not None and (
            targets.dtype.kind == "O"
            or isinstance(self.unlabeled, str) == (targets.dtype.kind == "U")
        ):
            missing = np.asarray(targets == self.unlabeled, dtype=bool)
        check_classification_targets(targets[~missing])
        self.classes_, codes = np.unique(targets[~missing], return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(
                f"y has labels of {len(self.classes_)} classes ({self.classes_.tolist()}), and two "
                "are needed",
                hint=f"label rows of the other class; unlabeled rows are y = {self.unlabeled!r}",
            )
        labels = np.full(len(targets), -1, dtype=np.int64)
        labels[~missing] = codes
        if weights is not None and len(np.unique(labels[~missing & (weights > 0)])) < 2:
            raise InputError("the labeled rows of positive sample_weight are of one class only")
        return labels

    def _make_points(
        self, features: FloatArray, options: MixtureOptions
    ) -> tuple[FloatArray, FloatArray | None]:
        """Points of the mixture, and the mean score where the features are probabilities."""
        if self.scores == "real":
            return features, None
        n_classes = len(self.classes_)
        if (features < 0).any() or (features > 1).any():
            row, column = np.argwhere((features < 0) | (features > 1))[0]
            problem = f"X[{row}, {column}] is {features[row, column]:g}, not a probability"
            raise InputError(problem, hint="pass `scores='real'` for logits or other real features")
        if n_classes == 2:
            stacked = np.stack([1.0 - features, features], axis=2)
        else:
            stacked = self._split_by_model(features, n_classes)
        points = stack_alr(stacked, options.clip, only_exact=options.clip_only_exact)
        return points, draw_probabilities(stacked)

    def _split_by_model(self, features: FloatArray, n_classes: int) -> FloatArray:
        """(n, M K) columns as (n, M, K), checked to be distributions."""
        if features.shape[1] % n_classes:
            problem = f"X has {features.shape[1]} columns and y has {n_classes} classes"
            raise InputError(problem, hint=f"give {n_classes} columns per classifier, side by side")
        stacked = features.reshape(len(features), -1, n_classes)
        off = np.abs(stacked.sum(axis=2) - 1.0) > arrays.SUM_TOLERANCE
        partly = np.isnan(stacked).any(axis=2) & ~np.isnan(stacked).all(axis=2)
        if (off | partly).any():
            row, model = np.argwhere(off | partly)[0]
            raise InputError(
                f"the {n_classes} scores of classifier {model} on row {row} are "
                f"{stacked[row, model].tolist()}",
                hint="give probabilities that sum to 1, or all NaN where there is no score",
            )
        return stacked
