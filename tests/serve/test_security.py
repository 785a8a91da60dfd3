"""Who gets in, from where, and what a page may do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.serve.conftest import ADDRESS, House, Loop, restarted

from ssme.errors import InputError
from ssme.serve.auth import RefusedError, Throttle, is_own_host
from ssme.serve.settings import ServeSettings

pytestmark = pytest.mark.web

PAGES = ("/", "/jobs", "/files/1", "/files/1/label", "/files/1/result", "/files/1/labels.csv")


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(house: House) -> None:
    house.db.run_now(lambda store: store.add_token("t", "owner"))
    cookie = house.client.get("/enter?token=t").headers["set-cookie"]
    assert cookie.startswith("ssme-8477=")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


def test_secrets_are_not_on_the_disk(open_house: House) -> None:
    content = b"".join(p.read_bytes() for p in open_house.settings.project.glob("memory.sqlite*"))
    assert b"Ada" in content
    assert b"token-Ada" not in content
    assert open_house.client.cookies["ssme-8477"].encode() not in content


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8477", "127.0.0.1.evil.example", ""]
)
def test_a_foreign_host_is_refused(open_house: House, host: str) -> None:
    answer = open_house.client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "Files" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8477", "localhost:8477", "[::1]:8477"])
def test_own_hosts(host: str) -> None:
    assert is_own_host(ServeSettings(Path("p")), host)


def test_a_server_for_others_answers_to_addresses_but_not_to_names_of_others(
    tmp_path: Path,
) -> None:
    settings = ServeSettings(host="0.0.0.0", password_file=write_password(tmp_path))
    assert is_own_host(settings, "192.168.0.7:8477")
    assert not is_own_host(settings, "evil.example:8477")
    assert not is_own_host(ServeSettings(Path("p")), "192.168.0.7:8477")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_nothing_changes_from_a_foreign_origin(open_house: House, origin: str | None) -> None:
    headers = {} if origin is None else {"origin": origin}
    form = {"csrf": open_house.csrf, "sample": "1"}
    answer = open_house.client.post("/open", data=form, headers=headers)
    assert answer.status_code == 403
    assert open_house.db.run_now(lambda store: store.list_files()) == []


@pytest.mark.parametrize("csrf", ["", "wrong"])
def test_nothing_changes_without_the_token_of_the_page(open_house: House, csrf: str) -> None:
    assert open_house.post("/open", csrf=csrf, sample="1").status_code == 403
    headers = {"origin": ADDRESS, "x-csrf": csrf}
    answer = open_house.client.put("/upload?name=a.csv", content=b"a", headers=headers)
    assert answer.status_code == 403
    assert open_house.db.run_now(lambda store: store.list_files()) == []


def test_other_sites_cannot_embed_or_fetch(open_house: House) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-dest": "image"}
    assert open_house.client.get("/", headers=headers).status_code == 403
    policy = open_house.client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy


def test_pages_hold_no_script_and_no_style(open_house: House, scores: Path) -> None:
    open_house.upload(scores)
    open_house.work()
    for path in PAGES[:-1]:
        text = open_house.client.get(path).text
        assert "<style" not in text
        assert " style=" not in text
        assert text.count("<script") == text.count('<script src="/static/')


def write_password(folder: Path) -> Path:
    path = folder / "password.txt"
    path.write_text("open sesame\n", encoding="utf-8")
    return path


def test_read_only_changes_nothing(ready: House) -> None:
    quiet = restarted(ready, read_only=True)
    quiet.enter("Bob")
    before = quiet.db.run_now(lambda store: len(store.list_jobs()))
    for path in PAGES[:-1]:
        assert quiet.client.get(path).status_code == 200
    assert quiet.client.get("/files/1/plan").json() == {"html": ""}
    for path in ("/open", "/files/1/evaluate", "/files/1/label", "/files/1/again", "/invite"):
        assert quiet.post(path, sample="1").status_code == 403
    assert quiet.db.run_now(lambda store: len(store.list_jobs())) == before
    quiet.db.close()


@pytest.fixture
def with_password(settings: ServeSettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr("ssme.serve.auth.FIRST_PAUSE", 0.001)
    monkeypatch.setattr("ssme.serve.auth.LONGEST_PAUSE", 0.01)
    house = House(replace(settings, password_file=write_password(settings.project.parent)))
    yield house
    house.db.close()


def test_a_password_is_asked_for_and_a_wrong_one_refused(with_password: House) -> None:
    house = with_password
    assert house.client.get("/").status_code == 401
    for _ in range(20):
        assert house.post("/login", name="Eve", password="guess").status_code == 403
    assert house.client.get("/").status_code == 401
    assert house.post("/login", name="Ada", password="open sesame").status_code == 200
    assert "Ada" in house.client.get("/").text


def test_the_printed_address_lets_in_whatever_was_guessed(with_password: House) -> None:
    for _ in range(20):
        with_password.post("/login", name="Eve", password="guess")
    with_password.enter()


def test_wrong_passwords_make_only_their_own_address_wait() -> None:
    """Each pause is twice the one before, up to a limit; an attempt waits for the one before it."""
    throttle, asked = Throttle(clock=lambda: 0.0), []

    async def sleep(seconds: float) -> None:
        asked.append(seconds)

    async def try_all() -> list[bool]:
        found = [await throttle.is_right("10.0.0.1", "guess", "open sesame") for _ in range(9)]
        before = len(asked)
        found.append(await throttle.is_right("10.0.0.2", "open sesame", "open sesame"))
        assert asked[before:] == [0.0]
        found.append(await throttle.is_right("10.0.0.1", "open sesame", "open sesame"))
        return found

    with pytest.MonkeyPatch.context() as patch, Loop() as loop:
        patch.setattr("ssme.serve.auth.asyncio.sleep", sleep)
        assert loop.run(try_all()) == [False] * 9 + [True, True]
    assert [*asked[1:9], asked[10]] == [0.5, 1, 2, 4, 8, 8, 8, 8, 8]


def test_few_passwords_of_an_address_wait_and_few_addresses_are_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ssme.serve.auth.ADDRESSES", 20)
    throttle = Throttle()

    async def flood() -> int:
        for number in range(100):
            await throttle.is_right(f"10.0.1.{number}", "guess", "open sesame")
        tries = [
            asyncio.create_task(throttle.is_right("10.0.0.1", "guess", "open sesame"))
            for _ in range(30)
        ]
        done, waiting = await asyncio.wait(tries, timeout=0.05)
        for each in waiting:
            each.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return sum(isinstance(each.exception(), RefusedError) for each in done)

    with Loop() as loop:
        assert loop.run(flood()) >= 25
    assert len(throttle._found) <= 21


def test_other_machines_need_a_password() -> None:
    with pytest.raises(InputError, match="no password was given"):
        ServeSettings(Path("p"), host="0.0.0.0")


@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "link.csv", "a\0b.csv"])
def test_no_file_outside_the_root_is_opened(
    open_house: House, tmp_path: Path, scores: Path, path: str
) -> None:
    (tmp_path / "secret.csv").write_bytes(scores.read_bytes())
    (tmp_path / "root" / "link.csv").symlink_to(tmp_path / "secret.csv")
    answer = open_house.post("/open", path=path)
    assert answer.status_code == 400
    assert open_house.db.run_now(lambda store: store.list_files()) == []


def test_a_file_inside_the_root_is_opened(open_house: House, tmp_path: Path, scores: Path) -> None:
    (tmp_path / "root" / "mine.csv").write_bytes(scores.read_bytes())
    assert open_house.post("/open", path="mine.csv").status_code == 303
    assert open_house.work() == ["look done"]


def test_an_upload_has_a_limit_and_leaves_nothing_behind(
    settings: ServeSettings, tmp_path: Path
) -> None:
    house = House(replace(settings, upload_mb=1))
    house.enter()
    big = tmp_path / "big.csv"
    big.write_bytes(b"x" * 1_100_000)
    answer = house.upload(big)
    assert answer.status_code == 413
    assert "larger than 1 MB" in answer.json()["error"]["got"]
    assert [*house.settings.uploads.iterdir()] == []
    house.db.close()


@pytest.mark.parametrize("name", ["x.pkl", "x.html", "../../x.csv.exe", "", "x"])
def test_other_kinds_of_files_are_refused(open_house: House, scores: Path, name: str) -> None:
    answer = open_house.upload(scores, name or "  ")
    assert answer.status_code == 400
    assert [*open_house.settings.uploads.iterdir()] == []


def test_the_name_of_an_upload_cannot_leave_the_folder(open_house: House, scores: Path) -> None:
    assert open_house.upload(scores, "../../../evil<b>.csv").status_code == 200
    found = [*open_house.settings.uploads.rglob("*.csv")]
    assert [path.name for path in found] == ["evil_b_.csv"]


def test_unknown_pages_and_files(open_house: House) -> None:
    for path in ("/nothing", "/static/settings.py", "/static/..%2fapp.py", "/jobs/1/report.html"):
        assert open_house.client.get(path).status_code in (400, 404)


def test_the_examples_of_a_unit_and_a_container_start_a_server(tmp_path: Path) -> None:
    """Each flag that they name exists and takes what they give it."""
    from ssme.schema import ServeOptions

    root, known = Path(__file__).parents[2] / "docs" / "serve", {*vars(ServeOptions())}
    unit = re.search(r"^ExecStart=(.*)$", (root / "ssme.service").read_text(), re.MULTILINE)
    container = re.search(r"^CMD \[(.*)\]", (root / "Containerfile").read_text(), re.M | re.S)
    assert unit is not None
    assert container is not None
    commands = [unit[1].split(), re.findall('"([^"]*)"', container[1])]
    for _, serve, *words in commands:
        flags = [word[2:].replace("-", "_") for word in words if word.startswith("--")]
        assert serve == "serve"
        assert {*flags} <= known
        values = dict(pairwise(words))
        assert values["--password-file"].endswith("/password")
        given = {"password_file": write_password(tmp_path), "host": values.get("--host")}
        given["address"] = values.get("--address")
        ServeSettings(**{name: value for name, value in given.items() if value})


def test_what_is_exposed_is_said(tmp_path: Path) -> None:
    from ssme.serve.server import describe_exposure

    said: Any = describe_exposure(
        ServeSettings(root=tmp_path, host="0.0.0.0", password_file=write_password(tmp_path)), 8477
    )
    assert str(tmp_path) in said[0]
    assert "not encrypted" in said[1]
    assert describe_exposure(ServeSettings(Path("p")), 8477) == []
