"""Fuzz the command line: generated values after every option of every command.

A case must end with exit code 0 or 1 and something written, or with exit code 2 and a message that
begins with "Error:", holds no terminal escape and is of bounded length. Anything else counts as
uncaught. Commands run in this process; those that would download or open a cluster are left out.

Run: python -m benchmarks.fuzz.command_line [--cases 2000] [--seed 0]
"""

from __future__ import annotations

import argparse
import csv
import inspect
import os
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from typer.main import get_command
from typer.testing import CliRunner

from benchmarks.fuzz.values import text_value
from ssme.cli import app

RESULTS = Path(__file__).parents[1] / "results" / "fuzz_command_line.csv"
APART = "mix_stderr" in inspect.signature(CliRunner).parameters
RUNNER = CliRunner(**({"mix_stderr": False} if APART else {}))  # stderr apart from stdout
LONGEST_MESSAGE = 20_000
LEFT_OUT = {"--fetch", "--scheduler", "--install-completion", "--show-completion", "--html"}
COMMANDS = ("evaluate", "doctor", "compare", "report", "methods", "metrics", "datasets", "bench")
BASE = {
    "evaluate": ("{file}", "--method", "ensemble", "--draws", "3"),
    "doctor": ("{file}",),
    "compare": ("{file}", "--methods", "ensemble,labeled"),
    "report": ("{file}", "--method", "ensemble", "--output", "{folder}/r.md", "--force"),
    "bench": (
        "{folder}/full.csv",
        "--label",
        "label",
        "--n-labeled",
        "9",
        "--methods",
        "labeled",
        "--runs",
        "1",
    ),
}


def make_file(folder: Path) -> Path:
    """A small file of scores that every command can read."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    lines, full = ["id,label,a,b,group_site"], ["label,a,b"]
    for i, label in enumerate(y):
        a, b = np.clip(0.25 + 0.5 * label + rng.normal(0, 0.2, 2), 0.01, 0.99).round(3)
        lines.append(f"{i},{label if i < 30 else ''},{a},{b},{'n' if i % 2 else 's'}")
        full.append(f"{label},{a},{b}")
    (folder / "full.csv").write_text("\n".join(full) + "\n", encoding="utf-8")
    path = folder / "scores.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def options_of(name: str) -> list[Any]:
    """The options of a command that are tried."""
    found = get_command(app).commands[name].params  # type: ignore[attr-defined]
    return [
        each for each in found if each.param_type_name == "option" and not set(each.opts) & LEFT_OUT
    ]


def make_case(name: str, file: Path, rng: np.random.Generator) -> list[str]:
    """A command line with one to three generated options."""
    arguments = [name]
    arguments += [each.format(file=file, folder=file.parent) for each in BASE.get(name, ())]
    options = options_of(name)
    for _ in range(rng.integers(1, 4)):
        option = options[rng.integers(len(options))]
        flag = str(option.opts[0])
        if flag in ("--help", "-h"):
            continue
        arguments.append(flag)
        if not option.is_flag:
            arguments.append(text_value(rng).replace("\x00", ""))
    return arguments


def try_case(arguments: list[str]) -> str:
    """How a case ends: done, failed (a condition), refused or uncaught."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = RUNNER.invoke(app, arguments)
    said = result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        print("uncaught:", arguments, repr(result.exception))
        return "uncaught"
    if "\x1b" in said or "\x1b" in result.stdout.replace("\x1b[", ""):
        print("escape:", arguments)
        return "uncaught"
    if result.exit_code in (0, 1):
        return "done" if result.exit_code == 0 else "failed"
    plain = result.exit_code == 2 and "Error: " in said and len(said) < LONGEST_MESSAGE
    if not plain:
        print("odd:", arguments, result.exit_code, said[:300])
    return "refused" if plain else "uncaught"


def run(cases: int, seed: int, commands: tuple[str, ...] = COMMANDS) -> list[dict[str, Any]]:
    """Counts of how the cases of each command end."""
    rows = []
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for number, name in enumerate(commands):
                rng = np.random.default_rng([seed, number])
                file = make_file(Path(folder))
                share = cases // len(commands)
                ends: Counter[str] = Counter()
                for _ in range(share):
                    ends[try_case(make_case(name, file, rng))] += 1
                    if not file.is_file():
                        raise AssertionError("the file of scores is gone")
                kinds = ("done", "failed", "refused", "uncaught")
                rows.append({"command": name, "cases": share, **{k: ends[k] for k in kinds}})
        finally:
            os.chdir(before)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rows = run(asked.cases, asked.seed)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
