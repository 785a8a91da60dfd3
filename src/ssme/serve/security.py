"""The guard before every page: who may ask, from where, and what a browser may do with the answer.

In this order: the Host must be an address of this server (a name that a stranger's DNS points at
this machine is none); what changes anything must come from a page of this server (Origin, and a
token that other sites cannot read); a session must be there; nothing changes in read-only mode.
Every answer forbids scripts and styles inside pages, frames, and requests to anywhere else.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from ssme.serve.desk import Desk
from ssme.serve.settings import ServeSettings, is_loopback
from ssme.serve.store import Session

__all__ = ["CSRF_FIELD", "Guard", "make_secret", "name_cookie", "set_cookie"]

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf"
LARGEST_FORM = 1_000_000
"""Bytes of a form; files are not sent as forms."""
DAYS = 30
"""How long a browser stays let in."""
OPEN_PATHS = ("/static/", "/enter", "/login")

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
    response.set_cookie(
        name_cookie(port), value, max_age=DAYS * 86_400, httponly=True, samesite="strict", path="/"
    )


class Guard:
    """ASGI middleware; ``refuse(scope, status, title, text)`` makes the page of a refusal."""

    def __init__(
        self,
        app: Asgi,
        desk: Desk,
        refuse: Callable[[Scope, int, str, str], Asgi],
    ) -> None:
        self.app, self.desk, self.settings, self.refuse = app, desk, desk.settings, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1"): v.decode("latin-1") for key, v in scope["headers"]}
        scope.setdefault("state", {})["session"] = None
        guarded = _add_headers(send, scope["path"].startswith("/static/"))
        problem = self._refuse_foreign(scope, headers)
        if problem is None:
            scope["state"]["session"] = await self._find_session(scope, headers)
            problem, receive = await self._tell_not_allowed(scope, headers, receive)
        answer = self.app if problem is None else self.refuse(scope, *problem)
        await answer(scope, receive, guarded)

    def _refuse_foreign(
        self, scope: Scope, headers: Mapping[str, str]
    ) -> tuple[int, str, str] | None:
        host = headers.get("host", "")
        if not is_own_host(self.settings, host):
            return (
                421,
                "This is not the address of the server",
                "The request asked for another host than this server. Open the address that "
                "`ssme serve` printed.",
            )
        site = headers.get("sec-fetch-site", "none")
        changes = scope["method"] not in ("GET", "HEAD")
        origin = headers.get("origin")
        if changes and origin != f"{scope['scheme']}://{host}":
            return (
                403,
                "Not from here",
                "The request came from a page of another site, or did not say where it came from.",
            )
        if site in ("cross-site", "same-site") and headers.get("sec-fetch-dest") != "document":
            return 403, "Not from here", "The request came from a page of another site."
        return None

    async def _find_session(self, scope: Scope, headers: Mapping[str, str]) -> Session | None:
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return None
        found = cookies.get(name_cookie(scope["server"][1]))
        if found is None:
            return None
        return await self.desk.ask(lambda records: records.store.find_session(found.value))

    async def _tell_not_allowed(
        self, scope: Scope, headers: Mapping[str, str], receive: Receive
    ) -> tuple[tuple[int, str, str] | None, Receive]:
        session: Session | None = scope["state"]["session"]
        if scope["path"].startswith(OPEN_PATHS):
            return None, receive
        if session is None:
            return (401, "Who is there?", _tell_how_to_enter(self.settings)), receive
        if scope["method"] in ("GET", "HEAD"):
            return None, receive
        if self.settings.read_only:
            return (
                403,
                "Nothing can be changed here",
                "This server was started with --read-only.",
            ), receive
        given = headers.get(CSRF_HEADER)
        if given is None:
            form, receive = await _read_form(receive)
            if form is None:
                return (413, "Too large", "A form may have a million characters."), receive
            given = form.get(CSRF_FIELD, [""])[0]
        if not hmac.compare_digest(given.encode(), session.csrf.encode()):
            return (
                403,
                "This page is too old",
                "Load the page again and repeat what you did; nothing was changed.",
            ), receive
        return None, receive


def is_own_host(settings: ServeSettings, host: str) -> bool:
    """Whether a Host header names this server.

    DNS rebinding needs a name: an address in numbers is always meant. Names are allowed where they
    are this machine's own.
    """
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    name = name.strip("[]").lower()
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        own = {"localhost"}
        if not is_loopback(settings.host):
            own |= {socket.gethostname().lower(), socket.getfqdn().lower(), settings.host.lower()}
        return name in own
    return address.is_loopback or not is_loopback(settings.host)


def _tell_how_to_enter(settings: ServeSettings) -> str:
    if settings.password is not None:
        return "Log in first."
    return (
        "Open the address that `ssme serve` printed when it was started. Its token works once; a "
        "person who is in can make a link for the next one on the page “People”."
    )


async def _read_form(receive: Receive) -> tuple[dict[str, list[str]] | None, Receive]:
    """The form in the body, and a ``receive`` that gives the same body again."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            break
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > LARGEST_FORM:
            return None, receive
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True), replay


def _add_headers(send: Send, is_static: bool) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {key.lower() for key, _ in message.get("headers", [])}
            extra = {**HEADERS, "cache-control": "no-cache" if is_static else "no-store"}
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
