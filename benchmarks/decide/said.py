"""What was said against what was true: tables of probabilities in bins, shared by the studies."""

from __future__ import annotations

import numpy as np
import pandas as pd

EVERY = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.01])
BINS = {
    "best": EVERY,
    "better": np.array([0.5, 0.6, 0.8, 0.95, 1.01]),
    "within": EVERY,
    "worst": EVERY,
}
"""Edges of the bins of probabilities that are said, by what they are about."""
BY = ["method", "metric", "n_labeled"]


def tabulate_said(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Said against true in bins, sets counting alike, with the error between sets."""
    parts = []
    for what, edges in BINS.items():
        said = frame[(frame["what"] == what) & frame["said"].notna()]
        place = np.clip(np.searchsorted(edges, said["said"], side="right") - 1, 0, len(edges) - 2)
        size = said.groupby([*BY, "dataset"])["said"].transform("size")
        weighed = said.assign(
            low=edges[place],
            high=edges[place + 1],
            cases=1,
            weight=1.0 / size,
            s=said["said"] / size,
            t=said["true"] / size,
        )
        by = [*BY, "what", "low", "high"]
        sums = weighed.groupby([*by, "dataset"])[["cases", "weight", "s", "t"]].sum()
        for key, part in sums.groupby(by):
            total = part.sum()
            rest = total - part
            off = ((rest["t"] - rest["s"]) / rest["weight"].where(rest["weight"] > 0)).dropna()
            spread = np.sqrt((1.0 - 1.0 / max(len(off), 1)) * ((off - off.mean()) ** 2).sum())
            parts.append(
                {
                    "sets": name,
                    **dict(zip(by, key, strict=True)),
                    "cases": int(total["cases"]),
                    "said": total["s"] / total["weight"],
                    "true": total["t"] / total["weight"],
                    "se": spread if len(off) > 2 else np.nan,
                }
            )
    return pd.DataFrame(parts)
