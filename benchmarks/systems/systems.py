"""Rates of systems from judges and few labels: ours, labels alone, PPI++, raw verdicts and rivals.

    python -m benchmarks.systems.systems --runs 60 --rivals rivals/bin/python --rival-runs 25

Worlds of real sets: three of the models of a set are systems that answer 400 of its items, three
others are judges, who pass an answer if it is theirs (or grade it, in five grades, by their
probability of it). An answer passes where it is the true class; the truth is the rate over all
items of the set. JudgeBench has its own judges, of which three are taken, and its tasks are the
systems; of the crowds, workers judge whether an item is of one class. In simulated worlds
(`simulate`) judges share difficulty, and favor systems by chance.

Constants were chosen on the sets of the part "chosen" alone, the part "held out" was opened when
they were settled. ``--rivals`` is a Python with other packages (`benchmarks/systems/rivals.py`);
without it, their results are kept, since the worlds of a run are the same.
Labels are of rows at random, of all systems together. Writes ``systems.csv``.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import ndtri

from benchmarks.datasets.registry import data_folder
from benchmarks.experiment import RESULTS, read_arguments, write_table
from ssme.arrays import FloatArray, IntArray
from ssme.methods.label_draws import find_normal_quantile
from ssme.systems.rates import JudgedRows, estimate_rates, find_consensus

ITEMS, SYSTEMS, JUDGES = 400, 3, 3
LABELS = (30, 100)


class World(NamedTuple):
    """Verdicts (n, J), systems and items (n,), outcomes (n,) of all rows, and the true rates."""

    verdicts: FloatArray
    systems: IntArray
    items: IntArray
    outcomes: FloatArray
    truth: FloatArray


def simulate(rng: Generator, favor: float = 0.0) -> World:
    """Judges who share difficulty; each favors each system by ``favor`` standard deviations."""
    truth = rng.uniform(0.4, 0.8, SYSTEMS)
    shape = (SYSTEMS, ITEMS)
    easy = np.sqrt(0.5) * (rng.normal(size=ITEMS) + rng.normal(size=shape))
    passed = (ndtri(truth)[:, None] + easy > 0.0).astype(np.float64)
    hard, verdicts = rng.normal(size=shape), []
    for _ in range(JUDGES):
        right, wrong = ndtri(rng.uniform(0.75, 0.95)), ndtri(rng.uniform(0.6, 0.9))
        own = np.sqrt(0.4) * hard + np.sqrt(0.6) * rng.normal(size=shape)
        own += favor * rng.normal(size=(SYSTEMS, 1))
        verdicts.append(np.where(passed == 1.0, own < right, own > wrong).ravel())
    codes = np.repeat(np.arange(SYSTEMS), ITEMS), np.tile(np.arange(ITEMS), SYSTEMS)
    return World(np.stack(verdicts, axis=1).astype(np.float64), *codes, passed.ravel(), truth)


@cache
def load(name: str) -> dict[str, Any]:
    """The arrays of a set."""
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as found:
        return dict(found)


def take_models(name: str, judges: int = JUDGES, grades: int = 0) -> Callable[[Generator], World]:
    """Worlds of a set of scores."""

    def make(rng: Generator) -> World:
        scores, y = load(name)["scores"], load(name)["y"].astype(np.int64)
        order = rng.permutation(scores.shape[1])
        n_systems = min(SYSTEMS, scores.shape[1] // 2)
        own, others = order[:n_systems], order[n_systems:][:judges]
        items = rng.permutation(len(y))[:ITEMS]
        truth = (scores[:, own].argmax(axis=2) == y[:, None]).mean(axis=0)
        answers = scores[items][:, own].argmax(axis=2)
        parts = []
        for at in range(n_systems):
            given = answers[:, at, None]
            said = (scores[items][:, others].argmax(axis=2) == given).astype(np.float64)
            if grades:
                stated = np.take_along_axis(scores[items][:, others], given[:, None], axis=2)
                said = np.minimum(np.floor(stated[:, :, 0] * grades), grades - 1) / (grades - 1)
            parts.append(said)
        return World(
            np.concatenate(parts),
            np.repeat(np.arange(n_systems), ITEMS),
            np.tile(np.arange(ITEMS), n_systems),
            (answers == y[items, None]).T.ravel().astype(np.float64),
            truth,
        )

    return make


def take_answers(name: str) -> Callable[[Generator], World]:
    """Worlds of a set of answers: one class against the others, or JudgeBench by task."""

    def make(rng: Generator) -> World:
        found = load(f"answers/{name}")
        answers, y = found["answers"].astype(np.int64), found["y"].astype(np.int64)
        given = (answers >= 0).mean(axis=0)
        number = max(JUDGES, int(JUDGES / given.mean()))
        answers = answers[:, rng.permutation(given.size)[:number]]
        positive = rng.integers(y.max() + 1) if y.max() > 1 else 1
        systems = np.zeros(len(y), dtype=np.int64)
        if "group_source" in found:
            systems = np.unique(found["group_source"], return_inverse=True)[1]
        kept = (answers >= 0).any(axis=1)
        verdicts = np.where(answers < 0, np.nan, answers == positive)[kept]
        outcomes, systems = (y == positive)[kept].astype(np.float64), systems[kept]
        truth = np.bincount(systems, outcomes) / np.bincount(systems)
        return World(verdicts, systems, np.arange(len(systems)), outcomes, truth)

    return make


SCENES: dict[str, dict[str, Callable[[Generator], World]]] = {
    "chosen": {
        "simulated": simulate,
        "agnews": take_models("agnews"),
        "mmlupro": take_models("mmlupro_llm_logit"),
        "mmlupro, one judge": take_models("mmlupro_llm_logit", judges=1),
        "subj, grades": take_models("subj", grades=5),
        "adult": take_models("adult"),
        "crowd_face": take_answers("crowd_face"),
    },
    "held out": {
        "simulated, favors": lambda rng: simulate(rng, 0.5),
        "cifar10": take_models("cifar10"),
        "dry_bean": take_models("dry_bean"),
        "dry_bean, grades": take_models("dry_bean", grades=5),
        "multinli": take_models("multinli"),
        "hiv_molecules": take_models("hiv_molecules"),
        "diabetes_readmit, grades": take_models("diabetes_readmit", grades=5),
        "judgebench": take_answers("judgebench"),
        "crowd_dog": take_answers("crowd_dog"),
    },
}

Estimate = tuple[Any, Any, Any]
"""The value and both ends of the interval of each system."""


def estimate_by_ppi(rows: JudgedRows) -> Estimate:
    """PPI++ of each system alone, with the consensus of the judges."""
    said, z = find_consensus(rows.verdicts), find_normal_quantile(0.95)
    found = []
    for system in range(int(rows.systems.max()) + 1):
        own, known = rows.systems == system, np.isfinite(rows.outcomes)
        y, f, others = rows.outcomes[own & known], said[own & known], said[own & ~known]
        if y.size < 2:
            found.append((np.nan, 0.0, 1.0))
            continue
        spread = said[own].var(ddof=1)
        ratio = 1.0 + y.size / others.size
        lam = np.clip(np.cov(y, f)[0, 1] / (ratio * spread), 0.0, 1.0) if spread > 0.0 else 0.0
        value = lam * others.mean() + (y - lam * f).mean()
        error = np.sqrt((y - lam * f).var(ddof=1) / y.size + lam**2 * spread / others.size)
        found.append((value, value - z * error, value + z * error))
    value, low, high = np.array(found).T
    return value, low, high


def run_world(world: World, known: FloatArray, seed: int) -> tuple[dict[str, Estimate], float]:
    """Estimates by method, and how often our intervals of differences hold."""
    rows = JudgedRows(world.verdicts, known, world.systems, world.items, binary=True)
    rng = np.random.default_rng(seed)
    rates = estimate_rates(rows, world.systems, [world.systems], rng, n_draws=2000)
    low, high = np.quantile(rates.draws, [0.025, 0.975], axis=0)
    raw = [float(np.nanmean(world.verdicts[world.systems == s])) for s in np.unique(world.systems)]
    first, second = np.triu_indices(world.truth.size, 1)
    gaps = np.quantile(rates.draws[:, first] - rates.draws[:, second], [0.025, 0.975], axis=0)
    truth = world.truth[first] - world.truth[second]
    held = float(((gaps[0] <= truth) & (truth <= gaps[1])).mean()) if first.size else np.nan
    found = {
        "ssme": (rates.values, low, high),
        "labels alone": (rates.labels_only, *rates.labels_only_ends),
        "PPI++": estimate_by_ppi(rows),
        "raw verdicts": (raw, raw, raw),
    }
    return found, held


def ask_rivals(python: str, worlds: list[tuple[World, FloatArray]]) -> list[dict[str, Any]]:
    """Estimates of other packages."""
    lines = []
    for world, known in worlds:
        told = {
            "system": world.systems.tolist(),
            "item": world.items.tolist(),
            "judge": np.nanmean(world.verdicts, axis=1).tolist(),
            "label": [None if y != y else y for y in known.tolist()],
        }
        lines.append(json.dumps(told))
    script = str(Path(__file__).with_name("rivals.py"))
    ran = subprocess.run([python, script], input="\n".join(lines), capture_output=True, text=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def measure(name: str, found: Estimate | str, truth: FloatArray) -> dict[str, Any]:
    """Error, coverage and width of one method in one world; of a failure, nothing."""
    if isinstance(found, str):
        return {"method": name, "failed": 1.0}
    value, low, high = (np.array(part, dtype=np.float64) for part in found)
    known = np.isfinite(value)
    if not known.any():
        return {"method": name, "failed": 1.0}
    return {
        "method": name,
        "error": float(np.abs(value - truth)[known].mean()),
        "coverage": float(((low <= truth) & (truth <= high))[known].mean()),
        "width": float((high - low)[known].mean()),
        "failed": float((~known).mean()),
    }


def main() -> None:
    args = read_arguments(__doc__, runs=60, rivals=None, rival_runs=25)
    table: list[dict[str, Any]] = []
    for part, scenes in SCENES.items():
        for scene, make in scenes.items():
            for n_labels in LABELS:
                rows: list[dict[str, Any]] = []
                worlds = []
                for run in range(args.runs):
                    rng = np.random.default_rng([run, n_labels])
                    world = make(rng)
                    known = np.full(world.outcomes.size, np.nan)
                    chosen = rng.permutation(known.size)[:n_labels]
                    known[chosen] = world.outcomes[chosen]
                    worlds.append((world, known))
                    found, held = run_world(world, known, run)
                    rows += [measure(name, each, world.truth) for name, each in found.items()]
                    rows[-len(found)]["differences"] = held
                if args.rivals:
                    asked = worlds[: args.rival_runs]
                    for (world, _), told in zip(asked, ask_rivals(args.rivals, asked), strict=True):
                        rows += [measure(name, each, world.truth) for name, each in told.items()]
                means = pd.DataFrame(rows).groupby("method", sort=False)
                summary = means.mean().assign(runs=means.size())
                alone = summary.loc["labels alone"]
                summary["error_ratio"] = summary["error"] / alone["error"]
                summary["width_ratio"] = summary["width"] / alone["width"]
                about = {"part": part, "scene": scene, "n_labels": n_labels}
                table += [{**about, **row} for row in summary.reset_index().to_dict("records")]
                shown = summary[["error", "coverage", "width_ratio"]].round(3)
                print(part, scene, n_labels, shown.to_dict("index"), flush=True)
    kept = RESULTS / "systems.csv"
    if not args.rivals and kept.exists():
        before = pd.read_csv(kept)
        others = ~before["method"].isin([row["method"] for row in table])
        table += before[others].to_dict("records")
    write_table(kept, table, digits=4)


if __name__ == "__main__":
    main()
