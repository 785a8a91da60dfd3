"""Every code block of the README and of the pages runs: Python as it stands, `ssme` line by line.

The blocks of a page run one after another in a folder with small files of the names that pages
use. What cannot run in a test is listed in ``NOT_RUN`` with the reason, or marked in the page by
``<!-- not run: reason -->`` on the line before the block; a reason that nothing needs any more
fails.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.fuzz.logs import LOGS, write_log
from benchmarks.fuzz.program import make_runner

from ssme.cli import app

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{p.name}" for p in ROOT.glob("docs/*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^>]+) -->\n)?```(?P<kind>\w*)\n(?P<body>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
SHELL = ("bash", "sh", "console", "")
OTHER = ("toml", "text")
NOT_RUN = {
    "make ": "the command line of CI; scripts/check_docs.py looks for the targets",
    "source ": "the shell's own",
    "pip install": "tests of the package install it",
    ".ci/run": "is what runs the tests",
    "pytest": "is what runs the tests",
    "ssme serve": "serves until it is stopped; tests/serve uses the page",
    "s3://": "needs a bucket; tests/stream reads from a store of its own",
}
FEW = ["--n-draws", "50"]
FASTER = {
    "bench": ["--runs", "1"],
    "compare": ["--metrics", "accuracy"],
    "evaluate": FEW,
    "plan": ["--simulations", "2"],
    "report": FEW,
}
"""Options added so that a test is short."""
GATES = ("--fail-under", "--fail-on", "--within", "next")


def write_files(folder: Path, label: str, page: str) -> None:
    """``scores.csv``, ``history.csv`` and ``parts/*.parquet`` as the page speaks of them."""
    rng = np.random.default_rng(3)
    n = 160
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({"id": [f"r{i}" for i in range(n)]})
    for name, skill in (("new", 3.0), ("new_model", 2.5), ("old", 2.0), ("forest", 1.5)):
        frame[name] = 1 / (1 + np.exp(-(skill * (y - 0.5) + rng.normal(size=n))))
    known = np.where(np.arange(n) < 40, y, np.nan)
    if page == "docs/groups.md":
        frame["sex"] = rng.choice(["f", "m"], n)
        frame["race"] = rng.choice(["a", "b"], n)
        frame["age"] = rng.integers(20, 70, n)
    frame.assign(**{label: y}).to_csv(folder / "history.csv", index=False)
    frame = frame.assign(**{label: known})
    frame.to_csv(folder / "scores.csv", index=False)
    for name in ("old", "new"):
        frame[["id", name, label]].to_csv(folder / f"{name}.csv", index=False)
    for part in ("parts", "scores"):
        (folder / part).mkdir(exist_ok=True)
        frame.to_parquet(folder / part / "0.parquet")
    verdicts = rng.integers(0, 2, (n, 3))
    evals = pd.DataFrame(verdicts, columns=["judge_a", "judge_b", "human"])
    evals["human"] = evals["human"].where(evals.index < 60)
    evals.insert(0, "prompt", [f"p{i // 2}" for i in range(n)])
    evals.assign(model=np.resize(["m1", "m2"], n)).to_csv(folder / "evals.csv", index=False)
    (folder / "logs").mkdir(exist_ok=True)
    write_log(folder / "logs", "inspect.json", LOGS["inspect.json"])


def fill_in(path: Path) -> None:
    """The labels that a person would write into the file of suggested rows."""
    rows = pd.read_csv(path)
    rows.assign(label=np.arange(len(rows)) % 2).to_csv(path, index=False)


def given(page: str) -> dict[str, Any]:
    """Names that the blocks of a page take for granted."""
    if page == "docs/groups.md":
        import ssme

        return {"ssme": ssme}
    if page == "docs/report.md":
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import GaussianNB

        X = np.random.default_rng(0).normal(size=(80, 2))
        y = (X[:, 0] > 0).astype(float)
        models = {"forest": GaussianNB().fit(X, y), "pipeline": LogisticRegression().fit(X, y)}
        return {**models, "X": X, "y": np.where(np.arange(80) < 30, y, np.nan)}
    return {}


def label_of(text: str) -> str:
    found = re.search(r"(?:--label|-y|label=)[ \"]*(\w+)", text)
    return found[1] if found else "label"


def hasten(words: list[str]) -> list[str]:
    """The words of a command with the options of `FASTER` in place of its own."""
    faster = FASTER.get(words[0], [])
    for option in faster[::2]:
        if option in words:
            place = words.index(option)
            words = [*words[:place], *words[place + 2 :]]
    return [*words, *faster]


def run_line(line: str, page: str, used: set[str]) -> None:
    command = line.split("  #")[0].strip()
    reason = next((start for start in NOT_RUN if start in command), None)
    if not command or reason:
        used.add(reason or "")
        return
    words = shlex.split(command)
    assert words[0] == "ssme", f"{page}: {command!r} is neither run nor listed in NOT_RUN"
    write_files(Path.cwd(), label_of(command), page)
    for old in ("report.html", "history.html", "run.toml"):
        if f"--config {old}" not in command:
            Path(old).unlink(missing_ok=True)
    for new in ("-o next.csv", "--csv evals.csv"):
        if new in command:
            Path(new.split()[1]).unlink(missing_ok=True)
    if "--labels-file next.csv" in command:
        fill_in(Path("next.csv"))
    result = make_runner().invoke(app, hasten(words[1:]))
    allowed = (0, 1) if any(word in GATES for word in words) else (0,)
    assert result.exit_code in allowed, f"{page}: {command}\n{result.stderr}{result.exception!r}"


@pytest.mark.filterwarnings("ignore::ssme.errors.UndefinedMetricWarning")
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names, used = given(page), set[str]()
    for block in BLOCK.finditer(text):
        kind, body = block["kind"], block["body"]
        if block["why"] or kind in OTHER or page == "docs/architecture.md":
            continue
        if kind == "python":
            write_files(tmp_path, label_of(body), page)
            exec(compile(body, page, "exec"), names)
            continue
        assert kind in SHELL, f"{page}: a block of kind {kind!r}"
        for line in body.splitlines():
            run_line(line, page, used)


def test_every_reason_not_to_run_a_line_is_needed() -> None:
    pages = [(ROOT / page).read_text(encoding="utf-8") for page in PAGES]
    blocks = "\n".join(each["body"] for text in pages for each in BLOCK.finditer(text))
    assert [start for start in NOT_RUN if start not in blocks] == []


def test_a_line_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="has no column 'x'"):
        run_line("ssme evaluate scores.csv --label label --models x", "page.md", set())
    with pytest.raises(AssertionError, match="neither run nor listed"):
        run_line("rm -r everything", "page.md", set())
