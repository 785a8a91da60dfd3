"""Which rows, and which pick, find the best model with the fewest labels.

    python -m benchmarks.decide.picking --runs 3 --minutes 30 --workers 1
    python -m benchmarks.decide.picking --part test --runs 3 --minutes 30 --workers 1

Nobody has a label at first, and 100 come in batches; a pool has 1,000 rows, or all of a small set.

- rows: ``goal`` (`Evaluation.suggest` for the goal best), ``random``, and ``coda``, ``selector``,
  ``vma``, ``active_testing`` and ``uncertainty`` (`ssme.results.active_selection`)
- batches of 1, 5 or 10, or ``growing``: as `Evaluation.suggest` sizes them by itself
- pick: ``count`` (most right labels, ties at random), ``coda`` (the greatest P(best) of CODA),
  ``auto`` and ``answers`` (the best estimate; ``answers`` sees decisions alone), ``sure`` (the
  greatest P(best) of `auto`), ``both`` (that of `auto` plus 0.001, times that of CODA),
  ``consensus`` (most often the class of the greatest mean score, whatever the labels say)

Regret is that of accuracy on the pool. ``count``, ``coda`` and ``consensus`` pick after every
batch, and so do ``auto``, ``sure`` and ``both`` on rows of ``goal``. On other rows these pick in
batches of ten alone, and ``answers`` everywhere in batches of ten alone, after 0, 10, 25, 50 and
100 labels; their regret is on the line between. Cumulative regret is the sum over the first 25, 50
or 100 labels, in percentage points. ``labels_to_pick`` is the number of labels from which on the
pick stays within 0.01 of the best, 200 where that never happens. ``held`` are 95% intervals of
accuracy after 100 labels that contain the accuracy on the pool, ``held_outside`` those that contain
that on the rows of the set outside of it: the intervals are about rows like these, not about the
pool.

Sets of the part ``choose`` were looked at while rules were chosen, those of ``test`` only once they
were settled. A set with ``~`` has its classifiers miscalibrated at random
(`benchmarks.decide.suggestion`); the sets of judges are answers without scores; panels of the
corpus have some 36 classifiers. ``--rows``, ``--batches`` and ``--sets`` choose some of all cells;
cells that are not finished are left out, so that ways may differ in their number of runs.

``decide_picking`` has a line per set, ``decide_picking_overall`` means and medians over sets with
the share of sets on which a way is at least as good as the best of CODA, Model Selector and random
rows with counts (each with its own pick, in batches of one), ``decide_picking_pairs`` our
difference to the best of these on each set, ``decide_picking_sureness`` how often a pick was right
by the P(best) that `auto` reported, and ``decide_picking_stops`` where the rule
P(regret<=0.01)>=0.9 (`ssme.results.plan`), and two others, stopped and how often they kept their
promise: that the pick is then within 0.01 of the best; intervals are those of that look. Tables of
the part ``test`` are ``decide_picking_test``.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.answers.scenes import JUDGED, AllRows, load_set
from benchmarks.corpus.panels import load_panel
from benchmarks.decide.suggestion import MARK, find_scene
from benchmarks.experiment import add_runs, open_places, run_cells, write_tables
from benchmarks.studies import Protocol, Runner, Scene, Study, Trial
from ssme.arrays import FloatArray, IntArray
from ssme.data.judges import Judge
from ssme.data.scoreset import ScoreSet
from ssme.methods.votes import average_scores
from ssme.metrics.confusion import predicted_classes
from ssme.results.active_selection import Coda, count_right, value_rows
from ssme.results.choose import LEAST_LABELS
from ssme.results.comparison import compute_probability_best
from ssme.results.evaluation import Evaluation
from ssme.run import evaluate
from ssme.schema import TAKEN, grow_batch

TOTAL, ROWS, CLOSE = 100, 1000, 0.01
LEAST_SURE = 0.001
"""Added to P(best) before it is multiplied: a model that is the best of no draw can be picked."""
LEAST_RUNS = 5
"""Runs that a standard error needs."""
LOOKS = (0, 10, 25, 50, 100)
STOPS = (0.8, 0.9, 0.95)
WAYS = ("goal", "random", "coda", "selector", "vma", "active_testing", "uncertainty")
BATCHES = ("1", "5", "10", "growing")
RIVALS = (("coda", "coda"), ("selector", "count"), ("random", "count"))
"""Rows and pick of the published methods."""

CHOOSE = ("adult", "agnews", "dry_bean", "mmlupro_llm_logit", "multinli", "subj")
TEST = ("adult_shift", "cifar10", "civilcomments", "diabetes_readmit", "hiv_molecules")
PANELS = {
    "choose": ("banana__banana", "contraceptive__contraceptive", "segment__segment"),
    "test": ("mushroom__mushroom", "spambase__spambase", "twonorm__twonorm"),
}
SETS = {
    "choose": (*CHOOSE, *(name + MARK for name in CHOOSE), "judgebench", "crowd_dog"),
    "test": (*TEST, *(name + MARK for name in TEST), "crowd_bluebird", "crowd_face"),
}
for part, names in PANELS.items():
    SETS[part] += tuple(f"{part}/{name}/many" for name in names)


def load(name: str) -> ScoreSet:
    """A shared set, one of judges, or a panel of the corpus."""
    return load_panel(name) if "/" in name else load_set(name.rstrip(MARK))


def choose_scene(name: str) -> Scene:
    return AllRows(name) if name in JUDGED else find_scene(name)


# -------------------------------------------------------------------------------------------------
# One run: rows are labeled batch by batch, and everyone picks


@dataclass(frozen=True)
class Pool:
    """The rows of a run: with all labels, and the accuracy (M,) of every model on them.

    ``outside`` (M,) is that on the rows of the set that are not in the pool, None without such.
    """

    rows: ScoreSet
    accuracy: FloatArray
    outside: FloatArray | None = None

    def look(self, seen: ScoreSet, run: int, method: str = "auto") -> Evaluation:
        return evaluate(seen, method=method, metrics="accuracy", by=[], random_state=run)

    def measure_regret(self, pick: int) -> float:
        return float(self.accuracy.max() - self.accuracy[pick])


def measure_accuracy(rows: ScoreSet) -> FloatArray:
    """The accuracy (M,) of every model on the rows it decides."""
    decided = predicted_classes(rows.scores)
    right = (decided == rows.labels[:, None]).sum(axis=0)
    return right / np.maximum((decided >= 0).sum(axis=0), 1)


def compute(trial: Trial, way: str, batch: str) -> list[dict[str, Any]]:
    """Rows of one run: per estimator and number of labels the regret and what was said of it."""
    rows, separate = trial.rows, not np.isin(trial.split.truth, trial.split.seen).any()
    outside = measure_accuracy(trial.held) if separate and len(trial.split.truth) else None
    pool = Pool(rows, measure_accuracy(rows), outside)
    rng = np.random.default_rng([trial.run, len(way)])
    total, found = min(TOTAL, rows.n_rows // 2), []
    seen = rows.replace(labels=np.full(rows.n_rows, -1))
    while True:
        n = seen.n_labeled
        result = None
        late = batch == "10" and (n in LOOKS or n >= total)
        if way == "goal" or late:
            result = pool.look(seen, trial.run)
        found += _pick_all(pool, seen, result, rng, trial.run, late)
        if n >= total:
            return [{"way": way, "batch": batch, "labels": n, **row} for n, row in found]
        size = grow_batch(n) if batch == "growing" else int(batch)
        seen = _add_labels(seen, result, pool, min(size, total - n), way, trial.run * 1000 + n)


def _add_labels(
    seen: ScoreSet, result: Evaluation | None, pool: Pool, n: int, way: str, seed: int
) -> ScoreSet:
    """The data with ``n`` labels more, chosen in this way."""
    rng = np.random.default_rng(seed)
    if way == "random" or way in TAKEN:
        free = np.flatnonzero(~seen.labeled)
        value = value_rows(way, seen)[free] if way in TAKEN else np.zeros(free.size)
        rows = free[np.lexsort((rng.random(free.size), -value))[:n]]
        labels = seen.labels.copy()
        labels[rows] = pool.rows.labels[rows]
        return seen.replace(labels=labels).with_design("by_score" if way in TAKEN else None)
    if result is None:  # the published ways look at no estimate
        result = pool.look(seen, 0, "ensemble")
    found = result.suggest(n, "best", draw=way, random_state=seed)
    return found.fill_in(pool.rows.label_values[found.rows].tolist())


def _pick_all(
    pool: Pool,
    seen: ScoreSet,
    result: Evaluation | None,
    rng: np.random.Generator,
    run: int,
    late: bool,
) -> list[tuple[int, dict[str, Any]]]:
    """What every estimator picks now."""
    n = seen.n_labeled
    counts = count_right(seen) + 0.5 * rng.random(seen.n_models)
    consensus = average_scores(seen.scores).argmax(axis=1)[:, None]
    decided = predicted_classes(seen.scores)
    agreement = (decided == consensus).sum(axis=0) / np.maximum((decided >= 0).sum(axis=0), 1)
    believed = Coda(seen).p_best
    picks = {
        "count": int(np.argmax(counts)),
        "coda": int(np.argmax(believed)),
        "consensus": int(np.argmax(agreement)),
    }
    rows: list[dict[str, Any]] = []
    if late and not seen.judges:
        answers = pool.look(_keep_decisions(seen), run).estimate("accuracy").value
        picks["answers"] = int(np.argmax(answers))
    if result is not None:
        p_best = compute_probability_best(result.estimate("accuracy"), greater_is_better=True)
        picks["sure"] = int(np.nanargmax(p_best))
        picks["both"] = int(np.nanargmax((p_best + LEAST_SURE) * believed))
    for name, pick in picks.items():
        rows.append({"estimator": name, "regret": pool.measure_regret(pick)})
    if result is not None:
        choice, estimate = result.choose(), result.estimate("accuracy")
        low, high = estimate.interval(0.95)
        regret = pool.measure_regret(seen.models.index(choice.pick))
        said = {
            "p_best": choice.p_best,
            "expected": choice.regret,
            "within": choice.p_within_raw,
            "high": choice.regret_high,
            "held": _cover(low, high, pool.accuracy),
            "held_outside": _cover(low, high, pool.outside),
            "width": float((high - low).mean()),
        }
        rows.append({"estimator": "auto", "regret": regret, **said})
    return [(n, row) for row in rows]


def _cover(low: FloatArray, high: FloatArray, truth: FloatArray | None) -> float:
    """The share of intervals that contain the truth; NaN where it is unknown."""
    return float("nan") if truth is None else float(((low <= truth) & (truth <= high)).mean())


def _keep_decisions(seen: ScoreSet) -> ScoreSet:
    """The data as answers without scores."""
    decided = predicted_classes(seen.scores)
    hard = np.where(
        decided[:, :, None] >= 0, decided[:, :, None] == np.arange(seen.n_classes), np.nan
    )
    judge = Judge("answers", seen.classes)
    return seen.replace(scores=hard, judges=dict.fromkeys(seen.models, judge))


# -------------------------------------------------------------------------------------------------
# Tables


def accumulate(labels: IntArray, regret: FloatArray, total: int, steps: bool) -> float:
    """Sum of the regret over the first ``total`` labels, as steps or on the line between looks."""
    at = np.arange(total)
    if steps:
        return float(100.0 * regret[np.searchsorted(labels, at, side="right") - 1].sum())
    return float(100.0 * np.interp(at, labels, regret).sum())


def summarize_run(own: pd.DataFrame) -> dict[str, float]:
    """What one way, batch and estimator did in one run."""
    labels, regret = own["labels"].to_numpy(), own["regret"].to_numpy()
    steps = not set(labels) <= set(LOOKS)
    out = {"regret_0": 100.0 * float(regret[0])}
    out |= {f"regret_{n}": accumulate(labels, regret, n, steps) for n in (25, 50, TOTAL)}
    wrong = np.flatnonzero(regret > CLOSE)
    after = 0 if wrong.size == 0 else wrong[-1] + 1
    out["labels_to_pick"] = float(labels[after]) if after < labels.size else 2.0 * TOTAL
    for n in LOOKS:
        at = max(int(np.searchsorted(labels, n, side="right")) - 1, 0)
        out[f"right_{n}"] = float(regret[at] <= CLOSE)
    for name in ("held", "held_outside", "width"):
        out[name] = float(own[name].iloc[-1]) if name in own else np.nan
    return out


KEYS = ["dataset", "way", "batch", "estimator"]


def summarize(frame: pd.DataFrame, part: str) -> dict[str, pd.DataFrame]:
    """The tables of the study."""
    runs = pd.DataFrame(
        {**dict(zip([*KEYS, "run"], key, strict=True)), **summarize_run(own)}
        for key, own in frame.groupby([*KEYS, "run"], sort=False)
    )
    table = runs.groupby(KEYS, sort=False).mean(numeric_only=True).drop(columns="run")
    table.insert(0, "runs", runs.groupby(KEYS, sort=False)["run"].nunique())
    table = table.reset_index()
    name = "decide_picking" if part == "choose" else "decide_picking_test"
    return {
        name: table,
        f"{name}_overall": summarize_sets(table),
        f"{name}_pairs": compare_runs(runs),
        f"{name}_sureness": summarize_sureness(frame),
        f"{name}_stops": summarize_stops(frame),
    }


def summarize_sets(table: pd.DataFrame) -> pd.DataFrame:
    """Means and medians over the sets on which all rivals were run."""
    by_set = table.set_index(["way", "batch", "estimator", "dataset"]).sort_index()
    rival = {
        f"{way} {pick}": by_set["regret_100"].get((way, "1", pick), pd.Series(dtype=float))
        for way, pick in RIVALS
    }
    base = pd.DataFrame(rival).dropna()
    best, random = base.min(axis=1), base["random count"]
    needed = by_set["labels_to_pick"].get(("random", "1", "count"), pd.Series(dtype=float))
    lines = []
    for (way, batch, estimator), own in table.groupby(KEYS[1:], sort=False):
        own = own.set_index("dataset")
        own = own[own.index.isin(base.index)]
        if len(own) < len(base) or own.empty:
            continue
        regret = own["regret_100"]
        apart = random.loc[own.index] > 0.0
        labels = (own["labels_to_pick"] / needed.loc[own.index])[needed.loc[own.index] > 0.0]
        lines.append(
            {
                "way": way,
                "batch": batch,
                "estimator": estimator,
                "sets": len(own),
                "mean_0": own["regret_0"].mean(),
                "mean_25": own["regret_25"].mean(),
                "mean_100": regret.mean(),
                "median_100": regret.median(),
                "as_good_as_rivals": (regret <= best.loc[own.index] + 1e-9).mean(),
                "worst_to_random": (regret / random.loc[own.index])[apart].max(),
                "labels_to_random": labels.median(),
                **{f"right_{n}": own[f"right_{n}"].mean() for n in LOOKS},
                "held": own["held"].mean(),
                "held_outside": own["held_outside"].mean(),
            }
        )
    return pd.DataFrame(lines)


def compare_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Ours against the best rival of each set, on the runs that all have, if they are enough.

    A difference of more than two standard errors is ``better`` or ``worse``.
    """
    by_run = runs.set_index(["way", "batch", "estimator"])["regret_100"].to_frame()
    by_run["case"] = list(zip(runs["dataset"], runs["run"], strict=True))
    ways = {
        key: own.set_index("case")["regret_100"] for key, own in by_run.groupby(level=[0, 1, 2])
    }
    rivals = {way: ways.get((way, "1", pick), pd.Series(dtype=float)) for way, pick in RIVALS}
    lines = []
    for batch in BATCHES:
        ours = ways.get(("goal", batch, "auto"), pd.Series(dtype=float))
        both = pd.DataFrame({"ours": ours, **rivals}).dropna()
        both["dataset"] = [case[0] for case in both.index]
        for dataset, own in both.groupby("dataset", sort=False):
            if len(own) < LEAST_RUNS:
                continue
            rival = str(own[list(rivals)].mean().idxmin())
            apart = own["ours"] - own[rival]
            difference, error = apart.mean(), apart.std() / np.sqrt(len(own))
            side = "worse" if difference > 0.0 else "better"
            lines.append(
                {
                    "dataset": dataset,
                    "batch": batch,
                    "runs": len(own),
                    "regret": own["ours"].mean(),
                    "rival": rival,
                    "rival_regret": own[rival].mean(),
                    "difference": difference,
                    "error": error,
                    "verdict": "even" if abs(difference) <= 2.0 * error else side,
                }
            )
    return pd.DataFrame(lines)


