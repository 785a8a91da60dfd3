"""Who may do what: the guard before every page, sessions, roles, logging in, and names.

The guard checks in this order: the Host header must be one of our addresses (prevents DNS
rebinding); what changes anything must come from a page of this server (Origin, and a CSRF token);
there must be a session whose role allows the page; nothing changes in read-only mode. Forms are
read here, up to a limit. Every answer forbids inline scripts and styles, frames, and requests to
other sites.

The address that the server prints lets its owner in, and so does the password. A link that the
owner makes lets a guest in, who can label rows and look at everything. A guest has one name, from
the link or from the first time that they say it, and nobody else's.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import re
import secrets
import socket
import time
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match

from ssme.errors import InputError
from ssme.serve import forms, pages
from ssme.serve.pages import Page, RefusedError
from ssme.serve.project import Project
from ssme.serve.settings import ServeSettings, is_loopback
from ssme.serve.store import SESSION_LIFETIME, DbThread, Session, Store
from ssme.wording import shorten

ROLES = ("anyone", "guest", "owner")
"""Each role may ask for its own pages and those of the roles before it."""
LARGEST_FORM = {"anyone": 10_000, "guest": 16_000, "owner": 1_000_000}
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
    return secrets.token_urlsafe(24)


def find_own_address(request: Request, settings: ServeSettings) -> str:
    """The address of this server as a browser that asks sees it."""
    host = request.headers.get("host", "")
    if settings.address is not None and host.lower() == settings.public_host:
        return settings.address
    return f"{request.scope['scheme']}://{host}"


def name_cookie(request: Request) -> str:
    return f"ssme-{request.scope['server'][1]}"  # browsers send cookies to every port of a host


def set_cookie(response: Any, request: Request, value: str) -> None:
    """Give a browser its session: no script can read it, no other site sends it along."""
    response.set_cookie(
        name_cookie(request),
        value,
        max_age=int(SESSION_LIFETIME.total_seconds()) if value else 0,
        httponly=True,
        secure=find_own_address(request, pages.find_project(request).settings).startswith("https:"),
        samesite="strict",
    )


class Guard:
    """ASGI middleware: only requests that may be answered reach ``app``."""

    def __init__(self, app: pages.Asgi, db: DbThread, routes: Sequence[Page]) -> None:
        self.app, self.db, self.settings, self.routes = app, db, db.settings, routes

    async def __call__(self, scope: pages.Scope, receive: pages.Receive, send: pages.Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        scope.setdefault("state", {}).update(session=None, form={})
        answer = self.app
        try:
            await self._check(scope, receive)
        except RefusedError as refused:
            answer = pages.make_refusal(scope, refused)
        except InputError:  # the database cannot be read
            text = "Look at the terminal of the server, then try again."
            problem = RefusedError(503, "The project's database cannot be read", text)
            answer = pages.make_refusal(scope, problem)
        except ClientDisconnect:  # half of a form could be another one
            return
        await answer(scope, receive, _add_headers(scope, send))

    async def _check(self, scope: pages.Scope, receive: pages.Receive) -> None:
        """Let a request through, with its session and its form in its state, or refuse it."""
        request, changes = Request(scope, receive), scope["method"] not in ("GET", "HEAD")
        self._refuse_foreign(request, changes)
        session = None
        cookie = request.cookies.get(name_cookie(request))
        if cookie is not None:
            session = await self.db.run(Store.find_session, cookie)
        scope["state"]["session"] = session
        page = next((p for p in self.routes if p.matches(scope)[0] is Match.FULL), None)
        role = "anyone" if session is None else session.role
        if "connection" in scope["state"]:
            scope["state"]["connection"].role = role
        needed = "guest" if page is None else page.role
        if ROLES.index(role) < ROLES.index(needed):
            if session is None:
                raise RefusedError(401, "Who is there?", _tell_how_to_enter(self.settings))
            raise RefusedError(403, "Only the owner can do this", "You were invited to label rows.")
        if page is not None and page.results and role == "guest":
            named = page.matches(scope)[1]["path_params"]
            if not await self.db.run(Store.shares_results, named.get("file"), named.get("job")):
                raise RefusedError(
                    403,
                    "Results are hidden while you label",
                    "Whoever knows which model leads may label with it in mind. The owner can show "
                    "results to guests on the page “Label”, under “How rows are chosen”.",
                )
        if page is None or not changes:
            return
        if self.settings.read_only and needed != "anyone":
            raise RefusedError(
                403, "Nothing can be changed here", "This server was started with --read-only."
            )
        form: dict[str, list[str]] = {}
        if not page.streams:
            form = scope["state"]["form"] = await _read_form(request, LARGEST_FORM[role])
        if needed == "anyone" or session is None:
            return
        given = request.headers.get(CSRF_HEADER) or form.get(CSRF_FIELD, [""])[0]
        if not hmac.compare_digest(given.encode(), session.csrf.encode()):
            raise RefusedError(
                403,
                "This page is too old",
                "Load the page again and repeat what you did; nothing was changed.",
            )

    def _refuse_foreign(self, request: Request, changes: bool) -> None:
        headers, host = request.headers, request.headers.get("host", "")
        if not is_own_host(self.settings, host):
            raise RefusedError(
                421,
                "This is not the address of the server",
                "The request asked for another host than this server. Open the address that "
                "`ssme serve` printed.",
            )
        site = headers.get("sec-fetch-site", "none")
        is_foreign = site in ("cross-site", "same-site")
        if (changes and headers.get("origin") != find_own_address(request, self.settings)) or (
            is_foreign and headers.get("sec-fetch-dest") != "document"
        ):
            raise RefusedError(
                403,
                "Not from here",
                "The request came from a page of another site, or did not say where it came from.",
            )


def is_own_host(settings: ServeSettings, host: str) -> bool:
    """Whether a Host header names this server.

    DNS rebinding needs a name: an address in numbers is always meant. Names are allowed where they
    are this machine's own.
    """
    found = HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1].strip("[]").lower()
    if host.lower() == settings.public_host:
        return True
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


async def _read_form(request: Request, limit: int) -> dict[str, list[str]]:
    """The fields of the form in the body, each with its values."""
    kind = request.headers.get("content-type", FORM).split(";")[0].strip().lower()
    if kind != FORM:
        raise RefusedError(415, "Not a form", f"The content type must be {FORM}.")
    length = request.headers.get("content-length", "0")
    size = int(length) if length.isdecimal() and len(length) < 12 else limit + 1
    body = bytearray()
    if size <= limit:
        async for chunk in request.stream():
            body += chunk
            size = len(body)
            if size > limit:
                break
    if size > limit:
        raise RefusedError(413, "Too large", f"A form can have at most {limit:,} bytes.")
    try:
        return parse_qs(
            body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS
        )
    except ValueError:
        text = f"It must be UTF-8 text with at most {MOST_FIELDS:,} fields."
        raise RefusedError(400, "The form cannot be read", text) from None


def _add_headers(scope: pages.Scope, send: pages.Send) -> pages.Send:
    cached = "no-cache" if scope["path"].startswith("/static/") else "no-store"

    async def send_with_headers(message: pages.Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {**HEADERS, "cache-control": cached}.items():
                headers.setdefault(name, value)
            if message["status"] >= 400 and scope["method"] not in ("GET", "HEAD"):
                headers["connection"] = "close"  # whatever is left of the body is not read
        await send(message)

    return send_with_headers


# -------------------------------------------------------------------------------------------------
# Logging in and out, links, and names.

LONGEST_NAME = 60
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds until the next password from an address is looked at: doubled with each wrong one."""
FORGOTTEN = 600.0
"""Seconds after which wrong passwords from an address count no more."""
WAITING = 5
"""Passwords from one address that can wait at the same time."""
ADDRESSES = 1_000
"""Addresses whose wrong passwords are counted."""


