"""The tables of a run in its folder: written whole, an earlier run's never lost.

results.csv       one row per estimate, the same whatever the number of workers
results.parquet   the same, where the table is long
times.csv         what each cell took
"""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

from ssme.errors import SsmeWarning
from ssme.writing import open_whole, write_text

__all__ = ["write_table"]

PARQUET_ROWS = 50_000
"""Tables longer than this are written as Parquet too."""


def write_table(table: Any, times: Any, folder: Path, *, overwrite: bool = False) -> None:
    """Write a run's ``table`` and ``times`` (pandas) into ``folder``.

    Where a ``results.csv`` of other content is there, it and what belongs to it are first renamed
    to ``results.1.csv``, ``times.1.csv`` (or the next free number), with a warning that says so,
    unless ``overwrite`` is true.
    """
    text = table.to_csv(index=False)
    results = folder / "results.csv"
    if results.exists() and not overwrite and results.read_bytes() != text.encode():
        kept = set_aside(folder)
        warnings.warn(
            f"{results} held the table of another run, which is now {kept}",
            SsmeWarning,
            stacklevel=4,
        )
    parquet = folder / "results.parquet"
    if len(table) > PARQUET_ROWS and importlib.util.find_spec("pyarrow"):
        with open_whole(parquet) as file:
            table.to_parquet(file, index=False)
    else:
        parquet.unlink(missing_ok=True)
    write_text(folder / "times.csv", times.to_csv(index=False))
    write_text(results, text)


def set_aside(folder: Path) -> Path:
    """Rename the tables of ``folder``, which are another run's; the new name of the results."""
    number = 1
    while any(folder.glob(f"*.{number}.*")):
        number += 1
    for name in ("results.csv", "results.parquet", "times.csv"):
        path = folder / name
        if path.exists():
            path.rename(path.with_suffix(f".{number}{path.suffix}"))
    return folder / f"results.{number}.csv"
