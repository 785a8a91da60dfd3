"""The report: facts, words, and nothing in it that is not ours."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html.parser
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.made_sets import HOSTILE, binary_set, grouped_set, hostile_set, many_class_set

import ssme
from ssme.diagnostics.check import ResultWarning
from ssme.errors import InputError
from ssme.run import rerun
from ssme.show.charts import draw_charts
from ssme.show.document import Document, build_document
from ssme.show.html import render_html
from ssme.show.report import render_report
from ssme.show.sections import Section
from ssme.show.text import render_markdown
from ssme.wording import make_printable

WARNING = ResultWarning(
    "D999", "Few labels", "warning", "Only <3> labels.", "Label more.", "docs/x.md#d999"
)


def evaluate(data: Any, **options: Any) -> ssme.Evaluation:
    return ssme.evaluate(data, method="ensemble", n_draws=50, **options)


def find(document: Document, key: str) -> Section:
    return next(section for section in document.walk() if section.key == key)


class Tags(html.parser.HTMLParser):
    """Tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_five_questions_are_answered_and_json_holds_all() -> None:
    document = build_document(dataclasses.replace(evaluate(grouped_set()), warnings=(WARNING,)))
    facts = document.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    answers = document.answers
    assert len(answers) == 5
    assert answers[0].answer == "forest"
    assert "interval" in answers[1].detail
    assert "effective labels" in answers[1].detail
    assert (answers[4].answer, answers[4].severity) == ("D999", "warning")


def test_one_model_and_no_labels() -> None:
    page = render_report(evaluate(binary_set(("only",), n_labeled=0)))
    assert "the only one that was evaluated" in page
    assert "do not determine it" in page


@pytest.mark.filterwarnings("ignore::ssme.errors.UndefinedMetricWarning")
def test_undefined_metrics_are_dashes() -> None:
    data = grouped_set()
    site = data.groups["site"].copy()
    site[0] = "lonely"
    result = evaluate(data.replace(groups={"site": site}), metrics=["roc_auc", "accuracy"])
    document = build_document(result)
    table = {column.title: column for column in find(document, "group-metric-0").table}
    lonely = [name == "site=lonely" for name in table["group"].cells]
    assert np.isnan(np.array(table["estimate"].cells)[lonely]).all()
    page = render_html(document)
    assert "nan" not in "".join(Tags(page).text).lower().split()
    assert "| -" in render_markdown(document)


