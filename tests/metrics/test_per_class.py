"""Precision, recall and F1 of one class are scikit-learn's, by number and by name."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support
from tests.made_sets import binary_set, many_class_set
from tests.metrics.problems import random_problem

import ssme
from ssme.errors import InputError, UnsupportedError
from ssme.metrics import get_metric, write_metric
from ssme.metrics.kinds import is_same_metric
from ssme.metrics.registry import expand_metrics
from ssme.spec import RunSpec


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_each_class_is_scikit_learns(n_classes: int) -> None:
    problem = random_problem(3, 200, n_classes)
    said = problem.scores.argmax(axis=2)
    for m in range(problem.scores.shape[1]):
        known = precision_recall_fscore_support(
            problem.labels, said[:, m], labels=range(n_classes), zero_division=np.nan
        )
        for of, expected in zip(("precision", "recall", "f1"), known[:3], strict=True):
            found = [
                get_metric(f"{of}[{k}]")(problem.scores, problem.mass)[0, m]
                for k in range(n_classes)
            ]
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_those_of_class_one_of_two_are_the_usual_ones() -> None:
    for of in ("precision", "recall", "f1"):
        assert is_same_metric(get_metric(f"{of}[1]").kind, get_metric(of).kind, 2)
    assert is_same_metric(get_metric("recall[0]").kind, get_metric("specificity").kind, 2)


def test_names_are_looked_up_in_the_data() -> None:
    data = many_class_set()
    names = [str(name) for name in data.classes]
    r = ssme.evaluate(
        data, method="labeled", metrics=["accuracy", "per_class", f"f1[{names[0]}]"][:2]
    )
    listed = [m.name for m in r.metrics]
    assert listed[:4] == [
        "accuracy",
        *(f"{of}[{names[0]}]" for of in ("precision", "recall", "f1")),
    ]
    assert len(listed) == 1 + 3 * len(names)
    one = ssme.evaluate(data, method="labeled", metrics=f"recall[{names[1]}]")
    np.testing.assert_array_equal(one.estimate().value, r.estimate(f"recall[{names[1]}]").value)
    low, high = one.estimate().interval()
    assert ((low <= one.estimate().value) & (one.estimate().value <= high)).all()


def test_a_threshold_shows_and_is_used() -> None:
    data = binary_set(n=80, n_labeled=40)
    r = ssme.evaluate(data, method="labeled", metrics=["recall[*]"], threshold=0.3)
    assert [m.name for m in r.metrics] == [f"recall[{c}]@0.3" for c in data.classes]
    plain = ssme.evaluate(data, method="labeled", metrics="recall@0.3")
    np.testing.assert_array_equal(r.estimates[0][1].value, plain.estimate().value)


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        ("recall[nobody]", "no class 'nobody'"),
        ("roc_auc[1]", "is not a metric of one class"),
        ("recall[]", "no class ''"),
    ],
)
def test_unknown_classes_are_refused_with_the_known_ones(metric: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        ssme.evaluate(binary_set(n=40), method="labeled", metrics=metric)


def test_numbers_only_without_data() -> None:
    assert get_metric("f1[2]").name == "f1[2]"
    assert get_metric("f1[1]@0.3").kind.threshold == 0.3
    with pytest.raises(InputError, match="is not the number of a class"):
        get_metric("f1[spam]")
    with pytest.raises(InputError, match="precision, recall, f1"):
        get_metric("accuracy[1]")
    problem = random_problem(4, 20, 3)
    with pytest.raises(UnsupportedError, match="class number 7 with 3 classes"):
        get_metric("f1[7]")(problem.scores, problem.mass)


def test_it_can_be_written_down_and_made_again() -> None:
    for metric in (get_metric("recall[2]"), get_metric("f1[0]@0.25")):
        data = write_metric(metric)
        assert data is not None
        again = get_metric(json.loads(json.dumps(data)))
        assert (again.name, again.kind) == (metric.name, metric.kind)
    spec = RunSpec("scores.csv", metrics=["recall[spam]", "per_class"])
    assert RunSpec.from_dict(spec.to_dict()).metrics == ("recall[spam]", "per_class")


def test_a_class_named_star_is_a_class() -> None:
    assert [each["as"] for each in expand_metrics(["f1[*]"], ["*", "b"])] == ["f1[*]"]


def test_streamed_and_in_memory_agree(tmp_path: Path) -> None:
    from tests.stream.worlds import binary_table, written

    from ssme.stream import evaluate_parquet

    files = written(binary_table(1500, 80), tmp_path)
    r = evaluate_parquet(files, method="ensemble", metrics=["per_class", "recall"], n_draws=20)
    np.testing.assert_allclose(r.estimates[0][4].value, r.estimate("recall").value, rtol=1e-12)
