"""Tables of the documentation that are written from a registry, and how they are renewed."""

from __future__ import annotations

import os
import re

from tests.shared_data import ROOT


def check_table(page: str, marker: str, lines: list[str]) -> None:
    """Fail where ``docs/page`` has other lines between the comments ``marker`` and ``/marker``.

    With SSME_WRITE_DOCS=1 in the environment, the lines are written there first.
    """
    path = ROOT / "docs" / page
    text = path.read_text(encoding="utf-8")
    table = "\n".join(lines) + "\n"
    between = re.compile(rf"(?<=<!-- {marker} -->\n).*?(?=<!-- /{marker} -->)", re.DOTALL)
    if os.environ.get("SSME_WRITE_DOCS"):
        text = between.sub(lambda _: table, text)
        path.write_text(text, encoding="utf-8")
    found = between.search(text)
    assert found is not None
    assert found.group() == table
