"""Files of every layout are looked at, and the rows to label are shown as they are in the file."""

from __future__ import annotations

import html
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ssme.errors import InputError
from ssme.serve import preview
from ssme.serve.pages import render_fragment
from ssme.serve.preview import look_at
from ssme.serve.results import draw_intervals, draw_tightening
from ssme.serve.worker import LONGEST, choose_rows, evaluate_file, plan_labels

pytestmark = pytest.mark.web


def wide(n: int = 60, **others: Any) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    scores = {
        name: 1 / (1 + np.exp(-(2 * y - 1) * gap - rng.normal(size=n)))
        for name, gap in (("good", 2.0), ("bad", 0.3))
    }
    labels = [str(v) if i < n // 3 else "" for i, v in enumerate(y)]
    return pd.DataFrame({"id": [f"r{i}" for i in range(n)], "y": labels, **scores, **others})


def ask_for_rows(path: Path, found: dict[str, Any], count: int, **more: Any) -> dict[str, Any]:
    usual = {"labels": [], "round": 1, "design": "goal", "shown": None}
    return {"path": str(path), "config": found["config"], "count": count, **usual, **more}


def roles(found: dict[str, Any]) -> dict[str, str]:
    return {column["name"]: column["role"] for column in found["columns"]}


def test_a_large_file_is_looked_at_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "SAMPLE", 30)
    path = tmp_path / "a.csv"
    wide().to_csv(path, index=False)
    found = look_at(str(path), {}, {})
    assert (found["rows"], found["looked_at"], found["error"]) == (60, 30, None)
    unlabeled = look_at(str(path), {"labels_file": False}, {})
    assert unlabeled["looked_at"] == 30
    assert roles(found) == {"id": "id", "y": "label", "good": "models", "bad": "models"}


@pytest.mark.filterwarnings("ignore:not taken for models")
def test_columns_that_are_no_models_are_listed_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    wide(sex=[0, 1] * 30, note="x").to_csv(path, index=False)
    found = look_at(str(path), {}, {})
    assert roles(found)["sex"] == "out"
    assert {c["name"]: c["reason"] for c in found["columns"] if c["reason"]} == {
        "sex": "no model: only 0 and 1"
    }
    assert "'sex' (only 0 and 1)" in found["understood"]["not taken for models"]
    wide(sex=[0, 1] * 30, age=30 + np.arange(60)).to_csv(path, index=False)
    refused = look_at(str(path), {}, {})
    assert refused["error"] is not None
    assert roles(refused)["sex"] == "shown", "what cannot be read is not offered as scores"


def test_a_long_file_is_looked_at_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "SAMPLE", 30)
    frame = wide()
    path = tmp_path / "long.csv"
    frame.melt(["id", "y"], ["good", "bad"], "model", "score").to_csv(path, index=False)
    found = look_at(str(path), {"layout": "long", "label": "y", "id": "id"}, {})
    assert found["error"] is None
    assert (found["rows"], found["looked_at"]) == (60, 60)
    request = ask_for_rows(path, found, 5, design="random")
    chosen = choose_rows(request)
    assert len(chosen) == 5
    assert {row["row"] for row in chosen} <= set(frame["id"][20:])
    assert {cell[1] for row in chosen for cell in row["cells"]} == {"score"}


def test_arrays_are_looked_at_and_their_rows_are_numbers(tmp_path: Path) -> None:
    frame = wide()
    path = tmp_path / "a.npz"
    labels = np.where(np.arange(60) < 20, (frame["good"] > 0.5).astype(int), -1)
    np.savez(path, scores=frame[["good", "bad"]].to_numpy(), labels=labels)
    found = look_at(str(path), {"unlabeled": -1}, {})
    assert found["error"] is None
    assert (found["rows"], found["columns"]) == (60, [])
    request = ask_for_rows(path, found, 3)
    chosen = choose_rows(request)
    assert all(isinstance(row["row"], int) and 0 < row["probability"] <= 1 for row in chosen)
    assert choose_rows({**request, "count": 0}) == []


