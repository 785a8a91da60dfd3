"""One Chromium for all browser tests, and axe-core from a pinned package of the extra `test`."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def browser_path() -> str | None:
    """Chromium's executable, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=list(CHROMIUM))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, from a package installed with the others: tests fetch nothing."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("axe-core needs the package axe-playwright-python (extra `test`)")
    return Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")
