"""Factors of pairs: which metrics have one, and how it fades with labels."""

import numpy as np
import pytest

import ssme
from ssme.methods.auto.constants import RecenteringConstants
from ssme.methods.auto.correction import choose_pair_factor
from ssme.methods.auto.method import Auto
from ssme.metrics import get_metric

OF = RecenteringConstants()


def find(metric: str, gain: float = 0.0) -> float:
    return choose_pair_factor(get_metric(metric), gain, 2, OF)


def test_the_factor_goes_by_kind_at_any_threshold() -> None:
    for metric in ("accuracy", "accuracy@0.3", "roc_auc", "average_precision"):
        assert find(metric) == pytest.approx(OF.pairs)
    assert find("ece") == find("log_loss") == 1.0


def test_the_factor_is_one_where_labels_decide() -> None:
    assert find("accuracy", gain=1.0) == 1.0
    assert find("accuracy", gain=0.5) == pytest.approx(1.0 - 0.5 * (1.0 - OF.pairs))


def evaluate(n_models: int) -> ssme.Evaluation:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=120)
    odds = 2.0 * (truth - 0.5)[:, None] + rng.normal(size=(120, n_models))
    labels = [int(y) if i < 20 else None for i, y in enumerate(truth)]
    scores = {f"model {j}": 1.0 / (1.0 + np.exp(-odds[:, j])) for j in range(n_models)}
    return ssme.evaluate(scores, labels, method=Auto(n_draws=20), metrics=["accuracy", "ece"])


def test_estimates_carry_the_factor() -> None:
    result = evaluate(5)
    accuracy, ece = result.estimates[0]
    assert OF.best < accuracy.best_exponent < 1.0
    assert OF.pairs < accuracy.pair_factor < 1.0
    assert ece.pair_factor == 1.0
    plain = (accuracy.draws[:, 0] > accuracy.draws[:, 1]).mean()
    said = result.compare("accuracy", "model 0", "model 1").rows[0].p_better
    assert abs(said - 0.5) >= abs(plain - 0.5) - 0.025
