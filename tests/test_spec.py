"""A run can be run again: a spec survives every file format, and its rerun gives the same bits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ssme
from ssme.config import parse_config
from ssme.errors import InputError
from ssme.methods.ensemble import Ensemble
from ssme.methods.registry import find_method_class, method_names
from ssme.metrics import expected_cost, get_metric, metric_names
from ssme.options import list_declared
from ssme.run import RunSpec, rerun
from ssme.schema import ReadOptions
from tests.option_values import TEXT, values_of

SUFFIXES = (".toml", ".yaml", ".json")


def chosen(options: Any, draw: st.DrawFn) -> dict[str, Any]:
    """Values for some of the declared ``options``."""
    found = {}
    for each in options:
        values = values_of(each.kind)
        if not each.python_only and not values.is_empty and draw(st.booleans()):
            found[each.name] = draw(values)
    return found


@st.composite
def metrics(draw: st.DrawFn) -> Any:
    """A name, a name with options, or a `Metric` made from it."""
    whole = st.none() | st.integers(1, 50)
    made = draw(
        st.one_of(
            st.sampled_from(metric_names()),
            st.builds(lambda p: f"recall@{p!r}", st.floats(0.01, 0.99)),
            st.builds(
                lambda bins, norm: {"name": "ece", "n_bins": bins, "norm": norm},
                whole,
                st.sampled_from(["l1", "l2", "max"]),
            ),
            st.builds(
                lambda a, b, p: {
                    "name": "expected_cost",
                    "matrix": [[0, a], [b, 0]],
                    "threshold": p,
                },
                st.floats(0, 9),
                st.integers(1, 9),
                st.floats(0, 1),
            ),
        )
    )
    return get_metric(made) if draw(st.booleans()) else made


@st.composite
def specs(draw: st.DrawFn) -> RunSpec:
    method = draw(st.sampled_from(method_names()))
    engine = draw(st.sampled_from(["memory", "stream", "dask"]))
    more = {
        "workers": draw(st.none() | st.integers(1, 8)),
        "sample_rows": draw(st.integers(1, 10**9)),
        "checkpoint": draw(st.none() | TEXT),
    }
    options = chosen(list_declared(find_method_class(method)), draw)
    for name in {"mean_bounds", "deviation_bounds"} & set(options):
        options[name] = tuple(sorted(options[name]))
        assume(options[name][0] < options[name][1])
    free = {each.name for each in list_declared(find_method_class(method))} - set(options)
    return RunSpec(
        source=draw(st.none() | TEXT | st.lists(TEXT, min_size=1, max_size=3)),
        read=chosen(list_declared(ReadOptions), draw),
        method=method,
        options=options,
        metrics=draw(st.none() | st.lists(metrics(), min_size=1, max_size=3)),
        by=draw(st.none() | st.lists(TEXT, max_size=2)),
        min_group_rows=draw(st.integers(1, 100)),
        max_groups=draw(st.integers(1, 20_000)),
        group_target=draw(st.sampled_from(["population", "rows"])),
        threshold=draw(st.none() | st.floats(0, 1)),
        level=draw(st.floats(0.01, 0.99)),
        n_draws=draw(st.none() | st.integers(2, 100_000)) if "n_draws" in free else None,
        random_state=draw(st.none() | st.integers(0, 2**70)),
        engine=engine,
        **(more if engine != "memory" else {}),
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, deadline=None)
@given(spec=specs())
def test_a_spec_survives_every_format(suffix: str, spec: RunSpec) -> None:
    again = RunSpec.from_dict(parse_config(spec.to_text(suffix), suffix, "it"))
    assert replace(again, metrics=None) == replace(spec, metrics=None)
    assert repr(replace(again, metrics=None)) == repr(replace(spec, metrics=None))
    assert again.to_dict() == spec.to_dict()
    assert _names_and_kinds(again) == _names_and_kinds(spec)


def _names_and_kinds(spec: RunSpec) -> Any:
    """What the metrics are, whether they were given as objects or as data."""
    asked = [get_metric(m, threshold=spec.threshold) for m in spec.metrics or ()]
    return [(m.name, m.title, m.kind, m.definition, m.low, m.high) for m in asked]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 90)
    frame = pd.DataFrame({"truth": np.where(np.arange(90) < 40, y, -1)})
    for name, skill in (("a", 3.0), ("b", 1.5), ("c,d", 1.0)):
        frame[name] = 1 / (1 + np.exp(-skill * (y - 0.5) - rng.normal(size=90)))
    frame["site"] = rng.choice(["n", "s"], 90)
    frame["age"] = rng.choice([1, 2], 90)
    frame["w"] = rng.uniform(0.5, 2.0, 90)
    path = tmp_path_factory.mktemp("spec") / "scores.csv"
    frame.to_csv(path, index=False)
    return path


@st.composite
def runs(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `ssme.evaluate` that fit the table."""
    groups = draw(st.lists(st.sampled_from(["site", "age"]), unique=True, min_size=1))
    found = {
        "method": draw(st.sampled_from(["ensemble", "labeled", "majority_vote", "auto"])),
        "metrics": draw(
            st.none() | st.lists(st.sampled_from(["accuracy", "f1", "ece", "f1@0.3"]), unique=True)
        ),
        "threshold": draw(st.none() | st.floats(0.1, 0.9)),
        "level": draw(st.floats(0.5, 0.99)),
        "random_state": draw(st.none() | st.integers(0, 2**40)),
        "by": draw(st.none() | st.lists(st.sampled_from(groups), unique=True)),
        "max_groups": draw(st.integers(1, 3)),
        "group_target": draw(st.sampled_from(["population", "rows"])),
        "groups": groups,
        "models": draw(st.sampled_from([["a", "b"], ["c,d", "a"], {"x": "a", "y": "c,d"}])),
        "unlabeled": draw(st.sampled_from([-1, [-1], (-1, 7)])),
        "weight": draw(st.none() | st.just("w")),
        "positive": draw(st.none() | st.just(1)),
    }
    if found["method"] in ("ensemble", "auto"):
        found["n_draws"] = draw(st.integers(2, 9))
    assume(found["metrics"] != [])
    return found


