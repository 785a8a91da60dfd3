"""Roles, names and sessions: who may do what, under which name, and for how long."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import ADDRESS, House, restarted
from tests.serve.test_labeling import row_of

from ssme.serve.app import PAGES, Page
from ssme.serve.auth import ROLES
from ssme.serve.store import Store

pytestmark = pytest.mark.web

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


class Visitor:
    """A browser of somebody in a role."""

    def __init__(self, house: House, role: str, name: str = "") -> None:
        self.house, self.client, self.csrf = house, house.browser(), ""
        if role != "anyone":
            self.csrf = house.enter(name or role, self.client, role)

    def ask(self, method: str, path: str, **fields: str) -> Any:
        changes = method not in ("GET", "HEAD")
        return self.client.request(
            method,
            path,
            data={"csrf": self.csrf, **fields} if changes else None,
            headers={"origin": ADDRESS, "x-csrf": self.csrf} if changes else {},
            follow_redirects=False,
        )

    def post(self, path: str, **fields: str) -> Any:
        return self.ask("POST", path, **fields)


def fill(path: str) -> str:
    values = {"{name}": "serve.css", "{file:number}": "1", "{job:number}": "1"}
    return re.sub(r"{[^}]+}", lambda found: values[found[0]], path)


def test_every_page_declares_a_role(house: House) -> None:
    served = house.app.app.routes
    assert served == PAGES
    assert all(isinstance(page, Page) and page.role in ROLES for page in served)
    open_to_all = {page.path for page in PAGES if page.role == "anyone"}
    assert open_to_all == {"/static/{name}", "/health", "/enter", "/login", "/logout"}
    for_guests = {page.path for page in PAGES if page.role == "guest" and "POST" in page.methods}
    assert for_guests == {"/me", "/files/{file:number}/label", "/files/{file:number}/keys"}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_reaches_its_pages_and_no_other(ready: House, role: str) -> None:
    """Every path with every method, for a stranger, a guest and an owner."""
    wrong = []
    ready.db.run_now(Store.update_file, 1, shared=1)
    for path in sorted({page.path for page in PAGES} | {"/nothing", "/jobs/"}):
        for method in METHODS:
            visitor = Visitor(ready, role, f"{method} {path}")
            pages = [page for page in PAGES if page.path_regex.match(fill(path))]
            allowed = {page.role for page in pages if method in page.methods}
            needed = min(allowed, key=ROLES.index, default="guest")
            status = visitor.ask(method, fill(path)).status_code
            if ROLES.index(role) < ROLES.index(needed):
                is_right = status == (401 if role == "anyone" else 403)
            elif not allowed:
                is_right = status == (405 if pages else 404)
            elif path == "/enter":
                is_right = status == (403 if role == "anyone" else 303)
            else:
                is_right = status in (200, 303, 400)
            if not is_right:
                wrong.append(f"{method} {path} by {role}: {status}")
    assert wrong == []


def test_what_a_guest_may_not_do_changes_nothing(ready: House) -> None:
    """The settings, files, jobs, rows in conflict and the way in stay with the owner."""
    guest = Visitor(ready, "guest", "Gil")

    def look(store: Any) -> Any:
        return (
            store.list_files(),
            store.list_jobs(),
            store.list_entries(),
            store.memory("file 1").label_events(),
        )

    before = ready.db.run_now(look)
    fields = {"sample": "1", "design": "random", "level": "50", "part-3": "out", "entry": "x"}
    for page in PAGES:
        if page.role == "owner":
            (method,) = page.methods
            assert guest.ask(method, fill(page.path), **fields).status_code == 403
            assert ready.db.run_now(look) == before


def test_a_guest_labels_and_sees_no_form_that_is_refused(ready: House) -> None:
    guest = Visitor(ready, "guest", "Gil")
    row = row_of(guest.client.get("/files/1/label").text)
    assert guest.post("/files/1/label", row=row, label="1").status_code == 303
    (event,) = ready.db.run_now(lambda store: store.memory("file 1").label_events())
    assert (event.annotator, event.label) == ("Gil", 1)
    for path in ("/", "/jobs", "/files/1", "/files/1/label", "/files/1/result", "/files/1/people"):
        text = guest.client.get(path).text
        for page in PAGES:
            if page.role == "owner" and not (path == "/files/1" and "mapping" in page.path):
                assert f'action="{fill(page.path)}"' not in text


# names


def name_of(visitor: Visitor) -> str:
    cookie = visitor.client.cookies["ssme-8477"]
    found = visitor.house.db.run_now(lambda store: store.find_session(cookie))
    assert found is not None
    return found.annotator


def test_a_guest_cannot_take_the_name_of_anybody(ready: House) -> None:
    """Of the owner, another guest, a link, a label from before, or somebody whose access ended."""
    from ssme.memory import LabelEvent

    Visitor(ready, "guest", "Bob")
    gone = Visitor(ready, "guest", "Gone")
    gone.post("/logout")
    ready.post("/invite", name="Lin")
    ready.db.run_now(lambda store: store.memory("other").add_labels([LabelEvent("r", 1, "Old")]))
    for name in ("Ada", "ada", " ADA ", "Ada\u200b", "\uff21da", "Bob", "Lin", "Old", "Gone"):
        guest = Visitor(ready, "guest", " ")
        answer = guest.post("/me", name=name)
        assert answer.status_code == 400
        assert "somebody else has the name" in answer.text.lower()
        assert name_of(guest) == ""
        ready.db.run_now(lambda store: store.add_token("t", "guest"))
        guest.client.get("/enter", params={"token": "t", "name": name})
        assert name_of(guest) == ""


def test_a_guest_has_one_name(ready: House) -> None:
    guest = Visitor(ready, "guest", " ")
    assert guest.post("/me", name="Gil").status_code == 303
    assert guest.post("/me", name="Gil").status_code == 303
    assert guest.post("/me", name="Gus").status_code == 400
    assert name_of(guest) == "Gil"


def test_a_link_can_carry_the_name_of_its_guest(ready: House) -> None:
    """The owner can so give a name back to somebody whose session ended."""
    Visitor(ready, "guest", "Gil").post("/logout")
    link = ready.post("/invite", name="Gil").text.split('value="')[1].split('"')[0]
    guest = Visitor(ready, "anyone")
    assert guest.client.get(f"{link}&name=Eve").status_code == 200
    assert name_of(guest) == "Gil"
    guest.csrf = guest.client.get("/").text.split('name="csrf" content="')[1].split('"')[0]
    assert guest.post("/me", name="Eve").status_code == 400


def test_a_link_says_from_where_it_works(house: House, tmp_path: Path) -> None:
    house.enter()
    assert "on this machine alone" in house.post("/invite").text
    password = tmp_path / "password"
    password.write_text("open sesame\n", encoding="utf-8")
    wide = restarted(house, host="0.0.0.0", password_file=password)
    wide.enter()
    page = wide.post("/invite").text
    address = re.search(r'value="http://([^/:]+):(\d+)/enter', page)
    assert address is not None
    assert "every machine that can reach" in page or address[1] == "127.0.0.1"  # without a network
    behind = restarted(wide, host="127.0.0.1", address="https://labels.example.org")
    behind.enter()
    page = behind.post("/invite").text
    assert 'value="https://labels.example.org/enter?token=' in page
    assert "every machine that can reach https://labels.example.org" in page
    behind.db.close()


def test_behind_a_proxy_the_page_has_the_address_of_the_proxy(house: House) -> None:
    """The proxy passes the Host header on, and may not say that it was asked by https."""
    behind = restarted(house, address="https://labels.example.org")
    behind.db.run_now(lambda store: store.add_token("t", "owner"))
    headers = {"host": "labels.example.org", "origin": "https://labels.example.org"}
    welcome = behind.client.get("/enter", params={"token": "t"}, headers=headers)
    assert "Secure" in welcome.headers["set-cookie"]
    cookie = welcome.headers["set-cookie"].split(";")[0]
    page = behind.client.get("/", headers={**headers, "cookie": cookie}).text
    csrf = page.split('name="csrf" content="')[1].split('"')[0]

    def name(**changed: str) -> int:
        sent = {**headers, "cookie": cookie, **changed}
        answer = behind.client.post(
            "/me", data={"csrf": csrf, "name": "Ada"}, headers=sent, follow_redirects=False
        )
        return int(answer.status_code)

    assert name() == 303
    assert name(origin="http://labels.example.org") == 403
    assert name(host="labels.example.org.evil.org") == 421
    behind.db.close()


def test_whoever_comes_in_is_where_they_go_on(ready: House) -> None:
    ready.db.run_now(lambda store: store.add_token("g", "guest", "Bob"))
    welcome = ready.browser().get("/enter", params={"token": "g"}).text
    assert "0; url=/files/1/label" in welcome
    ready.app.app.state.project.opened = 1
    ready.db.run_now(lambda store: store.add_token("o", "owner"))
    assert "0; url=/files/1" in ready.browser().get("/enter", params={"token": "o"}).text


def test_an_owner_cannot_take_the_name_of_a_guest_who_is_in(ready: House) -> None:
    guest = Visitor(ready, "guest", "Gil")
    assert ready.post("/me", name="Gil").status_code == 400
    guest.post("/logout")
    assert ready.post("/me", name="Gil").status_code == 303


# sessions


def later(ready: House, days: float, column: str) -> None:
    """Let all sessions have begun, or been seen last, so many days earlier."""
    with sqlite3.connect(ready.settings.memory_file) as connection:
        connection.execute(
            f"UPDATE session SET {column} ="
            f" strftime('%Y-%m-%dT%H:%M:%f', {column}, '-{days} days') || '000+00:00'"
        )
    connection.close()


@pytest.mark.parametrize(("column", "days"), [("seen_at", 7), ("made_at", 30)])
def test_a_session_ends_when_it_is_old_or_nobody_uses_it(
    ready: House, column: str, days: int
) -> None:
    later(ready, days - 0.5, column)
    assert ready.client.get("/").status_code == 200
    later(ready, days, column)
    assert ready.client.get("/").status_code == 401
    assert ready.post("/files/1/evaluate").status_code == 401


def test_a_session_that_is_used_goes_on(ready: House) -> None:
    for _ in range(4):
        later(ready, 5, "seen_at")
        assert ready.client.get("/").status_code == 200


def test_logging_out_ends_the_session_in_the_server_too(ready: House) -> None:
    cookie = ready.client.cookies["ssme-8477"]
    answer = ready.post("/logout")
    assert answer.status_code == 200
    assert 'ssme-8477=""; HttpOnly; Max-Age=0' in answer.headers["set-cookie"]
    stranger = ready.browser()
    stranger.cookies.set("ssme-8477", cookie)
    assert stranger.get("/").status_code == 401


def test_coming_in_again_ends_the_session_of_before(ready: House) -> None:
    before = ready.client.cookies["ssme-8477"]
    ready.enter("Ada")
    now = ready.client.cookies["ssme-8477"]
    assert now != before
    find = ready.db.run_now
    assert find(lambda store: store.find_session(before)) is None
    assert find(lambda store: store.find_session(now)) is not None


def test_the_owner_ends_the_access_of_a_guest_and_labels_stay(ready: House) -> None:
    guest = Visitor(ready, "guest", "Gil")
    row = row_of(guest.client.get("/files/1/label").text)
    guest.post("/files/1/label", row=row, label="1")
    entries = ready.db.run_now(lambda store: store.list_entries())
    (entry,) = [each.id for each in entries if each.annotator == "Gil"]
    assert entry in ready.client.get("/files/1/people").text
    assert ready.post("/end", entry=entry, back="/files/1/people").status_code == 303
    assert guest.client.get("/").status_code == 401
    assert guest.post("/files/1/label", row=row, label="0").status_code == 401
    events = ready.db.run_now(lambda store: store.memory("file 1").label_events())
    assert [(each.annotator, each.label) for each in events] == [("Gil", 1)]


def test_a_link_can_be_taken_back_and_gets_old(ready: House) -> None:
    def make_link() -> str:
        return str(ready.post("/invite").text.split('value="')[1].split('"')[0])

    link = make_link()
    (entry,) = [
        each.id for each in ready.db.run_now(lambda store: store.list_entries()) if not each.seen_at
    ]
    ready.post("/end", entry=entry)
    assert ready.browser().get(link).status_code == 403
    link = make_link()
    with sqlite3.connect(ready.settings.memory_file) as connection:
        connection.execute("UPDATE token SET made_at = '2020-01-01T00:00:00.000000+00:00'")
    connection.close()
    assert ready.browser().get(link).status_code == 403


def test_sessions_outlive_a_restart_and_addresses_do_not(ready: House) -> None:
    cookie = ready.client.cookies["ssme-8477"]
    ready.db.run_now(Store.renew_owner_token, "first")
    again = restarted(ready)
    again.db.run_now(Store.renew_owner_token, "second")
    again.client.cookies.set("ssme-8477", cookie)
    assert again.client.get("/").status_code == 200
    assert again.browser().get("/enter?token=first").status_code == 403
    assert again.browser().get("/enter?token=second").status_code == 200
    again.db.close()
