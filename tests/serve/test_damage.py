"""Broken uploads, bad pictures, full disks, files that change: a message, and nothing is lost."""

from __future__ import annotations

import errno
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import House, Loop
from typer.testing import CliRunner

from ssme.serve import files
from ssme.serve.forms import spell_for_page
from ssme.serve.jobs import do_job
from ssme.serve.labels import StoredSuggestion

pytestmark = pytest.mark.web

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("torn.parquet", b"PAR1" + b"\x07" * 300 + b"PAR1"),
        ("torn.npz", b"PK\x03\x04" + b"\x07" * 300),
        (
            "torn.npy",
            b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (3,)}",
        ),
        ("torn.csv", b"id,y,a\n\xff\xfe\x00\x01,1\n\x00\x00\x00"),
        ("empty_rows.csv", b"id,y,a\n"),
        ("words.csv", b"this is no table at all"),
        ("page.csv", b"<!doctype html><html><body>404</body></html>"),
    ],
)
def test_a_broken_upload_is_shown_with_what_is_wrong(
    open_house: House, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    answer = open_house.upload(tmp_path / name)
    assert answer.json() == {"go": "/files/1"}
    open_house.work()
    page = open_house.client.get("/files/1").text
    assert 'class="trouble"' in page
    assert "Traceback" not in page
    assert str(open_house.settings.uploads) not in page
    assert open_house.post("/files/1/evaluate").status_code == 400
    assert open_house.client.get("/files/1/label").status_code == 200


def test_an_upload_that_stops_on_the_way_leaves_nothing(open_house: House) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"id,y,a\n1,0,"
        raise ConnectionError

    with Loop() as loop, pytest.raises(ConnectionError):
        loop.run(files.save_upload(open_house.settings, "a.csv", chunks()))
    assert [*open_house.settings.uploads.iterdir()] == []


def _full(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_disk_full_of_an_upload_is_said_and_leaves_nothing(
    open_house: House, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(files.os, "replace", _full)
        answer = open_house.upload(scores)
    assert answer.status_code == 507
    assert answer.json()["error"]["got"] == "The disk is full."
    assert [*open_house.settings.uploads.rglob("*.csv")] == []
    assert [*open_house.settings.uploads.rglob("*.part")] == []
    assert open_house.upload(scores).status_code == 200


def test_a_disk_full_of_results_is_said_and_shows_nothing_half(
    open_house: House, scores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_house.upload(scores)
    open_house.work()
    open_house.post("/files/1/evaluate")
    job = open_house.db.run_now(lambda store: store.find_newest_job(1, "evaluate", "true"))
    folder = open_house.settings.results / job.key
    order = {"kind": "evaluate", "folder": str(folder), "request": dict(job.request)}
    with monkeypatch.context() as full:
        full.setattr("ssme.serve.worker.write_text", _full)
        with pytest.raises(OSError, match="No space left") as caught:
            do_job(order)
    assert spell_for_page(caught.value)["got"] == "The disk is full."
    assert [
        path.name for path in open_house.settings.results.iterdir() if "evaluate" in path.name
    ] == []
    assert "Pick:" not in open_house.client.get("/files/1/result").text
    assert open_house.work() == ["evaluate done"]
    assert "Pick:" in open_house.client.get("/files/1/result").text


def test_a_file_that_goes_away_is_said_and_its_labels_stay(ready: House) -> None:
    (path,) = ready.settings.uploads.rglob("*.csv")
    content = path.read_bytes()
    path.unlink()
    for page in ("", "/label", "/result", "/people", "/history"):
        answer = ready.client.get(f"/files/1{page}")
        assert answer.status_code == 200
        assert "is no longer there" in answer.text
    assert ready.post("/files/1/again").status_code == 400
    path.write_bytes(content)
    assert "is no longer there" not in ready.client.get("/files/1").text


def test_a_file_that_changes_while_a_job_waits_is_not_evaluated(
    open_house: House, scores: Path
) -> None:
    open_house.upload(scores)
    open_house.work()
    open_house.post("/files/1/evaluate")
    (path,) = open_house.settings.uploads.rglob("*.csv")
    path.write_bytes(path.read_bytes() + b"row-new,text,,0.5,0.5,a\n")
    (said,) = open_house.work()
    assert said.startswith("evaluate failed")
    assert "was changed on the disk" in said
    page = open_house.client.get("/files/1/result").text
    assert "Pick:" not in page
    assert "Read it again" in page


@pytest.fixture
def pictures(open_house: House, scores: Path, tmp_path: Path) -> House:
    """A file in the root beside pictures good and bad, each named by a row."""
    root = tmp_path / "root"
    (root / "scores.csv").write_bytes(scores.read_bytes())
    (root / "good.png").write_bytes(PNG)
    (root / "drawn.svg").write_bytes(SVG)
    (root / "drawn.png").write_bytes(SVG)
    (root / "huge.png").write_bytes(PNG + b"\0" * 2_000_000)
    (tmp_path / "secret.png").write_bytes(PNG)
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    open_house.post("/open", path="scores.csv")
    open_house.work()
    named = [*NAMES, "good.png"]
    rows = [StoredSuggestion(n, 1, n, (("p", "image", n_),), 0.5, "") for n, n_ in enumerate(named)]
    open_house.db.run_now(lambda store: store.add_suggestions("file 1", rows))
    return open_house


NAMES = (
    "drawn.svg",
    "drawn.png",
    "huge.png",
    "link.png",
    "missing.png",
    "../secret.png",
    "/etc/hostname.png",
    "a\0b.png",
    "..%2fsecret.png",
)
GOOD = {"row": len(NAMES), "path": "good.png"}


@pytest.mark.parametrize("name", NAMES)
def test_only_pictures_inside_the_root_are_shown(
    pictures: House, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    object.__setattr__(pictures.settings, "upload_mb", 1)
    asked = {"row": NAMES.index(name), "path": name}
    answer = pictures.client.get("/files/1/image", params=asked)
    assert answer.status_code == 400
    assert "is not a picture" in answer.text
    assert b"PNG" not in answer.content
    assert b"<script>alert" not in answer.content


def test_a_picture_is_shown_and_can_do_nothing(pictures: House) -> None:
    answer = pictures.client.get("/files/1/image", params=GOOD)
    assert (answer.status_code, answer.content) == (200, PNG)
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_picture_that_no_row_names_is_not_shown(pictures: House, tmp_path: Path) -> None:
    (tmp_path / "root" / "other.png").write_bytes(PNG)
    for asked in ({**GOOD, "path": "other.png"}, {**GOOD, "row": 0}, {"path": "good.png"}):
        answer = pictures.client.get("/files/1/image", params=asked)
        assert answer.status_code == 400
        assert "names this picture" in answer.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--host", "0.0.0.0"), "no password was given"),
        (("--host", "0.0.0.0", "--password-file", "short.txt"), "8 or more"),
        (("--host", "0.0.0.0", "--password-file", "nowhere.txt"), "cannot be read"),
        (("--root", "nowhere"), "--root must be a folder that exists"),
        (("--address", "labels.example.org"), "--address must be http:// or https://"),
        (("--job-mb", "1"), "--job-mb"),
    ],
)
def test_a_command_that_cannot_be_served_is_refused_before_it_listens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], said: str
) -> None:
    from ssme.cli import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "short.txt").write_text("short\n", encoding="utf-8")
    result = CliRunner().invoke(app, ["serve", "--no-browser", *options])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
    assert not (tmp_path / "ssme-project").exists()
