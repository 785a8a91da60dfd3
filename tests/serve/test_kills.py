"""The server is killed while labels arrive: none is lost and none is doubled."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import House
from tests.serve.running import Person, Running, row_of
from tests.shared_data import ROOT

from ssme.memory import Memory

pytestmark = [pytest.mark.web, pytest.mark.xdist_group("serve")]

KILLS = 50
LABELS = 4.0
"""A server is killed within the time that so many labels took the last time."""


def test_killed_at_random_moments_while_labels_arrive(
    open_house: House, scores: Path, tmp_path: Path
) -> None:
    """A label that the page confirmed is there; one that it did not is sent again, and kept once.

    The page keeps the key of a label until the server has confirmed it.
    """
    rng = random.Random(0)
    open_house.upload(scores)
    open_house.work()
    card = open_house.client.get("/files/1/label").text
    open_house.work()
    card = open_house.client.get("/files/1/label").text
    cookie = open_house.client.cookies["ssme-8477"]
    open_house.desk.close()
    project = open_house.settings.project
    forge = subprocess.Popen(
        [sys.executable, "-m", "tests.serve.forking", str(project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    confirmed: set[str] = set()
    number, cut, took, row = 0, 0, 0.05, "null"
    with forge:
        for _ in range(KILLS):
            assert forge.stdin is not None
            assert forge.stdout is not None
            forge.stdin.write("\n")
            forge.stdin.flush()
            process, port = map(int, forge.stdout.readline().split())
            person = Person.known(f"http://127.0.0.1:{port}", port, cookie, open_house.csrf)
            person.get("/files/1/label")
            bomb = threading.Timer(
                rng.uniform(0.0, LABELS * took), os.kill, (process, signal.SIGKILL)
            )
            bomb.start()
            try:
                while True:
                    # the same row again once all are labeled: a newer word on it
                    row = row_of(card) if row_of(card) != "null" else row
                    began = time.monotonic()
                    answer: Any = person.post(
                        "/files/1/label", key=f"label-{number}", row=row, label="1"
                    )
                    card, number = answer["card"], number + 1
                    confirmed.add(f"label-{number - 1}")
                    took = (took + time.monotonic() - began) / 2
            except urllib.error.HTTPError as error:
                raise AssertionError(error.read()) from error
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                cut += 1
                took *= 1.2 if len(confirmed) <= cut else 1.0  # a slower machine
            bomb.join()
        forge.stdin.close()
    with Memory(project / "memory.sqlite", "file 1") as memory:
        keys = [event.key for event in memory.label_events()]
    assert cut == KILLS
    assert len(keys) == len({*keys})
    assert confirmed <= {*keys}
    assert {*keys} <= confirmed | {f"label-{number}"}
    assert len(confirmed) > KILLS / 2


@pytest.mark.slow
def test_an_evaluation_cut_off_is_started_again_and_never_half_shown(tmp_path: Path) -> None:
    project = tmp_path / "project"
    with Running(project) as server:
        person = Person(server)
        person.open_sample()
        person.post("/files/1/evaluate")
        person.wait_for("/jobs", "<strong>running</strong>")
        server.kill()
    assert not [*(project / "results").glob("evaluate-*")]
    with Running(project) as server:
        page = Person(server).wait_for("/files/1/result", 'class="downloads"')
        assert "Pick:" in page
        server.stop()