async def enter(request: Request, project: Project) -> Response:
    """Let a browser in that brings a token nobody has used."""
    token, name = (request.query_params.get(field, "") for field in ("token", "name"))
    cookie, before = make_secret(), request.state.session

    def use(store: Store) -> bool:
        found = store.use_token(token)
        if found is not None:
            role, bound = found
            _begin_session(store, cookie, before, role, name, bound)
        return found is not None

    if token and await project.db.run(use):
        return await _welcome(request, project, cookie)
    if before is not None:
        return pages.go_to("/")
    return pages.render(
        request,
        "refused.html",
        status=403,
        title="This address is not good any more",
        text="It was used before, it is too old, or it is not one of this server. Start `ssme "
        "serve` again, or ask the owner for a link (page “People”).",
    )


async def sign_in(request: Request, project: Project) -> Response:
    """Let a browser in whose user knows the password, as an owner."""
    password, problem = project.settings.password, ""
    if password is None:
        return pages.go_to("/")
    if request.method == "POST":
        form = pages.read_form(request)
        given, name = forms.first(form, "password"), forms.first(form, "name")
        throttle: Throttle = request.app.state.throttle
        if await throttle.is_right(_find_address(request), given, password):
            cookie = make_secret()
            await project.db.run(_begin_session, cookie, request.state.session, "owner", name)
            return await _welcome(request, project, cookie)
        problem = "This is not the password."
    return pages.render(request, "login.html", status=403 if problem else 200, problem=problem)


