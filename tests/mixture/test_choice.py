"""Density by name or by shape, the reason kept; every density runs through the same method."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError
from ssme.methods.estimators.ssme import SsmeMethod
from ssme.mixture import model as choice
from ssme.mixture.model import choose_density


def binary_set(n: int, n_labeled: int, seed: int = 0) -> tuple[ScoreSet, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(np.int64)
    logits = (2 * y[:, None] - 1) * 1.5 + rng.normal(size=(n, 3)) * [0.8, 1.0, 1.2]
    p = 1 / (1 + np.exp(-logits))
    labels = np.where(np.arange(n) < n_labeled, y, -1)
    return ScoreSet(np.stack([1 - p, p], axis=2), labels, ("a", "b", "c"), (0, 1)), y


def test_auto_goes_by_dimension_rows_and_missing_scores(monkeypatch) -> None:
    narrow, wide = np.zeros((1000, 20)), np.zeros((1000, 21))
    assert choose_density("auto", "full", narrow).density == "kde"
    monkeypatch.setattr(choice, "find_spec", lambda name: object())
    assert choose_density("auto", "full", wide).density == "flow"
    few = choose_density("auto", "full", wide[:100])
    assert (few.density, few.covariance) == ("gmm", "full")
    assert "100 rows" in few.reason
    holed = wide.copy()
    holed[0, 0] = np.nan
    assert "missing" in choose_density("auto", "full", holed).reason
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert "not installed" in choose_density("auto", "full", wide).reason


def test_unknown_density_and_device_without_use_are_refused() -> None:
    data, _ = binary_set(60, 20)
    with pytest.raises(InputError, match="density"):
        SsmeMethod(density="histogram")
    with pytest.raises(InputError, match="device"):
        SsmeMethod(density="gmm", device="cpu").fit(data, np.random.default_rng(0))


@pytest.mark.parametrize("density", ["kde", "gmm", "auto"])
def test_each_density_finds_the_classes(density: str) -> None:
    data, y = binary_set(600, 60)
    belief = SsmeMethod(density=density, tol=1e-2, n_bootstrap=0).fit(
        data, np.random.default_rng(0)
    )
    assert ((belief.posterior[:, 1] > 0.5) == y).mean() > 0.93
    assert belief.facts.describe()["density"] == ("kde" if density == "auto" else density)
    assert belief.facts.describe()["engine"]
    assert belief.facts.describe()["density_reason"]


@pytest.mark.torch
def test_torch_engine_gives_the_same_fit() -> None:
    pytest.importorskip("torch")
    data, _ = binary_set(300, 30)
    fits = [
        SsmeMethod(device=device, tol=1e-2, n_bootstrap=0).fit(data, np.random.default_rng(0))
        for device in (None, "cpu")
    ]
    assert fits[1].facts.describe()["engine"] == "torch cpu"
    np.testing.assert_allclose(fits[0].posterior, fits[1].posterior, atol=1e-8)


def test_rows_beyond_max_rows_get_the_fitted_posterior() -> None:
    data, y = binary_set(900, 50)
    belief = SsmeMethod(max_rows=400, tol=1e-2, n_bootstrap=0).fit(data, np.random.default_rng(0))
    assert belief.facts.describe()["fitted_rows"] == 400
    assert ((belief.posterior[:, 1] > 0.5) == y).mean() > 0.93
    assert belief.predictor is not None
    again = belief.predictor(data.scores)
    same = np.abs(again - belief.posterior).max(axis=1) < 1e-6
    assert same[data.labels < 0].mean() > 0.5
    with pytest.raises(InputError, match="max_rows"):
        SsmeMethod(max_rows=0)


def test_kernels_up_to_twenty_dimensions_unless_told() -> None:
    chosen = [choose_density("auto", "full", np.zeros((5000, d))).density for d in (1, 20, 21)]
    assert chosen[:2] == ["kde", "kde"]
    assert chosen[2] != "kde"
    few = choose_density("auto", "full", np.zeros((209, 21)))
    many = choose_density("auto", "full", np.zeros((210, 21)))
    assert "209 rows, too few" in few.reason
    assert "too few" not in many.reason
    assert choose_density("gmm", "diag", np.zeros((5, 1))).reason == "asked for"
    with pytest.raises(InputError, match="density"):
        choose_density("kdes", "full", np.zeros((5, 1)))
