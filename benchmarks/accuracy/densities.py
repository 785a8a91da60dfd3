"""KDE, Gaussians and RealNVP in the same EM, under the paper's protocol, beside its SSME-NF.

    python -m benchmarks.accuracy.densities [--runs 50] [--sets multinli civilcomments cifar10]
        [--workers 2] [--variants ...] [--n-labeled 20 50 100] [--out benchmarks/results]

Writes densities.csv: mean absolute error in percentage points over runs with its 95 % half width.
"flow, as trained" stops after the first phase (the flow trained, no EM on its Gaussians). Other
readings of the paper's flow are in ``flow_readings``.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from tests.shared_data import data_folder, load_set

from benchmarks.accuracy.protocol import PAPER_NAMES, RESULTS, compute_mean_and_half_width
from benchmarks.provenance import record
from ssme.bench import Protocol, run_protocol
from ssme.data.scoreset import ScoreSet
from ssme.engines.executors import open_executor

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


def read_paper_flow(name: str, n_labeled: int, metric: str) -> tuple[float, float]:
    """The paper's SSME-NF error and half width in points, NaN where it has none."""
    with (data_folder().parent / "paper" / "mae.csv").open() as file:
        for row in csv.DictReader(file):
            if (
                row["method"] == "SSME-NF"
                and row["dataset"] == PAPER_NAMES.get(name)
                and row["n_labeled"] == str(n_labeled)
                and row["metric"] == metric
            ):
                return float(row["mae_pct"]), float(row["ci95_halfwidth_pct"])
    return float("nan"), float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--n-labeled", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    lines = []
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
        for (variant, n_labeled, metric), part in runs.groupby(by, sort=False):
            mean, half_width = compute_mean_and_half_width(list(part["error"]))
            paper, paper_half_width = read_paper_flow(name, n_labeled, metric)
            lines.append(
                {
                    "set": name,
                    "variant": variant,
                    "n_labeled": n_labeled,
                    "metric": metric,
                    "mae_pct": f"{mean:.2f}",
                    "half_width_pct": f"{half_width:.2f}",
                    "paper_ssme_nf_mae_pct": "" if np.isnan(paper) else paper,
                    "paper_half_width_pct": "" if np.isnan(paper) else paper_half_width,
                    "runs": len(part),
                }
            )
            print(*lines[-1].values(), sep="\t", flush=True)
        arguments.out.mkdir(parents=True, exist_ok=True)
        with (arguments.out / "densities.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
        record(arguments.out / "densities.csv")
    assert np.isfinite([float(line["mae_pct"]) for line in lines]).all()


if __name__ == "__main__":
    main()
