"""How large a report of many models, metrics and groups is, and how long in a browser.

Run: python scripts/measure_report.py [--models 30] [--metrics 15] [--groups 12] [--keep FILE]

Prints the bytes of the file, its height on screens of 1280 and 390 pixels, what is cut there, and
the pages of a print on A4. It needs Chromium and playwright, as the tests of the browser do.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

import ssme
from ssme.metrics import default_metrics, metric_names

WIDTHS = (1280, 390)
CUT = """() => [...document.querySelectorAll('.chart')]
  .filter(chart => chart.scrollWidth > chart.clientWidth + 1).length"""


def make_data(models: int, groups: int, rows: int = 600, labeled: int = 200) -> ssme.ScoreSet:
    """Scores of models that differ in noise, labels of the first rows, groups of equal size."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    noise = rng.normal(0.0, np.linspace(0.1, 0.4, models), (rows, models))
    scores = np.clip(0.5 + 0.2 * (2 * y - 1)[:, None] + noise, 0.0, 1.0)
    labels = np.where(np.arange(rows) < labeled, y, np.nan)
    by = {"site": np.arange(rows) % groups}
    return ssme.ScoreSet.from_arrays(scores, labels, groups=by)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name, default in (("models", 30), ("metrics", 15), ("groups", 12)):
        parser.add_argument(f"--{name}", type=int, default=default, help="default %(default)s")
    parser.add_argument("--keep", type=Path, help="where the report is kept")
    asked = parser.parse_args()
    names = list(dict.fromkeys([*default_metrics(2), *metric_names(2)]))
    data = make_data(asked.models, asked.groups)
    result = ssme.evaluate(data, metrics=names[: asked.metrics], n_draws=200)
    with tempfile.TemporaryDirectory() as folder:
        path = (asked.keep or Path(folder) / "report.html").resolve()
        result.report(path)
        print(f"{path.stat().st_size:,} bytes")
        with sync_playwright() as play:
            browser = play.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            for width in WIDTHS:
                page = browser.new_page(viewport={"width": width, "height": 900})
                page.goto(path.as_uri())
                height = page.evaluate("document.documentElement.scrollHeight")
                print(f"{width} px wide: {height:,} px high, {page.evaluate(CUT)} charts cut")
            pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
            print(f"{pages} pages of A4")
            browser.close()


if __name__ == "__main__":
    main()
