"""``ssme methods``: what each method declares about itself."""

from __future__ import annotations

import dataclasses
import json
from typing import Annotated, Any

import typer

from ssme.cli.options import OutputOptions
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.options import list_declared
from ssme.writing import format_csv


@register_command("Look up")
def methods(
    out: OutputOptions,
    name: Annotated[
        str | None,
        typer.Argument(help="Name of a method whose options are shown.", show_default=False),
    ] = None,
) -> None:
    """List the methods with what they need, what they estimate and where they were published.

    Examples:

    [cyan]ssme methods[/cyan]

    [cyan]ssme methods ssme[/cyan]
    """
    from ssme.methods.registry import find_method_class, method_names
    from ssme.show.terminal import make_table

    output = Output(out)
    names = method_names() if name is None else (name,)
    facts = [_list_facts(find_method_class(each)) for each in names]
    output.write(out.json, format_json(facts if name is None else facts[0]))
    flat = [{k: v for k, v in fact.items() if k != "options"} for fact in facts]
    output.write(out.csv, format_csv([{**row, "metrics": _name_metrics(row)} for row in flat]))
    if name is not None:
        _show_one(output, facts[0])
        return
    columns = ("method", "classes", "labels", "interval", "posterior", "groups", "metrics")
    table = make_table(None, *columns)
    for fact in facts:
        table.add_row(
            fact["name"],
            {(True, True): "any", (True, False): "2", (False, True): "> 2"}[
                fact["binary"], fact["multiclass"]
            ],
            "needed" if fact["needs_labels"] else "optional",
            *(
                "yes" if fact[key] else "-"
                for key in ("gives_intervals", "gives_posterior", "groups")
            ),
            _name_metrics(fact),
        )
    output.console.print(table)
    output.console.print()
    for fact in facts:
        output.console.print(
            f"{fact['name']}: {fact['title']}; source: {fact['source']}", markup=False
        )
    output.console.print(
        "\n`ssme methods NAME` shows what a method does and assumes, and its options.", markup=False
    )


def _list_facts(cls: Any) -> dict[str, Any]:
    options = {
        each.name: {
            "default": None if each.python_only else each.default,
            "allowed": each.kind.describe(),
            "meaning": each.meaning,
            "python_only": each.python_only,
        }
        for each in list_declared(cls)
    }
    return {**dataclasses.asdict(cls.spec), "options": options}


def _name_metrics(fact: dict[str, Any]) -> str:
    return "any" if fact["metrics"] is None else ", ".join(fact["metrics"])


def _show_one(output: Output, fact: dict[str, Any]) -> None:
    from ssme.show.terminal import make_table

    output.console.print(f"{fact['name']}: {fact['title']}", markup=False)
    output.console.print(f"Source: {fact['source']}\n", markup=False)
    sentences = " ".join(fact[key] for key in ("does", "assumes", "fails") if fact[key])
    if sentences:
        output.console.print(f"{sentences}\n", markup=False)
    options = fact["options"]
    if not options:
        output.console.print("It has no options.", markup=False)
        return
    table = make_table(None, "option", "default", "allowed", "meaning")
    for name, of in options.items():
        default = "from Python only" if of["python_only"] else json.dumps(of["default"])
        table.add_row(name, default, of["allowed"], of["meaning"])
    output.console.print(table)
    first = next((name for name, of in options.items() if not of["python_only"]), None)
    if first is not None:
        output.console.print(f"\nSet one with --options {first}=VALUE", markup=False)
