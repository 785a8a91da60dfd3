"""What the library says of its own probabilities: src/ssme/results/measured.csv.

    python -m benchmarks.decide.record

writes it from decide_probabilities.csv and decide_pairs.csv, the tables of
``benchmarks.decide.choices``, and decide_worst.csv of ``benchmarks.decide.groups``, over all sets;
``tests/results/test_reliability.py`` holds that it is up to date.
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
    names = ("decide_probabilities", "decide_worst")
    found = [RESULTS / f"{name}.csv" for name in names]
    tables = [pd.read_csv(path) for path in found if path.exists()]
    said = pd.concat(tables).query("sets == 'all'")
    sets = pd.read_csv(RESULTS / "decide_pairs.csv").query("dataset == 'all'")
    held = sets.assign(
        what="set", low=0.95, high=1.01, cases=sets["choices"], said=0.95, true=sets["set_coverage"]
    )
    rows = pd.concat([said[COLUMNS], held[COLUMNS]]).sort_values(COLUMNS[:6])
    return rows.astype({"cases": int})


def main() -> None:
    RECORD.write_text(build_record(), encoding="utf-8")
    print(f"wrote {RECORD}")


if __name__ == "__main__":
    main()
