"""Links that work on a code host work on the site too.

Pages link by path to files outside ``docs/``, such as ``../CONTRIBUTING.md``. Those in ``PAGES``
are copied into ``docs/generated`` when a build begins, so that they are pages of the site, and
links to them lead there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
GENERATED = TOP / "docs" / "generated"
PAGES = (
    {
        TOP / "benchmarks" / "REPORT.md": GENERATED / "benchmarks.md",
        TOP / "CONTRIBUTING.md": GENERATED / "contributing.md",
        TOP / "CHANGELOG.md": GENERATED / "changelog.md",
        TOP / "README.md": TOP / "docs" / "index.md",
    }
    | {
        page: GENERATED / f"evidence-{page.stem}.md"
        for page in (TOP / "benchmarks" / "evidence").glob("*.md")
    }
    | {
        script: TOP / "docs" / "learn" / f"{script.stem}.rst"
        for script in (TOP / "docs" / "tutorials").glob("*.py")
    }
)
"""Files that are no pages, and the pages of the site that replace them."""

ENTRY = re.compile(r"^(?:[\w ]+ <)?([\w/-]+)>?$", re.MULTILINE)
LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)\s#]+)")


def move_links(text: str, came_from: Path, goes_to: Path) -> str:
    """``text`` of the file ``came_from`` with links as they must be in the file ``goes_to``.

    Examples
    --------
    >>> move_links("[how](CONTRIBUTING.md#tests)", TOP / "README.md", TOP / "docs" / "index.md")
    '[how](generated/contributing.md#tests)'
    """

    def rewrite_one(found: re.Match[str]) -> str:
        target = (came_from.parent / found[1]).resolve()
        return os.path.relpath(PAGES.get(target, target), goes_to.parent)

    return LINK.sub(rewrite_one, text)


def name_anchors(text: str, page: Path) -> str:
    """``text`` with the anchors and links of ``page`` as Sphinx takes them.

    An anchor ``<a id="d104"></a>`` becomes a target, and a link to it names the target alone.
    """

    def rewrite_one(found: re.Match[str]) -> str:
        target = page.parent / found[1]
        own = f'<a id="{found[2]}"></a>'
        return f"](#{found[2]})" if own in target.read_text(encoding="utf-8") else found[0]

    text = re.sub(r"\]\(([\w/.-]+\.md)#([\w-]+)\)", rewrite_one, text)
    return re.sub(r'^<a id="([\w-]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)


def write_pages(app: Any) -> None:
    """Copy the files of ``PAGES`` that have no page."""
    GENERATED.mkdir(exist_ok=True)
    for source, page in PAGES.items():
        if page.parent == GENERATED:
            page.write_text(move_links(source.read_text(encoding="utf-8"), source, page), "utf-8")


def rewrite(app: Any, name: str, source: list[str]) -> None:
    """Lead the links of a page to the pages of the site."""
    page = Path(app.env.doc2path(name))
    if page.suffix == ".md":
        source[0] = name_anchors(move_links(source[0], page, page), page)
    if name == app.config.root_doc:
        texts = {each.stem: each.read_text(encoding="utf-8") for each in page.parent.glob("*.md")}
        placed = {entry for text in texts.values() for entry in ENTRY.findall(text)}
        source[0] += list_contents(sorted(texts.keys() - placed - {name}))


def list_contents(pages: list[str]) -> str:
    """Contents of the pages that nobody has put anywhere else yet."""
    if not pages:
        return ""
    return "\n".join(["", "```{toctree}", ":hidden:", ":caption: More", "", *pages, "```", ""])


def setup(app: Any) -> dict[str, bool]:
    """Write the pages first, then look at each page that is read."""
    app.connect("builder-inited", write_pages)
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
