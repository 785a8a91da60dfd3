"""Case study: classifiers made from large language models.

The paper's LLM sets (AG News with LLM embeddings) are not public; MultiNLI is its own. Beside it,
real answers of nine LLMs to MMLU-Pro with a confidence each: there all models err in the same
way, which no label-free consensus can see.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import arguments, bars, run, save
from ssme.bench import Protocol, summarize

METHODS = ["labeled", "majority_vote", "pseudo_label", "dawid_skene", "ensemble", "ssme", "auto"]


def main() -> None:
    args = arguments(__doc__, runs=50)
    protocol = Protocol.of(METHODS, runs=args.runs)
    summary = summarize(run("llm", protocol, ["multinli", "mmlupro_llm_logit"], args))
    save("llm", summary.drop(columns=["subset", "group"]), args, figure)


def figure(frame: pd.DataFrame) -> Any:
    frame = frame.assign(
        panel=frame["dataset"] + " " + frame["metric"],
        series=frame["method"] + ", " + frame["n_labeled"].astype(str),
    )
    return bars(frame, "mae:Q", "series:N", row="panel", color="method")


if __name__ == "__main__":
    main()
