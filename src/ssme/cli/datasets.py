"""``ssme datasets``: data sets by name, where they come from, how to get them."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from ssme.cli.options import OutputOptions
from ssme.cli.output import Output, format_csv, format_json
from ssme.cli.program import register_command
from ssme.errors import name_argument

__all__ = ["datasets"]


@register_command("Look up")
def datasets(
    out: OutputOptions,
    fetch: Annotated[
        str | None,
        typer.Option(
            "--fetch", help="Download this set, one of the paper's own, into the folder SSME_DATA."
        ),
    ] = None,
) -> None:
    """List the data sets of the benchmark.

    Each is listed with its source, its licence, how to get it and whether it is on this machine.

    Examples:

    [cyan]ssme datasets[/cyan]

    [cyan]SSME_DATA=~/ssme-data ssme datasets --fetch civilcomments[/cyan]
    """
    from ssme.cli.tables import make_table
    from ssme.datasets.registry import DATASETS, data_folder

    output = Output(out)
    if fetch is not None:
        from ssme.datasets.fetch import fetch_dataset

        with output.show_progress(f"fetching {fetch}"), name_argument("fetch"):
            path = fetch_dataset(fetch)
        output.console.print(f"Wrote {path}", markup=False)
        return
    facts = [
        {
            **dataclasses.asdict(entry),
            "here": _say_if_there(entry.kind, data_folder() / f"{name}.npz"),
        }
        for name, entry in DATASETS.items()
    ]
    output.write(out.json, format_json(facts))
    output.write(out.csv, format_csv(facts))
    table = make_table(f"Data sets ({data_folder()})", "name", "what", "here", "in the paper as")
    for fact in facts:
        table.add_row(fact["name"], fact["title"], fact["here"], fact["in_paper"] or "-")
    output.console.print(table)
    for fact in facts:
        output.console.print(
            f"{fact['name']}: {fact['source']}. Licence: {fact['licence']}. Get it: "
            f"{fact['obtain'].replace('NAME', str(fact['name']))}.",
            markup=False,
        )


def _say_if_there(kind: str, path: object) -> str:
    from pathlib import Path

    if kind == "own":
        return "your file"
    if kind == "made":
        return "made"
    return "yes" if Path(str(path)).exists() else "no"
