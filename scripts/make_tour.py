"""The animated picture of docs/annotating.md: a minute of labeling with ``ssme serve``.

The sample with its digits as pictures (`make_walk`) is opened, labeled by the keyboard with the
truth, and evaluated; a second person joins. Needs Chromium, Pillow and the extra `web`.

Run: python scripts/make_tour.py
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.serve.running import Running  # noqa: E402
from scripts.make_walk import IMAGES, enter, write_digits  # noqa: E402
from tests.browsers import CHROMIUM, browser_path  # noqa: E402

SIZE = {"width": 1100, "height": 720}
SHOWN_WIDTH = 825
LOOK, CLICK, SECONDS = 3.0, 0.7, 60.0
"""Seconds that a page and a click are shown, and the length of the whole."""


class Tour:
    """Screens, each with the seconds for which it is shown."""

    def __init__(self) -> None:
        self.screens: list[tuple[bytes, float]] = []

    def show(self, page: Any, seconds: float = LOOK) -> None:
        self.screens.append((page.screenshot(), seconds))

    def write(self, path: Path) -> None:
        """Write all screens as an animated picture that is `SECONDS` long."""
        from PIL import Image

        height = SIZE["height"] * SHOWN_WIDTH // SIZE["width"]
        pictures = [
            Image.open(io.BytesIO(screen)).convert("RGB").resize((SHOWN_WIDTH, height))
            for screen, _ in self.screens
        ]
        scale = 1000 * SECONDS / sum(seconds for _, seconds in self.screens)
        pictures[0].save(
            path,
            save_all=True,
            append_images=pictures[1:],
            duration=[round(seconds * scale) for _, seconds in self.screens],
            loop=0,
            quality=60,
            method=6,
        )


def press(page: Any, key: str) -> None:
    before = page.input_value("#card input[name=key]")
    page.keyboard.press(key)
    page.wait_for_function(
        "key => document.querySelector('#card input[name=key]').value !== key", arg=before
    )
    page.wait_for_function("() => [...document.images].every(each => each.complete)")


def take_tour(browser: Any, server: Running, truth: dict[str, str]) -> Tour:
    tour = Tour()
    page = enter(browser, server.entrance, viewport=SIZE)
    tour.show(page, 2.0)
    page.fill("#path", "digits.csv")
    tour.show(page, 1.5)
    page.keyboard.press("Enter")
    page.wait_for_selector(".trouble h2")
    tour.show(page)
    page.select_option("select[aria-label='Part of five_or_more']", "label")
    page.fill("input[name=classes]", "no, yes")
    page.click("button:text('Use this')")
    page.wait_for_selector(".facts")
    tour.show(page)
    page.fill("textarea", "Look at the digit. Is it **five or more**?")
    page.click("text=Save the guideline")
    page.goto(f"{server.url}/files/1/label")
    page.fill("#who", "Ada")
    tour.show(page, 2.0)
    page.keyboard.press("Enter")
    page.wait_for_selector(".cell img")
    tour.show(page)
    for number in range(20):
        answer = truth[json.loads(page.input_value("#card input[name=row]"))]
        press(page, "2" if answer == "yes" else "1")
        tour.show(page, CLICK)
        if number == 9:
            page.wait_for_selector("text=With 40 labels")
            tour.show(page)
    page.wait_for_selector("text=With 50 labels")
    page.wait_for_selector("#plan p:not(.hint)")
    tour.show(page)
    press(page, "z")
    tour.show(page, 2.0)
    page.goto(f"{server.url}/files/1/result")
    page.wait_for_selector("#charts figure svg")
    tour.show(page)
    page.mouse.wheel(0, 520)
    page.wait_for_timeout(400)
    tour.show(page)
    page.goto(f"{server.url}/files/1/people")
    page.fill("#guest", "Bob")
    page.click("button:text('Make a link')")
    tour.show(page)
    other = enter(browser, page.input_value("input[readonly]"), viewport=SIZE, color_scheme="dark")
    other.wait_for_selector(".cell img")
    tour.show(other)
    for key in "121":
        press(other, key)
        tour.show(other, CLICK)
    page.goto(f"{server.url}/files/1/people")
    tour.show(page)
    page.goto(f"{server.url}/files/1/history")
    tour.show(page)
    return tour


def main() -> int:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder) / "digits"
        root.mkdir()
        truth = write_digits(root)
        options = {"executable_path": browser_path(), "args": list(CHROMIUM)}
        browser = playwright.chromium.launch(**options)
        with Running(Path(folder) / "ssme-project", "--root", str(root)) as server:
            tour = take_tour(browser, server, truth)
            server.stop()
        browser.close()
    tour.write(IMAGES / "serve-tour.webp")
    return 0


if __name__ == "__main__":
    sys.exit(main())
