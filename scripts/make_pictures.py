"""The pictures of the documents, made by the product itself.

Run: python scripts/make_pictures.py              the README's picture, from the bundled sample
     python scripts/make_pictures.py --reports    and screenshots of reports (needs Chromium)
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from tests.made_sets import grouped_set, many_class_set  # noqa: E402

import ssme  # noqa: E402
from ssme.sample import sample_path, truth_path  # noqa: E402


def evaluate_sample() -> tuple[ssme.Evaluation, dict[str, dict[str, float]]]:
    """The bundled sample by the default method, and the truth, metric -> model -> value."""
    data = ssme.ScoreSet.read(sample_path(), label="label", id="id")
    with truth_path().open(encoding="utf-8", newline="") as stream:
        labels = np.array([int(row["label"]) for row in csv.DictReader(stream)])
    known = ssme.evaluate(data.with_labels(labels), method="labeled")
    truth: dict[str, dict[str, float]] = {}
    for row in known.rows():
        truth.setdefault(row["metric"], {})[row["model"]] = row["estimate"]
    return ssme.evaluate(data), truth


def make_grouped_set() -> ssme.ScoreSet:
    """The groups of the tests, the one whose name is markup by a plain name."""
    data = grouped_set()
    site = data.groups["site"]
    return data.replace(
        groups={**data.groups, "site": np.where(site == "<b>east</b>", "east", site)}
    )


def take_screenshots(reports: dict[str, ssme.Evaluation]) -> None:
    """First screens of reports in light and dark, as a browser shows them."""
    from playwright.sync_api import sync_playwright
    from tests.browsers import CHROMIUM

    browser_path = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=list(CHROMIUM))
        for name, result in reports.items():
            path = result.report(Path(folder) / f"{name}.html")
            for scheme in ("light", "dark") if name == "binary" else ("light",):
                page = browser.new_page(
                    viewport={"width": 1200, "height": 900}, color_scheme=scheme
                )
                page.goto(path.as_uri())
                if name == "groups":
                    page.locator("#groups").scroll_into_view_if_needed()
                    page.evaluate("document.getElementById('groups').scrollIntoView()")
                suffix = "-dark" if scheme == "dark" else ""
                page.screenshot(path=IMAGES / f"report-{name}{suffix}.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", action="store_true", help="screenshots too")
    asked = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    result, truth = evaluate_sample()
    result.plot.estimates(truth=truth).save(IMAGES / "estimates.png", scale=1.0)
    if asked.reports:
        take_screenshots(
            {
                "binary": result,
                "ten-classes": ssme.evaluate(many_class_set(n_models=5)),
                "groups": ssme.evaluate(make_grouped_set()),
            }
        )
    for path in sorted(IMAGES.glob("*.png")):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
