"""The same pass on two Dask workers, one of which is killed on the way."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.stream.worlds import binary_table, written

from ssme.methods import ensemble
from ssme.methods.votes import average_scores
from ssme.stream import evaluate_parquet

pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

ASKED = {"method": "ensemble", "n_draws": 5, "sample_rows": 300, "by": []}


def answer(files: str, **where: object) -> np.ndarray:
    result = evaluate_parquet(files, **(ASKED | where))  # type: ignore[arg-type]
    return np.array([row["estimate"] for row in result.rows()])


class SlowMean:
    """The mean score, slow enough to be killed at, leaving a note of who works."""

    def __init__(self, notes: Path) -> None:
        self.notes = notes

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        (self.notes / f"{os.getpid()}").touch()
        time.sleep(0.15)
        return average_scores(scores)


def test_a_killed_worker_does_not_change_the_answer(tmp_path, monkeypatch) -> None:
    folder, notes = tmp_path / "files", tmp_path / "notes"
    folder.mkdir()
    notes.mkdir()
    files = written(binary_table(2400, 40), folder, row_group=100)
    alone = answer(files, executor="serial")
    fit = ensemble.Ensemble.fit

    def fit_with_slow_predictor(self, data, rng):
        from dataclasses import replace

        return replace(fit(self, data, rng), predictor=SlowMean(notes))

    monkeypatch.setattr(ensemble.Ensemble, "fit", fit_with_slow_predictor)
    killed: list[int] = []

    answered = threading.Event()

    def kill_one() -> None:
        while not answered.wait(0.05):
            others = [int(n.name) for n in notes.iterdir() if int(n.name) != os.getpid()]
            if others:
                os.kill(others[0], signal.SIGKILL)
                killed.append(others[0])
                return

    killer = threading.Thread(target=kill_one)
    killer.start()
    got = answer(files, executor="dask", workers=2)
    answered.set()
    killer.join()
    assert killed
    np.testing.assert_array_equal(got, alone)
