"""Generated score files for the tests of streaming."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


def binary_table(n: int, n_labeled: int, seed: int = 0, n_models: int = 3) -> Any:
    """A pyarrow table: models m0.., label (null where unknown), group_site, weight."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    spread = np.linspace(0.8, 1.6, n_models)
    logits = (2 * y[:, None] - 1) * 1.2 + 0.8 * rng.normal(size=(n, 1))
    logits = logits + rng.normal(size=(n, n_models)) * spread
    scores = 1 / (1 + np.exp(-logits))
    label = np.full(n, np.nan)
    chosen = rng.choice(n, n_labeled, replace=False)
    label[chosen] = y[chosen]
    columns: dict[str, Any] = {f"m{j}": scores[:, j] for j in range(n_models)}
    columns["label"] = pa.array(label, from_pandas=True)
    columns["group_site"] = np.array(["a", "b"])[rng.integers(0, 2, n)]
    columns["weight"] = rng.random(n) + 0.5
    return pa.table(columns)


def written(table: Any, folder: Path, n_files: int = 2, row_group: int = 300) -> str:
    """``table`` in ``n_files`` Parquet files; the pattern that finds them."""
    import pyarrow.parquet as pq

    step = -(-len(table) // n_files)
    for i in range(n_files):
        part = table.slice(i * step, step)
        pq.write_table(part, folder / f"part{i}.parquet", row_group_size=row_group)
    return str(folder / "*.parquet")
