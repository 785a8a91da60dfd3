"""Rates by other packages, in an environment of their own: worlds in, estimates out, as JSON lines.

    python -m venv rivals && rivals/bin/pip install cje-eval judgy
    rivals/bin/python benchmarks/systems/rivals.py < worlds.jsonl > estimates.jsonl

A world has ``system``, ``item``, ``judge`` (the mean verdict) and ``label`` (null where nobody
looked) of each row. An estimate has the value and both ends of the interval of each system.
"""

import json
import logging
import sys
import warnings
from collections import defaultdict


def run_cje(world):
    """cje-eval: calibrated on all labels, one policy for each system."""
    import cje

    draws = defaultdict(list)
    for system, item, judge, label in zip(*(world[name] for name in NAMES), strict=True):
        row = {"prompt_id": str(item), "judge_score": judge, "oracle_label": label}
        draws[f"s{system}"].append(row)
    found = cje.analyze_dataset(fresh_draws_data=dict(draws))
    low, high = zip(*found.ci(), strict=True)
    order = [found.metadata["target_policies"].index(f"s{s}") for s in sorted(set(world["system"]))]
    take = lambda values: [float(values[at]) for at in order]  # noqa: E731
    return take(found.estimates), take(low), take(high)


def run_judgy(world):
    """judgy: each system alone, the mean verdict rounded to pass or fail."""
    import judgy

    found = []
    for system in sorted(set(world["system"])):
        rows = [
            row for row in zip(*(world[name] for name in NAMES), strict=True) if row[0] == system
        ]
        known = [(row[3], int(row[2] >= 0.5)) for row in rows if row[3] is not None]
        others = [int(row[2] >= 0.5) for row in rows if row[3] is None]
        try:
            labels, said = zip(*known, strict=True)
            found.append(judgy.estimate_success_rate(labels, said, others, 2000))
        except (ValueError, RuntimeError):
            found.append((None, None, None))
    return tuple(list(column) for column in zip(*found, strict=True))


NAMES = ("system", "item", "judge", "label")
METHODS = {"cje-eval": run_cje, "judgy": run_judgy}


def main():
    """Estimate every world that comes in."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for line in sys.stdin:
        world, found = json.loads(line), {}
        for name, run in METHODS.items():
            try:
                found[name] = run(world)
            except Exception as error:  # a rival that fails is counted, not hidden
                found[name] = str(error)[:200]
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
