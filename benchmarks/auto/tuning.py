"""How the constants of the mixture and of the draws' spread are chosen: recorded once, tried often.

A fit of ``auto`` is slow beside what is tuned here: probabilities of the regimes, densities of what
scores show, the spread of the draws. So every regime's value and draws, before they are weighed and
recentered, are kept per task (stress, set, number of labels, run),

    python -m benchmarks.auto.tuning record --out .records --workers 15 --extra extra

and a set of constants is judged by weighing and recentering them anew, by the very functions of
the method. ``try`` measures constants as `study` does, ``search`` draws constants at random about
the shipped ones and prints those with the least loss (`judge`),

    python -m benchmarks.auto.tuning try --records .records
    python -m benchmarks.auto.tuning search --records .records --tries 40

Runs 0 to 9 of the development sets, 0 to 3 of the stresses, 0 to 5 of the simulated worlds and 0
and 1 of the further sets are used: later runs, and the stresses of `unseen`, are left for the end.
"""

from __future__ import annotations

import argparse
import os
import pickle
import time
import zlib
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.auto.decisions import decisions
from benchmarks.auto.made_worlds import WORLDS
from benchmarks.auto.priors import SETS
from benchmarks.auto.stress import STRESSES, StressScene, find_stress, load_world
from benchmarks.auto.study import by_variant, compared, truth_of
from benchmarks.experiment import load
from ssme.bench import split_rows
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.group import RowGroup
from ssme.methods.auto.method import allot_draws, believe, draw_regime, situate
from ssme.methods.auto.mixture import StatedFit, fit_regimes, shrink_stated_evidence
from ssme.methods.auto.recentering import choose_spread, recenter
from ssme.methods.auto.regimes.evidence import log_conflict_density, log_correlation_density
from ssme.methods.base import Estimate
from ssme.methods.estimators.labeled import Labeled
from ssme.metrics import get_metric
from ssme.metrics.base import FloatArray

LABELS = [20, 50, 100]
PLAIN, FURTHER = "as they are", "further"
LEFT_OUT = (PLAIN, "3,000 unlabeled rows", "200 unlabeled rows")
RUNS, STRESS_RUNS, MADE_RUNS, FURTHER_RUNS = range(10), range(4), range(6), range(2)
DRAWS, USUAL_DRAWS, ALL_DRAWS = 60, 140, 200
FILE_BYTES = 14 << 20


Job = tuple[str, str, int, int]
"""Stress, data set, number of labels, run. A simulated world is its own data set."""


@dataclass(frozen=True, eq=False)
class Part:
    """A regime on one task: its name, log Z_r S_r, and per metric value, draws and weight w."""

    name: str
    log_labels: float
    values: FloatArray
    draws: list[Any]
    weights: list[float]


@dataclass(frozen=True, eq=False)
class Record:
    """One task, with what the scores alone show; names of attributes as in `Situation`."""

    job: Job
    metrics: list[str]
    truth: FloatArray
    labels: FloatArray
    conflict: float | None
    correlation: float
    n_effective: float
    n_classes: int
    answers_only: bool
    resampled: list[Any]
    parts: list[Part]


@dataclass(frozen=True)
class Seen:
    """What the densities of a `Situation` ask for."""

    conflict: float | None
    correlation: float
    constants: Constants


def weigh_scores(name: str, record: Record, constants: Constants) -> float:
    """log E_r of a regime by the densities that ``constants`` say."""
    seen: Any = Seen(record.conflict, record.correlation, constants)
    if name == "added":
        return log_correlation_density(seen, True) - float(
            np.log(2.5 * constants.regimes.distorted_conflict)
        )
    return log_conflict_density(seen, name == "distorted") + log_correlation_density(seen, False)


