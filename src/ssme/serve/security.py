"""The guard before every page: who may ask, from where, how much; what a browser may do with it.

In this order: the Host header must be one of our addresses (prevents DNS rebinding); what changes
anything must come from a page of this server (Origin, and a token that other sites cannot read); a
session must be there whose role allows the page; nothing changes in read-only mode. Forms are read
here, up to a limit. Every answer forbids scripts and styles inside pages, frames, and requests to
anywhere else.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import cache
from http.cookies import CookieError, SimpleCookie
from typing import Any, Protocol
from urllib.parse import parse_qs

from ssme.errors import InputError
from ssme.serve.desk import Desk
from ssme.serve.settings import ServeSettings, is_loopback
from ssme.serve.store import LIFE, Session

__all__ = [
    "CSRF_FIELD",
    "ROLES",
    "Guard",
    "RefusedError",
    "make_secret",
    "name_cookie",
    "set_cookie",
]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

ROLES = ("anyone", "guest", "owner")
"""Each role may ask for its own pages and those of the roles before it."""
LARGEST_FORM = {"anyone": 10_000, "guest": 50_000, "owner": 1_000_000}
"""Bytes of a form by the role of whoever sends it; files are not sent as forms."""
MOST_FIELDS = 25_000
"""Fields of a form; the page of a file has one for each column."""
CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf"
FORM = "application/x-www-form-urlencoded"
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/?#\\\s]+)(:[0-9]{1,5})?", re.ASCII | re.IGNORECASE)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


def make_secret() -> str:
    """A text that nobody can guess."""
    return secrets.token_urlsafe(24)


def name_cookie(port: int) -> str:
    """Cookies do not tell ports apart, so the name does."""
    return f"ssme-{port}"


def set_cookie(response: Any, port: int, value: str) -> None:
    """Give a browser its session: no script can read it, no other site sends it along."""
    age = int(LIFE.total_seconds()) if value else 0
    response.set_cookie(
        name_cookie(port), value, max_age=age, httponly=True, samesite="strict", path="/"
    )


class RefusedError(Exception):
    """A request that is not served: the status of the answer, its title and what to do."""

    def __init__(self, status: int, title: str, text: str) -> None:
        self.status, self.title, self.text = status, title, text
        super().__init__(title)


class DisconnectedError(Exception):
    """The browser went away before all of the request was there."""


class GuardedPage(Protocol):
    """What the guard has to know of a page: who may ask for it, and whether its body is a file."""

    role: str
    streams: bool


class Guard:
    """ASGI middleware.

    Parameters
    ----------
    app : Asgi
        What answers the requests that are let through.
    desk : Desk
        Where sessions are found.
    find_page : callable
        The page that a request asks for; None where there is none.
    refuse : callable
        Makes the answer to a request that is refused.
    """

    def __init__(
        self,
        app: Asgi,
        desk: Desk,
        find_page: Callable[[Scope], GuardedPage | None],
        refuse: Callable[[Scope, RefusedError], Asgi],
    ) -> None:
        self.app, self.desk, self.settings = app, desk, desk.settings
        self.find_page, self.refuse = find_page, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {}).update(session=None, form={})
        answer = self.app
        try:
            await self._check(scope, receive)
        except RefusedError as refused:
            answer = self.refuse(scope, refused)
        except InputError:  # the database cannot be read
            text = (
                "Its database cannot be read. Look at the terminal of the server, then try again."
            )
            answer = self.refuse(scope, RefusedError(503, "The project is not available", text))
        except DisconnectedError:
            return
        await answer(scope, receive, _add_headers(scope, send))

    async def _check(self, scope: Scope, receive: Receive) -> None:
        """Let a request through, with its session and its form in its state, or refuse it."""
        headers = {key.decode("latin-1"): v.decode("latin-1") for key, v in scope["headers"]}
        changes = scope["method"] not in ("GET", "HEAD")
        self._refuse_foreign(scope, headers, changes)
        session = scope["state"]["session"] = await self._find_session(scope, headers)
        page = self.find_page(scope)
        role = "anyone" if session is None else session.role
        if "connection" in scope["state"]:
            scope["state"]["connection"].role = role
        needed = "guest" if page is None else page.role
        if ROLES.index(role) < ROLES.index(needed):
            if session is None:
                raise RefusedError(401, "Who is there?", _tell_how_to_enter(self.settings))
            raise RefusedError(403, "Only the owner can do this", "You were invited to label rows.")
        if page is None or not changes:
            return
        if self.settings.read_only and needed != "anyone":
            raise RefusedError(
                403, "Nothing can be changed here", "This server was started with --read-only."
            )
        form: dict[str, list[str]] = {}
        if not page.streams:
            form = scope["state"]["form"] = await _read_form(receive, headers, LARGEST_FORM[role])
        if needed == "anyone" or session is None:
            return
        given = headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, [""])[0]
        if not hmac.compare_digest(given.encode(), session.csrf.encode()):
            raise RefusedError(
                403,
                "This page is too old",
                "Load the page again and repeat what you did; nothing was changed.",
            )

    def _refuse_foreign(self, scope: Scope, headers: Mapping[str, str], changes: bool) -> None:
        host = headers.get("host", "")
        if not is_own_host(self.settings, host):
            raise RefusedError(
                421,
                "This is not the address of the server",
                "The request asked for another host than this server. Open the address that "
                "`ssme serve` printed.",
            )
        if changes and headers.get("origin") != f"{scope['scheme']}://{host}":
            raise RefusedError(
                403,
                "Not from here",
                "The request came from a page of another site, or did not say where it came from.",
            )
        site = headers.get("sec-fetch-site", "none")
        if site in ("cross-site", "same-site") and headers.get("sec-fetch-dest") != "document":
            raise RefusedError(
                403, "Not from here", "The request came from a page of another site."
            )

    async def _find_session(self, scope: Scope, headers: Mapping[str, str]) -> Session | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return None
        found = cookies.get(name_cookie(scope["server"][1]))
        if found is None:
            return None
        return await self.desk.ask(lambda records: records.store.find_session(found.value))


def is_own_host(settings: ServeSettings, host: str) -> bool:
    """Whether a Host header names this server.

    DNS rebinding needs a name: an address in numbers is always meant. Names are allowed where they
    are this machine's own.
    """
    found = HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].strip("[]").lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or (
            not is_loopback(settings.host) and name in {*_find_own_names(), settings.host.lower()}
        )
    return address.is_loopback or not is_loopback(settings.host)


@cache
def _find_own_names() -> tuple[str, str]:
    """Names of this machine; the DNS is asked once, not for each request."""
    return socket.gethostname().lower(), socket.getfqdn().lower()


def _tell_how_to_enter(settings: ServeSettings) -> str:
    if settings.password is not None:
        return "Log in first."
    return (
        "Open the address that `ssme serve` printed when it was started. It works once; if it was "
        "used, stop the server and start it again. The owner can make a link for another person on "
        "the page “People”."
    )


async def _read_form(
    receive: Receive, headers: Mapping[str, str], limit: int
) -> dict[str, list[str]]:
    """The fields of the form in the body, each with its values."""
    kind = headers.get("content-type", FORM).split(";")[0].strip().lower()
    if kind != FORM:
        raise RefusedError(415, "Not a form", f"The content type must be {FORM}.")
    length = headers.get("content-length", "0")
    size = int(length) if length.isdecimal() and len(length) < 12 else limit + 1
    body, more = bytearray(), True
    while more and size <= limit:
        message = await receive()
        if message["type"] == "http.disconnect":  # half of a form could be another one
            raise DisconnectedError
        body += message.get("body", b"")
        size, more = max(size, len(body)), message.get("more_body", False)
    if size > limit:
        raise RefusedError(413, "Too large", f"A form can have at most {limit:,} bytes.")
    try:
        return parse_qs(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        text = f"It must be UTF-8 text with at most {MOST_FIELDS:,} fields."
        raise RefusedError(400, "The form cannot be read", text) from None


def _add_headers(scope: Scope, send: Send) -> Send:
    cached = "no-cache" if scope["path"].startswith("/static/") else "no-store"

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {key.lower() for key, _ in message.get("headers", [])}
            extra = {**HEADERS, "cache-control": cached}
            if message["status"] >= 400 and scope["method"] not in ("GET", "HEAD"):
                extra["connection"] = "close"  # whatever is left of the body is not read
            message["headers"] = [
                *message.get("headers", []),
                *(
                    (key.encode(), value.encode())
                    for key, value in extra.items()
                    if key.encode() not in given
                ),
            ]
        await send(message)

    return send_with_headers
