"""Fuzz the command line: generated values for every option and argument of every command.

    python -m benchmarks.fuzz.command_line --cases 20 --workers 2

The commands and their options are found by walking the program, so that none can be left out
unless `LEFT_OUT` says why. Each option gets ``--cases`` values by itself and as many beside up to
two other options. A case must end with exit code 0 or 1, or with exit code 2 and a message that
begins with "Error:", holds no terminal escape and is of bounded length; where one option has a
generated value, the message must name that option as it was typed. Anything else is uncaught, or
unnamed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from typer.main import get_command

from benchmarks.fuzz.logs import LOGS, write_log
from benchmarks.fuzz.program import make_runner
from benchmarks.fuzz.tables import make_parser, spread, write_counts
from benchmarks.fuzz.values import make_text
from ssme.cli import app
from ssme.methods.registry import find_method_class, method_names
from ssme.options import list_declared
from ssme.run import evaluate as run_evaluate

RUNNER = make_runner()
LONGEST_MESSAGE = 20_000
ENDS = ("done", "failed", "refused", "unnamed", "uncaught")
LEFT_OUT = {
    "--install-completion": "typer's own; it changes the shell's settings of whoever runs this",
    "--show-completion": "typer's own; it prints a script for the shell it finds itself in",
}
BASES: dict[str, tuple[str, ...]] = {
    "evaluate": ("{file}", "--method", "ensemble", "--n-draws", "3"),
    "doctor": ("{file}",),
    "convert": ("{folder}/logs.json",),
    "compare": ("{file}", "--methods", "ensemble,labeled"),
    "report": ("{file}", "--method", "ensemble", "--output", "{folder}/r.md", "--force"),
    "plan": (
        *("{file}", "--method", "ensemble", "--n-draws", "9", "--simulations", "2"),
        *("--target", "width(accuracy)<=0.5"),
    ),
    "track add": (
        "{file}",
        "--method",
        "ensemble",
        "--n-draws",
        "3",
        "--memory",
        "{folder}/m.sqlite",
    ),
    "track show": ("--memory", "{folder}/kept.sqlite"),
    "track compare": ("--memory", "{folder}/kept.sqlite"),
    "suggest": ("{file}", "--method", "ensemble", "--n-draws", "9"),
    "next": (
        *("{file}", "--method", "ensemble", "--n-draws", "9", "--simulations", "2"),
        *("--labels-file", "{folder}/labels.csv"),
    ),
    "systems": (
        *("{folder}/evals.csv", "--system", "model", "--item", "prompt"),
        *("--judges", "judge_a,judge_b", "--label", "human"),
    ),
    "bench": ("{full}", "--label", "label", "-n", "9", "--methods", "labeled", "--runs", "1"),
}
"""What a command is given beside the generated values; by default a file for each argument."""

COLUMNS = ("a,b", "a", "b", "label")
"""Columns of the file: sound values, after which a message may name another option."""

QUICK_TO_GIVE_UP = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "200ms"}
"""Settings that keep the wait for a scheduler that is not there short."""


def list_commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command of the program, however deep, with the words that call it."""
    group = get_command(app) if group is None else group
    for name, each in group.commands.items():
        if hasattr(each, "commands"):
            yield from list_commands(each, (*path, name))
        else:
            yield " ".join((*path, name)), each


def list_options(command: Any) -> list[Any]:
    """The options and arguments of a command that are tried."""
    return [
        each for each in command.params if not set(each.opts) & (set(LEFT_OUT) | {"--help", "-h"})
    ]


def make_files(folder: Path) -> dict[str, str]:
    """Small files of scores that every command can read."""
    rng = np.random.default_rng(1)
    lines, full = ["id,label,a,b,group_site"], ["label,a,b"]
    for i, label in enumerate(rng.integers(0, 2, 60)):
        a, b = np.clip(0.25 + 0.5 * label + rng.normal(0, 0.2, 2), 0.01, 0.99).round(3)
        lines.append(f"{i},{label if i < 30 else ''},{a},{b},{'n' if i % 2 else 's'}")
        full.append(f"{label},{a},{b}")
    evals = ["model,prompt,judge_a,judge_b,human,topic"]
    for i, (label, a, b) in enumerate(rng.integers(0, 2, (60, 3))):
        evals.append(f"m{i % 2},p{i // 2},{a},{b},{label if i < 30 else ''},t{i % 3}")
    for name, rows in (("scores", lines), ("full", full), ("evals", evals)):
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    write_log(folder, "logs.json", LOGS["inspect.json"])
    return {"file": f"{folder}/scores.csv", "full": f"{folder}/full.csv", "folder": str(folder)}


def give_base(name: str, command: Any, files: dict[str, str]) -> list[str]:
    """What the command is given beside the generated values."""
    arguments = [each for each in command.params if is_argument(each)]
    needed = ["{file}" for each in arguments if each.required or each.name == "file"]
    return [each.format(**files) for each in BASES.get(name, needed)]


def make_case(
    name: str, command: Any, tried: list[Any], files: dict[str, str], rng: np.random.Generator
) -> list[str]:
    """A command line with a generated value for each option of ``tried``."""
    base, named = give_base(name, command, files), []
    options_from = next((i for i, each in enumerate(base) if each.startswith("-")), len(base))
    places, base = base[:options_from], base[options_from:]
    for option in tried:
        value = make_value(option, rng).replace("\x00", "")
        if is_argument(option):
            at = [each.name for each in command.params if is_argument(each)].index(option.name)
            places[at : at + 1] = [value]
        elif option.is_flag:
            named.append(option.opts[0])
        else:
            base = _drop_option(base, option.opts)
            named.append(f"{max(option.opts, key=len)}={value}")
    return [*name.split(), *base, *named, "--", *places]