@pytest.mark.filterwarnings("ignore::ssme.errors.SsmeWarning")
@settings(max_examples=15, deadline=None)
@given(asked=runs(), suffix=st.sampled_from(SUFFIXES))
def test_the_rerun_gives_the_same_bits(
    table: Path, tmp_path_factory: pytest.TempPathFactory, asked: dict[str, Any], suffix: str
) -> None:
    first = ssme.evaluate(str(table), "truth", **asked)
    path = tmp_path_factory.mktemp("rerun") / f"run{suffix}"
    RunSpec.from_dict(first.settings["config"]).save(path)
    again = rerun(path)
    assert list(again.rows()) == list(first.rows()) or _same_with_nan(again, first)
    assert again.settings["config"] == first.settings["config"]
    code = RunSpec.load(path).to_python()
    assert _same_with_nan(eval(code, {"ssme": ssme}), first)


def _same_with_nan(one: ssme.Evaluation, two: ssme.Evaluation) -> bool:
    return repr(list(one.rows())) == repr(list(two.rows()))


def test_a_fresh_seed_is_recorded_and_differs(table: Path) -> None:
    asked = {"unlabeled": -1, "models": ["a", "b"], "method": "ensemble", "random_state": None}
    one, two = (ssme.evaluate(table, "truth", **asked) for _ in range(2))
    assert one.settings["random_state"] != two.settings["random_state"]
    again = rerun(one.settings["config"])
    assert _same_with_nan(again, one)


def test_scores_in_memory_are_given_once_more(table: Path) -> None:
    frame = pd.read_csv(table)
    first = ssme.evaluate(frame, "truth", unlabeled=-1, models=["a", "b"], method="ensemble")
    config = first.settings["config"]
    assert "source" not in config
    assert _same_with_nan(rerun(config, frame), first)
    with pytest.raises(InputError, match="no scores were given"):
        rerun(config)


def test_method_objects_are_written_as_name_and_options(table: Path) -> None:
    spec = RunSpec("a.csv", method=Ensemble(n_draws=7))
    assert spec == RunSpec("a.csv", method="ensemble", options={"n_draws": 7})


def _hits(y_true: Any, y_score: Any) -> float:
    return float(np.mean((y_score >= 0.5) == y_true))


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"metrics": [_hits]}, "the metric '_hits' is a function"),
        ({"weights": np.ones(90)}, "weights is a ndarray"),
        ({"groups": {"half": np.arange(90) % 2}}, "groups is a dict"),
    ],
)
def test_what_no_file_can_hold_is_named_and_still_run(
    table: Path, asked: dict[str, Any], named: str
) -> None:
    frame = pd.read_csv(table)
    labels = frame["truth"].where(frame["truth"] >= 0)
    result = ssme.evaluate(frame[["a", "b"]].to_numpy(), labels, method="ensemble", **asked)
    assert result.settings["config"] is None
    assert named in result.settings["no_config"]


def test_labels_from_memory_for_scores_of_a_file_are_not_forgotten(table: Path) -> None:
    labels = pd.read_csv(table)["truth"].where(lambda y: y >= 0)
    result = ssme.evaluate(table, labels.to_numpy(), models=["a", "b"], method="ensemble")
    assert result.settings["config"] is None
    assert "the source of the labels is a ndarray" in result.settings["no_config"]


def test_labels_of_another_file(table: Path, tmp_path: Path) -> None:
    frame = pd.read_csv(table).assign(id=range(90))
    frame.drop(columns="truth").to_csv(tmp_path / "s.csv", index=False)
    known = frame.loc[frame["truth"] >= 0, ["id", "truth"]]
    known.to_csv(tmp_path / "labels.csv", index=False)
    asked = {"models": ["a", "b"], "id": "id", "method": "ensemble", "groups": ["site"]}
    one = ssme.evaluate(tmp_path / "s.csv", tmp_path / "labels.csv", label="truth", **asked)
    two = ssme.evaluate(
        tmp_path / "s.csv", "truth", labels_file=str(tmp_path / "labels.csv"), **asked
    )
    assert one.groups[0].n_labeled == len(known)
    assert _same_with_nan(one, two)
    assert _same_with_nan(rerun(one.settings["config"]), one)


