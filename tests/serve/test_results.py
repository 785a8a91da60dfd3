"""An evaluation through the page: computed once, told as it goes, run again from what is saved."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.serve.running import find_row
from tests.serve.conftest import House

from ssme.data import ScoreSet
from ssme.run import rerun
from ssme.serve.project import KEPT
from ssme.serve.worker import _format_labels_csv, add_labels
from ssme.spec import RunSpec

pytestmark = pytest.mark.web


def give_label(house: House, label: str) -> None:
    """Label the row that the page shows."""
    row = find_row(house.client.get("/files/1/label").text)
    house.mark("/files/1/label", row=row, label=label)


@pytest.fixture
def evaluated(ready: House) -> House:
    """A house with one file, five labels given by hand and an evaluation, job 3 or later."""
    for number in range(5):
        give_label(ready, str(number % 2))
    assert "evaluate done" in ready.work()
    return ready


def newest(house: House) -> int:
    """The number of the newest evaluation."""
    return house.db.run_now(lambda store: store.list_jobs(1, "evaluate")[0].id)


def test_the_same_evaluation_is_computed_once(evaluated: House) -> None:
    before = newest(evaluated)
    assert evaluated.post("/files/1/evaluate").status_code == 303
    assert newest(evaluated) == before
    assert "evaluate done" not in evaluated.work()
    give_label(evaluated, "1")
    evaluated.post("/files/1/evaluate")
    assert newest(evaluated) != before
    assert "evaluate done" in evaluated.work()


def test_settings_of_before_show_their_result_again(evaluated: House) -> None:
    for level in ("80", "95", "80"):
        parts = {"part-0": "id", "part-2": "label"}
        evaluated.post("/files/1/mapping", level=level, metric="accuracy", **parts)
        evaluated.work()
        evaluated.post("/files/1/evaluate")
        evaluated.work()
        assert f"with {level}% intervals" in evaluated.client.get("/files/1/result").text


def test_only_the_newest_evaluations_are_kept_whole_and_no_request_has_labels(
    evaluated: House,
) -> None:
    for number in range(2 * KEPT):
        give_label(evaluated, str(number % 2))
        evaluated.post("/files/1/evaluate")
        evaluated.client.get("/files/1/result")
        evaluated.work()
    jobs = evaluated.db.run_now(lambda store: store.list_jobs(1))
    newest = evaluated.db.run_now(lambda store: store.find_newest_job(1, "evaluate", "1"))
    assert newest.labels == 5 + 2 * KEPT
    assert "labels" not in newest.request
    assert sum(job.kind == "evaluate" for job in jobs) == KEPT + 1
    folders = {path.name for path in evaluated.settings.results.iterdir()}
    assert folders == {job.key for job in jobs if job.state == "done"}
    assert evaluated.client.get("/files/1/history").text.count("<h2>") == 1 + 2 * KEPT


def test_what_is_saved_runs_again_to_the_same_numbers(
    evaluated: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    job = newest(evaluated)
    for name in ("config.toml", "labels.csv", "estimates.csv"):
        answer = evaluated.client.get(f"/jobs/{job}/{name}")
        (tmp_path / name).write_bytes(answer.content)
    told = [*csv.DictReader(io.StringIO((tmp_path / "estimates.csv").read_text()))]
    result = rerun(RunSpec.load(tmp_path / "config.toml"))
    again = [*result.rows()]
    assert len(told) == len(again) > 0
    assert [row["estimate"] for row in told] == [str(row["estimate"]) for row in again]
    assert result.data.n_labeled == 17


def test_the_end_of_a_job_is_an_event(evaluated: House) -> None:
    job = newest(evaluated)
    answer = evaluated.client.get(f"/jobs/{job}/events")
    assert answer.headers["content-type"].startswith("text/event-stream")
    (line,) = [line for line in answer.text.splitlines() if line.startswith("data:")]
    assert json.loads(line.removeprefix("data:")) == {"job": job, "state": "done"}


def test_a_report_that_is_not_drawn_yet_is_waited_for(
    evaluated: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here nobody draws it; where somebody does, it is saved as soon as it is there."""
    monkeypatch.setattr("ssme.serve.results.PATIENCE", 0.05)
    path = f"/jobs/{newest(evaluated)}/report.html"
    answer = evaluated.client.get(path)
    assert answer.status_code == 400
    assert "still being drawn" in answer.text
    assert evaluated.work() == ["report done"]
    assert evaluated.client.get(path).text.startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("before", [None, "weights"])
def test_labels_of_any_rounds_are_saved_with_what_they_stand_for(
    tmp_path: Path, before: str | None
) -> None:
    """Labels from before, a round by goal, one at random, and one more by goal."""
    rng = np.random.default_rng(0)
    names = [f"r{i}" for i in range(40)]
    scores = rng.uniform(size=(40, 2))
    labels = np.array([0.0, 1.0] * 4 + [np.nan] * 32)
    weights = np.where(np.isnan(labels), np.nan, rng.uniform(2.0, 6.0, 40)) if before else None
    data = ScoreSet.from_arrays(scores, labels, ids=names, design=weights)
    given = [
        *((f"r{i}", i % 2, 0.1 + i / 100, 1, False) for i in range(8, 13)),
        *((f"r{i}", i % 2, None, 2, False) for i in range(13, 18)),
        *((f"r{i}", i % 2, 0.2, 3, False) for i in range(18, 22)),
    ]
    labeled, _ = add_labels(data, given)
    path = tmp_path / "labels.csv"
    path.write_text(_format_labels_csv(labeled).replace("row,", "id,", 1), encoding="utf-8")
    columns = {"id": names, "a": scores[:, 0], "b": scores[:, 1]}
    again = ScoreSet.from_frame(pd.DataFrame(columns), path, label="label", id="id")
    assert again.n_labeled == labeled.n_labeled == 22
    np.testing.assert_allclose(again.design.weights, labeled.design.weights, rtol=1e-12)


def test_history_tells_every_evaluation_and_what_changed(evaluated: House) -> None:
    give_label(evaluated, "1")
    evaluated.post("/files/1/evaluate")
    assert "evaluate done" in evaluated.work()
    page = evaluated.client.get("/files/1/history").text.split('class="history"')[1]
    newest_first = page.split("<li>")[1:]
    assert [part.count("<h2>") for part in newest_first] == [1] * len(newest_first)
    assert "The first evaluation." in newest_first[-1]
    assert "17 labels</h2>" in newest_first[1]
    assert "18 labels</h2>" in newest_first[0]
    assert "1 more label." in newest_first[0]
    assert "Pick: <strong>" in newest_first[0]
    assert "probability the best one is" in newest_first[0]
    assert "is the best with" in newest_first[0]
