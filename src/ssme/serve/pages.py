"""How an answer is made: templates, forms, errors as messages in the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from ssme import __version__
from ssme.errors import InputError
from ssme.markup import make_environment
from ssme.serve.project import OpenFile, Project
from ssme.serve.security import Asgi, RefusedError, Scope
from ssme.serve.spelling import spell_for_page
from ssme.serve.store import Session

__all__ = [
    "find_project",
    "find_session",
    "go_to",
    "make_refusal",
    "may_change",
    "parse_class",
    "parse_message",
    "parse_row",
    "read_form",
    "render",
    "render_fragment",
    "respond_with_error",
    "wants_json",
]


@cache
def _make_environment() -> Any:
    from jinja2 import PackageLoader

    found = make_environment(PackageLoader("ssme.serve", "templates"))
    percent = found.filters["percent"]
    found.filters["percent"] = lambda value: percent(value).replace(" ", "\N{NO-BREAK SPACE}")
    return found


def find_project(request: Request) -> Project:
    """The project that the app serves."""
    found: Project = request.app.state.project
    return found


def find_session(request: Request) -> Session:
    """The session of a request that the guard let through."""
    found: Session = request.state.session
    return found


async def read_form(request: Request) -> dict[str, list[str]]:
    """The fields of the form that the guard has read; each may have several values."""
    found: dict[str, list[str]] = request.state.form
    return found


def may_change(request: Request) -> bool:
    """Whether who asks may change settings."""
    session = request.scope.get("state", {}).get("session")
    is_owner = session is not None and session.role == "owner"
    return is_owner and not find_project(request).settings.read_only


def parse_row(form: Mapping[str, Sequence[str]]) -> Any:
    """The name of a row in a form, which is written as JSON; None where there is none."""
    text = form.get("row", ["null"])[0]
    try:
        row = json.loads(text)
    except (ValueError, RecursionError):
        row = []
    if row is not None and not isinstance(row, str | int | float):
        raise InputError("the form does not name a row", fix="load the page again")
    return row


def parse_class(form: Mapping[str, Sequence[str]], name: str, classes: Sequence[Any]) -> Any:
    """The class whose number is in a field of a form."""
    text = form.get(name, [""])[0]
    if not text.isdecimal() or len(text) > 9 or int(text) >= len(classes):
        raise InputError(f"class number {text!r}", allowed=f"0 to {len(classes) - 1}")
    return classes[int(text)]


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    file: OpenFile | None = None,
    follows_from: Any = None,
    here: str | None = None,
    **context: Any,
) -> Response:
    """A page; ``here`` is its path, where that is not the one that was asked for.

    ``follows_from`` is all that the page depends on beside its path and the session, where that is
    known: the page is then made once for many requests.
    """
    session = request.scope.get("state", {}).get("session")
    project, here = find_project(request), here or request.url.path
    key = None if follows_from is None else (template, status, here, session, repr(follows_from))
    page = project.pages.get(key)
    if page is None:
        text = (
            _make_environment()
            .get_template(template)
            .render(
                session=session,
                settings=project.settings,
                may_change=may_change(request),
                version=__version__,
                here=here,
                file=file,
                **context,
            )
        )
        page = text.encode("utf-8", "backslashreplace")
        if key is not None:
            project.pages.keep(key, page)
    return HTMLResponse(page, status)


def render_fragment(template: str, **context: Any) -> str:
    """A part of a page."""
    text: str = _make_environment().get_template(template).render(**context)
    return text


def go_to(path: str) -> Response:
    """Send the browser to another page of this server."""
    return RedirectResponse(path, 303)


def wants_json(request: Request) -> bool:
    """Whether a script asks, not a person."""
    return "application/json" in request.headers.get("accept", "")


def respond_with_error(request: Request, error: Exception) -> Response:
    """An error in the words of the page: as a page, or as JSON for a script."""
    said = spell_for_page(error)
    status = 507 if "disk is full" in said["got"] else 400
    if wants_json(request):
        return JSONResponse({"error": said}, status)
    return render(request, "message.html", status=status, title="This did not work", error=said)


def make_refusal(scope: Scope, refused: RefusedError) -> Asgi:
    """The answer to a request that is not served."""
    answer: Asgi
    if wants_json(Request(scope)):
        said = {"got": refused.title, "allowed": "", "fix": refused.text}
        answer = JSONResponse({"error": said}, refused.status)
    else:
        page = _make_environment().get_template("refused.html")
        told = page.render(title=refused.title, text=refused.text)
        answer = HTMLResponse(told, refused.status)
    return answer


def parse_message(text: str) -> Any:
    """The message of a job that ended: an error as the worker told it, or plain words."""
    try:
        found = json.loads(text)
    except ValueError:
        return {"got": text, "allowed": "", "fix": "", "fields": []} if text else None
    return found or None
