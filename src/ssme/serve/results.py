"""The pages "Result" and "Jobs": the decision first, then everything behind it; and downloads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from ssme.errors import InputError
from ssme.serve.drawing import draw_intervals
from ssme.serve.jobs import make_job_key
from ssme.serve.pages import find_project, go_to, parse_message, render, render_fragment, wants_json
from ssme.serve.project import Project
from ssme.serve.store import JobRecord

__all__ = [
    "cancel",
    "download",
    "evaluate",
    "show_charts",
    "show_jobs",
    "show_result",
    "show_state",
    "stream_events",
]

PATIENCE = 60.0
"""Seconds that somebody who saves a report waits until it is drawn."""

DOWNLOADS = {
    "report.html": "text/html",
    "estimates.csv": "text/csv",
    "summary.json": "application/json",
    "config.toml": "application/toml",
    "labels.csv": "text/csv",
}


async def show_result(request: Request) -> Response:
    """The newest evaluation of a file."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    done, newest = await project.find_newest_result(file.record.id)
    found, charts, chart = None, None, ""
    if done is not None:
        found = project.read_results(done)
        charts = project.read_charts(done)
        if charts is None and not project.settings.read_only:
            await project.draw(done)
        first = found["summary"]["metrics"][0]
        chart = draw_intervals(first["rows"], first["name"])
    since = await project.count_labels_since(file) if file.is_ready else 0
    return render(
        request,
        "result.html",
        file=file,
        job=newest,
        failed=parse_message(newest.message) if newest and newest.state == "failed" else None,
        done=done,
        found=found,
        chart=chart,
        drawn=charts is not None,
        since=since,
    )


async def show_charts(request: Request) -> Response:
    """The pictures of an evaluation as a part of the page; told to wait while they are drawn."""
    project = find_project(request)
    done = await project.desk.ask(
        lambda records: records.store.find_job(request.path_params["job"])
    )
    found = project.read_charts(done)
    if found is None:
        drawing = await project.draw(done)
        if drawing.state in ("failed", "cancelled", "done"):
            return JSONResponse({"html": render_fragment("no_charts.html")})
        return JSONResponse({"job": drawing.id})
    shown = [{**each, "svg": _trust(each["svg"])} for each in found]
    return JSONResponse({"html": render_fragment("charts.html", charts=shown)})


def _trust(svg: str) -> object:
    """A picture that our own worker drew; names in it were escaped there."""
    from markupsafe import Markup

    return Markup(svg)


async def evaluate(request: Request) -> Response:
    """Put an evaluation of the file into the queue."""
    project = find_project(request)
    file = await project.open(request.path_params["file"])
    if not file.is_ready:
        raise InputError(
            "the file cannot be read as it is described",
            fix="correct the page “What is in it” first",
        )
    await project.evaluate(file)
    return go_to(f"/files/{file.record.id}/result")


async def cancel(request: Request) -> Response:
    """Stop a job, or take it out of the queue."""
    project = find_project(request)
    number = request.path_params["job"]
    job = await project.desk.ask(lambda records: records.store.find_job(number))
    await project.runner.cancel(number)
    if wants_json(request):
        return JSONResponse({"state": "cancelled"})
    page = "" if job.kind == "look" else "/result"
    return go_to(f"/files/{job.file}{page}")


async def stream_events(request: Request) -> Response:
    """How a job stands, as server-sent events, until it has ended."""
    project = find_project(request)
    number = request.path_params["job"]
    await project.desk.ask(lambda records: records.store.find_job(number))

    async def stream_states() -> AsyncIterator[str]:
        async for state in project.runner.follow(number):
            yield f"data: {json.dumps(state)}\n\n" if state else ": still there\n\n"

    return StreamingResponse(stream_states(), media_type="text/event-stream")


async def show_state(request: Request) -> Response:
    """How a job stands now."""
    return JSONResponse(
        await find_project(request).runner.describe_state(request.path_params["job"])
    )


async def show_jobs(request: Request) -> Response:
    """The queue."""
    project = find_project(request)
    listed = await project.desk.ask(lambda records: records.store.list_jobs())
    files = await project.desk.ask(lambda records: records.store.list_files())
    names = {file.id: file.name for file in files}
    said = {job.id: parse_message(job.message) for job in listed}
    return render(request, "jobs.html", jobs=listed, names=names, said=said)


async def _wait_for(project: Project, job: JobRecord) -> None:
    """Wait until a job has ended, or patience has."""
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            async for _ in project.runner.follow(job.id):
                pass


async def download(request: Request) -> Response:
    """A file that a job wrote; it is saved, never shown as a page of this server."""
    project = find_project(request)
    name = request.path_params["name"]
    job = await project.desk.ask(lambda records: records.store.find_job(request.path_params["job"]))
    if name not in DOWNLOADS or job.kind != "evaluate" or job.state != "done":
        raise InputError(f"there is no file {name} of this job", fix="go back to the result")
    folder = project.runner.find_folder(job)
    if name == "report.html":
        folder = project.settings.results / make_job_key("report", job.request)
        if not (folder / name).is_file():
            await _wait_for(project, await project.draw(job))
        if not (folder / name).is_file():
            raise InputError("the report is still being drawn", fix="try again in a few seconds")
    return FileResponse(folder / name, media_type=DOWNLOADS[name], filename=name)
