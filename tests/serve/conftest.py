"""A project on the disk, a client that is let in, and jobs that are run without a process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import pytest
from tests.made_sets import binary_set
from tests.serve.browsing import place, visit

from ssme.serve.jobs import LANES, do_job
from ssme.serve.project import store_results
from ssme.serve.settings import ServeSettings
from ssme.serve.store import DbThread, Store

__all__ = ["place", "visit"]

T = TypeVar("T")


class Loop:
    """An event loop in a thread of its own: a browser that tests share keeps that of theirs."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._loop = asyncio.Runner()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine; between two of them the clock of the loop stands still."""
        return self._thread.submit(self._loop.run, work).result()

    def __enter__(self) -> Loop:
        return self

    def __exit__(self, *_: Any) -> None:
        self._thread.submit(self._loop.close).result()
        self._thread.shutdown()


ADDRESS = "http://127.0.0.1:8477"


class House:
    """A server without a network: its pages, its jobs, and a browser that is in."""

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        from ssme.serve.app import make_app

        settings.make_folders()
        self.db = DbThread(settings)
        self.app = make_app(self.db, work=False)
        self.client = self.browser()
        self.csrf = ""

    def browser(self) -> Any:
        from starlette.testclient import TestClient

        return TestClient(self.app, base_url=ADDRESS, raise_server_exceptions=True)

    def enter(self, name: str = "Ada", client: Any = None, role: str = "owner") -> str:
        """Let a browser in; its CSRF token."""
        client = client or self.client
        token = f"token-{name}"
        self.db.run_now(lambda store: store.add_token(token, role))
        assert client.get("/enter", params={"token": token, "name": name}).status_code == 200
        page = client.get("/")
        assert page.status_code == 200
        csrf = page.text.split('name="csrf" content="')[1].split('"')[0]
        if client is self.client:
            self.csrf = csrf
        return str(csrf)

    def post(self, path: str, /, client: Any = None, csrf: str | None = None, **fields: Any) -> Any:
        client = client or self.client
        return client.post(
            path,
            data={"csrf": self.csrf if csrf is None else csrf, **fields},
            headers={"origin": ADDRESS},
            follow_redirects=False,
        )

    def begin(self, file: int = 1) -> None:
        """Go to the page "Label" of a file whose classes keep their names."""
        self.post(f"/files/{file}/names", plain="1")
        self.client.get(f"/files/{file}/label")

    def mark(self, path: str, /, client: Any = None, csrf: str | None = None, **fields: Any) -> Any:
        """Press a button of the page "Label", as its script does."""
        client = client or self.client
        return client.post(
            path,
            data={"csrf": self.csrf if csrf is None else csrf, **fields},
            headers={"origin": ADDRESS, "accept": "application/json"},
        ).json()

    def upload(self, path: Path, name: str | None = None) -> Any:
        return self.client.put(
            "/upload",
            params={"name": name or path.name},
            content=path.read_bytes(),
            headers={"origin": ADDRESS, "x-csrf": self.csrf, "accept": "application/json"},
        )

    def work(self) -> list[str]:
        """Do all jobs that wait, in this process; how they ended."""
        ended = []
        kinds = [kind for lane in LANES for kind in lane]
        while True:
            job = self.db.run_now(lambda store: store.take_next_job(kinds))
            if job is None:
                return ended
            folder = self.settings.results / job.key
            order = {"kind": job.kind, "folder": str(folder), "request": dict(job.request)}

            def end(store: Store, state: str, message: str = "", job: Any = job) -> None:
                if state == "done":
                    store_results(store, job, self.settings.results / job.key)
                store.end_job(job.id, state, message)

            try:
                do_job(order)
                self.db.run_now(end, "done")
                ended.append(f"{job.kind} done")
            except ValueError as error:
                self.db.run_now(end, "failed", str(error))
                ended.append(f"{job.kind} failed: {error}")


@pytest.fixture
def settings(tmp_path: Path) -> ServeSettings:
    root = tmp_path / "root"
    root.mkdir()
    return ServeSettings(tmp_path / "project", root, batch=5)


@pytest.fixture
def house(settings: ServeSettings) -> Iterator[House]:
    found = House(settings)
    yield found
    found.db.close()


@pytest.fixture
def open_house(house: House) -> House:
    """A house that has been entered."""
    house.enter()
    return house


@pytest.fixture
def ready(open_house: House, scores: Path) -> House:
    """A file is open and rows to label are chosen."""
    open_house.upload(scores)
    assert open_house.work() == ["look done"]
    open_house.begin()
    assert open_house.work() == ["rows done"]
    return open_house


@pytest.fixture(scope="session")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small file: 80 rows with names and text, two models, 12 labels, one group."""
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    data = binary_set(("good", "bad"), n=80, n_labeled=12)
    lines = ["id,text,y,good,bad,group_site"]
    for i, ((good, bad), label) in enumerate(
        zip(data.scores[:, :, 1], data.label_values, strict=True)
    ):
        given = "" if label is None else label
        lines.append(f"row-{i},text {i},{given},{good:.4f},{bad:.4f},{'ab'[i % 2]}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def restarted(house: House, **changes: Any) -> House:
    """The same project, served again."""
    house.db.close()
    return House(replace(house.settings, **changes))


async def send_request(
    app: Any,
    method: str,
    path: str,
    query: str,
    headers: dict[str, str],
    body: bytes,
    *,
    is_whole: bool = True,
) -> list[int]:
    """The status of the answer to a request as a server would hand it over, if there is one."""
    pieces = [body[i : i + 65_536] for i in range(0, len(body), 65_536)] or [b""]
    waiting = [
        {"type": "http.request", "body": piece, "more_body": number < len(pieces) or not is_whole}
        for number, piece in enumerate(pieces, 1)
    ]
    statuses: list[int] = []

    async def receive() -> Any:
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "scheme": "http",
        "server": ("127.0.0.1", 8477),
        "client": ("127.0.0.1", 5000),
        "headers": [(key.encode(), value.encode("latin-1")) for key, value in headers.items()],
    }
    await app(scope, receive, send)
    return statuses