def test_parts_that_were_named_are_shown_in_the_form_although_they_are_wrong(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    wide(weight=1.0, site="x", empty=np.nan).to_csv(path, index=False)
    found = look_at(str(path), {"models": ["bad"], "groups": ["site"], "label": "none"}, {})
    assert "none" in found["error"]["got"]
    parts = roles(found)
    assert parts["bad"] == "models"
    assert parts["good"] == "shown"
    assert (parts["weight"], parts["site"], parts["empty"]) == ("weight", "groups", "shown")
    right = look_at(str(path), {"models": ["bad"], "groups": ["site"], "ignore": ["empty"]}, {})
    assert right["error"] is None
    assert roles(right)["weight"] == "weight"


def test_cells_are_numbers_texts_pictures_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    wide(
        note=["x" * (LONGEST + 7) if i % 2 else "short" for i in range(60)],
        photo="cat.png",
        age=[float(i) if i % 3 else np.nan for i in range(60)],
    ).to_parquet(path)
    found = look_at(str(path), {"ignore": ["note", "photo", "age"], "positive": "1"}, {})
    assert found["error"] is None
    request = ask_for_rows(path, found, 30, shown=["note", "photo", "age"])
    chosen = choose_rows(request)
    kinds = {(name, kind) for row in chosen for name, kind, _ in row["cells"]}
    expected = {("note", "text"), ("photo", "image"), ("age", "number"), ("age", "empty")}
    assert expected <= kinds
    long = [c[2] for row in chosen for c in row["cells"] if c[0] == "note" and len(c[2]) > 10]
    assert all(text.endswith("… (7 more characters)") for text in long)


def test_who_answered_and_what_judges_say_is_hidden_and_first_rows_are_shown(
    tmp_path: Path,
) -> None:
    path = tmp_path / "answers.csv"
    lines = ["id,system,answer,judge_a,y,good,group_site"]
    lines += [f"r{i},s{i % 2},text {i},0.{i % 7}5,{i % 2},0.{i % 9}1,x{i % 3}" for i in range(40)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    read = {"label": "y", "models": ["good"], "groups": ["group_site"], "classes": ["0", "1"]}
    found = look_at(str(path), read, {})
    assert found["error"] is None
    parts = {column["name"]: column["role"] for column in found["columns"]}
    assert (parts["system"], parts["judge_a"], parts["answer"]) == ("out", "out", "shown")
    assert [*found["group_values"].values()] == [["x0", "x1", "x2"]]
    assert found["first_rows"]["rows"][1] == ["r1", "1", "x1", "0 (0.89)"]
    request = {"config": found["config"], "labels": [], "round": 1, "count": 3}
    read["labels_file"] = False
    del read["label"]
    request["config"] = look_at(str(path), read, {})["config"]
    shown = {
        name
        for row in choose_rows({**request, "design": "random", "shown": None})
        for name, kind, _ in row["cells"]
        if kind != "score"
    }
    assert shown == {"answer", "y", "group_site"}


def test_an_evaluation_without_labels_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    wide().drop(columns="y").to_csv(path, index=False)
    found = look_at(str(path), {"labels_file": False}, {})
    request = {"path": str(path), "config": found["config"], "labels": []}
    with pytest.raises(InputError, match="no row of the file has a label yet"):
        evaluate_file(request, tmp_path)


def test_one_model_needs_no_plan(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    wide().drop(columns="bad").to_csv(path, index=False)
    found = look_at(str(path), {}, {"method": "ensemble"})
    plan_labels({"path": str(path), "config": found["config"], "labels": []}, tmp_path)
    assert (tmp_path / "plan.json").read_text() == '{"sentence": ""}'


def test_pictures_leave_out_what_is_not_known() -> None:
    nothing = dict.fromkeys(("estimate", "low", "high", "labels_only_low", "labels_only_high"))
    assert draw_intervals([{"model": "a", **nothing}], "accuracy") == ""
    only = draw_intervals([{"model": "<b>", **nothing, "estimate": 0.5}], "accuracy")
    assert 'class="dot"' in only
    assert 'class="interval"' not in only
    assert 'class="alone"' not in only
    assert "<b>" not in only

    def evaluated(n: int, **of: Any) -> Any:
        usual = {"model": "a", "metric": "accuracy", "group": "all", "low": None, "high": None}
        return SimpleNamespace(n_labeled=n, estimates=[SimpleNamespace(**{**usual, **of})])

    assert draw_tightening([evaluated(5, estimate=None)], "accuracy", ["a"]) == []
    steps = [evaluated(5, estimate=0.5), evaluated(9, estimate=0.6, model="b")]
    one, two = draw_tightening(steps, "accuracy", ["a", "b"])
    assert "wide" not in str(one)
    steps = [evaluated(5, estimate=0.5, low=0.3, high=0.7)]
    (one,) = draw_tightening(steps, "accuracy", ["a"])
    assert "interval 0.400 wide" in str(one)
    assert two


def test_an_evaluation_says_when_one_may_stop(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    z = np.where(y == 1, 2.0, -2.0) + rng.normal(size=300)
    near = z + 0.02 * rng.normal(size=300)
    path = tmp_path / "scores.csv"
    scores = {name: 1.0 / (1.0 + np.exp(-each)) for name, each in (("a", z), ("b", near))}
    given = [str(k) if i < 60 else "" for i, k in enumerate(y)]
    pd.DataFrame({"id": range(300), **scores, "y": given}).to_csv(path, index=False)
    found = look_at(str(path), {"label": "y", "classes": ["0", "1"]}, {})
    assert found["error"] is None
    asked = {"path": str(path), "config": found["config"], "labels": [], "title": "a"}
    evaluate_file(asked, tmp_path)
    facts = json.loads((tmp_path / "facts.json").read_text())
    (decision,) = [d for d in facts["record"]["decisions"] if d["metric"] == "accuracy"]
    assert len(decision["possible_best"]) == 2, "nobody can tell which is the best, nor need to"
    pick = decision["pick"]
    assert facts["stop"].startswith(f"You may stop: {pick} is at most 1 percentage point")
    shown = render_fragment("decision.html", decision=decision, labeled=60, stop=facts["stop"])
    assert facts["stop"] in html.unescape(shown)
