"""Two states of the source in one run, case by case and turn by turn: time and memory.

    git worktree add ../previous REVISION
    OMP_NUM_THREADS=1 python -m benchmarks.speed._against ../previous/src [--turns 5] [--name NAME]
        [--only TEXT ...]

Every case runs in a process of its own that sees one of the two sources and uses nothing but the
public interface, which both have. Both are compiled to bytecode first, as any installed package is.
The two take turns, so that a busy or throttled machine meets both alike. Times are CPU seconds, the
least of the turns; memory is the largest resident size, as Linux tells it. A ratio above one says
that this source takes more than the other. With ``--only``, cases whose names hold one of the texts
are measured, and no table is written.

It is no part of ``make speed``, which has one source only (hence the underscore).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.speed._common import write_rows

HEAD = """
import time, warnings
warnings.simplefilter("ignore")
import numpy as np
def made_up(n, n_models=7, n_labeled=20, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    shared = 2.5 * (2 * y - 1) - 1 + 1.5 * rng.normal(size=n)
    logits = shared[:, None] + 1.2 * rng.normal(size=(n, n_models))
    labels = np.where(np.arange(n) < n_labeled, y, np.nan)
    return 1 / (1 + np.exp(-1.3 * logits)), labels
"""
TAIL = """
taken = time.process_time() - start
held = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0]
print(taken, int(held.split()[1]) / 1024)
"""

SSME = 'method="ssme", options={"preset": "public_code", "max_iter": 20, "n_bootstrap": 0}'


def evaluate(rows: int, options: str = "", times: int = 1) -> tuple[str, str]:
    """Setup, which is not timed, and work of a call of `ssme.evaluate`."""
    setup = (
        f"import ssme\np, y = made_up(200)\nssme.evaluate(p, y, {options})\np, y = made_up({rows})"
    )
    return setup, f"for _ in range({times}):\n    ssme.evaluate(p, y, {options})"


def label_round(n_models: int, n_classes: int, sharpness: float) -> tuple[str, str]:
    """Setup and work of one round of labeling: 1,000 rows are evaluated, and five suggested."""
    setup = (
        "import ssme\nrng = np.random.default_rng(0)\n"
        f"y, size = rng.integers({n_classes}, size=1000), (1000, {n_models}, {n_classes})\n"
        f"z = 2.5 * np.eye({n_classes})[y][:, None] * np.linspace(0.6, 1.4, {n_models})[:, None]\n"
        "z = z + rng.normal(size=(1000, 1, size[2])) + rng.normal(size=size)\n"
        f"s = np.exp({sharpness} * z)\ns /= s.sum(axis=2, keepdims=True)\n"
        "labels = [str(k) if i % 20 == 0 else None for i, k in enumerate(y)]\n"
        "scores = {f'm{j:03d}': s[:, j] for j in range(size[1])}\n"
        "classes = sorted(map(str, range(size[2])), key=int)\n"
        "def go_round():\n"
        "    r = ssme.evaluate(scores, labels, classes=classes, metrics='accuracy')\n"
        "    r.suggest(5)\n"
        "go_round()"
    )
    return setup, "go_round()"


CASES: dict[str, tuple[str, str]] = {
    "import ssme, its registry of methods and metrics": (
        "",
        "import ssme\nfrom ssme.methods.registry import method_names\nmethod_names()\n"
        "from ssme.metrics import metric_names\nmetric_names(2)",
    ),
    "ssme, 20 steps without refits, 1,020 rows x 7": evaluate(1020, SSME, 5),
    "ssme as in the paper, 1,020 rows x 7": evaluate(1020, 'method="ssme"'),
    "auto, 1,020 rows x 7": evaluate(1020, "", 5),
    "auto, 50,000 rows x 7": evaluate(50_000),
    "labeled, 1,020 rows x 7": evaluate(1020, 'method="labeled"', 5),
    "ppi of accuracy, 1,020 rows x 7": evaluate(1020, 'method="ppi", metrics="accuracy"', 5),
    "dawid_skene, 20,000 rows x 7": evaluate(20_000, 'method="dawid_skene"'),
    "20 groups, ensemble, 20,000 rows x 7": evaluate(
        20_000, 'method="ensemble", groups={"g": np.arange(len(p)) % 20}'
    ),
    "four metrics of 100 label draws, 1,020 rows x 7": (
        "from ssme.metrics import default_metrics, get_metric, one_hot_mass\n"
        "p, y = made_up(1020)\nrng = np.random.default_rng(1)\n"
        "scores = np.stack([1 - p, p], axis=2)\n"
        "labels = (rng.random((100, 1020)) < 0.3).astype(int)",
        "for _ in range(20):\n    mass = one_hot_mass(labels, 2)\n"
        "    [get_metric(name)(scores, mass) for name in default_metrics(2)]",
    ),
    "reading a CSV file of 50,000 rows x 7": (
        "import pandas as pd, ssme\np, y = made_up(50_000)\n"
        "frame = pd.DataFrame(p, columns=[f'm{j}' for j in range(7)]).assign(label=y)\n"
        "frame.to_csv('scores.csv', index=False)\nframe[:200].to_csv('few.csv', index=False)\n"
        "ssme.ScoreSet.read('few.csv', 'label')",
        "for _ in range(5):\n    ssme.ScoreSet.read('scores.csv', 'label')",
    ),
    "a round of labels, 1,000 rows x 10, 2 classes": label_round(10, 2, 1.5),
    "a round of labels, 1,000 rows x 10, 26 vague classes": label_round(10, 26, 0.25),
    "a round of labels, 1,000 rows x 10, 26 classes": label_round(10, 26, 1.5),
    "a round of labels, 1,000 rows x 100, 2 classes": label_round(100, 2, 1.5),
    "a round of labels, 1,000 rows x 100, 10 classes": label_round(100, 10, 1.5),
    "stream of 400,000 rows x 7 in Parquet, ensemble": (
        "import pandas as pd\nfrom ssme.stream.evaluation import evaluate_parquet\n"
        "p, y = made_up(400_000)\n"
        "frame = pd.DataFrame(p, columns=[f'm{j}' for j in range(7)]).assign(label=y)\n"
        "frame.to_parquet('scores.parquet')\ndel frame, p, y",
        "evaluate_parquet('scores.parquet', label='label', method='ensemble',\n"
        "    metrics=['accuracy', 'roc_auc'], workers=1)",
    ),
}

KEEPING_BYTECODE = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def compile_source(source: Path) -> None:
    """Write the bytecode of the package in ``source`` beside it."""
    command = [sys.executable, "-m", "compileall", "-q", str(source / "ssme")]
    subprocess.run(command, env=KEEPING_BYTECODE, check=True)


def measure(source: Path, setup: str, work: str, folder: str) -> tuple[float, float]:
    """CPU seconds of ``work`` and MiB of the whole process, by the package in ``source``."""
    code = f"{HEAD}{setup}\nstart = time.process_time()\n{work}\n{TAIL}"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**KEEPING_BYTECODE, "PYTHONPATH": str(source.resolve()), "OMP_NUM_THREADS": "1"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    return float(told[-2]), float(told[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("other", type=Path, help="folder that holds the other package ssme")
    parser.add_argument("--turns", type=int, default=5, help="turns of every case (default 5)")
    parser.add_argument("--name", default="", help="what the other source is, for the table")
    parser.add_argument("--only", nargs="+", help="texts in the names of the cases to measure")
    given = parser.parse_args()
    ours = Path(__file__).resolve().parents[2] / "src"
    for source in (given.other, ours):
        compile_source(source)
    chosen = {k: v for k, v in CASES.items() if any(text in k for text in given.only or [""])}
    rows = []
    print(f"{'':<52}{'seconds':>18}{'ratio':>8}{'MiB':>14}{'ratio':>8}")
    for name, (setup, work) in chosen.items():
        seconds: dict[Path, list[float]] = {given.other: [], ours: []}
        memory: dict[Path, list[float]] = {given.other: [], ours: []}
        with tempfile.TemporaryDirectory() as folder:
            for turn in range(given.turns):
                for source in sorted(seconds, reverse=bool(turn % 2)):
                    taken, held = measure(source, setup, work, folder)
                    seconds[source].append(taken)
                    memory[source].append(held)
        before, now = min(seconds[given.other]), min(seconds[ours])
        held_before, held_now = min(memory[given.other]), min(memory[ours])
        larger = held_now / held_before
        rows.append((name, before, now, now / before, held_before, held_now, larger))
        print(
            f"{name:<52}{before:9.3f}{now:9.3f}{now / before:8.2f}{held_before:7.0f}{held_now:7.0f}"
            f"{larger:8.2f}",
            flush=True,
        )
    if given.only:
        return
    write_rows(
        "speed_against",
        ["case", "seconds_before", "seconds", "ratio", "mib_before", "mib", "mib_ratio"],
        ([row[0], *(f"{value:.4g}" for value in row[1:])] for row in rows),
        command=f"python -m benchmarks.speed._against {given.name or given.other}",
    )


if __name__ == "__main__":
    main()
