"""Run experiments, and write REPORT.md after all of them.

    python -m benchmarks.accuracy main_tables --runs 50
    python -m benchmarks.accuracy --workers 15 --minutes 9 --runs all_sets=20 subgroups=10

Without a name, all but ``quick`` are run. Stops when the time is up; called again, it goes on. With
``--minutes 0`` nothing is computed: the results of every experiment whose cells are all there are
written. An experiment that lacks its data is left out and named at the end.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import experiment, report
from benchmarks.accuracy import load_experiments
from benchmarks.studies import UnfinishedError
from ssme.errors import InputError


def parse_arguments() -> argparse.Namespace:
    about = "\n".join(f"  {name:<20} {each.title}" for name, each in load_experiments().items())
    parser = argparse.ArgumentParser(
        epilog=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments (default: all)")
    parser.add_argument("--runs", nargs="+", default=[], metavar="N", help="splits, or NAME=N")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin nothing after")
    parser.add_argument("--sets", nargs="*", default=(), help="these data sets only")
    parser.add_argument("--labels", nargs="*", type=int, default=(), help="these numbers of labels")
    parser.add_argument("--only", nargs="*", default=(), help="these methods, readings or metrics")
    parser.add_argument("--out", type=Path, help="folder for the results, their figures and cells")
    experiment.add_places(parser)
    args = parser.parse_args()
    for name in set(args.names) - set(load_experiments()):
        parser.error(f"there is no experiment {name!r}")
    return args


def parse_runs(told: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """``["5", "all_sets=20"]`` as the number of runs by name: 20, and 5 of the others."""
    runs: dict[str, int] = {}
    for each in told:
        name, _, number = each.rpartition("=")
        if not number.isdigit() or (name and name not in names):
            raise SystemExit(f"--runs {each}: N or NAME=N, NAME one of {', '.join(names)}")
        runs = {**runs, name: int(number)} if name else dict.fromkeys(names, int(number)) | runs
    return runs


def try_experiment(setup: experiment.Setup) -> str:
    """Run one experiment; why it was left out, if it was."""
    chosen = load_experiments()[setup.name]
    print(f"\n{setup.name}: {chosen.title}", flush=True)
    try:
        chosen.run(setup)
    except (UnfinishedError, InputError) as reason:
        return str(reason)
    return ""


def main() -> None:
    args, experiments = parse_arguments(), load_experiments()
    if args.out is not None:
        experiment.RESULTS = experiment.FIGURES = experiment.CACHE = args.out
    names = args.names or [name for name in experiments if name != "quick"]
    end, runs, left_out = time.monotonic() + 60 * args.minutes, parse_runs(args.runs, names), {}
    with experiment.open_places(args) as executor:
        for name in names:
            setup = experiment.Setup(name, runs.get(name, experiments[name].runs), executor, end)
            setup.sets, setup.labels, setup.only = map(tuple, (args.sets, args.labels, args.only))
            left_out[name] = try_experiment(setup)
    if not args.names and args.out is None:
        report.main()
    for name, reason in left_out.items():
        if reason:
            print(f"left out: {name}: {reason}")
    raise SystemExit(int(any(left_out.values())))


if __name__ == "__main__":
    main()