def summarize_sureness(frame: pd.DataFrame) -> pd.DataFrame:
    """How often picks of `auto` were the best model, by the probability that was said."""
    if "p_best" not in frame:
        return pd.DataFrame()
    said = frame[frame["p_best"].notna()]
    parts = pd.cut(said["p_best"], [0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0], include_lowest=True)
    grouped = said.assign(right=said["regret"] <= 1e-12, said=parts.astype(str)).groupby("said")
    out = grouped.agg(picks=("right", "size"), p_best=("p_best", "mean"), right=("right", "mean"))
    return out.reset_index()


def summarize_stops(frame: pd.DataFrame) -> pd.DataFrame:
    """Where P(regret <= 0.01) first reaches a probability, at looks after every batch, from 20
    labels on."""
    if "within" not in frame:
        return pd.DataFrame()
    own = frame[(frame["way"] == "goal") & frame["within"].notna()]
    runs = [run for _, run in own.groupby(["dataset", "run", "batch"], sort=False)]
    lines = []
    for batch in ("all", *dict.fromkeys(own["batch"])):
        some = [run for run in runs if batch in ("all", run["batch"].iloc[0])]
        for sure in STOPS:
            first = [
                run[(run["within"] >= sure) & (run["labels"] >= LEAST_LABELS)].head(1)
                for run in some
            ]
            stopped = pd.concat(first) if first else own.head(0)
            lines.append(
                {
                    "batch": batch,
                    "sure": sure,
                    "runs": len(some),
                    "stopped": len(stopped) / max(len(some), 1),
                    "labels": stopped["labels"].median(),
                    "kept": (stopped["regret"] <= CLOSE + 1e-12).mean(),
                    "regret": stopped["regret"].mean(),
                    "held": stopped["held"].mean(),
                    "held_outside": stopped["held_outside"].mean(),
                }
            )
    return pd.DataFrame(lines)


