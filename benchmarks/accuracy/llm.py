"""Case study: classifiers made of language models.

The paper's study is on MultiNLI, whose predictions are public and used here, and AG News, whose are
not. In its place MMLU-Pro: real answers of nine language models to questions with ten options. Such
an answer comes with one number, the mean probability of its tokens, and no score of the other
options: the option that was chosen gets that number and the nine others share the rest evenly,
and where no option was chosen all ten share alike. Nothing in these scores tells which of the other
options comes next, and the models often err alike, which no consensus can see.

The paper: with 20 labels SSME improves over labels alone by 2.3 times, the next best method,
Majority-Vote, by 1.3; both are 1 / mean RMAE over its two tasks and two metrics. MultiNLI's runs
are those of the main tables.
"""

from __future__ import annotations

from benchmarks.experiment import REAL_SETS, Setup, run, save, start
from benchmarks.studies import Protocol
from ssme.bench import summarize

RUNS = 50
DATASETS = ["multinli", "mmlupro_llm_logit"]
METHODS = [
    "labeled",
    "majority_vote",
    "pseudo_label",
    "dawid_skene",
    "autoeval",
    "active_testing",
    "ssme",
    "ensemble",
    "auto",
]
"""Those of the paper's multiclass tables, the ensemble and ours."""


def main(setup: Setup) -> None:
    protocol = Protocol(METHODS, runs=setup.runs)
    summary = summarize(run(protocol, DATASETS, setup, cells=REAL_SETS))
    save(summary.drop(columns=["subset", "group"]), setup)


if __name__ == "__main__":
    start(main, __doc__, runs=RUNS)
