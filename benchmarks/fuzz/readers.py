"""Fuzz the readers: CSV, TSV, Parquet, npz, npy, JSON Lines and Excel, mostly damaged.

Each case is a file made and damaged from its own seed. A reader may read it or refuse it with an
`InputError`; anything else is a finding. What was read of a CSV or TSV is compared with what
`benchmarks.fuzz.plain_csv` reads, of the others with what numpy, pyarrow, json and pandas read.

Run: python -m benchmarks.fuzz.readers --cases 10000 --seed 0 --workers 2
"""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow.parquet  # noqa: F401

from benchmarks.fuzz import plain_csv
from benchmarks.fuzz.damage import damage, make
from benchmarks.fuzz.tables import Hang, limit_time, make_parser, split_cases, spread, write_counts
from ssme.data import ScoreSet
from ssme.data.readers.csv_files import MISSING_TEXT
from ssme.errors import InputError

KINDS = ("csv", "tsv", "parquet", "npz", "npy", "jsonl", "xlsx")
OUTCOMES = ("read", "refused", "uncaught", "disagreement", "hang", "abort")
MEMORY = 6 << 30
"""Bytes of address space that a case may take."""


def run_case(kind: str, seed: int, case: int, folder: Path) -> tuple[str, str]:
    """Outcome of one case and, for findings, what happened."""
    rng = np.random.default_rng([seed, KINDS.index(kind), case])
    content = make(kind, rng)
    if rng.random() < (0.2 if kind in ("csv", "tsv") else 0.5):
        content = damage(content, kind, rng)
    path = folder / f"case.{kind}"
    path.write_bytes(content)
    try:
        data = ScoreSet.read(path)
    except InputError as error:
        return ("refused", "") if len(str(error)) < 10_000 else ("uncaught", "a message too long")
    except Hang:
        raise
    except Exception as error:
        return "uncaught", f"{type(error).__name__}: {error}"
    try:
        wrong = find_disagreement(data, kind, content, path)
    except plain_csv.Refused as error:
        wrong = f"read what the other parser refuses: {error}"
    return ("disagreement", wrong) if wrong else ("read", "")


def find_disagreement(data: ScoreSet, kind: str, content: bytes, path: Path) -> str:
    """What differs from another reader's columns; empty where nothing does."""
    if kind in ("npz", "npy"):
        found = np.load(path)
        scores = (found if kind == "npy" else found["scores"]).astype(np.float64)
        if scores.ndim == 2:
            scores = np.stack([1 - scores, scores], axis=2)
        return "" if _are_close(data.scores, scores) else "scores"
    columns = _read_columns(kind, content, path)
    layout = data.layout
    assert layout is not None
    if layout.kind == "long":
        return ""
    for m, (model, names) in enumerate(layout.columns.items()):
        other = np.array([[_parse_number(v) for v in columns[name]] for name in names]).T
        mine = data.scores[:, m, 1:] if len(names) == 1 else data.scores[:, m]
        if not _are_close(mine, other):
            return f"scores of {model!r}"
    if layout.label is not None:
        other_labels = [None if _is_blank(v) else _make_whole(v) for v in columns[layout.label]]
        if data.label_values.tolist() != other_labels:
            return "labels"
    for (name, mine_of), column in zip(data.groups.items(), layout.groups, strict=True):
        if mine_of.tolist() != [None if _is_blank(v) else _make_whole(v) for v in columns[column]]:
            return f"group {name!r}"
    if layout.weight is None or data.weights is None:
        return ""
    other_weights = np.array([_parse_number(v) for v in columns[layout.weight]])
    return "" if _are_close(data.weights, other_weights) else "weights"


def _read_columns(kind: str, content: bytes, path: Path) -> dict[str, list[Any]]:
    if kind == "parquet":
        from pyarrow import parquet

        table = parquet.ParquetFile(path).read()
        return {name: _spell_narrow(table[name]) for name in table.column_names}
    if kind == "jsonl":
        return _read_json(content)
    if kind == "xlsx":
        return _read_excel(path)
    return plain_csv.parse(content, "," if kind == "csv" else "\t")


