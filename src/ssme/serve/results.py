"""The pages "Result", "Jobs" and "History", downloads, and small charts drawn by the server.

The charts are plain SVG with classes that the style sheet colors, so that both themes fit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from ssme.errors import InputError
from ssme.memory import EvaluationRecord
from ssme.serve.jobs import make_job_key
from ssme.serve.pages import (
    find_project,
    go_to,
    open_file,
    parse_message,
    render,
    render_fragment,
    wants_json,
)
from ssme.serve.project import Project
from ssme.serve.store import JobRecord, Store
from ssme.show.html import sort_charts
from ssme.wording import make_distinct

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
    file = await open_file(request)
    done, newest = await project.find_newest_result(file.record.id)
    found, charts, chart = None, None, ""
    if done is not None:
        found = project.read_results(done)
        charts = project.read_charts(done)
        if charts is None and not project.settings.read_only:
            await project.draw(done)
        rows = _list_leading_rows(found["summary"])
        chart = draw_intervals(rows, rows[0]["metric"])
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


def _list_leading_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The estimates of the leading metric on all rows, best model first."""
    metric = summary["estimates"][0]["metric"]
    rows = {
        row["model"]: row
        for row in summary["estimates"]
        if (row["metric"], row["group"]) == (metric, "all")
    }
    ranked = [rank["model"] for rank in summary["ranking"] if rank["metric"] == metric]
    return [rows[model] for model in ranked or rows]


async def show_charts(request: Request) -> Response:
    """The pictures of an evaluation as a part of the page; told to wait while they are drawn."""
    project = find_project(request)
    done = await project.db.run(Store.find_job, request.path_params["job"])
    found = project.read_charts(done)
    if found is None:
        drawing = await project.draw(done)
        if drawing.state in ("failed", "cancelled", "done"):
            return JSONResponse({"html": render_fragment("no_charts.html")})
        return JSONResponse({"job": drawing.id})
    # Our own worker drew them; names were escaped there.
    shown = [chart for charts in sort_charts(found).values() for chart in charts]
    return JSONResponse({"html": render_fragment("charts.html", charts=shown)})


async def evaluate(request: Request) -> Response:
    """Put an evaluation of the file into the queue."""
    project = find_project(request)
    file = await open_file(request)
    if not file.is_ready:
        raise InputError(
            "the file cannot be read as it is described",
            hint="correct the page “What is in it” first",
        )
    await project.evaluate(file)
    return go_to(f"/files/{file.record.id}/result")


async def cancel(request: Request) -> Response:
    """Stop a job, or take it out of the queue."""
    project = find_project(request)
    number = request.path_params["job"]
    job = await project.db.run(Store.find_job, number)
    await project.runner.cancel(number)
    if wants_json(request):
        return JSONResponse({"state": "cancelled"})
    page = "" if job.kind == "look" else "/result"
    return go_to(f"/files/{job.file}{page}")


async def stream_events(request: Request) -> Response:
    """How a job stands, as server-sent events, until it has ended."""
    project = find_project(request)
    number = request.path_params["job"]
    await project.db.run(Store.find_job, number)

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
    listed = await project.db.run(Store.list_jobs)
    files = await project.db.run(Store.list_files)
    names = {file.id: file.name for file in files}
    messages = {job.id: parse_message(job.message) for job in listed}
    return render(request, "jobs.html", jobs=listed, names=names, said=messages)


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
    job = await project.db.run(Store.find_job, request.path_params["job"])
    if name not in DOWNLOADS or job.kind != "evaluate" or job.state != "done":
        raise InputError(f"there is no file {name} of this job", hint="go back to the result")
    folder = project.runner.find_folder(job)
    if name == "report.html":
        folder = project.settings.results / make_job_key("report", job.request)
        if not (folder / name).is_file():
            await _wait_for(project, await project.draw(job))
        if not (folder / name).is_file():
            raise InputError("the report is still being drawn", hint="try again in a few seconds")
    return FileResponse(folder / name, media_type=DOWNLOADS[name], filename=name)


async def show_history(request: Request) -> Response:
    """All evaluations of a file, what changed from one to the next, and why."""
    project = find_project(request)
    file = await open_file(request)

    def read(store: Store) -> list[EvaluationRecord]:
        found: dict[int, EvaluationRecord] = {}
        for data in store.list_data(file.record.id):
            found |= store.memory(data).evaluations()
        return [found[number] for number in sorted(found)]

    rows, before = [], None
    for record in await project.db.run(read):
        decision = record.decisions[0] if record.decisions else None
        rows.append(
            {
                "record": record,
                "when": record.made_at[:16].replace("T", " "),
                "decision": decision,
                "sureness": decision.describe_sureness() if decision else "",
                "estimate": _estimate_of(record, decision.pick if decision else None),
                "changes": describe_changes(before, record),
            }
        )
        before = record
    return render(request, "history.html", file=file, rows=rows[::-1])


