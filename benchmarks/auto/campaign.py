"""All studies of ``auto`` in one go, the most important first, within a given time.

1. development sets (`study`), 25 runs;
2. stresses and simulated worlds (`stress`), up to 25 runs from 4 on (worlds: from 6 on), which
   nothing was tuned on;
3. the stresses of `unseen`, written before anything was tuned, likewise;
4. the further sets of `extra_sets`, up to 25 runs;
5. many labels and constants left out (`nested`), 25 runs; ablations.

Within a study all sets and stresses have their first run before any has its second. A stage has the
share of the time left that `Stage.share` says, so that none starves those after it, and leaves what
it does not need to them. What is not begun when its time is up is left out, and what is done is
written. Warnings that were raised are counted in auto_warnings.csv: on ordinary sets they are
false alarms. Where both kinds of sets were computed, auto_decisions_together.csv holds P(better)
and P(best) over all of them.

    python -m benchmarks.auto.campaign --workers 15 --minutes 8 --extra extra
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.auto import ablations, nested, stress, study, unseen
from benchmarks.auto.decisions import summarize_together
from benchmarks.auto.made_worlds import WORLDS
from benchmarks.auto.priors import SETS, TORTURE
from benchmarks.auto.study import compute, make_parser, plan_study, write
from benchmarks.studies import Study, StudyTables

SHIPPED: study.Methods = {"auto": {}}
SEEN_RUNS, SEEN_MADE_RUNS = range(4, 29), range(6, 31)
"""Runs of the stresses, and of the simulated worlds, that nothing was tuned on."""
FURTHER_RUNS = range(25)


@dataclass(frozen=True)
class Stage:
    """Studies that belong together, what makes results of their rows, and their share of time."""

    name: str
    studies: list[Study]
    tables: Callable[[pd.DataFrame], dict[str, pd.DataFrame]]
    share: float


def list_stages(args: Any) -> list[Stage]:
    extra = sorted(map(str, args.extra.glob("*.npz"))) if args.extra else []
    labels = args.labels
    every, runs = [*SETS, TORTURE], range(args.runs)
    seen, kept = [*stress.STRESSES, *WORLDS], [*stress.UNSEEN, *unseen.UNSEEN_WORLDS]
    stressed = "auto_stress_some" if args.stresses else "auto_stress"
    altered = (labels, SEEN_RUNS, SEEN_MADE_RUNS)
    further = [plan_study(SHIPPED, extra, labels, FURTHER_RUNS)] if extra else []
    many = plan_study(SHIPPED, every, [300, 1000], runs)
    left_out = nested.plan(labels, range(args.runs))
    return [
        Stage(
            "development", [plan_study(SHIPPED, every, labels, runs)], _choose_tables("auto"), 0.10
        ),
        Stage(
            "stress",
            stress.plan(args.stresses or seen, *altered),
            _choose_stress_tables(stressed),
            0.42,
        ),
        Stage(
            "unseen", stress.plan(kept, *altered), _choose_stress_tables("auto_stress_unseen"), 0.27
        ),
        Stage("further", further, _choose_tables("auto_further"), 0.08),
        Stage("consistency", [many], _choose_tables("auto_consistency"), 0.06),
        Stage("nested", left_out, nested.make_tables, 0.04),
        Stage("ablations", ablations.plan([20, 100], SEEN_RUNS[:2]), ablations.make_tables, 0.03),
    ]


def allot_time(asked: Sequence[Stage], left: float) -> float:
    """Seconds of those ``left`` for the first of the stages that are still to come."""
    return max(0.0, left) * asked[0].share / sum(stage.share for stage in asked)


def _choose_tables(name: str) -> Callable[[pd.DataFrame], dict[str, pd.DataFrame]]:
    return partial(study.make_tables, name=name)


def _choose_stress_tables(name: str) -> Callable[[pd.DataFrame], dict[str, pd.DataFrame]]:
    return lambda frame: {
        name: study.summarize_by_variant(frame, "stress"),
        f"{name}_sets": study.summarize_by_variant_and_set(frame, "stress"),
        f"{name}_warnings": study.count_warnings(frame),
    }


def main() -> None:
    parser = make_parser(__doc__, runs=25, labels=[20, 50, 100])
    parser.add_argument("--minutes", type=float, default=60.0, help="begin nothing after this")
    parser.add_argument("--extra", type=Path, help="folder with the sets of extra_sets.py")
    parser.add_argument("--only", nargs="+", help="names of stages")
    parser.add_argument("--stresses", nargs="+", help="some of them, into auto_stress_some.csv")
    args = parser.parse_args()
    asked = [stage for stage in list_stages(args) if stage.studies]
    asked = [stage for stage in asked if not args.only or stage.name in args.only]
    start = time.monotonic()
    end = start + 60.0 * args.minutes
    found: dict[str, StudyTables] = {}
    for i, stage in enumerate(asked):
        seconds = allot_time(asked[i:], end - time.monotonic())
        name = f"auto_{stage.name}"
        rows, times = compute(stage.studies, name, args.workers, seconds, leave_out=True)
        found[stage.name] = StudyTables(rows, times)
        try:
            write(stage.tables(rows), times)
        except (ValueError, KeyError) as error:  # too few cells were begun
            print(f"{stage.name}: {error!r}", flush=True)
        print(f"{stage.name}: {time.monotonic() - start:.0f} s", flush=True)
    both = [found[name] for name in ("development", "further") if name in found]
    if len(both) == 2 and not any(tables.rows.empty for tables in both):
        table = summarize_together(*(tables.rows for tables in both))
        write({"auto_decisions_together": table}, pd.concat([tables.times for tables in both]))


if __name__ == "__main__":
    main()
