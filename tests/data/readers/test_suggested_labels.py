"""Labels of suggested rows: added to those in the scores table, with how they were drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, SsmeWarning

N = 40


def scores(path: Path, label: str = "label", layout: str = "wide") -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": [f"r{i}" for i in range(N)],
            label: pd.Series([i % 2 if i < 8 else None for i in range(N)]).astype("Int64"),
            "bert": rng.random(N).round(4),
            "gpt": rng.random(N).round(4),
        }
    )
    if layout == "long":
        frame = frame.melt(id_vars=["id", label], var_name="model", value_name="score")
    target = path / f"{layout}.csv"
    frame.to_csv(target, index=False)
    return target


def suggested(path: Path, text: str) -> Path:
    target = path / "next.csv"
    target.write_text(text)
    return target


GOOD = "id,label,probability,round,reason\nr10,1,0.1,1,why\nr11,0,0.5,2,why\nr12,,0.3,2,why\n"


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("label", ["label", "toxic"])
def test_they_add_to_the_labels_beside_the_scores(tmp_path, layout, label) -> None:
    file, more = scores(tmp_path, label, layout), suggested(tmp_path, GOOD)
    data = ScoreSet.read(file, more, label=label)
    assert data.models == ("bert", "gpt")
    assert label not in data.layout.ignored
    assert data.n_labeled == 10
    assert data.label_values[[10, 11, 12]].tolist() == [1, 0, None]
    rounds = data.design.rounds
    assert rounds.next_number == 3
    assert data.design.kind == "weights"
    weights = data.design.weights
    assert weights[10] > 2 * weights[11] > 0
    assert weights[12] == 0
    np.testing.assert_allclose(weights[:8], weights[0])


def test_a_file_without_probabilities_replaces_the_labels(tmp_path) -> None:
    more = suggested(tmp_path, "id,label\nr0,0\nr10,1\nr11,0\n")
    with pytest.warns(SsmeWarning, match="7 rows that are labeled there only count as unlabeled"):
        data = ScoreSet.read(scores(tmp_path), more)
    assert data.n_labeled == 3
    assert data.design.kind is None


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("kept", [["round", "reason"], ["round"], ["reason"]])
@pytest.mark.parametrize("emptied", [False, True])
@pytest.mark.parametrize("kind", ["file", "frame"])
def test_suggested_rows_that_lost_their_probability_are_refused(
    tmp_path, layout, kept, emptied, kind
) -> None:
    """They would count as a random sample, and without the column replace the other labels."""
    file, more = scores(tmp_path, layout=layout), suggested(tmp_path, GOOD)
    frame = pd.read_csv(more)[["id", "label", "probability", *kept]]
    frame = frame.assign(probability=np.nan) if emptied else frame.drop(columns="probability")
    frame.to_csv(more, index=False)
    with pytest.raises(InputError, match="no probability for 2 of its 2 labels") as error:
        ScoreSet.read(file, more if kind == "file" else frame, id="id")
    assert ("8 labels in the scores table would be dropped" in str(error.value)) == (not emptied)


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("kept", [["probability", "round", "reason"], ["Round", "Reason"]])
def test_suggested_rows_merged_with_the_scores_are_refused(tmp_path, layout, kept) -> None:
    """They would count as a random sample, and their probabilities as a model."""
    frame = pd.read_csv(scores(tmp_path, layout=layout))
    more = pd.read_csv(suggested(tmp_path, GOOD)).drop(columns="label")
    more = more.rename(columns={each.lower(): each for each in kept})[["id", *kept]]
    merged = frame.merge(more, on="id", how="left")
    with pytest.raises(InputError, match=r"has .*, as `ssme suggest` writes"):
        ScoreSet.from_frame(merged, score="score" if layout == "long" else None)
    data = ScoreSet.from_frame(merged, ignore=kept)
    assert (data.models, data.n_labeled) == (("bert", "gpt"), 8)


def test_probabilities_merged_with_the_scores_are_no_model(tmp_path) -> None:
    frame = pd.read_csv(scores(tmp_path, layout="wide")).drop(columns="label")
    more = pd.read_csv(suggested(tmp_path, GOOD))[["id", "label", "probability"]]
    merged = frame.merge(more.dropna(), on="id", how="left")
    with pytest.raises(InputError, match="has 'probability', as `ssme suggest` writes"):
        ScoreSet.from_frame(merged)
    assert ScoreSet.from_frame(merged, ignore=["probability"]).models == ("bert", "gpt")


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("r12,,0.3", "r12,,"),  # a row without a label
        GOOD + "r13,1,,,\n",  # a label that was not suggested
    ],
)
def test_rows_that_need_no_probability_are_read(tmp_path, text) -> None:
    assert ScoreSet.read(scores(tmp_path), suggested(tmp_path, text)).design.kind == "weights"


def test_a_design_that_is_stated_replaces_the_probabilities(tmp_path) -> None:
    more = suggested(tmp_path, "id,label,reason\nr10,1,unclear\nr11,0,\n")
    data = ScoreSet.read(scores(tmp_path), more, design="random")
    assert (data.n_labeled, data.design.kind) == (2, "random")


def test_rows_that_nobody_has_labeled_yet_change_no_estimate(tmp_path: Path) -> None:
    file, more = scores(tmp_path), suggested(tmp_path, "id,label,probability\nr10,,0.1\nr11,,0.5\n")
    data = ScoreSet.read(file, more)
    assert data.design.kind is None
    assert data.design.rounds.count_drawn(data.labels) == (2, 2)
    half = data.take(np.arange(11))
    assert half.design.rounds.count_drawn(half.labels) == (1, 1)
    plain, drawn = (ssme.evaluate(each, metrics="accuracy") for each in (ScoreSet.read(file), data))
    pd.testing.assert_frame_equal(plain.frame(), drawn.frame())


@pytest.mark.parametrize(("ours", "theirs"), [(",", ";"), (";", ","), (",", "\t")])
def test_a_spreadsheet_may_have_written_another_delimiter(tmp_path, ours, theirs) -> None:
    file = scores(tmp_path)
    file.write_text(file.read_text().replace(",", ours))
    more = suggested(tmp_path, GOOD.replace(",", theirs))
    data = ScoreSet.read(file, more, delimiter=ours)
    assert data.n_labeled == 10
    assert data.label_values[[10, 11, 12]].tolist() == [1, 0, None]


ODD = ["=a", "'=a", "''=a", "+b", "-c", "@d", "'tis", "'", "-", "-1x", "'-1", " =e", "\tf"]


def test_names_that_look_like_formulas_come_back_as_they_were(tmp_path: Path) -> None:
    """Exports protect them from spreadsheets by an apostrophe, which reading takes off again."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"-id": [f"{odd}{i}" for i in range(3) for odd in ODD]})
    n = len(frame)
    frame["label"] = [("+", "-")[i % 2] if i < 12 else None for i in range(n)]
    frame["bert"], frame["gpt"] = rng.random(n), rng.random(n)
    data = ScoreSet.from_frame(frame, id="-id", positive="+")
    kept = data.take([not id.startswith(" ") for id in data.ids])
    for suffix in ("csv", "tsv"):
        kept.save(tmp_path / f"set.{suffix}")
        again = ScoreSet.read(tmp_path / f"set.{suffix}", positive="+")
        assert again.ids.tolist() == kept.ids.tolist()
        assert again.label_values.tolist() == kept.label_values.tolist()
    found = ssme.evaluate(data, metrics="accuracy").suggest(n - 12)
    found.save(tmp_path / "next.csv")
    text = (tmp_path / "next.csv").read_text()
    assert "\n'=a" in text
    filled = pd.read_csv(tmp_path / "next.csv", dtype=str, keep_default_na=False)
    filled["label"] = filled["label"].replace("", "'-")
    filled.to_csv(tmp_path / "next.csv", index=False)
    joined = ScoreSet.from_frame(frame, tmp_path / "next.csv", id="-id", positive="+")
    assert joined.n_labeled == n
    assert joined.label_values[12:].tolist() == ["-"] * (n - 12)
    assert joined.label_values[:12].tolist() == frame["label"][:12].tolist()


