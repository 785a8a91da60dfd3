"""Hostile names through every way out: tables, CSV, JSON, Markdown, pages, charts, notebooks.

    python -m benchmarks.fuzz.names                 # 10,000 cases, results/fuzz_names.csv
    python -m benchmarks.fuzz.names --cases 200 --seed 3 --workers 2

A case is an evaluation of a few rows whose models, groups, group column, classes and metric have
generated names: control characters, terminal escapes, noncharacters, half surrogate pairs, markup,
script, quotes, long emoji, combining marks, right-to-left text, format strings. Every way out must
neither raise nor end the process, must send nothing to a terminal that it would obey, must hold no
markup that came from a name, and must be UTF-8. A chart is drawn for every 5th case, and a whole
report with charts in all formats for every 50th. Cases run in batches, each in a process of its
own, so that an abort is counted and its batch named.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import html.parser
import io
import json
import random
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fuzz.tables import write_counts

ROOT = Path(__file__).resolve().parents[2]
CASES = 10_000
BATCH = 50
DRAWN, DRAWN_WHOLE = 5, 50
"""One case of so many has a chart drawn, and all of them."""

PIECES = (
    *("\x00", "\x01", "\x07", "\x08", "\x1b[31m", "\x1b]0;title\x07", "\x1b[2J", "\x7f", "\x9b31m"),
    *("\ufffe", "\uffff", "\ufdd0", "\U0001ffff", "\u2028", "\u2029", "\x85", "\r", "\n", "\t"),
    *("\ud800", "\udfff", "\udc80", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u00ad"),
    *("<script>window.hit=1</script>", "</script>", "</style>", "<img src=x onerror=hit()>"),
    *("\"'", "`", "{{ 7*7 }}", "{% raw %}", "${x}", "%s", "{0}", "{!r}", "&lt;", "&#x3c;", "]]>"),
    *("javascript:hit()", "|", "*b*", "_i_", "[a](b)", "```", "#", "=cmd()", "+1", "@x", ",", ";"),
    *("\\", "\\u003c", "\\n", "datum.x", "nan", "all", "site=a", "", " ", "  ", "\u3000"),
    *("\U0001f469\u200d\U0001f4bb", "\U0001f600" * 30, "e\u0301\u0323", "漢字", "مصنف", "ﷺ"),
    *("long " * 40, "x" * 300, "forest", "model-1", "ß", "İ", "\u1680", "\U000e0001"),
)


def make_name(rng: random.Random) -> str:
    """A name of one to six hostile pieces and random characters."""
    parts = []
    for _ in range(rng.randint(1, 6)):
        if rng.random() < 0.7:
            parts.append(rng.choice(PIECES))
        else:
            top = rng.choice((0x7F, 0xFFF, 0xFFFF, 0x10FFFF))
            parts.append("".join(chr(rng.randint(0, top)) for _ in range(rng.randint(1, 8))))
    return "".join(parts)


def make_names(rng: random.Random, count: int) -> list[str]:
    """Different names that are not blank."""
    names: dict[str, None] = {}
    while len(names) < count:
        name = make_name(rng)
        if name.strip():
            names[name] = None
    return list(names)


@cache
def evaluate_plainly(n_models: int) -> Any:
    """A small evaluation with ordinary names."""
    import ssme

    numbers, n = np.random.default_rng(n_models), 24
    y = numbers.integers(0, 2, n)
    scores = np.clip(0.5 * y[:, None] + numbers.random((n, n_models)) * 0.5, 0.0, 1.0)
    labels = np.where(np.arange(n) < 12, y, np.nan)
    groups = {"site": np.array(["a", "b", "c"], dtype=object)[np.arange(n) % 3]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ssme.evaluate(
            scores, labels, method="ensemble", metrics=["accuracy", "f1"], n_draws=5, groups=groups
        )


def make_case(seed: int) -> Any:
    """An evaluation whose every name is hostile, but for its first metric."""
    from ssme.diagnostics.check import ResultWarning

    rng = random.Random(seed)
    n_models = rng.randint(1, 6)
    plain = evaluate_plainly(n_models)
    names = make_names(rng, n_models + 7)
    models, classes, groups = names[:n_models], names[n_models:][:2], names[n_models + 2 :][:3]
    column, metric = names[-2:]
    told = f"{models[0]} on {groups[0]}"
    return dataclasses.replace(
        plain,
        data=plain.data.replace(models=tuple(models), classes=tuple(classes)),
        groups=(
            plain.groups[0],
            *(
                dataclasses.replace(group, name=f"{column}={name}")
                for group, name in zip(plain.groups[1:], groups, strict=True)
            ),
        ),
        metrics=(plain.metrics[0], dataclasses.replace(plain.metrics[1], name=metric)),
        warnings=(
            ResultWarning("D000", "A warning", "serious", told, told, "docs/warnings-fit.md#d000"),
        ),
    )


def list_ways_out() -> dict[str, Callable[[Any], list[str]]]:
    """Each way out and how to take it: the problems found are what it returns."""
    from ssme.show.document import build_document
    from ssme.show.html import render_html
    from ssme.show.report import describe_report
    from ssme.show.text import render_markdown

    return {
        "repr": lambda r: _check_terminal(repr(r), repr(r.ranking("accuracy"))),
        "terminal tables": _check_tables,
        "warnings and errors": _check_messages,
        "frame": _check_frames,
        "csv": _check_csv,
        "json": lambda r: _check_json(r, r.to_json()),
        "notebook": lambda r: _check_page(r._repr_html_() + r.compare("accuracy")._repr_html_()),
        "markdown report": lambda r: _check_markdown(
            render_markdown(build_document(r, r.data.models[0]))
        ),
        "html report": lambda r: _check_page(
            render_html(build_document(r, r.data.models[0])), scripts=1
        ),
        "json report": lambda r: _check_json(
            r, json.dumps(describe_report(r, build_document(r)), allow_nan=False)
        ),
        "chart specification": _check_specification,
    }


def list_drawn_ways_out(seed: int) -> dict[str, Callable[[Any], list[str]]]:
    """The ways out that draw, as far as the case ``seed`` takes them."""
    found: dict[str, Callable[[Any], list[str]]] = {}
    if seed % DRAWN == 0:
        found["chart"] = lambda r: _check_page(r.plot.groups()._repr_mimebundle_()["image/svg+xml"])
    if seed % DRAWN_WHOLE == 0:
        found |= {
            "html report with charts": _check_drawn_report,
            "charts as files": _check_drawn_files,
        }
    return found


def _check_terminal(*texts: str) -> list[str]:
    found = []
    for text in texts:
        text.encode("utf-8")
        found += [f"{c!r} reaches a terminal" for c in set(text) if _is_obeyed(c)]
    return found


def _is_obeyed(character: str) -> bool:
    code = ord(character)
    return (code < 32 and character not in "\n\t") or 127 <= code < 160


def _check_tables(result: Any) -> list[str]:
    from rich.console import Console

    from ssme.show.document import build_document
    from ssme.show.terminal import print_document

    console = Console(width=100, no_color=True, color_system=None, file=io.StringIO())
    with console.capture() as shown:
        print_document(console, build_document(result, report=False))
    return _check_terminal(shown.get())


def _check_messages(result: Any) -> list[str]:
    from ssme.errors import InputError, UndefinedMetricWarning

    name = result.data.models[0]
    texts = [str(UndefinedMetricWarning(f"undefined for {name}"))]
    for ask in (result.model_index, result.group_index, result.metric_index):
        try:
            ask(f"no {name}")
        except InputError as error:
            texts.append(str(error))
    return _check_terminal(*texts)


def _check_frames(result: Any) -> list[str]:
    from ssme.results.table import LIBRARIES

    sizes = {len(result.frame(library)) for library in LIBRARIES}
    same = list(result.frame("pandas")["model"])[: result.data.n_models] == list(result.data.models)
    return [] if len(sizes) == 1 and same else ["frames differ"]


def _check_csv(result: Any) -> list[str]:
    from ssme.writing import format_csv

    rows = list(result.rows())
    text = format_csv(rows).encode("utf-8", "backslashreplace").decode("utf-8")
    found = list(csv.DictReader(io.StringIO(text, newline="")))
    return [] if len(found) == len(rows) else [f"{len(found)} rows of CSV, not {len(rows)}"]


def _check_json(result: Any, text: str) -> list[str]:
    written = text.encode("utf-8", "backslashreplace").decode("utf-8")
    found = json.loads(written)
    rows = found["estimates"] if "estimates" in found else found["metrics"][0]["rows"]
    names = {_join_pairs(row["model"]) for row in rows}
    same = names == set(map(_join_pairs, result.data.models))
    return [] if same else ["names differ after JSON"]


def _join_pairs(name: str) -> str:
    """``name`` with two halves of a surrogate pair side by side made one, as JSON reads them."""
    return name.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


ALLOWED_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3"),
    *("h4", "p", "main", "section", "div", "nav", "ul", "li", "article", "table", "caption"),
    *("thead", "tbody", "tr", "th", "td", "button", "figure", "figcaption", "details"),
    *("summary", "dl", "dt", "dd", "pre", "footer", "code", "strong", "bdi", "wbr", "script"),
    *("b", "br", "small", "svg", "g", "path", "text", "rect", "line", "defs", "clippath"),
    *("circle", "lineargradient", "stop"),
}


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.scripts += tag == "script"
        if tag not in ALLOWED_TAGS:
            self.problems.append(f"a tag {tag[:30]!r}")
        for name, value in attrs:
            if name.startswith("on") or (
                name in ("href", "src") and not (value or "").startswith("#")
            ):
                self.problems.append(f"an attribute {name}={(value or '')[:30]!r}")


def _check_page(text: str, scripts: int = 0) -> list[str]:
    text.encode("utf-8")
    tags = _Tags()
    tags.feed(text)
    tags.close()
    problems = tags.problems + _check_terminal(text)
    return problems if tags.scripts == scripts else [*problems, f"{tags.scripts} scripts"]


def _check_markdown(text: str) -> list[str]:
    problems = _check_terminal(text)
    outside = text.split("```")
    if len(outside) not in (1, 3):
        problems.append("a code block is broken")
    for line in outside[0].splitlines():
        if "<" in line.replace("\\<", "").replace("< 1%", ""):
            problems.append("raw markup")
    return problems


def _check_specification(result: Any) -> list[str]:
    for name in ("estimates", "groups", "ranking", "confusion", "densities", "agreement", "roc"):
        spec = getattr(result.plot, name)().spec()
        text = json.dumps(spec, allow_nan=False, ensure_ascii=False)
        text.encode("utf-8")
        unsafe = _check_terminal(text)
        if unsafe:
            return unsafe
    return []


def _check_drawn_report(result: Any) -> list[str]:
    from ssme.show.report import render_report

    return _check_page(render_report(result, title=result.data.models[-1]), scripts=1)


def _check_drawn_files(result: Any) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("svg", "png", "pdf", "html"):
            path = result.plot.estimates().save(Path(folder) / f"x.{suffix}")
            if suffix == "html" and "<script>window.hit" in path.read_text(encoding="utf-8"):
                return ["script in a saved page"]
    return []


def run_batch(first: int, count: int) -> dict[str, Any]:
    """Counts of cases and of problems for each way out, over seeds ``first``, ``first + 1``, ..."""
    taken: Counter[str] = Counter()
    raised: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    examples: list[str] = []
    for seed in range(first, first + count):
        result = make_case(seed)
        ways = list_ways_out() | list_drawn_ways_out(seed)
        for way, take in ways.items():
            taken[way] += 1
            try:
                problems = take(result)
            except Exception as error:
                raised[way] += 1
                examples.append(f"{seed} {way}: {type(error).__name__}: {error}"[:300])
            else:
                wrong[way] += bool(problems)
                examples += [f"{seed} {way}: {problem}" for problem in problems[:2]]
    return {"taken": taken, "raised": raised, "wrong": wrong, "examples": examples[:20]}


def _run_apart(first: int, count: int) -> subprocess.CompletedProcess[str]:
    """A batch in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.fuzz.names", "--batch", str(first), str(count)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", nargs=2, type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.batch:
        print(json.dumps(run_batch(*asked.batch)))
        return 0
    total = {key: Counter[str]() for key in ("taken", "raised", "wrong")}
    aborts = 0
    firsts = range(asked.seed, asked.seed + asked.cases, BATCH)
    counts = [min(BATCH, asked.seed + asked.cases - first) for first in firsts]
    with ThreadPoolExecutor(asked.workers) as pool:
        batches = list(pool.map(_run_apart, firsts, counts))
    for first, done in zip(firsts, batches, strict=True):
        if done.returncode:
            aborts += 1
            print(f"the batch from seed {first} on ended with {done.returncode}")
            print(done.stderr[-2000:])
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        for key, counter in total.items():
            counter.update(found[key])
        for line in found["examples"]:
            print(line)
    rows = [
        (way, count, total["raised"][way], total["wrong"][way])
        for way, count in sorted(total["taken"].items())
    ]
    for row in rows:
        print(*row, sep="\t")
    print(f"{aborts} aborted batches")
    bad = aborts + sum(row[2] + row[3] for row in rows)
    if not bad:
        columns = ("way_out", "cases", "exceptions", "unsafe", "aborts")
        write_counts([dict(zip(columns, (*row, 0), strict=True)) for row in rows], "fuzz_names")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
