"""How many small faults in the statistics does the test suite notice?

    python -m benchmarks.mutation.run --workers 16

A random sample of the mutants (`benchmarks.mutation.operators`) of ``metrics``, ``mixture``,
and ``methods`` is drawn with a seed. The tests are run once without a fault, each in
turn watched for the lines it reaches. Then every mutant is run in a process of its own, forked from
one that has the big libraries loaded, against the tests that reach its statement: those of its own
file, then those that hold the numbers of every method, then the quickest of the others, as many as
fit into ``--seconds``. It is killed when a test fails, when the module cannot be imported, or when
the tests take far more CPU than before. A survivor is a fault that no test saw; `reasons.csv` says
why, of those that change nothing and of others.

Every result is written as it comes, and ``--resume`` goes on where a run was stopped. Mutants are
run in the order in which they were drawn, so that those of a run that was cut off are a random
sample too.

mutmut 3 mutates functions only, while options and constants are fields of classes here; cosmic-ray
runs the whole test command for every mutant. Neither draws a sample with a seed.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import sys
import time
import zlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from benchmarks.mutation.covering import Reach, Recorder
from benchmarks.mutation.operators import UNCHANGED, Mutant, list_mutants, mutate
from benchmarks.mutation.processes import Task, run_in_processes
from benchmarks.mutation.verdicts import (
    COLUMNS,
    Log,
    find_again,
    find_reason,
    read_reasons,
    read_rows,
    summarize,
    write,
)

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "ssme"
RESULTS = ROOT / "benchmarks" / "results"
WATCHED = ROOT / "build" / "mutation"
GROUPS = {
    "auto": ("methods/auto",),
    "metrics": ("metrics",),
    "mixture": ("mixture",),
    "estimators": (
        *("methods/annotators.py", "methods/bayesian_calibration.py", "methods/ensemble.py"),
        *("methods/label_free.py", "methods/labeled.py", "methods/ppi.py", "methods/ssme.py"),
    ),
    "answers": ("methods/answers",),
    "beliefs": (
        "methods/beliefs.py",
        "methods/base.py",
        "methods/draws.py",
        "methods/votes.py",
        "methods/label_draws.py",
    ),
}
"""Groups of files, counted apart."""
TESTS = (
    *("tests/metrics", "tests/mixture", "tests/densities", "tests/methods"),
    *("tests/reference", "tests/statistical", "tests/groups", "tests/results"),
    *("tests/contract/test_methods.py", "tests/contract/test_metrics.py"),
    *("tests/contract/test_method_options.py", "tests/contract/test_intervals.py"),
    *("tests/contract/test_bandwidth_rules.py", "tests/contract/test_curves_of_methods.py"),
    *("tests/contract/test_hostile_data.py", "tests/diagnostics/test_checks.py"),
    "tests/torture/test_invariances.py",
)
"""The unit tests of these rooms, and what else holds their numbers."""
PRELOADED = ("numpy", "scipy.stats", "scipy.optimize", "scipy.special", "pandas", "narwhals")
PRELOADED += ("sklearn.metrics", "sklearn.linear_model", "sklearn.mixture", "pytest", "hypothesis")
PRELOADED += ("torch", "rich.table", "typer")
SHARED_BY = 4
"""Processes that share the tests of one file while they are watched."""
LONGEST = 15
"""Seconds that a test may take while it is watched; a longer one is left out."""
CONTROLS = 20
"""After so many mutants one is run without its change: its tests must pass."""


def list_all_mutants() -> list[tuple[str, Mutant]]:
    """Every mutant with its group, in the order of groups, files and text."""
    found = []
    for group, names in GROUPS.items():
        folders = (SOURCE / name for name in names)
        paths = sorted(p for f in folders for p in ([f] if f.suffix else f.rglob("*.py")))
        for path in paths:
            of = list_mutants(path.read_text(), str(path.relative_to(SOURCE)))
            found += [(group, mutant) for mutant in of]
    return found


def import_libraries() -> None:
    """Import the big libraries once, before any process is forked; none may start a thread."""
    alone = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ.update(alone, CUDA_VISIBLE_DEVICES="")
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
    os.chdir(ROOT)
    return int(pytest.main([*quiet, *loaded, *options, *tests], plugins=[plugin]))


def find_reach(workers: int, seconds: float, kept: Path | None = None) -> Reach:
    """Run every test without a fault, for at most so many ``seconds`` of the clock.

    What was found is kept for the next run, as long as neither the source nor the file of the tests
    changes; what is in the folder ``kept`` is taken although the source may have changed.
    """
    source = _compute_checksum(*sorted(SOURCE.rglob("*.py"))) + f"-{sys.version_info.minor}"
    files = [ROOT / name for name in TESTS]
    files = [p for f in files for p in ([f] if f.suffix else sorted(f.rglob("test_*.py")))]
    folders = [WATCHED / f"{source}-{path.stem}-{_compute_checksum(path)}" for path in files]
    if kept is not None:
        names = [f"*-{path.stem}-{_compute_checksum(path)}" for path in files]
        folders = [
            next(kept.glob(name), folder) for name, folder in zip(names, folders, strict=True)
        ]
    tasks: list[Task] = [
        (_observe_tests, (str(path.relative_to(ROOT)), str(folder)), 4.0 * seconds)
        for part in range(SHARED_BY)
        for path, folder in zip(files, folders, strict=True)
        if not (folder / "done").exists()
    ]
    until = time.monotonic() + seconds
    for number, found in run_in_processes(tasks, workers, until, grace=0.0):
        if "ended" in found:
            file, _ = tasks[number][1]
            print(f"{file}: {found['ended']}; what it had found is taken", file=sys.stderr)
    return Reach.read(folders)


def _compute_checksum(*paths: Path) -> str:
    total = 0
    for path in paths:
        total = zlib.crc32(path.name.encode() + path.read_bytes(), total)
    return f"{total:08x}"


def _observe_tests(file: str, folder: str) -> dict[str, Any]:
    if (Path(folder) / "done").exists():
        return {}
    Path(folder).mkdir(parents=True, exist_ok=True)
    watched = {str(path): str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py")}
    run_tests([file], Recorder(watched, Path(folder)), f"--timeout={LONGEST}")
    (Path(folder) / "done").touch()
    return {}


class _First:
    """A pytest plugin that notes the tests that do not pass, and the first of them."""

    failed = ""

    def __init__(self) -> None:
        self.all: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid
            self.all.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = "import"


def try_mutant(mutant: Mutant, tests: Sequence[str]) -> dict[str, Any]:
    """Put a mutant in the place of its module and run the tests."""
    if not tests:
        return {"outcome": "survived", "killed_by": ""}
    path = SOURCE / mutant.file
    code = compile(mutate(path.read_text(), mutant.number), str(path), "exec")
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


def run_mutants(
    chosen: Sequence[tuple[str, Mutant]],
    reach: Reach,
    log: Log,
    limit: float,
    workers: int,
    until: float = math.inf,
) -> set[str]:
    """Add a row per mutant to ``log``; the tests that fail without a fault, as controls show."""
    asked: list[tuple[str, Mutant]] = []
    for place, (group, mutant) in enumerate(chosen):
        if place % CONTROLS == 0:
            asked.append((group, replace(mutant, number=UNCHANGED)))
        asked.append((group, mutant))
    texts = {mutant.file: (SOURCE / mutant.file).read_text() for _, mutant in asked}
    tests = [reach.find_tests(mutant, texts[mutant.file], limit) for _, mutant in asked]
    seconds = [sum(reach.seconds[test] for test in of) for of in tests]
    tasks: list[Task] = [
        (try_mutant, (mutant, of), 15.0 + 3.0 * known)
        for (_, mutant), of, known in zip(asked, tests, seconds, strict=True)
    ]
    known, broken = read_reasons(), set()
    began = time.monotonic()
    for number, found in run_in_processes(tasks, workers, until):
        group, mutant = asked[number]
        if "ended" in found:
            ended = found["ended"]
            outcome = ended if ended in ("error", "stuck") else "killed"
            found = {"outcome": outcome, "killed_by": ended}
        if mutant.number == UNCHANGED:
            broken |= {found["killed_by"]} - {""}
            continue
        row = {
            "group": group,
            **{name: getattr(mutant, name) for name in COLUMNS[1:9]},
            **found,
            "tests": len(tests[number]),
            "seconds": round(seconds[number], 1),
        }
        log.add({**row, **find_reason(row, known)})
        if len(log.rows) % 25 == 0:
            killed = sum(row["outcome"] == "killed" for row in log.rows)
            spent = time.monotonic() - began
            print(f"{len(log.rows)} mutants, {killed} killed, {spent:.0f} s", flush=True)
    return broken


def find_broken(rows: Sequence[dict[str, Any]], workers: int) -> set[str]:
    """Of the tests that killed a mutant, those that fail without a fault too."""
    by_file: dict[str, set[str]] = {}
    for row in rows:
        file, found, _ = row["killed_by"].partition("::")
        if found:
            by_file.setdefault(file, set()).add(row["killed_by"])
    tasks: list[Task] = [(_find_failing, (sorted(of),), 300.0) for of in by_file.values()]
    broken: set[str] = set()
    for number, found in run_in_processes(tasks, workers):
        broken |= set(found if isinstance(found, list) else tasks[number][1][0])
    return broken


def _find_failing(tests: Sequence[str]) -> list[str]:
    failed = _First()
    return failed.all if run_tests(tests, failed) in (0, 1) else list(tests)


def show(row: dict[str, Any]) -> str:
    """A mutant on one line."""
    told = f"{row['outcome']} after {row['tests']} tests"
    told += f"; {row['kind']}: {row['reason']}" if row["reason"] else ""
    change = f"{row['before']}  ->  {row['after']}"
    return f"{row['file']}:{row['line']} {row['function']}: {change}  ({told})"


def tell_reasons(folder: Path) -> None:
    """Put kinds and reasons of `reasons.csv` into a result, and count again."""
    path, summary = folder / "mutation.csv", folder / "mutation_summary.csv"
    known = read_reasons()
    rows = [{**row, **find_reason(row, known)} for row in read_rows(path)]
    with summary.open(newline="") as file:
        sizes = {row["group"]: int(row["mutants"]) for row in csv.DictReader(file)}
    sizes.pop("all")
    table = summarize(rows, sizes)
    write(rows, path, COLUMNS)
    write(table, summary, list(table[0]))
    left = [row for row in rows if row["kind"] == "unseen"]
    print(*(show(row) for row in left), sep="\n")
    print(table[-1])


def choose(asked: argparse.Namespace) -> list[tuple[str, Mutant]]:
    """The mutants that are asked for, in the order in which they are run."""
    known = [(g, m) for g, m in list_all_mutants() if not asked.group or g in asked.group]
    if not asked.again:
        return random.Random(asked.seed).sample(known, min(asked.sample, len(known)))
    chosen = []
    for row in read_rows(asked.again):
        if row["outcome"] == "killed":
            continue
        again = find_again(row, [m for _, m in known if m.file == row["file"]])
        if again is None:
            print(f"no longer in the source: {show(row)}")
        else:
            chosen.append((row["group"], again))
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sample", type=int, default=600, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--group", choices=list(GROUPS), action="append", help="only of these")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=20.0, help="of tests for one mutant")
    parser.add_argument("--watch", type=float, default=math.inf, help="seconds for the first run")
    parser.add_argument("--kept", type=Path, help="what a former run has watched")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin none after these")
    parser.add_argument("--resume", action="store_true", help="keep what --out has already")
    parser.add_argument("--again", type=Path, help="only the survivors of this result")
    parser.add_argument("--tell", action="store_true", help="run nothing, put the reasons anew")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the result")
    asked = parser.parse_args()
    if asked.tell:
        tell_reasons(asked.out)
        return
    began = time.monotonic()
    import_libraries()
    chosen = choose(asked)
    path = asked.out / "mutation.csv"
    wanted = {(m.file, m.number, m.before, m.after) for _, m in chosen}
    done = [
        row
        for row in (read_rows(path) if asked.resume else [])
        if (row["file"], row["number"], row["before"], row["after"]) in wanted
    ]
    known = read_reasons()
    done = [{**row, **find_reason(row, known)} for row in done]
    log = Log(path, done)
    had = {(row["file"], row["number"]) for row in done}
    chosen = [(group, m) for group, m in chosen if (m.file, m.number) not in had]
    longest = asked.watch if asked.watch < math.inf else 3600.0
    reach = find_reach(asked.workers, longest, asked.kept)
    spent = sum(reach.seconds.values())
    print(f"{len(reach.seconds)} tests, {spent:.0f} s, in {time.monotonic() - began:.0f} s")
    until = began + asked.minutes * 60
    broken = run_mutants(chosen, reach, log, asked.seconds, asked.workers, until)
    broken |= find_broken(log.rows, asked.workers)
    for row in log.rows:
        if row["killed_by"] in broken:
            row["outcome"] = "unclear"
    rows = sorted(log.rows, key=lambda row: (row["group"], row["file"], row["number"]))
    sizes: dict[str, int] = {}
    for group, _ in list_all_mutants():
        sizes[group] = sizes.get(group, 0) + 1
    write(rows, path, COLUMNS)
    table = summarize(rows, sizes)
    write(table, asked.out / "mutation_summary.csv", list(table[0]))
    print(*(show(row) for row in rows if row["outcome"] != "killed"), sep="\n")
    print(*table, sep="\n")
    if broken:
        print("these fail without a fault, and what they killed is unclear:", *sorted(broken))
    from benchmarks.provenance import record

    record(path)
    record(asked.out / "mutation_summary.csv")


if __name__ == "__main__":
    main()
