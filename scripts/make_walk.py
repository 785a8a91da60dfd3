"""The pictures of docs/serve.md: a walk through ``ssme serve`` in a real browser.

The bundled sample, with each digit as a picture to look at, is opened, corrected, evaluated and
labeled with the truth. Needs Chromium and the extra `web`.

Run: python scripts/make_walk.py
"""

from __future__ import annotations

import csv
import json
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from benchmarks.serve.running import Running  # noqa: E402
from tests.browsers import CHROMIUM, browser_path  # noqa: E402

from ssme.sample import sample_path, truth_path  # noqa: E402

WORDS = {"": "", "0": "no", "1": "yes"}
PATIENCE = 120_000
"""Milliseconds that a page may take."""


def encode_png(pixels: Any, times: int = 20) -> bytes:
    """A gray picture, each pixel ``times`` as large."""
    rows = [bytes(255 - min(int(v * 16), 255) for v in row for _ in range(times)) for row in pixels]
    raw = b"".join(b"\0" + row for row in rows for _ in range(times))
    size = len(rows) * times
    head = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(raw)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + body


def write_digits(folder: Path) -> dict[str, str]:
    """The sample as a file with pictures; row -> the true answer."""
    from sklearn.datasets import load_digits

    (folder / "pictures").mkdir()
    images = load_digits().images
    with truth_path().open(encoding="utf-8", newline="") as stream:
        truth = {row["id"]: WORDS[row["label"]] for row in csv.DictReader(stream)}
    with (
        sample_path().open(encoding="utf-8", newline="") as source,
        (folder / "digits.csv").open("w", encoding="utf-8", newline="") as target,
    ):
        rows = csv.DictReader(source)
        models = list(rows.fieldnames or ())[2:]
        out = csv.writer(target)
        out.writerow(["id", "picture", "five_or_more", *models])
        for row in rows:
            name = f"pictures/{row['id']}.png"
            (folder / name).write_bytes(encode_png(images[int(row["id"].split("-")[1])]))
            out.writerow([row["id"], name, WORDS[row["label"]], *(row[m] for m in models)])
    return truth


def enter_labels(page: Any, truth: dict[str, str], count: int, wrong_at: int = -1) -> None:
    """Label rows by keyboard; one of them wrongly, as people do."""
    for number in range(count):
        row = json.loads(page.input_value("#card input[name=row]"))
        key = page.input_value("#card input[name=key]")
        answer = "yes" if (truth[row] == "yes") != (number == wrong_at) else "no"
        page.keyboard.press("2" if answer == "yes" else "1")
        page.wait_for_function(
            "key => document.querySelector('#card input[name=key]').value !== key", arg=key
        )


def enter(browser: Any, address: str, **options: Any) -> Any:
    page = browser.new_context(
        **{"viewport": {"width": 1100, "height": 740}, "device_scale_factor": 1, **options}
    ).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.wait_for_selector(".bar")
    return page


def take_walk(browser: Any, server: Running, truth: dict[str, str]) -> None:
    def save(page: Any, name: str) -> None:
        page.screenshot(path=IMAGES / f"serve-{name}.png")

    page = enter(browser, server.entrance)
    page.fill("#path", "digits.csv")
    save(page, "1-open")
    page.keyboard.press("Enter")
    page.wait_for_selector(".trouble h2")
    save(page, "2-mistake")
    page.select_option("select[aria-label='Part of five_or_more']", "label")
    page.fill("input[name=classes]", "no, yes")
    page.click("button:text('Use this')")
    page.wait_for_selector(".facts")
    save(page, "3-understood")
    page.click("button:text('Evaluate now')")
    page.wait_for_selector(".downloads")
    save(page, "4-result")
    page.click(".tabs a:text('Label')")
    save(page, "5-who")
    page.fill("#who", "Ada")
    page.keyboard.press("Enter")
    page.wait_for_selector(".cell img")
    page.wait_for_function("document.querySelector('.cell img').complete")
    save(page, "6-label")
    enter_labels(page, truth, 30)
    page.wait_for_selector("text=With 60 labels")
    page.wait_for_selector("#plan p:not(.hint)")
    save(page, "7-tighter")
    page.goto(f"{server.url}/files/1/people")
    page.click("button:text('Make a link')")
    other = enter(browser, page.input_value("input[readonly]"))
    other.goto(f"{server.url}/files/1/label")
    other.fill("#who", "Bob")
    other.keyboard.press("Enter")
    other.wait_for_selector(".cell img")
    enter_labels(other, truth, 6, wrong_at=0)
    other.goto(f"{server.url}/files/1/people")
    other.set_viewport_size({"width": 1100, "height": 1080})
    save(other, "8-people")
    page.goto(f"{server.url}/files/1/history")
    save(page, "9-history")
    page.goto(f"{server.url}/files/1/people")
    page.click("button:text('Make a link')")
    link = page.input_value("input[readonly]")
    phone = enter(browser, link, viewport={"width": 390, "height": 780}, color_scheme="dark")
    phone.goto(f"{server.url}/files/1/label")
    phone.fill("#who", "Eve")
    phone.keyboard.press("Enter")
    phone.wait_for_selector(".cell img")
    save(phone, "10-phone")


def main() -> int:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        root = Path(folder) / "digits"
        root.mkdir()
        truth = write_digits(root)
        options = {"executable_path": browser_path(), "args": list(CHROMIUM)}
        browser = playwright.chromium.launch(**options)
        with Running(Path(folder) / "ssme-project", "--root", str(root)) as server:
            take_walk(browser, server, truth)
            server.stop()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
