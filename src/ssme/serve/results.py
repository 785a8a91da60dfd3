"""The pages "Result", "Jobs" and "History", downloads, and small charts drawn by the server.

The charts are plain SVG with classes that the style sheet colors, so that both themes fit.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from ssme import memory, wording
from ssme.errors import InputError
from ssme.serve import jobs, pages
from ssme.serve.project import OpenFile, Project
from ssme.serve.store import JobRecord, Store
from ssme.show.html import sort_charts

PATIENCE = 60.0
"""Seconds that somebody who saves a report waits until it is drawn."""

DOWNLOADS = {
    "report.html": "text/html",
    "estimates.csv": "text/csv",
    "summary.json": "application/json",
    "config.toml": "application/toml",
    "labels.csv": "text/csv",
}


async def show_result(request: Request, project: Project, file: OpenFile) -> Response:
    done, newest = await project.find_newest_result(file.record.id)
    found, charts, chart, changes = None, None, "", []
    titles: dict[str, str] = {}
    if done is not None:
        records = await project.db.run(
            lambda store: [*store.memory(done.request["data"]).evaluations(2).values()]
        )
        is_newest = len(records) > 1 and records[-1].key == done.key
        changes = describe_changes(*records) if is_newest else []
        found = {name: project.read(done.key, name) for name in ("summary", "facts")}
        charts = project.read_charts(done)
        if charts is None and not project.settings.read_only:
            await project.draw(done)
        rows = _list_leading_rows(found["summary"])
        titles = {name: title for name, title, _ in found["facts"].get("metrics", ())}
        chart = draw_intervals(rows, titles.get(rows[0]["metric"], rows[0]["metric"]))
    since = await project.count_labels_since(file) if file.is_ready else 0
    return pages.render(
        request,
        "result.html",
        file=file,
        job=newest,
        failed=pages.parse_message(newest.message) if newest and newest.state == "failed" else None,
        done=done,
        found=found,
        chart=chart,
        changes=changes,
        titles=titles,
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


async def show_charts(request: Request, project: Project, job: JobRecord) -> Response:
    """The pictures of an evaluation as a part of the page, or a note while they are drawn."""
    found = project.read_charts(job)
    if found is None:
        drawing = await project.draw(job)
        if drawing.state in ("failed", "cancelled", "done"):
            return JSONResponse({"html": pages.render_fragment("no_charts.html")})
        return JSONResponse({"job": drawing.id})
    # Our own worker drew them; names were escaped there.
    shown = [chart for charts in sort_charts(found).values() for chart in charts]
    return JSONResponse({"html": pages.render_fragment("charts.html", charts=shown)})


async def evaluate(request: Request, project: Project, file: OpenFile) -> Response:
    if not file.is_ready:
        raise InputError(
            "the file cannot be read as it is described",
            hint="correct the page “What is in it” first",
        )
    await project.evaluate(file)
    return pages.go_to(f"/files/{file.record.id}/result")


async def cancel(request: Request, project: Project, job: JobRecord) -> Response:
    await project.runner.cancel(job.id)
    if pages.wants_json(request):
        return JSONResponse({"state": "cancelled"})
    return pages.go_to(f"/files/{job.file}{'' if job.kind == 'look' else '/result'}")


async def stream_events(request: Request, project: Project, job: JobRecord) -> Response:
    """The state of a job as server-sent events, until it has ended."""

    async def stream_states() -> AsyncIterator[str]:
        async for state in project.runner.follow(job.id):
            yield f"data: {json.dumps(state)}\n\n" if state else ": still there\n\n"

    return StreamingResponse(stream_states(), media_type="text/event-stream")


async def show_state(request: Request, project: Project, job: JobRecord) -> Response:
    return JSONResponse(await project.runner.describe_state(job.id))


async def show_jobs(request: Request, project: Project) -> Response:
    listed = await project.db.run(Store.list_jobs)
    files = await project.db.run(Store.list_files)
    names = {file.id: file.name for file in files}
    messages = {job.id: pages.parse_message(job.message) for job in listed}
    return pages.render(request, "jobs.html", jobs=listed, names=names, said=messages)


async def download(request: Request, project: Project, job: JobRecord) -> Response:
    """A file that a job wrote; it is saved, never shown as a page of this server."""
    name = request.path_params["name"]
    if name not in DOWNLOADS or job.kind != "evaluate" or job.state != "done":
        raise InputError(f"there is no file {name} of this job", hint="go back to the result")
    folder = project.runner.find_folder(job)
    if name == "report.html":
        folder = project.settings.results / jobs.make_job_key("report", job.request)
        if not (folder / name).is_file():
            drawing = await project.draw(job)
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    async for _ in project.runner.follow(drawing.id):
                        pass
        if not (folder / name).is_file():
            raise InputError("the report is still being drawn", hint="try again in a few seconds")
    return FileResponse(folder / name, media_type=DOWNLOADS[name], filename=name)


async def show_history(request: Request, project: Project, file: OpenFile) -> Response:
    """All evaluations of a file, what changed from one to the next, and why."""

    def read(store: Store) -> list[memory.EvaluationRecord]:
        found: dict[int, memory.EvaluationRecord] = {}
        for data in store.list_data(file.record.id):
            found |= store.memory(data).evaluations()
        return [found[number] for number in sorted(found)]

    rows, before = [], None
    for record in await project.db.run(read):
        decision = record.decisions[0] if record.decisions else None
        estimate = _estimate_of(record, decision.pick if decision else None)
        changes = describe_changes(before, record)
        rows.append((record, decision, estimate, changes))
        before = record
    return pages.render(request, "history.html", file=file, rows=rows[::-1])


def _estimate_of(record: memory.EvaluationRecord, model: str | None) -> Any:
    rows = [e for e in record.estimates if e.group == "all"]
    return next((e for e in rows if model is None or e.model == model), None)


def describe_changes(
    before: memory.EvaluationRecord | None, now: memory.EvaluationRecord
) -> list[str]:
    """What differs between two evaluations, in sentences."""
    from ssme.memory import tracking

    if before is None:
        return ["The first evaluation."]
    changes, labels = [], now.n_labeled - before.n_labeled
    if labels:
        noun = "label" if abs(labels) == 1 else "labels"
        changes.append(f"{abs(labels):,} {'more' if labels > 0 else 'fewer'} {noun}.")
    if now.n_rows != before.n_rows:
        changes.append(f"The file has {now.n_rows:,} rows and had {before.n_rows:,}.")
    changes += tracking.tell_differences(before, now)
    if now.scores != before.scores:
        found = tracking.find_drift(before, now)
        moved = ", ".join(drift.model for drift in found if drift.is_clear)
        changes += [f"The scores of {moved} moved."] if moved else []
        changes += [] if found else ["The models are different."]
    if now.version != before.version:
        changes.append(f"Made with ssme {now.version}, before with {before.version}.")
    picks = [r.decisions[0].pick if r.decisions else None for r in (before, now)]
    if picks[0] != picks[1]:
        changes.append(f"The pick is {picks[1]} and was {picks[0]}.")
    elif changes and picks[1] is not None:
        changes.append(f"The pick is still {picks[1]}{_describe_width(before, now, picks[1])}.")
    return changes or ["The same labels and settings."]


def _describe_width(
    before: memory.EvaluationRecord, now: memory.EvaluationRecord, pick: str
) -> str:
    """How the interval of the pick in the leading metric changed."""
    one, two = _estimate_of(before, pick), _estimate_of(now, pick)
    if None in (one, two) or one.metric != two.metric or None in (one.low, two.low):
        return ""
    return f"; its interval is {two.high - two.low:.3f} wide and was {one.high - one.low:.3f}"


# -------------------------------------------------------------------------------------------------
# Charts.

STEPS = 12
"""Evaluations that the picture of tightening shows."""
MODELS = 6
"""Models that it shows."""
TICK_STEPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class Scale:
    """Where the numbers of a chart are, from ``start`` to ``end``."""

    def __init__(self, values: Iterable[float | None], start: float, end: float) -> None:
        known = [value for value in values if value is not None]
        space = (max(known) - min(known)) * 0.06 or 0.05
        self.least, self.most = min(known) - space, max(known) + space
        self.start, self.end = start, end

    def put(self, value: float) -> str:
        share = (value - self.least) / (self.most - self.least)
        return f"{self.start + (self.end - self.start) * share:.1f}"

    def ticks(self, count: int) -> list[float]:
        """Round numbers, up to ``count`` and one of them."""
        span = self.most - self.least
        step = next(each for each in TICK_STEPS if span / each <= count or each == TICK_STEPS[-1])
        numbers = range(math.ceil(self.least / step), math.floor(self.most / step) + 1)
        return [number * step for number in numbers]


def draw_intervals(rows: Sequence[Mapping[str, Any]], metric: str) -> Markup:
    """Each model's interval as a line with its estimate; labels alone as a thin line below."""
    shown = [row for row in rows if row["estimate"] is not None][:20]
    if not shown:
        return Markup("")
    ends = ("estimate", "low", "high", "labels_only_low", "labels_only_high")
    names = wording.make_distinct([row["model"] for row in shown], 24)
    return Markup(
        pages.render_fragment(
            "intervals.html",
            rows=[(names[row["model"]], row) for row in shown],
            scale=Scale((row[name] for row in shown for name in ends), 14, 326),
            height=42 * len(shown) + 54,
            metric=metric,
        )
    )