async def log_out(request: Request, project: Project) -> Response:
    session: Session | None = request.state.session
    if session is not None:
        await project.db.run(Store.end_entry, session.id)
    request.state.session = None
    text = "To come back, use the password, a new link, or the address that a new start prints."
    response = pages.render(request, "refused.html", title="You are logged out", text=text)
    set_cookie(response, request, "")
    return response


async def name_me(request: Request, project: Project) -> Response:
    """Say who labels in this browser."""
    form = pages.read_form(request)
    person, session = _clean(forms.first(form, "name")), pages.find_session(request)
    if not person:
        raise InputError("the name is empty", hint="write the name that your labels shall carry")

    def name_session(store: Store) -> None:
        if person == session.annotator:
            return
        if session.role == "guest" and session.annotator:
            raise InputError(
                f"your labels carry the name {session.annotator}",
                hint="ask the owner for a link with another name",
            )
        if _is_taken(store, session.role, person):
            raise InputError(
                f"somebody else has the name {person}",
                hint="take another one; to go on under a name that you had before, ask the owner "
                "for a link with it",
            )
        store.name_session(session.id, person)

    await project.db.run(name_session)
    return _go_back(form)


async def invite(request: Request, project: Project) -> Response:
    token, form = make_secret(), pages.read_form(request)
    name = _clean(forms.first(form, "name"))
    await project.db.run(Store.add_token, token, "guest", name)
    address = find_shared_address(request)
    is_near = is_loopback(urlsplit(address).hostname or "")
    return pages.render(
        request, "invite.html", link=f"{address}/enter?token={token}", name=name, is_near=is_near
    )


def find_shared_address(request: Request) -> str:
    """The address by which others reach this server; the present one where only this machine can.

    An owner who came by the printed address, which is that of this machine for itself, hands out
    the one that it has in the network.
    """
    settings = pages.find_project(request).settings
    address = find_own_address(request, settings)
    if settings.address is not None:
        return settings.address
    if is_loopback(settings.host) or not is_loopback(urlsplit(address).hostname or ""):
        return address
    host = settings.host
    if host in ("0.0.0.0", "::"):
        family = socket.AF_INET if host == "0.0.0.0" else socket.AF_INET6
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            # nothing is sent: the system chooses the address from which it would be
            probe.connect(("192.0.2.1" if family is socket.AF_INET else "2001:db8::1", 9))
            host = probe.getsockname()[0]
        if host == settings.host:
            return address
    scheme, port = request.scope["scheme"], request.scope["server"][1]
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


