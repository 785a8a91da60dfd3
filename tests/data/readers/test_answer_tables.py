"""Tables of answers: what is found by its name, what is refused, and what to write instead."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.written import ClassLabel, Dataset

import ssme
from ssme import ScoreSet
from ssme.data.design import LabelDesign, as_design, find_rounds
from ssme.data.labels import observe
from ssme.data.values import as_array, as_objects, make_plain
from ssme.errors import InputError

WIDE = pd.DataFrame(
    {
        "id": [f"r{i}" for i in range(6)],
        "label": ["yes", "no", "yes", None, None, None],
        "gpt": ["yes", "no", "no", "yes", "no", "yes"],
        "ann": ["yes", "no", "yes", "no", "no", "no"],
    }
)
LONG = WIDE.melt(["id", "label"], ["gpt", "ann"], "judge", "answer")


def read(frame: pd.DataFrame, **options: Any) -> ScoreSet:
    make = ScoreSet.from_frame if "answers" in options else ScoreSet.from_answers
    return make(frame, **{"label": "label", "positive": "yes", **options})


def test_columns_of_answers_and_ratings_can_be_named_for_a_frame() -> None:
    frame = WIDE.assign(topic=list("pqrpqr"), stars=[5, 1, 2, 4, 1, 2])
    asked: dict[str, Any] = {"id": "id", "label": "label", "positive": "yes"}
    named = ScoreSet.from_answers(frame, answers=["gpt", "ann"], ratings=["stars"], **asked)
    assert named.models == ("gpt", "ann", "stars")
    assert named.judges["stars"].kind == "ratings"
    assert ScoreSet.from_answers(frame, ratings=["stars"], **asked).models == ("stars",)


@pytest.mark.parametrize("labeled", [True, False])
def test_a_column_that_says_nothing_others_say_is_no_judge_unasked(labeled: bool) -> None:
    frame = WIDE.assign(topic=list("pqrpqr"))
    label = "label" if labeled else False
    frame = frame if labeled else frame.drop(columns="label")
    with pytest.raises(InputError, match=r"'topic' contains 'p', 'q', 'r'") as told:
        ScoreSet.from_answers(frame, label, id="id", positive="yes")
    assert "answers=['gpt', 'ann']; or pass groups=['topic']" in str(told.value)
    told_groups = ScoreSet.from_answers(frame, label, id="id", positive="yes", groups=["topic"])
    assert told_groups.models == ("gpt", "ann")


def test_advice_names_no_column_that_never_says_a_class() -> None:
    with pytest.raises(InputError, match=r"answers=\['gpt', 'ann'\]"):
        ScoreSet.from_frame(WIDE.assign(topic=list("ppqpqq")), "label", id="id")


def test_models_with_probabilities_stand_beside_judges_in_one_table() -> None:
    frame = WIDE.assign(net=[0.9, 0.1, 0.8, 0.6, 0.2, 0.4])
    data = read(frame, id="id", answers=["gpt", "ann"], models=["net"])
    assert data.models == ("net", "gpt", "ann")
    assert list(data.judges) == ["gpt", "ann"]
    assert data.scores[0, 0, 1] == pytest.approx(0.9)
    assert "judges" in repr(data) or data.judges


def test_grades_of_every_kind_are_put_in_order() -> None:
    for given, expected in (
        ([0.5, 1.5, 1.0], (0.5, 1, 1.5)),
        (["C", "A", "B"], ("C", "B", "A")),
        ([0, 100_000, 7], (0, 7, 100_000)),
    ):
        data = ScoreSet.from_answers(
            None, ["no", "yes", "no"], ratings={"bob": given}, positive="yes"
        )
        assert data.judges["bob"].values == expected


def test_rounds_of_a_design_that_nobody_described() -> None:
    labels = np.array([0, 1, -1, -1])
    plain = find_rounds(LabelDesign(), labels)
    assert np.isnan(plain.probability).all()
    weighted = find_rounds(as_design([1.0, 3.0, 0.0, 0.0], labels), labels)
    np.testing.assert_allclose(weighted.probability[:2], [1.0, 1.0 / 3.0])
    assert np.isnan(weighted.probability[2:]).all()


def test_values_of_other_kinds_are_plain_or_refused() -> None:
    from decimal import Decimal

    assert make_plain(Decimal("2")) == 2
    assert make_plain(Decimal("2.5")) == 2.5
    dates = as_objects(np.array(["2024-01-01"], dtype="datetime64[D]"))
    assert dates.dtype == object
    with pytest.raises(InputError, match="Strange"):
        as_array(Strange(), "scores")
    with pytest.raises(InputError, match="ragged"):
        as_array([[1.0], [1.0, 2.0]], "scores")
    with pytest.raises(InputError, match="SimpleNamespace"):
        as_array(SimpleNamespace(), "scores")
    masked = np.ma.MaskedArray(["a", "b"], mask=[False, True])
    assert observe(masked, 2).codes.tolist() == [0, -1]
    assert observe(np.array([b"a", b"b"]), 2).values == ("a", "b")
    with pytest.raises(InputError, match="not UTF-8"):
        observe(np.array([b"\xff", b"b"]), 2)


class Strange:
    """What converts to no array."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("it is on a GPU")


def test_codes_and_cuts_are_said_of_columns_that_are_found() -> None:
    wide = pd.DataFrame(
        {"a": ["yes", "no", "?"], "b": ["no", "?", "yes"], "label": ["yes", "no", None]}
    )
    assert ScoreSet.from_answers(wide, "label", unsure="?").classes == ("no", "yes")
    long = pd.DataFrame({"id": [0, 1, 2], "rater": "a", "rating": [5, 1, 4], "label": [1, 0, None]})
    assert ScoreSet.from_answers(long, "label", cut=5).judges["a"].cut == 5
    with pytest.raises(InputError, match="cut was given, and no column of ratings"):
        ScoreSet.from_answers(wide.replace("?", "no"), "label", cut=5)


def test_a_dataset_of_arrow_goes_straight_into_evaluate() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    columns = {
        "label": [*y[:30].tolist(), *[-1] * 30],
        "net": np.clip(y + rng.normal(0, 0.3, 60), 0, 1),
    }
    names = {"label": ClassLabel(["no", "yes"])}
    result = ssme.evaluate(
        Dataset(columns, names), "label", metrics="accuracy", method="ensemble", n_draws=10
    )
    assert (result.data.classes, result.data.n_labeled) == (("no", "yes"), 30)
    with pytest.raises(InputError, match="label 5 of a ClassLabel with 2 names"):
        ssme.evaluate(Dataset({**columns, "label": [5] * 60}, names), "label")
