"""`SSME`, the semi-supervised mixture as a scikit-learn estimator.

For pipelines and for those who want P(y | s) itself: scores in, class probabilities out. To
estimate how good the classifiers are, `ssme.evaluate` is the shorter way.

As in scikit-learn's own semi-supervised estimators, an unlabeled row has y = -1.

>>> import numpy as np
>>> from ssme.estimator import SSME
>>> X = np.array([[0.9, 0.8], [0.1, 0.3], [0.8, 0.7], [0.2, 0.1]])
>>> model = SSME(bandwidth=1.0, random_state=0).fit(X, [1, 0, -1, -1])
>>> model.predict(X)
array([1, 0, 1, 0])
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from ssme.errors import InputError, make_unknown_name_error
from ssme.methods.beliefs import clamp
from ssme.mixture.alr import stack_alr
from ssme.mixture.kde import FloatArray
from ssme.mixture.model import MixtureOptions, draw_probabilities, fit_mixture, read_options

__all__ = ["SSME"]

INPUTS = ("probability", "real")
SUM_TOLERANCE = 1e-3


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
        As in `ssme.methods.estimators.ssme.SsmeMethod`.
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

    def __init__(
        self,
        *,
        scores: str = "probability",
        preset: str = "paper",
        density: str | None = None,
        kernel: str | None = None,
        bandwidth: str | float | None = None,
        across: str | None = None,
        covariance: str | None = None,
        components: int | None = None,
        device: str | None = None,
        init: str | None = None,
        lambda_u: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        clip: float | None = None,
        unlabeled: Any = -1,
        random_state: Any = None,
    ) -> None:
        self.scores = scores
        self.preset = preset
        self.density = density
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.across = across
        self.covariance = covariance
        self.components = components
        self.device = device
        self.init = init
        self.lambda_u = lambda_u
        self.max_iter = max_iter
        self.tol = tol
        self.clip = clip
        self.unlabeled = unlabeled
        self.random_state = random_state

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

        Returns
        -------
        SSME
            The fitted estimator.
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
        self.posterior_ = clamp(fitted.em.responsibilities, labels)
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

        Returns
        -------
        ndarray of shape (m,)
            Classes.
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
            raise InputError(
                "init='draw' with scores='real'",
                fix="real features are not probabilities to draw from; use init='knn'",
            )
        return read_options(self, init="knn" if self.scores == "real" else self.init)

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
                f"the labels in y are of one class only ({self.classes_.tolist()})"
                if len(self.classes_)
                else "y has no labels",
                allowed="labeled rows of two classes or more",
                fix=f"label rows of the other class; unlabeled rows are y = {self.unlabeled!r}",
            )
        labels = np.full(len(targets), -1, dtype=np.int64)
        labels[~missing] = codes
        if weights is not None and len(np.unique(labels[~missing & (weights > 0)])) < 2:
            raise InputError(
                "the labeled rows of positive sample_weight are of one class only",
                allowed="labeled rows of two classes or more",
            )
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
            raise InputError(
                f"X[{row}, {column}] is {features[row, column]:g}",
                allowed="probabilities in [0, 1]",
                fix="pass scores='real' for logits or other real features",
            )
        if n_classes == 2:
            stacked = np.stack([1.0 - features, features], axis=2)
        else:
            stacked = self._split_by_model(features, n_classes)
        points = stack_alr(stacked, options.clip, only_exact=options.clip_only_exact)
        return points, draw_probabilities(stacked)

    def _split_by_model(self, features: FloatArray, n_classes: int) -> FloatArray:
        """(n, M K) columns as (n, M, K), checked to be distributions."""
        if features.shape[1] % n_classes:
            raise InputError(
                f"X has {features.shape[1]} columns and y has {n_classes} classes",
                allowed=f"{n_classes} columns per classifier, side by side",
            )
        stacked = features.reshape(len(features), -1, n_classes)
        off = np.abs(stacked.sum(axis=2) - 1.0) > SUM_TOLERANCE
        partly = np.isnan(stacked).any(axis=2) & ~np.isnan(stacked).all(axis=2)
        if (off | partly).any():
            row, model = np.argwhere(off | partly)[0]
            raise InputError(
                f"the {n_classes} scores of classifier {model} on row {row} are "
                f"{stacked[row, model].tolist()}",
                allowed="probabilities that sum to 1, or all NaN where there is no score",
            )
        return stacked
