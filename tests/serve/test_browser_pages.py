"""Every page in a real browser: forms, annotating, people and access, at three widths."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.serve.running import Running
from scripts.make_walk import encode_png
from tests.serve.browsing import MS, Place, leave_for, press, write_mail

pytestmark = [pytest.mark.web, pytest.mark.browser, pytest.mark.xdist_group("browser")]

LOOKS = ((1280, "light"), (390, "dark"), (320, "light"))
CERTIFICATE = Path(__file__).parent / "certificate.pem"
CARD = ".workplace[data-ready] .choices"

Visit = Callable[..., Any]


def look_over(page: Any, axe: str) -> None:
    """With everything unfolded: axe finds nothing, and no page scrolls sideways."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.evaluate(axe)
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run().then(result => result.violations)")
        assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == [], width
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width


def open_file(page: Any, path: Path, part: str = "verdict") -> str:
    """Upload a file whose labels are in a column that has to be chosen; its address."""
    page.set_input_files("#upload", path)
    page.wait_for_selector(".trouble h2")
    page.select_option(f"select[aria-label='Part of {part}']", "label")
    page.fill("input[name=classes]", "ham, spam")
    page.click("#mapping button:text-is('Use this')")
    page.wait_for_selector(".facts")
    return str(page.url)


def begin(page: Any, url: str) -> None:
    leave_for(page, f"{url}/label")
    page.wait_for_selector(CARD)


def find_row(page: Any) -> str:
    return str(json.loads(page.input_value("#card input[name=row]")))


def set_labeling(page: Any, url: str, **fields: str) -> None:
    """Fill in the form of the owner under "How rows are chosen"."""
    begin(page, url)
    page.click("summary:text('How rows are chosen')")
    for name, value in fields.items():
        if value == "on":
            page.check(f"input[name={name}]")
        else:
            page.fill(f"input[name={name}]", value)
    page.click("button:text('Use from the next round on')")


def invite(page: Any, url: str, name: str) -> str:
    """The link of a guest."""
    leave_for(page, f"{url}/people")
    page.fill("#guest", name)
    page.click("button:text('Make a link')")
    return str(page.input_value("input[readonly]"))


def save_labels(page: Any, url: str) -> list[dict[str, str]]:
    text = page.request.get(f"{url}/labels.csv").text()
    return [*csv.DictReader(text.splitlines())]


def test_what_was_detected_is_filled_in_previewed_and_confirmed(
    place: Place, visit: Visit, axe: str, tmp_path: Path
) -> None:
    """A file as spreadsheets write it: semicolons, decimal commas, cp1252, guessed models."""
    lines = ["id;Größe;y;a;b"]
    for i in range(60):
        label = ("0", "1")[i % 2] if i < 20 else ""
        scores = (0.2 + i % 2 / 2 + i / 400, 0.9 - i / 80)
        lines.append(f"r{i};groß {i};{label};" + ";".join(f"{p:.3f}" for p in scores))
    text = "\n".join(line.replace(".", ",") for line in lines) + "\n"
    (tmp_path / "tabelle.csv").write_bytes(text.encode("cp1252"))
    page = visit("Ada")
    page.set_input_files("#upload", tmp_path / "tabelle.csv")
    page.wait_for_selector(".proposal")
    wanted = {"delimiter": ";", "decimal": ",", "encoding": "cp1252"}
    assert {name: page.input_value(f"#mapping [name={name}]") for name in wanted} == wanted
    look_over(page, axe)
    page.locator("button:text-is('Use this')").first.click()
    page.wait_for_selector(".facts")
    look_over(page, axe)
    assert page.inner_text(".preview tbody tr:nth-child(2)").split("\t")[:2] == ["r1", "1"]
    assert "groß 0" in page.text_content("#mapping")
    assert "taken for models because of their values: a, b" in page.text_content("main")
    page.click("text=These are the models")
    page.wait_for_selector("text=No model was named", state="detached")
    assert place.messages == []


