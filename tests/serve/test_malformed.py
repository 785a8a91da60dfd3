"""Requests that no page of ours sends: each is refused with a status below 500."""

from __future__ import annotations

import random
import re
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.serve.conftest import ADDRESS, House, Loop, send_request

from ssme.serve.app import PAGES, Page
from ssme.serve.auth import ROLES
from ssme.serve.store import Store

pytestmark = pytest.mark.web

SEED, ROUNDS = 24, 40
"""Each page gets so many requests of each role, drawn with this seed."""
HUGE = "9" * 5000
NUMBERS = ("1", "2", "0", "999", "00001", str(2**63 - 1), str(2**63), HUGE, "-1", "1.0", "x", "١")
NAMES = ("serve.css", "report.html", "%00", "%ff", "..%2f..%2fetc", "a" * 3000, "%F0%9F%98%80", "")
TEXTS = (
    *("", HUGE, '{"a": 1}', "[[[[" * 5000, '"row-1"', '"\\ud800"', '"\\u0000"', "\0", "a\0b"),
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    *("/" * 5000, "//evil.example", "é" * 100, "\u202e\u200b"),
    *[
        "1",
        "0",
        "-1",
        "²",
        "١",
        "null",
        "true",
        "[]",
        "{}",
        "NaN",
        "1e999",
        "97,5",
        "100",
        "<script>",
        "../../etc/passwd",
    ],
    *["label", "other", "unsure", "skip", "undo", "back", "goal", "random"],
)
WORDS = """
csrf row label other do key design name back path sample entry password token classes positive
unlabeled pattern layout delimiter logits normalize models_named metric method level part-0 part-1
part-99999 columns_from decimal encoding grades
"""
FIELDS = WORDS.split()
BODIES = (
    b"",
    b"\xff\xfe\x00",
    b"%",
    b"%ff=%fe",
    b"%zz=1&=&&&==",
    b"a=1&" * 30_000,
    b"\0" * 100,
    b'{"row": 1}',
    b"x" * 2_000_000,
    "row=\u2028&label=1".encode("utf-16"),
)
FORM = "application/x-www-form-urlencoded"
WRONG = {
    "content-type": (
        *("application/json", "multipart/form-data", "multipart/form-data; boundary=x"),
        *(f"{FORM}; charset=utf-16", "\xff;;;="),
    ),
    "content-length": ("-1", HUGE, "5"),
    "cookie": (
        *('ssme-8477="\\400\\000\\777"', "ssme-8477=" + "é" * 50, "\x00;=;ssme-8477"),
        "ssme-8477=" + "a" * 20_000,
    ),
    "accept": ("application/json", "\xff\xfe"),
    "host": (
        *("[127.0.0.1", "127.0.0.1]:8477", "127.0.0.1:8477/x", "127.0.0.1:99999999"),
        *("user@127.0.0.1:8477", "[::1]:x", "\xff"),
    ),
    **dict.fromkeys(("x-csrf", "origin", "sec-fetch-site", "if-none-match"), ("ÿ",)),
    "range": ("bytes=9-1", "bytes=" + "0-1," * 500),
    "expect": ("200-ok",),
    "transfer-encoding": ("chunked, chunked",),
}
HEADERS = [{name: value} for name, values in WRONG.items() for value in values]
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "FOO", "get", "é")


def draw_request(page: Page, rng: random.Random) -> dict[str, Any]:
    """A request for a page of which something is wrong, or several things."""
    method: str = rng.choice(sorted(page.methods - {"HEAD"}))
    headers = {"content-type": FORM}
    query = urlencode({name: rng.choice(TEXTS) for name in rng.sample(FIELDS, 2)})
    body = urlencode({name: rng.choice(TEXTS) for name in rng.sample(FIELDS, 8)}).encode()
    wrong = rng.choice(("method", "body", "headers", "query", "number", "fields"))
    if wrong == "method":
        method = rng.choice(METHODS)
    elif wrong == "body":
        body = rng.choice(BODIES)
    elif wrong == "headers":
        headers |= rng.choice(HEADERS)
    elif wrong == "query":
        query = rng.choice(("%ff=%fe", "a&&=;", "path=%00", f"token={HUGE}", "=" * 500))

    def fill(found: re.Match[str]) -> str:
        if found[0] == "{name}":
            return rng.choice(NAMES)
        return quote(rng.choice(NUMBERS)) if wrong == "number" else "1"

    path = re.sub(r"{[^}]+}", fill, page.path)
    return {"method": method, "path": path, "query": query, "headers": headers, "body": body}


@pytest.mark.parametrize("role", ROLES)
def test_no_request_makes_the_server_fail(ready: House, role: str) -> None:
    rng, wrong = random.Random(f"{SEED} {role}"), []
    with Loop() as loop:
        for number, page in enumerate([*PAGES] * ROUNDS):
            if role != "anyone":  # each in a new session: some log out
                who = (f"c{number}", "csrf", role, "Fuzz")
                ready.db.run_now(Store.add_session, *who)
            request = draw_request(page, rng)
            request["headers"] = {
                "host": "127.0.0.1:8477",
                "origin": ADDRESS,
                "x-csrf": "csrf",
                "cookie": f"ssme-8477=c{number}",
                **request["headers"],
            }
            try:
                (status,) = loop.run(send_request(ready.app, **request))
            except Exception as error:
                status = repr(error)
            if not isinstance(status, int) or status >= 500:
                wrong.append((status, {**request, "body": request["body"][:80]}))
    assert wrong == []
