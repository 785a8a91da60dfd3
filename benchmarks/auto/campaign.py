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

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.auto import ablations, nested, stress, study, unseen
from benchmarks.auto.made_worlds import WORLDS
from benchmarks.auto.priors import SETS
from benchmarks.auto.study import TORTURE, compute, plan_study, study_arguments, write
from ssme.bench import Study

SHIPPED: study.Methods = {"auto": {}}
SEEN_RUNS, SEEN_MADE_RUNS = range(4, 8), range(6, 14)
"""Runs of the stresses, and of the simulated worlds, that nothing was tuned on."""


@dataclass(frozen=True)
class Stage:
    """Studies that belong together, and what makes results of their rows."""

    name: str
    studies: list[Study]
    finish: Callable[[pd.DataFrame], object]


def stages(args: Any) -> list[Stage]:
    extra = sorted(map(str, args.extra.glob("*.npz"))) if args.extra else []
    labels = [20, 50, 100]
    every, runs = [*SETS, TORTURE], range(args.runs)
    seen, kept = [*stress.STRESSES, *WORLDS], [*stress.UNSEEN, *unseen.UNSEEN_WORLDS]
    altered = (labels, SEEN_RUNS, SEEN_MADE_RUNS)
    further = [plan_study(SHIPPED, extra, labels, range(6))] if extra else []
    return [
        Stage("development", [plan_study(SHIPPED, every, labels, runs)], _tables("auto")),
        Stage("stress", stress.plan(seen, *altered), _stress("auto_stress")),
        Stage("unseen", stress.plan(kept, *altered), _stress("auto_stress_unseen")),
        Stage("further", further, _tables("auto_further")),
        Stage(
            "consistency",
            [plan_study(SHIPPED, every, [300, 1000], runs)],
            _tables("auto_consistency"),
        ),
        Stage("nested", nested.plan(labels, range(min(args.runs, 10))), nested.write_tables),
        Stage("ablations", ablations.plan([20, 100], SEEN_RUNS[:2]), ablations.write_table),
    ]


def _tables(name: str) -> Callable[[pd.DataFrame], object]:
    def finish(frame: pd.DataFrame) -> None:
        cells = study.rmae(frame)
        write(f"{name}_rmae", cells)
        write(f"{name}_overall", study.overall(cells))
        write(f"{name}_coverage", study.coverage(frame))
        write(f"{name}_pairs", study.pairs(frame))
        write(f"{name}_decisions", study.decisions(frame))
        write(f"{name}_decisions_by_metric", study.decisions_by_metric(frame))
        write(f"{name}_doubts", study.doubts(frame))

    return finish


def _stress(name: str) -> Callable[[pd.DataFrame], object]:
    def finish(frame: pd.DataFrame) -> None:
        write(name, study.by_variant(frame, "stress"))
        write(f"{name}_sets", study.by_variant_and_set(frame, "stress"))
        write(f"{name}_doubts", study.doubts(frame))

    return finish


def main() -> None:
    parser = study_arguments(__doc__, runs=25, labels=[20, 50, 100])
    parser.add_argument("--minutes", type=float, default=60.0, help="begin nothing after this")
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    parser.add_argument("--only", nargs="+", help="names of stages")
    args = parser.parse_args()
    start = time.monotonic()
    end = start + 60.0 * args.minutes
    for stage in stages(args):
        if not stage.studies or (args.only and stage.name not in args.only):
            continue
        left = max(0.0, end - time.monotonic())
        frame = compute(stage.studies, f"auto_{stage.name}", args.workers, left, leave_out=True)
        try:
            stage.finish(frame)
        except (ValueError, KeyError) as error:  # too few cells were begun
            print(f"{stage.name}: {error!r}", flush=True)
        print(f"{stage.name}: {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
