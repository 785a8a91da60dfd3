"""What the server does once it listens: it opens the file and the browser, unless told not to."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ssme.serve.desk import Desk
from ssme.serve.settings import ServeSettings

pytestmark = pytest.mark.web


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/enter?token=x", None])
def test_file_and_browser_are_opened_once_it_listens(
    tmp_path: Path, scores: Path, monkeypatch: pytest.MonkeyPatch, address: str | None
) -> None:
    import uvicorn

    from ssme.serve.app import make_app
    from ssme.serve.server import _make_server

    opened: list[str] = []
    listens: list[bool] = []

    async def listen(*_: Any) -> None:
        assert not opened
        listens.append(True)

    monkeypatch.setattr(uvicorn.Server, "startup", listen)
    monkeypatch.setattr("webbrowser.open", opened.append)
    settings = ServeSettings(tmp_path / "project")
    settings.make_folders()
    with Desk(settings) as desk:
        server = _make_server(uvicorn, make_app(desk, work=False), scores, address)
        with ThreadPoolExecutor(1) as apart:  # a browser test may have left a loop running here
            apart.submit(asyncio.run, server.startup()).result()
        names = [each.name for each in desk.ask_now(lambda records: records.store.list_files())]
    assert listens == [True]
    assert opened == ([] if address is None else [address])
    assert names == ["scores.csv"]