def test_numbers_join_labels_that_are_text(tmp_path: Path) -> None:
    """A CSV file of labels holds 0 and 1 where a Parquet file of scores holds "0" and "1"."""
    frame = pd.read_csv(scores(tmp_path))
    frame["label"] = frame["label"].map({0.0: "0", 1.0: "1"})
    frame.to_parquet(tmp_path / "scores.parquet")
    data = ScoreSet.read(tmp_path / "scores.parquet", suggested(tmp_path, GOOD))
    assert data.classes == ("0", "1")
    assert data.label_values[[0, 1, 10, 11]].tolist() == ["0", "1", "1", "0"]
    text = pd.DataFrame({"id": ["r10", "r11"], "label": ["1", "0"], "probability": 0.5, "round": 1})
    numbers = ScoreSet.read(scores(tmp_path), text)
    assert numbers.label_values[[10, 11]].tolist() == [1, 0]


@pytest.mark.parametrize("name", ["proposal", "Prediction"])
def test_proposed_classes_are_labels_only_where_they_are_named(tmp_path: Path, name: str) -> None:
    path = suggested(tmp_path, f"id,{name}\nr20,1\nr21,0\n")
    with pytest.raises(InputError, match="no label column was found"):
        ScoreSet.read(scores(tmp_path), labels_file=str(path))
    found = ScoreSet.read(scores(tmp_path, "y"), labels_file=str(path), label=name, ignore=["y"])
    assert found.n_labeled == 2
    path = suggested(tmp_path, f"id,said,{name}\nr20,1,0\nr21,0,1\n")
    found = ScoreSet.read(scores(tmp_path, "y"), labels_file=str(path), ignore=["y"])
    assert found.label_values[20] == 1
