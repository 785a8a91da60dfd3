"""Judges: errors and intervals of the method ``answers`` beside others, on answers and ratings.

Kinds of cells, with 20 and 100 labels:

- answers: the development sets with only the predicted class of every classifier kept (1,000
  unlabeled rows, truth on the held-out half), and the sets of real judges in the folder
  ``answers`` of SSME_DATA (all rows, truth on all rows; sets with too few rows are left out);
- ratings: the binary development sets with scores cut into five grades, at fixed places or at the
  classifier's own quintiles, beside ``auto`` on the scores themselves;
- mixed: the development sets with every second classifier giving its class only;
- labels by class, not said and said: answers again, as many labels of each class;
- labels by score, said: answers again, labels among the third of the rows on which judges agree
  least.

Written to ``benchmarks/results``: answers_cells.csv (error / error of labels alone, coverage, width
/ width of labels alone, per set), answers_overall.csv (geometric mean over sets, lowest coverage of
a set, share of runs in which a world that is not the usual one is the likelier, which is doubt
D306) and answers_ratings.csv: the error with grades over that with the scores they were cut from,
each the error of its own metric (that of the grades, cut at the fourth, ties counting half in the
AUC; that of the scores), in points and relative to labels alone, and the set with the largest. It
stops after ``--minutes``, with as many runs as there was time for.

    python -m benchmarks.answers.study --runs 8 --workers 2 --minutes 20
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.priors import SETS
from benchmarks.experiment import RESULTS
from benchmarks.provenance import record
from ssme.bench import seen_rows, split_rows
from ssme.data.answers import Judge, make_grade_scores
from ssme.data.design import as_design
from ssme.data.scoreset import UNLABELED, ScoreSet
from ssme.datasets.registry import load_dataset
from ssme.methods.registry import get_method
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray, one_hot_mass

JUDGED = ("judgebench", "crowd_bluebird", "crowd_dog", "crowd_face")
LARGEST_SHARE = 0.6
"""Sets of judges are used with labels on at most this share of their rows."""

METHODS = {
    "answers": ("answers", "dawid_skene", "majority_vote", "ppi"),
    "fixed grades": ("answers",),
    "quintile grades": ("answers",),
    "scores": ("auto",),
    "mixed": ("answers",),
    "labels by class": ("answers",),
    "labels by class, said": ("answers",),
    "labels by score, said": ("answers",),
}
DESIGNS = {"labels by class": None, "labels by class, said": "by_class"}
GRADES = (1, 2, 3, 4, 5)
CUT = 3


@dataclass(frozen=True)
class Job:
    """One kind of cell, set, number of labels and run."""

    kind: str
    dataset: str
    n_labeled: int
    run: int


@lru_cache(maxsize=2)
def load(kind: str, name: str) -> ScoreSet:
    """The set as its judges, raters or classifiers give it."""
    if name in JUDGED:
        return _load_judged(name)
    data = load_dataset(name)
    if kind not in ("fixed grades", "quintile grades", "scores"):
        every = 2 if kind == "mixed" else 1
        scores, judged = data.scores.copy(), data.models[::every]
        hard = data.scores.argmax(axis=2)[:, :, None] == np.arange(data.n_classes)
        scores[:, ::every] = hard[:, ::every]
        judge = Judge("answers", data.classes)
        return data.replace(scores=scores, judges=dict.fromkeys(judged, judge))
    return data if kind == "scores" else _rate(data, kind == "quintile grades")


def _rate(data: ScoreSet, by_rank: bool) -> ScoreSet:
    """Scores of two classes cut into five grades."""
    positive = data.scores[:, :, 1]
    if by_rank:
        order = positive.argsort(axis=0, kind="stable").argsort(axis=0)
        grade = order * len(GRADES) // len(positive)
    else:
        grade = np.minimum((positive * len(GRADES)).astype(int), len(GRADES) - 1)
    steps = make_grade_scores(len(GRADES), CUT)[grade]
    judges = dict.fromkeys(data.models, Judge("ratings", GRADES, GRADES[CUT]))
    return data.replace(scores=np.stack([1.0 - steps, steps], axis=2), judges=judges)


def _load_judged(name: str) -> ScoreSet:
    file = Path(os.environ["SSME_DATA"]) / "answers" / f"{name}.npz"
    with np.load(file, allow_pickle=False) as arrays:
        said, truth = arrays["answers"].astype(object), arrays["y"].tolist()
        models = [str(model) for model in arrays["model_names"]]
    said[said == -1] = None
    kept = (said != None).any(axis=1)  # noqa: E711
    labels = [label for label, there in zip(truth, kept, strict=True) if there]
    return ScoreSet.from_answers(said[kept], labels, models=models)


def rows_of(data: ScoreSet, job: Job) -> tuple[ScoreSet, ScoreSet]:
    """What a method sees, and the rows on which it is right or wrong."""
    if job.dataset in JUDGED:
        order = np.random.default_rng([job.run, len(job.dataset)]).permutation(data.n_rows)
        labels = np.full(data.n_rows, UNLABELED)
        labels[order[: job.n_labeled]] = data.labels[order[: job.n_labeled]]
        return data.replace(labels=labels), data
    n_unlabeled = min(1000, data.n_rows // 2 - job.n_labeled)
    split = split_rows(
        data.labels, job.n_labeled, n_unlabeled, job.run, seed=0, dataset=job.dataset
    )
    held = data.take(split.truth)
    if job.kind.startswith("labels by"):
        everyone = data.take(np.concatenate([split.labeled, split.unlabeled]))
        return choose_labels(everyone, job), held
    return seen_rows(data, split), held


def choose_labels(data: ScoreSet, job: Job) -> ScoreSet:
    """The rows with labels chosen by class, or among those on which judges agree least."""
    rng = np.random.default_rng([job.run, job.n_labeled])
    order = rng.permutation(data.n_rows)
    if job.kind == "labels by score, said":
        votes = data.scores.sum(axis=1).max(axis=1)
        unlike = order[np.argsort(votes[order], kind="stable")]
        chosen = rng.permutation(unlike[: data.n_rows // 3])[: job.n_labeled]
        design: str | None = "by_score"
    else:
        each = max(1, job.n_labeled // data.n_classes)
        by_class = [order[data.labels[order] == k][:each] for k in range(data.n_classes)]
        chosen, design = np.concatenate(by_class), DESIGNS[job.kind]
    labels = np.full(data.n_rows, UNLABELED)
    labels[chosen] = data.labels[chosen]
    return data.replace(labels=labels, design=as_design(design, labels))


def measure(job: Job) -> list[dict[str, Any]]:
    """One row per method and metric, means over the judges that have a labeled answer."""
    data = load(job.kind, job.dataset)
    if job.n_labeled > LARGEST_SHARE * data.n_rows:
        return []
    names = ["accuracy"]
    if job.kind in ("fixed grades", "quintile grades", "scores"):
        names.append("roc_auc")
    metrics = [get_metric(name) for name in names]
    seen, held = rows_of(data, job)
    mass = one_hot_mass(held.labels, held.n_classes)
    truth: list[FloatArray] = [metric(held.scores, mass)[0] for metric in metrics]
    labeled = get_method("labeled", joint_draws=False)
    alone = labeled.fit(seen, np.random.default_rng(job.run)).estimate(metrics, [None])[0]
    rows = []
    for name in METHODS[job.kind]:
        start = time.process_time()
        belief = get_method(name).fit(seen, np.random.default_rng(job.run))
        estimates = belief.estimate(metrics, [None])[0]
        seconds = time.process_time() - start
        odd = sum(chance for chance, _ in belief.facts.other_worlds.values()) >= 0.5
        for metric, exact, ours, labels in zip(metrics, truth, estimates, alone, strict=True):
            (low, high), (labels_low, labels_high) = ours.interval(), labels.interval()
            known = np.isfinite(labels.value) & np.isfinite(exact)
            rows.append(
                {
                    "kind": job.kind,
                    "method": name,
                    "metric": metric.name,
                    "n_labeled": job.n_labeled,
                    "dataset": job.dataset,
                    "run": job.run,
                    "error": np.abs(ours.value - exact)[known].mean(),
                    "labels_error": np.abs(labels.value - exact)[known].mean(),
                    "covered": ((low <= exact) & (exact <= high))[known].mean(),
                    "width": (high - low)[known].mean(),
                    "labels_width": (labels_high - labels_low)[known].mean(),
                    "odd": float(odd),
                    "seconds": seconds,
                }
            )
    return rows


CELL = ["kind", "method", "metric", "n_labeled", "dataset"]


def summarize(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells per set, and all sets together."""
    sums = frame.groupby(CELL, sort=False)[
        ["error", "labels_error", "covered", "width", "labels_width", "odd", "seconds"]
    ].mean()
    sums["rmae"] = sums["error"] / sums["labels_error"]
    sums["width_ratio"] = sums["width"] / sums["labels_width"]
    sums["runs"] = frame.groupby(CELL, sort=False)["run"].nunique()
    cells = sums.reset_index()
    rows = []
    for key, part in cells.groupby(CELL[:-1], sort=False):
        lowest = part.loc[part["covered"].idxmin()] if part["covered"].notna().any() else None
        rows.append(
            {
                **dict(zip(CELL[:-1], key, strict=True)),
                "sets": len(part),
                "rmae": float(np.exp(np.log(part["rmae"]).mean())),
                "covered": part["covered"].mean(),
                "lowest_covered": None if lowest is None else lowest["covered"],
                "lowest_set": None if lowest is None else lowest["dataset"],
                "width_ratio": part["width_ratio"].mean(),
                "odd": part["odd"].mean(),
                "seconds": part["seconds"].mean(),
                "runs": int(part["runs"].min()),
            }
        )
    return cells, pd.DataFrame(rows)


