"""One Chromium for all browser tests, and axe-core from the package index, never from the repo."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.shared_data import ROOT

CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"


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
    """The source of axe-core, installed into the ignored folder node_modules when missing.

    One test process installs it while others wait.
    """
    with (Path(tempfile.gettempdir()) / "ssme-axe-core.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not AXE.exists():
            npm = shutil.which("npm")
            if npm is None:
                pytest.skip("axe-core needs npm")
            quiet = (
                "--no-save",
                "--no-package-lock",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
            )
            command = [npm, "install", *quiet, "--prefix", str(ROOT), "axe-core@4"]
            subprocess.run(command, check=True, capture_output=True, timeout=120, cwd=ROOT)
        return AXE.read_text(encoding="utf-8")
