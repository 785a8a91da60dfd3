"""KDE, Gaussians and RealNVP in the same EM, under the paper's protocol, beside its SSME-NF.

    python -m benchmarks.accuracy.densities [--runs 50] [--sets multinli civilcomments cifar10]
        [--workers 2] [--variants ...] [--n-labeled 20 50 100] [--out benchmarks/results]

Writes densities.csv: mean absolute error in percentage points over runs with its 95 % half width.
"flow, as trained" stops after the first phase (the flow trained, no EM on its Gaussians). Other
readings of the paper's flow are in ``flow_readings``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd
from tests.shared_data import load_set

from benchmarks.accuracy.protocol import RESULTS, summarize_errors
from benchmarks.experiment import write_table
from benchmarks.paper import judge_rows, read_paper_file
from ssme.bench import Protocol, run_protocol
from ssme.data.scoreset import ScoreSet
from ssme.engines.executors import open_executor

COLUMNS = ["set", "variant", "n_labeled", "metric", "mae_pct", "half_width_pct"]
COLUMNS += ["paper_ssme_nf_mae_pct", "paper_half_width_pct", "runs"]
MEASURED = [
    "dataset",
    "method",
    "n_labeled",
    "metric",
    "mae",
    "ci95",
    "paper",
    "paper_ci95",
    "runs",
]
SETS = ("multinli", "civilcomments", "cifar10")
QUICK = {"n_bootstrap": 0, "n_draws": 200}
FLOW: dict[str, object] = QUICK | {"density": "flow", "device": "cpu", "max_iter": 700}
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "kde": ("ssme", QUICK),
    "gmm, full": ("ssme", QUICK | {"density": "gmm"}),
    "gmm, tied": ("ssme", QUICK | {"density": "gmm", "covariance": "tied"}),
    "gmm, diagonal": ("ssme", QUICK | {"density": "gmm", "covariance": "diagonal"}),
    "gmm, low rank": ("ssme", QUICK | {"density": "gmm", "covariance": "low_rank"}),
    "flow": ("ssme", FLOW),
    "flow, as trained": ("ssme", FLOW | {"max_iter": 1}),
    "ensemble": ("ensemble", {"n_draws": 200}),
}


def load(name: str) -> ScoreSet:
    scores, y, models = load_set(name)
    scores /= scores.sum(axis=2, keepdims=True)
    return ScoreSet(scores, y, tuple(models), tuple(range(scores.shape[2])))


def join_paper_flow(summary: pd.DataFrame) -> pd.DataFrame:
    """``summary`` with the paper's SSME-NF where it has a figure, and the verdict."""
    keys = ["dataset", "metric", "n_labeled"]
    paper = read_paper_file("flow").rename(columns={"mae": "paper", "ci95": "paper_ci95"})
    joined = summary.merge(paper, how="left", on=keys)
    return joined.assign(verdict=judge_rows(joined))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--n-labeled", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    parts = []
    for name in arguments.sets:
        protocol = Protocol(
            methods={v: VARIANTS[v] for v in arguments.variants},
            n_labeled=tuple(arguments.n_labeled),
            runs=arguments.runs,
        )
        with open_executor("processes", workers=arguments.workers) as executor:
            table = run_protocol(protocol, [name], load, executor=executor)
        table["error"] = (table["estimate"] - table["truth"]).abs()
        by = ["method", "n_labeled", "metric"]
        runs = table.groupby([*by, "run"], sort=False)["error"].mean().reset_index()
        parts.append(join_paper_flow(summarize_errors(runs, by).assign(dataset=name)))
    found = pd.concat(parts).rename(columns=dict(zip(MEASURED, COLUMNS, strict=True)))
    points = [column for column in COLUMNS if column.endswith("_pct")]
    found[points] = (100 * found[points]).round(2)
    write_table(arguments.out / "densities.csv", found[COLUMNS])
    print(found[COLUMNS].to_string())


if __name__ == "__main__":
    main()
