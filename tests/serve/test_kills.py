"""The server is killed while labels arrive: none is lost and none is doubled."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest
from benchmarks.serve.kills import run
from benchmarks.serve.running import Person, Running

pytestmark = [pytest.mark.web, pytest.mark.xdist_group("serve")]

KILLS = 12
"""`python -m benchmarks.serve.kills` kills 50 times in each of three runs."""


def test_killed_at_random_moments_while_labels_arrive() -> None:
    """A label that the page confirmed is there; one that it did not is sent again, and kept once.

    The page keeps the key of a label until the server has confirmed it.
    """
    found = run(KILLS, seed=3)
    assert (found["lost"], found["doubled"], found["unknown"]) == (0, 0, 0)
    assert found["confirmed"] > KILLS / 2
    assert found["unconfirmed"] > 0


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


def test_a_server_that_is_terminated_leaves_no_files_behind(
    tmp_path: Path,
) -> None:
    """Neither the socket of its fork server nor a journal of a database."""
    with tempfile.TemporaryDirectory() as temporary:  # short: the name of a socket is
        with Running(tmp_path / "project", environment={"TMPDIR": temporary}) as server:
            Person(server).open_sample()
            assert os.listdir(temporary)
            server.stop()
        assert server.process.returncode == 128 + signal.SIGTERM
        assert os.listdir(temporary) == []
    assert not [*(tmp_path / "project").glob("*-wal")]
