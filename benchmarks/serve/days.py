"""Three days of labeling as new users have them, by keys in a real browser.

    python -m benchmarks.serve.days [--pause 0.25] [--days 1 2 3]

Day 1: two people label 600 texts, some of them long. Day 2: one labels 200 pictures, enlarges
some, and chooses their own keys. Day 3: one compares 300 pairs of answers. All write notes, are
unsure, skip, go back, take labels back, type faster than rows appear, and look at their labels.

One line per day: keys pressed, labels given and kept, milliseconds from a key to the next row (a
person waits ``--pause`` seconds before the next key), how often and how long no row was there,
layout shift while nothing was pressed (of the screen, as browsers measure it), messages of the
browser's console, and rows whose kept label is not the one that was typed. ``to_first`` counts
clicks and keys from the first page to the first estimate, without the letters of the name.
Writes ``benchmarks/results/serve_days.csv``; needs Chromium.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd
from scripts.make_walk import encode_png, enter
from tests.browsers import CHROMIUM, browser_path

from benchmarks.experiment import RESULTS, read_arguments, write_measured
from benchmarks.serve.running import Running

WORDS = ["reply", "rude", "right", "nobody", "who", "read", "it", "was", "surprised"]
SHIFTS = """() => {
    window.shifts = 0;
    new PerformanceObserver((list) => {
        for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifts += each.value;
    }).observe({ type: "layout-shift", buffered: true });
}"""
FIELD = "document.querySelector('#card input[name=key]')"


def write_file(path: Path, day: int) -> None:
    """Write the scores of two models for each row, which has a text, a picture or two answers."""
    rng = random.Random(day)
    rows = []
    for i in range((1_500, 600, 900)[day - 1]):
        texts = [" ".join(rng.choices(WORDS, k=rng.choice((8, 40, 90, 700)))) for _ in range(2)]
        row: dict[str, Any] = {"id": f"row-{i}", "label": ""}
        if day == 1:
            row |= {"comment": texts[0], "site": rng.choice("ab")}
        elif day == 2:
            row["picture"] = f"{i}.png"
            pixels = [[rng.random() * 16 for _ in range(8)] for _ in range(8)]
            (path.parent / row["picture"]).write_bytes(encode_png(pixels, 60))
        else:
            row |= {"question": texts[0][:60], "answer_a": texts[0], "answer_b": texts[1]}
        classes = ("A", "B", "tie") if day == 3 else ("no", "yes")
        for model in ("small", "large"):
            parts = [rng.random() + 0.05 for _ in classes]
            for name, part in zip(classes, parts, strict=True):
                row[f"{model}_{name}"] = round(part / sum(parts), 6)
        rows.append(row)
    frame = pd.DataFrame(rows)
    for i in range(len(classes)):  # a file says which classes there are
        frame.loc[i, "label"] = classes[i]
    frame.to_csv(path, index=False)


class Labeler:
    """A person who labels by keys, and what it took."""

    def __init__(self, page: Any, name: str, pause: float) -> None:
        self.page, self.name, self.pause = page, name, pause
        self.rng = random.Random(name)
        self.keys, self.waits, self.waited = 0, 0, 0.0
        self.took: list[float] = []
        self.typed: dict[str, str] = {}
        self.shift = 0.0
        self.messages: list[str] = []
        page.on("console", lambda message: self.messages.append(message.text))
        page.on("pageerror", lambda error: self.messages.append(str(error)))

    def open(self, url: str) -> None:
        """Go to a page of the file; layout shift on it counts from now on."""
        self.note_shift()
        self.page.goto(url)
        self.page.evaluate(SHIFTS)

    def note_shift(self) -> None:
        self.shift += self.page.evaluate("window.shifts || 0")

    def find_row(self) -> str:
        """The row that is shown; waits until there is one."""
        began = time.monotonic()
        while (row := self.page.input_value("#card input[name=row]")) == "null":
            time.sleep(0.2)
        if time.monotonic() - began > 0.2:
            self.waits += 1
            self.waited += time.monotonic() - began
        return str(json.loads(row))

    def press(self, key: str) -> None:
        """Press a key and wait for the next row."""
        self.keys += 1
        before = self.page.evaluate(f"{FIELD}.value")
        began = time.perf_counter()
        self.page.keyboard.press(key)
        self.page.wait_for_function(f"before => {FIELD}.value !== before", arg=before, polling=5)
        self.took.append(1000 * (time.perf_counter() - began))
        time.sleep(self.pause)

    def label(self) -> None:
        """Give the row that is shown a label."""
        row = self.find_row()
        buttons = self.page.locator(".choices button").all()
        button = self.rng.choice(buttons)
        key, place = button.get_attribute("data-key"), button.get_attribute("value")
        self.typed[row] = str(place)
        self.press(str(key))

    def work(self, count: int, look: str) -> None:
        """Label so many rows, with what people do in between; ``look`` is their page of labels."""
        wanted, step = len(self.typed) + count, 0
        while len(self.typed) < wanted:
            step += 1
            row = self.find_row()
            if step % 40 == 0:
                self.press("z")  # the last label back, and once more
            elif step % 25 == 0:
                self.typed[row] = ""
                self.press("u")
                continue
            elif step % 30 == 0:
                self.press("s")
            elif step % 35 == 0:
                self.press("b")
            elif step % 20 == 0:
                self.page.keyboard.press("n")
                self.page.keyboard.type("not sure what is meant")
                self.press("Enter")
            elif step % 60 == 59:  # who has just come has no label to look at
                address = self.page.url
                self.open(look)
                self.page.wait_for_selector("table")
                self.open(address)
            self.label()


def compare(page: Any, url: str, people: list[Labeler], classes: list[str]) -> tuple[int, int]:
    """Labels that are kept, and rows whose newest label is not the one that was typed."""
    text = page.request.get(f"{url}/labels.csv").text()
    newest = {}
    for line in csv.DictReader(io.StringIO(text)):
        newest[line["annotator"], line["id"]] = line["label"]
    wrong = sum(
        newest.get((each.name, row)) != (classes[int(place)] if place else "")
        for each in people
        for row, place in each.typed.items()
    )
    return len(newest), wrong


def spend_day(browser: Any, folder: Path, day: int, pause: float) -> dict[str, Any]:
    """One line of the table."""
    folder.mkdir()
    write_file(folder / "scores.csv", day)
    count = (600, 200, 300)[day - 1]
    with Running(folder / "project", str(folder / "scores.csv")) as server:
        page = enter(browser, server.entrance)
        page.wait_for_selector(".facts")
        page.click("a.button:text('Label rows')")
        page.fill("#who", "Ada")
        page.keyboard.press("Enter")
        page.wait_for_selector(".choices")
        url, label = f"{server.url}/files/1", f"{server.url}/files/1/label"
        classes = ["A", "B", "tie"] if day == 3 else ["no", "yes"]
        people = [Labeler(page, "Ada", pause)]
        first = people[0]
        first.keys = 1  # Enter
        page.evaluate(SHIFTS)
        while page.locator("#tightening svg").count() == 0 and first.keys < 50:
            first.label()
            if first.keys >= 11:
                page.wait_for_selector("#tightening svg")
        to_first = 1 + first.keys
        if day == 1:
            page.goto(f"{url}/people")
            page.fill("#guest", "Bob")
            page.click("button:text('Make a link')")
            other = enter(browser, page.input_value("input[readonly]"))
            other.wait_for_selector(".choices")
            people.append(Labeler(other, "Bob", pause))
            page.goto(label)
        elif day == 2:
            page.click("summary:text('Your keys')")
            page.fill(".keys label:first-child input", "j")
            page.click("text=Use these keys")
            page.wait_for_selector(".choices button[data-key=j]")
            page.click(".zoom")
            page.click(".zoom")
        for each in people:
            each.open(each.page.url)
        share = count // len(people) // 4
        for _ in range(4):  # they take turns
            for each in people:
                each.work(share, f"{url}/mine")
        kept, wrong = compare(page, url, people, classes)
        for each in people:
            each.note_shift()
        took = [ms for each in people for ms in each.took]
        server.stop()
    return {
        "day": day,
        "people": len(people),
        "keys": sum(each.keys for each in people),
        "kept": kept,
        "wrong": wrong,
        "to_first": to_first,
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(sorted(took)[int(0.95 * len(took))], 1),
        "waits": sum(each.waits for each in people),
        "waited_s": round(sum(each.waited for each in people), 1),
        "layout_shift": round(sum(each.shift for each in people), 3),
        "messages": sum(len(each.messages) for each in people),
    }


def main() -> None:
    """Run and write the table."""
    from playwright.sync_api import sync_playwright

    args = read_arguments(__doc__, pause=0.25, days=[1, 2, 3])
    load, began = round(os.getloadavg()[0], 2), time.perf_counter()
    lines = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        options = {"executable_path": browser_path(), "args": list(CHROMIUM)}
        browser = playwright.chromium.launch(**options)
        for day in args.days:
            lines.append(spend_day(browser, Path(folder) / f"day-{day}", day, args.pause))
            print(lines[-1], flush=True)
        browser.close()
    path = RESULTS / "serve_days.csv"
    table = pd.DataFrame(lines).assign(cores=os.cpu_count(), load=load)
    if path.exists():  # days that were not spent again
        before = pd.read_csv(path)
        table = pd.concat([before[~before["day"].isin(args.days)], table]).sort_values("day")
    write_measured("serve_days", table, began)


if __name__ == "__main__":
    main()
