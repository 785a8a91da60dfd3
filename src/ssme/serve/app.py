"""The web application: every page with the role that it needs, behind the guard."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.convertors import IntegerConvertor, register_url_convertor
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from ssme.errors import InputError
from ssme.serve import auth, files, labeling, results, store
from ssme.serve.pages import Asgi, Page, RefusedError, make_refusal, respond_with_error
from ssme.serve.project import Project

STATIC = {
    "report.css": ("show/templates/report.css", "text/css"),
    "serve.css": ("serve/static/serve.css", "text/css"),
    "serve.js": ("serve/static/serve.js", "text/javascript"),
    "label.js": ("serve/static/label.js", "text/javascript"),
    "icon.svg": ("serve/static/icon.svg", "image/svg+xml"),
    "report.js": ("show/templates/report.js", "text/javascript"),
}
"""Name -> file in the package, and its type. Nothing else is served as it lies."""


def make_app(db: store.DbThread, *, work: bool = True) -> Asgi:
    """The application for an ASGI server; ``work=False`` leaves the queue alone.

    The caller closes the databases.
    """
    project = Project(db)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        if work:
            await project.look_again()
            await project.runner.start()
        yield
        await project.runner.stop()

    app = Starlette(
        routes=PAGES,
        exception_handlers={
            RefusedError: lambda request, refused: make_refusal(request.scope, refused),
            InputError: respond_with_error,
            OSError: respond_with_error,
            ClientDisconnect: lambda *_: Response(status_code=400),
            404: _respond_not_found,
            405: _respond_not_found,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.project = project
    app.state.throttle = auth.Throttle()
    return auth.Guard(app, db, PAGES)


async def serve_static(request: Request, project: Project) -> Response:
    """A style sheet or script of our own; nothing where the browser has this very one."""
    name = request.path_params["name"]
    if name not in STATIC:
        return await _respond_not_found(request, Exception())
    content, tag = _read_static(name)
    headers = {"etag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=STATIC[name][1], headers=headers)


async def show_health(request: Request, project: Project) -> Response:
    """Whether the server can do its work, for whoever watches it."""
    try:
        await project.db.run(store.Store.list_data)
    except InputError:
        return JSONResponse({"status": "the database cannot be read"}, 503)
    return JSONResponse({"status": "ok"})


@cache
def _read_static(name: str) -> tuple[bytes, str]:
    content = (resources.files("ssme") / STATIC[name][0]).read_bytes()
    return content, f'"{hashlib.sha256(content).hexdigest()[:24]}"'


async def _respond_not_found(request: Request, error: Exception) -> Response:
    response = respond_with_error(
        request, InputError("there is no such page here", hint="go back to the first page")
    )
    response.status_code = getattr(error, "status_code", 404)
    response.headers.update(getattr(error, "headers", None) or {})
    return response


class Number(IntegerConvertor):  # type: ignore[misc]
    """The number of a file or a job, which SQLite can hold."""

    regex = "[0-9]{1,18}"


register_url_convertor("number", Number())

PAGES = [
    Page("GET", "/static/{name}", "anyone", serve_static),
    Page("GET", "/health", "anyone", show_health),
    Page("GET", "/enter", "anyone", auth.enter),
    Page("GET POST", "/login", "anyone", auth.sign_in),
    Page("POST", "/logout", "anyone", auth.log_out),
    Page("POST", "/me", "guest", auth.name_me),
    Page("POST", "/invite", "owner", auth.invite),
    Page("POST", "/end", "owner", auth.end_entry),
    Page("GET", "/", "guest", files.show_files),
    Page("PUT", "/upload", "owner", files.upload, streams=True),
    Page("POST", "/open", "owner", files.open_path),
    Page("GET", "/files/{file:number}", "guest", files.show_file),
    Page("POST", "/files/{file:number}/mapping", "owner", files.correct),
    Page("POST", "/files/{file:number}/again", "owner", files.read_again),
    Page("GET", "/files/{file:number}/result", "guest", results.show_result, results=True),
    Page("POST", "/files/{file:number}/evaluate", "owner", results.evaluate),
    Page("GET", "/jobs", "guest", results.show_jobs),
    Page("GET", "/jobs/{job:number}/events", "guest", results.stream_events),
    Page("GET", "/jobs/{job:number}/state", "guest", results.show_state),
    Page("GET", "/jobs/{job:number}/charts", "guest", results.show_charts, results=True),
    Page("POST", "/jobs/{job:number}/cancel", "owner", results.cancel),
    Page("GET", "/jobs/{job:number}/{name}", "guest", results.download, results=True),
    Page("GET", "/files/{file:number}/label", "guest", labeling.show_label),
    Page("POST", "/files/{file:number}/label", "guest", labeling.mark),
    Page("GET", "/files/{file:number}/tightening", "guest", labeling.show_tightening, results=True),
    Page("GET", "/files/{file:number}/plan", "guest", labeling.plan, results=True),
    Page("GET", "/files/{file:number}/mine", "guest", labeling.show_mine),
    Page("POST", "/files/{file:number}/keys", "guest", labeling.choose_own_keys),
    Page("POST", "/files/{file:number}/labeling", "owner", labeling.change_labeling),
    Page("POST", "/files/{file:number}/assign", "owner", labeling.assign_rows),
    Page("POST", "/files/{file:number}/guide", "owner", labeling.write_guide),
    Page("POST", "/files/{file:number}/names", "owner", labeling.name_classes),
    Page("GET", "/files/{file:number}/labels.csv", "guest", labeling.export),
    Page("GET", "/files/{file:number}/labels.json", "guest", labeling.export_tasks),
    Page("PUT", "/files/{file:number}/labels", "owner", labeling.add_labels, streams=True),
    Page("GET", "/files/{file:number}/image", "guest", labeling.show_image),
    Page("GET", "/files/{file:number}/people", "guest", labeling.show_people),
    Page("POST", "/files/{file:number}/adjudicate", "owner", labeling.settle_conflict),
    Page("GET", "/files/{file:number}/history", "guest", results.show_history, results=True),
]
"""Every page. What is not listed here is not served."""
