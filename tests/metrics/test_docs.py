"""The table of docs/metrics.md is the registry.

After a change of the registry: SSME_WRITE_DOCS=1 pytest tests/metrics/test_docs.py
"""

from __future__ import annotations

from tests.registered_tables import check_table

from ssme.metrics import get_metric, metric_names


def table() -> list[str]:
    lines = ["| name | classes | better | range | definition |", "|---|---|---|---|---|"]
    for name in metric_names():
        metric = get_metric(name)
        classes = "any" if metric.multiclass else "2"
        better = {True: "higher", False: "lower", None: "neither"}[metric.greater_is_better]
        definition = metric.definition.replace("|", r"\|")
        span = f"{metric.low:g} to {metric.high:g}"
        lines.append(f"| `{name}` | {classes} | {better} | {span} | {definition} |")
    return lines


def test_the_table_is_the_registry() -> None:
    check_table("metrics.md", "metrics", table())
