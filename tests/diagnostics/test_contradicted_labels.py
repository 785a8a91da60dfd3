"""Labels with which no classifier agrees are named, wrong labels more often than others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import ssme
from ssme.cli import app
from ssme.diagnostics.label_checks import list_contradicted_labels
from ssme.show.document import build_document


def make_frame(seed: int, wrong: int) -> tuple[pd.DataFrame, np.ndarray]:
    """200 rows, 100 labels of which the first ``wrong`` are turned."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(200)]})
    for name in ("a", "b", "c"):
        frame[name] = 1 / (1 + np.exp(-(5.0 * (y - 0.5) + rng.normal(size=200))))
    labels = np.where(np.arange(200) < wrong, 1 - y, y)
    frame["y"] = np.where(np.arange(200) < 100, labels, np.nan)
    return frame, y


def test_wrong_labels_are_named_before_others(tmp_path: Path):
    named, turned = [], {f"r{i}" for i in range(5)}
    for seed in range(20):
        data = ssme.ScoreSet.from_frame(make_frame(seed, 5)[0], "y")
        named += [row["row"] in turned for row in list_contradicted_labels(data)]
    # of 100 labels five are wrong: by chance 0.05 of those named would be; three standard errors
    assert np.mean(named) > 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(named))
    assert np.mean(named) > 0.8
    assert len(named) > 80
    frame, y = make_frame(0, 5)
    (first, *_) = list_contradicted_labels(ssme.ScoreSet.from_frame(frame, "y"))
    at = int(first["row"][1:])
    assert (first["label"], first["models"]) == (1 - y[at], y[at])
    frame.to_csv(tmp_path / "scores.csv", index=False)
    ran = CliRunner().invoke(app, ["doctor", str(tmp_path / "scores.csv"), "-y", "y"])
    assert "Labels to look at again" in ran.output
    assert first["row"] in ran.output


def test_reports_have_them_and_none_where_models_agree():
    frame, _ = make_frame(1, 5)
    settings = {"metrics": "accuracy", "method": "ensemble", "n_draws": 20}
    document = build_document(ssme.evaluate(frame, "y", **settings))
    assert "Labels to look at again" in [each.title for each in document.walk()]
    one = ssme.ScoreSet.from_frame(frame[["id", "a", "y"]], "y")
    assert list_contradicted_labels(one) == []
