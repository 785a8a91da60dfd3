"""A server as people start it, and a person who labels through its pages without a browser."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import ssme

SECONDS = 600.0
"""Patience with a server on a busy machine."""


class Running:
    """``ssme serve`` in a process of its own.

    Parameters
    ----------
    project : Path
        Folder of the project.
    *options : str
        More of the command line.
    port : int
        Where it listens; 0 takes a free port.
    environment : mapping, optional
        Variables of the environment beside those of this process.
    """

    def __init__(
        self,
        project: Path,
        *options: str,
        port: int = 0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        command = [sys.executable, "-m", "ssme", "serve", "--no-browser", "--project", str(project)]
        path = os.pathsep.join([str(Path(ssme.__file__).parents[1]), *filter(None, sys.path)])
        self.process = subprocess.Popen(
            [*command, "--port", str(port), *options],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **(environment or {})},
        )
        assert self.process.stdout is not None
        self.said: list[str] = []
        self.url = self.token = ""
        for line in self.process.stdout:
            self.said.append(line)
            found = re.search(r"Open (https?://[^/]+)/enter\?token=(\S+)", line)
            if found:
                self.url, self.token = found[1], found[2]
                break
        assert self.url, self.said
        self.port = int(self.url.rsplit(":", 1)[1])

    @property
    def entrance(self) -> str:
        return f"{self.url}/enter?token={self.token}"

    def measure_cpu_seconds(self) -> float:
        """Time that the server and the processes it started have worked so far."""
        found = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                facts = path.read_text(encoding="utf-8").rsplit(")", 1)[1].split()
                if self.process.pid in (int(path.parent.name), int(facts[1])):
                    found += sum(map(int, facts[11:15]))
        return found / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(SECONDS)

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: Any) -> None:
        if self.process.poll() is None:
            self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Person:
    """A browser without scripts."""

    def __init__(self, server: Running, token: str | None = None) -> None:
        self.url, self._server = server.url, server
        jar = CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        self.get(f"/enter?token={token or server.token}")
        self.csrf = re.search(r'name="csrf" content="([^"]+)"', self.get("/"))[1]  # type: ignore[index]
        self.cookie = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)

    @classmethod
    def known(cls, url: str, port: int, cookie: str, csrf: str) -> Person:
        """A browser that was let in before, by a server at another port."""
        person = cls.__new__(cls)
        person.url, person.csrf, person.cookie = url, csrf, f"ssme-{port}={cookie}"
        person.opener = urllib.request.build_opener()
        person.opener.addheaders = [("cookie", person.cookie)]
        return person

    def get(self, path: str, accept: str = "text/html") -> str:
        request = urllib.request.Request(self.url + path, headers={"accept": accept})
        with self.opener.open(request, timeout=SECONDS) as answer:
            text: str = answer.read().decode()
        return text

    def post(self, path: str, /, **fields: str) -> Any:
        body = urllib.parse.urlencode({"csrf": self.csrf, **fields}).encode()
        headers = {"origin": self.url, "accept": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers)
        with self.opener.open(request, timeout=SECONDS) as answer:
            text = answer.read().decode()
        return json.loads(text) if text.startswith("{") else text

    def invite(self, name: str) -> Person:
        """A guest of that name, in a browser of their own."""
        found = re.search(r"/enter\?token=([\w-]+)", self.post("/invite", name=name))
        assert found is not None
        return Person(self._server, found[1])

    def open_sample(self) -> None:
        self.post("/open", sample="1")
        self.wait_for("/files/1", "Models</h2>")

    def evaluate(self, file: int) -> int:
        """Ask for an evaluation; the number of its job."""
        found = re.search(r'data-job="(\d+)"', self.post(f"/files/{file}/evaluate"))
        assert found is not None
        return int(found[1])

    def wait_for(self, path: str, text: str) -> str:
        """Load a page until it holds the text."""
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            page = self.get(path)
            if text in page:
                return page
            time.sleep(0.1)
        raise AssertionError(f"{text!r} did not appear in {path}: {page[-2000:]}")


def find_row(card: str) -> str:
    found = re.search(r'name="row" value="([^"]*)"', card)
    assert found is not None, card
    return html.unescape(found[1])
