"""The whole way in a real browser: open, correct, evaluate, label by keyboard, restart, go on."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.made_sets import HOSTILE, UNPRINTABLE
from tests.serve.browsing import MS, Place, leave_for, press, write_mail

from ssme.sample import sample_path
from ssme.serve.auth import make_secret
from ssme.serve.server import write_entrance
from ssme.serve.settings import ServeSettings
from ssme.serve.store import Store

pytestmark = [pytest.mark.web, pytest.mark.browser, pytest.mark.xdist_group("browser")]


def pages_of(url: str) -> list[str]:
    inside = ("", "/label", "/mine", "/result", "/people", "/history")
    return [f"{url}/", f"{url}/jobs", *(f"{url}/files/1{path}" for path in inside)]


def test_open_correct_evaluate_label_export_restart_go_on(
    place: Place, visit: Callable[..., Any], tmp_path: Path
) -> None:
    write_mail(tmp_path / "mail.csv")
    page = visit()
    page.set_input_files("#upload", tmp_path / "mail.csv")
    page.wait_for_selector(".trouble h2")
    number = page.url.rsplit("/", 1)[1]
    assert "label column" in page.text_content(".trouble")
    page.select_option("select[aria-label='Part of verdict']", "label")
    page.click("button:text('Use this')")
    page.wait_for_selector("label.wrong [name=positive]")
    page.fill("input[name=classes]", "ham, spam")
    page.click("button:text('Use this')")
    page.wait_for_selector(".facts")
    assert "ham: 15 labels, spam: 15 labels" in page.text_content(".facts")
    page.click("button:text('Evaluate now')")
    page.wait_for_selector(".downloads")
    assert page.text_content("h1").startswith("Pick:")
    page.wait_for_selector("#charts figure svg")
    page.click(".tabs a:text('Label')")
    page.fill("#who", "Ada")
    page.keyboard.press("Enter")
    page.wait_for_selector(".workplace[data-ready] .choices")
    before = page.inner_html("#tightening")
    for step in range(20):
        press(page, "12"[step % 2])
    assert "20 labeled by you" in page.text_content(".place")
    changed = "before => document.querySelector('#tightening').innerHTML !== before"
    page.wait_for_function(changed, arg=before)
    page.wait_for_selector("#working", state="hidden")
    assert "wide at first" in page.inner_html("#tightening")
    press(page, "z")
    assert "19 labeled by you" in page.text_content(".place")
    press(page, "u")
    page.focus("#card button[value=skip]")
    press(page, "Enter")
    assert page.evaluate("document.activeElement.value") == "skip"
    with page.expect_download() as saved:
        page.click("text=Save the labels")
    text = saved.value.path().read_text(encoding="utf-8")
    rows = [*csv.DictReader(text.splitlines())]
    assert [row["annotator"] for row in rows] == ["Ada"] * 22
    assert sum(row["counts"] == "True" for row in rows) == 19
    shown = page.text_content(".rowname")
    place.restart()
    page.goto(f"{place.server.url}/files/{number}/label")
    assert page.text_content(".rowname") == shown
    press(page, "1")
    assert "21 labeled by you" in page.text_content(".place")
    away = "Failed to load resource: net::ERR_CONNECTION_REFUSED"
    assert {*place.messages} <= {away}


def test_keys_of_the_classes_0_and_1(
    place: Place, visit: Callable[..., Any], tmp_path: Path
) -> None:
    """Key 1 labeled class 0. Now each digit is the key of its class."""
    text = sample_path().read_text(encoding="utf-8").replace("id,label", "id,label,note", 1)
    lines = text.splitlines()
    rows = [line.split(",") for line in lines[1:]]
    path = tmp_path / "digits.csv"
    path.write_text("\n".join([lines[0], *(",".join([*r[:2], "n", *r[2:]]) for r in rows)]) + "\n")
    page = visit("Ada")
    page.set_input_files("#upload", path)
    page.wait_for_selector(".facts")
    number = page.url.rsplit("/", 1)[1]
    page.goto(f"{place.server.url}/files/{number}/label")
    page.wait_for_selector("text=What do 0 and 1 mean?")
    page.keyboard.type("small")
    page.keyboard.press("Tab")
    page.keyboard.type("large")
    page.keyboard.press("Enter")
    page.wait_for_selector(".workplace[data-ready] .choices")
    assert page.locator(".choices button").all_inner_texts() == ["0 small", "1 large"]
    shown = []
    for key in "110":
        shown.append(page.text_content(".rowname").strip())
        press(page, key)
    before = page.text_content(".rowname")
    page.keyboard.press("2")
    page.wait_for_timeout(300)
    assert page.text_content(".rowname") == before
    with page.expect_download() as saved:
        page.click("text=Save the labels")
    found = [*csv.DictReader(saved.value.path().read_text(encoding="utf-8").splitlines())]
    assert [(row["id"], row["label"]) for row in found] == [*zip(shown, "110", strict=True)]
    assert place.messages == []


def test_two_people_at_once(place: Place, visit: Callable[..., Any]) -> None:
    pages = [visit(name) for name in ("Cleo", "Dan")]
    for page in pages:
        page.goto(f"{place.server.url}/files/1/label")
    for _ in range(6):
        for page, key in zip(pages, "12", strict=True):
            press(page, key)
    page = pages[0]
    page.goto(f"{place.server.url}/files/1/people")
    assert "Cleo and Dan" in page.text_content("main")
    count = page.locator(".conflict").count()
    assert count >= 2
    page.locator(".conflict button").first.click()
    page.wait_for_function(
        "count => document.querySelectorAll('.conflict').length === count - 1", arg=count
    )
    page.click("button:text('Make a link')")
    guest = visit().context.browser.new_page()
    guest.goto(page.input_value("input[readonly]"))
    # where there is one file, a guest is led to its rows
    guest.wait_for_url(re.compile(re.escape(place.server.url) + "/(files/1/label)?$"))
    guest.close()
    assert place.messages == []


def test_a_wrong_token_a_foreign_host_and_a_foreign_page_are_refused(
    browser: Any, place: Place, visit: Callable[..., Any]
) -> None:
    """A browser takes every name that ends in .localhost for this machine, as an attacker would."""
    stranger = browser.new_page()
    refused = stranger.goto(f"{place.server.url}/enter?token=wrong")
    assert refused.status == 403
    assert stranger.goto(f"{place.server.url}/files/1").status == 401
    refused = stranger.goto(place.server.url.replace("127.0.0.1", "evil.localhost"))
    assert refused.status == 421
    stranger.close()
    page = visit("Eve")
    assert page.goto(f"{place.server.url}/files/1").status == 200
    other = page.context.new_page()
    other.goto("about:blank")
    other.set_content(f"<form method=post action='{place.server.url}/files/1/evaluate'></form>")
    with other.expect_navigation() as navigation:
        other.evaluate("document.forms[0].submit()")
    assert navigation.value.status == 403


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 320)]
)
def test_axe_finds_nothing_on_any_page(
    place: Place, visit: Callable[..., Any], axe: str, scheme: str, width: int
) -> None:
    """With everything open that can be unfolded."""
    page = visit("Ada", color_scheme=scheme, viewport={"width": width, "height": 800})
    found = []
    for url in pages_of(place.server.url):
        leave_for(page, url)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        page.evaluate(axe)
        violations = page.evaluate("axe.run().then(result => result.violations)")
        found += [(url, v["id"], v["nodes"][0]["html"][:200]) for v in violations]
    page.context.clear_cookies()
    page.goto(f"{place.server.url}/enter?token=wrong")
    page.evaluate(axe)
    violations = page.evaluate("axe.run().then(result => result.violations)")
    found += [("wrong token", v["id"], v["nodes"][0]["html"][:200]) for v in violations]
    assert found == []
    assert all("403" in message for message in place.messages)
    place.messages.clear()


@pytest.mark.parametrize("width", [390, 320])
def test_a_phone_shows_every_page_without_scrolling_sideways(
    place: Place, visit: Callable[..., Any], width: int
) -> None:
    page = visit("Ada", viewport={"width": width, "height": 800})
    for url in pages_of(place.server.url):
        leave_for(page, url)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), url
        lines = page.evaluate(
            "new Set([...document.querySelectorAll('.tabs li')].map(li => li.offsetTop)).size"
        )
        assert lines <= 1 or width < 390, url


def write_answers(path: Path) -> None:
    """Two answers for each of 90 questions, verdicts on some, and what two judges say."""
    with path.open("w", encoding="utf-8", newline="") as target:
        out = csv.writer(target)
        scores = [f"{judge}_{verdict}" for judge in "xy" for verdict in ("A", "B", "tie")]
        out.writerow(["id", "question", "answer_a", "answer_b", "picture", "verdict", *scores])
        for i in range(90):
            texts = (f"Question {i}?", f"From a, {i}.", f"From b, {i}.", "dot.png")
            verdict = ("A", "B", "tie")[i % 3] if i < 15 else ""
            tie = (i % 4 + 1) / 20
            parts = [(p, round(1 - tie - p, 3), tie) for p in (i / 150, (i * 7 % 90) / 120)]
            out.writerow([f"q-{i}", *texts, verdict, *parts[0], *parts[1]])


def test_two_answers_are_compared_blind_by_ones_own_keys_as_fast_as_one_types(
    place: Place, visit: Callable[..., Any], tmp_path: Path
) -> None:
    write_answers(tmp_path / "answers.csv")
    page = visit("Ada", timezone_id="Asia/Tokyo")
    page.set_input_files("#upload", tmp_path / "answers.csv")
    page.wait_for_selector(".facts, .trouble h2")
    number = page.url.rsplit("/", 1)[1]
    page.select_option("select[aria-label='Part of verdict']", "label")
    page.click("#mapping button:text('Use this')")
    page.wait_for_selector(".facts")
    page.click("text=These are the models")
    page.wait_for_selector("text=No model was named", state="detached")
    page.goto(f"{place.server.url}/files/{number}/label")
    page.wait_for_selector(".workplace[data-ready] .choices")
    assert page.locator(".choices button").all_inner_texts() == ["1 first", "2 second", "3 tie"]
    firsts, given = {}, {}
    for key in "1212312121":
        row = page.input_value("#card input[name=row]").strip('"')
        firsts[row] = page.locator(".pair .cell").first.inner_text().split()[-2][0]
        other = {"a": "b", "b": "a"}[firsts[row]]
        given[row] = {"1": firsts[row].upper(), "2": other.upper(), "3": "tie"}[key]
        press(page, key)
    assert {*firsts.values()} == {"a", "b"}, "chance decides which answer is first"
    page.click("summary:text('Your keys')")
    page.fill("label:has-text('undo') input", "j")
    page.fill(".keys label:first-child input", "k")
    page.click("text=Use these keys")
    page.wait_for_selector(".workplace[data-ready] .choices button[data-key=k]")
    page.keyboard.type("k22kk32k", delay=0)
    page.wait_for_function("() => document.querySelector('.place strong').textContent === '18'")
    page.context.set_offline(True)
    page.keyboard.type("k22k")
    page.wait_for_selector("#problem:not([hidden])")
    page.keyboard.type("3")
    page.context.set_offline(False)
    page.click("text=Try again")
    page.wait_for_function("() => document.querySelector('.place strong').textContent === '23'")
    press(page, "j")
    assert "22 labeled by you" in page.text_content(".place")
    with page.expect_download() as saved:
        page.click("text=Save the labels")
    rows = [*csv.DictReader(saved.value.path().read_text(encoding="utf-8").splitlines())]
    assert {row["id"]: row["label"] for row in rows[:10]} == given
    page.goto(f"{place.server.url}/files/{number}/mine")
    shown = page.locator("time").first
    utc = shown.get_attribute("datetime")
    wanted = "new Date(at).toLocaleString([], {dateStyle: 'medium', timeStyle: 'short'})"
    assert shown.inner_text() == page.evaluate(f"at => {wanted}", utc)
    assert shown.get_attribute("title") == f"{utc[:10]} {utc[11:16]} UTC"
    assert {*place.messages} <= {"Failed to load resource: net::ERR_INTERNET_DISCONNECTED"} | {
        "Failed to load resource: the server responded with a status of 400 (Bad Request)"
    }  # there is no such picture


def test_a_row_is_labeled_and_read_without_a_mouse(place: Place, visit: Callable[..., Any]) -> None:
    """From the first page by Tab and Enter alone; then what a screen reader says of the row."""
    page = visit("Kim")

    def walk_to(words: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            focused = page.evaluate("document.activeElement.textContent.trim()")
            if focused == words:
                return
        raise AssertionError(f"{words!r} cannot be reached")

    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the page"
    walk_to("first.csv")
    walk_to("Label")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    page.wait_for_selector(".workplace[data-ready] .choices")
    name = page.text_content(".rowname").strip()
    transcript = page.locator(".row-view").aria_snapshot()
    order = [
        '- region "The row"',
        f'- heading "{name}" [level=2]',
        '- region "Content of the row"',
        '- heading "subject" [level=3]',
        '- group "Its class"',
        '- button "1 ham"',
        '- button "2 spam"',
        '- textbox "n note"',
        '- group "Or"',
        '- button "u unsure"',
    ]
    places = [transcript.find(line) for line in order]
    assert places == sorted(places), transcript
    assert min(places) >= 0, transcript
    page.keyboard.press("2")
    said = "document.getElementById('status').textContent"
    page.wait_for_function(f"() => {said}.startsWith('Labeled spam.')")
    assert page.evaluate(said) == f"Labeled spam. {page.text_content('.rowname').strip()}"
    walk_to("2 spam")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.place strong').textContent === '2'")
    assert place.messages == []


@pytest.mark.parametrize("width", [390, 1200])
def test_a_plan_that_arrives_later_moves_nothing(
    place: Place, visit: Callable[..., Any], width: int
) -> None:
    """The longest sentences that a plan says, with names of usual length."""
    page = visit("Ada", viewport={"width": width, "height": 800})
    page.goto(f"{place.server.url}/files/1/label")
    page.wait_for_selector("#plan p:not(.hint)")
    words = [
        "How many more labels it takes is being counted.",
        "<strong>Even 2,000 more labels would not suffice</strong> to tell gradient_boosting from "
        "random_forest, logistic and 12 more. They are about equally good.",
    ]
    tops = page.evaluate(
        """words => words.map(text => {
            document.querySelector("#plan p").innerHTML = text;
            return document.querySelector("#tightening").getBoundingClientRect().top;
        })""",
        words,
    )
    assert tops[0] == tops[1]


def test_hostile_names_and_cells_are_only_shown(
    place: Place, visit: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "<img src=x onerror=alert(1)>.csv"
    nasty = [*HOSTILE[:5], *UNPRINTABLE[1:3], '<svg onload="alert(9)">', "=cmd|' /C calc'!A0"]
    with path.open("w", encoding="utf-8", errors="surrogatepass", newline="") as target:
        out = csv.writer(target)
        out.writerow(["id", "<script>alert(3)</script>", "y", HOSTILE[0], HOSTILE[1]])
        for number in range(40):
            text = nasty[number % len(nasty)]
            label = number % 2 if number < 12 else ""
            scores = (0.2 + number % 2 / 2 + number / 400, number / 40)
            out.writerow([f"{number}<b>{text[:40]}", text, label, *scores])
    page = visit()
    page.set_input_files("#upload", path)
    page.wait_for_selector(".facts")
    number = page.url.rsplit("/", 1)[1]
    page.click("button:text('Evaluate now')")
    page.wait_for_selector(".downloads")
    page.wait_for_selector("#charts figure svg")
    page.goto(f"{place.server.url}/files/{number}/label")
    page.fill("#who", "<script>alert(4)</script>")
    page.keyboard.press("Enter")
    page.click("button:text('Go on with 0 and 1')")
    page.wait_for_selector(".workplace[data-ready] .choices")
    for _ in range(10):
        press(page, "1")
    for url in pages_of(place.server.url):
        leave_for(page, re.sub("/files/1", f"/files/{number}", url))
        assert page.locator("main script, main img, main svg[onload]").count() == 0
    assert place.messages == []


def test_the_file_that_the_browser_is_started_with_leads_in(
    browser: Any, place: Place, tmp_path: Path
) -> None:
    token = make_secret()
    with Store(ServeSettings(place.project)) as store:
        store.add_token(token, "owner")
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(MS)
    page.goto(write_entrance(tmp_path, f"{place.server.url}/enter?token={token}").as_uri())
    page.wait_for_url(f"{place.server.url}/")
    assert page.get_by_role("heading", name="Open a file").count() == 1
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(f"{place.server.url}/logout")
    assert page.goto(f"{place.server.url}/").status == 401
    context.close()
