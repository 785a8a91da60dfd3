"""The public-code preset on the rows that the paper's public code was run on.

    python -m benchmarks.accuracy.golden_spread [--repeats 50] [--workers 2]

Both are random (one draw of the initial labels decides most), so the yardstick is our own spread:
per run and metric, the mean absolute difference between the public code's estimate and ours,
averaged over repeats and classifiers, beside the same between two repeats of ours. If the public
code were one more repeat of ours the two would be equal in expectation; ``exceeds`` is the share of
our repeats that lie further from the others than the public code does.
Writes benchmarks/results/golden_spread.csv.
"""

from __future__ import annotations

import argparse
from functools import cache, partial

import numpy as np
from tests.shared_data import golden_runs, load_set

from benchmarks.accuracy.protocol import RESULTS, average_over_draws
from benchmarks.experiment import write_table
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.engines.executors import map_in_order, open_executor
from ssme.methods.estimators.ssme import SsmeMethod
from ssme.metrics import get_metric

cached_set = cache(load_set)
METRICS = {"acc": "accuracy", "ece": "ece", "auc": "roc_auc", "auprc": "average_precision"}


def read_golden_data(run: dict) -> ScoreSet:
    """The rows of one reference run; the first ``n_labeled`` of them are labeled."""
    scores, y, models = cached_set(run["dataset"])
    rows = np.asarray(run["rows"])
    columns = [models.index(m) for m in run["models"]]
    labels = np.where(np.arange(len(rows)) < run["n_labeled"], y[rows], UNLABELED)
    classes = tuple(range(scores.shape[2]))
    return ScoreSet(scores[rows][:, columns], labels, tuple(run["models"]), classes)


def repeat_estimates(run: dict, repeats: int) -> dict[str, np.ndarray]:
    """Metric -> estimates (repeats, M) of the public-code preset."""
    data = read_golden_data(run)
    names = list(run["reference_ssme"])
    plans = [get_metric(METRICS[name]).plan(data.scores) for name in names]
    method = SsmeMethod(preset="public_code", n_bootstrap=0)
    values = []
    for seed in range(repeats):
        belief = method.fit(data, np.random.default_rng(seed))
        values.append(average_over_draws(belief, plans))
    return {name: np.array([v[m] for v in values]) for m, name in enumerate(names)}


def compare(ours: np.ndarray, reference: np.ndarray) -> tuple[float, float, float]:
    """Distance of the reference to ours, among ours, and the share of ours further out."""
    among = np.abs(ours[:, None] - ours[None, :]).mean(axis=2)
    among = among.sum(axis=1) / (len(ours) - 1)
    to_reference = np.abs(ours - reference).mean()
    return float(to_reference), float(among.mean()), float((among >= to_reference).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--workers", type=int, default=2, help="processes (default %(default)s)")
    arguments = parser.parse_args()
    rows = []
    runs = golden_runs()
    with open_executor("processes", workers=arguments.workers) as executor:
        repeated = list(
            map_in_order(
                executor,
                partial(repeat_estimates, repeats=arguments.repeats),
                runs,
                ahead=len(runs),
            )
        )
    for run, estimates in zip(runs, repeated, strict=True):
        for name, ours in estimates.items():
            reference = np.asarray(run["reference_ssme"][name])
            to_reference, among, exceeds = compare(ours, reference)
            rows.append(
                {
                    "set": run["dataset"],
                    "n_labeled": run["n_labeled"],
                    "split": run["split"],
                    "metric": METRICS[name],
                    "reference_to_ours": f"{to_reference:.4f}",
                    "ours_to_ours": f"{among:.4f}",
                    "share_of_ours_further_out": f"{exceeds:.2f}",
                    "mean_signed_difference": f"{(ours.mean(axis=0) - reference).mean():.4f}",
                }
            )
            print(*rows[-1].values(), sep="\t", flush=True)
    write_table(RESULTS / "golden_spread.csv", rows)
    for column in ("reference_to_ours", "ours_to_ours", "mean_signed_difference"):
        print(f"mean {column}: {np.mean([float(r[column]) for r in rows]):.4f}")


if __name__ == "__main__":
    main()
