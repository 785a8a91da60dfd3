"""The table of docs/rivals.md is the registry.

After a change of the registry: SSME_WRITE_DOCS=1 pytest tests/methods/test_docs.py
"""

from __future__ import annotations

from tests.registered_tables import check_table

from ssme.methods.registry import find_method_class, method_names


def test_the_table_is_the_registry() -> None:
    lines = [
        "| method | what it does | what it assumes | where it fails |",
        "|---|---|---|---|",
    ]
    for name in method_names():
        spec = find_method_class(name).spec
        lines.append(f"| `{name}` | {spec.does} | {spec.assumes} | {spec.fails} |")
    check_table("rivals.md", "methods", lines)
