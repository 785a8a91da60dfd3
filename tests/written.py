"""Columns as files and frames of every kind: what tests of readers and fuzzers read again."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet

Columns = dict[str, list[Any]]


def list_columns(frame: pd.DataFrame) -> Columns:
    """The values of a frame, None where one is missing."""
    return frame.astype(object).where(frame.notna(), None).to_dict("list")


def write_text(columns: Columns, path: Path, delimiter: str = ",", decimal: str = ".") -> Path:
    def spell(value: Any) -> Any:
        if value is None:
            return ""
        return str(value).replace(".", decimal) if isinstance(value, float) else value

    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow([spell(value) for value in row])
    return path


def write_table(columns: Columns, path: Path, narrow: Collection[str] = ()) -> Path:
    """A file of the kind that its suffix says; ``narrow`` columns have 32 bits where they can."""
    rows = zip(*columns.values(), strict=True)
    match path.suffix:
        case ".csv" | ".txt" | ".tsv":
            return write_text(columns, path, "\t" if path.suffix == ".tsv" else ",")
        case ".jsonl" | ".ndjson":
            lines = (json.dumps(dict(zip(columns, row, strict=True))) for row in rows)
            path.write_text("".join(f"{line}\n" for line in lines))
        case ".json":
            path.write_text(json.dumps([dict(zip(columns, row, strict=True)) for row in rows]))
        case ".xlsx" | ".xlsm":
            import openpyxl

            book = openpyxl.Workbook(write_only=True)
            sheet = book.create_sheet()
            for row in (list(columns), *rows):
                sheet.append(row)
            book.save(path)
        case ".parquet":
            parquet.write_table(make_frame(columns, "pyarrow", narrow), path)
        case _:
            raise AssertionError(f"tests/written.py does not know how to write {path.suffix}")
    return path


def make_frame(columns: Columns, library: str, narrow: Collection[str] = ()) -> Any:
    """A frame: pandas, pandas-object, pandas-nullable, polars, pyarrow or dataset."""
    if library == "dataset":
        return Dataset(columns)
    if library == "pyarrow":
        types = {name: pa.float32() if name in narrow else None for name in columns}
        return pa.table({name: pa.array(v, type=types[name]) for name, v in columns.items()})
    if library == "polars":
        return pl.DataFrame(columns).with_columns(
            pl.col(*narrow).cast(pl.Float32) if narrow else []
        )
    frame = pd.DataFrame(columns)
    if library != "pandas":
        frame = pd.DataFrame({k: pd.Series(v, dtype=object) for k, v in columns.items()})
    if library == "pandas-nullable":
        frame = frame.convert_dtypes()
    kind = "Float32" if library == "pandas-nullable" else "float32"
    return frame.astype(dict.fromkeys(narrow, kind))


@dataclass
class ClassLabel:
    """What is used of `datasets.ClassLabel`."""

    names: list[str]


@dataclass
class Dataset:
    """What is used of a Hugging Face dataset; older ones have no ``with_format("arrow")``."""

    columns: Columns
    features: dict[str, Any] = field(default_factory=dict)
    arrow: bool = True

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getattr__(self, name: str) -> Any:
        if name == "with_format" and self.arrow:
            return lambda _: self
        if name == "to_pandas" and not self.arrow:
            return lambda: pd.DataFrame(self.columns)
        raise AttributeError(name)

    def __getitem__(self, rows: slice) -> pa.Table:
        return pa.table(self.columns)[rows]
