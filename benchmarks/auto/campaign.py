"""All studies of ``auto`` in one go, the most important first, within a given time.

1. development sets (`study`), 25 runs;
2. stresses and simulated worlds (`stress`) on runs from 4 on, which nothing was tuned on;
3. the stresses of `unseen`, written before anything was tuned;
4. the further sets of `extra_sets`, 6 runs;
5. many labels, 25 runs; constants left out (`nested`), 10 runs; ablations.

Within a study all sets and stresses have their first run before any has its second. What is not
begun when the time is up is left out, and what is done is written. Doubts that were raised are
counted beside (auto_doubts.csv): on ordinary sets they are false alarms.

    python -m benchmarks.auto.campaign --workers 15 --minutes 8 --extra extra
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.auto import ablations, nested, stress, study, unseen
from benchmarks.auto.made_worlds import WORLDS
from benchmarks.auto.priors import SETS
from benchmarks.auto.study import TORTURE, Variant, study_arguments, write

SHIPPED = {"auto": Variant()}
SEEN_RUNS, SEEN_MADE_RUNS = range(4, 8), range(6, 14)
"""Runs of the stresses, and of the simulated worlds, that nothing was tuned on."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Stage:
    """A study: what computes the rows of a job, its jobs, and what makes results of the rows."""

    name: str
    measure: Callable[[Any], Rows]
    jobs: list[Any]
    finish: Callable[[pd.DataFrame], object]


def stages(args: Any) -> list[Stage]:
    extra = sorted(map(str, args.extra.glob("*.npz"))) if args.extra else []
    labels = [20, 50, 100]
    every = [*SETS, TORTURE]
    seen, kept = [*stress.STRESSES, *WORLDS], [*stress.UNSEEN, *unseen.UNSEEN_WORLDS]
    altered = (labels, SEEN_RUNS, SEEN_MADE_RUNS)
    changed = product(SETS, ablations.CHANGES, [20, 100], SEEN_RUNS[:2])
    return [
        Stage("development", study.measure, _splits(every, labels, args.runs), _tables("auto")),
        Stage("stress", stress.measure, stress.all_jobs(seen, *altered), _stress("auto_stress")),
        Stage(
            "unseen", stress.measure, stress.all_jobs(kept, *altered), _stress("auto_stress_unseen")
        ),
        Stage("further", study.measure, _splits(extra, labels, 6), _tables("auto_further")),
        Stage(
            "consistency",
            study.measure,
            _splits(every, [300, 1000], args.runs),
            _tables("auto_consistency"),
        ),
        Stage(
            "nested",
            nested.judge,
            nested.jobs(labels, range(min(args.runs, 10))),
            nested.write_tables,
        ),
        Stage("ablations", ablations.measure, list(changed), _ablations),
    ]


def by_run(stage: Stage) -> list[Any]:
    """The jobs of a stage, first runs first."""
    position = 2 if stage.name == "nested" else 3
    return sorted(stage.jobs, key=lambda job: int(job[position]))


def _splits(names: list[str], labels: list[int], runs: int) -> list[Any]:
    return [(name, n, 1000, run, SHIPPED) for name, n, run in product(names, labels, range(runs))]


def _tables(name: str) -> Callable[[pd.DataFrame], object]:
    def finish(frame: pd.DataFrame) -> None:
        cells = study.rmae(frame)
        write(f"{name}_rmae", cells)
        write(f"{name}_overall", study.overall(cells))
        write(f"{name}_coverage", study.coverage(frame))
        write(f"{name}_pairs", study.pairs(frame))
        write(f"{name}_decisions", study.decisions(frame))
        write(f"{name}_doubts", study.doubts(frame))

    return finish


def _stress(name: str) -> Callable[[pd.DataFrame], object]:
    def finish(frame: pd.DataFrame) -> None:
        write(name, study.by_variant(frame, "stress"))
        write(f"{name}_sets", study.by_variant_and_set(frame, "stress"))
        write(f"{name}_doubts", study.doubts(frame))

    return finish


def _ablations(frame: pd.DataFrame) -> None:
    write("auto_ablations", study.by_variant(frame, "change"))


def begin(stage: str, measure: Callable[[Any], Rows], job: Any, end: float) -> Rows | None:
    """The rows of a job, None where the time is up; a job that fails is told and left out."""
    if time.time() > end:
        return None
    try:
        return measure(job)
    except Exception as error:
        print(f"{stage}, {job[:4]}: {error!r}", flush=True)
        return None


def main() -> None:
    parser = study_arguments(__doc__, runs=25, labels=[20, 50, 100])
    parser.add_argument("--minutes", type=float, default=60.0, help="begin nothing after this")
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    parser.add_argument("--only", nargs="+", help="names of stages")
    args = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    start = time.time()
    end = start + 60.0 * args.minutes
    wanted = [stage for stage in stages(args) if not args.only or stage.name in args.only]
    with ProcessPoolExecutor(args.workers) as pool:
        waiting: dict[Future[Rows | None], Stage] = {}
        for stage in wanted:
            for job in by_run(stage):
                waiting[pool.submit(begin, stage.name, stage.measure, job, end)] = stage
        left = {stage.name: len(stage.jobs) for stage in wanted}
        done: dict[str, list[Rows]] = {stage.name: [] for stage in wanted}
        for future in as_completed(waiting):
            stage, rows = waiting[future], future.result()
            left[stage.name] -= 1
            if rows is not None:
                done[stage.name].append(rows)
            if left[stage.name] == 0 and done[stage.name]:
                size = len(done[stage.name])
                frame = pd.DataFrame(list(chain.from_iterable(done.pop(stage.name))))
                try:
                    stage.finish(frame)
                except (ValueError, KeyError) as error:  # too few jobs were begun
                    print(f"{stage.name}: {error!r}", flush=True)
                seconds = time.time() - start
                print(f"{stage.name}: {size} of {len(stage.jobs)}, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