def main() -> None:
    """Run the study from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    add_runs(parser, runs=3, labels=(0,))
    parser.add_argument("--part", choices=tuple(SETS), default="choose")
    parser.add_argument("--sets", nargs="+", help="data sets; by default those of the part")
    parser.add_argument("--rows", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--batches", nargs="+", choices=BATCHES, default=list(BATCHES))
    args = parser.parse_args()
    methods = {
        f"{way} in {batch}": (compute, {"way": way, "batch": batch})
        for batch in args.batches
        for way in args.rows
    }
    studies = [
        Study(
            Runner(
                Protocol(
                    methods,
                    n_labeled=(0,),
                    n_unlabeled=(ROWS,),
                    runs=args.runs,
                    first_run=args.first_run,
                    fewer_unlabeled=True,
                ),
                load,
                scene=choose_scene(name),
            ),
            (name,),
        )
        for name in args.sets or SETS[args.part]
    ]
    seconds = None if math.isinf(args.minutes) else 60.0 * args.minutes
    with open_places(args) as executor:
        frame, times = run_cells(studies, "picking", executor, seconds=seconds, leave_out="cells")
    tables = summarize(frame, args.part)
    write_tables(tables, times)
    for name, table in tables.items():
        print(f"\n{name}\n{table.round(3).to_string(index=False)}")


if __name__ == "__main__":
    main()
