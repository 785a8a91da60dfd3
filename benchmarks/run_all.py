"""Every experiment, the most important first, then REPORT.md.

    python -m benchmarks.run_all --workers 15 --minutes 9 --runs all_sets=20 subgroups=10

Stops when the time is up; called again, it goes on. With ``--minutes 0`` nothing is computed: the
results of every experiment whose cells are all there are written. An experiment that lacks its data
is left out and told at the end.
"""

from __future__ import annotations

import argparse
import math
import time
from concurrent.futures import Executor

from benchmarks import report
from benchmarks.accuracy import load_experiments
from benchmarks.experiment import Setup, add_places, open_places
from benchmarks.studies import UnfinishedError
from ssme.errors import InputError

EXPERIMENTS = (
    "main_tables",
    "ssme_paper",
    "per_classifier",
    "ground_truth",
    "bounds",
    "own_kernel",
    "llm",
    "ess",
    "rivals_paper",
    "rivals_causes",
    "vote_rules",
    "dependencies",
    "all_sets",
    "theory",
    "subgroups",
    "synthetic_trends",
    "classifiers",
    "bandwidths",
    "kernels",
    "initialization",
    "presets",
    "bandwidth_steps",
    "flow_readings",
    "flow_plain",
    "cost",
    "ensembling",
)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="begin nothing after (default: no limit)"
    )
    parser.add_argument(
        "--runs", nargs="+", default=[], metavar="NAME=N", help="other numbers of runs"
    )
    parser.add_argument(
        "--only", nargs="+", default=EXPERIMENTS, choices=EXPERIMENTS, metavar="NAME"
    )
    parser.add_argument("--no-report", action="store_true", help="write results only")
    add_places(parser)
    return parser.parse_args()


def parse_runs(told: list[str]) -> dict[str, int]:
    """``["all_sets=20"]`` as {"all_sets": 20}."""
    runs = {}
    for each in told:
        name, _, number = each.partition("=")
        if name not in EXPERIMENTS or not number.isdigit():
            raise SystemExit(f"--runs {each}: NAME=N, NAME one of {', '.join(EXPERIMENTS)}")
        runs[name] = int(number)
    return runs


def try_experiment(name: str, runs: int | None, executor: Executor, end: float) -> str:
    """Run one experiment; why it was left out, if it was."""
    chosen = load_experiments()[name]
    print(f"\n{name}: {chosen.title}", flush=True)
    try:
        chosen.run(Setup(name, runs or chosen.runs, executor, end))
    except (UnfinishedError, InputError) as reason:
        print(f"{name} left out: {reason}", flush=True)
        return str(reason)
    return ""


def main() -> None:
    args = parse_arguments()
    end, runs = time.monotonic() + 60 * args.minutes, parse_runs(args.runs)
    with open_places(args) as executor:
        left_out = {name: try_experiment(name, runs.get(name), executor, end) for name in args.only}
    if not args.no_report:
        report.main()
    left_out = {name: reason for name, reason in left_out.items() if reason}
    for name, reason in left_out.items():
        print(f"left out: {name}: {reason}")
    raise SystemExit(1 if left_out else 0)


if __name__ == "__main__":
    main()
