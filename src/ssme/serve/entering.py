"""How people get in and out, in which role, and under which name.

The address that the server prints lets its owner in, and so does the password. A link that the
owner makes lets a guest in, who can label rows and look at everything. A guest has one name, from
the link or from the first time that they say it, and nobody else's.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from ssme.errors import InputError
from ssme.serve.desk import Records
from ssme.serve.pages import find_project, find_session, go_to, read_form, render
from ssme.serve.security import RefusedError, make_secret, set_cookie
from ssme.serve.store import Session
from ssme.wording import shorten

__all__ = ["Throttle", "end_entry", "enter", "invite", "log_out", "name_me", "sign_in"]

LONGEST_NAME = 60
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds until the next password from an address is looked at: doubled with each wrong one."""
FORGOTTEN = 600.0
"""Seconds after which wrong passwords from an address count no more."""
WAITING = 5
"""Passwords from one address that can wait at the same time."""
ADDRESSES = 1_000
"""Addresses whose wrong passwords are counted."""


async def enter(request: Request) -> Response:
    """Let a browser in that brings a token nobody has used."""
    token, name = (request.query_params.get(field, "") for field in ("token", "name"))
    cookie, before = make_secret(), request.state.session

    def use(records: Records) -> bool:
        found = records.store.use_token(token)
        if found is None:
            return False
        role, bound = found
        _let_in(records, cookie, before, role, bound or _find_free_name(records, role, name))
        return True

    if token and await find_project(request).desk.ask(use):
        return _welcome(request, cookie)
    if before is not None:
        return go_to("/")
    return render(
        request,
        "refused.html",
        status=403,
        title="This address is not good any more",
        text="It was used before, it is too old, or it is not one of this server. Start `ssme "
        "serve` again, or ask the owner for a link (page “People”).",
    )


async def sign_in(request: Request) -> Response:
    """Let a browser in whose user knows the password, as an owner."""
    project = find_project(request)
    password, problem = project.settings.password, ""
    if password is None:
        return go_to("/")
    if request.method == "POST":
        form = await read_form(request)
        given, name = (form.get(field, [""])[0] for field in ("password", "name"))
        throttle: Throttle = request.app.state.throttle
        if await throttle.is_right(_find_address(request), given, password):
            cookie, before = make_secret(), request.state.session

            def begin(records: Records) -> None:
                person = _find_free_name(records, "owner", name)
                _let_in(records, cookie, before, "owner", person)

            await project.desk.ask(begin)
            return _welcome(request, cookie)
        problem = "This is not the password."
    return render(request, "login.html", status=403 if problem else 200, problem=problem)


async def log_out(request: Request) -> Response:
    """End the session of a browser."""
    session: Session | None = request.state.session
    if session is not None:
        number = session.id
        await find_project(request).desk.ask(lambda records: records.store.end_entry(number))
    request.state.session = None
    text = "To come back, use the password, a new link, or the address that a new start prints."
    response = render(request, "refused.html", title="You are logged out", text=text)
    set_cookie(response, request.scope["server"][1], "")
    return response


async def name_me(request: Request) -> Response:
    """Say who labels in this browser."""
    form = await read_form(request)
    person, session = _clean(form.get("name", [""])[0]), find_session(request)
    if not person:
        raise InputError("the name is empty", fix="write the name that your labels shall carry")

    def name(records: Records) -> None:
        if person == session.annotator:
            return
        if session.role == "guest" and session.annotator:
            raise InputError(
                f"your labels carry the name {session.annotator}",
                fix="ask the owner for a link with another name",
            )
        _refuse_taken(records, session.role, person)
        records.store.name_session(session.id, person)

    await find_project(request).desk.ask(name)
    return _go_back(form)


async def invite(request: Request) -> Response:
    """Make a link that lets a guest in, under a name if one is given."""
    token, form = make_secret(), await read_form(request)
    name = _clean(form.get("name", [""])[0])
    await find_project(request).desk.ask(
        lambda records: records.store.add_token(token, "guest", name)
    )
    link = f"{request.url.scheme}://{request.headers['host']}/enter?token={token}"
    return render(request, "invite.html", link=link, name=name)


async def end_entry(request: Request) -> Response:
    """End the session of somebody, or take back a link."""
    form = await read_form(request)
    entry = form.get("entry", [""])[0]
    await find_project(request).desk.ask(lambda records: records.store.end_entry(entry))
    return _go_back(form)


def _go_back(form: Mapping[str, Sequence[str]]) -> Response:
    """Send the browser to the page that a form came from, which is one of ours."""
    back = form.get("back", ["/"])[0]
    return go_to(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/")


def _let_in(records: Records, cookie: str, before: Session | None, role: str, person: str) -> None:
    """Begin a session; one that the browser had before ends."""
    if before is not None:
        records.store.end_entry(before.id)
    records.store.add_session(cookie, make_secret(), role, person)


def _welcome(request: Request, cookie: str) -> Response:
    response = render(request, "welcome.html")
    set_cookie(response, request.scope["server"][1], cookie)
    return response


def _find_free_name(records: Records, role: str, name: str) -> str:
    """The name that somebody comes in with; empty where the page “Label” has to ask for it."""
    person = _clean(name)
    try:
        _refuse_taken(records, role, person)
    except InputError:
        return ""
    return person


def _refuse_taken(records: Records, role: str, person: str) -> None:
    """Refuse a name that belongs to somebody else.

    A guest can have a name that nobody has had; an owner, who may come back with each start of the
    server, any that no guest has now.
    """
    if role == "guest":
        taken = records.store.list_names() | records.list_annotators()
    else:
        taken = {each.annotator for each in records.store.list_entries() if each.role == "guest"}
    if _fold(person) in map(_fold, taken):
        raise InputError(
            f"somebody else has the name {person}",
            fix="take another one; to go on under a name that you had before, ask the owner for a "
            "link with it",
        )


def _clean(name: str) -> str:
    """A name without what cannot be seen, which would make two of one."""
    name = "".join(letter for letter in name if letter.isprintable() or letter.isspace())
    name = " ".join(name.split())
    return shorten(name, LONGEST_NAME) if name else ""


def _fold(name: str) -> str:
    """Names that people take for the same have the same."""
    return unicodedata.normalize("NFKC", name).casefold()


def _find_address(request: Request) -> str:
    """The address of a client; one of IPv6 stands for its network, in which it has many."""
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
