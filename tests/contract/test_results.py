"""Every public method of an evaluation works on every kind of evaluation."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.made_sets import HOSTILE, UNPRINTABLE, binary_set, grouped_set, many_class_set

import ssme
from ssme.errors import InputError
from ssme.results.groups import Group
from ssme.results.table import COLUMNS, LIBRARIES
from ssme.show.plots import Plots

PICTURES = [name for name in dir(Plots) if not name.startswith("_") and name != "evaluation"]

pytestmark = pytest.mark.filterwarnings("ignore::ssme.errors.UndefinedMetricWarning")


def evaluate(data: ssme.ScoreSet, **options: Any) -> ssme.Evaluation:
    return ssme.evaluate(data, **{"method": "ensemble", "n_draws": 20, **options})


def with_lonely_row() -> ssme.Evaluation:
    """A group of one row, on which ranking metrics are undefined."""
    data = grouped_set()
    site = data.groups["site"].copy()
    site[0] = "lonely"
    return evaluate(data.replace(groups={"site": site}), metrics=["roc_auc", "accuracy"])


def with_empty_group() -> ssme.Evaluation:
    """A group that no row of the data belongs to, as a group outside a sample is."""
    whole = evaluate(binary_set(n=60), metrics=["accuracy", "roc_auc"])
    nobody = np.zeros(60, dtype=bool)
    nothing = tuple(whole.belief.estimate(whole.metrics, [nobody])[0])
    return dataclasses.replace(
        whole,
        groups=(*whole.groups, Group("site=nowhere", nobody, 0, 0)),
        estimates=(*whole.estimates, nothing),
        labels_only=(*whole.labels_only, nothing),
    )


def with_hostile_names() -> ssme.Evaluation:
    names = HOSTILE + UNPRINTABLE
    data = binary_set(names, n=60, n_labeled=30)
    sites = np.array([*UNPRINTABLE[:4], HOSTILE[0]], dtype=object)[np.arange(60) % 5]
    data = data.replace(groups={UNPRINTABLE[1]: sites}, classes=(UNPRINTABLE[0], HOSTILE[0]))
    return evaluate(data, metrics="accuracy")


def streamed(tmp_path: Path) -> ssme.Evaluation:
    import pandas as pd

    from ssme.stream import evaluate_parquet

    data = grouped_set()
    frame = pd.DataFrame(dict(zip(data.models, data.scores[:, :, 1].T, strict=True)))
    frame["label"] = np.where(data.labels >= 0, data.labels, np.nan)
    frame["site"] = data.groups["site"]
    frame.to_parquet(tmp_path / "x.parquet", index=False)
    return evaluate_parquet(
        tmp_path / "x.parquet",
        method="ensemble",
        n_draws=20,
        label="label",
        groups=["site"],
        sample_rows=100,
        metrics=["accuracy", "ece"],
    )


CASES: dict[str, Callable[[Path], ssme.Evaluation]] = {
    "one model": lambda _: evaluate(binary_set(("only",), n=60)),
    "one metric": lambda _: evaluate(binary_set(n=60), metrics="accuracy"),
    "no labels": lambda _: evaluate(binary_set(n=60, n_labeled=0)),
    "no unlabeled rows": lambda _: evaluate(binary_set(n=60, n_labeled=60)),
    "undefined on a group": lambda _: with_lonely_row(),
    "no draws": lambda _: ssme.evaluate(binary_set(n=60), method="atc", metrics="accuracy"),
    "empty group": lambda _: with_empty_group(),
    "60 models": lambda _: evaluate(
        binary_set(tuple(f"m{j}" for j in range(60)), n=60), metrics="accuracy"
    ),
    "ten classes": lambda _: evaluate(many_class_set(n=150), metrics=["accuracy", "ece"]),
    "hostile names": lambda _: with_hostile_names(),
    "streamed": streamed,
}


@pytest.fixture(scope="module", params=CASES)
def result(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return CASES[request.param](tmp_path_factory.mktemp("case"))


def test_table_frames_and_json_have_the_same_columns_and_numbers(
    result: ssme.Evaluation, tmp_path: Path
) -> None:
    rows = list(result.rows())
    assert len(rows) == result.data.n_models * len(result.groups) * len(result.metrics)
    for library in LIBRARIES:
        frame = result.frame(library)
        names = frame.column_names if library == "pyarrow" else list(frame.columns)
        assert tuple(names) == COLUMNS == tuple(rows[0])
        assert len(frame) == len(rows)
    told = json.loads(result.to_json(tmp_path / "r.json"))["estimates"]
    assert [tuple(row) for row in told] == [COLUMNS] * len(rows)
    for row, plain in zip(rows, told, strict=True):
        for name, value in row.items():
            assert plain[name] == (None if value != value else value)


def test_labels_only_says_where_it_comes_from(result: ssme.Evaluation) -> None:
    overall = {(r["model"], r["metric"]): r["labels_only"] for r in result.rows(group="all")}
    for row in result.rows():
        at_all = overall[row["model"], row["metric"]]
        if row["labels_only_from"] == "none":
            assert np.isnan(row["labels_only"])
        elif row["labels_only_from"] == "all":
            assert row["labels_only"] == at_all
        else:
            assert row["labels_only_from"] == "group"
            assert row["n_labeled"] > 0
        if row["group"] != "all" and row["n_labeled"] == 0:
            assert row["labels_only_from"] != "group"


def test_another_level_needs_no_new_fit(result: ssme.Evaluation) -> None:
    narrow, wide = (list(result.rows(level=level)) for level in (0.5, 0.99))
    for inner, outer in zip(narrow, wide, strict=True):
        assert inner["estimate"] == outer["estimate"] or np.isnan(inner["estimate"])
        if np.isfinite(inner["low"]):
            assert outer["low"] <= inner["low"] <= inner["high"] <= outer["high"]
    with pytest.raises(InputError, match="level"):
        result.frame(level=1.5)


def test_comparison_and_ranking(result: ssme.Evaluation) -> None:
    metric, models = result.metrics[0].name, result.data.models
    table = result.compare(metric)
    assert len(table) == len(models) * (len(models) - 1) // 2
    for library in LIBRARIES:
        assert len(table.frame(library)) == len(table)
        assert len(result.ranking(metric).frame(library)) == len(models)
    for group in result.groups[1:]:
        assert len(result.ranking(metric, group.name)) == len(models)
        between = result.compare(metric, groups=("all", group.name), level=0.8)
        assert len(between) == len(models)
    for shown in (table, result.ranking(metric)):
        assert repr(shown)
        assert shown._repr_html_()


def test_text_for_people(result: ssme.Evaluation) -> None:
    for text in (repr(result), result._repr_html_()):
        text.encode("utf-8")
    assert ">nan<" not in result._repr_html_()


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_have_data_and_words_or_say_why_not(result: ssme.Evaluation, name: str) -> None:
    for group in (None, *result.groups[-1:]):
        chosen = {} if group is None or name in ("groups", "convergence") else {"group": group.name}
        if name == "ranking":
            chosen |= {"metric": result.metrics[0].name}
        try:
            plot = getattr(result.plot, name)(**chosen)
        except InputError as refused:
            problem = refused
        else:
            assert len(plot.frame()) == len(plot.rows)
            assert "nan" not in plot.alt.lower().split()
            json.dumps(plot.spec(), allow_nan=False)
            continue
        assert problem.hint, problem


def test_reports(result: ssme.Evaluation, tmp_path: Path) -> None:
    for suffix in ("html", "md", "json"):
        text = result.report(tmp_path / f"r.{suffix}").read_text(encoding="utf-8")
        assert len(text) > 500
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1


def test_logging(result: ssme.Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the report is logged without its pictures, which `test_reports` draws."""
    monkeypatch.setattr("ssme.show.charts._render_svg", lambda *_, **__: "<svg></svg>")

    class Tracker:
        """Takes what MLflow would be told."""

        def log_metrics(self, metrics: dict[str, float]) -> None:
            assert all(np.isfinite(value) for value in metrics.values())

        def log_params(self, params: dict[str, Any]) -> None: ...

        def log_text(self, text: str, name: str) -> None: ...

        def log_dict(self, content: dict[str, Any], name: str) -> None:
            json.dumps(content, allow_nan=False)

    result.to_mlflow(tracker=Tracker())


def test_positions_are_found_and_unknown_names_refused(result: ssme.Evaluation) -> None:
    for j, model in enumerate(result.data.models):
        assert result.model_index(model) == j
    for m, metric in enumerate(result.metrics):
        assert result.metric_index(metric.name) == m
    for ask in (result.model_index, result.metric_index, result.group_index, result.class_index):
        with pytest.raises(InputError, match="nobody at all"):
            ask("nobody at all")
