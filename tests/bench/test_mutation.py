"""The faults of `benchmarks.mutation` are what they say, and nothing else changes."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.mutation.covering import DECLARATIONS, Reach
from benchmarks.mutation.operators import UNCHANGED, list_mutants, mutate
from benchmarks.mutation.processes import run_in_processes
from benchmarks.mutation.run import list_all_mutants
from benchmarks.mutation.verdicts import (
    KINDS,
    Log,
    find_again,
    find_reason,
    read_reasons,
    read_rows,
    summarize,
)

SOURCE = '''"""A docstring with 1 and 2."""
LIMIT = 3

def f(x: int | None, flag=True):
    """Another, with 4."""
    if x is None:
        raise ValueError(f"{x} is less than {LIMIT + 1}")
    total = 0
    for value in range(x):
        if value < LIMIT and flag:
            continue
        total += max(value, -1)
    return total / 2.0
'''


def test_every_mutant_is_one_change():
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    for mutant in list_mutants(SOURCE, "f.py"):
        changed = ast.unparse(mutate(SOURCE, mutant.number)).splitlines()
        assert len(changed) == len(plain)
        assert sum(a != b for a, b in zip(plain, changed, strict=True)) == 1, mutant
        compile(mutate(SOURCE, mutant.number), "f.py", "exec")
    assert ast.unparse(mutate(SOURCE, UNCHANGED)) == "\n".join(plain)


def test_the_faults_are_those_of_the_code_and_not_of_words():
    found = {(m.before, m.after) for m in list_mutants(SOURCE, "f.py")}
    assert found == {
        ("3", "4"),
        ("True", "False"),
        ("x is None", "x is not None"),
        ("0", "1"),
        ("value < LIMIT and flag", "value < LIMIT or flag"),
        ("value < LIMIT", "value <= LIMIT"),
        ("value < LIMIT and flag", "not (value < LIMIT and flag)"),
        ("continue", "break"),
        ("total += max(value, -1)", "total -= max(value, -1)"),
        ("total += max(value, -1)", "pass"),
        ("max(value, -1)", "min(value, -1)"),
        ("-1", "1"),
        ("1", "2"),
        ("total / 2.0", "total * 2.0"),
        ("2.0", "4.0"),
    }


@pytest.mark.parametrize(
    ("before", "expected"), [("total / 2.0", ["b"]), ("x is None", ["b", "a"]), ("3", ["b", "a"])]
)
def test_a_mutant_meets_the_tests_that_reach_its_statement(before, expected):
    reach = Reach({"a": 2.0, "b": 1.0}, {"a": {"f.py": {6, 7}}, "b": {"f.py": {6, 8, 9, 13}}})
    mutant = next(m for m in list_mutants(SOURCE, "f.py") if m.before == before)
    assert reach.find_tests(mutant, SOURCE, 10.0) == expected


def test_what_import_computes_meets_the_tests_of_declarations_first():
    declared = f"{DECLARATIONS}::test_declared"
    reach = Reach({"a": 1.0, declared: 3.0}, {"a": {"f.py": {6, 13}}, declared: {}})
    known = {m.before: m for m in list_mutants(SOURCE, "f.py")}
    assert reach.find_tests(known["3"], SOURCE, 10.0) == [declared, "a"]
    assert reach.find_tests(known["True"], SOURCE, 10.0) == [declared, "a"]
    assert reach.find_tests(known["2.0"], SOURCE, 10.0) == ["a"]


def test_the_tests_of_its_own_file_and_those_of_numbers_come_before_quicker_ones():
    own, kept = "tests/room/test_f.py::test", "tests/reference/test_kept_numbers.py::test"
    quick = [f"tests/other.py::test_{i}" for i in range(3)]
    seconds = {f"{own}_0": 3.0, f"{own}_1": 3.0, kept: 4.0, **dict.fromkeys(quick, 1.0)}
    reach = Reach(seconds, {name: {"room/f.py": {13}} for name in seconds})
    mutant = next(m for m in list_mutants(SOURCE, "room/f.py") if m.before == "2.0")
    assert reach.find_tests(mutant, SOURCE, 10.0) == [f"{own}_0", kept, *quick]


def wait_with_a_child(path):
    child = subprocess.Popen(["sleep", "60"])
    Path(path).write_text(str(child.pid))
    time.sleep(60)


def spend():
    while True:
        pass


def test_what_is_past_its_limit_is_killed_with_all_that_it_started(tmp_path):
    tasks = [
        (wait_with_a_child, (str(tmp_path / "child"),), 1.0),
        (spend, (), 1.0),
        (str.upper, ("done",), 5.0),
        (int, ("no number",), 5.0),
    ]
    found = dict(run_in_processes(tasks, workers=4))
    assert found == {
        0: {"ended": "stuck"},
        1: {"ended": "timeout"},
        2: "DONE",
        3: {"ended": "error"},
    }
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().split(")")[1].split()[0] == "Z"


def test_nothing_is_begun_after_the_time_and_what_runs_is_stopped():
    began = time.monotonic()
    tasks = [(time.sleep, (60,), 100.0), (str.upper, ("late",), 5.0)]
    found = list(run_in_processes(tasks, workers=1, until=began + 0.3, grace=0.0))
    assert found == [(0, {"ended": "stuck"})]


def row_of(mutant, outcome, reason=""):
    named = {
        name: getattr(mutant, name) for name in ("file", "line", "function", "code", "operator")
    }
    change = {"before": mutant.before, "after": mutant.after, "number": mutant.number}
    told = {"outcome": outcome, "killed_by": "", "tests": 3, "seconds": 0.5, "reason": reason}
    return {"group": "parts", **named, **change, **told}


def test_every_row_is_on_disk_at_once_and_a_half_written_one_is_left_out(tmp_path):
    path = tmp_path / "mutation.csv"
    log = Log(path)
    known = list_mutants(SOURCE, "f.py")
    for mutant in known[:2]:
        log.add(row_of(mutant, "killed"))
    assert [row["number"] for row in read_rows(path)] == [0, 1]
    with path.open("a") as file:
        file.write("parts,f.py,3,f,number")
    assert [row["number"] for row in read_rows(path)] == [0, 1]
    assert read_rows(tmp_path / "none.csv") == []


def test_a_mutant_is_found_again_after_lines_moved():
    moved = list_mutants("\n\n" + SOURCE, "f.py")
    for before in list_mutants(SOURCE, "f.py"):
        again = find_again(row_of(before, "survived"), moved)
        assert (again.number, again.line) == (before.number, before.line + 2)
    assert find_again(row_of(moved[0], "survived"), moved[1:]) is None


def test_a_mutant_is_found_again_after_functions_were_renamed():
    renamed = SOURCE.replace("def f(", "def count(").replace("range(x)", "_numbers(x)")
    now = list_mutants(renamed, "f.py")
    for before in list_mutants(SOURCE, "f.py"):
        again = find_again(row_of(before, "survived"), now)
        assert (again.number, again.function.replace("count", "f")) == (
            before.number,
            before.function,
        )
    kept = {
        **row_of(list_mutants(SOURCE, "f.py")[3], "survived"),
        "kind": "same",
        "reason": "Never.",
    }
    assert find_reason(row_of(now[3], "survived"), [kept]) == {"kind": "same", "reason": "Never."}
    assert find_reason(row_of(now[3], "killed"), [kept]) == {"kind": "", "reason": ""}
    assert find_reason(row_of(now[4], "survived"), [kept]) == {"kind": "unseen", "reason": ""}


def test_equivalent_faults_are_counted_apart():
    known = list_mutants(SOURCE, "f.py")
    outcomes = ["killed"] * 7 + ["survived"] * 3
    rows = [row_of(m, outcome) for m, outcome in zip(known, outcomes, strict=False)]
    table = [{**row, "kind": "speed", "reason": "Only speed."} for row in rows[6:8]]
    rows = [{**row, **find_reason(row, table)} for row in rows]
    total = summarize(rows, {"parts": 40, "auto": 60})[-1]
    counts = ("group", "mutants", "sampled", "killed", "equivalent", "survived")
    assert [total[name] for name in counts] == ["all", 100, 10, 7, 1, 2]
    assert total["killed_share"] == 0.7
    assert total["killed_of_different"] == pytest.approx(7 / 9, abs=5e-4)
    # Wilson's interval of 7 hits in 9 tries
    assert (total["low"], total["high"]) == (0.453, 0.937)


def test_two_processes_share_the_tests_of_a_file(tmp_path):
    path = tmp_path / "test_some.py"
    cases = "@pytest.mark.parametrize('i', range(4))"
    path.write_text(f"import pytest\n\n{cases}\ndef test(i):\n    assert i != 2\n")
    (tmp_path / "0.taken").touch()
    command = f"""
import pytest
from pathlib import Path
from benchmarks.mutation.covering import Recorder

recorder = Recorder({{{str(path)!r}: "some.py"}}, Path({str(tmp_path)!r}))
options = ["-q", "-p", "no:cacheprovider", "--rootdir", {str(tmp_path)!r}]
pytest.main([{str(path)!r}, *options], plugins=[recorder])
"""
    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "src")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    subprocess.run([sys.executable, "-c", command], env=environment, check=True, cwd=tmp_path)
    reach = Reach.read([tmp_path])
    assert sorted(reach.seconds) == [f"test_some.py::test[{i}]" for i in (1, 3)]
    assert all(of == {"some.py": {5}} for of in reach.lines.values())


def test_the_faults_with_a_reason_are_in_the_source():
    present = {(m.file, m.function, m.code, m.before, m.after) for _, m in list_all_mutants()}
    lines = {change[:3] for change in present}
    names = ("file", "function", "code", "before", "after")
    known = [(tuple(row[name] for name in names), row) for row in read_reasons()]
    wrong = [change for change, _ in known if change[:3] in lines and change not in present]
    assert not wrong, f"no such change of a line that is there: {wrong}"
    assert all(row["kind"] in KINDS and len(row["reason"].split()) > 3 for _, row in known)
