"""The kind of a metric decides its interval and which metrics are one."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.errors import InputError
from ssme.metrics import ece
from ssme.metrics.kinds import (
    Calibration,
    CalibrationInterval,
    ConfusionInterval,
    Custom,
    Decision,
    Loss,
    PlainInterval,
    ProportionInterval,
    Ranking,
    Rows,
    SettledCalibration,
    is_same_metric,
)


def hits(tables: object) -> np.ndarray:
    return np.zeros((1, 1))


def test_what_a_calibration_leaves_open_is_settled_by_the_classes() -> None:
    assert Calibration().settle(2) == SettledCalibration(10, "quantile", False, "l1", "positive")
    assert Calibration().settle(3) == SettledCalibration(15, "uniform", True, "l1", "top_label")
    told = Calibration(4, "uniform", True, "max", "classwise")
    assert told.settle(2) == SettledCalibration(4, "uniform", True, "max", "classwise")
    assert Calibration(weighted=False).settle(3).weighted is False


@pytest.mark.parametrize(
    ("kind", "two", "three"),
    [
        (Ranking("roc_auc"), PlainInterval.ROC_AUC, PlainInterval.BOOTSTRAP),
        (Ranking("average_precision"), PlainInterval.AVERAGE_PRECISION, PlainInterval.BOOTSTRAP),
        (Calibration(), CalibrationInterval("positive"), CalibrationInterval("top_label")),
        (Calibration(norm="l2"), PlainInterval.NONE, PlainInterval.NONE),
        (Calibration(norm="max"), PlainInterval.NONE, PlainInterval.NONE),
        (Calibration(target="classwise"), PlainInterval.NONE, PlainInterval.NONE),
        (
            Calibration(target="top_label_by_class"),
            CalibrationInterval("top_label_by_class"),
            CalibrationInterval("top_label_by_class"),
        ),
        (Loss(), PlainInterval.BOOTSTRAP, PlainInterval.BOOTSTRAP),
        (Custom(), PlainInterval.BOOTSTRAP, PlainInterval.BOOTSTRAP),
        (
            Decision(hits, 0.3, Rows(true=1)),
            ProportionInterval(Rows(true=1), 0.3),
            ProportionInterval(Rows(true=1), 0.3),
        ),
        (Decision(hits, 0.3), ConfusionInterval(hits, 0.3), ConfusionInterval(hits, 0.3)),
    ],
)
def test_the_interval_from_labels_alone(kind, two, three) -> None:  # type: ignore[no-untyped-def]
    assert kind.choose_labels_interval(2) == two
    assert kind.choose_labels_interval(3) == three


def test_averages_of_rankings_are_one_for_two_classes_only() -> None:
    for average in ("weighted", "one_vs_one"):
        other = Ranking("roc_auc", average)  # type: ignore[arg-type]
        assert is_same_metric(Ranking("roc_auc"), other, 2)
        assert not is_same_metric(Ranking("roc_auc"), other, 3)
        assert not is_same_metric(Ranking("average_precision"), other, 2)


def test_decisions_are_one_where_statistic_and_threshold_are() -> None:
    one, other = Decision(hits, 0.3), Decision(hits, 0.4)
    assert is_same_metric(one, Decision(hits, 0.3), 2)
    assert not is_same_metric(one, other, 2)
    assert is_same_metric(one, other, 2, any_threshold=True)
    assert not is_same_metric(one, Decision(max, 0.3), 2, any_threshold=True)  # type: ignore[arg-type]
    assert not is_same_metric(one, Ranking("roc_auc"), 2, any_threshold=True)


def test_losses_and_callables_are_never_known_to_be_one() -> None:
    assert not is_same_metric(Loss(), Loss(), 2)
    assert not is_same_metric(Custom(), Custom(), 2)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("binning", "even"),
        ("norm", "l3"),
        ("target", "all"),
        ("norm", None),
        ("n_bins", 0),
        ("n_bins", -3),
        ("n_bins", 2.5),
    ],
)
def test_options_of_a_calibration_error_are_checked(option: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        ece(**{option: value})  # type: ignore[arg-type]
    assert caught.value.option == option


def test_calibration_errors_spell_what_was_chosen() -> None:
    assert ece().name == "ece"
    assert ece(n_bins=1).name == "ece(n_bins=1)"
    assert ece(norm="l2", target="positive").name == "ece(norm=l2, target=positive)"
    assert ece(weighted=False).name == "ece(weighted=False)"
    assert not ece(target="positive").multiclass
    assert ece(target="top_label").multiclass
    assert ece(n_bins=np.int64(3)).name == "ece(n_bins=3)"
    largest = ece(norm="max", n_bins=3, binning="uniform", target="classwise").definition
    assert largest == (
        "largest gap |frequency - score| of 3 equal-width bins of each P(k), mean over classes"
    )
