"""How many small faults in the statistics does the test suite notice?

    python -m benchmarks.mutation.run --workers 16

A seeded sample of mutants (`benchmarks.mutation.operators`) is drawn from ``metrics``, ``mixture``,
``densities`` and ``methods``, so many from each group of files. The tests are run once without a
fault, each in turn watched for the lines it reaches. Then every mutant is run in a process of its
own, forked from one that has the big libraries loaded, against the tests that reach its statement,
the quickest first, as many as fit into ``--seconds``. It is killed when a test fails, when the
module cannot be imported, or when the tests take far longer than before. A survivor is a fault that
no test saw; `survivors.csv` says of those that were looked at why they change nothing.

mutmut 3 mutates functions only, while options and constants are fields of classes here; cosmic-ray
runs the whole test command for every mutant. Neither draws a sample with a seed.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mutation.covering import Reach, Recorder
from benchmarks.mutation.operators import UNCHANGED, Mutant, mutants, mutated
from benchmarks.mutation.processes import Task, in_processes

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "ssme"
RESULTS = ROOT / "benchmarks" / "results"
REASONS = Path(__file__).with_name("survivors.csv")
GROUPS = {
    "auto": ("methods/auto",),
    "metrics": ("metrics",),
    "mixture": ("mixture",),
    "densities": ("densities",),
    "estimators": ("methods/estimators",),
    "answers": ("methods/answers",),
    "parts": ("methods/parts", "methods/beliefs", "methods/base.py", "methods/facts.py"),
}
"""Groups of files, each with a sample of its own."""
TESTS = (
    *("tests/metrics", "tests/mixture", "tests/densities", "tests/methods", "tests/transforms"),
    *("tests/reference", "tests/statistical", "tests/groups", "tests/results", "tests/torture"),
    *("tests/contract/test_methods.py", "tests/contract/test_metrics.py"),
    *("tests/contract/test_method_options.py", "tests/contract/test_intervals.py"),
    *("tests/contract/test_bandwidth_rules.py", "tests/contract/test_curves_of_methods.py"),
    *("tests/contract/test_hostile_data.py", "tests/diagnostics/test_checks.py"),
)
"""The unit tests of these rooms, and what else holds their numbers."""
PRELOADED = ("numpy", "scipy.stats", "scipy.optimize", "scipy.special", "pandas", "narwhals")
PRELOADED += ("sklearn.metrics", "sklearn.linear_model", "sklearn.mixture", "pytest", "hypothesis")
PRELOADED += ("pyarrow.parquet", "polars", "torch", "rich.table", "typer")
PARTS = 8
"""Parts in which a file of contract tests is watched, each in a process of its own."""
SAVED = 10.0
"""Seconds between two writings of what is known so far."""
CONTROLS = 20
"""Of so many mutants one is run without its change: its tests must pass."""
COLUMNS = ("group", "file", "line", "function", "operator", "before", "after")
COLUMNS += ("outcome", "killed_by", "tests", "seconds")


def sample(sizes: dict[str, int], seed: int) -> list[tuple[str, Mutant]]:
    """Mutants of every group, drawn without replacement, in an order that is drawn too."""
    chosen = []
    for number, (group, size) in enumerate(sizes.items()):
        known = all_mutants(group)
        rng = np.random.default_rng([seed, number])
        picked = rng.choice(len(known), min(size, len(known)), replace=False)
        chosen += [(group, known[i]) for i in picked]
    order = np.random.default_rng(seed).permutation(len(chosen))
    return [chosen[i] for i in order]


def all_mutants(group: str) -> list[Mutant]:
    """Every mutant of a group of files."""
    files = sorted(
        path
        for name in GROUPS[group]
        for path in ([SOURCE / name] if name.endswith(".py") else (SOURCE / name).rglob("*.py"))
    )
    return [m for f in files for m in mutants(f.read_text(), str(f.relative_to(SOURCE)))]


def preload() -> None:
    """Import the big libraries once, before any process is forked."""
    os.environ.update(CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1")
    for name in PRELOADED:
        try:
            __import__(name)
        except ImportError:
            print(f"{name} is not here; tests that need it are left out", file=sys.stderr)


def run_tests(tests: Sequence[str], plugin: object, *options: str) -> int:
    """pytest's exit code for some tests in this process."""
    import hypothesis
    import pytest

    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutation", deadline=None, database=None, derandomize=True, phases=phases
    )
    hypothesis.settings.load_profile("mutation")
    quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}")
    loaded = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
    return int(pytest.main([*quiet, *loaded, *options, *tests], plugins=[plugin]))


