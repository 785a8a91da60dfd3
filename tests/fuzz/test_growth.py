"""The committed table of growth: no axis costs more than its size."""

from pathlib import Path

import pandas as pd
from benchmarks.speed.growth import MOST

TABLE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "growth.csv"


def test_no_exponent_exceeds_the_limit():
    table = pd.read_csv(TABLE)
    assert (table["exponent"] <= MOST).all()
    assert {"columns", "row_groups", "groups", "models", "rows", "labels"} <= set(table["axis"])
