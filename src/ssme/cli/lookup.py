"""What there is: ``ssme metrics``, ``ssme methods`` and ``ssme explain``."""

from __future__ import annotations

import dataclasses
import json
import re
from dataclasses import dataclass
from typing import Any

from ssme.cli.options import TABLES
from ssme.cli.output import Output
from ssme.cli.program import register_command
from ssme.options import Declared, Text, list_declared, optional

CLASSES = {(True, True): "any", (True, False): "2", (False, True): "> 2"}
"""By whether there is a binary and a multiclass form."""


@register_command("Look up", writes=TABLES)
def metrics(output: Output) -> None:
    """List the metrics with their exact definitions.

    Examples:

    [cyan]ssme metrics[/cyan]
    [cyan]ssme metrics --json -[/cyan]
    [cyan]ssme metrics --csv metrics.csv[/cyan]
    """
    from ssme.metrics import get_metric, metric_names

    found = [get_metric(name) for name in metric_names()]
    keys = ("name", "title", "binary", "multiclass", "direction", "definition")
    facts = [{key: getattr(metric, key) for key in keys} for metric in found]
    output.save([{"better" if k == "direction" else k: v for k, v in f.items()} for f in facts])
    better = {True: "higher", False: "lower", None: "-"}
    rows = [
        (
            metric.name,
            CLASSES[metric.binary, metric.multiclass],
            better[metric.greater_is_better],
            metric.definition,
        )
        for metric in found
    ]
    output.list(("metric", "classes", "better", "definition"), rows)
    output.say(
        "\nprecision, recall and f1 of one class: --metrics recall[spam]; of every class: "
        "--metrics per_class.",
        "Decision metrics take a threshold: --metrics accuracy@0.3, or --threshold for all.",
    )


@dataclass(frozen=True)
class MethodsOptions(Declared):
    """What `ssme methods` is asked."""

    name: str | None = optional(
        "Name of a method whose options are shown.", Text(), usual="nothing", positional="NAME"
    )


@register_command("Look up", asks=MethodsOptions, writes=TABLES)
def methods(output: Output, asked: MethodsOptions) -> None:
    """List the methods with what they need, what they estimate and where they were published.

    Examples:

    [cyan]ssme methods[/cyan]
    [cyan]ssme methods auto[/cyan]
    [cyan]ssme methods --csv methods.csv[/cyan]
    """
    from ssme.methods.registry import find_method_class, method_names

    name = asked.name
    names = method_names() if name is None else (name,)
    facts = [_list_facts(find_method_class(each)) for each in names]
    flat = [{k: v for k, v in fact.items() if k != "options"} for fact in facts]
    output.save(
        facts if name is None else facts[0],
        [{**row, "metrics": _name_metrics(row)} for row in flat],
    )
    if name is not None:
        _show_method(output, facts[0])
        return
    columns = ("method", "classes", "labels", "interval", "posterior", "groups", "metrics")
    rows = [
        (
            fact["name"],
            CLASSES[fact["binary"], fact["multiclass"]],
            "needed" if fact["needs_labels"] else "optional",
            *(
                "yes" if fact[key] else "-"
                for key in ("gives_intervals", "gives_posterior", "groups")
            ),
            _name_metrics(fact),
        )
        for fact in facts
    ]
    output.list(columns, rows)
    output.say(
        "",
        *(f"{fact['name']}: {fact['title']}; source: {fact['source']}" for fact in facts),
        "\n`ssme methods NAME` shows what a method does and assumes, and its options.",
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


def _show_method(output: Output, fact: dict[str, Any]) -> None:
    output.say(f"{fact['name']}: {fact['title']}", f"Source: {fact['source']}\n")
    sentences = " ".join(fact[key] for key in ("does", "assumes", "fails") if fact[key])
    if sentences:
        output.say(f"{sentences}\n")
    options = fact["options"]
    if not options:
        output.say("It has no options.")
        return
    rows = [
        (
            name,
            "from Python only" if of["python_only"] else json.dumps(of["default"]),
            of["allowed"],
            of["meaning"],
        )
        for name, of in options.items()
    ]
    output.list(("option", "default", "allowed", "meaning"), rows)
    first = next((name for name, of in options.items() if not of["python_only"]), None)
    if first is not None:
        output.say(f"\nSet one with --options {first}=VALUE")


@dataclass(frozen=True)
class ExplainOptions(Declared):
    """What `ssme explain` is asked."""

    code: str | None = optional(
        "Code of a warning to explain, such as D104.", Text(), usual="nothing", positional="CODE"
    )


@register_command("Look up", asks=ExplainOptions, writes=TABLES)
def explain(output: Output, asked: ExplainOptions) -> None:
    """List the warnings that an evaluation may raise, or explain one.

    Examples:

    [cyan]ssme explain[/cyan]
    [cyan]ssme explain D104[/cyan]
    [cyan]ssme explain --json warnings.json[/cyan]
    """
    from rich.markdown import Markdown
    from rich.text import Text

    from ssme.diagnostics import explain as read_page
    from ssme.diagnostics.page import read_sections

    code = asked.code
    explained = None if code is None else read_page(code)
    facts = [
        {
            "code": key,
            "title": section.title,
            "severity": section.severity,
            "advice": section.advice,
            "explanation": section.text,
        }
        for key, section in sorted(read_sections().items())
        if code is None or key == code.upper()
    ]
    output.save(facts if code is None else facts[0], facts)
    if explained is not None:
        output.console.print(Text(f"{facts[0]['code']} {facts[0]['title']}\n", style="bold"))
        plain = re.sub(r"\[([^\]]+)\]\([^)]*#d\d+\)", r"\1", explained)  # links to warnings
        output.console.print(Markdown(plain, hyperlinks=False))
        output.say(f"\nWhat to do: {facts[0]['advice']}")
        return
    rows = [(each["code"], each["severity"], each["title"]) for each in facts]
    output.list(("code", "severity", "warning"), rows)
    output.say("\n`ssme explain CODE` explains one.")
