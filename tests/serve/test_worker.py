"""What worker processes do and report, and what they and the server import."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import Loop

import ssme
from ssme import run
from ssme.data.readers.sources import READERS
from ssme.errors import InputError, MissingExtraError
from ssme.progress import tell
from ssme.sample import sample_path
from ssme.serve import jobs
from ssme.serve.settings import SUFFIXES
from ssme.serve.worker import _evaluate, _lead
from ssme.spec import RunSpec

pytestmark = pytest.mark.web

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(ssme.__file__).parents[1])}
LATE = {"altair", "jinja2", "sklearn", "matplotlib", "polars", "torch", "rich", "typer", "pydantic"}
"""What the first result does without."""


def report(monkeypatch: pytest.MonkeyPatch, work: Any) -> list[dict[str, Any]]:
    """Everything that a worker reports of a job that does ``work``."""
    monkeypatch.setattr(jobs, "limit_memory", lambda megabytes: None)
    monkeypatch.setattr(jobs, "do_job", lambda job: work())
    stream = io.StringIO()
    request = {"path": "a.csv"}
    jobs.report_job(stream, {"kind": "look", "folder": "f", "job_mb": 100, "request": request})
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_progress_and_end_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        for done in range(6):
            tell("reading", done, 5)

    found = report(monkeypatch, work)
    assert found[0] == {"doing": "reading", "done": 0, "of": 5}
    assert found[-2:] == [{"doing": "reading", "done": 5, "of": 5}, {"ended": "done"}]
    assert len(found) < 8


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (InputError("no label column", hint="name it"), "No label column"),
        (MissingExtraError("reading Parquet", "parquet"), "parquet"),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk is full"),
        (ZeroDivisionError("division by zero"), "Internal error: ZeroDivisionError"),
        (MemoryError(), "out of memory"),
    ],
)
def test_a_failure_is_explained(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: Exception,
    expected: str,
) -> None:
    def work() -> None:
        raise error

    last = report(monkeypatch, work)[-1]
    assert last["ended"] == "failed"
    assert expected.lower() in last["error"]["got"].lower()
    assert ("Traceback" in capsys.readouterr().err) == isinstance(error, ZeroDivisionError)


def test_memory_is_blamed_where_it_is_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = InputError("a failed import")
    hidden.__cause__ = MemoryError()
    assert jobs._is_out_of_memory(hidden)
    assert not jobs._is_out_of_memory(InputError("a bad file"))
    assert not jobs._is_out_of_memory(RuntimeError("something else"))

    def no_room(size: int) -> bytearray:
        raise MemoryError

    monkeypatch.setattr(jobs, "bytearray", no_room, raising=False)
    assert jobs._is_out_of_memory(RuntimeError("something else"))


def test_a_worker_exits_when_the_server_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    ours, theirs = socket.socketpair()
    with theirs:
        waiting = threading.Thread(target=jobs._exit_with_server, args=(theirs,))
        waiting.start()
        ours.close()
        waiting.join(10)
    assert codes == [1]


def test_a_fork_server_that_takes_its_time_to_die_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was killed refuses connections before it can be replaced."""
    asked = []

    def refuse(order: Any) -> Any:
        asked.append(order)
        raise EOFError if len(asked) % 2 else BrokenPipeError

    monkeypatch.setattr(jobs, "Worker", refuse)
    monkeypatch.setattr(jobs, "RESTART_PAUSES", (0.0, 0.0, 0.0))
    with Loop() as loop, pytest.raises(ChildProcessError):
        loop.run(jobs.start_worker({}))
    assert len(asked) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
def test_a_fork_server_that_does_not_answer_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that started after its fork server was killed was waited for without an end."""
    monkeypatch.setattr(jobs, "PRELOADED", ("json",))
    jobs.kill_fork_server()
    jobs.start_fork_server()
    stopped = jobs.find_fork_server()
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    request = {"path": "none.csv", "sha256": ""}
    order = {
        "kind": "look",
        "folder": "none",
        "job_mb": 10_000,
        "job_seconds": 60,
        "request": request,
    }

    async def work() -> list[dict[str, Any]]:
        monkeypatch.setattr(jobs, "START_SECONDS", 1.0)
        starting = asyncio.create_task(jobs.start_worker(order))
        await asyncio.sleep(0.5)
        monkeypatch.setattr(jobs, "START_SECONDS", 60.0)  # for the one that takes its place
        worker = await starting
        try:
            return [report async for report in worker.listen()]
        finally:
            worker.kill()

    with Loop() as loop:
        (report,) = loop.run(work())
    assert "no longer there" in report["error"]["got"]
    assert jobs.find_fork_server() != stopped


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked on Linux only")
def test_a_worker_that_is_stuck_outside_python_is_ended() -> None:
    """Its server was gone, OpenBLAS asked for memory for ever, and no thread could end it."""
    code = (
        "import ctypes, socket; from ssme.serve import jobs; jobs.OUTLIVED_SECONDS = 1; "
        "jobs.report_job = lambda *_: ctypes.PyDLL(None).sleep(60); "
        "pair = socket.socketpair(); jobs.run_in_worker(pair[0], {'job_seconds': 0})"
    )
    ended = subprocess.run([sys.executable, "-c", code], timeout=50)
    assert ended.returncode == -signal.SIGALRM


@pytest.mark.parametrize("change", ["gone", "other"])
def test_a_file_that_is_not_the_one_that_was_opened_is_refused(tmp_path: Path, change: str) -> None:
    path, folder = tmp_path / "a.csv", tmp_path / "results"
    if change == "other":
        path.write_text("id,a\n1,0.5\n")
    request = {"path": str(path), "sha256": "0" * 64}
    with pytest.raises(InputError, match=r"no longer there|changed"):
        jobs.do_job({"kind": "look", "folder": str(folder), "request": request})
    assert not folder.exists()
    assert [name for name in os.listdir(tmp_path) if "unfinished" in name] == []


def test_a_limit_of_memory_is_set_below_that_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    seen = []
    monkeypatch.setattr(resource, "setrlimit", lambda which, both: seen.append(both))
    for hard in (resource.RLIM_INFINITY, 10**12, 10**6):
        monkeypatch.setattr(resource, "getrlimit", lambda which, hard=hard: (hard, hard))
        jobs.limit_memory(100)
    assert seen == [(100_000_000, resource.RLIM_INFINITY), (100_000_000, 10**12)]


def test_the_server_knows_the_suffixes_of_all_readers() -> None:
    assert tuple(READERS) == SUFFIXES


SERVE = """
import os
import sys
import threading
import time

