"""What a fit of ``auto`` says of a task before its regimes are weighed, recorded for `tuning`.

A task is a stress, a set, a number of labels and a run: a cell of the protocol engine, whose one
row holds the packed `Record`. Finished tasks are kept, so that a recording that was stopped goes
on. Runs 0 to 9 of the development sets, 0 to 3 of the stresses, 0 to 5 of the simulated worlds and
0 and 1 of the further sets are used: later runs, and the stresses of `unseen`, are left for the
end.
"""

from __future__ import annotations

import base64
import pickle
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.auto.made_worlds import WORLDS
from benchmarks.auto.priors import SETS
from benchmarks.auto.stress import STRESSES, StressScene, find_stress, load_world
from benchmarks.auto.study import TRUTH_ROWS
from benchmarks.experiment import Loader
from benchmarks.studies import Protocol, Runner, Study, Trial
from ssme.arrays import FloatArray
from ssme.methods.auto.belief import RowGroup
from ssme.methods.auto.constants import Constants
from ssme.methods.auto.method import believe, draw_regime, situate
from ssme.methods.auto.pool import TemperaturePrior
from ssme.methods.auto.regimes import (
    fit_regimes,
    log_conflict_density,
    log_correlation_density,
)
from ssme.methods.estimators.labeled import Labeled
from ssme.metrics import default_metrics, get_metric
from ssme.metrics.base import one_hot_mass

LABELS = (20, 50, 100)
PLAIN, FURTHER = "as they are", "further"
LEFT_OUT = (PLAIN, "3,000 unlabeled rows", "200 unlabeled rows")
RUNS, STRESS_RUNS, MADE_RUNS, FURTHER_RUNS = range(10), range(4), range(6), range(2)
DRAWS, USUAL_DRAWS = 60, 140
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
    usual_prior: TemperaturePrior
    resampled: list[Any]
    parts: list[Part]


@dataclass(frozen=True)
class Seen:
    """What the densities of a `Situation` ask for."""

    conflict: float | None
    correlation: float
    usual_prior: TemperaturePrior
    constants: Constants


def weigh_scores(name: str, record: Record, constants: Constants) -> float:
    """log E_r of a regime by the densities that ``constants`` say."""
    seen: Any = Seen(record.conflict, record.correlation, record.usual_prior, constants)
    if name == "added":
        return log_correlation_density(seen, True) - float(
            np.log(2.5 * constants.regimes.distorted_conflict)
        )
    return log_conflict_density(seen, name == "distorted") + log_correlation_density(seen, False)


def make_record(trial: Trial, stress: str, constants: Constants) -> Record:
    """All regimes on one task."""
    seen, held = trial.seen, trial.held
    metrics = [get_metric(name) for name in default_metrics(seen.n_classes)]
    mass = one_hot_mass(held.labels, held.n_classes)
    rng = np.random.default_rng(trial.run)
    alone = Labeled().fit(seen, np.random.default_rng(trial.run)).estimate(metrics, [None])[0]
    situation = situate(seen, constants, rng)
    fitted = fit_regimes(situation)
    regimes = tuple(
        draw_regime(fit, 1.0, USUAL_DRAWS if fit.name == "usual" else DRAWS, situation, rng)
        for fit in fitted
    )
    belief = replace(believe(seen, regimes, situation, rng), recenter=lambda m, v, draws, *_: draws)
    every = np.arange(seen.n_rows)
    estimates = belief.estimate_by_regime(metrics, every)
    labeled = every[seen.labeled]
    group = RowGroup(seen, metrics, 0, every, labeled, every, labeled)
    record = Record(
        (stress, trial.dataset, trial.n_labeled, trial.run),
        [metric.name for metric in metrics],
        np.array([metric(held.scores, mass)[0] for metric in metrics]),
        np.array([[each.value, *each.interval()] for each in alone]),
        situation.conflict,
        situation.correlation,
        situation.summary.n_effective,
        seen.n_classes,
        situation.answers_only,
        situation.usual_prior,
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


def pack_record(trial: Trial, stress: str) -> list[dict[str, Any]]:
    """What a cell keeps: the record by the shipped constants, as text."""
    packed = zlib.compress(pickle.dumps(make_record(trial, stress, Constants())), 6)
    return [{"record": base64.b85encode(packed).decode()}]


def plan_records(files: Sequence[str]) -> list[Study]:
    """All tasks; ``files`` are the further sets."""
    tasks: list[tuple[str, Sequence[str], range]] = [
        (PLAIN, SETS, RUNS),
        (FURTHER, [Path(file).stem for file in files], FURTHER_RUNS),
        *((name, SETS, STRESS_RUNS) for name in STRESSES if name not in LEFT_OUT),
        *((name, (name,), MADE_RUNS) for name in WORLDS),
    ]
    return [
        Study(
            Runner(
                Protocol(
                    {stress: (pack_record, {"stress": stress})},
                    n_labeled=LABELS,
                    n_unlabeled=(find_stress(stress).n_unlabeled,),
                    runs=len(runs),
                    first_run=runs.start,
                    truth_rows=TRUTH_ROWS,
                    fewer_unlabeled=True,
                ),
                load_world if stress in WORLDS else Loader(tuple(files)),
                scene=StressScene(stress),
            ),
            tuple(sets),
        )
        for stress, sets, runs in tasks
        if sets
    ]


def write_records(folder: Path, records: Iterable[str]) -> None:
    """Files ``records_0.pkl``, ... of bounded size."""
    folder.mkdir(parents=True, exist_ok=True)
    parts: list[list[bytes]] = [[]]
    for one in map(base64.b85decode, records):
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
    return pickle.loads(path.read_bytes())
