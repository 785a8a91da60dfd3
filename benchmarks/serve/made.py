"""A made file of scores, as large as wanted."""

from __future__ import annotations

from pathlib import Path

import numpy as np

SKILLS = {"forest": 1.5, "boosting": 1.4, "logistic": 1.0, "neighbors": 0.8, "tree": 0.5}


def write_scores(path: Path, rows: int, labeled: int = 100, seed: int = 0) -> None:
    """Write a Parquet file of five models with names of rows, a text column and a few labels.

    Parameters
    ----------
    path : Path
        The file.
    rows : int
        Number of rows.
    labeled : int
        How many of them have a label, at random.
    seed : int
        Of the scores.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    scores = {
        name: 1 / (1 + np.exp(-(skill * (2 * y - 1) + rng.normal(size=rows))))
        for name, skill in SKILLS.items()
    }
    shown = np.zeros(rows, dtype=bool)
    shown[rng.choice(rows, labeled, replace=False)] = True
    names = np.arange(rows)
    table = pa.table(
        {
            "id": pa.array(np.char.add("row-", names.astype(str))),
            "text": pa.array(np.char.add("What was said in message ", names.astype(str))),
            "label": pa.array(y, mask=~shown),
            **scores,
        }
    )
    pq.write_table(table, path)