def test_page_parts_and_policy() -> None:
    page = render_report(dataclasses.replace(evaluate(grouped_set()), warnings=(WARNING,)))
    found = Tags(page)
    names = [tag for tag, _ in found.tags]
    for landmark in ("header", "main", "nav", "caption", "figure", "h1"):
        assert landmark in names
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    policy = next(a["content"] for t, a in found.tags if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    for tag, attrs in found.tags:
        assert tag not in ("link", "img", "iframe", "object"), tag
        assert "style" not in attrs
        assert not {"src", "onclick", "onload", "onerror"} & attrs.keys()
    assert "Only &lt;3&gt; labels." in page
    assert "<svg" in page


def test_hostile_names_are_inert_and_whole() -> None:
    page = render_report(evaluate(hostile_set(), metrics=["accuracy", "ece"]))
    found = Tags(page)
    assert [t for t, _ in found.tags if t in ("script", "img", "b")] == ["script"]
    titles = {attrs.get("title") for tag, attrs in found.tags if tag == "bdi"}
    assert HOSTILE[-1] in titles
    text = "".join(found.text)
    for name in HOSTILE[:-1]:
        assert make_printable(name) in text
    assert "49" not in re.findall(r"\{\{.*?\}\}|49 \$", text)


def test_markdown_is_inert() -> None:
    document = build_document(evaluate(hostile_set(), metrics="accuracy"))
    text = render_markdown(document)
    assert "<script>" not in text
    assert re.search(r"(?<!\\)\|\*_", text) is None
    tables = [len(section.table[0].cells) for section in document.walk() if section.table]
    assert text.count("\n| ") == sum(1 + size for size in tables)


def test_many_models_and_many_classes() -> None:
    data = binary_set(tuple(f"model-{j}" for j in range(300)), n=60)
    document = build_document(evaluate(data, metrics="accuracy"))
    page = render_html(document, draw_charts(document))
    assert "The best 10 of 300 models; the table has all." in page
    assert len(find(document, "metric-0").table[0].cells) == 300
    page = render_report(evaluate(many_class_set()))
    assert "Confusion matrices" in page
    assert "ROC curves" not in page


def test_without_the_extra_there_are_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = render_report(evaluate(binary_set()))
    assert 'class="chart' not in page
    assert "<table" in page


def test_formats(tmp_path: Path) -> None:
    result = evaluate(binary_set(), metrics="accuracy")
    assert result.report(tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert result.report(tmp_path / "r.md", title="My *own*").read_text().startswith("# My \\*own")
    facts = json.loads(result.report(tmp_path / "r.json").read_text())
    assert facts["settings"]["level"] == 0.95
    with pytest.raises(InputError):
        result.report(tmp_path / "r.doc")


def test_run_it_again_gives_the_same_numbers(tmp_path: Path) -> None:
    """Group columns, reading options and the seed were missing from what a report said."""
    data = grouped_set()
    frame = pd.DataFrame(dict(zip(data.models, data.scores[:, :, 1].T, strict=True)))
    frame["truth"] = np.where(data.labels >= 0, data.labels, -1)
    frame["site"] = data.groups["site"]
    path = tmp_path / "scores.csv"
    frame.to_csv(path, index=False)
    first = ssme.evaluate(
        path,
        "truth",
        method="ensemble",
        metrics=["accuracy", {"name": "ece", "n_bins": 5}],
        groups=["site"],
        unlabeled=[-1],
        level=0.8,
        threshold=0.3,
        n_draws=30,
        random_state=None,
    )
    document = build_document(first)
    (tmp_path / "run.toml").write_text(find(document, "config").code, encoding="utf-8")
    for second in (rerun(tmp_path / "run.toml"), eval(find(document, "python").code)):
        assert second.frame().equals(first.frame())
        assert set(second.frame()["group"]) > {"all", "site=north"}


def test_a_run_that_no_file_can_hold_has_a_reason() -> None:
    result = evaluate(binary_set(), metrics=lambda y_true, y_score: 0.5)
    assert not find(build_document(result), "again").parts


def test_the_most_serious_warning_is_shown_with_its_severity() -> None:
    """The card of a report with one serious warning said "1 warning"."""
    result = evaluate(binary_set())
    serious = dataclasses.replace(WARNING, severity="serious", title="All wrong")
    info = dataclasses.replace(WARNING, severity="note", title="By the way")
    for warnings, answer in (
        ((serious, WARNING, WARNING), "Serious D999"),
        ((info,), "Note D999"),
        ((), "None"),
    ):
        document = build_document(dataclasses.replace(result, warnings=warnings), report=False)
        assert document.answers[4].answer == answer
    page = render_report(dataclasses.replace(result, warnings=(serious,)))
    assert '<div class="answer serious">' in page


def test_report_says_when_from_what_and_with_which_version_it_was_made() -> None:
    result = evaluate(binary_set())
    digest = "0123456789abcdef" * 4
    known = dataclasses.replace(result, settings={**result.settings, "file_sha256": digest})
    document = build_document(known, date=datetime(2026, 3, 4, 5, 6, tzinfo=UTC))
    for text in (render_html(document), render_markdown(document)):
        assert "2026-03-04 05:06 UTC" in text
        assert f"ssme {ssme.__version__}" in text
        assert digest in text
    assert "SHA-256" not in render_html(build_document(result))


def test_names_may_break_between_their_words_only() -> None:
    data = binary_set(("deep_net-v2", "tree"))
    page = render_html(build_document(evaluate(data, metrics="accuracy")))
    assert "<bdi>deep_<wbr>net-<wbr>v2</bdi>" in page


def test_a_print_holds_the_first_rows_of_long_tables() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    scores = np.clip(0.5 + 0.2 * (2 * y - 1)[:, None] + rng.normal(0, 0.2, (400, 2)), 0, 1)
    groups = {"site": np.arange(400) % 45}
    data = ssme.ScoreSet.from_arrays(scores, np.where(y < 2, y, 0.0), groups=groups)
    document = build_document(evaluate(data, metrics="accuracy"))
    sizes = [len(section.table[0].cells) for section in document.walk() if section.table]
    more = [size - 10 for size in sizes if size > 10]
    assert len(more) >= 3  # ranks, estimates by group, counts of rows
    assert render_html(document).count('<tr class="rest">') == sum(more)


def test_a_report_of_many_models_metrics_and_groups_stays_small() -> None:
    """It had 5 MB and was 214,000 pixels high."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    scores = np.clip(0.5 + 0.2 * (2 * y - 1)[:, None] + rng.normal(0, 0.2, (600, 30)), 0, 1)
    groups = {"site": np.arange(600) % 12}
    labels = np.where(np.arange(600) < 200, y, np.nan)
    data = ssme.ScoreSet.from_arrays(scores, labels, groups=groups)
    names = "accuracy balanced_accuracy f1 precision recall specificity roc_auc ece brier_score"
    result = evaluate(data, metrics=names.split())
    document = build_document(result)
    rows = [len(find(document, f"group-metric-{n}").table[0].cells) for n in range(9)]
    assert 0 < sum(rows) <= 540
    assert len(render_html(document, draw_charts(document))) < 1_000_000
    folded = {section.key for section in document.walk() if section.folded}
    assert "metric-0" not in folded
    assert "metric-8" in folded


def test_report_of_judges_has_no_pictures_of_probabilities_and_their_own_method() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    right = rng.random((80, 4)) < 0.8
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    labels = ["yes" if y else "no" for y in truth[:30]] + [None] * 50
    answers = {
        "gpt": np.array(["no", "yes"])[said[:, 0]],
        "ann": np.array(["no", "yes"])[said[:, 1]],
    }
    alone = ssme.ScoreSet.from_answers(answers, labels)
    document = build_document(ssme.evaluate(alone, n_draws=20, random_state=0))
    assert "Judges who share difficulty (auto" in find(document, "method").sentences[0]
    assert "'yes' is positive" in document.head[0]
    drawn = [chart["title"] for chart in draw_charts(document)]
    assert "Confusion matrices" in drawn
    assert not {"Reliability", "ROC curves", "Scores by class"} & set(drawn)
    mixed = ssme.ScoreSet.from_answers(
        answers,
        labels,
        ratings={"stars": 1 + 3 * said[:, 2] + rng.integers(0, 2, 80)},
        scores={"bert": np.clip(said[:, 3] + rng.normal(0, 0.2, 80), 0, 1)},
    )
    charts = draw_charts(build_document(ssme.evaluate(mixed, n_draws=20, random_state=0)))
    by_title = {chart["title"]: chart for chart in charts}
    assert "stars" in by_title["ROC curves"]["svg"]
    assert "gpt" not in by_title["ROC curves"]["svg"]
    assert "stars" not in by_title["Reliability"]["svg"]
    assert "labels have not corrected" in by_title["Agreement of the models"]["note"]
