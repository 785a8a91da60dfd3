"""Every doubt is explained, in the terminal and inside the report."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import ssme
from ssme.diagnostics import CHECKS, explain
from ssme.diagnostics.registry import (
    WHAT_TO_DO,
    explain_plainly,
    read_explanations,
    read_picture,
)
from ssme.show.report import render_report

PAGE = Path(__file__).parents[2] / "docs" / "doubts.md"
ADVICE = re.compile(rf"^{re.escape(WHAT_TO_DO)}.*?\n\n", re.MULTILINE | re.DOTALL)


def section(text: str, code: str) -> tuple[int, int]:
    """Where the section of a doubt begins and ends in the page."""
    found = re.search(
        rf'^<a id="{code.lower()}"></a>\n.*?(?=^<a id=|^## |\Z)', text, re.MULTILINE | re.DOTALL
    )
    assert found, code
    return found.span()


def test_every_check_is_explained_and_no_other() -> None:
    assert list(read_explanations()) == sorted(check.code for check in CHECKS)
    assert min(len(text) for text in read_explanations().values()) > 60


def test_the_page_has_a_picture_and_the_advice_of_every_check() -> None:
    """SSME_WRITE_DOCS=1 writes the advice into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for check in CHECKS:
        start, end = section(text, check.code)
        part = text[start:end]
        assert f"](images/doubts/{check.code.lower()}.svg)" in part, check.code
        told = f"{WHAT_TO_DO} {check.advice}"
        if os.environ.get("SSME_WRITE_DOCS") and told not in " ".join(part.split()):
            part = ADVICE.sub("", part + "\n").rstrip() + f"\n\n{told}\n\n"
            text = text[:start] + part + text[end:]
        assert told in " ".join(part.split()), check.code
    if os.environ.get("SSME_WRITE_DOCS"):
        PAGE.write_text(text.rstrip() + "\n", encoding="utf-8")


def test_pictures_need_no_style_and_have_words() -> None:
    for check in CHECKS:
        picture = read_picture(check.code)
        assert re.match(r'<svg [^>]*role="img" aria-label="[^"]{20,}"', picture), check.code
        assert "style" not in picture
        assert "<script" not in picture
    assert read_picture("D999") == ""


def test_a_section_ends_where_the_next_begins() -> None:
    text = explain("d106")
    assert "no score on more than 20 %" in text
    assert "##" not in text
    assert "<a " not in text
    assert "![" not in text
    assert WHAT_TO_DO not in text


def test_plain_paragraphs_have_no_marks() -> None:
    for check in CHECKS:
        told = " ".join(explain_plainly(check.code))
        assert told
        assert "**" not in told
        assert "](" not in told
    assert explain_plainly("D999") == []


def test_an_unknown_code_is_told_with_those_that_exist() -> None:
    with pytest.raises(ssme.InputError, match=r"no doubt 'D999'.*D101, D102"):
        explain("D999")


def test_links_of_doubts_lead_within_the_report() -> None:
    scores = [[0.9, 0.8], [0.8, 0.9], [0.3, 0.1], [0.2, 0.4]]
    result = ssme.evaluate(scores, [1, None, 0, None], method="ensemble")
    page = render_report(result)
    assert result.doubts
    for doubt in result.doubts:
        assert f'id="explained-{doubt.code.lower()}"' in page
        assert read_picture(doubt.code) in page
    anchors = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= anchors
    assert "docs/" not in page
