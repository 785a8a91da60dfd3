"""The report in a real browser: quiet console, no outside request, sorting, copying, axe-core."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.made_sets import binary_set, grouped_set, hostile_set, many_class_set

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.sample import sample_path

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

SETS: dict[str, Callable[[], ScoreSet]] = {
    "binary": binary_set,
    "sample": lambda: ScoreSet.read(sample_path(), "label"),
    "ten classes": many_class_set,
    "grouped": grouped_set,
    "hostile": hostile_set,
    "long names": lambda: binary_set(
        ("resnet50_finetuned_v2_2024-05-01", "logistic-regression.baseline/all", "two words"), n=60
    ),
    "300 models": lambda: binary_set(tuple(f"model-{j}" for j in range(300)), n=60),
}


@dataclass
class Visit:
    """A page and all that it said and asked for."""

    page: Any
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("reports")

    def make(name: str) -> Path:
        path = folder / f"{name}.html"
        if not path.exists():
            metrics = ["accuracy", "ece"]
            ssme.evaluate(SETS[name](), method="ensemble", metrics=metrics, n_draws=50).report(path)
        return path

    return make


@pytest.fixture
def visit(browser: Any, reports: Callable[[str], Path]) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def open_report(name: str, **options: Any) -> Visit:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 850}, **options})
        contexts.append(context)
        found = Visit(context.new_page())
        found.page.on("console", lambda message: found.messages.append(message.text))
        found.page.on("pageerror", lambda error: found.messages.append(str(error)))
        found.page.on("dialog", lambda dialog: found.messages.append(dialog.message))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(reports(name).as_uri())
        return found

    yield open_report
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", SETS)
def test_opens_quietly_with_charts(visit: Callable[..., Visit], name: str) -> None:
    found = visit(name)
    assert found.messages == []
    assert [url.split(":")[0] for url in found.requests] == ["file"]
    sizes = found.page.eval_on_selector_all(
        ".chart svg", "all => all.map(s => [s.getBoundingClientRect().width, s.innerHTML.length])"
    )
    assert len(sizes) >= 4
    assert [size for size in sizes if size[0] <= 100 or size[1] <= 500] == []


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("width", [1200, 390, 320])
def test_nothing_sticks_out(visit: Callable[..., Visit], name: str, width: int) -> None:
    page = visit(name, viewport={"width": width, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.close()


@pytest.mark.parametrize("name", SETS)
def test_narrow_screens_show_whole_charts(visit: Callable[..., Visit], name: str) -> None:
    """Rows of four panels went on beyond the edge; what names make wider yet has a shadow there."""
    page = visit(name, viewport={"width": 390, "height": 800}).page
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.eval_on_selector_all(".chart:not(.wide)", cut) == 0
    wide = page.query_selector_all(".chart.wide")
    assert len(wide) <= (name in ("ten classes", "hostile", "long names"))
    for chart in wide:
        edge = chart.evaluate("e => getComputedStyle(e).backgroundAttachment")
        assert edge == "local, local, scroll, scroll"
    page.close()


@pytest.mark.parametrize("name", ["grouped", "long names"])
def test_narrow_screens_show_every_column_and_whole_words(
    visit: Callable[..., Visit], name: str
) -> None:
    """At 390 pixels names were broken in the middle of a word and columns cut off."""
    page = visit(name, viewport={"width": 390, "height": 800}).page
    cut = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert page.eval_on_selector_all(".scroll", cut) == 0
    broken = page.evaluate(
        """() => {
          const found = [];
          for (const name of document.querySelectorAll("bdi")) {
            for (const piece of name.childNodes) {
              if (piece.nodeType !== Node.TEXT_NODE) continue;
              for (const word of piece.data.matchAll(/[^ ]+/g)) {
                const range = document.createRange();
                range.setStart(piece, word.index);
                range.setEnd(piece, word.index + word[0].length);
                const lines = new Set([...range.getClientRects()].map((r) => Math.round(r.top)));
                if (lines.size > 1) found.push(word[0]);
              }
            }
          }
          return found;
        }"""
    )
    assert broken == []


@pytest.mark.parametrize("name", ["grouped", "300 models"])
def test_printed_headings_stay_with_what_follows(visit: Callable[..., Visit], name: str) -> None:
    """A heading was left alone at the foot of a page, and the heads of tables not repeated."""
    page = visit(name).page
    page.emulate_media(media="print")
    alone = page.eval_on_selector_all(
        "main h2:not(.hidden), main h3",
        """all => all.filter((h) => {
          const kept = h.closest(".keep, article, .answer");
          const style = kept && getComputedStyle(kept).breakInside;
          return style !== "avoid" || kept.lastElementChild === h;
        }).map((h) => h.textContent)""",
    )
    assert alone == []
    styles = "all => [...new Set(all.map((e) => getComputedStyle(e).display))]"
    assert page.eval_on_selector_all("thead", styles) == ["table-header-group"]
    assert page.eval_on_selector_all("thead button", styles) == ["none"]


@pytest.mark.parametrize("name", ["binary", "ten classes", "grouped", "hostile"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    visit: Callable[..., Visit], axe: str, name: str, scheme: str
) -> None:
    page = visit(name, color_scheme=scheme).page
    page.evaluate(axe)
    found = page.evaluate("axe.run().then(result => result.violations)")
    serious = [
        (violation["id"], violation["nodes"][0]["html"][:200])
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_sorts_by_click_and_by_keyboard(visit: Callable[..., Visit]) -> None:
    page = visit("binary").page
    table = page.locator("table.sort").first
    values = "t => [...t.tBodies[0].rows].map(r => Number(r.cells[2].dataset.value))"
    head = table.locator("th").nth(2)
    head.locator("button").click()
    rising = table.evaluate(values)
    assert rising == sorted(rising)
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").focus()
    page.keyboard.press("Enter")
    assert table.evaluate(values) == rising[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    assert page.locator("#status").text_content() == "Sorted by low, falling"
    table.locator("th button").first.click()
    names = table.evaluate("t => [...t.tBodies[0].rows].map(r => r.cells[0].textContent)")
    assert names == sorted(names)


def test_copies_whole_names_as_csv(visit: Callable[..., Visit]) -> None:
    page = visit("hostile", permissions=["clipboard-read", "clipboard-write"]).page
    page.locator("button.copy").first.click()
    page.locator("#status", has_text="Copied").wait_for(state="attached")
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.startswith("model,estimate,low,high")
    assert "long " * 900 in text
    assert '"""><img src=x onerror=alert(2)> \'"' in text


def test_works_without_scripts_and_prints(visit: Callable[..., Visit], tmp_path: Path) -> None:
    page = visit("grouped", java_script_enabled=False).page
    assert page.locator("table.sort tbody tr").count() > 6
    pdf = page.pdf(path=str(tmp_path / "report.pdf"))
    assert pdf[:4] == b"%PDF"


def test_the_sample_is_printed_on_two_pages(visit: Callable[..., Visit]) -> None:
    pdf = visit("sample").page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 2


def test_keyboard_reaches_the_answers_first(visit: Callable[..., Visit]) -> None:
    page = visit("binary").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answers"