def test_imported_proposals_are_accepted_by_one_key_and_counted(
    place: Place, visit: Visit, axe: str, tmp_path: Path
) -> None:
    write_mail(tmp_path / "proposed.csv")
    page = visit("Ada")
    url = open_file(page, tmp_path / "proposed.csv")
    begin(page, url)
    row = find_row(page)
    labels = ["id,label,annotator,proposal", f"{row},,,spam"]
    with (tmp_path / "proposed.csv").open(encoding="utf-8") as source:
        free = [each["id"] for each in csv.DictReader(source) if not each["verdict"]]
    labels += [f"{name},{'ham' if i % 2 else 'spam'},Eve," for i, name in enumerate(free[-9:])]
    (tmp_path / "labels.csv").write_text("\n".join(labels) + "\n")
    leave_for(page, f"{url}/people")
    page.set_input_files("#upload", tmp_path / "labels.csv")
    page.wait_for_selector("text=Imported: 9 labels, 1 proposal.")
    look_over(page, axe)
    begin(page, url)
    assert page.locator(".proposal").count() == 0
    set_labeling(page, url, proposed="on")
    page.wait_for_selector(f"{CARD} ~ .proposal")
    assert find_row(page) == row
    assert "Proposed: spam" in page.text_content(".proposal")
    look_over(page, axe)
    press(page, "a")
    assert "No class is proposed for this row." in page.text_content(".proposal")
    page.keyboard.press("a")  # nothing to accept: nothing happens
    press(page, "1")
    given = {line["id"]: line for line in save_labels(page, url) if line["annotator"] == "Ada"}
    assert (given[row]["label"], given[row]["proposal"]) == ("spam", "spam")
    assert sorted(line["proposal"] for line in given.values()) == ["", "spam"]
    leave_for(page, url)
    page.click("button:text('Evaluate now')")
    page.wait_for_selector("text=were given by people who saw which class a file proposes")
    assert place.messages == []


def test_guideline_notes_and_my_labels(
    place: Place, visit: Visit, axe: str, tmp_path: Path
) -> None:
    write_mail(tmp_path / "guided.csv")
    page = visit("Ada")
    url = open_file(page, tmp_path / "guided.csv")
    page.fill("#guide textarea", "**Spam** is what sells.\n\n1. Read the subject.")
    page.fill("#guide input[name=class-1]", "it sells something")
    page.click("button:text('Save the guideline')")
    page.wait_for_load_state()
    begin(page, url)
    assert page.inner_text(".guide strong") == "Spam"
    assert page.get_attribute(".choices button[value='1']", "title") == "it sells something"
    look_over(page, axe)
    rows = []
    for number, key in enumerate("121"):
        rows.append(find_row(page))
        if number == 1:
            page.keyboard.press("n")
            page.keyboard.type("sells socks")
            page.keyboard.press("Enter")
            page.wait_for_function("() => document.getElementById('status').textContent !== ''")
            assert find_row(page) == rows[1]
            page.locator(".rowname").evaluate("each => each.focus()")
        press(page, key)
    page.click("text=See my labels")
    assert page.locator("tbody tr").count() == 3
    look_over(page, axe)
    for field, value, found in (("q", "socks", rows[1]), ("q", rows[0], rows[0])):
        page.fill(f"input[name={field}]", value)
        with page.expect_navigation():
            page.keyboard.press("Enter")
        assert page.locator("tbody tr").count() == 1
        assert page.inner_text("tbody th").strip() == found
    leave_for(page, f"{url}/mine")
    page.select_option("select[name=label]", "noted")
    with page.expect_navigation():
        page.click("button:text('Show')")
    assert page.locator("tbody tr").count() == 1
    page.click("tbody th a")
    page.wait_for_selector(".rowname .tag:text('you said spam')")
    assert (find_row(page), page.input_value("input[name=note]")) == (rows[1], "sells socks")
    assert place.messages == []


