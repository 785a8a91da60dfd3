"""What the server does once it listens, and what other users of the machine can see of it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from benchmarks.serve.running import Person, Running

import ssme
from ssme.serve.server import write_entrance
from ssme.serve.settings import ServeSettings
from ssme.serve.store import DbThread

pytestmark = pytest.mark.web

ADDRESS = "http://127.0.0.1:1/enter?token=secret"


def read_mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("no_browser", [False, True])
def test_file_and_browser_are_opened_once_it_listens(
    tmp_path: Path, scores: Path, monkeypatch: pytest.MonkeyPatch, no_browser: bool
) -> None:
    import uvicorn

    from ssme.serve.app import make_app
    from ssme.serve.server import _make_server

    opened: list[str] = []
    listens: list[int | None] = []

    async def listen(*_: Any) -> None:
        assert not opened
        listens.append(app.app.state.project.opened)

    monkeypatch.setattr(uvicorn.Server, "startup", listen)
    monkeypatch.setattr("webbrowser.open", opened.append)
    settings = ServeSettings(tmp_path / "project", no_browser=no_browser)
    settings.make_folders()
    with DbThread(settings) as db:
        app: Any = make_app(db, work=False)
        server = _make_server(uvicorn, app, scores, ADDRESS)
        with ThreadPoolExecutor(1) as apart:  # a browser test may have left a loop running here
            apart.submit(asyncio.run, server.startup()).result()
        names = [each.name for each in db.run_now(lambda store: store.list_files())]
    assert listens == [1], "whoever comes first is led to the file"
    assert names == ["scores.csv"]
    assert len(opened) == (not no_browser)
    for each in opened:
        assert "secret" not in each


def test_the_file_that_leads_to_the_page_is_for_one_person_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = write_entrance(tmp_path, ADDRESS)
        path = write_entrance(tmp_path, ADDRESS)
    finally:
        os.umask(before)
    assert read_mode(path) == 0o600
    assert f"url={ADDRESS}" in path.read_text(encoding="utf-8")


def list_command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended
            continue


@pytest.mark.skipif(sys.platform != "linux", reason="command lines are read from /proc")
def test_no_command_line_shows_the_token(tmp_path: Path, scores: Path) -> None:
    """Everybody on the machine sees command lines, such as that of the browser."""
    browser, asked, seen_all = (tmp_path / name for name in ("browser", "asked", "seen_all"))
    browser.write_text(
        f'#!/bin/sh\necho "$@" > {asked}.new\nmv {asked}.new {asked}\n'
        f"for i in $(seq 100); do [ -e {seen_all} ] || sleep 0.2; done\n"
    )
    browser.chmod(0o700)
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(ssme.__file__).parents[1]),
        "BROWSER": f"{browser} %s &",
    }
    command = [sys.executable, "-m", "ssme", "serve", str(scores), "--port", "0"]
    with subprocess.Popen(
        [*command, "--project", str(tmp_path / "project")],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as server:
        try:
            assert server.stdout is not None
            said = next(line for line in server.stdout if line.startswith("Open "))
            token = re.search(r"token=(\S+)", said)[1]  # type: ignore[index]
            while not asked.exists():
                assert server.poll() is None
                time.sleep(0.05)
            seen = [*list_command_lines()]
            seen_all.touch()
            assert any(str(browser) in line for line in seen)
            assert not [line for line in seen if token in line]
            page = Path(urllib.request.url2pathname(urllib.parse.urlsplit(asked.read_text()).path))
            assert token in Path(str(page).strip()).read_text(encoding="utf-8")
        finally:
            os.killpg(server.pid, 15)
    assert not (tmp_path / "project" / "enter.html").exists()


def test_only_the_owner_of_a_project_can_read_it(tmp_path: Path, scores: Path) -> None:
    """Whatever the umask is, in a folder that was there before."""
    project = tmp_path / "project"
    project.mkdir(mode=0o755)
    before = os.umask(0)
    try:
        with Running(project) as server:
            person = Person(server)
            headers = {"origin": person.url, "x-csrf": person.csrf}
            upload = urllib.request.Request(
                f"{person.url}/upload?name=a.csv", scores.read_bytes(), headers, method="PUT"
            )
            with person.opener.open(upload) as answer:
                assert answer.status == 200
            person.wait_for("/files/1", "Models</h2>")
            person.post("/me", name="Ada")
            person.post("/files/1/names", plain="1")
            person.wait_for("/files/1/label", 'name="label"')
            found = {path: read_mode(path) for path in project.rglob("*")}
            server.stop()
    finally:
        os.umask(before)
    names = {path.name for path in found}
    kept = {"memory.sqlite", "memory.sqlite-wal", "memory.sqlite-shm", "a.csv", "look.json"}
    assert kept <= names
    wrong = {str(path): oct(mode) for path, mode in found.items() if mode & 0o077}
    assert wrong == {}
    assert read_mode(project) == 0o755  # it is not ours


def test_what_others_could_read_is_closed_to_them_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ServeSettings(tmp_path)
    for name in ("memory.sqlite", "serve.sqlite", "serve.sqlite-wal"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads").chmod(0o755)
    with monkeypatch.context() as fixed:
        fixed.setattr(Path, "chmod", lambda *_: None)
        told = settings.make_folders()
    assert [line.rsplit("/", 1)[1] for line in told] == [
        "uploads.",
        "memory.sqlite.",
        "serve.sqlite.",
        "serve.sqlite-wal.",
    ]
    assert settings.make_folders() == []
    assert {path.name: read_mode(path) for path in tmp_path.iterdir()} == {
        "memory.sqlite": 0o600,
        "serve.sqlite": 0o600,
        "serve.sqlite-wal": 0o600,
        "uploads": 0o700,
        "results": 0o700,
    }


def test_a_file_that_is_not_there_is_refused_without_a_traceback(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "ssme", "serve", "none.csv", "--port", "0"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "no file none.csv" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
