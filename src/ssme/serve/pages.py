"""How an answer is made: templates, forms, errors as messages in the page."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ssme import __version__
from ssme.errors import InputError
from ssme.serve import forms, store
from ssme.show.html import make_environment

if TYPE_CHECKING:
    from ssme.serve.project import OpenFile, Project

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


class RefusedError(Exception):
    """A request that is not served: the status of the answer, its title and what to do."""

    def __init__(self, status: int, title: str, text: str) -> None:
        self.status, self.title, self.text = status, title, text
        super().__init__(title)


class Page(Route):  # type: ignore[misc]
    """A page: how it is asked for, which role it needs (`ssme.serve.auth.ROLES`), what answers.

    ``endpoint`` gets the request and the project, and the file or job that the path names.
    ``streams`` says that its body is a file, which is not read as a form; ``results`` that it shows
    results, which the owner may keep from guests.
    """

    def __init__(
        self,
        methods: str,
        path: str,
        role: str,
        endpoint: Callable[..., Awaitable[Response]],
        *,
        streams: bool = False,
        results: bool = False,
    ) -> None:
        async def answer(request: Request) -> Response:
            project = find_project(request)
            named: list[Any] = []
            if "file" in request.path_params:
                named.append(await project.open(request.path_params["file"]))
            elif "job" in request.path_params:
                number = request.path_params["job"]
                named.append(await project.db.run(store.Store.find_job, number))
            return await endpoint(request, project, *named)

        super().__init__(path, answer, methods=methods.split())
        self.role, self.streams, self.results = role, streams, results


def find_project(request: Request) -> Project:
    return request.app.state.project


def find_session(request: Request) -> store.Session:
    return request.state.session


def find_annotator(request: Request) -> str:
    """The name that the labels of whoever asks carry."""
    annotator = find_session(request).annotator
    if not annotator:
        raise InputError("enter your name on the page “Label” first")
    return annotator


def may_change(request: Request) -> bool:
    """Whether whoever asks may change settings."""
    session = request.scope.get("state", {}).get("session")
    is_owner = session is not None and session.role == "owner"
    return is_owner and not find_project(request).settings.read_only


def may_see_results(request: Request, file: OpenFile) -> bool:
    """Whether whoever asks may know which model leads: guests where the owner allows it."""
    return find_session(request).role == "owner" or bool(file.record.shared)


def read_form(request: Request) -> forms.Form:
    return request.state.form


def parse_row(form: forms.Form) -> Any:
    """The row id in a form, which is written as JSON; None if it is missing."""
    try:
        row = json.loads(forms.first(form, "row") or "null")
    except (ValueError, RecursionError):
        row = []
    if row is not None and not isinstance(row, str | int | float):
        raise InputError("the form does not name a row", hint="load the page again")
    return row


def parse_class(form: forms.Form, name: str, classes: Sequence[Any]) -> Any:
    """The class whose number is in a field of a form."""
    text = forms.first(form, name)
    if not text.isdecimal() or len(text) > 9 or int(text) >= len(classes):
        raise InputError(f"there is no class {text!r}", hint="load the page again")
    return classes[int(text)]


def render(
    request: Request,
    template: str,
    *,
    status: int = 200,
    file: OpenFile | None = None,
    here: str | None = None,
    **context: Any,
) -> Response:
    """A page; ``here`` is its path, where that is not the one that was asked for."""
    text = render_fragment(
        template,
        session=request.scope.get("state", {}).get("session"),
        settings=find_project(request).settings,
        may_change=may_change(request),
        version=__version__,
        here=here or request.url.path,
        file=file,
        **context,
    )
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def render_fragment(template: str, **context: Any) -> str:
    return make_environment("ssme.serve").get_template(template).render(**context)


def render_markdown(text: str) -> Markup:
    """Markdown as HTML; HTML in it is shown as it was typed."""
    return Markup(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def go_to(path: str) -> Response:
    return RedirectResponse(path, 303)


def wants_json(request: Request) -> bool:
    """Whether a script asks, not a person."""
    return "application/json" in request.headers.get("accept", "")


def respond_with_error(request: Request, error: Exception) -> Response:
    """An error in the words of the page: as a page, or as JSON for a script."""
    shown = forms.spell_for_page(error)
    status = 507 if "disk is full" in shown["got"] else 400
    if wants_json(request):
        return JSONResponse({"error": shown}, status)
    return render(request, "message.html", status=status, title="This did not work", error=shown)


def make_refusal(scope: Scope, refused: Any) -> Asgi:
    if wants_json(Request(scope)):
        shown = forms.make_error(refused.title, refused.text)
        return JSONResponse({"error": shown}, refused.status)
    text = render_fragment("refused.html", title=refused.title, text=refused.text)
    return HTMLResponse(text, refused.status)


def parse_message(text: str) -> Any:
    """The message of a job that ended: an error as the worker wrote it, or plain words."""
    try:
        return json.loads(text) or None
    except ValueError:
        return forms.make_error(text) if text else None
