"""Every doubt is explained, in the terminal and inside the report."""

from __future__ import annotations

import re

import pytest

import ssme
from ssme.diagnostics import CHECKS, explain
from ssme.diagnostics.explanations import explanations
from ssme.report import report_html


def test_every_check_is_explained_and_no_other() -> None:
    assert list(explanations()) == sorted(check.code for check in CHECKS)
    assert min(len(text) for text in explanations().values()) > 60


def test_a_section_ends_where_the_next_begins() -> None:
    text = explain("d106")
    assert "no score on more than 20 %" in text
    assert "##" not in text
    assert "<a " not in text


def test_an_unknown_code_is_told_with_those_that_exist() -> None:
    with pytest.raises(ssme.InputError, match=r"no doubt 'D999'.*Allowed: D101, D102"):
        explain("D999")


def test_links_of_doubts_lead_within_the_report() -> None:
    scores = [[0.9, 0.8], [0.8, 0.9], [0.3, 0.1], [0.2, 0.4]]
    result = ssme.evaluate(scores, [1, None, 0, None], method="ensemble")
    page = report_html(result)
    assert result.doubts
    for doubt in result.doubts:
        assert f'href="#explained-{doubt.code.lower()}"' in page
    anchors = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= anchors
    assert "docs/" not in page