def test_long_texts_records_pictures_and_why_a_row_is_shown(
    browser: Any, axe: str, tmp_path: Path
) -> None:
    (tmp_path / "dot.png").write_bytes(encode_png([[0.2, 0.9], [0.5, 0.1]], 40))
    record = json.dumps({"from": "eve", "to": "bob"}).replace('"', '""')
    lines = ["id,body,meta,picture,age,city,sex,verdict,a,b"]
    for i in range(60):
        label = ("ham", "spam")[i % 2] if i < 12 else ""
        cells = f'{"word " * 700}{i},"{record}",dot.png,{20 + i},Bonn,f,{label}'
        lines.append(f"m{i},{cells},{0.2 + i % 2 / 2 + i / 400:.3f},{0.9 - i / 80:.3f}")
    (tmp_path / "rich.csv").write_text("\n".join(lines) + "\n")
    server = Running(tmp_path / "project", str(tmp_path / "rich.csv"))
    with server:
        context = browser.new_context()
        page = context.new_page()
        page.set_default_timeout(MS)
        page.goto(f"{server.entrance}&name=Ada")
        page.wait_for_selector(".trouble h2")
        page.fill("input[name=classes]", "ham, spam")
        page.select_option("select[aria-label='Part of verdict']", "label")
        page.click("#mapping button:text-is('Use this')")
        page.wait_for_selector(".facts")
        url = f"{server.url}/files/1"
        begin(page, url)
        names = page.locator(".record dt").all_inner_texts()
        assert {"from", "to"} <= {*names}
        hidden = page.locator("summary:text('The remaining')")
        assert not page.locator(".cell details p").first.is_visible()
        hidden.click()
        assert page.locator(".cell details p").first.is_visible()
        page.wait_for_function("() => document.querySelector('.cell img').naturalWidth > 0")
        before = page.locator(".cell img").bounding_box()["width"]
        page.click(".zoom")
        page.wait_for_selector(".zoom.in")
        assert page.locator(".cell img").bounding_box()["width"] > 2 * before
        look_over(page, axe)
        assert page.locator("text=Why this row").count() == 0
        page.click("text=Show it nevertheless")
        page.wait_for_selector("text=Why this row")
        assert "What the models say" in page.text_content(".cells")
        set_labeling(page, url, double_every="1")
        page.wait_for_selector("text=must be 0 (none) or a whole number from 2 on, got '1'")
        set_labeling(page, url, double_every="3", people="4")
        page.wait_for_selector(CARD)
        assert page.input_value("input[name=double_every]") == "3"
        assert "One row of 3 is shown to 4 people." in page.text_content("main")
        context.close()
        server.stop()


def test_people_come_by_name_differ_are_settled_assigned_and_sent_away(
    browser: Any, place: Place, visit: Visit, axe: str, tmp_path: Path
) -> None:
    """The owner works by keyboard where a form is not filled in."""
    write_mail(tmp_path / "shared.csv")
    page = visit("Ada")
    url = open_file(page, tmp_path / "shared.csv")
    page.select_option("select[aria-label='Part of length']", "groups")
    page.click("#mapping button:text-is('Use this')")
    chosen = "select[aria-label='Part of length'] option[value=groups][selected]"
    page.wait_for_selector(chosen, state="attached")
    begin(page, url)
    row = find_row(page)
    press(page, "1")
    link = invite(page, url, "Zoe")
    guest = browser.new_context().new_page()
    guest.set_default_timeout(MS)
    guest.goto(link)
    guest.wait_for_url(f"{place.server.url}/")
    begin(guest, url)
    assert guest.inner_text(".who") == "Zoe"  # nobody asks for a name
    assert find_row(guest) == row  # the first of five, which goes to two people
    assert "Results are hidden while you label" in guest.text_content("main")
    assert guest.locator("text=Use from the next round on").count() == 0
    press(guest, "2")
    assert guest.goto(f"{url}/result").status == 403
    used = browser.new_page()
    assert used.goto(link).status == 403  # a link works once
    used.close()

    leave_for(page, f"{url}/people")
    assert "Ada and Zoe" in page.text_content("main")
    assert "Ada: ham" in page.inner_text(".conflict")
    look_over(page, axe)
    page.locator(".conflict button:has-text('spam')").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("text=No conflicts.")
    counts = {line["label"] for line in save_labels(page, url) if line["counts"] == "True"}
    assert counts == {"spam"}

    page.fill("input[aria-label='Percent of the rows for Ada']", "3")
    page.click("button:text-is('Assign')")
    page.wait_for_selector("text=the share of Ada must be from 5 to 100 percent")
    leave_for(page, f"{url}/people")
    page.fill("input[aria-label='Percent of the rows for Ada']", "30")
    page.select_option("select[aria-label='Group for Zoe']", index=1)
    page.keyboard.press("Tab")
    page.locator("button:text-is('Assign')").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**#assigned")
    page.wait_for_load_state()
    assert page.input_value("input[aria-label='Percent of the rows for Ada']") == "30"
    assert page.input_value("input[aria-label='Percent of the rows for Zoe']") == "100"
    assert page.input_value("select[aria-label='Group for Zoe']").startswith("length=")

    page.locator("tr:has-text('Zoe') button:text('End')").click()
    page.wait_for_load_state()
    assert guest.goto(f"{url}/label").status == 401
    assert guest.text_content("h1") == "Who is there?"
    look_over(guest, axe)
    guest.context.close()
    page.get_by_role("button", name="Log out").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('You are logged out')")
    look_over(page, axe)
    assert page.goto(f"{url}/label").status == 401
    refused = "Failed to load resource: the server responded with a status of 40"
    assert all(message.startswith(refused) for message in place.messages)


