"""Curves against scikit-learn's on hard labels, and their bands on soft ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score, roc_curve
from tests.made_sets import binary_set, grouped_set, many_class_set

import ssme
from ssme.errors import InputError
from ssme.results import curves


def fully_labeled() -> tuple[ssme.Evaluation, np.ndarray]:
    data = binary_set(n=250, n_labeled=250)
    return ssme.evaluate(data, method="ensemble", n_draws=5), data.labels


def of(rows: list[dict], model: str, column: str) -> np.ndarray:
    return np.array([row[column] for row in rows if row["model"] == model])


def test_roc_is_scikit_learns_when_labels_are_known() -> None:
    result, y = fully_labeled()
    rows = curves.estimate_roc(result)
    for j, model in enumerate(result.data.models):
        score = result.data.scores[:, j, 1]
        false, true, _ = roc_curve(y, score)
        expected = np.interp(curves.GRID, false, true)
        found = of(rows, model, "true_positive_rate")
        assert np.abs(found - expected).max() < 0.06
        area = np.trapezoid(found, curves.GRID)
        assert area == pytest.approx(roc_auc_score(y, score), abs=0.01)


def test_precision_recall_area_is_average_precision() -> None:
    result, y = fully_labeled()
    rows = curves.estimate_precision_recall(result)
    for j, model in enumerate(result.data.models):
        area = of(rows, model, "precision")[1:].mean()
        expected = average_precision_score(y, result.data.scores[:, j, 1])
        assert area == pytest.approx(expected, abs=0.02)


def test_an_area_that_the_table_contradicts_is_found() -> None:
    data = binary_set(n=250, n_labeled=250)
    metrics = ["accuracy", "average_precision", "roc_auc"]
    result = ssme.evaluate(data, method="ensemble", n_draws=5, metrics=metrics)
    rows = curves.estimate_roc(result)
    assert curves.find_other_areas(result, rows) == []
    assert curves.find_other_areas(result, curves.estimate_precision_recall(result)) == []
    first = result.data.models[0]
    flat = [{**row, "true_positive_rate": 0.3} if row["model"] == first else row for row in rows]
    assert curves.find_other_areas(result, flat) == [(first, "roc_auc", pytest.approx(0.3))]
    assert curves.find_other_areas(result, curves.estimate_confusion(result)) == []


def test_confusion_is_scikit_learns() -> None:
    result, y = fully_labeled()
    rows = curves.estimate_confusion(result)
    for j, model in enumerate(result.data.models):
        said = result.data.scores[:, j].argmax(axis=1)
        expected = confusion_matrix(y, said) / len(y)
        assert of(rows, model, "share").reshape(2, 2) == pytest.approx(expected)


@pytest.mark.parametrize("threshold", [None, 0.2])
def test_confusion_and_agreement_decide_as_the_metrics_do(threshold: float | None) -> None:
    data = binary_set(n=250, n_labeled=60)
    scores = data.scores.copy()
    scores[:40, 0] = 0.5  # a tie is a decision for class 1
    result = ssme.evaluate(
        data.replace(scores=scores), threshold=threshold, method="ensemble", n_draws=5
    )
    at = 0.5 if threshold is None else threshold
    said = scores[:, :, 1] >= at
    for row in curves.estimate_confusion(result):
        if row["true"] == row["predicted"] == str(data.classes[1]):
            chosen = said[:, data.models.index(row["model"])]
            assert row["within_true"] == pytest.approx(
                np.average(chosen, weights=result.posterior[:, 1])
            )
    pairs = {(row["model"], row["other"]): row for row in curves.estimate_agreement(result)}
    first, second = data.models[:2]
    assert pairs[first, second]["agree"] == pytest.approx((said[:, 0] == said[:, 1]).mean())


def test_densities_add_up_to_one() -> None:
    result = ssme.evaluate(many_class_set(), method="ensemble")
    rows = curves.estimate_densities(result)
    for model in result.data.models:
        assert of(rows, model, "share").sum() == pytest.approx(1.0)


def test_agreement_of_a_model_with_itself_and_a_copy() -> None:
    data = binary_set()
    data = data.replace(
        scores=np.concatenate([data.scores, data.scores[:, :1]], axis=1),
        models=(*data.models, "copy"),
    )
    rows = curves.estimate_agreement(ssme.evaluate(data, method="ensemble"))
    pair = next(r for r in rows if (r["model"], r["other"]) == ("forest", "copy"))
    assert pair["agree"] == 1.0
    assert pair["error_correlation"] == pytest.approx(1.0)


def test_missing_scores_leave_rows_out_for_that_model() -> None:
    data = binary_set()
    scores = data.scores.copy()
    scores[::3, 0] = np.nan
    result = ssme.evaluate(data.replace(scores=scores), method="ensemble")
    for make in (
        curves.estimate_roc,
        curves.estimate_reliability,
        curves.estimate_densities,
        curves.estimate_confusion,
    ):
        assert all(np.isfinite(v) for row in make(result) for v in row.values() if type(v) is float)


def test_groups_restrict_rows() -> None:
    result = ssme.evaluate(grouped_set(), method="ensemble")
    north = result.data.groups["site"] == "north"
    alone = ssme.evaluate(result.data.take(north), method="ensemble")
    assert curves.estimate_confusion(result, "site=north") == curves.estimate_confusion(alone)


def test_a_direct_method_says_why_not() -> None:
    result = ssme.evaluate(binary_set(), method="labeled")
    with pytest.raises(InputError, match="directly and says nothing about rows"):
        curves.estimate_roc(result)
    with pytest.raises(InputError, match="keeps no objective history"):
        curves.read_convergence(result)


def test_confusion_of_judges_has_the_recalls_of_the_table_on_its_diagonal() -> None:
    data = make_judges()
    result = ssme.evaluate(data, metrics=["recall[no]", "recall[yes]"], n_draws=20, random_state=0)
    table = {(row["model"], row["metric"]): row["estimate"] for row in result.rows()}
    found = curves.estimate_confusion(result)
    for row in found:
        if row["true"] == row["predicted"]:
            assert row["within_true"] == pytest.approx(
                table[row["model"], f"recall[{row['true']}]"]
            )
    for model in data.models:
        own = [row for row in found if row["model"] == model]
        assert sum(row["share"] for row in own) == pytest.approx(1.0)
        for true in data.classes:
            within = [row["within_true"] for row in own if row["true"] == true]
            assert sum(within) == pytest.approx(1.0)


def make_judges() -> ssme.ScoreSet:
    """Three judges, the last of whom errs alike on rows of one class; 40 labels of 200 rows."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    names = np.array(["no", "yes"])
    said = {
        f"j{m}": names[np.where(rng.random(200) < 0.75 + 0.05 * m, truth, 1 - truth)]
        for m in range(3)
    }
    labels = [str(names[y]) if i < 40 else None for i, y in enumerate(truth)]
    return ssme.ScoreSet.from_answers(said, labels)
