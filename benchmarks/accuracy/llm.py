"""Case study: classifiers made of language models.

The paper's study is on MultiNLI, whose predictions are public and used here, and AG News, whose are
not. In its place MMLU-Pro: real answers of nine LLMs to questions with ten options, which often err
alike. The paper: SSME improves over labels alone by 2.3 times (mean over its tasks and metrics),
the next best method, Majority-Vote, by 1.3. MultiNLI's runs are those of the main tables.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.accuracy.main_tables import main_cells
from benchmarks.charts import bars
from benchmarks.experiment import Setup, save, start
from ssme.bench import summarize

RUNS = 50
DATASETS = ["multinli", "mmlupro_llm_logit"]


def main(setup: Setup) -> None:
    summary = summarize(main_cells(setup, DATASETS))
    save(summary.drop(columns=["subset", "group"]), setup, figure)


def figure(frame: pd.DataFrame) -> Any:
    shown = frame[frame["n_labeled"] == 20]
    panel = shown["dataset"] + " " + shown["metric"]
    return bars(shown.assign(panel=panel), "mae:Q", "method:N", row="panel", color="method")


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
