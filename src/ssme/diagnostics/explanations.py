"""What each doubt means: the sections of docs/doubts.md, which travel with the package.

A section begins with the anchor of its code and ends where the next one, or a heading of higher
rank, begins. It has a picture, then paragraphs that explain the doubt, and in the last one what to
do, which is the advice of the check. The terminal (``ssme doubts``), the report, the page of
``ssme serve`` and the site all show this one text.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from ssme.errors import InputError
from ssme.wording import suggest_nearest

__all__ = ["WHAT_TO_DO", "explain", "explain_plainly", "read_explanations", "read_picture"]

PAGE = "doubts.md"
PICTURES = "pictures"
WHAT_TO_DO = "**What to do.**"
"""How the paragraph of a section begins that repeats the advice of the check."""
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
    known = read_explanations()
    if code.upper() not in known:
        raise InputError(
            f"there is no doubt {code!r}",
            allowed=", ".join(known),
            fix=suggest_nearest(code.upper(), known) or "run `ssme doubts` for the list",
        )
    return known[code.upper()]


@cache
def read_explanations() -> dict[str, str]:
    """Every explanation by its code, without picture and advice."""
    return {code.upper(): _take_text(text) for code, text in SECTION.findall(_read_page())}


def explain_plainly(code: str) -> list[str]:
    """The paragraphs of an explanation without Markdown's marks; none for an unknown code.

    Parameters
    ----------
    code : str
        Code of a doubt, such as ``"D104"``.

    Examples
    --------
    >>> from ssme.diagnostics.explanations import explain_plainly
    >>> explain_plainly("D303")[0].startswith("Warning. An iterative fit")
    True
    """
    found = read_explanations().get(code.upper(), "")
    told = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found).replace("**", "")
    return [" ".join(paragraph.split()) for paragraph in told.split("\n\n") if paragraph]


@cache
def read_picture(code: str) -> str:
    """The picture of a doubt as the text of an SVG element, empty where there is none.

    Parameters
    ----------
    code : str
        Code of a doubt, such as ``"D104"``.

    Examples
    --------
    >>> from ssme.diagnostics.explanations import read_picture
    >>> read_picture("D104").startswith("<svg ")
    True
    """
    file = _find_folder() / f"{code.lower()}.svg"
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""


def _take_text(section: str) -> str:
    paragraphs = re.sub(r"\s?<!--.*?-->", "", section).strip().split("\n\n")
    return "\n\n".join(p for p in paragraphs if not p.startswith(("![", WHAT_TO_DO)))


def _find_folder() -> Traversable:
    packaged = files("ssme.diagnostics") / PICTURES
    return packaged if packaged.is_dir() else _find_docs() / "images" / "doubts"


def _read_page() -> str:
    """The page as it lies in an installed package, or beside the sources."""
    packaged = files("ssme.diagnostics") / PAGE
    return (packaged if packaged.is_file() else _find_docs() / PAGE).read_text(encoding="utf-8")


def _find_docs() -> Path:
    return Path(__file__).parents[3] / "docs"
