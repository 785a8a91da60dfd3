"""Files and labels joined from other files."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from ssme.data import UNLABELED, ScoreSet, as_score_set
from ssme.errors import InputError, MissingExtraError

U = UNLABELED
CSV = "id,bert,gpt,label\n1,0.2,0.7,0\n2,0.6,,1\n3,0.5,0.1,\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scores.csv").write_text(CSV)
    return tmp_path


def test_csv(folder: Path) -> None:
    data = ScoreSet.read(folder / "scores.csv")
    assert data.models == ("bert", "gpt")
    assert_array_equal(data.labels, [0, 1, U])
    assert_array_equal(data.scores[:, 1, 1], [0.7, np.nan, 0.1])
    assert data.frame_library == "pandas"
    assert data.layout.source == str(folder / "scores.csv")
    assert_array_equal(as_score_set(str(folder / "scores.csv")).scores, data.scores)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_labels_in_another_file(folder: Path, suffix: str) -> None:
    scores = pd.read_csv(folder / "scores.csv").drop(columns="label")
    scores.to_csv(folder / "bare.csv", index=False)
    labels = pd.DataFrame({"id": [3, 1], "annotator": ["x", "y"], "toxic": [1, 0]})
    path = folder / f"labels.{suffix}"
    if suffix == "parquet":
        labels.to_parquet(path)
    else:
        labels.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    data = ScoreSet.read(folder / "bare.csv", path, label="toxic")
    assert_array_equal(data.labels, [0, U, 1])
    assert data.layout.labels_source == str(path)


@pytest.mark.filterwarnings("ignore:the labels of")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_text_names_a_column_and_a_path_names_a_file(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    before = ScoreSet.read("scores.csv", "label")
    if kind == "file":
        Path("label").write_text("")
    else:
        Path("label").mkdir()
    assert_array_equal(ScoreSet.read("scores.csv", "label").labels, before.labels)
    Path("labels.csv").write_text("id,label\n3,1\n")
    with pytest.raises(InputError, match=r"no column 'labels\.csv'.*pathlib\.Path\('labels\.csv'"):
        ScoreSet.read("scores.csv", "labels.csv")
    assert_array_equal(ScoreSet.read("scores.csv", Path("labels.csv")).labels, [U, U, 1])
    with pytest.raises(InputError, match="two label columns"):
        ScoreSet.read("scores.csv", "label", label="bert")


@pytest.mark.filterwarnings("ignore:the labels of")
def test_npz_with_every_key(folder: Path) -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 2)).astype(np.float32)
    np.savez(
        folder / "s.npz",
        scores=scores,
        y=np.array([0, 2, 1, 1]),
        model_names=np.array(["a", "b"]),
        group_site=np.array([0, 1, 1, 0]),
        weights=np.ones(4),
        ids=np.array(["p", "q", "r", "s"]),
    )
    data = ScoreSet.read(folder / "s.npz")
    assert data.models == ("a", "b")
    assert data.classes == (0, 1, 2)
    assert data.groups["site"].tolist() == [0, 1, 1, 0]
    assert_array_equal(data.labels, [0, 2, 1, 1])
    assert ScoreSet.read(folder / "s.npz", False).n_labeled == 0
    given = ScoreSet.read(folder / "s.npz", [None, 0, None, 1], models=["b"])
    assert given.models == ("b",)
    assert_array_equal(given.scores, data.scores[:, [1]])
    assert_array_equal(given.labels, [U, 0, U, 1])
    pd.DataFrame({"id": ["s"], "label": [2]}).to_csv(folder / "labels.csv", index=False)
    assert_array_equal(ScoreSet.read(folder / "s.npz", folder / "labels.csv").labels, [U, U, U, 2])


@pytest.fixture
def npz(folder: Path) -> Path:
    """Three models; the array ``labels`` is not the one that is wanted."""
    np.savez(
        folder / "s.npz",
        scores=np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]),
        models=np.array(["a", "b", "c"]),
        labels=np.array([0, 0, 1]),
        audited=np.array([1.0, np.nan, 0.0]),
        importance=np.array([1.0, 2.0, 3.0]),
        row=np.array(["x", "y", "z"]),
        group_site=np.array(["n", "s", "n"]),
        ward=np.array([7, 8, 8]),
    )
    return folder / "s.npz"


def test_models_select_those_of_an_npz_in_the_order_asked(npz: Path) -> None:
    everything = ScoreSet.read(npz)
    data = ScoreSet.read(npz, models=["c", "a"])
    assert data.models == ("c", "a")
    assert_array_equal(data.scores, everything.scores[:, [2, 0]])
    with pytest.raises(InputError, match=r"model 'd'"):
        ScoreSet.read(npz, models=["a", "d"])


def test_models_of_an_npz_without_names(folder: Path) -> None:
    scores = np.array([[0.1, 0.2], [0.4, 0.5]])
    np.savez(folder / "bare.npz", scores=scores)
    assert ScoreSet.read(folder / "bare.npz", models=["x", "y"]).models == ("x", "y")
    swapped = ScoreSet.read(folder / "bare.npz", models=["model_2", "model_1"])
    assert swapped.models == ("model_2", "model_1")
    assert_array_equal(swapped.scores[:, :, 1], scores[:, ::-1])
    with pytest.raises(InputError, match="a name for each of 2 models"):
        ScoreSet.read(folder / "bare.npz", models=["x"])


def test_the_label_names_an_array_of_an_npz(npz: Path) -> None:
    assert_array_equal(ScoreSet.read(npz).labels, [0, 0, 1])
    assert_array_equal(ScoreSet.read(npz, label="audited").labels, [1, U, 0])
    assert_array_equal(ScoreSet.read(npz, "audited").labels, [1, U, 0])
    with pytest.raises(InputError, match=r"no array 'audit'.*'labels'.*Did you mean 'audited'"):
        ScoreSet.read(npz, label="audit")


def test_the_other_roles_name_arrays_of_an_npz(npz: Path) -> None:
    data = ScoreSet.read(npz, weight="importance", id="row", groups=["ward", "site"])
    assert_array_equal(data.weights, [1.0, 2.0, 3.0])
    assert data.ids.tolist() == ["x", "y", "z"]
    assert {name: values.tolist() for name, values in data.groups.items()} == {
        "ward": [7, 8, 8],
        "site": ["n", "s", "n"],
    }
    for role in ("weight", "id"):
        with pytest.raises(InputError, match="no array 'imp'"):
            ScoreSet.read(npz, **{role: "imp"})
    with pytest.raises(InputError, match="no array 'imp'"):
        ScoreSet.read(npz, groups="imp")


def test_npy_holds_scores_or_labels(folder: Path) -> None:
    np.save(folder / "s.npy", np.full((3, 2), 0.5))
    np.save(folder / "y.npy", np.array([0.0, np.nan, 1.0]))
    assert ScoreSet.read(folder / "s.npy").n_labeled == 0
    assert_array_equal(ScoreSet.read(folder / "s.npy", folder / "y.npy").labels, [0, U, 1])
    with pytest.raises(InputError, match="contains arrays, not a table with ids"):
        ScoreSet.read(folder / "scores.csv", folder / "y.npy")
    with pytest.raises(InputError, match=r"delimiter=.;..*for .csv, .txt, .tsv files"):
        ScoreSet.read(folder / "s.npy", delimiter=";")


def test_parquet_names_the_extra_it_needs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = ScoreSet.read(folder / "scores.csv")
    data.save(folder / "s.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"reading Parquet needs the extra `parquet`: pip"):
        ScoreSet.read(folder / "s.parquet")
    with pytest.raises(MissingExtraError, match=r"writing Parquet needs the extra `parquet`: pip"):
        data.save(folder / "t.parquet")


def test_save_refuses_what_it_cannot_write(folder: Path) -> None:
    data = ScoreSet.read(folder / "scores.csv")
    with pytest.raises(InputError, match=r"suffix '\.xlsx'.*\.npz"):
        data.save(folder / "s.xlsx")
    with pytest.raises(InputError, match="ids mix text and numbers"):
        data.replace(ids=np.array(["a", 1, 2], dtype=object)).save(folder / "s.npz")
    for odd in ([True, None, False], [2**53 + 1, None, 1], [2**64, 1, 0]):
        groups = {"site": np.array(odd, dtype=object)}
        with pytest.raises(InputError, match=r"group 'site'"):
            data.replace(groups=groups).save(folder / "s.npz")
        data.replace(groups=groups).save(folder / "s.csv")
        assert ScoreSet.read(folder / "s.csv").groups["site"].tolist() == odd
    with pytest.raises(InputError, match="column 'label' appears twice"):
        data.replace(models=("label", "gpt")).to_frame()
    with pytest.raises(InputError, match="layout must be"):
        data.to_frame("tall")


@pytest.mark.parametrize(
    ("name", "content"), [("s.parquet", b"PAR1 broken"), ("s.npz", b"PK\x03\x04 broken")]
)
def test_broken_files_are_refused(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"reading .*{name}"):
        ScoreSet.read(tmp_path / name)
