"""How labels correct the model: their counts, differences and suggested rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ssme.data.design import LabelDesign
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.correction import (
    count_by_class,
    count_by_score,
    count_labels,
)
from ssme.metrics import get_metric

OF = Constants().correction
ACCURACY = get_metric("accuracy")


def sure(p: np.ndarray) -> np.ndarray:
    """W of two classes, the larger being ``p``."""
    return np.stack([1.0 - p, p], axis=1)


def test_weights_sum_to_their_effective_number() -> None:
    design = LabelDesign("weights", np.array([1.0, 9.0, 3.0]))
    found = count_labels(design, np.array([0, 2]))
    np.testing.assert_allclose(found, np.array([1.0, 3.0]) / 4 * 1.6)
    assert count_labels(LabelDesign("random"), np.array([0])) is None
    assert count_labels(design, np.array([], dtype=np.int64)) is None


def test_counts_by_class_bring_back_the_shares() -> None:
    labels = np.array([0, 0, 0, 1])
    found = count_by_class(np.array([0.9, 0.06, 0.04]), labels)
    np.testing.assert_allclose(found, [0.9 * 4 / 3, 0.06 * 4 / 1, 1.0])
    assert found[labels].sum() == pytest.approx(4 * 0.96)


def test_counts_by_score_bring_back_the_strata() -> None:
    """Two strata of sureness: half of the rows each, of the labels three quarters and one."""
    of = replace(OF, labels_a_stratum=2, strata=2)
    everywhere = sure(np.linspace(0.5, 1.0, 101))
    labeled = sure(np.array([0.55, 0.6, 0.7, 0.9]))
    found = count_by_score(everywhere, labeled, of)
    # 51 of 101 rows are at most as sure as the middle one
    low, high = 51 / 101, 50 / 101
    np.testing.assert_allclose(found, [low / 0.75, low / 0.75, low / 0.75, high / 0.25])
    three = count_by_score(everywhere, labeled, replace(of, labels_a_stratum=1, strata=3))
    parts = np.array([34, 33, 34]) / 101
    expected = [parts[0] / 0.5, parts[0] / 0.5, parts[1] / 0.25, parts[2] / 0.25]
    np.testing.assert_allclose(three, expected)
