"""How the models err together, from few labels, against labels alone.

    python -m benchmarks.decide.monoculture --runs 10

writes benchmarks/results/decide_monoculture.csv: per set, number of labels and figure (share of
rows that all get wrong, majority vote, mean correlation of errors, effective number of independent
models, joint errors of pairs), the mean absolute error of `auto` and of labels alone, their ratio,
and the coverage of both 95% intervals. "one more, left out" (with 50 labels) foretells a model
that was left out from the others, against the truth with it.

Runs 0 to 4 were looked at while the constant of `ssme.results.together` was chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.decide.common import evaluate_seen, start_study
from benchmarks.studies import Trial
from ssme.data.scoreset import ScoreSet
from ssme.results.together import Figure, SetProfile
from ssme.run import evaluate

FIGURES = ("all_wrong", "all_right", "vote", "correlation", "effective_number")


def compute_known_profile(held: ScoreSet) -> SetProfile:
    """The profile where every label is known."""
    return evaluate(held, method="labeled", metrics="accuracy", by=[], n_draws=2).set_profile()


def compute(trial: Trial) -> list[dict[str, Any]]:
    seen, held = trial.seen, trial.held
    ours = evaluate_seen(seen, trial, "auto", "accuracy").set_profile()
    true = compute_known_profile(held)
    rows = [_make_row(name, getattr(ours, name), getattr(true, name)) for name in FIGURES]
    for mine, exact in zip(ours.pairs, true.pairs, strict=True):
        rows.append(_make_row("both_wrong of pairs", mine.both_wrong, exact.both_wrong))
        rows.append(_make_row("correlation of pairs", mine.correlation, exact.correlation))
    if seen.n_models > 3 and trial.n_labeled == 50:
        out = trial.run % seen.n_models
        kept = [name for j, name in enumerate(seen.models) if j != out]
        fewer = seen.replace(scores=np.delete(seen.scores, out, axis=1), models=tuple(kept))
        told = evaluate_seen(fewer, trial, "auto", "accuracy").set_profile()
        rows.append(_make_row("one more, left out", told.with_one_more, true.all_wrong))
    return rows


def _make_row(name: str, mine: Figure, exact: Figure) -> dict[str, Any]:
    truth = exact.estimate
    return {
        "figure": name,
        "truth": truth,
        "error": abs(mine.estimate - truth),
        "labels_error": abs(mine.labels_only - truth),
        "covered": float(mine.low <= truth <= mine.high),
        "labels_covered": float(mine.labels_only_low <= truth <= mine.labels_only_high),
    }


def summarize(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    both = pd.concat([frame.assign(dataset="all"), frame])
    table = both.groupby(["figure", "n_labeled", "dataset"], as_index=False)[
        ["truth", "error", "labels_error", "covered", "labels_covered"]
    ].mean()
    table.insert(6, "ratio", table["error"] / table["labels_error"])
    return {"decide_monoculture": table}


if __name__ == "__main__":
    start_study("decide_monoculture", __doc__, compute, summarize, labels=(20, 50, 100), runs=10)
