"""Wide tables: a column per model, or per model and class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ssme.data import UNLABELED, Layout, ScoreSet
from ssme.errors import InputError, SsmeWarning

U = UNLABELED
BINARY = {"bert": [0.2, 0.7, 0.4], "gpt": [0.9, 0.1, 0.5], "label": [1, None, 0]}


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
        (pd.DataFrame({"u": THREE[:3, 0], "v": 1 - THREE[:3, 0]}), "'u', 'v'"),
    ],
)
def test_columns_that_sum_to_one_and_may_be_models_are_refused(
    frame: pd.DataFrame, columns: str
) -> None:
    labels = [0, 1] * (len(frame) // 2) + [None] * (len(frame) % 2)
    with pytest.raises(InputError, match=f"columns {columns}.*classes of one model") as told:
        ScoreSet.from_frame(frame, labels)
    assert "If each is a model" in str(told.value)
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


def test_scores_of_several_models_in_one_column_are_refused_as_one_model() -> None:
    pairs = [(i, m) for i in range(9) for m in ("net", "tree")]
    frame = pd.DataFrame(
        {
            "item": [f"item {i}" for i, _ in pairs],
            "system": [m for _, m in pairs],
            "p": np.linspace(0.1, 0.9, 18),
            "label": [i % 2 for i, _ in pairs],
        }
    )
    with pytest.raises(InputError, match=r"looks long: each 'item' has a row for every 'system'"):
        ScoreSet.from_frame(frame)
    with pytest.raises(InputError, match=r"only column of numbers: pass score='p'"):
        ScoreSet.from_frame(frame, model="system")
    with pytest.raises(InputError, match=r"'item' occurs once per 'system'.*pass id='item'"):
        ScoreSet.from_frame(frame, model="system", score="p")
    assert ScoreSet.from_frame(frame, model="system", score="p", id="item").models == (
        "net",
        "tree",
    )
    assert ScoreSet.from_frame(frame, layout="wide").models == ("p",)
    frame["system"] = [f"country {i % 5}" for i in range(18)]  # a fact of the rows
    assert ScoreSet.from_frame(frame).models == ("p",)


def test_a_column_of_one_word_names_the_rows_rather_than_texts() -> None:
    frame = pd.DataFrame({"ticket": [f"t{i}" for i in range(20)], "p": np.linspace(0.1, 0.9, 20)})
    frame["subject"] = [f"Question {i}" for i in range(20)]
    frame["label"] = [0, 1] * 10
    assert ScoreSet.from_frame(frame).layout.id == "ticket"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("label", "classes"), [("no", ("no", "yes")), ("YES", ("NO", "YES")), ("Good", ("Bad", "Good"))]
)
def test_the_first_labels_of_a_known_pair_name_both_classes(
    label: str, classes: tuple[str, str]
) -> None:
    frame = pd.DataFrame({"bert": [0.2, 0.7, 0.4], "gpt": [0.9, 0.1, 0.5], "label": None})
    frame.loc[0, "label"] = label
    assert ScoreSet.from_frame(frame).classes == classes
    frame.loc[0, "label"] = "win"  # against lose or loss
    with pytest.raises(InputError, match="the order of the 2 classes"):
        ScoreSet.from_frame(frame)
