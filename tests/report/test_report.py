"""The report: facts, words, and nothing in it that is not ours."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.made_sets import HOSTILE, binary_set, grouped_set, hostile_set, many_class_set

import ssme
from ssme.diagnostics.doubt import Doubt
from ssme.errors import InputError
from ssme.report import render_html, render_markdown, render_report, summarize
from ssme.report.charts import draw_charts
from ssme.wording import make_printable

DOUBT = Doubt("D999", "Few labels", "warning", "Only <3> labels.", "Label more.", "docs/x.md#d999")


def evaluate(data: Any, **options: Any) -> ssme.Evaluation:
    return ssme.evaluate(data, method="ensemble", n_draws=50, **options)


def with_doubt(result: ssme.Evaluation) -> ssme.Evaluation:
    import dataclasses

    return dataclasses.replace(result, doubts=(DOUBT,))


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


def test_summary_is_plain_json_and_answers_five_questions() -> None:
    summary = summarize(with_doubt(evaluate(grouped_set())))
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    answers = summary["headline"]["answers"]
    assert [a["question"] for a in answers] == [
        "Which classifier?",
        "How good?",
        "How sure?",
        "Compared with labels alone?",
        "What should worry me?",
    ]
    assert answers[0]["name"] == "forest"
    assert "interval" in answers[1]["detail"]
    assert "60 labels" in answers[3]["detail"]
    assert answers[4] == {
        "question": "What should worry me?",
        "answer": "1 warning",
        "detail": "Few labels.",
        "severity": "warning",
    }


@pytest.mark.parametrize("method", ["labeled", "atc"])
def test_summary_without_posterior_or_intervals(method: str) -> None:
    result = ssme.evaluate(binary_set(), method=method, metrics="accuracy")
    page = render_report(result)
    assert "forest" in page


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
    summary = summarize(result)
    lonely = [r for r in summary["by_group"][0]["rows"] if r["group"] == "site=lonely"]
    assert [row["estimate"] for row in lonely] == [None] * 3
    page = render_report(result)
    assert "nan" not in "".join(Tags(page).text).lower().split()
    assert "| -" in render_markdown(summary)


def test_page_parts_and_policy() -> None:
    page = render_report(with_doubt(evaluate(grouped_set())))
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
    summary = summarize(evaluate(hostile_set(), metrics="accuracy"))
    text = render_markdown(summary)
    assert "<script>" not in text
    assert re.search(r"(?<!\\)\|\*_", text) is None
    tables = [len(HOSTILE), *(len(section["rows"]) for section in summary["further"])]
    assert text.count("\n| ") == sum(1 + size for size in tables)


def test_three_hundred_models() -> None:
    data = binary_set(tuple(f"model-{j}" for j in range(300)), n=60)
    page = render_report(evaluate(data, metrics="accuracy"))
    assert "The best 20 of 300 models; the table has all." in page
    assert page.count('<th scope="row"') == 300


def test_ten_models_by_ten_metrics_stay_small() -> None:
    metrics = [
        *("accuracy", "ece", "roc_auc", "average_precision", "f1"),
        *("precision", "recall", "specificity", "brier_score", "log_loss"),
    ]
    data = binary_set(tuple(f"model-{j}" for j in range(10)), n=1000)
    assert len(render_report(evaluate(data, metrics=metrics)).encode()) < 2_000_000


def test_many_classes_page() -> None:
    page = render_report(evaluate(many_class_set()))
    assert "Confusion matrices" in page
    assert "ROC curves" not in page


def test_without_the_extra_there_are_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    page = render_report(evaluate(binary_set()))
    assert 'class="chart' not in page
    assert "<table" in page


def test_formats(tmp_path: Path) -> None:
    result = evaluate(binary_set(), metrics="accuracy")
    assert result.report(tmp_path / "r.html").read_text().startswith("<!DOCTYPE html>")
    assert result.report(tmp_path / "r.md", title="My *own*").read_text().startswith("# My \\*own")
    assert json.loads(result.report(tmp_path / "r.json").read_text())["level"] == 0.95
    with pytest.raises(InputError, match=r"ends in .html, .md or .json"):
        result.report(tmp_path / "r.doc")


def test_run_it_again_gives_the_same_numbers(tmp_path: Path) -> None:
    """Group columns, reading options and the seed were missing from what a report said."""
    import pandas as pd

    from ssme.run import rerun

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
    again = summarize(first)["rerun"]
    (tmp_path / "run.toml").write_text(again["toml"], encoding="utf-8")
    for second in (rerun(tmp_path / "run.toml"), eval(again["python"])):
        assert second.frame().equals(first.frame())
        assert set(second.frame()["group"]) > {"all", "site=north"}


def test_run_it_again_without_a_file() -> None:
    summary = summarize(evaluate(binary_set(), threshold=0.3))
    compile(summary["rerun"]["python"], "rerun", "eval")
    for key in ("toml", "python"):
        assert "threshold" in summary["rerun"][key]


def test_a_run_that_no_file_can_hold_says_so(tmp_path: Path) -> None:
    result = evaluate(binary_set(), metrics=lambda y_true, y_score: 0.5)
    for suffix in ("html", "md"):
        page = result.report(tmp_path / f"r.{suffix}").read_text()
        assert "No config file can hold this run" in page


def test_rendering_needs_no_drawing_library() -> None:
    assert "altair" not in sys.modules["ssme.report.html"].__dict__
    assert "<table" in render_html(summarize(evaluate(binary_set())))


def test_serious_doubts_are_not_called_warnings() -> None:
    """The card of a report with one serious doubt said "1 warning"."""
    import dataclasses

    result = evaluate(binary_set())
    serious = dataclasses.replace(DOUBT, severity="serious", title="All wrong")
    info = dataclasses.replace(DOUBT, severity="info", title="By the way")
    said = {}
    for key, doubts in {
        "worst first": (serious, DOUBT, DOUBT),
        "two": (serious, serious),
        "info": (info,),
        "none": (),
    }.items():
        summary = summarize(dataclasses.replace(result, doubts=doubts))
        said[key] = summary["headline"]["answers"][4]
    assert said["worst first"]["answer"] == "1 serious doubt"
    assert said["worst first"]["detail"] == "All wrong. There are 2 more below."
    assert said["worst first"]["severity"] == "serious"
    assert said["two"]["answer"] == "2 serious doubts"
    assert said["info"]["answer"] == "1 remark"
    assert said["none"]["answer"] == "Nothing found"
    page = render_report(dataclasses.replace(result, doubts=(serious,)))
    assert '<div class="answer serious">' in page
    assert "<p>Serious doubt.</p>" in page


def test_report_says_when_from_what_and_with_which_version_it_was_made() -> None:
    import dataclasses
    from datetime import UTC, datetime

    result = evaluate(binary_set())
    digest = "0123456789abcdef" * 4
    known = dataclasses.replace(result, settings={**result.settings, "file_sha256": digest})
    summary = summarize(known, date=datetime(2026, 3, 4, 5, 6, tzinfo=UTC))
    for text in (render_html(summary), render_markdown(summary)):
        assert "2026-03-04 05:06 UTC" in text
        assert f"ssme {ssme.__version__}" in text
        assert digest in text
    unknown = render_html(summarize(result))
    assert "SHA-256" not in unknown
    assert "Written on 2" in unknown


def test_names_may_break_between_their_words_only() -> None:
    data = binary_set(("deep_net-v2", "tree"))
    page = render_report(evaluate(data, metrics="accuracy"))
    assert "<bdi>deep_<wbr>net-<wbr>v2</bdi>" in page


def test_a_print_holds_the_first_rows_of_long_tables() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    scores = np.clip(0.5 + 0.2 * (2 * y - 1)[:, None] + rng.normal(0, 0.2, (400, 2)), 0, 1)
    groups = {"site": np.arange(400) % 45}
    data = ssme.ScoreSet.from_arrays(scores, np.where(y < 2, y, 0.0), groups=groups)
    made = ssme.evaluate(data, method="ensemble", metrics="accuracy", n_draws=20)
    page = render_html(summarize(made))
    assert page.count('<tr role="row" class="more">') == (90 - 30) + (45 - 30)
    assert "Printed are the first 30 of 90 rows." in page
    assert "Printed are the first 30 of 45 groups." in page


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
    page = summarize(ssme.evaluate(alone, n_draws=20, random_state=0))
    assert page["method"]["title"] == "Judges who share difficulty"
    assert page["method"]["name"] == "auto"
    assert page["data"]["positive"] == " ('yes' is positive)"
    drawn = [chart["title"] for chart in draw_charts(ssme.evaluate(alone, n_draws=20))]
    assert "Confusion matrices" in drawn
    assert not {"Reliability", "ROC curves", "Scores by class"} & set(drawn)
    mixed = ssme.ScoreSet.from_answers(
        answers,
        labels,
        ratings={"stars": 1 + 3 * said[:, 2] + rng.integers(0, 2, 80)},
        scores={"bert": np.clip(said[:, 3] + rng.normal(0, 0.2, 80), 0, 1)},
    )
    charts = draw_charts(ssme.evaluate(mixed, n_draws=20, random_state=0))
    by_title = {chart["title"]: chart for chart in charts}
    assert "stars" in by_title["ROC curves"]["svg"]
    assert "gpt" not in by_title["ROC curves"]["svg"]
    assert "stars" not in by_title["Reliability"]["svg"]
    assert "labels have not corrected" in by_title["Agreement of the models"]["note"]
