"""The project as the pages see it: files, what was understood of them, results, rows to label.

open --> look (job) --> mapping --> choose rows (job) --> label --> evaluate (job) --> again

A mapping is taken once the file was read with it: one that fails replaces none that works.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ssme import memory, schema
from ssme.errors import InputError
from ssme.serve import files, jobs, labels, settings
from ssme.serve.store import DbThread, FileRecord, JobRecord, Store

AHEAD = 3
"""Batches of rows that are chosen ahead, so that nobody waits for the next one."""
KEPT = 5
"""Evaluations of a file whose results are kept; the memory keeps the estimates of all."""
LOOKS = 20
"""Files of which is remembered what was found in them."""


@dataclass(frozen=True)
class OpenFile:
    """A file with what was understood of it.

    ``look`` is what `ssme.serve.preview.look_at` found with the mapping that works (None before
    one does), ``job`` the newest job that looked, ``tried`` what that one found where its
    mapping is not the one that works, ``changed`` what happened to the file on the disk since.
    ``is_current`` says whether ``look`` is of the present content of the file, ``has_ids`` whether
    its rows had ids, whichever version of ssme looked at it last.
    """

    record: FileRecord
    look: Mapping[str, Any] | None
    job: JobRecord | None
    tried: Mapping[str, Any] | None
    changed: str
    is_current: bool
    has_ids: bool

    @property
    def is_ready(self) -> bool:
        """Whether the file can be read with its present mapping."""
        return self.look is not None and self.is_current and not self.changed

    @property
    def classes(self) -> Sequence[Any]:
        return self.look["classes"] if self.look else ()

    def refuse_unread(self) -> None:
        """Refuse what needs the classes and rows of the file."""
        if self.look is None:
            raise InputError("the file was not read yet", hint="see the page “What is in it” first")

    @property
    def guessed_models(self) -> bool:
        """Whether columns were taken for models that nobody has named."""
        named = {"models", "answers", "ratings", "model"} & {*self.record.read}
        return bool(self.look and self.look["columns"] and not named)

    @property
    def lacks_names(self) -> bool:
        """Whether the classes are 0 and 1, and nobody was asked what they mean."""
        return self.record.names is None and {*map(str, self.classes)} == {"0", "1"}

    def name_class(self, label: Any) -> str:
        return (self.record.names or {}).get(json.dumps(label), str(label))

    def describe_class(self, label: Any) -> str:
        return str(self.record.guide.get("classes", {}).get(json.dumps(label), ""))

    @property
    def data(self) -> str:
        return files.name_data(self.record, self.has_ids)


class Project:
    """All that the pages ask for."""

    def __init__(self, db: DbThread) -> None:
        self.db = db
        self.settings: settings.ServeSettings = db.settings
        self.runner = jobs.JobRunner(db, store_results)
        self.opened: int | None = None  # the file that the server was started with

    async def add_file(self, path: Path, name: str | None = None) -> int:
        """Open a file, or read it again; its number."""
        sha256, size, changed = await asyncio.to_thread(files.fingerprint, path)
        number = await self.db.run(
            Store.add_file, str(path), name or path.name, sha256, size, changed
        )
        await self.look(number)
        return number

    async def look(
        self,
        number: int,
        read: Mapping[str, Any] | None = None,
        run: Mapping[str, Any] | None = None,
        shown: list[str] | None = None,
    ) -> JobRecord:
        """Look at a file; a mapping that is given is taken once the file was read with it."""
        opened = await self.open(number)
        file = opened.record
        mapping: dict[str, Any] = {"read": file.read, "run": file.run, "shown": file.shown}
        if read is not None:
            mapping = {"read": read, "run": run or {}, "shown": shown}
        mapping["by_hand"] = await self.db.run(_describe_labels, opened)

        def note(store: Store, job: JobRecord) -> None:
            store.update_file(number, tried=job.id)
            if job.state == "done":
                store_results(store, job, self.runner.find_folder(job))

        return await self.runner.add(number, "look", {**_identify(file), **mapping}, note)

    async def look_again(self) -> None:
        """Look once more at files that another version of ssme looked at."""
        for file in await self.db.run(Store.list_files):
            if file.look is not None:
                job = await self.db.run(Store.find_job, file.look)
                if not _is_own(job):
                    await self.look(file.id)

    async def open(self, number: int) -> OpenFile:
        """A file with what was understood of it."""

        def find(store: Store) -> tuple[FileRecord, JobRecord | None, JobRecord | None]:
            file = store.find_file(number)
            job, tried = (each and store.find_job(each) for each in (file.look, file.tried))
            return file, job or None, tried or None

        file, job, tried = await self.db.run(find)
        look = self.read_look(job)
        kept = look or (self.read(job.key, "look") if job else None) or {}
        changed = await asyncio.to_thread(files.has_changed, file)
        found = self.read_look(tried) if tried != job or look is None else None
        is_current = job is not None and job.request["sha256"] == file.sha256
        return OpenFile(file, look, tried, found, changed, is_current, bool(kept.get("has_ids")))

    def read_look(self, job: JobRecord | None) -> Mapping[str, Any] | None:
        """What a job of this version found in a file: the same for the same key, so read once."""
        if job is None or job.state != "done" or not _is_own(job):
            return None
        with suppress(FileNotFoundError):
            return _read_look(self.runner.find_folder(job) / "look.json")
        return None

    async def evaluate(self, file: OpenFile) -> JobRecord:
        asked = await self.db.run(_ask_for_labels, file)
        request = {**asked, "title": file.record.name}
        return await self.runner.add(file.record.id, "evaluate", request)

    async def draw(self, job: JobRecord) -> JobRecord:
        return await self.runner.add(job.file, "report", job.request)

    async def add_labels(self, file: OpenFile, path: Path) -> JobRecord:
        assert file.look is not None
        request = {
            **_identify(file.record),
            "config": file.look["config"],
            "labels": str(path),
            "classes": file.look["classes"],
            "names": file.record.names,
            "data": file.data,
        }
        return await self.runner.add(file.record.id, "labels", request)

    async def choose_rows(self, file: OpenFile, annotator: str = "") -> JobRecord | None:
        """See to it that there are rows to label; the job, where there are too few.

        An ``annotator`` for whom no row waits gets more, unless the newest round had none for them.
        Batches of suggested rows grow with the labels (`grow_batch`), with a row for each person.
        """
        assert file.look is not None
        known = file.look["labeled"]
        free = file.look["rows"] - known

        def make_request(store: Store) -> dict[str, Any] | JobRecord | None:
            newest, left = store.count_unseen(file.data)
            totals = store.read_totals(file.data)
            seen, batch = totals.get("rows", 0), self.settings.batch
            if file.record.design == "goal":
                people = sum(name.startswith("by ") for name in totals)
                batch = min(batch, max(schema.grow_batch(known + seen), people))
            is_idle = bool(annotator) and store.gives_rows_to(file.data, annotator, newest)
            if (left > (AHEAD - 1) * batch and not is_idle) or left >= free - seen:
                return None
            job = store.find_newest_job(file.record.id, "rows", "state IN ('waiting', 'running')")
            if job and (job.request["data"], job.request["round"]) == (file.data, newest + 1):
                return job
            return {
                **_ask_for_labels(store, file),
                "round": newest + 1,
                "design": file.record.design,
                "count": AHEAD * batch,
                "shown": file.record.shown,
            }

        found = await self.db.run(make_request)
        if found is None or isinstance(found, JobRecord):
            return found
        return await self.runner.add(file.record.id, "rows", found)

    async def count_labels(self, number: int) -> int:
        return await self.db.run(lambda store: store.count_settled(store.list_data(number)))

    async def count_labels_since(self, file: OpenFile) -> int:
        """Number of labels that the newest evaluation asked for does not know."""
        return await self.db.run(
            lambda store: (
                store.count_settled([file.data])
                - store.count_labels_asked(file.record.id, "evaluate")
            )
        )

    async def find_newest_result(self, number: int) -> tuple[JobRecord | None, JobRecord | None]:
        """The newest evaluation that is done, and the newest one asked for.

        What another version of ssme wrote is not shown; the memory has its estimates.
        """

        def find(store: Store) -> tuple[JobRecord | None, JobRecord | None]:
            conditions = ("state = 'done'", "(state != 'cancelled' OR message = '')")
            done, newest = (store.find_newest_job(number, "evaluate", each) for each in conditions)
            return (done if done and _is_own(done) else None), newest

        return await self.db.run(find)

    def read(self, key: str, name: str) -> Any:
        """What the job with that key wrote; None where it did not, or not yet."""
        return _read_json(self.settings.results / key / f"{name}.json")

    def read_plan(self, job: JobRecord) -> dict[str, Any] | None:
        """How many more labels are needed after an evaluation; None where it was not counted."""
        return self.read(jobs.make_job_key("plan", job.request), "plan")

    def read_charts(self, job: JobRecord) -> list[dict[str, Any]] | None:
        """The pictures of an evaluation; None where they are not drawn yet."""
        return self.read(jobs.make_job_key("report", job.request), "charts")


def _is_own(job: JobRecord) -> bool:
    """Whether this version of ssme has done a job, not another one."""
    return job.key == jobs.make_job_key(job.kind, job.request)


def store_results(store: Store, job: JobRecord, folder: Path) -> None:
    """Put what a job found into the databases, once."""
    if job.kind == "rows":
        rows = [labels.StoredSuggestion(**each) for each in _read_json(folder / "rows.json") or []]
        store.add_suggestions(job.request["data"], rows)
    elif job.kind == "labels":
        store.import_labels(job.request["data"], **_read_json(folder / "labels.json"), key=job.key)
    elif job.kind == "evaluate":
        facts = _read_json(folder / "facts.json")
        record = memory.EvaluationRecord(**{**facts["record"], "key": job.key})
        store.memory(job.request["data"]).add_evaluation(record)
        store.note_labels(job.id, facts["given"])
        for key in store.drop_old_jobs(job.file, KEPT):
            shutil.rmtree(folder.with_name(key), ignore_errors=True)
    elif job.kind == "look" and store.find_file(job.file).tried == job.id:
        look, asked = _read_json(folder / "look.json"), job.request
        if look is not None and look["error"] is None:
            mapping = {name: asked.get(name) for name in ("read", "run", "shown")}
            store.update_file(job.file, **mapping, look=job.id)


def _describe_labels(store: Store, file: OpenFile) -> dict[str, Any] | None:
    """What a new mapping has to keep of the labels that were given by hand."""
    if file.look is None or "id" not in file.look:
        return None
    if file.look["id"] is None and not file.is_current:  # they belong to the content before
        return None
    classes = store.memory(file.data).list_classes()
    if not classes:
        return None
    return {"id": file.look["id"], "classes": classes}


def _identify(file: FileRecord) -> dict[str, Any]:
    return {"path": file.path, "sha256": file.sha256}


def _ask_for_labels(store: Store, file: OpenFile) -> dict[str, Any]:
    """The part of a request by which a worker finds the file and its labels."""
    assert file.look is not None
    return {
        **_identify(file.record),
        "config": file.look["config"],
        "data": file.data,
        "events": store.find_newest_event(file.data),
        "settled": store.count_settled([file.data]),
    }


@lru_cache(LOOKS)
def _read_look(path: Path) -> Mapping[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
