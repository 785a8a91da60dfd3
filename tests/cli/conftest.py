"""A small file of scores as pandas would write it, and a way to run commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from benchmarks.fuzz.program import make_runner
from typer.testing import Result

from ssme.cli import app


@pytest.fixture
def run() -> Callable[..., Result]:
    """``run("evaluate", "scores.csv")`` -> result with exit_code, stdout, stderr."""
    runner = make_runner()

    def invoke(*arguments: object) -> Result:
        return runner.invoke(app, [str(a) for a in arguments], catch_exceptions=False)

    return invoke


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    """400 rows, 40 labels, two good models and a poor one, two groups."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"y": np.where(np.arange(400) < 40, y, np.nan)})
    for name, skill in (("forest", 3.0), ("logistic", 2.0), ("coin", 0.2)):
        logit = skill * (y - 0.5) + rng.normal(size=400)
        frame[name] = 1.0 / (1.0 + np.exp(-logit))
    frame["site"] = np.where(rng.random(400) < 0.5, "north", "south")
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    return path
