"""How people get in: a token that works once, or a password; and who they are."""

from __future__ import annotations

import asyncio
import hmac
import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ssme.errors import InputError
from ssme.serve.pages import find_project, find_session, go_to, read_form, render
from ssme.serve.security import make_secret, set_cookie
from ssme.wording import shorten

__all__ = ["routes"]

LONGEST_NAME = 60
PAUSE = 1.0
"""Seconds that a wrong password costs."""
FAILURES, WINDOW = 10, 60.0
"""Wrong passwords that are listened to within so many seconds, from everybody together."""
_failures: list[float] = []


async def enter(request: Request) -> Response:
    """Let a browser in that brings a token nobody has used."""
    token = request.query_params.get("token", "")
    project = find_project(request)
    if token and await project.desk.ask(lambda records: records.store.use_token(token)):
        return await _let_in(request, request.query_params.get("name", ""))
    if request.state.session is not None:
        return go_to("/")
    return render(
        request,
        "refused.html",
        status=403,
        title="This token is not good",
        text="It was used before, or it is not one of this server. Start `ssme serve` again, or "
        "ask a person who is in for a link (page “People”).",
    )


async def sign_in(request: Request) -> Response:
    """Let a browser in whose user knows the password."""
    password = find_project(request).settings.password
    if password is None:
        return go_to("/")
    problem = ""
    if request.method == "POST":
        now = time.monotonic()
        _failures[:] = [at for at in _failures if now - at < WINDOW]
        form = await read_form(request)
        given = form.get("password", [""])[0]
        if len(_failures) >= FAILURES:
            problem = "Too many wrong passwords. Wait a minute."
        elif hmac.compare_digest(given.encode(), password.encode()):
            return await _let_in(request, form.get("name", [""])[0])
        else:
            _failures.append(now)
            await asyncio.sleep(PAUSE)
            problem = "This is not the password."
    return render(request, "login.html", status=403 if problem else 200, problem=problem)


async def _let_in(request: Request, name: str) -> Response:
    cookie, csrf, person = make_secret(), make_secret(), _clean(name)
    desk = find_project(request).desk
    await desk.ask(lambda records: records.store.add_session(cookie, csrf, person))
    response = render(request, "welcome.html")
    set_cookie(response, request.scope["server"][1], cookie)
    return response


async def name_me(request: Request) -> Response:
    """Say who labels in this browser."""
    form = await read_form(request)
    person = _clean(form.get("name", [""])[0])
    if not person:
        raise InputError("the name is empty", fix="write the name that your labels shall carry")
    session = find_session(request)
    desk = find_project(request).desk
    await desk.ask(lambda records: records.store.name_session(session.id, person))
    back = form.get("back", ["/"])[0]
    return go_to(back if back.startswith("/") and not back.startswith(("//", "/\\")) else "/")


async def invite(request: Request) -> Response:
    """Make a link that lets one more browser in."""
    token = make_secret()
    await find_project(request).desk.ask(lambda records: records.store.add_token(token))
    link = f"{request.url.scheme}://{request.headers['host']}/enter?token={token}"
    return render(request, "invite.html", link=link)


def _clean(name: str) -> str:
    name = " ".join(name.split())
    return shorten(name, LONGEST_NAME) if name else ""


routes = [
    Route("/enter", enter),
    Route("/login", sign_in, methods=["GET", "POST"]),
    Route("/me", name_me, methods=["POST"]),
    Route("/invite", invite, methods=["POST"]),
]