def make_record(job: Job, constants: Constants) -> Record:
    """All regimes on one task."""
    stress, name, n_labeled, run = job
    scene, stem = StressScene(stress), Path(name).stem
    data = scene.change(load_world(name) if stress in WORLDS else load(name), run)
    n_unlabeled = min(find_stress(stress).n_unlabeled, data.n_rows // 2 - n_labeled)
    split = split_rows(data.labels, n_labeled, n_unlabeled, run, seed=0, dataset=stem)
    rows = data.take(np.concatenate([split.labeled, split.unlabeled]))
    truth = truth_of(data, stem, run)
    metrics = [get_metric(metric) for metric in truth]
    seen, rng = scene.label(rows, n_labeled, run), np.random.default_rng(run)
    alone = Labeled().fit(seen, np.random.default_rng(run)).estimate(metrics, [None])[0]
    situation = situate(seen, constants, rng)
    fitted = fit_regimes(situation)
    regimes = tuple(
        draw_regime(fit, 1.0, USUAL_DRAWS if fit.name == "usual" else DRAWS, situation, rng)
        for fit in fitted
    )
    belief = replace(believe(seen, regimes, situation, rng), recenter=lambda m, v, draws, *_: draws)
    every = np.arange(seen.n_rows)
    estimates = belief.estimate_by_regime(metrics, every)
    group = RowGroup.of(seen, metrics, 0, every, lambda part: part)
    record = Record(
        job,
        list(truth),
        np.array(list(truth.values())),
        np.array([[each.value, *each.interval()] for each in alone]),
        situation.conflict,
        situation.correlation,
        situation.summary.n_effective,
        seen.n_classes,
        situation.answers_only,
        [None if of is None else of.astype(np.float16) for of in belief.resample(group)],
        [],
    )
    for fit, each in zip(fitted, estimates, strict=True):
        known = weigh_scores(fit.name, record, constants)
        prior = float(np.log(constants.regimes.prior[fit.name]))
        record.parts.append(
            Part(
                fit.name,
                fit.log_scores + fit.log_labels - known - prior,
                np.array([one.value for one in each]),
                [_pack(one.draws) for one in each],
                [one.correction.weight for one in each],
            )
        )
    return record


def _pack(draws: FloatArray) -> Any:
    """Draws in 16 bits, from -1 to 1."""
    return np.round(np.clip(draws, -1.0, 1.0) * 32767.0).astype(np.int16)


def weigh(record: Record, constants: Constants, label_power: float = 1.0) -> FloatArray:
    """P(r) of the regimes of a task; a label counts ``label_power``."""
    prior = constants.regimes.prior
    logs = np.array(
        [
            label_power * part.log_labels
            + weigh_scores(part.name, record, constants)
            + np.log(max(prior.get(part.name, 0.0), np.finfo(np.float64).tiny))
            for part in record.parts
        ]
    )
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    chance[chance < constants.regimes.negligible] = 0.0
    out: FloatArray = chance / chance.sum()
    return out


def _shrink_stated(record: Record, constants: Constants) -> Record:
    """The record with the labels' evidence against "stated" as it counts in sharing out draws."""
    n_labeled, usual = record.job[2], record.parts[0].log_labels

    def shrink(part: Part) -> Part:
        if part.name != StatedFit.name:
            return part
        ratio = shrink_stated_evidence(part.log_labels - usual, n_labeled, constants.regimes)
        return replace(part, log_labels=usual + ratio)

    return replace(record, parts=[shrink(part) for part in record.parts])


def widen(name: str, record: Record, constants: Constants) -> float:
    """Factor of a regime's spread; classifiers that answer 0 or 1 know no regime by scores."""
    if name != "usual":
        return constants.regimes.widening
    of, against = constants.regimes, min(0.0, record.conflict or 0.0)
    answers = of.answers_widening if record.answers_only else 1.0
    return answers * float(np.sqrt(1.0 + (of.conflict_widening * against) ** 2))


def replay(record: Record, constants: Constants) -> list[dict[str, Any]]:
    """The rows of `study.beside_truth` with other constants."""
    stress, name, n_labeled, run = record.job
    chance, of = weigh(record, constants), constants.recentering
    omega = (chance / chance.max()) ** constants.regimes.sureness
    omega[omega < constants.regimes.least_weight * omega.sum()] = 0.0
    omega /= omega.sum()
    power = n_labeled / (n_labeled + constants.regimes.sharing)
    shares = np.maximum(chance, weigh(_shrink_stated(record, constants), constants, power))
    counts = allot_draws(ALL_DRAWS, shares / shares.sum())
    rows = []
    for m, metric in enumerate(map(get_metric, record.metrics)):
        exact, (value, low, high) = record.truth[m], record.labels[m]
        resampled = None if record.resampled[m] is None else record.resampled[m].astype(np.float64)
        pooled = []
        for part, size in zip(record.parts, counts, strict=True):
            if size == 0:
                continue
            sizes = (part.weights[m], record.n_effective, record.n_classes)
            wide = widen(part.name, record, constants)
            spread = choose_spread(metric, n_labeled, *sizes, of, wide)
            draws = part.draws[m][np.resize(np.arange(len(part.draws[m])), size)] / 32767.0
            pooled.append(recenter(metric, part.values[m], draws, resampled, spread, of.edge))
        center = np.sum(
            [w * part.values[m] for w, part in zip(omega, record.parts, strict=True)], 0
        )
        ours = Estimate(center, np.concatenate(pooled))
        labels = Estimate(value, bounds=partial(_say_ends, (low, high)))
        told = {"variant": stress, "dataset": Path(name).stem, "n_labeled": n_labeled, "run": run}
        rows.append(
            {**told, "metric": metric.name, "doubts": "", **compared(metric, ours, labels, exact)}
        )
    return rows


def _say_ends(ends: tuple[FloatArray, FloatArray], level: float) -> tuple[FloatArray, FloatArray]:
    """The interval of labels alone as it was recorded, whatever ``level`` is asked for."""
    return ends


def measure(records: list[Record], constants: Constants) -> pd.DataFrame:
    return pd.DataFrame([row for record in records for row in replay(record, constants)])


def judge(frame: pd.DataFrame) -> float:
    """Loss of constants: shortfalls of coverage and of pairs, P(best) off, width, error.

    Ordinary sets should cover 0.96 by metric and 0.92 by set, pairs 0.955 and 0.9 by set, stresses
    0.93 by number of labels; a bin of P(best) off by 0.1 costs as much as 0.05 of coverage.
    """
    plain = frame[frame["variant"] == PLAIN]
    loss = 0.0
    for keys, target, share in (
        (["n_labeled", "metric"], 0.96, 0.955),
        (["n_labeled", "dataset"], 0.92, 0.9),
    ):
        means = plain.groupby(keys)[["covered", "pairs", "held_pairs"]].mean()
        loss += float(np.maximum(target - means["covered"], 0.0).mean())
        held = means["held_pairs"] / means["pairs"].clip(lower=1)
        loss += float(np.maximum(share - held, 0.0).mean())
    odd = frame[frame["variant"] != PLAIN].groupby(["variant", "n_labeled"])["covered"].mean()
    loss += float(np.maximum(0.93 - odd, 0.0).mean()) if odd.size else 0.0
    said = decisions(frame[frame["variant"].isin([PLAIN, FURTHER])])
    off = (said["said"] - said["so"]).abs() * said["cases"] / said["cases"].sum()
    table = by_variant(plain, "stress")
    return (
        5.0 * loss
        + float(off.sum())
        + 0.5 * float(table["width_ratio"].mean())
        + float(table["rmae"].mean())
    )


def vary(constants: Constants, rng: np.random.Generator) -> Constants:
    """Constants at random about those given: probabilities, densities, spread."""

    def about(value: float, spread: float) -> float:
        return float(value * np.exp(spread * rng.standard_normal()))

    regimes, spread = constants.regimes, constants.recentering
    prior = {name: about(chance, 0.5) for name, chance in regimes.prior.items()}
    total = sum(prior.values())
    mean, scale = regimes.usual_conflict
    return replace(
        constants,
        regimes=replace(
            regimes,
            prior={name: chance / total for name, chance in prior.items()},
            usual_conflict=(mean, about(scale, 0.2)),
            widening=about(regimes.widening, 0.1),
        ),
        recentering=replace(
            spread,
            spread={
                kind: (about(shared, 0.15), about(own, 0.15))
                for kind, (shared, own) in spread.spread.items()
            },
            evenness=min(1.0, about(spread.evenness, 0.2)),
        ),
    )


def list_jobs(extra: Path | None) -> list[Job]:
    stresses = [name for name in STRESSES if name not in LEFT_OUT]
    sets = sorted(map(str, extra.glob("*.npz"))) if extra else []
    return [
        *product((PLAIN,), SETS, LABELS, RUNS),
        *product((FURTHER,), sets, LABELS, FURTHER_RUNS),
        *product(stresses, SETS, LABELS, STRESS_RUNS),
        *((name, name, n, run) for name, n, run in product(WORLDS, LABELS, MADE_RUNS)),
    ]


def make_records(jobs: list[Job], end: float) -> list[bytes]:
    """Packed records of some jobs while there is time."""
    made = []
    for job in jobs:
        if time.time() < end:
            made.append(zlib.compress(pickle.dumps(make_record(job, Constants())), 6))
    return made


def write_records(folder: Path, packed: list[bytes]) -> None:
    """Files ``records_0.pkl``, ... of bounded size."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[list[bytes]] = [[]]
    for one in packed:
        if sum(map(len, parts[-1])) + len(one) > FILE_BYTES:
            parts.append([])
        parts[-1].append(one)
    for i, part in enumerate(parts):
        (folder / f"records_{i}.pkl").write_bytes(pickle.dumps(part))


def read_records(folder: Path, only: list[str] | None) -> list[Record]:
    packed = [one for path in sorted(folder.glob("records_*.pkl")) for one in _load(path)]
    records = [pickle.loads(zlib.decompress(one)) for one in packed]
    return [record for record in records if not only or record.job[0] in only]


def _load(path: Path) -> list[bytes]:
    made: list[bytes] = pickle.loads(path.read_bytes())
    return made


def record_all(args: argparse.Namespace) -> None:
    jobs, end, packed = list_jobs(args.extra), time.time() + 60.0 * args.minutes, []
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with ProcessPoolExecutor(args.workers) as pool:
        groups = [jobs[i : i + 6] for i in range(0, len(jobs), 6)]
        for future in as_completed([pool.submit(make_records, group, end) for group in groups]):
            packed += future.result()
    write_records(args.out, packed)
    print(f"{len(packed)} of {len(jobs)} tasks, {sum(map(len, packed)) / 1e6:.1f} MB")


def try_constants(args: argparse.Namespace) -> None:
    frame = measure(read_records(args.records, args.only), Constants())
    print(by_variant(frame, "stress").round(3).to_string(index=False))
    said = decisions(frame[frame["variant"].isin([PLAIN, FURTHER])])
    print(said.groupby("variant").apply(lambda part: part.round(2).to_string(index=False)))
    print("loss", round(judge(frame), 4))


def search_constants(args: argparse.Namespace) -> None:
    records, rng = read_records(args.records, args.only), np.random.default_rng(args.seed)
    tried = []
    for i in range(args.tries):
        constants = Constants() if i == 0 else vary(Constants(), rng)
        tried.append((judge(measure(records, constants)), constants))
    for loss, constants in sorted(tried, key=lambda one: one[0])[:5]:
        print(round(loss, 4), constants.regimes.prior, constants.regimes.usual_conflict)
        print("   ", constants.regimes.widening, constants.recentering)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    what = parser.add_subparsers(required=True)
    recording = what.add_parser("record", help="fit every regime on every task")
    recording.add_argument("--out", type=Path, required=True)
    recording.add_argument("--workers", type=int, default=2)
    recording.add_argument("--minutes", type=float, default=60.0, help="begin nothing after this")
    recording.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    recording.set_defaults(do=record_all)
    for name, do in (("try", try_constants), ("search", search_constants)):
        trying = what.add_parser(name)
        trying.add_argument("--records", type=Path, required=True)
        trying.add_argument("--only", nargs="+", help="stresses")
        trying.add_argument("--tries", type=int, default=40)
        trying.add_argument("--seed", type=int, default=0)
        trying.set_defaults(do=do)
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
