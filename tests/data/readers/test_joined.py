"""Several files as one table, and columns of ids that are found by their values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.errors import InputError, SsmeWarning

N = 60
FAST = {"method": "ensemble", "metrics": "accuracy"}


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    table = pd.DataFrame({"patient": [f"p{i}" for i in range(N)], "sex": ["f", "m"] * (N // 2)})
    table["y"] = np.where(np.arange(N) < 20, y, np.nan)
    for name in ("a", "b"):
        table[name] = np.clip(0.2 + 0.6 * y + rng.normal(0, 0.1, N), 0, 1)
    return table


def write(folder: Path, **frames: pd.DataFrame) -> list[Path]:
    for name, each in frames.items():
        each.to_csv(folder / f"{name}.csv", index=False)
    return [folder / f"{name}.csv" for name in frames]


def test_scores_of_one_name_are_called_after_their_files(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    old = frame[["patient", "sex", "y", "a"]].rename(columns={"a": "score"})
    new = frame[["patient", "sex", "b"]].rename(columns={"b": "score"})
    paths = write(tmp_path, old=old, new=new.sample(frac=1, random_state=0))
    result = ssme.evaluate(paths, "y", groups="sex", **FAST)
    assert result.data.models == ("old", "new")
    assert result.data.layout.id == "patient"
    np.testing.assert_allclose(result.data.scores[:, 1, 1], frame["b"])
    assert list(result.data.groups) == ["sex"]
    again = ssme.rerun(result.settings["config"])
    assert again.frame().equals(result.frame())
    named = ssme.evaluate(paths, "y", models=["score"], **FAST)
    assert named.data.models == ("old", "new")


def test_several_scores_are_called_after_file_and_column(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    other = frame.assign(a=frame["b"], b=frame["a"]).drop(columns="y")
    paths = write(tmp_path, one=frame, two=other)
    data = ssme.evaluate(paths, "y", **FAST).data
    assert data.models == ("one_a", "two_a", "one_b", "two_b")
    assert data.n_labeled == 20


def test_labels_of_the_files_fill_each_others_gaps(frame: pd.DataFrame, tmp_path: Path) -> None:
    later = frame[["patient", "y", "b"]].copy()
    later["y"] = np.where(np.arange(N) >= 50, 1, np.nan)
    paths = write(tmp_path, one=frame.drop(columns="b"), two=later)
    assert ssme.evaluate(paths, "y", **FAST).data.n_labeled == 30
    later.loc[0, "y"] = 1 - frame.loc[0, "y"]
    paths = write(tmp_path, one=frame.drop(columns="b"), two=later)
    with pytest.raises(InputError, match="of row 'p0' is"):
        ssme.evaluate(paths, "y", **FAST)


def test_rows_that_are_not_in_every_file_are_left_out_and_counted(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    paths = write(tmp_path, one=frame.drop(columns="b"), two=frame[["patient", "b"]][5:])
    with pytest.warns(SsmeWarning, match=r"left out: 5 of .*one\.csv, 0 of"):
        assert ssme.evaluate(paths, "y", **FAST).n_rows == N - 5


def test_labels_alone_are_no_file_to_join(frame: pd.DataFrame, tmp_path: Path) -> None:
    """All unlabeled rows were left out."""
    labels = frame[["patient", "y"]].dropna().sample(frac=1, random_state=0)
    paths = write(tmp_path, scores=frame.drop(columns="y"), labels=labels)
    with pytest.raises(InputError, match=r"labels\.csv has only ids and labels, and 40 rows"):
        ssme.evaluate(paths, "y", **FAST)
    joined = ssme.evaluate(paths[0], "y", labels_file=paths[1], **FAST)
    assert (joined.data.n_labeled, joined.n_rows) == (20, N)
    paths = write(tmp_path, scores=frame.drop(columns="y"), labels=frame[["patient", "y"]])
    assert ssme.evaluate(paths, "y", **FAST).frame().equals(joined.frame())


def test_parts_of_one_table_that_overlap_are_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    """Only the rows of both were evaluated."""
    paths = write(tmp_path, one=frame[:35], two=frame[30:])
    with pytest.raises(InputError, match="5 rows are in all of"):
        ssme.evaluate(paths, "y", **FAST)
    same = write(tmp_path, one=frame, two=frame.sample(frac=1, random_state=1))
    whole = ssme.evaluate(same[0], "y", **FAST)
    assert ssme.evaluate(same, "y", **FAST).frame().equals(whole.frame())


def test_parts_of_one_table_are_put_below_each_other(frame: pd.DataFrame, tmp_path: Path) -> None:
    paths = write(tmp_path, whole=frame, one=frame[:30], two=frame[30:])
    whole = ssme.evaluate(paths[0], "y", **FAST)
    assert ssme.evaluate(paths[1:], "y", **FAST).frame().equals(whole.frame())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"patient": "who"}), "no id column to join them by"),
        (lambda t: t.assign(patient=t["patient"] + "x"), "is in all of"),
        (lambda t: t.assign(sex="f"), "column 'sex' has different values"),
        (lambda t: t.assign(patient="p1"), "no id column to join them by|not unique|appears"),
    ],
)
def test_files_that_do_not_fit_are_refused(frame, tmp_path, change, message) -> None:
    other = change(frame[["patient", "sex", "b"]])
    paths = write(tmp_path, one=frame.drop(columns="b"), two=other)
    with pytest.raises(InputError, match=message):
        ssme.evaluate(paths, "y", groups="sex", **FAST)


@pytest.mark.parametrize("name", ["weight", "cluster", "group", "group_site", "label_weight"])
def test_columns_with_usual_names_agree_between_files(
    frame: pd.DataFrame, tmp_path: Path, name: str
) -> None:
    """Weights of two files were two models, and groups were left out, without a word."""
    rng = np.random.default_rng(1)
    one = frame.assign(**{name: rng.random(N).round(3) + 1})
    two = frame[["patient", "b"]].assign(**{name: rng.random(N).round(3) + 1})
    with pytest.raises(InputError, match=f"column '{name}' has different values for one id"):
        ssme.evaluate(write(tmp_path, one=one.drop(columns="b"), two=two), "y", **FAST)
    two[name] = one[name]
    paths = write(tmp_path, one=one.drop(columns="b"), two=two)
    assert ssme.evaluate(paths, "y", **FAST).data.models == ("a", "b")


@pytest.mark.parametrize(
    ("ids", "found"),
    [
        ({"patient": [f"p{i}" for i in range(N)]}, "patient"),
        ({"patient_id": range(100, 100 + N)}, "patient_id"),
        ({"note": [f"n{i}" for i in range(N)], "case_id": [f"c{i}" for i in range(N)]}, "case_id"),
        ({"one": [f"n{i}" for i in range(N)], "two": [f"c{i}" for i in range(N)]}, None),
        ({"patient": [f"p{i % 30}" for i in range(N)]}, None),
        ({"text": ["long " * 20 + str(i) for i in range(N)]}, None),
    ],
)
def test_ids_are_found_by_their_values(frame, ids, found) -> None:
    table = frame.drop(columns="patient").assign(**ids)
    data = ssme.ScoreSet.from_frame(table, "y")
    assert data.layout.id == found
    assert data.models == ("a", "b")
    if found:
        assert list(data.ids) == list(table[found])


def test_numbers_are_ids_in_the_first_column_only(frame: pd.DataFrame) -> None:
    """`person` with 1, 2, 3, ... was refused for not being a probability."""
    table = frame.drop(columns="patient")
    table.insert(0, "person", range(1, N + 1))
    assert ssme.ScoreSet.from_frame(table, "y").layout.id == "person"
    later = table[[*table.columns[1:], "person"]]
    with pytest.raises(InputError, match="not a probability"):
        ssme.ScoreSet.from_frame(later, "y")