def find_reach(workers: int) -> Reach:
    """Run every test without a fault, each file in a process of its own."""
    files = sorted(
        str(path.relative_to(ROOT))
        for name in TESTS
        for path in ([ROOT / name] if name.endswith(".py") else (ROOT / name).rglob("test_*.py"))
    )
    parts = [(file, part) for file in files for part in range(PARTS if "contract" in file else 2)]
    reach = Reach({}, {})
    tasks: list[Task] = [(_reach_of, part, 600.0) for part in parts]
    for number, found in in_processes(tasks, workers):
        if "ended" in found:
            print(f"{parts[number]}: {found['ended']}; left out", file=sys.stderr)
            continue
        reach.seconds.update(found["seconds"])
        for test, lines in found["lines"].items():
            reach.lines[test] = {name: set(of) for name, of in lines.items()}
    return reach


def _reach_of(file: str, part: int) -> dict[str, Any]:
    watched = {str(path): str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")}
    recorder = Recorder(watched, part, PARTS if "contract" in file else 2)
    run_tests([file], recorder)
    sound = [test for test in recorder.seconds if test not in recorder.failed]
    return {
        "seconds": {test: recorder.seconds[test] for test in sound},
        "lines": {
            test: {watched[name]: sorted(of) for name, of in recorder.lines[test].items()}
            for test in sound
        },
    }


class _First:
    """A pytest plugin that notes the first test that does not pass."""

    failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = "import"


def try_mutant(mutant: Mutant, tests: Sequence[str]) -> dict[str, Any]:
    """Put a mutant in the place of its module and run the tests."""
    if not tests:
        return {"outcome": "survived", "killed_by": ""}
    path = SOURCE / mutant.file
    code = compile(mutated(path.read_text(), mutant.number), str(path), "exec")
    usual = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> Any:
        return code if self.path == str(path) else usual(self, name)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign]
    first = _First()
    result = run_tests(tests, first, "-x")
    if result == 5:
        raise RuntimeError(f"none of the tests was found: {tests[:3]}")
    return {
        "outcome": "killed" if result else "survived",
        "killed_by": (first.failed or "import") if result else "",
    }


def run_sample(
    chosen: Sequence[tuple[str, Mutant]],
    reach: Reach,
    limit: float,
    workers: int,
    until: float = math.inf,
    save: Callable[[list[dict[str, Any]]], None] | None = None,
) -> list[dict[str, Any]]:
    """One row per mutant of a sample, as far as they are begun before ``until``."""
    files = {mutant.file: (SOURCE / mutant.file).read_text() for _, mutant in chosen}
    tests = [reach.tests_of(mutant, files[mutant.file], limit) for _, mutant in chosen]
    seconds = [sum(reach.seconds[test] for test in of) for of in tests]
    tasks: list[Task] = [
        (try_mutant, (mutant, of), 10.0 + 3.0 * known)
        for (_, mutant), of, known in zip(chosen, tests, seconds, strict=True)
    ]
    rows: list[dict[str, Any]] = [{} for _ in chosen]
    began = saved = time.monotonic()
    for done, (number, found) in enumerate(in_processes(tasks, workers, until), start=1):
        group, mutant = chosen[number]
        if "ended" in found:
            ended = found["ended"]
            found = {"outcome": "error" if ended == "error" else "killed", "killed_by": ended}
        rows[number] = {
            "group": group,
            **{name: getattr(mutant, name) for name in COLUMNS[1:7]},
            **found,
            "tests": len(tests[number]),
            "seconds": round(seconds[number], 1),
        }
        if save is not None and time.monotonic() - saved > SAVED:
            saved = time.monotonic()
            save([row for row in rows if row])
        if done % 25 == 0:
            killed = sum(row.get("outcome") == "killed" for row in rows)
            print(
                f"{done}/{len(rows)} {killed} killed, {time.monotonic() - began:.0f} s", flush=True
            )
    return [row for row in rows if row]


