"""Which class is positive, and which order grades have: never by the order of rows or columns."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import ssme
from ssme import InputError, ScoreSet
from ssme.errors import SsmeWarning
from ssme.sklearn import scores_from

ONE_CLASS = ["precision", "recall", "specificity", "f1", "average_precision", "ece", "win_rate"]


def make_long(
    names: tuple[str, ...], n: int = 200, seed: int = 3, skill: float = 2.0
) -> pd.DataFrame:
    """A long table of two models; 30 % of the rows, and more of the first classes, have a label."""
    rng = np.random.default_rng(seed)
    shares = np.arange(len(names), 0, -1.0)
    truth = rng.choice(len(names), n, p=shares / shares.sum())
    known = rng.random(n) < 0.3
    parts = []
    for model in ("bert", "gpt"):
        logits = rng.normal(size=(n, len(names))) + skill * np.eye(len(names))[truth]
        scores = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        parts += [
            pd.DataFrame(
                {
                    "id": np.arange(n),
                    "model": model,
                    "class": name,
                    "score": scores[:, k],
                    "label": np.where(known, np.array(names)[truth], None),
                }
            )
            for k, name in enumerate(names)
        ]
    return pd.concat(parts, ignore_index=True)


def evaluate(data: ScoreSet, *metrics: str, **options: Any) -> dict[tuple[str, str], float]:
    result = ssme.evaluate(data, method="labeled", metrics=list(metrics) or None, **options)
    return {(row["model"], row["metric"]): row["estimate"] for row in result.rows()}


@pytest.mark.parametrize(
    ("names", "positive"),
    [
        (("No", "YES"), "YES"),
        (("negative", "positive"), "positive"),
        (("FALSE", "true"), "true"),
        (("fail", "pass"), "pass"),
        (("0", "1"), "1"),
        (("10", "9"), "10"),
    ],
)
def test_a_known_pair_has_a_positive_class(names: tuple[str, str], positive: str) -> None:
    for order in (names, names[::-1]):
        data = ScoreSet.from_frame(make_long(order))
        assert str(data.positive).lower() == positive.lower()
        assert data.ordered


def test_metrics_of_the_positive_class_are_refused_by_name_where_none_is_known() -> None:
    data = ScoreSet.from_frame(make_long(("ham", "spam")))
    assert (data.ordered, data.positive, data.classes) == (False, None, ("ham", "spam"))
    for metric in [*ONE_CLASS, "accuracy@0.3", "recall[spam]@0.3", "accuracy~0.1"]:
        with pytest.raises(InputError, match=r"needs the positive class.*'ham', 'spam'") as told:
            evaluate(data, metric)
        assert str(told.value).startswith(metric)
        assert "positive='spam'" in str(told.value)
    with pytest.raises(InputError, match=r"accuracy@0.3 needs the positive class"):
        evaluate(data, "accuracy", threshold=0.3)
    found = evaluate(data, "accuracy", "balanced_accuracy", "log_loss", "roc_auc", "recall[spam]")
    assert np.isfinite(list(found.values())).all()
    named = ScoreSet.from_frame(make_long(("ham", "spam")), positive="ham")
    assert named.classes == ("spam", "ham")
    assert evaluate(named, "recall")["bert", "recall"] == pytest.approx(
        evaluate(data, "recall[ham]")["bert", "recall[ham]"]
    )


def test_usual_metrics_leave_out_what_needs_a_positive_class_and_say_so() -> None:
    data = ScoreSet.from_frame(make_long(("ham", "spam")))
    with pytest.warns(SsmeWarning, match="ece and average_precision are left out.*positive"):
        found = evaluate(data)
    assert {metric for _, metric in found} == {"accuracy", "roc_auc"}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SsmeWarning)
        named = evaluate(ScoreSet.from_frame(make_long(("ham", "spam")), positive="spam"))
    assert {metric for _, metric in named} >= {"ece", "average_precision"}


def test_a_rare_class_does_not_lead_to_a_metric_of_the_positive_class() -> None:
    table = make_long(("ham", "spam"), n=400)
    truth = table.groupby("id")["label"].first()
    rare = truth.index[truth == "spam"][4:]
    table = table[~table["id"].isin(rare)]
    with pytest.warns(SsmeWarning, match="left out"):
        result = ssme.evaluate(table, method="labeled")
    assert result.settings["lead"]["metric"] == "roc_auc"


def test_ordered_classes_are_refused_by_name_where_no_order_is_known() -> None:
    table = make_long(("low", "medium", "high"))
    data = ScoreSet.from_frame(table)
    assert data.classes == ("high", "low", "medium")
    for metric in ("quadratic_kappa", "grade_error", "win_rate"):
        with pytest.raises(InputError, match=f"{metric} needs the order of the classes"):
            evaluate(data, metric)
    assert len(evaluate(data)) == 4, "accuracy and ece of two models need no order"
    listed = ScoreSet.from_frame(table, classes=["low", "medium", "high"])
    assert len(evaluate(listed, "quadratic_kappa", "grade_error", "win_rate")) == 6


def test_thresholds_and_gaps_need_a_positive_class() -> None:
    table = make_long(("ham", "spam"))
    table["group_site"] = np.where(table["id"] % 2 == 0, "north", "south")
    result = ssme.evaluate(table, method="labeled", metrics="accuracy")
    with pytest.raises(InputError, match="f1 needs the positive class"):
        result.choose_thresholds("f1")
    with pytest.raises(InputError, match=r"recall, precision need|precision, recall need"):
        result.choose_thresholds("recall>=0.9")
    with pytest.raises(InputError, match="recall needs the positive class"):
        result.gaps(kinds=["equal_opportunity"])
    with pytest.raises(InputError, match="expected_cost needs the positive class"):
        result.choose(ssme.metrics.expected_cost([[0, 1], [10, 0]]))
    assert result.gaps().rows


def test_callables_need_an_order_since_they_see_codes() -> None:
    data = ScoreSet.from_frame(make_long(("ham", "spam")))
    with pytest.raises(InputError, match="needs the positive class"):
        ssme.evaluate(data, method="labeled", metrics=[lambda y, p: float(np.mean(p))])


def test_answers_in_no_order_have_the_metrics_that_need_none() -> None:
    said = {"a": ["safe", "unsafe"] * 10, "b": ["unsafe", "unsafe"] * 10}
    data = ScoreSet.from_answers(said, ["safe", "unsafe", *[None] * 18])
    assert not data.ordered
    assert {metric for _, metric in evaluate(data)} == {"accuracy", "cohen_kappa"}
    with pytest.raises(InputError, match="precision needs the positive class"):
        evaluate(data, "precision")
    assert ScoreSet.from_answers(said, None, positive="unsafe").positive == "unsafe"


def test_an_npz_keeps_that_the_order_is_not_known(tmp_path: Path) -> None:
    data = ScoreSet.from_frame(make_long(("ham", "spam")))
    data.save(tmp_path / "scores.npz")
    assert not ScoreSet.read(tmp_path / "scores.npz").ordered
    named = ScoreSet.read(tmp_path / "scores.npz", positive="ham")
    assert named.positive == "ham"
    np.testing.assert_allclose(named.scores[:, :, 1], data.scores[:, :, 0], rtol=1e-14)
    assert np.array_equal(named.label_values, data.label_values)


def test_estimators_sort_their_classes_which_says_nothing() -> None:
    from sklearn.linear_model import LogisticRegression

    x = np.linspace(-1.0, 1.0, 20)[:, None]
    y = np.where(x[:, 0] > 0.1, "ham", "spam")
    fitted = LogisticRegression().fit(x, y)
    assert not scores_from(fitted, x, y).ordered
    data = scores_from(fitted, x, y, positive="ham")
    assert data.classes == ("spam", "ham")
    assert data.positive == "ham"
    assert data.scores[-1, 0, 1] > 0.5
    yes = LogisticRegression().fit(x, np.where(x[:, 0] > 0.1, "yes", "no"))
    assert scores_from(yes, x).positive == "yes"


@pytest.mark.parametrize(
    ("names", "positive"), [(("no", "yes"), "yes"), (("ham", "spam"), None), (tuple("xyz"), None)]
)
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_results_carry_the_positive_class(
    names: tuple[str, ...], positive: str | None, library: str
) -> None:
    result = ssme.evaluate(make_long(names), method="labeled", metrics="accuracy")
    frame = nw.from_native(result.frame(library), eager_only=True)
    assert frame["positive_class"].to_list() == [positive] * 2
    told = json.loads(result.to_json())
    assert told["settings"]["positive"] == positive
    assert [row["positive_class"] for row in told["estimates"]] == [positive] * 2
    assert ("'yes' is positive" in repr(result)) == (positive == "yes")
    assert ("positive class not known" in repr(result)) == (names == ("ham", "spam"))


def test_scores_of_one_half_are_counted_where_neither_class_is_positive() -> None:
    table = make_long(("ham", "spam"))
    table.loc[table["id"] < 2, "score"] = 0.5
    with pytest.warns(SsmeWarning, match=r"4 scores are exactly 0.5 .* count as 'spam'"):
        ssme.evaluate(table, method="labeled", metrics="accuracy")
    with warnings.catch_warnings():
        warnings.simplefilter("error", SsmeWarning)
        ssme.evaluate(table, method="labeled", metrics="roc_auc")
        ssme.evaluate(table, positive="ham", method="labeled", metrics="accuracy")


def test_curves_name_their_class_where_neither_is_positive(tmp_path: Path) -> None:
    result = ssme.evaluate(make_long(("ham", "spam")), method="ensemble", metrics="accuracy")
    with pytest.raises(InputError, match="class_name"):
        result.plot.roc()
    assert "class ham against the rest" in result.plot.roc(class_name="ham").alt
    report = result.report(tmp_path / "report.html").read_text()
    assert "positive class not known" in report
    assert "Confusion matrices" in report