def list_modules(path):
    while not os.path.exists(path + ".asked"):
        time.sleep(0.02)
    with open(path + ".unfinished", "w") as target:
        target.write(" ".join(sys.modules))
    os.rename(path + ".unfinished", path)

if __name__ == "__main__":
    threading.Thread(target=list_modules, args=(sys.argv.pop(1),), daemon=True).start()
    from ssme.cli import main

    main()
"""


def test_the_first_pages_are_served_by_what_they_need_and_no_more(tmp_path: Path) -> None:
    """No numbers: what reads and computes is imported by the fork server."""
    modules, script = tmp_path / "modules", tmp_path / "serve.py"
    script.write_text(SERVE)
    command = [sys.executable, str(script), str(modules), "serve", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        [*command, "--project", str(tmp_path / "project"), str(sample_path())],
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as server:
        assert server.stdout is not None
        address = next(line.split()[1] for line in server.stdout if line.startswith("Open "))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(address) as first, browser.open(address.split("/enter")[0]) as page:
            assert first.status == 200
            assert b"Open a file" in page.read()
        with browser.open(f"{address.split('/enter')[0]}/files/1") as page:
            assert b"What is in the file" in page.read()
        modules.with_suffix(".asked").touch()
        while not modules.exists():
            time.sleep(0.05)
        server.terminate()
        server.wait()
    found = {*modules.read_text(encoding="utf-8").split()}
    names_of_methods = {"ssme.methods", "ssme.methods.members"}
    packages = {
        ".".join(name.split(".")[:2])
        for name in found - names_of_methods
        if name.startswith("ssme.")
    }
    parser = {"rich", "typer", "pydantic"}
    heavy = LATE - {"jinja2"} - parser | {"numpy", "pandas", "scipy", "narwhals", "pyarrow"}
    assert {"ssme.serve.app", "jinja2", "uvicorn"} <= found
    assert heavy & found == set()
    assert packages <= {
        *("ssme.__main__", "ssme.cli", "ssme.config", "ssme.errors", "ssme.memory", "ssme.show"),
        *("ssme.options", "ssme.progress", "ssme.sample", "ssme.schema", "ssme.serve"),
        *("ssme.wording", "ssme.writing"),
    }


def test_the_fork_server_imports_what_a_result_needs_and_not_what_draws() -> None:
    code = (
        "import sys; from importlib import import_module; from ssme.serve.jobs import PRELOADED\n"
        "for name in PRELOADED: import_module(name)\n"
        "from ssme.sample import sample_path; from ssme.serve.preview import look_at\n"
        "before = set(sys.modules); look_at(str(sample_path()), {}, {})\n"
        f"print(sorted({LATE} & sys.modules.keys()), "
        "sorted(name for name in set(sys.modules) - before if name.startswith('ssme')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stdout.strip() == "[] []"


@pytest.mark.parametrize("asked", [{}, {"metrics": ["recall", "ece"]}, {"method": "labeled"}])
def test_a_plan_evaluates_the_leading_metric_alone_with_the_same_decision(
    scores: Path, asked: dict[str, Any]
) -> None:
    config = {"source": str(scores), "read": {"label": "y"}, "run": asked}
    request = {"config": config, "labels": []}
    whole, brief = (_evaluate(request, is_brief=brief)[0] for brief in (False, True))
    metric = whole.metrics[0].name
    assert [each.name for each in brief.metrics] == [metric]
    assert (len(whole.groups), len(brief.groups)) == (3, 1)
    assert brief.choose(metric) == whole.choose(metric)


@pytest.mark.parametrize("asked", [{}, {"metrics": ["roc_auc", "ece"]}])
def test_rows_are_drawn_by_the_leading_metric_alone(scores: Path, asked: dict[str, Any]) -> None:
    spec = RunSpec.from_dict({"source": str(scores), "read": {"label": "y"}, "run": asked})
    data = run.read_scores(spec)
    drawn = [run.execute(of, data).suggest(9, random_state=1) for of in (spec, _lead(spec, data))]
    assert [each.rows.tolist() for each in drawn] == [drawn[0].rows.tolist()] * 2
    assert [each.probability.tolist() for each in drawn] == [drawn[0].probability.tolist()] * 2
