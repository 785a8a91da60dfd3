"""What the measured parts of documents are made of: tables, pictures, and where they come from."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
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


def format_rows(head: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table of cells as they are."""
    lines = [[str(cell) for cell in line] for line in (head, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


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


def draw(name: str, chart: Any) -> None:
    FIGURES.mkdir(exist_ok=True)
    chart.save(str(FIGURES / f"{name}.png"), ppi=90)


Parts = Mapping[str, Callable[[], str]]


def rewrite(document: Path, parts: Parts, *, end: str = "end ", check: bool = False) -> None:
    """Write parts of a document anew, each between ``<!-- NAME -->`` and ``<!-- end NAME -->``.

    A part whose results are not there is left as it is. With ``check`` nothing is written, and the
    program ends where a part differs.
    """
    text = document.read_text(encoding="utf-8")
    written = renew(text, parts, end)
    if not check:
        document.write_text(written, encoding="utf-8")
    elif written != text:
        raise SystemExit(f"{document.name} differs from the results")


def renew(text: str, parts: Parts, end: str = "end ") -> str:
    """``text`` with its parts made anew."""
    for name, make in parts.items():
        place = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- {end}{name} -->)", re.DOTALL)
        if not place.search(text):
            raise SystemExit(f"there is no place for {name!r}")
        try:
            made = make()
        except FileNotFoundError as error:
            print(f"{name}: {error.filename} is not there yet")
            continue
        text = place.sub(lambda _, made=made: made, text)  # type: ignore[misc]
    return text


def ask_check(doc: str | None) -> bool:
    """Whether the command line asks for a check alone."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    return parser.parse_args().check