def _estimate_of(record: EvaluationRecord, model: str | None) -> Any:
    rows = [e for e in record.estimates if e.group == "all"]
    return next((e for e in rows if model is None or e.model == model), None)


def describe_changes(before: EvaluationRecord | None, now: EvaluationRecord) -> list[str]:
    """What differs between two evaluations, in sentences."""
    if before is None:
        return ["The first evaluation."]
    changes = []
    labels = now.n_labeled - before.n_labeled
    if labels:
        noun = "label" if abs(labels) == 1 else "labels"
        changes.append(f"{abs(labels):,} {'more' if labels > 0 else 'fewer'} {noun}.")
    if now.n_rows != before.n_rows:
        changes.append(f"The file has {now.n_rows:,} rows and had {before.n_rows:,}.")
    for name, one, two in _list_differences(before.spec, now.spec):
        changes.append(f"{name} is {two} and was {one}.")
    if now.scores != before.scores:
        changes += _describe_drift(before, now)
    if now.version != before.version:
        changes.append(f"Made with ssme {now.version}, before with {before.version}.")
    picks = [r.decisions[0].pick if r.decisions else None for r in (before, now)]
    if picks[0] != picks[1]:
        changes.append(f"The pick is {picks[1]} and was {picks[0]}.")
    return changes or ["The same labels and settings."]


def _describe_drift(before: EvaluationRecord, now: EvaluationRecord) -> list[str]:
    """Models whose scores moved, where the two evaluations have models in common."""
    from ssme.memory.tracking import find_drift

    try:
        found = find_drift(before, now)
    except InputError:
        return ["The models are different."]
    moved = [drift.model for drift in found if drift.is_clear]
    return [f"The scores of {', '.join(moved)} moved."] if moved else []


