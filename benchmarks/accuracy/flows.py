"""Densities in SSME's EM: kernels, Gaussians and flows, and readings of the paper's SSME-NF.

The flows need torch. Errors are under the paper's protocol, beside its SSME-NF where it has a
figure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from tests.shared_data import load_set

from benchmarks.accuracy.causes import average_over_draws, summarize_errors
from benchmarks.accuracy.tables import Methods, drop_keys
from benchmarks.datasets.registry import load_dataset
from benchmarks.experiment import Setup, experiment, run, run_cells, save
from benchmarks.paper import judge_rows, read_paper_file
from benchmarks.studies import Protocol, Runner, Study, Trial
from ssme.bench import summarize
from ssme.data.scoreset import ScoreSet
from ssme.methods.beliefs import LabelPosterior, clamp
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass
from ssme.mixture.model import PRESETS, draw_probabilities, draw_start, run_em, stack_alr

LABELS = (20, 50, 100)
QUICK = {"n_bootstrap": 0, "n_draws": 200}
FLOW: dict[str, object] = QUICK | {"density": "flow", "device": "cpu", "max_iter": 700}
VARIANTS: Methods = {
    "kde": ("ssme", QUICK),
    "gmm, full": ("ssme", QUICK | {"density": "gmm"}),
    "gmm, tied": ("ssme", QUICK | {"density": "gmm", "covariance": "tied"}),
    "gmm, diagonal": ("ssme", QUICK | {"density": "gmm", "covariance": "diagonal"}),
    "gmm, low rank": ("ssme", QUICK | {"density": "gmm", "covariance": "low_rank"}),
    "flow": ("ssme", FLOW),
    "flow, as trained": ("ssme", FLOW | {"max_iter": 1}),
    "ensemble": ("ensemble", {"n_draws": 200}),
}
COLUMNS = {
    "dataset": "set",
    "method": "variant",
    "n_labeled": "n_labeled",
    "metric": "metric",
    "mae": "mae_pct",
    "ci95": "half_width_pct",
    "paper": "paper_ssme_nf_mae_pct",
    "paper_ci95": "paper_half_width_pct",
    "runs": "runs",
}


@experiment(runs=50)
def densities(setup: Setup) -> None:
    """KDE, Gaussians and RealNVP in the same EM, under the paper's protocol, beside its SSME-NF.

    Mean absolute error in percentage points over runs with its 95% half width. "flow, as trained"
    stops after the first phase (the flow trained, no EM on its Gaussians). Other readings of the
    paper's flow are in ``flow_readings``.
    """
    methods = {name: VARIANTS[name] for name in setup.only or VARIANTS}
    protocol = Protocol(methods, n_labeled=setup.labels or LABELS, runs=setup.runs)
    parts = []
    for name in setup.sets or ("multinli", "civilcomments", "cifar10"):
        table = run(protocol, [name], setup, load_rescaled, name=f"densities_{name}")
        table["error"] = (table["estimate"] - table["truth"]).abs()
        by = ["method", "n_labeled", "metric"]
        runs = table.groupby([*by, "run"], sort=False)["error"].mean().reset_index()
        parts.append(join_paper_flow(summarize_errors(runs, by).assign(dataset=name)))
    found = pd.concat(parts)[list(COLUMNS)].rename(columns=COLUMNS)
    points = [column for column in found if column.endswith("_pct")]
    found[points] = (100 * found[points]).round(2)
    save(found, setup)


def load_rescaled(name: str) -> ScoreSet:
    scores, y, models = load_set(name)
    scores /= scores.sum(axis=2, keepdims=True)
    return ScoreSet(scores, y, tuple(models), tuple(range(scores.shape[2])))


def join_paper_flow(summary: pd.DataFrame) -> pd.DataFrame:
    """``summary`` with the paper's SSME-NF where it has a figure, and the verdict."""
    keys = ["dataset", "metric", "n_labeled"]
    paper = read_paper_file("flow").rename(columns={"mae": "paper", "ci95": "paper_ci95"})
    joined = summary.merge(paper, how="left", on=keys)
    return joined.assign(verdict=judge_rows(joined))