@pytest.mark.parametrize("engine", ["stream", "dask"])
def test_engines_share_one_door(table: Path, tmp_path: Path, engine: str) -> None:
    if engine == "dask":
        pytest.importorskip("distributed")
    frame = pd.read_csv(table)
    frame.to_parquet(tmp_path / "s.parquet", index=False)
    asked = {"unlabeled": -1, "models": ["a", "b"], "method": "ensemble", "metrics": "accuracy"}
    held = ssme.evaluate(tmp_path / "s.parquet", "truth", **asked)
    more = {"engine": engine, "workers": 1, "random_state": 0}
    passed = ssme.evaluate(tmp_path / "s.parquet", "truth", **asked, **more)
    assert type(passed) is type(held)
    np.testing.assert_allclose(passed.frame()["estimate"], held.frame()["estimate"], atol=1e-12)
    assert passed.settings["config"]["engine"] == {"engine": engine, "workers": 1}
    assert _same_with_nan(rerun(passed.settings["config"]), passed)


def test_streams_take_a_fresh_seed(table: Path, tmp_path: Path) -> None:
    pd.read_csv(table).to_parquet(tmp_path / "s.parquet", index=False)
    asked = {"unlabeled": -1, "models": ["a", "b"], "method": "ensemble", "sample_rows": 30}
    source = [tmp_path / "s.parquet"]
    first = ssme.evaluate(source, "truth", engine="stream", random_state=None, **asked)
    assert _same_with_nan(rerun(first.settings["config"]), first)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"engine": "cloud"}, 'engine must be "memory", "stream" or "dask"'),
        ({"workers": 2}, "workers=2 was given with engine=memory"),
        ({"engine": "stream", "workers": 0}, "workers must be at least 1"),
        ({"level": "0.9"}, "level must be a number between 0 and 1"),
        ({"n_draws": 2.5}, "n_draws must be a whole number"),
        ({"random_state": 1.5}, "random_state must be"),
        ({"threshold": 2}, "threshold must be between 0 and 1"),
        ({"by": 3}, "by must be"),
        ({"method": 3}, "method must be the name of a method"),
        ({"options": 3}, "options must be a table"),
        (
            {"n_draws": 3, "options": {"n_draws": 4}},
            "n_draws=3 was given together with the option n_draws=4",
        ),
        ({"y": np.zeros(90), "engine": "stream"}, "label"),
        ({"y": Path("l.csv"), "engine": "stream"}, "label"),
    ],
)
def test_what_does_not_fit_is_refused(table: Path, asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ssme.evaluate(table, asked.pop("y", "truth"), **{"method": "ensemble", **asked})


def test_renamed_metrics_keep_their_name(table: Path) -> None:
    mine = replace(get_metric("ece_l2"), name="mine", title="Mine")
    spec = RunSpec("a.csv", metrics=[mine, expected_cost([[0, 1], [10, 0]], name="cost")])
    assert spec.to_dict()["run"]["metrics"] == [
        {"name": "ece_l2", "as": "mine", "title": "Mine"},
        {
            "name": "expected_cost",
            "matrix": [[0.0, 1.0], [10.0, 0.0]],
            "as": "cost",
        },
    ]
    asked = {"unlabeled": -1, "models": ["a", "b"], "method": "ensemble", "metrics": spec.metrics}
    first = ssme.evaluate(table, "truth", **asked)
    assert _same_with_nan(rerun(first.settings["config"]), first)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ({"norm": "l2"}, "has no name"),
        ({"name": "ece", "norm": "l3"}, "norm must be"),
        ({"name": "ece", "bins": 3}, "metric 'ece' has no option 'bins'"),
        ({"name": "roc_auc", "threshold": 0.3}, "has no option 'threshold'"),
        ({"name": "expected_cost"}, "has no matrix"),
        (
            {"name": "expected_cost", "matrix": [[1, 2, 3], [1, 2, 3]]},
            "cost matrix of metric .* has the shape",
        ),
        ({"name": "f1", "threshold": 2}, "threshold must be"),
        ({"name": "nothing"}, "unknown metric"),
    ],
)
def test_metrics_as_data_are_checked(table: Path, metric: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ssme.evaluate(table, "truth", unlabeled=-1, models=["a", "b"], metrics=metric)


def test_metrics_of_the_registry_are_written_by_name() -> None:
    spec = RunSpec("a.csv", metrics=[get_metric("accuracy"), "f1@0.3"])
    assert spec.to_dict()["run"]["metrics"] == ["accuracy", "f1@0.3"]
