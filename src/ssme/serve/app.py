"""The web application: the pages behind the guard."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ssme.errors import InputError
from ssme.serve import entering, marking, opening, people, results
from ssme.serve.desk import Desk
from ssme.serve.pages import make_refusal, respond_with_error
from ssme.serve.project import Project
from ssme.serve.security import Asgi, Guard
from ssme.serve.workshop import Workshop

__all__ = ["make_app"]

STATIC = {
    "report.css": ("report/templates/report.css", "text/css"),
    "serve.css": ("serve/static/serve.css", "text/css"),
    "serve.js": ("serve/static/serve.js", "text/javascript"),
    "label.js": ("serve/static/label.js", "text/javascript"),
    "icon.svg": ("serve/static/icon.svg", "image/svg+xml"),
    "report.js": ("report/templates/report.js", "text/javascript"),
}
"""Name -> file in the package, and its type. Nothing else is served as it lies."""


def make_app(desk: Desk, workshop: Workshop | None = None, *, work: bool = True) -> Asgi:
    """The application, ready for an ASGI server.

    Parameters
    ----------
    desk : Desk
        The project's databases; the caller closes it.
    workshop : Workshop, optional
        Where workers come from; a new one by default.
    work : bool
        Whether to work on the queue (tests look at pages without).
    """
    project = Project(desk, workshop)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        if work:
            await project.runner.start()
        yield
        await project.runner.stop()

    app = Starlette(
        routes=[
            Route("/static/{name}", serve_static),
            *entering.routes,
            *opening.routes,
            *results.routes,
            *marking.routes,
            *people.routes,
        ],
        exception_handlers={
            InputError: respond_with_error,
            OSError: respond_with_error,
            404: _tell_not_found,
            405: _tell_not_found,
        },
        lifespan=lifespan,
    )
    app.state.project = project
    return Guard(app, desk, make_refusal)


async def serve_static(request: Request) -> Response:
    """A style sheet or script of our own; nothing where the browser has this very one."""
    name = request.path_params["name"]
    if name not in STATIC:
        return await _tell_not_found(request, Exception())
    content, tag = _read_static(name)
    headers = {"etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=STATIC[name][1], headers=headers)


@cache
def _read_static(name: str) -> tuple[bytes, str]:
    content = (files("ssme") / STATIC[name][0]).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:24]}"'


async def _tell_not_found(request: Request, _: Exception) -> Response:
    response = respond_with_error(
        request, InputError("there is no such page here", fix="go back to the first page")
    )
    response.status_code = 404
    return response