@experiment(runs=50)
def flow_readings(setup: Setup) -> None:
    """Readings of the paper's flow: what its text leaves open about SSME-NF.

    The flow as the paper describes it (both phases), stopped after the first phase ("as trained"),
    with the EM of the authors' public code, and with scores kept a thousandth away from 0 and 1;
    the paper's SSME-NF beside them, at its label counts.
    """
    methods: Methods = {
        "flow": ("ssme", FLOW),
        "flow, as trained": ("ssme", FLOW | {"max_iter": 1}),
        "flow, public code": ("ssme", FLOW | {"preset": "public_code"}),
        "flow, clipped at 0.001": ("ssme", FLOW | {"clip": 1e-3}),
    }
    protocol = Protocol(methods, n_labeled=LABELS, runs=setup.runs)
    summary = summarize(run(protocol, ["civilcomments", "multinli"], setup))
    save(join_paper_flow(drop_keys(summary)), setup)


METRICS, DRAWS, STEPS = ("accuracy", "ece"), 200, 700


@experiment(runs=50)
def flow_plain(setup: Setup) -> None:
    """The plain reading of the paper's flow on MultiNLI: 300 epochs without early stopping.

    All rows train all epochs and the last flow is kept, then EM runs on its Gaussians ("700 steps
    of EM") or not at all ("as trained"); 10 coupling layers of 128 units, Adam at 1e-3 in batches
    of 256, without weight decay unless one is given by ``--only`` (our own training has 1e-5).
    """
    decays = tuple(map(float, setup.only)) or (0.0,)
    methods = {f"decay {decay}": (fit_plain_flow, {"weight_decay": decay}) for decay in decays}
    protocol = Protocol(methods, METRICS, setup.labels or LABELS, (1000,), setup.runs)
    study = Study(Runner(protocol, load_dataset), ("multinli",))
    cells = run_cells([study], setup.name, setup.executor)
    table = summarize_errors(cells.rows, ["reading", "n_labeled", "metric"])
    setup.times.append(cells.times)
    save(join_paper_flow(table.assign(dataset="multinli")), setup)


def fit_plain_flow(trial: Trial, weight_decay: float) -> list[dict[str, Any]]:
    """The error of each metric after both phases and after the first."""
    from ssme.mixture.flow import FlowClasses, Training

    data, rng = trial.seen, np.random.default_rng([trial.run, trial.n_labeled])
    start = draw_start(draw_probabilities(data.scores), rng)
    training = Training(patience=None, weight_decay=weight_decay)
    points = stack_alr(data.scores)
    flow = FlowClasses(points, data.labels, start, rng, training=training, device="cpu")
    metrics, held = [get_metric(name) for name in METRICS], trial.held
    truth = [m(held.scores, one_hot_mass(held.labels, held.n_classes))[0] for m in metrics]
    plans, rows = [metric.plan(data.scores) for metric in metrics], []
    for steps in (1, STEPS):
        rules = replace(PRESETS["paper"], max_iter=steps, tol=None if steps == 1 else 1e-4)
        fitted = run_em(flow, start, data.labels, rules, rng)
        posterior = clamp(fitted.responsibilities, data.labels)
        belief = LabelPosterior(data, posterior, DRAWS, 1, np.random.SeedSequence(trial.run))
        phase = "as trained" if steps == 1 else f"{STEPS} steps of EM"
        reading = f"weight decay {weight_decay}, {phase}"
        values = average_over_draws(belief, plans)
        for name, value, exact in zip(METRICS, values, truth, strict=True):
            error = float(np.abs(value - exact).mean())
            rows.append({"reading": reading, "metric": name, "error": error})
    return rows
