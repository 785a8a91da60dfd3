"""
A million rows
==============

A file need not fit into memory. The method is fitted to all labeled rows and a sample of the
others; one pass over the file then counts every row. This page makes a file of a million rows.
"""

# sphinx_gallery_thumbnail_path = "images/method/1-rows.svg"

import time
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

from ssme.stream import evaluate_parquet

# %%
# A file
# ------
# Three classifiers, a group column and 200 labels, written in ten parts of 100,000 rows.

rng = np.random.default_rng(0)
path = Path(mkdtemp()) / "scores.parquet"
writer, right = None, np.zeros(3)
for _part in range(10):
    n = 100_000
    truth = rng.random(n) < 0.3
    logits = (2 * truth - 1)[:, None] * [2.2, 1.6, 1.1] + rng.normal(0, 1.2, (n, 3)) - 0.4
    scores = 1 / (1 + np.exp(-logits))
    right += ((scores >= 0.5) == truth[:, None]).sum(axis=0)
    known = rng.choice(n, 20, replace=False)
    label = np.full(n, -1)
    label[known] = truth[known]
    columns = {name: scores[:, j] for j, name in enumerate(["large", "medium", "small"])}
    columns |= {"site": rng.integers(0, 5, n), "label": label}
    table = pa.table(columns)
    writer = writer or parquet.ParquetWriter(path, table.schema)
    writer.write_table(table)
writer.close()
print(f"{path.stat().st_size / 1e6:.0f} MB")

# %%
# One pass
# --------
# ``unlabeled=-1`` says which code means that there is no label. On the command line the same is
# ``ssme evaluate scores.parquet --label label --unlabeled -1 --groups site --engine stream``.

begun = time.perf_counter()
result = evaluate_parquet(
    path, label="label", groups=["site"], unlabeled=-1, metrics=["accuracy", "roc_auc"]
)
print(f"{result.n_rows:,} rows in {time.perf_counter() - begun:.1f} s")
whole = result.frame("pandas")
whole[whole["group"] == "all"][["model", "metric", "estimate", "low", "high"]].round(4)

# %%
# The true accuracies, which no method saw:

print(dict(zip(["large", "medium", "small"], (right / 1e6).round(4).tolist(), strict=True)))

# %%
# What is exact and what is not
# -----------------------------
# Decisions and losses are sums over rows, and exact. Ranking metrics come from fine bins of the
# scores; how far off they can be is in the result.

print(result.streamed.error_bounds["all"])

# %%
# If it is interrupted
# --------------------
# With ``checkpoint="pass.npz"`` (``--checkpoint`` on the command line) an interrupted pass goes on
# where it stopped: the sums so far are written every ten seconds and on Ctrl-C. Results do not
# depend on the number of workers.
