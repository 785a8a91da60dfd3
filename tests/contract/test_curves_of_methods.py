"""Every method that says something about rows also gives curves with bands."""

from __future__ import annotations

import numpy as np
import pytest
from tests.made_sets import binary_set

import ssme
from ssme.methods.registry import find_method_class, get_method, method_names
from ssme.results import curves

WITH_POSTERIOR = [name for name in method_names() if find_method_class(name).spec.gives_posterior]
FAST = {
    "ssme": {"tol": 1e-2, "max_iter": 400, "n_bootstrap": 2},
    "ssme_m": {"tol": 1e-2, "max_iter": 2000},
}


@pytest.mark.parametrize("name", WITH_POSTERIOR)
def test_curves_have_a_value_and_a_band_per_model(name: str) -> None:
    method = get_method(name, **FAST.get(name, {}))
    result = ssme.evaluate(binary_set(n=150), method=method, metrics="accuracy")
    for make, column in (
        (curves.estimate_roc, "true_positive_rate"),
        (curves.estimate_reliability, "right"),
    ):
        rows = make(result)
        assert {row["model"] for row in rows} == set(result.data.models)
        low, value, high = (np.array([row[c] for row in rows]) for c in ("low", column, "high"))
        assert np.isfinite(value).all()
        assert ((low >= 0.0) & (low <= value) & (value <= high) & (high <= 1.0)).all()
    first = [r["true_positive_rate"] for r in curves.estimate_roc(result) if r["model"] == "forest"]
    only = [r["true_positive_rate"] for r in curves.estimate_roc(result, models=["forest"])]
    assert first == only
