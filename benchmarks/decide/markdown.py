"""What the measured parts of the pages are made of: tables, pictures and where they come from."""

from __future__ import annotations

from typing import Any

import pandas as pd

from benchmarks.experiment import FIGURES, RESULTS
from benchmarks.provenance import read as read_runs


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv")


def describe_origin(name: str) -> str:
    """From how many splits a result is, and which command makes it again."""
    line = read_runs(RESULTS).set_index("experiment").loc[name]
    return f"{line['cells']} splits in all; `{line['command']}` at {line['commit']}"


def format_table(frame: pd.DataFrame, formats: dict[str, str]) -> str:
    """A Markdown table; columns without a format are text."""
    lines = ["| " + " | ".join(frame.columns) + " |", "|" + "---|" * len(frame.columns)]
    for row in frame.to_dict("records"):
        cells = [
            "-" if value != value else format(value, formats[key]) if key in formats else str(value)
            for key, value in row.items()
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def embed_picture(name: str, words: str) -> str:
    return f"![{words}](../figures/{name}.png)\n"


def draw(name: str, chart: Any) -> None:
    FIGURES.mkdir(exist_ok=True)
    chart.save(str(FIGURES / f"{name}.png"), ppi=90)