def _spell_narrow(column: Any) -> list[Any]:
    """The values of a column; numbers of 16 and 32 bits as their shortest decimals."""
    kinds = {"halffloat": np.float16, "float": np.float32}
    kind = kinds.get(str(column.type))
    values: list[Any] = column.to_pylist()
    return values if kind is None else [v if v is None else float(str(kind(v))) for v in values]


def _read_json(content: bytes) -> dict[str, list[Any]]:
    import json

    rows = [json.loads(line) for line in content.decode("utf-8-sig").split("\n") if line.strip()]
    flat = [
        {
            inner: cell
            for name, value in row.items()
            for inner, cell in (
                {f"{name}:{k}": v for k, v in value.items()}
                if isinstance(value, dict)
                else {name: value}
            ).items()
        }
        for row in rows
    ]
    return {name: [row.get(name) for row in flat] for name in {k: 0 for row in flat for k in row}}


def _read_excel(path: Path) -> dict[str, list[Any]]:
    """The only sheet that holds something, as pandas reads it."""
    sheets = pandas.read_excel(
        path, sheet_name=None, keep_default_na=False, na_values=list(MISSING_TEXT), dtype=object
    )
    frame = next(frame for frame in sheets.values() if len(frame.columns)).dropna(how="all")
    return {
        str(name): [None if value != value else value for value in frame[name]] for name in frame
    }


def _are_close(mine: np.ndarray, other: np.ndarray) -> bool:
    return mine.shape == other.shape and bool(
        np.allclose(mine, other, rtol=0, atol=2e-3 if mine.ndim > 2 else 2e-6, equal_nan=True)
    )


def _parse_number(value: Any) -> float:
    return np.nan if _is_blank(value) else float(value)


def _is_blank(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _make_whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def run_cases(kind: str, seed: int, first: int, last: int, report: Any) -> None:
    """Cases ``first`` to ``last``, each reported as it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        for case in range(first, last):
            try:
                with limit_time():
                    outcome, what = run_case(kind, seed, case, Path(folder))
            except Hang:
                outcome, what = "hang", ""
            report.send((case, outcome, what))
    report.send(None)


def fuzz(kind: str, cases: int, seed: int, first: int = 0) -> tuple[Counter[str], list[str]]:
    """Counts of outcomes and the findings; a process that dies is an abort and goes on after it."""
    counts: Counter[str] = Counter()
    findings, case, cases = [], first, first + cases
    processes = multiprocessing.get_context("fork")
    while case < cases:
        receiver, sender = processes.Pipe(duplex=False)
        worker = processes.Process(target=run_cases, args=(kind, seed, case, cases, sender))
        worker.start()
        sender.close()
        try:
            while (found := receiver.recv()) is not None:
                case = found[0] + 1
                counts[found[1]] += 1
                if found[2]:
                    findings.append(f"{kind} case {found[0]}: {found[1]}: {found[2][:200]}")
        except EOFError:
            counts["abort"] += 1
            findings.append(f"{kind} case {case}: abort, exit code {worker.exitcode}")
            case += 1
        worker.join()
    return counts, findings


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument(
        "--reader", choices=KINDS, action="append", help="only these, with a result of their own"
    )
    asked = parser.parse_args()
    tasks = [
        (kind, size, asked.seed, first)
        for kind in asked.reader or KINDS
        for first, size in split_cases(asked.cases)
    ]
    counts = {kind: Counter[str]() for kind in asked.reader or KINDS}
    for (kind, *_), (found, findings) in zip(
        tasks, spread(fuzz, tasks, asked.workers), strict=True
    ):
        counts[kind].update(found)
        print(*findings, sep="\n", end="\n" if findings else "", flush=True)
    table = [
        {"reader": kind, "seed": asked.seed, "cases": asked.cases}
        | {outcome: found[outcome] for outcome in OUTCOMES}
        for kind, found in counts.items()
    ]
    write_counts(table, f"fuzz_{'_'.join(asked.reader)}" if asked.reader else "fuzz_readers")
    return int(any(row[name] for row in table for name in OUTCOMES[2:]))


if __name__ == "__main__":
    raise SystemExit(main())
