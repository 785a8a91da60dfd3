"""What the measured parts of documents are made of: tables, pictures, and where they come from."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

import pandas as pd

from benchmarks.experiment import RESULTS
from benchmarks.provenance import read as read_runs


def read(name: str) -> pd.DataFrame:
    return pd.read_csv(RESULTS / f"{name}.csv")


def describe_origin(name: str) -> str:
    """From how many splits a result is, and which command makes it again."""
    line = read_runs(RESULTS).set_index("experiment").loc[name]
    return f"{line['cells']} splits in all; `{line['command']}` at {line['commit']}"


def format_rows(head: Collection[object], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table of cells as they are."""
    lines = ["| " + " | ".join(map(str, line)) + " |" for line in (head, *rows)]
    lines.insert(1, "|---" * len(head) + "|")
    return "\n".join(lines) + "\n"


def format_table(frame: pd.DataFrame, formats: dict[str, str]) -> str:
    """A Markdown table; columns without a format are text."""
    return format_rows(
        frame.columns,
        (
            [
                "-" if v != v else format(v, formats[key]) if key in formats else v
                for key, v in row.items()
            ]
            for row in frame.to_dict("records")
        ),
    )


def format_columns(frame: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """A Markdown table of some columns: column -> title, or "title|format" of its numbers."""
    pairs = {name: text.partition("|") for name, text in columns.items()}
    shown = frame[list(columns)].rename(columns={name: pair[0] for name, pair in pairs.items()})
    return format_table(shown, {pair[0]: pair[2] for pair in pairs.values() if pair[2]})


def embed_picture(name: str, words: str) -> str:
    return f"![{words}](../figures/{name}.png)\n"


Parts = Mapping[str, Callable[[], str]]


def renew(text: str, parts: Parts) -> str:
    """``text`` with its parts made anew, each between ``<!-- NAME -->`` and ``<!-- /NAME -->``."""
    for name, make in parts.items():
        place = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        at = place.search(text)
        if at is None:
            raise SystemExit(f"there is no place for {name!r}")
        text = text[: at.start()] + make() + text[at.end() :]
    return text
