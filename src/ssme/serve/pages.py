"""How an answer is made: templates, forms, errors as messages in the page."""

from __future__ import annotations

import json
from functools import cache
from typing import Any
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from ssme import __version__
from ssme.markup import make_environment
from ssme.serve.project import OpenFile, Project
from ssme.serve.security import Asgi, Scope
from ssme.serve.spelling import spell_for_page
from ssme.serve.store import Session

__all__ = [
    "find_project",
    "find_session",
    "go_to",
    "make_refusal",
    "parse_message",
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
    """The fields of a form; each may have several values."""
    body = (await request.body()).decode("utf-8", "replace")
    return parse_qs(body, keep_blank_values=True, max_num_fields=20_000)


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    file: OpenFile | None = None,
    follows_from: Any = None,
    **context: Any,
) -> Response:
    """A page.

    ``follows_from`` is all that the page depends on beside its path and the session, where that is
    known: the page is then made once for many requests.
    """
    session = request.scope.get("state", {}).get("session")
    project, here = find_project(request), request.url.path
    key = None if follows_from is None else (template, status, here, session, repr(follows_from))
    page = project.pages.get(key)
    if page is None:
        text = (
            _make_environment()
            .get_template(template)
            .render(
                session=session,
                settings=project.settings,
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


def make_refusal(scope: Scope, status: int, title: str, text: str) -> Asgi:
    """The answer of the guard."""
    request = Request(scope)
    if wants_json(request):
        return JSONResponse({"error": {"got": title, "allowed": "", "fix": text}}, status)  # type: ignore[no-any-return]
    page = _make_environment().get_template("refused.html").render(title=title, text=text)
    return HTMLResponse(page, status)  # type: ignore[no-any-return]


def parse_message(text: str) -> Any:
    """The message of a job that ended: an error as the worker told it, or plain words."""
    try:
        found = json.loads(text)
    except ValueError:
        return {"got": text, "allowed": "", "fix": "", "fields": []} if text else None
    return found or None
