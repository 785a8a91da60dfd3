"""What a grade may stand for: readings of five grades, each given to ``auto``, beside the method.

The binary development sets, scores cut into five grades at fixed places, at each classifier's own
quintiles, and leniently (at 0.02, 0.1, 0.3 and 0.6). A reading puts a probability in the place of
every grade of every rater:

- middle: the middle of the grade's part of the scale, 0.1 to 0.9;
- stated: the mean within that part, by how often each grade is given;
- learned: the mean of P(y) under the method ``answers`` over the rows with that grade, monotone;
- latent classes: the same of P(y) by latent classes of the raters, labels held;
- weighed: stated, learned and latent classes, each by the marginal likelihood that it gives to the
  labels in the usual regime of ``auto``;
- score means: the mean of the classifier's own scores over the rows with that grade, which were cut
  away: the best that a rater's scale can say;
- true: the share of positives among all rows with that grade, which nobody knows.

``auto`` is fitted to that, and the metric is that of its posterior on the grades as they are
(without the residual of the labels). "method" is the same of ``answers``; "method, share known" has
its log-odds moved to the true share of positives; "scores" is the posterior of ``auto`` on the
scores before they were cut. Written to ``benchmarks/results/answers_readings.csv``: error relative
to that of labels alone.

    python -m benchmarks.answers.readings --runs 5 --workers 2
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.answers.meanings import (
    IntArray,
    average_grades,
    fit_classes,
    move_share,
    weigh_grades,
)
from benchmarks.answers.scenes import BINARY, GRADES, load_set
from benchmarks.answers.study import plan_studies
from benchmarks.experiment import add_runs, run_whole, write_tables
from benchmarks.studies import Trial, seen_rows
from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import situate
from ssme.methods.auto.regimes import FittedRegime, fit_regimes
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import one_hot_mass

WEIGHED = ("stated", "learned", "latent classes")
KINDS = ("fixed grades", "quintile grades", "lenient grades")


def read_grades(data: ScoreSet, codes: IntArray, told: list[FloatArray]) -> ScoreSet:
    """``data`` with the probabilities ``told`` (G,) of every rater in the place of its grades."""
    positive = np.stack(
        [table[column] for table, column in zip(told, codes.T, strict=True)], axis=1
    )
    return data.replace(scores=np.stack([1.0 - positive, positive], axis=2), judges={})


def find_codes(data: ScoreSet) -> IntArray:
    """Grades (n, M) from 0."""
    each = [data.judges[name].find_codes(data.scores[:, m]) for m, name in enumerate(data.models)]
    return np.stack(each, axis=1)


def weigh_labels(data: ScoreSet, run: int) -> float:
    """Log marginal likelihood of the labels in the usual regime of ``auto`` on ``data``."""
    situation = situate(data, Constants(), np.random.default_rng(run))
    usual = fit_regimes(situation)[0]
    assert isinstance(usual, FittedRegime)
    return usual.log_scores + usual.log_labels - usual.view.log_evidence


def find_softs(trial: Trial) -> dict[str, FloatArray]:
    """W (n, 2) of the rows that are seen, by reading."""
    data, seen, plain = trial.data, trial.seen, load_set(trial.dataset)
    codes, n_grades = find_codes(seen), len(GRADES)
    own = get_method("answers").fit(seen, np.random.default_rng(trial.run)).soft
    shared = fit_classes(codes, n_grades, own[:, 1], seen.labels)
    everyone, truth = find_codes(data), data.labels.astype(np.float64)
    cut = plain.scores[:, :, 1]
    readings = {
        "middle": [(np.arange(n_grades) + 0.5) / n_grades] * data.n_models,
        "stated": weigh_grades(codes, n_grades, AnswerConstants()),
        "learned": average_grades(codes, n_grades, own[:, 1]),
        "latent classes": average_grades(codes, n_grades, shared),
        "score means": average_grades(everyone, n_grades, cut),
        "true": average_grades(everyone, n_grades, truth),
    }
    read = {name: read_grades(seen, codes, told) for name, told in readings.items()}
    softs = {name: fit_auto(each, trial.run) for name, each in read.items()}
    logs = np.array([weigh_labels(read[name], trial.run) for name in WEIGHED])
    chance = np.exp(logs - logs.max())
    weighed = np.tensordot(chance / chance.sum(), np.stack([softs[name] for name in WEIGHED]), 1)
    return {
        "method": own,
        "method, share known": move_share(own, float(truth.mean())),
        **{name: softs[name] for name in ("middle", "stated", "learned", "latent classes")},
        "weighed": weighed,
        **{name: softs[name] for name in ("score means", "true")},
        "scores": fit_auto(seen_rows(plain, trial.split), trial.run),
    }


def fit_auto(data: ScoreSet, run: int) -> FloatArray:
    return get_method("auto").fit(data, np.random.default_rng(run)).soft


def measure(trial: Trial, kind: str) -> list[dict[str, Any]]:
    """One row per reading and metric, means over the raters."""
    metrics = [get_metric("accuracy"), get_metric("roc_auc")]
    seen, held = trial.seen, trial.held
    mass = one_hot_mass(held.labels, held.n_classes)
    truth = [metric(held.scores, mass)[0] for metric in metrics]
    labeled = get_method("labeled", joint_draws=False)
    alone = labeled.fit(seen, np.random.default_rng(trial.run)).estimate(metrics, [None])[0]
    rows = []
    for name, soft in find_softs(trial).items():
        for metric, exact, labels in zip(metrics, truth, alone, strict=True):
            value = metric.plan(seen.scores)(soft[None])[0]
            rows.append(
                {
                    "kind": kind,
                    "reading": name,
                    "metric": metric.name,
                    "error": np.abs(value - exact).mean(),
                    "labels_error": np.abs(labels.value - exact).mean(),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_runs(parser, runs=5, first_run=5, labels=(20, 100))
    parser.add_argument("--sets", nargs="+", default=list(BINARY), help="data sets")
    args = parser.parse_args()
    runs = range(args.first_run, args.first_run + args.runs)
    kinds = dict.fromkeys(KINDS, args.sets)
    studies = plan_studies(measure, kinds, args.sets, args.labels, runs)
    frame, times = run_whole(studies, "answers_readings", args)
    keys = ["kind", "reading", "metric", "n_labeled"]
    cells = frame.groupby([*keys, "dataset"], sort=False)[["error", "labels_error"]].mean()
    ratio = np.log(cells["error"] / cells["labels_error"]).groupby(level=keys, sort=False).mean()
    table = np.exp(ratio).rename("rmae").reset_index()
    table["sets"], table["runs"] = frame["dataset"].nunique(), frame["run"].nunique()
    write_tables({"answers_readings": table}, times, digits=4)
    print(table.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
