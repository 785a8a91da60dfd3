"""One document: what is added to it in one place is in every output."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console
from tests.made_sets import HOSTILE, binary_set, hostile_set

import ssme
from ssme.serve.pages import render_fragment
from ssme.show import document as documents
from ssme.show.document import Document, build_document
from ssme.show.html import render_html
from ssme.show.sections import Column, Section
from ssme.show.terminal import print_document, render_text
from ssme.show.text import render_markdown, render_notebook


def draw_everywhere(document: Document) -> dict[str, str]:
    facts = json.dumps(document.to_dict())
    return {
        "terminal": render_text(document),
        "notebook": render_notebook(document),
        "html": render_html(document),
        "markdown": render_markdown(document),
        "json": facts,
        "page": render_fragment("sections.html", sections=json.loads(facts)["sections"]),
    }


@pytest.fixture(scope="module")
def result() -> ssme.Evaluation:
    return ssme.evaluate(binary_set(), method="ensemble", metrics=["accuracy", "ece"], n_draws=50)


def test_a_new_column_is_in_every_output(
    result: ssme.Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, doubled = (
        documents.list_estimate_columns,
        documents.Shown("repeated", "estimate", "number"),
    )
    monkeypatch.setattr(documents, "list_estimate_columns", lambda level: (*usual(level), doubled))
    for report in (True, False):
        for output, text in draw_everywhere(build_document(result, report=report)).items():
            assert "repeated" in text, output
            shown = next(result.rows())["estimate"]
            number = f"{shown}" if output == "json" else f"{shown:.3f}"
            assert text.count(number) >= 2, output


def test_a_new_section_is_in_every_output(result: ssme.Evaluation) -> None:
    inside = Section("inside", "Inside it", code="x = 1")
    section = Section(
        "extra",
        "Something new",
        ("A sentence.",),
        (Column("what", ["this"]), Column("rate", [(0.25, 0.125, 0.5)], "value")),
        more="3 more rows",
        parts=(inside,),
    )
    for output, text in draw_everywhere(build_document(result, further=[section])).items():
        for words in ("Something new", "A sentence.", "this", "Inside it", "x = 1"):
            assert words in text.replace("\\", ""), (output, words)
        if output != "json":
            assert "0.250 [0.125, 0.500]" in text.replace("\\", ""), output


def test_tables_at_the_usual_threshold_say_so(result: ssme.Evaluation) -> None:
    asked = result.ask(threshold_for="f1")
    for report in (True, False):
        for output, text in draw_everywhere(build_document(asked, report=report)).items():
            assert "threshold 0.5, not the thresholds above" in text, output
    assert asked.decision is not None
    assert asked.decision.describe_threshold() == f" at threshold {asked.decision.threshold:.3f}"


def test_a_report_names_the_file_and_the_date(result: ssme.Evaluation) -> None:
    named = replace(result, settings={**result.settings, "config": {"source": "in/scores.csv"}})
    document = build_document(named, date=datetime(2026, 5, 4, tzinfo=UTC))
    assert document.head[-1] == "scores.csv, 2026-05-04"


def test_spare_columns_and_names_make_room_in_a_terminal() -> None:
    names = ["a very long name of a model that goes on " + str(j) for j in range(3)]
    table = (
        Column("model", names),
        Column("estimate", [0.5] * 3, "number"),
        *(Column(f"interval {j}", [(0.1, 0.2)] * 3, "span", spare=j == 1) for j in range(4)),
    )
    document = Document("", (), (), (Section("x", "X", table=table),))
    shown = {}
    for width in (80, 200):
        text = io.StringIO()
        print_document(Console(file=text, width=width, color_system=None), document)
        shown[width] = text.getvalue()
        assert max(map(len, shown[width].splitlines())) <= width
        assert shown[width].count("0.500") == 3
    assert "interval 1" in shown[200]
    assert "interval 1" not in shown[80]
    assert len({line.split("  ")[0] for line in shown[80].splitlines() if "0.500" in line}) == 3


def test_a_notebook_shows_text_and_cuts_long_tables() -> None:
    hostile = ssme.evaluate(hostile_set(), method="ensemble", metrics="accuracy", n_draws=20)
    html = hostile._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert HOSTILE[-1] not in html
    many = binary_set(tuple(f"m{j}" for j in range(40)), n=60)
    shown = ssme.evaluate(many, method="ensemble", metrics="accuracy", n_draws=5)
    assert "10 more models in .frame()" in shown._repr_html_()
    assert "20 more models in .frame()" in repr(shown)


def test_a_metric_without_direction_has_no_probability_of_being_best(
    result: ssme.Evaluation,
) -> None:
    metrics = tuple(replace(metric, greater_is_better=None) for metric in result.metrics)
    document = build_document(replace(result, metrics=metrics))
    assert all("P(best)" not in text for text in draw_everywhere(document).values())
