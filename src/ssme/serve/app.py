"""The web application: the pages behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ssme.errors import InputError
from ssme.serve import entering, marking, opening, people, results
from ssme.serve.desk import Desk
from ssme.serve.pages import answer_error, refusal
from ssme.serve.project import Project
from ssme.serve.security import Asgi, Guard

__all__ = ["make_app"]

STATIC = {
    "report.css": ("ssme.report", "templates/report.css", "text/css"),
    "serve.css": ("ssme.serve", "static/serve.css", "text/css"),
    "serve.js": ("ssme.serve", "static/serve.js", "text/javascript"),
    "label.js": ("ssme.serve", "static/label.js", "text/javascript"),
    "icon.svg": ("ssme.serve", "static/icon.svg", "image/svg+xml"),
    "report.js": ("ssme.report", "templates/report.js", "text/javascript"),
}
"""Name -> package, file and type. Nothing else is served as it lies."""


def make_app(desk: Desk, *, work: bool = True) -> Asgi:
    """The application, ready for an ASGI server.

    Parameters
    ----------
    desk : Desk
        The project's databases; the caller closes it.
    work : bool
        Whether to work on the queue (tests look at pages without).
    """
    project = Project(desk)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        if work:
            await project.runner.start()
        yield
        await project.runner.stop()

    app = Starlette(
        routes=[
            Route("/static/{name}", static),
            *entering.routes,
            *opening.routes,
            *results.routes,
            *marking.routes,
            *people.routes,
        ],
        exception_handlers={
            InputError: answer_error,
            OSError: answer_error,
            404: _not_found,
            405: _not_found,
        },
        lifespan=lifespan,
    )
    app.state.project = project
    return Guard(app, desk, refusal)


async def static(request: Request) -> Response:
    """A style sheet or script of our own."""
    found = STATIC.get(request.path_params["name"])
    if found is None:
        return await _not_found(request, Exception())
    package, name, kind = found
    return Response((files(package) / name).read_bytes(), media_type=kind)


async def _not_found(request: Request, _: Exception) -> Response:
    response = answer_error(
        request, InputError("there is no such page here", fix="go back to the first page")
    )
    response.status_code = 404
    return response
