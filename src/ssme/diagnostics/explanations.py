"""What each doubt means: the sections of docs/doubts.md, which travel with the package.

A section begins with the anchor of its code and ends where the next one, or a heading of higher
rank, begins. The terminal (``ssme doubts``), the report and the site all show this one text.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from ssme.errors import InputError
from ssme.wording import did_you_mean

__all__ = ["explain", "explanations"]

PAGE = "doubts.md"
SECTION = re.compile(
    r'^<a id="(d\d+)"></a>\n### [^\n]*\n(.*?)(?=^<a id=|^## |\Z)', re.MULTILINE | re.DOTALL
)


def explain(code: str) -> str:
    """What the doubt with a code means, how it is found and what it is not.

    Parameters
    ----------
    code : str
        Code of a doubt, such as ``"D104"``.

    Returns
    -------
    str
        A few paragraphs of Markdown.

    Examples
    --------
    >>> from ssme.diagnostics import explain
    >>> explain("D103").splitlines()[0]
    '**Info.** Every row is labeled; there is nothing to infer, and `labeled` is the method to use.'
    """
    known = explanations()
    if code.upper() not in known:
        raise InputError(
            f"there is no doubt {code!r}",
            allowed=", ".join(known),
            fix=did_you_mean(code.upper(), known) or "run `ssme doubts` for the list",
        )
    return known[code.upper()]


@cache
def explanations() -> dict[str, str]:
    """Every explanation by its code."""
    return {code.upper(): text.strip() for code, text in SECTION.findall(_page())}


def _page() -> str:
    """The page as it lies in an installed package, or beside the sources."""
    packaged = files("ssme.diagnostics") / PAGE
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parents[3] / "docs" / PAGE).read_text(encoding="utf-8")
