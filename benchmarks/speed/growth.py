"""How the time grows with the size of the problem: exponents by axis, in CPU seconds.

    python -m benchmarks.speed.growth [--axes columns classes ...] [--turns 1]

Along each axis the same work is done at growing sizes, all else equal; the exponent is the slope of
log seconds over log size by least squares. An exponent of 1 is time in proportion. Seconds are CPU
seconds of this process, which other work on the machine disturbs least, and the fastest of some
turns counts.

    columns      reading a CSV file of 20 rows, one column per model
    row_groups   a streamed evaluation by `ensemble`, 10 rows each
    classes      `auto` on 2,000 rows of 3 models, the default metrics
    groups       `auto` on 12,000 rows of 3 models, accuracy and ROC AUC of every group
    stream_groups  the same streamed, by `ensemble`
    models       `auto` on 2,000 rows, the default metrics
    rows         `auto` on 3 models
    labels       `auto` on 20,000 rows of 3 models

Writes ``benchmarks/results/growth.csv``.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import ssme
from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from benchmarks.speed._common import measure_seconds
from ssme.data.scoreset import ScoreSet
from ssme.stream import evaluate_parquet

MOST = 1.1
"""The exponent that should not be exceeded."""
Work = Callable[[], object]


def simulate_scores(
    rows: int, *, models: int = 3, classes: int = 2, labels: int = 100, groups: int = 0
) -> ScoreSet:
    """Scores of sound classifiers, the first ``labels`` rows labeled."""
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(classes), rng.integers(0, classes, rows - classes)])
    logits = rng.normal(size=(rows, models, classes))
    logits[np.arange(rows), :, y] += np.linspace(1.5, 2.5, models)
    scores = np.exp(logits)
    scores /= scores.sum(axis=2, keepdims=True)
    hidden = np.where(np.arange(rows) < max(labels, classes), y, -1)
    named = {"site": np.arange(rows) % groups} if groups else {}
    names = tuple(f"m{j}" for j in range(models))
    return ScoreSet.from_arrays(
        scores, hidden, models=names, classes=list(range(classes)), unlabeled=-1, groups=named
    )


def evaluate(data: ScoreSet, **options: object) -> Work:
    """One evaluation by `auto`."""
    return lambda: ssme.evaluate(data, **options).frame()  # type: ignore[arg-type]


def read_columns(size: int, folder: Path) -> Work:
    path = folder / "wide.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((20, size)), columns=[f"model{j}" for j in range(size)])
    frame.assign(y=[0, 1] * 10).to_csv(path, index=False)
    return lambda: ScoreSet.read(path, label="y")


def write_parquet(folder: Path, rows: int, row_group: int, groups: int = 1) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = simulate_scores(rows)
    table = {f"m{j}": data.scores[:, j, 1] for j in range(data.n_models)}
    table["label"] = pa.array([int(v) if v >= 0 else None for v in data.labels])
    table["group_site"] = np.arange(rows) % groups
    pq.write_table(pa.table(table), folder / "scores.parquet", row_group_size=row_group)
    return folder / "scores.parquet"


def evaluate_streamed(path: Path, **options: object) -> Work:
    asked = {"method": "ensemble", "n_draws": 20, "executor": "serial", "sample_rows": 2000}
    return lambda: evaluate_parquet(path, **(asked | options))  # type: ignore[arg-type]


FEW = {"metrics": ["accuracy", "roc_auc"]}
AXES: dict[str, tuple[tuple[int, ...], Callable[[int, Path], Work]]] = {
    "columns": ((1000, 2000, 4000, 8000), read_columns),
    "row_groups": (
        (1000, 2000, 4000),
        lambda n, at: evaluate_streamed(write_parquet(at, 10 * n, 10), by=[]),
    ),
    "classes": (
        (20, 60, 200),
        lambda n, at: evaluate(simulate_scores(2000, classes=n, labels=400)),
    ),
    "groups": (
        (500, 1000, 2000),
        lambda n, at: evaluate(simulate_scores(12_000, groups=n), max_groups=n, **FEW),
    ),
    "stream_groups": (
        (500, 1000, 2000),
        lambda n, at: evaluate_streamed(
            write_parquet(at, 12_000, 6000, n), sample_rows=200, max_groups=n, **FEW
        ),
    ),
    "models": ((5, 10, 20, 40), lambda n, at: evaluate(simulate_scores(2000, models=n))),
    "rows": ((50_000, 100_000, 200_000), lambda n, at: evaluate(simulate_scores(n))),
    "labels": (
        (500, 1000, 2000, 4000, 8000),
        lambda n, at: evaluate(simulate_scores(20_000, labels=n)),
    ),
}


def measure(axis: str, turns: int) -> pd.DataFrame:
    """The seconds at each size of an axis, and the exponent."""
    sizes, make = AXES[axis]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make(sizes[0], Path(folder))()
        taken = [measure_seconds(make(size, Path(folder)), turns) for size in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(taken), 1)[0])
    last = float(np.log(taken[-1] / taken[-2]) / np.log(sizes[-1] / sizes[-2]))
    return pd.DataFrame(
        {
            "axis": axis,
            "size": sizes,
            "cpu_seconds": np.round(taken, 3),
            "exponent": round(exponent, 2),
            "exponent_last_step": round(last, 2),
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--axes", nargs="+", default=list(AXES), choices=list(AXES))
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    path = RESULTS / "growth.csv"
    parts = {}
    if path.exists():
        parts = dict(list(pd.read_csv(path).groupby("axis")))
    for axis in arguments.axes:
        parts[axis] = measure(axis, arguments.turns)
        print(parts[axis].to_string(index=False), flush=True)
        kept = [parts[name] for name in AXES if name in parts]
        pd.concat(kept).to_csv(path, index=False)
    record(path)
    table = pd.concat(parts.values())
    over = sorted(set(table.loc[table["exponent"] > MOST, "axis"]))
    print(f"exponents above {MOST}: {', '.join(over) or 'none'}")


if __name__ == "__main__":
    main()
