"""Figure S2: more unlabeled rows, more classifiers, better classifiers.

Synthetic sets as in the paper's appendix: scores normal given the label, separations N(c, 0.2) and
at least 0.01, 20 labels; n_u in 50..2000, d in 2..10, c in 0.75..1.5. Beside the Gaussian case, a
heavy-tailed one (Student t, 3 degrees of freedom) that breaks the theory's assumption.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit

from benchmarks.experiment import arguments, lines, run, save
from ssme.bench import Protocol, summarize
from ssme.data.scoreset import ScoreSet
from ssme.data.synthetic import separations

BASE = {"n_u": 1000, "d": 4, "c": 1.0}
GRID = {
    "n_u": [50, 100, 250, 500, 1000, 2000],
    "d": [2, 4, 6, 8, 10],
    "c": [0.75, 1.0, 1.25, 1.5],
}
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "labeled": ("labeled", {}),
    "ensemble": ("ensemble", {}),
    "ssme": ("ssme", {"n_bootstrap": 0}),
    "auto": ("auto", {}),
}
TRUTH_ROWS = 20_000


def load(name: str) -> ScoreSet:
    """``name`` is "noise/d/c/seed": one synthetic set with its own separations."""
    noise, d, c, seed = name.split("/")
    rng = np.random.default_rng([int(seed), int(d), int(100 * float(c)), len(noise)])
    separation = separations(int(d), float(c), rng)
    y = rng.integers(0, 2, TRUTH_ROWS)
    shape = (TRUTH_ROWS, int(d))
    spread = rng.standard_normal(shape) if noise == "normal" else rng.standard_t(3, shape)
    logit = separation * (spread + y[:, None] * separation) - separation**2 / 2
    return ScoreSet.from_arrays(expit(logit), y)


def main() -> None:
    args = arguments(__doc__, runs=20)
    parts = []
    for noise in ("normal", "student"):
        for axis, values in GRID.items():
            for value in values:
                setting = {**BASE, axis: value}
                names = [f"{noise}/{setting['d']}/{setting['c']}/{s}" for s in range(args.runs)]
                protocol = Protocol(
                    METHODS,
                    metrics=("accuracy", "roc_auc"),
                    n_labeled=(20,),
                    n_unlabeled=(setting["n_u"],),
                    runs=1,
                )
                table = run(f"trend_{noise}_{axis}_{value}", protocol, names, args, load)
                table["dataset"], table["run"] = noise, table["dataset"].str.split("/").str[-1]
                parts.append(summarize(table).assign(axis=axis, value=value, noise=noise))
    columns = ["noise", "axis", "value", "metric", "method", "mae", "ci95", "rmae", "coverage"]
    save("synthetic_trends", pd.concat(parts)[columns], args, figure)


def figure(frame: pd.DataFrame) -> Any:
    import altair as alt

    panels = []
    for noise in ("normal", "student"):
        row = []
        for axis in GRID:
            part = frame[(frame["axis"] == axis) & (frame["noise"] == noise)]
            part = part[part["metric"] == "accuracy"]
            row.append(
                lines(part, "value:O", "mae:Q", "method").properties(title=f"{noise}, {axis}")
            )
        panels.append(alt.hconcat(*row))
    return alt.vconcat(*panels)


if __name__ == "__main__":
    main()
