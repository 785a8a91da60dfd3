"""``ssme metrics``: which metrics there are and what each computes."""

from __future__ import annotations

from ssme.cli.options import OutputOptions
from ssme.cli.output import Output, format_json
from ssme.cli.program import register_command
from ssme.writing import format_csv


@register_command("Look up")
def metrics(out: OutputOptions) -> None:
    """List the metrics with their exact definitions.

    Example:

    [cyan]ssme metrics --json -[/cyan]
    """
    from ssme.metrics import get_metric, metric_names
    from ssme.show.terminal import make_table

    output = Output(out)
    found = [get_metric(name) for name in metric_names()]
    facts = [
        {
            "name": metric.name,
            "title": metric.title,
            "binary": metric.binary,
            "multiclass": metric.multiclass,
            "better": metric.direction,
            "definition": metric.definition,
        }
        for metric in found
    ]
    output.write(out.json, format_json(facts))
    output.write(out.csv, format_csv(facts))
    table = make_table(None, "metric", "classes", "better", "definition")
    for metric, fact in zip(found, facts, strict=True):
        classes = "any" if metric.binary and metric.multiclass else "2" if metric.binary else "> 2"
        better = {True: "higher", False: "lower", None: "-"}[metric.greater_is_better]
        table.add_row(metric.name, classes, better, str(fact["definition"]))
    output.console.print(table)
    output.console.print(
        "\nprecision, recall and f1 of one class: --metrics recall[spam]; of every class: "
        "--metrics per_class.",
        markup=False,
    )
    output.console.print(
        "Decision metrics take a threshold: --metrics accuracy@0.3, or --threshold for all.",
        markup=False,
    )
