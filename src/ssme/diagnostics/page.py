"""What each warning means and what to do: the sections of docs/warnings-*.md in the package.

A section begins with the anchor of its code and ends where the next one begins:

    <a id="d105"></a>
    ## D105 A few rows hold most of the weight
    ![...](images/warnings/d105.svg)
    **Warning.** ... paragraphs that explain it ...
    **What to do.** ...

The terminal (``ssme explain``), the report, the page of ``ssme serve`` and the site show this text.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple, cast

from ssme.errors import InputError
from ssme.wording import suggest_nearest

PAGES = "warnings-*.md"
PICTURES = "pictures"
DOCS = Path(__file__).parents[3] / "docs"
"""Where pages and pictures are in a checkout; an installed package has its own copies."""
WHAT_TO_DO = "**What to do.**"

Severity = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")
"""Worst first."""


class Section(NamedTuple):
    """The section of one warning on a page; ``text`` is Markdown without picture and advice."""

    title: str
    severity: Severity
    text: str
    advice: str
    page: str


def explain(code: str) -> str:
    """What the warning with a code means, how it is found and what it is not.

    Parameters
    ----------
    code : str
        Code of a warning, such as ``"D104"``.

    Returns
    -------
    str
        A few paragraphs of Markdown.

    Examples
    --------
    >>> from ssme.diagnostics import explain
    >>> explain("D101").splitlines()[0][:31]
    '**Serious.** No row has a label'
    """
    known = read_sections()
    if code.upper() not in known:
        raise InputError(
            f"there is no warning {code!r}",
            hint=f"{suggest_nearest(code.upper(), known)}choose one of {', '.join(known)}",
        )
    return known[code.upper()].text


@cache
def read_sections() -> dict[str, Section]:
    """Every section by its code."""
    packaged = Path(str(files("ssme.diagnostics")))
    found = [
        _read_section(page.name, part)
        for page in [*packaged.glob(PAGES)] or DOCS.glob(PAGES)
        for part in page.read_text(encoding="utf-8").split('\n<a id="d')[1:]
    ]
    return dict(sorted(found))


def _read_section(page: str, part: str) -> tuple[str, Section]:
    """The code and the section of a part of the page that begins within its anchor."""
    _, heading, content = part.split("\n", 2)
    code, _, title = heading.removeprefix("## ").partition(" ")
    paragraphs = re.sub(r" ?<!--.*?-->", "", content).strip().split("\n\n")
    text = "\n\n".join(each for each in paragraphs if not each.startswith(("![", WHAT_TO_DO)))
    (advice,) = (each for each in paragraphs if each.startswith(WHAT_TO_DO))
    severity = cast(Severity, text.removeprefix("**").partition(".")[0].partition(";")[0].lower())
    advice = " ".join(advice.removeprefix(WHAT_TO_DO).split())
    return code, Section(title, severity, text, advice, page)


def explain_plainly(code: str) -> list[str]:
    """The paragraphs of an explanation without Markdown's marks; none for an unknown code."""
    section = read_sections().get(code.upper())
    if section is None:
        return []
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", section.text).replace("**", "")
    return [" ".join(paragraph.split()) for paragraph in plain.split("\n\n")]


@cache
def read_picture(code: str) -> str:
    """The picture of a warning as the text of an SVG element, empty if it does not exist."""
    packaged = files("ssme.diagnostics") / PICTURES
    folder = packaged if packaged.is_dir() else DOCS / "images" / "warnings"
    file = folder / f"{code.lower()}.svg"
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
