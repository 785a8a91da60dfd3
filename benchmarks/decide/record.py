"""What the library says of its own probabilities: src/ssme/results/measured.csv.

    python -m benchmarks.decide.record

writes it from decide_probabilities.csv and decide_pairs.csv, the tables of
``benchmarks.decide.choices``; ``tests/results/test_reliability.py`` holds that it is up to date.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.experiment import RESULTS

RECORD = Path(__file__).resolve().parents[2] / "src" / "ssme" / "results" / "measured.csv"
COLUMNS = ["method", "metric", "n_labeled", "what", "low", "high", "cases", "said", "true"]


def build_record() -> str:
    """The text of the file."""
    return _select_rows().to_csv(index=False, float_format="%.4g", lineterminator="\n")


def _select_rows() -> pd.DataFrame:
    said = pd.read_csv(RESULTS / "decide_probabilities.csv")
    ends = said["bin"].str.extract(r"\[(.+), (.+)\)").astype(float)
    said = said.assign(low=ends[0], high=ends[1], cases=said["count"])
    said["what"] = said["what"].replace("pair", "better")
    low = (said["what"] == "better") & (said["high"] <= 0.4 + 1e-9)
    flipped = said[low].assign(
        low=1.0 - said["high"],
        high=1.0 - said["low"],
        said=1.0 - said["said"],
        true=1.0 - said["true"],
    )
    said = pd.concat([said[~low], flipped])
    said = said[(said["what"] == "best") | (said["low"] > 0.5)]
    said["high"] = said["high"].where(said["high"] < 1.0, 1.01)
    sets = pd.read_csv(RESULTS / "decide_pairs.csv").query("dataset == 'all'")
    sets = sets.assign(
        what="set", low=0.95, high=1.01, cases=sets["choices"], said=0.95, true=sets["set_coverage"]
    )
    rows = pd.concat([said[COLUMNS], sets[COLUMNS]]).round({"low": 3, "high": 3})
    rows["said"] *= rows["cases"]
    rows["true"] *= rows["cases"]
    rows = rows.groupby(COLUMNS[:6], as_index=False).sum()
    rows["said"] /= rows["cases"]
    rows["true"] /= rows["cases"]
    return rows[COLUMNS]


def main() -> None:
    RECORD.write_text(build_record(), encoding="utf-8")
    print(f"wrote {RECORD}")


if __name__ == "__main__":
    main()