def compare_ratings(cells: pd.DataFrame) -> pd.DataFrame:
    """Error with grades over that with scores: in points, relative to labels, and where worst."""
    keys = ["metric", "n_labeled", "dataset"]
    scores = cells[cells["kind"] == "scores"].set_index(keys)[["error", "rmae"]]
    rows = []
    for kind in ("fixed grades", "quintile grades"):
        rated = cells[cells["kind"] == kind].set_index(keys)[["error", "rmae"]]
        both = (rated / scores).dropna()
        for (metric, n_labeled), part in both.groupby(level=["metric", "n_labeled"]):
            worst = part["error"].idxmax()[2]
            means = np.exp(np.log(part).mean())
            rows.append(
                {
                    "kind": kind,
                    "metric": metric,
                    "n_labeled": n_labeled,
                    "error_ratio": means["error"],
                    "rmae_ratio": means["rmae"],
                    "worst_set": worst,
                    "worst_error_ratio": part["error"].max(),
                }
            )
    return pd.DataFrame(rows)


def jobs_of(runs: int, first: int, labels: list[int]) -> list[Job]:
    """All jobs, run by run, so that what is done when time is up can be compared."""
    binary = [name for name in SETS if name not in NOT_BINARY]
    sets = {
        "answers": (*SETS, *JUDGED),
        "fixed grades": binary,
        "quintile grades": binary,
        "scores": binary,
        "mixed": SETS,
        "labels by class": SETS,
        "labels by class, said": SETS,
        "labels by score, said": SETS,
    }
    return [
        Job(kind, name, n_labeled, run)
        for run in range(first, first + runs)
        for kind, names in sets.items()
        for name in names
        for n_labeled in labels
    ]


