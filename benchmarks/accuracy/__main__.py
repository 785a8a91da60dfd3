"""Run one experiment, or list them all: ``python -m benchmarks.accuracy main_tables --runs 50``."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import experiment
from benchmarks.accuracy import load_experiments


def main() -> None:
    experiments = load_experiments()
    about = "\n".join(f"  {name:<20} {each.title}" for name, each in experiments.items())
    parser = argparse.ArgumentParser(
        epilog=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=experiments, metavar="NAME")
    parser.add_argument("--runs", type=int, help="random splits (default: its own number)")
    parser.add_argument("--sets", nargs="*", default=(), help="these data sets only")
    parser.add_argument("--labels", nargs="*", type=int, default=(), help="these numbers of labels")
    parser.add_argument("--only", nargs="*", default=(), help="these methods, readings or metrics")
    parser.add_argument("--out", type=Path, help="folder for the results, their figures and cells")
    experiment.add_places(parser)
    args = parser.parse_args()
    if args.out is not None:
        experiment.RESULTS = experiment.FIGURES = experiment.CACHE = args.out
    chosen = experiments[args.name]
    with experiment.open_places(args) as executor:
        setup = experiment.Setup(args.name, args.runs or chosen.runs, executor)
        setup.sets, setup.labels, setup.only = map(tuple, (args.sets, args.labels, args.only))
        chosen.run(setup)


if __name__ == "__main__":
    main()
