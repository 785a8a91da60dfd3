"""Wide tables: a column per model, or per model and class."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ssme.data import UNLABELED, Layout, ScoreSet
from ssme.errors import InputError, SsmeWarning

U = UNLABELED
BINARY = {"bert": [0.2, 0.7, 0.4], "gpt": [0.9, 0.1, 0.5], "label": [1, None, 0]}


def grid_frame(mark: str = ":", labels: Any = ("a", None, "c")) -> pd.DataFrame:
    scores = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 2))
    columns = {
        f"{model}{mark}{name}": scores[:, m, k]
        for m, model in enumerate(["bert", "gpt"])
        for k, name in enumerate(["c", "a", "b"])
    }
    return pd.DataFrame({**columns, "label": list(labels)})


def test_patterns_of_columns() -> None:
    frame = pd.DataFrame({"m_a": [0.2, 0.7], "m_b": [0.9, 0.1], "x": [3.5, 1.5], "y": [1, None]})
    assert ScoreSet.from_frame(frame, "y", models=["m_*"]).models == ("m_a", "m_b")
    assert ScoreSet.from_frame(frame, "y", models=["m_b", "m_?"]).models == ("m_b", "m_a")
    assert ScoreSet.from_frame(frame, "y", ignore=["x*"]).models == ("m_a", "m_b")
    odd = frame.rename(columns={"m_a": "m_*"})
    assert ScoreSet.from_frame(odd, "y", models=["m_*"]).models == ("m_*",)
    judged = frame.assign(j_1=["no", "yes"], j_2=["yes", "no"], y=["yes", None])
    assert ScoreSet.from_answers(judged, "y", answers=["j_*"]).models == ("j_1", "j_2")
    with pytest.raises(InputError, match=r"answers must match a column, got 'k_\*'"):
        ScoreSet.from_answers(judged, "y", answers=["k_*"])


SEEDS = pd.DataFrame(np.random.default_rng(0).random((9, 4)), columns=["p_0", "p_1", "q_0", "q_1"])
READ: dict[str, tuple[Any, Any, dict[str, Any], tuple[str, ...], tuple[str, ...]]] = {
    "a lazy frame": (pl.LazyFrame(BINARY), None, {}, ("bert", "gpt"), ()),
    "listed models without labels": (
        pd.DataFrame(BINARY)[["bert", "gpt"]], None, {"models": ["gpt"]}, ("gpt",), ("bert",),
    ),
    "numbers that do not sum to one": (
        pd.DataFrame({"m_1": [0.9, 0.8], "m_2": [0.7, 0.9]}), [0, 1], {}, ("m_1", "m_2"), (),
    ),
    "numbers of seeds": (SEEDS, [0, 1, None] * 3, {}, ("p_0", "p_1", "q_0", "q_1"), ()),
    "an index written to CSV": (
        pd.DataFrame({"Unnamed: 0": [0, 1, 2], **BINARY}), None, {}, ("bert", "gpt"),
        ("Unnamed: 0",),
    ),
    "labels given separately": (
        pd.DataFrame(BINARY), [0, 0, 1], {}, ("bert", "gpt"), ("label",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_models_are_the_columns_that_are_meant(case: str) -> None:
    frame, labels, options, models, ignored = READ[case]
    data = ScoreSet.from_frame(frame, labels, **options)
    assert (data.models, data.layout.ignored) == (models, ignored)
    if labels is not None:
        assert_array_equal(data.labels, [U if y is None else y for y in labels])


def test_labels_may_be_named_or_given() -> None:
    frame = pd.DataFrame(BINARY).rename(columns={"label": "toxic"})
    assert_array_equal(ScoreSet.from_frame(frame, label="toxic").labels, [1, U, 0])
    assert_array_equal(ScoreSet.from_frame(frame, "toxic").labels, [1, U, 0])
    scores = frame[["bert", "gpt"]]
    assert_array_equal(ScoreSet.from_frame(scores, [0, 1, None]).labels, [0, 1, U])


def test_roles_are_found_by_usual_names_and_told() -> None:
    frame = pd.DataFrame(BINARY).assign(
        id=[1, 2, 3], weight=[1.0, 2.0, 3.0], group_site=["x", None, "y"], text=["p", "q", "r"]
    )
    data = ScoreSet.from_frame(frame)
    assert data.groups["site"].tolist() == ["x", None, "y"]
    assert data.weights.tolist() == [1.0, 2.0, 3.0]
    assert data.layout == Layout(
        kind="wide",
        columns={"bert": ("bert",), "gpt": ("gpt",)},
        label="label",
        id="id",
        weight="weight",
        groups=("group_site",),
        ignored=("text",),
        encoding={0: 0, 1: 1},
        order="known",
    )
    assert "ignored columns: text" in str(data.layout)


def test_roles_may_be_named() -> None:
    frame = pd.DataFrame(BINARY).assign(row=[1, 2, 3], w=[1.0, 2.0, 3.0], site=["x", None, "y"])
    data = ScoreSet.from_frame(
        frame, id="row", weight="w", groups="site", models={"m": "bert", "n": "gpt"}
    )
    assert data.models == ("m", "n")
    assert list(data.groups) == ["site"]
    assert data.ids.tolist() == [1, 2, 3]


@pytest.mark.parametrize("mark", [":", "__", "|", "/", ".", "_", "-", " "])
def test_class_columns_are_found_by_pattern(mark: str) -> None:
    frame = grid_frame(mark)
    data = ScoreSet.from_frame(frame)
    assert data.models == ("bert", "gpt")
    assert data.classes == ("a", "b", "c"), "whatever the order of the columns"
    assert_allclose(data.scores[:, 1, 1], frame[f"gpt{mark}b"])
    assert_array_equal(data.labels, [0, U, 2])
    assert data.layout.kind == "wide by class"
    assert data.layout.columns["gpt"] == tuple(f"gpt{mark}{c}" for c in "abc")


def test_class_columns_by_explicit_pattern_prefix_names_and_order() -> None:
    frame = grid_frame(":").rename(columns=lambda name: name if name == "label" else f"p({name})")
    data = ScoreSet.from_frame(frame, pattern="p({model}:{class})", classes=["a", "b", "c"])
    assert data.classes == ("a", "b", "c")
    assert_allclose(data.scores[:, 0, 0], frame["p(bert:a)"])
    assert_array_equal(data.labels, [0, U, 2])


def test_named_models_find_their_class_columns() -> None:
    frame = grid_frame("_").assign(age=[20, 30, 40])
    data = ScoreSet.from_frame(frame, models=["gpt"])
    assert data.models == ("gpt",)
    assert data.classes == ("a", "b", "c")
    assert_allclose(data.scores[:, 0, 2], frame["gpt_c"])
    assert "age" in data.layout.ignored


def test_class_names_with_the_separator_in_them() -> None:
    frame = pd.DataFrame(
        {"m_x_spam": [0.2], "m_x_not_spam": [0.8], "n_x_spam": [0.5], "n_x_not_spam": [0.5]}
    ).assign(label=["not_spam"])
    data = ScoreSet.from_frame(frame, pattern="{model}_{class}", classes=["not_spam", "spam"])
    assert data.models == ("m_x", "n_x")
    assert_array_equal(data.scores[0, :, 1], [0.2, 0.5])


def test_mapping_of_class_columns() -> None:
    frame = grid_frame(":")
    by_class = {m: {c: f"{m}:{c}" for c in "abc"} for m in ("bert", "gpt")}
    by_list = {m: [f"{m}:{c}" for c in "abc"] for m in ("bert", "gpt")}
    data = ScoreSet.from_frame(frame, models=by_class)
    listed = ScoreSet.from_frame(frame, models=by_list, classes=["a", "b", "c"])
    assert data.classes == listed.classes == ("a", "b", "c")
    assert_array_equal(data.scores, listed.scores)
    assert_array_equal(data.labels, [0, U, 2])


@pytest.mark.parametrize(
    ("names", "labels", "classes"),
    [
        (["2", "10", "1"], [10, None, 1], (1, 2, 10)),
        (["2", "10", "1"], ["10", None, "1"], ("1", "2", "10")),
        (["True", "False"], [True, None, False], (False, True)),
        (["pos", "neg"], ["pos", None, "neg"], ("neg", "pos")),
    ],
)
def test_class_names_take_the_type_of_the_labels(
    names: list[str], labels: list[Any], classes: tuple[Any, ...]
) -> None:
    share = np.arange(1, len(names) + 1) / np.arange(1, len(names) + 1).sum()
    frame = pd.DataFrame({f"m:{name}": [share[k]] * 3 for k, name in enumerate(names)})
    data = ScoreSet.from_frame(frame.assign(label=pd.Series(labels, dtype=object)))
    assert data.classes == classes
    for k, name in enumerate(classes):
        assert data.scores[0, 0, k] == pytest.approx(share[names.index(str(name))])
    assert data.label_values.tolist() == labels


def test_many_classes_settle_unsummed_columns() -> None:
    frame = grid_frame(":", labels=("a", "b", "c"))
    logits = frame.drop(columns="label") * 5 - 2
    assert ScoreSet.from_frame(logits, frame["label"], logits=True).classes == ("a", "b", "c")


@pytest.mark.parametrize("index", [[0, 1], [0, 0], [7, 7], [None, None], ["a", "b"]])
def test_columns_without_a_name_that_hold_no_scores_are_left_out(index: list[Any]) -> None:
    frame = pd.DataFrame({"": index, "bert": [0.2, 0.7], "label": [0, 1]})
    assert ScoreSet.from_frame(frame).models == ("bert",)


def test_decimals_and_objects_are_numbers() -> None:
    table = pa.table({"m": pa.array([Decimal("0.25"), None]), "n": [0.5, 0.5], "label": [1, 0]})
    assert_array_equal(ScoreSet.from_frame(table).scores[:, 0, 1], [0.25, np.nan])
    frame = pd.DataFrame({"m": pd.Series([0.25, None], dtype=object), "n": 0.5, "label": [1, 0]})
    assert_array_equal(ScoreSet.from_frame(frame).scores[:, 0, 1], [0.25, np.nan])


def test_numbered_columns_become_names() -> None:
    frame = pd.DataFrame(np.full((2, 2), 0.5))
    assert ScoreSet.from_frame(frame, [0, 1]).models == ("0", "1")
    assert list(frame.columns) == [0, 1]


def test_false_says_that_nothing_is_labeled() -> None:
    frame = pd.DataFrame(BINARY)
    for source in (frame, frame.drop(columns="label")):
        data = ScoreSet.from_frame(source, False)
        assert data.models == ("bert", "gpt")
        assert data.n_labeled == 0
        assert data.layout.label is None


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize(
    "column",
    [
        [datetime(2026, 1, day) for day in (1, 2, 3)],
        [timedelta(days) for days in (1, 2, 3)],
        [[1, 2], [3], []],
        [{"a": 1}, {"a": 2}, {"a": 3}],
        ["p", "q", "3"],
        [None, None, None],
    ],
    ids=["dates", "durations", "lists", "records", "text", "nothing"],
)
def test_columns_that_are_no_numbers_are_left_out(make: type, column: list[Any]) -> None:
    data = ScoreSet.from_frame(make({**BINARY, "other": column}))
    assert data.models == ("bert", "gpt")
    assert data.layout.ignored == ("other",)


@pytest.mark.parametrize("names", ["abc", ("no", "yes"), (0, 1)])
def test_classes_that_do_not_sum_to_one_are_no_binary_models(names: Any) -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(len(names)), size=(9, 2))
    scores[0, 1] *= 0.9
    frame = pd.DataFrame(
        {f"{m}_{k}": scores[:, i, j] for i, m in enumerate("pq") for j, k in enumerate(names)}
    )
    frame["label"] = pd.Series([*names, None] * 9, dtype=object)[:9]
    with pytest.raises(InputError, match=r"those of 'q' sum to 0\.9 at row 0") as told:
        ScoreSet.from_frame(frame)
    assert "normalize=True and pattern='{model}_{class}'" in str(told.value)
    data = ScoreSet.from_frame(frame, normalize=True, pattern="{model}_{class}")
    assert data.models == ("p", "q")
    assert_allclose(data.scores[0, 1], scores[0, 1] / 0.9, rtol=1e-12)


@pytest.mark.parametrize(("rows", "meant"), [(3, False), (12, True)])
def test_few_sums_near_one_may_be_chance(rows: int, meant: bool) -> None:
    first = np.random.default_rng(0).random(rows)
    frame = pd.DataFrame({"p 0": first, "p 1": 0.98 * (1.0 - first)})
    frame["label"] = [0, 1, None] * (rows // 3)
    if meant:
        with pytest.raises(InputError, match="those of 'p' sum to"):
            ScoreSet.from_frame(frame)
    else:
        assert ScoreSet.from_frame(frame).models == ("p 0", "p 1")


def test_a_series_of_labels_in_another_order_is_refused() -> None:
    frame = pd.DataFrame(BINARY)[["bert", "gpt"]]
    labels = pd.Series(BINARY["label"])
    assert_array_equal(ScoreSet.from_frame(frame, labels).labels, [1, U, 0])
    assert_array_equal(ScoreSet.from_frame(frame, labels.set_axis(list("xyz"))).labels, [1, U, 0])
    with pytest.raises(InputError, match="rows of the frame in another order"):
        ScoreSet.from_frame(frame, labels[::-1])
    with pytest.raises(InputError, match="or some of them"):
        ScoreSet.from_frame(frame, labels.dropna())
    again = ScoreSet.from_frame(frame, labels.dropna().reindex(frame.index))
    assert_array_equal(again.labels, [1, U, 0])


def test_a_second_column_of_labels_is_no_model() -> None:
    frame = pd.DataFrame({"bert": np.linspace(0.1, 0.9, 9), "label": [0, 1, 1] + [None] * 6})
    with pytest.warns(SsmeWarning, match="'gold' .equal to the label wherever there is one"):
        assert ScoreSet.from_frame(frame.assign(gold=frame["label"])).models == ("bert",)
    votes = frame.assign(judge=[0, 1, None, None, 1, None, None, None, 0])
    assert ScoreSet.from_frame(votes, models=["bert", "judge"]).models == ("bert", "judge")


THREE = np.random.default_rng(8).dirichlet((2.0, 1.0, 1.0), size=40)
HALF = THREE[:, 0] / 2


@pytest.mark.parametrize("names", [("p0", "p1", "p2"), ("p_0", "p_1", "p_2"), ("0", "1", "2")])
@pytest.mark.parametrize("decimals", [16, 3, 2])
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("seen", [(0, 1), (0, 2), (1,)])
def test_columns_that_sum_to_one_are_the_classes_of_one_model(
    names: tuple[str, ...], decimals: int, n: int, seen: tuple[int, ...]
) -> None:
    """They were three binary models where labels show two of the three classes."""
    scores = THREE[:n].round(decimals)
    labels: list[Any] = [seen[i % len(seen)] for i in range(n)]
    labels[-1] = None
    for order in ([0, 1, 2], [2, 0, 1]):
        frame = pd.DataFrame({names[k]: scores[:, k] for k in order}).assign(label=labels)
        data = ScoreSet.from_frame(frame)
        assert data.n_models == 1
        assert data.classes == (0, 1, 2)
        assert_allclose(data.scores[:, 0], scores, atol=1e-12)
        assert set(data.labels[data.labeled]) == set(seen)


@pytest.mark.parametrize("names", [("p0", "p1", "p2"), ("m_a", "m_b", "m_c"), ("0", "1", "2")])
@pytest.mark.parametrize("n", [3, 6, 9])
def test_few_rows_of_one_decimal_are_no_models_where_names_begin_alike(
    names: tuple[str, ...], n: int
) -> None:
    """They were three binary models without a word."""
    off = np.abs(THREE.round(1).sum(axis=1) - 1.0) > 0.05
    tenths = pd.DataFrame(THREE[off][:n].round(1), columns=list(names))
    labels = [0, 1, None] * (n // 3)
    for frame in (tenths, tenths.assign(tree=HALF[:n])):
        with pytest.raises(InputError, match="pattern="):
            ScoreSet.from_frame(frame, labels)
    assert ScoreSet.from_frame(tenths, labels, models=list(names)).n_models == 3
    apart = tenths.set_axis(["bert", "tree", "ada"], axis=1)
    assert ScoreSet.from_frame(apart, labels).n_models == 3


def test_columns_named_by_the_classes_alone_are_those_of_one_model() -> None:
    frame = pd.DataFrame(THREE, columns=["cat", "dog", "emu"]).assign(label=["dog", "emu"] * 20)
    for columns in (["label", "emu", "cat", "dog"], ["cat", "dog", "emu", "label"]):
        data = ScoreSet.from_frame(frame[columns])
        assert data.models == ("model",)
        assert data.classes == ("cat", "dog", "emu")
        assert_allclose(data.scores[:, 0], THREE)
    two = pd.DataFrame({"ham": THREE[:, 0], "spam": 1 - THREE[:, 0], "label": ["ham", None] * 20})
    assert ScoreSet.from_frame(two).classes == ("ham", "spam")


def test_several_models_with_numbered_classes() -> None:
    frame = pd.DataFrame(
        {
            f"{m}{k}": scores[:, k]
            for m, scores in (("a", THREE), ("b", THREE[::-1]))
            for k in (2, 0, 1)
        }
    ).assign(label=[0, 1] * 20)
    data = ScoreSet.from_frame(frame)
    assert data.models == ("a", "b")
    assert_allclose(data.scores[:, 1], THREE[::-1])


@pytest.mark.parametrize(
    ("frame", "columns"),
    [
        (pd.DataFrame(THREE, columns=["u", "v", "w"]), "'u', 'v', 'w'"),
        (pd.DataFrame(THREE[:3], columns=["w", "v", "u"]), "'u', 'v', 'w'"),
        (pd.DataFrame(THREE.round(1), columns=["u", "v", "w"]), "'u', 'v', 'w'"),
        (pd.DataFrame(THREE, columns=["p0", "p1", "p2"]).assign(q=HALF), "'p0', 'p1'"),
        (pd.DataFrame(THREE, columns=["m_a", "m_b", "m_c"]).assign(q=HALF), "'m_a', 'm_b', 'm_c'"),
        (pd.DataFrame({"u": THREE[:, 0], "v": 1 - THREE[:, 0]}), "'u', 'v'"),
        (pd.DataFrame({"u": THREE[:, 0].round(2), "v": 1 - THREE[:, 0].round(2)}), "'u', 'v'"),
    ],
)
def test_columns_that_sum_to_one_and_may_be_models_are_refused(
    frame: pd.DataFrame, columns: str
) -> None:
    labels = [0, 1] * (len(frame) // 2) + [None] * (len(frame) % 2)
    with pytest.raises(InputError, match=f"columns {columns}.*classes of one model") as told:
        ScoreSet.from_frame(frame, labels)
    assert "if each is a model" in str(told.value)
    data = ScoreSet.from_frame(frame, labels, models=list(frame.columns))
    assert data.models == tuple(frame.columns)


def test_class_scores_in_arrays_are_refused_as_models() -> None:
    with pytest.raises(InputError, match=r"columns 0, 1, 2 of scores sum to 1.*\[:, None, :\]"):
        ScoreSet.from_arrays(THREE.round(2), [0, 1] * 20)
    assert ScoreSet.from_arrays(THREE, [0, 1] * 20, models=["a", "b", "c"]).n_models == 3
    assert ScoreSet.from_arrays(THREE[:, None, :].round(2), [0, 1] * 20).n_classes == 3


def test_sums_that_rounding_does_not_explain_are_refused() -> None:
    off = THREE.round(2)
    off[7, 0] += 0.02
    frame = pd.DataFrame(off, columns=["p0", "p1", "p2"]).assign(label=[0, 1] * 20)
    with pytest.raises(InputError, match="those of 'p' sum to"):
        ScoreSet.from_frame(frame)
    tenths = pd.DataFrame(THREE.round(1), columns=["p0", "p1", "p2"]).assign(label=[0, 1] * 20)
    with pytest.raises(InputError, match="those of 'p' sum to"):
        ScoreSet.from_frame(tenths)
    seeds = np.random.default_rng(9).random((40, 3))
    frame = pd.DataFrame(seeds, columns=["bert1", "bert2", "bert3"]).assign(label=[0, 1] * 20)
    assert ScoreSet.from_frame(frame).n_models == 3


def test_percentages_that_are_named_are_scores() -> None:
    shown = ["84.4 %", "7%", None, "100%"] * 5
    frame = pd.DataFrame({"a": shown, "b": [0.1, 0.5, 0.4, 0.9] * 5, "label": [1, 0, None, 1] * 5})
    with pytest.raises(InputError, match=r"percentage written as text\. .*models=\['a'\]"):
        ScoreSet.from_frame(frame)
    data = ScoreSet.from_frame(frame, models=["a", "b"])
    assert data.scores[:4, 0, 1].tolist()[:2] == [0.844, 0.07]
    assert np.isnan(data.scores[2, 0, 1])
    frame.loc[0, "a"] = "84.4"
    with pytest.raises(InputError, match="column 'a'"):
        ScoreSet.from_frame(frame, models=["a", "b"])