def is_argument(option: Any) -> bool:
    """Whether it is given by its place and not by its name."""
    return bool(option.param_type_name == "argument")


def _drop_option(base: list[str], flags: list[str]) -> list[str]:
    """``base`` without an option and its value, which is given another one."""
    for flag in flags:
        if flag in base:
            at = base.index(flag)
            return base[:at] + base[at + 2 :]
    return base


def make_value(option: Any, rng: np.random.Generator) -> str:
    """A generated value for an option; for --options, of an option of some method."""
    if option.name == "options" and rng.random() < 0.7:
        names = method_names()
        of = list_declared(find_method_class(names[rng.integers(len(names))]))
        name = of[rng.integers(len(of))].name if of else "n_draws"
        return f"{name}={make_text(rng)}"
    return make_text(rng)


def choose_evaluate(name: str) -> Any:
    """`ssme.evaluate`; for ``ssme demo``, one that uses quick methods, and each once."""
    if name != "demo":
        return run_evaluate
    kept: dict[Any, Any] = {}

    def evaluate(data: Any, method: str) -> Any:
        if (method, data.n_labeled) not in kept:
            quick = method if method == "labeled" else "ensemble"
            kept[method, data.n_labeled] = run_evaluate(data, method=quick)
        return kept[method, data.n_labeled]

    return evaluate


def try_case(arguments: list[str], names: tuple[str, ...] = ()) -> str:
    """How a case ends: one of `ENDS`. ``names``: one of them must stand in a refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = RUNNER.invoke(app, arguments)
    # what is wrong with a file is what doctor was asked for
    said = result.stdout if result.stdout.startswith("Problem") else result.stderr
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        print("uncaught:", arguments, repr(result.exception))
        return "uncaught"
    if "\x1b" in said or "\x1b" in result.stdout.replace("\x1b[", ""):
        print("escape:", arguments)
        return "uncaught"
    if result.exit_code in (0, 1):
        return "done" if result.exit_code == 0 else "failed"
    begin = max(said.find("Error: "), said.find("Problems\n"))
    error = said[begin:]
    if result.exit_code != 2 or begin < 0 or len(said) >= LONGEST_MESSAGE:
        print("odd:", arguments, result.exit_code, said[:300])
        return "uncaught"
    if names and not any(name in error for name in names):
        print("unnamed:", [each[:60] for each in arguments], error[:300].strip())
        return "unnamed"
    return "refused"


def try_command(name: str, cases: int, seed: int) -> dict[str, Any]:
    """Counts of how the cases of one command end."""
    command = dict(list_commands())[name]
    options = list_options(command)
    ends: Counter[str] = Counter()
    before = os.getcwd()
    os.environ.update(QUICK_TO_GIVE_UP)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("ssme.run.evaluate", choose_evaluate(name)),
        patch("ssme.serve.server.run_server", lambda *_, **__: None),  # it would not end
    ):
        files = make_files(Path(folder))
        work = Path(folder) / "work"
        work.mkdir()
        os.chdir(work)
        if name.startswith("track"):
            kept = ["--memory", f"{folder}/kept.sqlite", "--method", "ensemble", "--n-draws", "3"]
            for turn in ("0", "1"):
                RUNNER.invoke(app, ["track", "add", files["file"], "--random-state", turn, *kept])
        try:
            for number, option in enumerate(options):
                rng = np.random.default_rng([seed, number, *name.encode()])
                for turn in range(1 if getattr(option, "is_flag", False) else cases):
                    case = make_case(name, command, [option], files, rng)
                    ends[try_case(case, name_option(option, case))] += 1
                    if turn:
                        others = [options[i] for i in rng.integers(len(options), size=2)]
                        case = make_case(name, command, [option, *others], files, rng)
                        ends[try_case(case)] += 1
        finally:
            os.chdir(before)
    tried = sum(ends.values())
    return {"command": name, "options": len(options), "cases": tried, **{k: ends[k] for k in ENDS}}


def name_option(option: Any, case: list[str]) -> tuple[str, ...]:
    """How a message may name an option: as it was typed. An argument is named by its value."""
    if option.name == "options":  # -O name=value: the name is the option
        typed = next(each for each in case if each.startswith("--options="))
        return (*option.opts, *(part for part in [typed.split("=")[1].strip()] if part))
    if not is_argument(option):
        typed = next((each for each in case if each.startswith(max(option.opts, key=len))), "")
        value = typed.partition("=")[2]
        # what is wrong then may be another part
        sound = value in COLUMNS or (option.name == "skip_rows" and value.isdigit())
        sound = sound or option.name == "no_header"
        return ("--",) if sound else tuple(option.opts)
    given = case[case.index("--") + 1 :]
    values = [each for each in given if each.strip()]
    empty = [". is a directory"] if "" in given else []
    empty += [repr(each) for each in given if each and not each.strip()]
    last = [Path(each).name for each in values]
    spelled = [name[:200] for each in last for name in (each, repr(each)[1:-1])]
    return (option.name.upper(), *empty, *spelled)


def run(cases: int, seed: int, workers: int = 1) -> list[dict[str, Any]]:
    """Counts of how the cases of each command end."""
    return spread(try_command, [(name, cases, seed) for name, _ in list_commands()], workers)


def main() -> int:
    parser = make_parser(__doc__, cases=20)
    parser.add_argument("--command", help="one command alone; writes no result")
    asked = parser.parse_args()
    if asked.command:
        print(try_command(asked.command, asked.cases, asked.seed))
        return 0
    rows = run(asked.cases, asked.seed, asked.workers)
    write_counts(rows, "fuzz_command_line")
    return 1 if any(row["uncaught"] or row["unnamed"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
