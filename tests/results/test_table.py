"""The table of an evaluation: computed once, at any level; labels alone say where they are from."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from tests.made_sets import UNPRINTABLE, binary_set

import ssme
from ssme.errors import InputError
from ssme.results import evaluation as evaluations
from ssme.results.table import LIBRARIES, build_frame, compute_effective_labels
from ssme.show.document import build_document


@pytest.fixture(scope="module")
def grouped() -> ssme.Evaluation:
    """Three sites, of which the last has no label and the second only labels of one class."""
    data = binary_set(n=300, n_labeled=60)
    site = np.array(["a", "b", "c"], dtype=object)[np.arange(300) % 3]
    labels = data.labels.copy()
    labels[(site == "c") | ((site == "b") & (labels == 0))] = -1
    data = data.replace(labels=labels, groups={"site": site})
    return ssme.evaluate(data, method="ensemble", metrics=["accuracy", "roc_auc"], n_draws=50)


@pytest.mark.parametrize("width", [0.0, 1e-16, 1e-12])
def test_no_number_of_labels_is_made_of_rounding(width: float) -> None:
    """The order of rows decided between NaN and 1e31 labels."""
    assert np.isnan(compute_effective_labels(30, 0.2, width))
    assert compute_effective_labels(30, 0.2, 0.1) == pytest.approx(120.0)


def test_labels_only_falls_back_on_all_rows_and_says_so(grouped: ssme.Evaluation) -> None:
    """A group that its labels say nothing about had NaN there."""
    table = grouped.frame("pandas").set_index(["group", "metric", "model"])
    overall = table.loc["all"]
    assert set(overall["labels_only_from"]) == {"all"}
    source = table["labels_only_from"].groupby(level=["group", "metric"]).unique().map(list)
    assert source["site=a", "accuracy"] == source["site=a", "roc_auc"] == ["group"]
    assert source["site=b", "accuracy"] == ["group"]
    assert source["site=b", "roc_auc"] == ["all"]
    assert source["site=c", "accuracy"] == source["site=c", "roc_auc"] == ["all"]
    columns = ["labels_only", "labels_only_low", "labels_only_high"]
    assert (table.loc["site=c"][columns] == overall[columns]).all(axis=None)
    assert set(table.loc["site=c"]["n_labeled"]) == {0}
    assert not table["labels_only"].isna().any()


def test_estimates_of_labels_alone_are_not_replaced(grouped: ssme.Evaluation) -> None:
    assert np.isnan(grouped.labels_only[3][0].value).all()


def test_borrowed_values_are_not_drawn_and_marked_elsewhere(grouped: ssme.Evaluation) -> None:
    drawn = grouped.plot.groups("accuracy").frame().set_index(["group", "model"])["labels_only"]
    assert drawn["site=c"].isna().all()
    assert drawn["site=a"].notna().all()
    parts = [part for part in build_document(grouped).walk() if part.key.startswith("group-metric")]
    columns = [{column.title: column.cells for column in part.table} for part in parts]
    marked = [
        group
        for table in columns
        for group, source in zip(table["group"], table["from labels"], strict=True)
        if source == "all rows"
    ]
    assert sorted(marked) == ["site=b"] * 3 + ["site=c"] * 6


def test_table_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    tabulate = evaluations.tables.tabulate

    def counted(result: ssme.Evaluation, level: float) -> Any:
        calls.append(level)
        return tabulate(result, level)

    monkeypatch.setattr(evaluations.tables, "tabulate", counted)
    result = ssme.evaluate(binary_set(n=60), method="ensemble", n_draws=5)
    for _ in range(3):
        list(result.rows("accuracy"))
        result.frame()
        repr(result)
        result.to_dict()
        result.frame(level=0.8)
    assert calls == [0.95, 0.8]
    changed = dataclasses.replace(result, level=0.5)
    assert (changed.frame()["high"] <= result.frame()["high"]).all()


def test_rows_are_copies() -> None:
    result = ssme.evaluate(binary_set(n=60), method="ensemble", n_draws=5)
    next(result.rows())["estimate"] = 7.0
    assert next(result.rows())["estimate"] <= 1.0


def test_levels_equal_those_of_an_evaluation_made_with_them() -> None:
    data = binary_set(n=60)
    at_80 = ssme.evaluate(data, method="labeled", level=0.8)
    at_95 = ssme.evaluate(data, method="labeled")
    ours, theirs = at_95.frame(level=0.8), at_80.frame()
    assert ours.equals(theirs)
    assert at_95.compare("accuracy", level=0.8).frame().equals(at_80.compare("accuracy").frame())
    assert at_95.ranking("accuracy", level=0.8).frame().equals(at_80.ranking("accuracy").frame())


def test_comparison_and_ranking_come_in_the_library_of_the_input() -> None:
    """They were pandas frames whatever the scores came in."""
    import pandas as pd
    import polars as pl

    data = binary_set(n=60)
    frame = pl.DataFrame({name: data.scores[:, j, 1] for j, name in enumerate(data.models)})
    labels = [None if label < 0 else int(label) for label in data.labels]
    result = ssme.evaluate(
        frame.with_columns(label=pl.Series(labels)), "label", method="ensemble", n_draws=5
    )
    for table in (result, result.compare(), result.ranking("accuracy")):
        assert isinstance(table.frame(), pl.DataFrame)
        assert isinstance(table.frame("pandas"), pd.DataFrame)


def test_frames_take_any_name_and_text_has_no_terminal_codes() -> None:
    data = binary_set(UNPRINTABLE, n=60)
    result = ssme.evaluate(data, method="ensemble", metrics="accuracy", n_draws=5)
    for library in LIBRARIES:
        assert len(set(map(str, result.frame(library)["model"]))) == len(UNPRINTABLE)
    for table in (result, result.compare(), result.ranking()):
        for text in (repr(table), table._repr_html_()):
            assert not {c for c in text if c < " " and c != "\n"} | ({"\x9b"} & set(text))
            text.encode("utf-8")
    with pytest.raises(InputError, match="library must be one of"):
        build_frame({"a": [1]}, "numpy")
