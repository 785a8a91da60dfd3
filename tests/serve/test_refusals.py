"""Requests that cannot be served: each is refused in words, and nothing changes."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.serve.conftest import ADDRESS, House, Loop, send_request
from tests.serve.test_labeling import row_of

from ssme.errors import InputError
from ssme.serve import files
from ssme.serve.forms import fill_form, parse_mapping, spell_for_page
from ssme.serve.results import describe_changes
from ssme.serve.server import bind
from ssme.serve.settings import ServeSettings, is_loopback

pytestmark = pytest.mark.web


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/open", {"path": "  "}),
        ("/open", {"path": "../outside.csv"}),
        ("/open", {"path": "none.csv"}),
        ("/me", {"name": "  "}),
        ("/files/9/evaluate", {}),
        ("/files/1/label", {"row": '"row-20"', "label": "9"}),
        ("/files/1/label", {"row": '"row-20"', "label": "x"}),
        ("/files/1/adjudicate", {"row": '"row-20"', "label": "9"}),
        ("/files/1/adjudicate", {"row": '"row-20"', "label": "1"}),
        ("/files/1/labeling", {"design": "by size"}),
    ],
)
def test_a_form_that_makes_no_sense_is_refused_in_words(
    ready: House, path: str, fields: dict[str, str]
) -> None:
    before = ready.db.run_now(lambda store: store.memory("file 1").label_events())
    answer = ready.post(path, **fields)
    assert answer.status_code == 400
    assert "This did not work" in answer.text
    assert "Traceback" not in answer.text
    after = ready.db.run_now(lambda store: store.memory("file 1").label_events())
    assert after == before


@pytest.mark.parametrize("path", ["/files/1/label", "/files/1/adjudicate"])
def test_labels_of_nobody_are_refused(ready: House, path: str) -> None:
    client = ready.browser()
    fields = {"csrf": ready.enter("", client), "row": '"row-20"', "label": "1"}
    answer = ready.post(path, client=client, **fields)
    assert answer.status_code == 400
    assert "enter your name" in answer.text.lower()


def test_buttons_work_without_a_script_too(ready: House) -> None:
    row = row_of(ready.client.get("/files/1/label").text)
    for number, does in enumerate(("unsure", "undo", "undo", "skip", "back")):
        answer = ready.post("/files/1/label", do=does, row=row, key=f"k{number}")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/files/1/label"
    shown = ready.post("/files/1/label?scores=shown", do="skip", row=row)
    assert shown.headers["location"] == "/files/1/label?scores=shown"


def test_a_form_of_more_than_a_million_bytes_is_refused(ready: House) -> None:
    answer = ready.client.post(
        "/files/1/label", data={"label": "x" * 1_100_000}, headers={"origin": ADDRESS}
    )
    assert answer.status_code == 413


def test_a_broken_cookie_is_no_session(ready: House) -> None:
    stranger = ready.browser()
    assert stranger.get("/", headers={"cookie": 'a="\\x00;;=;'}).status_code == 401
    strange = stranger.get("/", headers={"cookie": "a=b", "accept": "application/json"})
    assert strange.status_code == 401
    assert set(strange.json()["error"]) == {"got", "fix", "fields"}


def test_half_a_form_changes_nothing(ready: House) -> None:
    """The rest of it might have named another class."""
    row = row_of(ready.client.get("/files/1/label").text)
    body = urlencode({"csrf": ready.csrf, "row": row, "label": "1"}).encode()
    headers = {
        "host": "127.0.0.1:8477",
        "origin": ADDRESS,
        "cookie": f"ssme-8477={ready.client.cookies['ssme-8477']}",
        "content-length": f"{len(body) + 1}",
    }
    asked = ("POST", "/files/1/label", "", headers, body)
    with Loop() as loop:
        assert loop.run(send_request(ready.app, *asked, is_whole=False)) == []
    assert ready.db.run_now(lambda store: store.memory("file 1").label_events()) == ()
    assert ready.post("/files/1/label", row=row, label="1").status_code == 303


def test_jobs_can_be_cancelled_and_files_of_no_job_are_not_there(ready: House) -> None:
    ready.post("/files/1/evaluate")
    jobs = ready.db.run_now(lambda store: store.list_jobs())
    waiting = next(job for job in jobs if job.state == "waiting")
    answer = ready.mark(f"/jobs/{waiting.id}/cancel")
    assert answer == {"state": "cancelled"}
    page = ready.post(f"/jobs/{waiting.id}/cancel")
    assert page.headers["location"] == "/files/1/result"
    assert ready.client.get("/files/1/result").status_code == 200
    for name in ("report.html", "secrets.txt"):
        assert ready.client.get(f"/jobs/{waiting.id}/{name}").status_code in (400, 404)


def test_results_that_were_deleted_are_made_again(ready: House) -> None:
    import shutil

    ready.post("/files/1/evaluate")
    assert "evaluate done" in ready.work()
    job = next(
        job for job in ready.db.run_now(lambda store: store.list_jobs()) if job.kind == "evaluate"
    )
    shutil.rmtree(ready.settings.results / job.key)
    ready.post("/files/1/evaluate")
    assert "evaluate done" in ready.work()
    assert (ready.settings.results / job.key).is_dir()


def test_files_by_path_need_a_root(settings: ServeSettings, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened by path"):
        files.resolve_inside_root(replace(settings, root=None), "a.csv")
    with pytest.raises(InputError, match="not the path of a file"):
        files.resolve_inside_root(settings, "a\0.csv")
    assert files.list_root(replace(settings, root=None)) == []


def test_the_list_of_a_root_leaves_out_what_is_hidden_and_the_project(
    settings: ServeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = settings.root
    assert root is not None
    inside = replace(settings, project=root / "project")
    for name in (
        "b.csv",
        ".hidden.csv",
        "notes.md",
        "sub/a.parquet",
        ".git/c.csv",
        "project/d.csv",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    assert files.list_root(inside) == ["b.csv", "sub/a.parquet"]
    monkeypatch.setattr(files, "LISTED", 1)
    assert files.list_root(inside) == ["b.csv"]


def test_a_port_that_is_taken_is_told(settings: ServeSettings) -> None:
    with bind(replace(settings, port=0)) as first:
        taken = replace(settings, port=first.getsockname()[1])
        with pytest.raises(InputError, match="give another --port"):
            bind(taken)
    assert is_loopback("::1")
    assert not is_loopback("example.org")


def test_what_the_system_says_of_a_file_is_spelled_without_its_folders() -> None:
    said = spell_for_page(OSError(errno.EACCES, "Permission denied", "/home/ada/secret/x.csv"))
    assert said["got"] == "A file could not be read or written: Permission denied (x.csv)."
    assert "secret" not in str(said)
    assert "Permission" in spell_for_page(OSError(errno.EACCES, "Permission denied"))["got"]
    assert spell_for_page(RuntimeError("The program made a mistake"))["fix"] == ""


def record(**changes: Any) -> Any:
    usual: dict[str, Any] = {
        "n_labeled": 10,
        "n_rows": 80,
        "method": "auto",
        "spec": {"run": {"method": "auto", "level": 0.95}},
        "scores": {},
        "estimates": [],
        "version": "1.0",
        "decisions": [SimpleNamespace(pick="good")],
    }
    return SimpleNamespace(**{**usual, **changes})


def test_what_changed_between_two_evaluations_is_listed() -> None:
    assert len(describe_changes(None, record())) == 1
    assert len(describe_changes(record(), record())) == 1
    changes: dict[str, tuple[Any, str]] = {
        "n_labeled": (1210, "1,200 more"),
        "n_rows": (90, "90"),
        "spec": ({"run": {"level": 0.9}}, "was 95% and is 90%"),
        "method": ("ssme", "The method was auto and is ssme"),
        "version": ("1.1", "1.1"),
        "decisions": ([SimpleNamespace(pick="bad")], "bad"),
    }
    for name, (value, words) in changes.items():
        sentences = describe_changes(record(), record(**{name: value}))
        assert words in sentences[0]
        assert ("The pick is still good." in sentences) == (name != "decisions")
    everything = {name: value for name, (value, _) in changes.items()}
    assert len(describe_changes(record(), record(**everything))) == len(changes)


def test_other_models_and_moved_scores_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    now = record(scores={"good": 1})

    monkeypatch.setattr("ssme.memory.tracking.find_drift", lambda *_: ())
    assert describe_changes(record(), now)[:-1] == ["The models are different."]
    found = [
        SimpleNamespace(model="good", is_clear=True),
        SimpleNamespace(model="b", is_clear=False),
    ]
    monkeypatch.setattr("ssme.memory.tracking.find_drift", lambda *_: found)
    assert describe_changes(record(), now)[:-1] == ["The scores of good moved."]


COLUMNS = [
    {"name": "y", "role": "label"},
    {"name": "other", "role": "shown"},
    {"name": "a", "role": "models"},
    {"name": "b", "role": "models"},
    {"name": "site", "role": "shown"},
]


@pytest.mark.parametrize(
    ("form", "read", "run"),
    [
        ({}, {"label": "y"}, {}),
        ({"part-0": ["out"]}, {"labels_file": False, "ignore": ["y"]}, {}),
        ({"part-0": ["models"]}, {"labels_file": False, "models": ["y", "a", "b"]}, {}),
        ({"part-1": ["label"]}, {"label": ["y", "other"]}, {}),
        ({"part-3": ["out"]}, {"label": "y", "models": ["a"]}, {}),
        (
            {"part-4": ["groups"], "logits": ["1"]},
            {"label": "y", "groups": ["site"], "logits": True},
            {},
        ),
        (
            {"classes": ["0, 1,"], "positive": ["1"], "pattern": ["{model}_p"]},
            {"label": "y", "classes": [0, 1], "positive": 1, "pattern": "{model}_p"},
            {},
        ),
        (
            {"metric": ["accuracy", "ece"], "method": ["ssme"], "level": ["90 %"]},
            {"label": "y"},
            {"metrics": ["accuracy", "ece"], "method": "ssme", "level": 0.9},
        ),
        ({"method": ["auto"], "level": ["97,5"]}, {"label": "y"}, {"level": 0.975}),
        ({"level": ["95.0"]}, {"label": "y"}, {}),
        (
            {"classes": ['no, "yes, very"'], "delimiter": [";"], "decimal": [","]},
            {"label": "y", "classes": ["no", "yes, very"], "delimiter": ";", "decimal": ","},
            {},
        ),
        (
            {"part-2": ["answers"], "part-3": ["ratings"], "grades": ["1,2,3"]},
            {"label": "y", "answers": ["a"], "ratings": ["b"], "grades": [1, 2, 3]},
            {},
        ),
    ],
)
def test_a_form_is_the_sections_of_a_config(form: Any, read: Any, run: Any) -> None:
    found = parse_mapping(form, COLUMNS, "a.csv")
    assert found[:2] == (read, run)
    filled = fill_form(read, run)
    again = {name: [str(text)] for name, text in filled.items() if isinstance(text, str | int)}
    again |= {name: form[name] for name in form if name.startswith("part-") or name == "metric"}
    assert parse_mapping(again, COLUMNS, "a.csv") == found


def test_lists_of_columns_that_were_said_are_said_again() -> None:
    assert parse_mapping({}, COLUMNS, "a.csv", {"models"})[0] == {
        "label": "y",
        "models": ["a", "b"],
    }


@pytest.mark.parametrize("text", ["0", "100", "-5", "101", "high", "nan", "inf", "9 5"])
def test_a_coverage_that_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="between 1 and 100"):
        parse_mapping({"level": [text]}, COLUMNS, "a.csv")


@pytest.mark.parametrize("text", ["0.95", "0,95", ".95", "1"])
def test_a_share_for_a_percentage_is_refused_with_the_percentage(text: str) -> None:
    with pytest.raises(InputError, match=r"Enter (95 for 95|100 for 100)%"):
        parse_mapping({"level": [text]}, COLUMNS, "a.csv")
