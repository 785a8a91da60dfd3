"""P(better) and P(best) as they are said, in bins, against how often it is so.

The best of a set is the same in every run, so that runs of one set are right or wrong together, and
more runs make the bins of few sets no surer: standard errors come from leaving out one set at a
time, and `summarize_together` puts development sets and further ones side by side.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd

from benchmarks.auto.priors import TORTURE
from ssme.arrays import FloatArray
from ssme.methods.base import Estimate
from ssme.results.comparison import compute_probability_best, compute_probability_better

BINS = {
    "better": (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0),
    "best": (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0),
}
"""Edges of the bins of probabilities that are said."""


def sum_decisions(ours: Estimate, truth: FloatArray, lowest: bool) -> dict[str, float]:
    """Sums over bins of P(better) and P(best): cases, what was said, what is so.

    The best has the highest value, or the ``lowest``; those that are tied share it.
    """
    if truth.size < 2:
        return {}
    first, second = np.triu_indices(truth.size, 1)
    better = compute_probability_better(ours, True)[first, second]
    is_so = np.where(better >= 0.5, truth[first] > truth[second], truth[first] < truth[second])
    leads = compute_probability_best(ours, not lowest)
    leader = _divide_lead(-truth[None] if lowest else truth[None])[0]
    out = {}
    for kind, said, so in (
        ("better", np.maximum(better, 1.0 - better), is_so),
        ("best", leads, leader),
    ):
        place = np.clip(np.searchsorted(BINS[kind], said, side="right") - 1, 0, len(BINS[kind]) - 2)
        for b in range(len(BINS[kind]) - 1):
            inside = place == b
            sums = {"cases": inside.sum(), "said": said[inside].sum(), "so": so[inside].sum()}
            out |= {f"{kind} {b} {name}": float(value) for name, value in sums.items()}
    return out


def _divide_lead(values: FloatArray) -> FloatArray:
    """Who has the highest value (D, M) of each row; ties are shared."""
    first = values == values.max(axis=1, keepdims=True)
    return first / first.sum(axis=1, keepdims=True)


def summarize_decisions(frame: pd.DataFrame) -> pd.DataFrame:
    """Said and so of P(better) and P(best) by bin, over the development sets.

    ``se`` is the standard error of said minus so, by leaving out one set at a time.
    """
    development = frame[frame["dataset"] != TORTURE]
    rows = []
    for (variant, n_labeled), part in development.groupby(["variant", "n_labeled"]):
        sets = part.groupby("dataset").sum(numeric_only=True)
        for kind, edges in BINS.items():
            for b, (low, high) in enumerate(pairwise(edges)):
                each = sets[[f"{kind} {b} {of}" for of in ("cases", "said", "so")]].to_numpy()
                cases, said, so = each.sum(axis=0)
                without = each.sum(axis=0) - each
                off = (without[:, 1] - without[:, 2]) / np.maximum(without[:, 0], 1.0)
                se = np.sqrt((len(each) - 1) * np.var(off))
                rows.append((variant, n_labeled, kind, low, high, int(cases), said, so, se))
    head = ["variant", "n_labeled", "kind", "low", "high", "cases", "said", "so", "se"]
    out = pd.DataFrame(rows, columns=head)
    return out.assign(said=out["said"] / out["cases"], so=out["so"] / out["cases"])


def summarize_together(*frames: pd.DataFrame) -> pd.DataFrame:
    """As `summarize_decisions`, over all sets of ``frames``, on the runs that every set has had."""
    frame = pd.concat(frames)
    runs = frame.groupby(["dataset", "n_labeled"])["run"].unique()
    common = set.intersection(*(set(each) for each in runs))
    return summarize_decisions(frame[frame["run"].isin(common)])