def draw_tightening(
    evaluations: Sequence[memory.EvaluationRecord], metric: str, order: Sequence[str]
) -> list[dict[str, Any]]:
    """One small chart per model: its interval after each evaluation, from left to right."""
    steps = [
        (
            record.n_labeled,
            {e.model: e for e in record.estimates if (e.metric, e.group) == (metric, "all")},
        )
        for record in evaluations[-STEPS:]
    ]
    known = {model for _, found in steps for model in found}
    models = [model for model in dict.fromkeys(order) if model in known][:MODELS]
    shown = [found[model] for _, found in steps for model in models if model in found]
    values = [value for each in shown for value in (each.low, each.high, each.estimate)]
    if all(value is None for value in values):
        return []
    scale, pictures = Scale(values, 108, 8), []
    for model in models:
        own = [(labels, of.get(model)) for labels, of in steps]
        widths = [
            each.high - each.low
            for _, each in own
            if each is not None and each.low is not None and each.high is not None
        ]
        words = f"interval {widths[0]:.3f} wide" if widths else ""
        words += f" at first, {widths[-1]:.3f} now" if len(widths) > 1 else ""
        shape = {"steps": own, "scale": scale, "metric": metric, "words": words}
        svg = Markup(pages.render_fragment("small.html", **shape))
        pictures.append({"model": model, "svg": svg, "words": words})
    return pictures