async def end_entry(request: Request, project: Project) -> Response:
    form = pages.read_form(request)
    await project.db.run(Store.end_entry, forms.first(form, "entry"))
    return _go_back(form)


def _go_back(form: forms.Form) -> Response:
    """Send the browser to the page that a form came from, which is one of ours."""
    back = forms.first(form, "back") or "/"
    return pages.go_to(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/")


def _begin_session(
    store: Store, cookie: str, before: Session | None, role: str, name: str, bound: str = ""
) -> None:
    """Let a browser in; its earlier session ends. A name that is taken is asked for again."""
    person = bound or _clean(name)
    if not bound and _is_taken(store, role, person):
        person = ""
    if before is not None:
        store.end_entry(before.id)
    store.add_session(cookie, make_secret(), role, person)


async def _welcome(request: Request, project: Project, cookie: str) -> Response:
    """Lead to the file that the server was started with, a guest to the rows of the only file."""
    session = await project.db.run(Store.find_session, cookie)
    files = await project.db.run(Store.list_files)
    target = "/" if project.opened is None else f"/files/{project.opened}"
    if session is not None and session.role == "guest" and len(files) == 1:
        target = f"/files/{files[0].id}/label"
    response = pages.render(request, "welcome.html", target=target)
    set_cookie(response, request, cookie)
    return response


def _is_taken(store: Store, role: str, person: str) -> bool:
    """Whether a name belongs to somebody else.

    A guest can have a name that nobody has had; an owner, who may come back with each start of the
    server, any that no guest has now.
    """
    if role == "guest":
        taken = store.list_names() | {*store.list_annotators()}
    else:
        taken = {each.annotator for each in store.list_entries() if each.role == "guest"}
    return _fold(person) in map(_fold, taken)


def _clean(name: str) -> str:
    """A name without what cannot be seen, which would make two of one."""
    name = "".join(letter for letter in name if letter.isprintable() or letter.isspace())
    name = " ".join(name.split())
    return shorten(name, LONGEST_NAME) if name else ""


def _fold(name: str) -> str:
    """Names that people take for the same have the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def _find_address(request: Request) -> str:
    """The address of a client; for IPv6 its network, in which a client has many addresses."""
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return host if address.version == 4 else str(ipaddress.ip_network((host, 64), strict=False))


@dataclass
class Attempts:
    """Wrong passwords from one address."""

    wrong: int = 0
    next_at: float = 0.0
    waiting: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Throttle:
    """Lets each address try one password at a time, after a pause that grows with wrong ones.

    Nobody is locked out: the right password is good after the pause, other addresses do not wait,
    and neither does a link.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._found: dict[str, Attempts] = {}
        self._clock = clock

    async def is_right(self, address: str, given: str, password: str) -> bool:
        """Whether ``given`` is the password; comparing takes the same time for any text."""
        self._forget()
        tried = self._found.setdefault(address, Attempts())
        if tried.waiting >= WAITING:
            raise RefusedError(
                429,
                "Too many passwords at the same time",
                f"Wait {LONGEST_PAUSE:g} seconds, or use the address that `ssme serve` printed.",
            )
        tried.waiting += 1
        try:
            async with tried.turn:
                await asyncio.sleep(max(0.0, tried.next_at - self._clock()))
                right = hmac.compare_digest(given.encode(), password.encode())
                tried.wrong = 0 if right else tried.wrong + 1
                pause = min(FIRST_PAUSE * 2 ** (tried.wrong - 1), LONGEST_PAUSE)
                tried.next_at = self._clock() + (0.0 if right else pause)
        finally:
            tried.waiting -= 1
        return right

    def _forget(self) -> None:
        """Drop what is long ago, and the oldest where there are too many."""
        long_ago = self._clock() - FORGOTTEN
        idle = [key for key, each in self._found.items() if not each.waiting]
        excess = len(self._found) - ADDRESSES
        for place, key in enumerate(idle):
            if place < excess or self._found[key].next_at < long_ago:
                del self._found[key]
