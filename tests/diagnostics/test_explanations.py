"""Every warning is explained, in the terminal and inside the report."""

from __future__ import annotations

import re

import pytest

import ssme
from ssme.diagnostics import CHECKS, explain
from ssme.diagnostics.page import (
    DOCS,
    SEVERITIES,
    WHAT_TO_DO,
    explain_plainly,
    read_picture,
    read_sections,
)
from ssme.show.report import render_report


def test_every_check_has_a_section_and_no_other_code_has_one() -> None:
    assert list(read_sections()) == [check.code for check in CHECKS]
    for code, (title, severity, text, advice, _) in read_sections().items():
        assert title
        assert severity in SEVERITIES, code
        assert min(len(text), len(advice)) > 30


def test_the_first_page_lists_every_warning() -> None:
    page = (DOCS / "warnings.md").read_text(encoding="utf-8")
    for code, section in read_sections().items():
        link = f"[{code}]({section.page}#{code.lower()})"
        assert f"| {link} | {section.title} | {section.severity} |" in page


def test_pictures_need_no_style_and_have_words() -> None:
    for check in CHECKS:
        picture = read_picture(check.code)
        assert re.match(r'<svg [^>]*role="img" aria-label="[^"]{20,}"', picture), check.code
        assert "style" not in picture
        assert "<script" not in picture
    assert read_picture("D999") == ""


def test_a_section_ends_where_the_next_begins() -> None:
    text = explain("d106")
    assert "no score on more than 20%" in text
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
    with pytest.raises(ssme.InputError, match=r"no warning 'D999'.*D101, D102"):
        explain("D999")


def test_links_of_warnings_lead_within_the_report() -> None:
    scores = [[0.9, 0.8], [0.8, 0.9], [0.3, 0.1], [0.2, 0.4]]
    result = ssme.evaluate(scores, [1, None, 0, None], method="ensemble")
    page = render_report(result)
    assert result.warnings
    for warning in result.warnings:
        assert f'id="explained-{warning.code.lower()}"' in page
        assert read_picture(warning.code) in page
    anchors = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= anchors
    assert "docs/" not in page
