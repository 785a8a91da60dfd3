"""Columns that are neither scores nor anything else: named in the fix, left out when told."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ssme
from ssme.data import ScoreSet
from ssme.errors import InputError

FRAME = pd.DataFrame(
    {
        "patient": [101, 102, 103, 104],
        "ward": [3, 3, 4, 5],
        "bert": [0.1, 0.6, 0.3, 0.9],
        "age": [31.5, 40.0, 52.25, 61.0],
        "label": [0, 1, None, None],
    }
)


def test_every_advice_of_the_fix_works() -> None:
    for said in ({"id": "patient"}, {"groups": ["patient"]}, {"ignore": ["patient"]}):
        data = ScoreSet.from_frame(FRAME.drop(columns=["ward", "age"]), **said)
        assert data.models == ("bert",)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_ignored_columns_are_no_scores_and_are_told(make: object) -> None:
    frame = make(FRAME)  # type: ignore[operator]
    data = ScoreSet.from_frame(frame, id="patient", groups=["ward"], ignore=["age"])
    assert data.models == ("bert",)
    assert data.layout.ignored == ("age",)


def test_an_ignored_column_may_have_a_usual_name(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    FRAME.assign(y=FRAME["label"], weight="heavy").drop(columns=["age", "ward"]).to_csv(
        path, index=False
    )
    result = ssme.evaluate(
        path, method="ensemble", metrics="accuracy", ignore=["y", "weight"], id="patient"
    )
    assert result.data.layout.label == "label"


def test_digits_written_as_text_are_text_and_shares_are_refused(tmp_path: Path) -> None:
    scores = pd.DataFrame({"bert": [0.1, 0.6, 0.3], "gpt": [0.2, 0.9, 0.4], "label": [0, 1, None]})
    postal = scores.assign(code=["01234", "20095", "00501"])
    for frame in (postal, pl.from_pandas(postal), pa.Table.from_pandas(postal)):
        data = ScoreSet.from_frame(frame)
        assert data.models == ("bert", "gpt")
        assert data.layout.ignored == ("code",)
    postal.to_parquet(tmp_path / "scores.parquet")
    assert ScoreSet.read(tmp_path / "scores.parquet").layout.ignored == ("code",)
    shares = scores.assign(forest=["0.25", "0.5", "1"])
    with pytest.raises(InputError, match=r"'0.25' at row 0, a number written as text.*ignore="):
        ScoreSet.from_frame(shares)
    for mark in ("'", '"', "\u00a0"):  # a model was missing without a word
        marked = scores.assign(forest=[f"{mark}{share}" for share in shares["forest"]])
        with pytest.raises(InputError, match="at row 0, a number written as text"):
            ScoreSet.from_frame(marked)
    assert ScoreSet.from_frame(shares, ignore=["forest"]).models == ("bert", "gpt")
