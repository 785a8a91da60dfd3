"""The table of docs/metrics.md is the registry, and its examples run.

After a change of the registry: SSME_WRITE_DOCS=1 pytest tests/metrics/test_docs.py
"""

from __future__ import annotations

import os
import re

from tests.shared_data import ROOT

from ssme.metrics import get_metric, metric_names

PAGE = ROOT / "docs" / "metrics.md"
TABLE = re.compile(r"(?<=<!-- metrics -->\n).*?(?=<!-- end metrics -->)", re.DOTALL)


def table() -> str:
    lines = ["| name | classes | better | range | definition |", "|---|---|---|---|---|"]
    for name in metric_names():
        metric = get_metric(name)
        classes = "any" if metric.multiclass else "2"
        better = {True: "higher", False: "lower", None: "neither"}[metric.greater_is_better]
        definition = metric.definition.replace("|", r"\|")
        span = f"{metric.low:g} to {metric.high:g}"
        lines.append(f"| `{name}` | {classes} | {better} | {span} | {definition} |")
    return "\n".join(lines) + "\n"


def test_the_table_is_the_registry() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("SSME_WRITE_DOCS"):
        text = TABLE.sub(lambda _: table(), text)
        PAGE.write_text(text, encoding="utf-8")
    found = TABLE.search(text)
    assert found is not None
    assert found.group() == table()


def test_the_examples_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 5
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), {})