def _list_differences(
    one: Mapping[str, Any], two: Mapping[str, Any], path: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    found: list[tuple[str, str, str]] = []
    for key in sorted({*one, *two}):
        a, b = one.get(key), two.get(key)
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            found += _list_differences(a or {}, b or {}, (*path, key))
        elif a != b:
            before, now = ("nothing" if value is None else str(value) for value in (a, b))
            found.append((" ".join((*path[1:], key)), before, now))
    return found


# -------------------------------------------------------------------------------------------------
# Charts.

WIDTH, ROW, MARGIN = 640, 30, 190
SMALL_WIDTH, SMALL_HEIGHT = 200, 130
TICKS, SMALL_TICKS = 7, 6
STEPS = 12
"""Evaluations that the picture of tightening shows."""
MODELS = 6
"""Models that it shows."""


def draw_intervals(rows: Sequence[Mapping[str, Any]], metric: str) -> Markup:
    """Each model's interval as a line with its estimate; labels alone as a thin line below."""
    shown = [row for row in rows if row["estimate"] is not None][:20]
    if not shown:
        return Markup("")
    least, most = _find_range(
        [
            row[name]
            for row in shown
            for name in ("estimate", "low", "high", "labels_only_low", "labels_only_high")
        ]
    )
    names = make_distinct([row["model"] for row in shown], 24)

    def put_x(value: float) -> str:
        return f"{MARGIN + (WIDTH - MARGIN - 20) * (value - least) / (most - least):.1f}"

    height = ROW * len(shown) + 34
    parts = [
        f'<line class="grid" x1="{put_x(tick)}" x2="{put_x(tick)}" y1="4" y2="{height - 26}"/>'
        f'<text class="tick" text-anchor="middle" x="{put_x(tick)}" y="{height - 8}">'
        f"{tick:.2f}</text>"
        for tick in _choose_ticks(least, most)
    ]
    for number, row in enumerate(shown):
        y = ROW * number + 18
        parts.append(
            f'<text class="name" text-anchor="end" x="{MARGIN - 12}" y="{y + 4}">'
            f"{escape(names[row['model']])}</text>"
        )
        if row["labels_only_low"] is not None:
            parts.append(
                f'<line class="alone" x1="{put_x(row["labels_only_low"])}"'
                f' x2="{put_x(row["labels_only_high"])}" y1="{y + 7}" y2="{y + 7}"/>'
            )
        if row["low"] is not None:
            parts.append(
                f'<line class="interval" x1="{put_x(row["low"])}" x2="{put_x(row["high"])}"'
                f' y1="{y}" y2="{y}"/>'
            )
        parts.append(f'<circle class="dot" r="4.5" cx="{put_x(row["estimate"])}" cy="{y}"/>')
    title = f"{metric} of {len(shown)} models, with intervals"
    return _wrap_svg(WIDTH, height, title, parts)


def draw_tightening(
    evaluations: Sequence[EvaluationRecord], metric: str, order: Sequence[str]
) -> list[dict[str, Any]]:
    """One small chart per model: its interval after each evaluation, from left to right."""
    steps = [
        (
            record.n_labeled,
            {e.model: e for e in record.estimates if (e.metric, e.group) == (metric, "all")},
        )
        for record in evaluations[-STEPS:]
    ]
    models = [model for model in dict.fromkeys(order) if any(model in of for _, of in steps)][
        :MODELS
    ]
    values = [
        value
        for _, of in steps
        for model in models
        if model in of
        for value in (of[model].low, of[model].high, of[model].estimate)
    ]
    if not models or all(value is None for value in values):
        return []
    least, most = _find_range(values)
    return [_draw_small(model, steps, least, most, metric) for model in models]


def _draw_small(
    model: str,
    steps: Sequence[tuple[int, Mapping[str, Any]]],
    least: float,
    most: float,
    metric: str,
) -> dict[str, Any]:
    left, bottom = 38, SMALL_HEIGHT - 22
    span = SMALL_WIDTH - left - 26

    def put_y(value: float) -> float:
        return bottom - (bottom - 8) * (value - least) / (most - least)

    parts = [
        f'<line class="grid" x1="{left}" x2="{SMALL_WIDTH}" '
        f'y1="{put_y(t):.1f}" y2="{put_y(t):.1f}"/>'
        f'<text class="tick" text-anchor="end" x="{left - 5}" y="{put_y(t) + 4:.1f}">{t:.2f}</text>'
        for t in _choose_ticks(least, most, SMALL_TICKS)
    ]
    widths = []
    for number, (labels, of) in enumerate(steps):
        x = left + 10 + span * (number / max(len(steps) - 1, 1))
        if number in (0, len(steps) - 1):
            anchor = "middle" if number == 0 else "end"
            parts.append(
                f'<text class="tick" text-anchor="{anchor}" x="{x + (6 if number else 0):.1f}"'
                f' y="{SMALL_HEIGHT - 5}">{labels}</text>'
            )
        found = of.get(model)
        if found is None or found.estimate is None:
            continue
        last = " last" if number == len(steps) - 1 else ""
        if found.low is not None:
            widths.append(found.high - found.low)
            parts.append(
                f'<line class="interval{last}" x1="{x:.1f}" x2="{x:.1f}"'
                f' y1="{put_y(found.low):.1f}" y2="{put_y(found.high):.1f}"/>'
            )
        parts.append(
            f'<circle class="dot{last}" r="3.5" cx="{x:.1f}" cy="{put_y(found.estimate):.1f}"/>'
        )
    words = ""
    if len(widths) > 1:
        words = f"interval {widths[0]:.3f} wide at first, {widths[-1]:.3f} now"
    elif widths:
        words = f"interval {widths[0]:.3f} wide"
    title = f"{metric} of this model after each evaluation: {words}"
    return {
        "model": model,
        "svg": _wrap_svg(SMALL_WIDTH, SMALL_HEIGHT, title, parts),
        "words": words,
    }


def _wrap_svg(width: int, height: int, title: str, parts: Sequence[str]) -> Markup:
    body = "".join(parts)
    return Markup(
        f'<svg class="drawn" role="img" aria-label="{escape(title)}" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">{body}</svg>'
    )


def _find_range(values: Sequence[float | None]) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    least, most = min(known), max(known)
    space = (most - least) * 0.06 or 0.05
    return least - space, most + space


def _choose_ticks(least: float, most: float, count: int = TICKS) -> list[float]:
    """Round numbers within a range, up to ``count`` and one of them."""
    steps = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    step = next((s for s in steps if (most - least) / s <= count), 2.0)
    first = int(least / step) + (least > 0)
    found = []
    while first * step <= most:
        found.append(first * step)
        first += 1
    return [tick for tick in found if tick >= least]