def reasons() -> dict[tuple[str, ...], str]:
    """Why a survivor changes nothing, by its file, function and change."""
    if not REASONS.exists():
        return {}
    with REASONS.open(newline="") as file:
        return {
            (row["file"], row["function"], row["before"], row["after"]): row["reason"]
            for row in csv.DictReader(file)
        }


def summarize(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Counts of every group; the shares of all are weighted by how many mutants each group has.

    `killed_share` counts every survivor as missed, `killed_of_different` leaves out those that
    change nothing.
    """
    known = reasons()
    table, weights = [], []
    for group in GROUPS:
        of = [row for row in rows if row["group"] == group]
        if not of:
            continue
        killed = sum(row["outcome"] == "killed" for row in of)
        same = sum(
            row["outcome"] != "killed"
            and (row["file"], row["function"], row["before"], row["after"]) in known
            for row in of
        )
        weights.append(len(all_mutants(group)))
        table.append(_counted(group, weights[-1], len(of), killed, same))
    counts = [sum(row[name] for row in table) for name in ("sampled", "killed", "equivalent")]
    total = _counted("all", sum(weights), *counts)
    for name in ("killed_share", "killed_of_different"):
        total[name] = round(float(np.average([row[name] for row in table], weights=weights)), 3)
    return [*table, total]


def _counted(group: str, known: int, sampled: int, killed: int, same: int) -> dict[str, Any]:
    return {
        "group": group,
        "mutants": known,
        "sampled": sampled,
        "killed": killed,
        "equivalent": same,
        "survived": sampled - killed - same,
        "killed_share": round(killed / sampled, 3),
        "killed_of_different": round(killed / (sampled - same), 3),
    }


def write(rows: Sequence[dict[str, Any]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--each", type=int, default=65, help="mutants of a group of files")
    parser.add_argument("--auto", type=int, default=130, help="mutants of `auto`")
    parser.add_argument("--group", choices=list(GROUPS), action="append", help="writes no result")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests for one mutant")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--again", type=Path, help="only the survivors of this result")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the result")
    asked = parser.parse_args()
    preload()
    sizes = {g: asked.auto if g == "auto" else asked.each for g in asked.group or GROUPS}
    chosen = sample(sizes, asked.seed)
    if asked.again:
        chosen = survivors_of(asked.again)
    began = time.monotonic()
    reach = find_reach(asked.workers)
    spent = sum(reach.seconds.values())
    print(f"{len(reach.seconds)} tests, {spent:.0f} s, in {time.monotonic() - began:.0f} s")
    unchanged = [(group, replace(m, number=UNCHANGED)) for group, m in chosen[::CONTROLS]]
    controls = run_sample(unchanged, reach, asked.seconds, asked.workers)
    wrong = [row for row in controls if row["outcome"] != "survived"]
    if wrong:
        print("tests fail without a fault:", *wrong, sep="\n")
    until = began + asked.minutes * 60

    def save(rows: list[dict[str, Any]]) -> None:
        write(sorted(rows, key=lambda row: (row["group"], row["file"], row["line"])), path)
        write(summarize(rows), asked.out / "mutation_summary.csv")

    path = asked.out / "mutation.csv"
    rows = run_sample(chosen, reach, asked.seconds, asked.workers, until, save)
    save(rows)
    for row in rows:
        if row["outcome"] != "killed":
            print(*(row[name] for name in COLUMNS[1:7]), sep=" | ")
    print(*summarize(rows), sep="\n")
    if not (asked.group or asked.again):
        from benchmarks.provenance import record

        record(path)
        record(asked.out / "mutation_summary.csv")


def survivors_of(path: Path) -> list[tuple[str, Mutant]]:
    """The mutants of a result that survived, found again in the present source."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["outcome"] != "killed"]
    chosen = []
    for row in rows:
        same = [
            mutant
            for mutant in mutants((SOURCE / row["file"]).read_text(), row["file"])
            if all(str(getattr(mutant, name)) == row[name] for name in COLUMNS[3:7])
        ]
        if same:
            near = min(same, key=lambda mutant: abs(mutant.line - int(row["line"])))
            chosen.append((row["group"], near))
        else:
            print(f"no longer in the source: {row['file']} {row['before']}")
    return chosen


if __name__ == "__main__":
    main()
