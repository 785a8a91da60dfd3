"""A reduced main table in minutes: labels alone, the ensemble, SSME and ours, from nothing.

On CivilComments and MultiNLI where their predictions are found (``SSME_DATA``), otherwise on
synthetic Gaussian sets, whose truth is known in closed form.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import arguments, bars, run, save
from ssme.bench import Protocol, summarize
from ssme.data.datasets import data_folder

METHODS = ["labeled", "ensemble", "ssme", "auto"]


def main() -> None:
    args = arguments(__doc__, runs=10)
    found = (data_folder() / "civilcomments.npz").exists()
    datasets = ["civilcomments", "multinli"] if found else ["gaussian"]
    protocol = Protocol.of(METHODS, runs=args.runs)
    summary = summarize(run("quick", protocol, datasets, args))
    save("quick", summary.drop(columns=["subset", "group"]), args, figure)


def figure(frame: pd.DataFrame) -> Any:
    frame = frame.assign(
        panel=frame["dataset"] + " " + frame["metric"],
        series=frame["method"] + ", " + frame["n_labeled"].astype(str) + " labels",
    )
    return bars(frame, "mae:Q", "series:N", row="panel", color="method")


if __name__ == "__main__":
    main()
