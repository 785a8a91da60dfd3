"""From fitted scikit-learn classifiers to a `ScoreSet`.

data = ssme.sklearn.scores_from({"forest": forest, "logistic": pipeline}, X, y)
ssme.evaluate(data)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ssme.data.arrays import refuse_other_order
from ssme.data.labels import name_order, order_classes
from ssme.data.layout import Layout
from ssme.data.scoreset import ScoreSet
from ssme.data.values import as_floats, make_plain
from ssme.errors import InputError, argument

__all__ = ["scores_from"]


def scores_from(
    estimators: Mapping[str, Any] | Sequence[Any] | Any,
    X: Any,
    y: object | None = None,
    **options: Any,
) -> ScoreSet:
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

    Returns
    -------
    ScoreSet

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
        raise InputError("no estimator was given", allowed="one or more fitted classifiers")
    if "classes" in options:
        raise InputError(
            f"{argument('classes', repr(options['classes']))} was given beside estimators",
            allowed="the classes that the estimators were fitted to, in their order",
            fix=f"leave {argument('classes')} out",
        )
    rows_of = X if isinstance(X, dict) else {"": X}
    whose = [
        (f"the rows X of {name!r}" if name else "the rows X", x) for name, x in rows_of.items()
    ]
    refuse_other_order([*whose, ("the labels", y)])
    scores: dict[str, Any] = {}
    classes: list[Any] = []
    for name, estimator in named.items():
        rows = _take_rows(name, X)
        found = _predict_probabilities(name, estimator, rows)
        own = [make_plain(each) for each in estimator.classes_]
        if not classes:
            classes = list(order_classes(own, positive=options.get("positive")))
        elif set(own) != set(classes):
            raise InputError(
                f"{name!r} was fitted to classes {own}, the first estimator to {classes}",
                allowed="classifiers of the same classes",
                fix="fit them to the same labels",
            )
        scores[name] = found[:, [own.index(c) for c in classes]]
    data = ScoreSet.from_arrays(scores, y, classes=classes, **options)
    order = name_order(classes, listed=options.get("positive") is not None)
    return data.replace(layout=replace(cast(Layout, data.layout), order=order))


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
        raise InputError(f"X has no rows for {name!r}", allowed=", ".join(map(repr, X)))
    return X[name]


def _predict_probabilities(name: str, estimator: Any, X: Any) -> np.ndarray[Any, Any]:
    from sklearn.exceptions import NotFittedError

    if not hasattr(estimator, "predict_proba"):
        other = " (it has decision_function)" if hasattr(estimator, "decision_function") else ""
        raise InputError(
            f"{name!r}, a {type(estimator).__name__}, has no predict_proba{other}",
            allowed="classifiers that give probabilities",
            fix="wrap it in sklearn.calibration.CalibratedClassifierCV",
        )
    try:
        found = estimator.predict_proba(X)
        if not hasattr(estimator, "classes_"):
            raise InputError(
                f"{name!r}, a {type(estimator).__name__}, has no classes_, so that nothing says "
                "which class each column of predict_proba is",
                allowed="classifiers with classes_ in the order of their probabilities",
                fix="give the probabilities of each model to ssme.ScoreSet.from_arrays, with "
                f"{argument('classes', '[...]')} in their order",
            )
    except NotFittedError as error:
        raise InputError(f"{name!r} is not fitted", fix="call fit first") from error
    if isinstance(found, list):
        raise InputError(
            f"{name!r} predicts {len(found)} outputs", allowed="one output", fix="score them apart"
        )
    return as_floats(found, f"predict_proba of {name!r}")