def test_what_changed_whether_one_may_stop_and_how_many_more(
    place: Place, visit: Visit, axe: str
) -> None:
    """With more labels on the page, the decision, the plan and the result follow by themselves."""
    page = visit("Max")
    url = f"{place.server.url}/files/1"
    begin(page, url)
    page.wait_for_selector("#plan p:not(.hint)")
    decided = page.inner_html("#tightening")
    changed = "before => document.querySelector('#tightening').innerHTML !== before"
    for step in range(40):  # labels of rows on which other tests differ do not count
        press(page, "12"[step % 2])
        is_asked = "!document.querySelector('#working').matches('.idle')"
        if page.evaluate(is_asked) or page.evaluate(changed, decided):
            break
    page.wait_for_function(changed, arg=decided)
    assert "labels: take" in page.text_content("#decision")
    page.wait_for_selector("#plan p:not(.hint)")
    leave_for(page, f"{url}/result")
    page.wait_for_selector("text=Since the evaluation before:")
    page.click("summary:text('What the metrics mean')")
    assert page.locator("dl dt").count() > 2
    page.wait_for_selector("#charts figure svg")
    look_over(page, axe)
    assert place.messages == []


def test_from_another_machine_by_https_and_password(browser: Any, axe: str, tmp_path: Path) -> None:
    """With an own certificate, which this browser does not know."""
    (tmp_path / "password").write_text("correct horse\n")
    (tmp_path / "password").chmod(0o600)
    write_mail(tmp_path / "mail.csv")
    options = ("--host", "0.0.0.0", "--password-file", str(tmp_path / "password"))
    server = Running(tmp_path / "project", *options, "--certificate", str(CERTIFICATE))
    with server:
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.set_default_timeout(MS)
        url = f"https://127.0.0.1:{server.port}"
        assert page.goto(f"{url}/").status == 401
        page.click("a:text('Log in')")
        look_over(page, axe)
        for password, says in (("wrong", "This is not the password."), ("correct horse", "Open a")):
            page.fill("input[type=password]", password)
            page.keyboard.press("Enter")
            page.wait_for_selector(f"text={says}")
        (cookie,) = context.cookies()
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
        page.set_input_files("#upload", tmp_path / "mail.csv")
        page.wait_for_selector(".trouble h2")
        page.goto(f"{url}/files/1/people")
        page.fill("#guest", "Zoe")
        page.click("button:text('Make a link')")
        assert "It works from every machine that can reach https://" in page.text_content("main")
        look_over(page, axe)
        context.close()
        server.stop()
