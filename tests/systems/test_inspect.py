"""The metric for Inspect, on objects like those that Inspect gives to a metric."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import ssme
from ssme.systems.inspect import estimate_from_scores


def make_scores(n: int = 200) -> tuple[list[SimpleNamespace], np.ndarray]:
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.7
    said = np.where(rng.random(n) < 0.85, truth, ~truth)
    known = np.arange(n) < 60
    return [
        SimpleNamespace(
            score=SimpleNamespace(as_float=lambda value=float(said[i]): value),
            sample_id=i,
            sample_metadata={"checked": "pass" if truth[i] else "fail"} if known[i] else None,
        )
        for i in range(n)
    ], truth


def test_a_file_and_metadata_give_the_same(tmp_path: Path):
    scores, truth = make_scores()
    path = tmp_path / "human.csv"
    people = pd.DataFrame({"id": range(60), "human": np.where(truth[:60], "pass", "fail")})
    people.to_csv(path, index=False)
    by_file = estimate_from_scores(scores, str(path), "human", 0.95)
    assert by_file == estimate_from_scores(scores, "checked", "human", 0.95)
    assert by_file["low"] < truth.mean() < by_file["high"]
    assert by_file["judge"] == pytest.approx(np.mean([each.score.as_float() for each in scores]))
    with pytest.raises(ssme.InputError, match="metadata"):
        estimate_from_scores(scores, "nowhere", "human", 0.95)
    people.rename(columns={"id": "row"}).to_csv(path, index=False)
    with pytest.raises(ssme.InputError, match="columns id and human"):
        estimate_from_scores(scores, str(path), "human", 0.95)
