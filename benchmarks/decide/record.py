"""What the library knows of its own probabilities: src/ssme/results/measured.csv.

    python -m benchmarks.decide.record

writes it from decide_probabilities.csv, the table of ``benchmarks.decide.choices``, and
decide_worst.csv of ``benchmarks.decide.groups``, over all sets, and prints `cross_check`;
``tests/results/test_reliability.py`` holds that the file is up to date.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.decide.said import BY
from benchmarks.experiment import RESULTS
from ssme.results.reliability import Bin, Record

RECORD = Path(__file__).resolve().parents[2] / "src" / "ssme" / "results" / "measured.csv"
COLUMNS = [*BY, "what", "low", "high", "cases", "said", "true", "error"]
SPLITS = 8
"""Least number of splits of a set. The best model of a set is the same in all of them, so the error
of a bin is at least that of one independent case in 8: few sets may agree by chance."""


def build_record() -> str:
    """The text of the file."""
    rows = read_bins().query("sets == 'all'").sort_values(COLUMNS[:6])[COLUMNS]
    return rows.to_csv(index=False, float_format="%.4g", lineterminator="\n")


def read_bins() -> pd.DataFrame:
    """Bins with their standard errors; those that at most two sets reached are left out."""
    names = ("decide_probabilities", "decide_worst")
    bins = pd.concat([pd.read_csv(RESULTS / f"{name}.csv") for name in names]).dropna(subset="se")
    one = np.maximum(bins["said"] * (1.0 - bins["said"]), 0.05**2)
    return bins.assign(error=np.maximum(bins["se"], np.sqrt(one * SPLITS / bins["cases"])))


def cross_check(spread: float = Record.spread) -> pd.DataFrame:
    """Error of probabilities, as reported and corrected by the record of the other sets.

    Development sets are corrected by what was measured on the further ones and the other way
    around: root of the mean squared difference between probability and frequency over the cases.
    """
    bins = read_bins()
    found = []
    for ours, others in (("development", "further"), ("further", "development")):
        records = {
            key: Record("", "", tuple(_make_bins(part)), spread)
            for key, part in bins[bins["sets"] == others].groupby(BY)
        }
        for key, part in bins[bins["sets"] == ours].groupby([*BY, "what"]):
            record = records.get(key[:-1], Record("", ""))
            corrected = record.correct(key[-1], part["said"].to_numpy())
            found.append(
                pd.DataFrame(
                    {
                        "sets": ours,
                        "method": key[0],
                        "what": key[-1],
                        "cases": part["cases"],
                        "reported": part["cases"] * (part["said"] - part["true"]) ** 2,
                        "corrected": part["cases"] * (corrected - part["true"]) ** 2,
                    }
                )
            )
    sums = pd.concat(found).groupby(["what", "method", "sets"]).sum()
    return np.sqrt(sums[["reported", "corrected"]].div(sums["cases"], axis=0))


def _make_bins(part: pd.DataFrame) -> list[tuple[str, Bin]]:
    rows = part.sort_values(["what", "low"])
    numbers = zip(rows["what"], rows["said"], rows["true"], rows["error"], strict=True)
    return [(what, Bin(*each)) for what, *each in numbers]


def main() -> None:
    RECORD.write_text(build_record(), encoding="utf-8")
    print(f"wrote {RECORD}")
    for spread in (0.02, 0.05, 0.1, 0.2, 0.5):
        print(f"\nspread {spread}\n{cross_check(spread).round(4)}")


if __name__ == "__main__":
    main()