NOT_BINARY = ("agnews", "cifar10", "dry_bean", "mmlupro_llm_logit", "multinli")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--first-run", type=int, default=0)
    parser.add_argument("--labels", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--name", default="answers", help="first part of the names of the results")
    args = parser.parse_args()
    end = time.monotonic() + 60.0 * args.minutes
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    rows: list[dict[str, Any]] = []
    with ProcessPoolExecutor(args.workers) as pool:
        jobs = jobs_of(args.runs, args.first_run, args.labels)
        waiting = [pool.submit(measure, job) for job in jobs]
        for future in waiting:
            left = end - time.monotonic()
            try:
                rows += future.result(timeout=max(0.0, left))
            except TimeoutError:
                break
        for future in waiting:
            future.cancel()
    frame = pd.DataFrame(rows)
    cells, overall = summarize(frame)
    RESULTS.mkdir(exist_ok=True)
    parts = (("cells", cells), ("overall", overall), ("ratings", compare_ratings(cells)))
    for part, table in parts:
        file = RESULTS / f"{args.name}_{part}.csv"
        table.drop(columns=["error", "width", "labels_width"], errors="ignore").to_csv(
            file, index=False, float_format="%.4g"
        )
        record(file)
    print(overall.round(3).to_string(index=False))


if __name__ == "__main__":
    main()
