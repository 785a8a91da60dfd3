"""What the server and the forge import, and when: somebody waits for the first page and result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import pytest

import ssme
from ssme.data.readers.sources import READERS
from ssme.sample import sample_path
from ssme.serve.settings import SUFFIXES
from ssme.serve.worker import JOBS
from ssme.serve.workshop import KINDS

pytestmark = pytest.mark.web

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(ssme.__file__).parents[1])}
LATE = {"altair", "jinja2", "sklearn", "matplotlib", "polars", "torch", "rich", "typer", "pydantic"}
"""What the first result does without."""


def test_the_server_knows_the_suffixes_of_all_readers() -> None:
    assert tuple(READERS) == SUFFIXES


def test_the_forge_knows_every_kind_of_job() -> None:
    assert set(KINDS) == set(JOBS)


def test_the_first_pages_are_served_by_what_they_need_and_no_more(tmp_path: Path) -> None:
    """Neither the parser nor numbers: what reads and computes is imported by the forge."""
    imports = tmp_path / "imports.txt"
    command = ["-X", "importtime", "-m", "ssme", "serve", "--no-browser", "--port", "0"]
    with (
        imports.open("wb") as told,
        subprocess.Popen(
            [sys.executable, *command, "--project", str(tmp_path / "project"), sample_path()],
            stdout=subprocess.PIPE,
            stderr=told,
            text=True,
            env=ENVIRONMENT,
        ) as server,
    ):
        assert server.stdout is not None
        address = next(line.split()[1] for line in server.stdout if line.startswith("Open "))
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        with browser.open(address) as first, browser.open(address.split("/enter")[0]) as page:
            assert first.status == 200
            assert b"Open a file" in page.read()
        with browser.open(f"{address.split('/enter')[0]}/files/1") as page:
            assert b"What is in the file" in page.read()
        server.terminate()
        server.wait()
    found = set(re.findall(r"\| +([\w.]+)$", imports.read_text(encoding="utf-8"), re.MULTILINE))
    names_of_methods = {"ssme.methods", "ssme.methods.members"}
    rooms = {
        ".".join(name.split(".")[:2])
        for name in found - names_of_methods
        if name.startswith("ssme.")
    }
    heavy = (LATE - {"jinja2"}) | {"numpy", "pandas", "scipy", "narwhals", "pyarrow"}
    assert {"ssme.serve.app", "jinja2", "uvicorn"} <= found
    assert not heavy & found
    assert rooms <= {
        *("ssme.__main__", "ssme.cli", "ssme.config", "ssme.errors", "ssme.markup", "ssme.memory"),
        *("ssme.options", "ssme.sample", "ssme.serve", "ssme.wording", "ssme.writing"),
    }


def test_the_forge_is_ready_for_a_result_before_it_imports_what_draws() -> None:
    code = (
        "import sys; from ssme.serve.worker import SOON, get_ready\n"
        "for kind in SOON: get_ready(kind)\n"
        "from ssme.sample import sample_path; from ssme.serve.looking import look_at\n"
        "before = set(sys.modules); look_at(str(sample_path()), {}, {})\n"
        f"print(sorted({LATE} & sys.modules.keys()), "
        "sorted(name for name in set(sys.modules) - before if name.startswith('ssme')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT
    )
    assert done.stdout.strip() == "[] []"
