"""``ssme methods``: what each method declares about itself."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

import typer

from ssme.cli.options import OutputOptions
from ssme.cli.output import Output, csv_text, json_text
from ssme.cli.program import command

__all__ = ["methods"]


@command("Look up")
def methods(
    out: OutputOptions,
    name: Annotated[
        str | None, typer.Argument(help="One method: show its options.", show_default=False)
    ] = None,
) -> None:
    """List the methods: what they need, what they give, where they come from.

    Examples:

    [cyan]ssme methods[/cyan]

    [cyan]ssme methods ssme[/cyan]
    """
    from ssme.cli.tables import plain_table
    from ssme.methods.registry import method_class, method_names

    output = Output(out)
    names = method_names() if name is None else (name,)
    facts = [_facts(method_class(each)) for each in names]
    output.write(out.json, json_text(facts if name is None else facts[0]))
    flat = [{k: v for k, v in fact.items() if k != "options"} for fact in facts]
    output.write(out.csv, csv_text([{**row, "metrics": _metrics(row)} for row in flat]))
    if name is not None:
        _show_one(output, facts[0])
        return
    columns = ("method", "classes", "labels", "interval", "posterior", "groups", "metrics")
    table = plain_table(None, *columns)
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
            _metrics(fact),
        )
    output.console.print(table)
    output.console.print()
    for fact in facts:
        output.console.print(f"{fact['name']}: {fact['title']}. {fact['source']}", markup=False)
    output.console.print("\n`ssme methods NAME` shows a method's options.", markup=False)


def _facts(cls: Any) -> dict[str, Any]:
    options = {f.name: _default(f) for f in dataclasses.fields(cls) if f.init}
    return {**dataclasses.asdict(cls.spec), "options": options}


def _default(field: dataclasses.Field[Any]) -> Any:
    value = field.default
    if value is dataclasses.MISSING and field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def _metrics(fact: dict[str, Any]) -> str:
    return "any" if fact["metrics"] is None else ", ".join(fact["metrics"])


def _show_one(output: Output, fact: dict[str, Any]) -> None:
    from ssme.cli.tables import plain_table

    table = plain_table(f"{fact['name']}: {fact['title']}", "option", "default")
    for option, default in fact["options"].items():
        table.add_row(option, str(default))
    output.console.print(table)
    output.console.print(f"Source: {fact['source']}", markup=False)
    output.console.print(
        f"Set one with --option {next(iter(fact['options']), 'key')}=VALUE", markup=False
    )
