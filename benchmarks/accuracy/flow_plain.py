"""The plain reading of the paper's flow on MultiNLI: 300 epochs without early stopping.

    python -m benchmarks.accuracy.flow_plain --runs 25 --workers 12 --out DIR

All rows train all epochs and the last flow is kept, then EM runs on its Gaussians ("700 steps of
EM") or not at all ("as trained"); 10 coupling layers of 128 units, Adam at 1e-3 in batches of 256,
without weight decay unless it is asked for (our own training has 1e-5). Finished cells are kept in
DIR/cells, so that a run that was interrupted goes on. Needs torch.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import experiment
from benchmarks.accuracy.densities import join_paper_flow
from benchmarks.accuracy.protocol import N_UNLABELED, average_over_draws, summarize_errors
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import RESULTS, add_places, open_places, run_cells, write_table
from benchmarks.studies import Protocol, Runner, Study, Trial
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass
from ssme.mixture.model import PRESETS, draw_probabilities, draw_start, run_em, stack_alr

NAME, METRICS, DRAWS, STEPS = "multinli", ("accuracy", "ece"), 200, 700


def fit_plain_flow(trial: Trial, weight_decay: float) -> list[dict[str, Any]]:
    """The error of each metric after both phases and after the first."""
    from ssme.mixture.flow import FlowClasses, Training

    data, rng = trial.seen, np.random.default_rng([trial.run, trial.n_labeled])
    start = draw_start(draw_probabilities(data.scores), rng)
    training = Training(patience=None, weight_decay=weight_decay)
    points = stack_alr(data.scores)
    flow = FlowClasses(points, data.labels, start, rng, training=training, device="cpu")
    metrics = [get_metric(name) for name in METRICS]
    truth = [
        metric(trial.held.scores, one_hot_mass(trial.held.labels, trial.held.n_classes))[0]
        for metric in metrics
    ]
    plans, rows = [metric.plan(data.scores) for metric in metrics], []
    for steps in (1, STEPS):
        rules = replace(PRESETS["paper"], max_iter=steps, tol=None if steps == 1 else 1e-4)
        posterior = clamp(
            run_em(flow, start, data.labels, rules, rng).responsibilities, data.labels
        )
        belief = LabelPosterior(data, posterior, DRAWS, 1, np.random.SeedSequence(trial.run))
        phase = "as trained" if steps == 1 else f"{STEPS} steps of EM"
        reading = f"weight decay {weight_decay}, {phase}"
        values = average_over_draws(belief, plans)
        for name, value, exact in zip(METRICS, values, truth, strict=True):
            error = float(np.abs(value - exact).mean())
            rows.append({"reading": reading, "metric": name, "error": error})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--n-labeled", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--weight-decay", type=float, nargs="+", default=[0.0])
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of result and cells")
    add_places(parser)
    args = parser.parse_args()
    experiment.CACHE = args.out if args.out != RESULTS else experiment.CACHE
    methods = {
        f"decay {decay}": (fit_plain_flow, {"weight_decay": decay}) for decay in args.weight_decay
    }
    protocol = Protocol(methods, METRICS, tuple(args.n_labeled), (N_UNLABELED,), args.runs)
    with open_places(args) as executor:
        cells, times = run_cells(
            [Study(Runner(protocol, load_dataset), (NAME,))], "flow_plain", executor
        )
    table = summarize_errors(cells, ["reading", "n_labeled", "metric"]).assign(dataset=NAME)
    write_table(args.out / "flow_plain.csv", join_paper_flow(table), times, digits=5)
    print(table)


if __name__ == "__main__":
    main()
