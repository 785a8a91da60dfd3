"""What tests in a real browser share: a server with a project, and browsers that are let in."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from benchmarks.serve.running import Running, find_row

from ssme.sample import sample_path
from ssme.serve.auth import make_secret
from ssme.serve.settings import ServeSettings
from ssme.serve.store import Store

MS = 180_000
"""Patience with a job on a busy machine."""
BATCH = "10"


@dataclass
class Place:
    """A server with its project, and what browsers said there."""

    project: Path
    server: Running
    messages: list[str] = field(default_factory=list)

    def restart(self) -> None:
        with self.server:
            self.server.stop()
        self.server = Running(self.project, "--batch", BATCH, port=self.server.port)


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A project with one file that was evaluated and labeled by two people, and its server."""
    from tests.serve.conftest import House  # which imports these fixtures

    folder = tmp_path_factory.mktemp("serve")
    write_mail(folder / "first.csv")
    house = House(ServeSettings(folder / "project", batch=10))
    house.enter()
    house.upload(folder / "first.csv")
    house.work()
    house.post(
        "/files/1/mapping", **{"part-3": "label", "classes": "ham, spam", "models_named": "1"}
    )
    house.work()
    house.post("/files/1/evaluate")
    house.begin()
    house.work()
    other = house.browser()
    csrf = house.enter("Bob", other)
    for client, token, label in ((house.client, house.csrf, "0"), (other, csrf, "1")):
        row = find_row(client.get("/files/1/label").text)
        house.mark("/files/1/label", client, token, row=row, label=label)
    house.client.get("/files/1/result")
    house.work()
    house.db.close()
    found = Place(folder / "project", Running(folder / "project", "--batch", BATCH))
    yield found
    with found.server:
        found.server.stop()


@pytest.fixture
def visit(browser: Any, place: Place) -> Iterator[Callable[..., Any]]:
    """A new browser, let in with a token of its own, whose console is listened to."""
    contexts = []

    def listen(text: str) -> None:
        if not text.startswith(
            "Autofocus processing was blocked"
        ):  # who types already keeps the focus
            place.messages.append(text)

    def enter(name: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 850}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(MS)
        page.on("console", lambda message: listen(message.text))
        page.on("pageerror", lambda error: place.messages.append(str(error)))
        page.on("dialog", lambda dialog: place.messages.append(dialog.message))
        token = make_secret()
        with Store(ServeSettings(place.project)) as store:
            store.add_token(token, "owner")
        page.goto(f"{place.server.url}/enter?token={token}&name={name}")
        page.wait_for_url(f"{place.server.url}/")
        return page

    yield enter
    for context in contexts:
        context.close()
    place.messages.clear()


def write_mail(path: Path) -> None:
    """The sample as people have it: text, a label column of an unusual name, classes as words."""
    words = {"": "", "0": "ham", "1": "spam"}
    with sample_path().open(encoding="utf-8", newline="") as source, path.open("w") as target:
        rows = csv.DictReader(source)
        out = csv.writer(target)
        models = list(rows.fieldnames or ())[2:]
        out.writerow(["id", "subject", "length", "verdict", *models])
        for number, row in enumerate(rows):
            subject = f"Subject {number}, about <b>something</b>"
            cells = (row["id"], subject, number % 50, words[row["label"]])
            out.writerow([*cells, *(row[model] for model in models)])


def press(page: Any, key: str) -> None:
    """Press a key and wait for the next row."""
    before = page.input_value("#card input[name=key]")
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.querySelector('#card input[name=key]').value !== before", arg=before
    )


def leave_for(page: Any, url: str) -> None:
    """Go to ``url``, again where a page whose job has just ended was loading itself anew."""
    try:
        page.goto(url)
    except Exception as error:
        if not re.search("interrupted by another navigation|ERR_ABORTED", str(error)):
            raise
        page.wait_for_load_state()
        page.goto(url)
