"""Made tables of systems, items and judges whose rates are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtr


def make_table(
    seed: int,
    *,
    items: int = 150,
    levels: tuple[float, ...] = (-0.2, 0.3, 0.6),
    epochs: int = 1,
    labels: int = 60,
    accuracies: tuple[float, ...] = (0.85, 0.8, 0.75),
    favored: float = 0.0,
    repeated: bool = False,
) -> tuple[pd.DataFrame, np.ndarray]:
    """A table and the true rates of its systems.

    An answer passes where level + sqrt(.5) item + sqrt(.5) own > 0. Every judge errs at random;
    where the last system fails, judges pass it with the probability ``favored`` more often. If
    ``repeated``, systems answer the same in all epochs, and people judge all repeats of an answer.
    """
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(size=items)
    parts = []
    for at, level in enumerate(levels):
        for epoch in range(epochs):
            if not (epoch and repeated):
                passed = level + np.sqrt(0.5) * (difficulty + rng.normal(size=items)) > 0.0
            part = pd.DataFrame(
                {
                    "system": f"s{at}",
                    "item": np.arange(items),
                    "epoch": epoch,
                    "topic": np.where(np.arange(items) % 2, "code", "math"),
                    "passed": passed.astype(float),
                }
            )
            for j, accuracy in enumerate(accuracies):
                said = np.where(rng.random(items) < accuracy, passed, ~passed)
                if at == len(levels) - 1:
                    said |= rng.random(items) < favored
                part[f"judge_{j}"] = said.astype(float)
            parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    known = rng.permutation(len(table))[:labels]
    if repeated:
        answers = table.groupby(["system", "item"]).ngroup()
        chosen = rng.permutation(len(table) // epochs)[: labels // epochs]
        known = np.flatnonzero(answers.isin(chosen))
    table["human"] = np.nan
    table.loc[known, "human"] = table["passed"][known]
    return table.drop(columns="passed"), ndtr(np.array(levels))
