"""Files of scores as people write them, and damage done to their cells and bytes."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

CELLS = (
    *("", " ", "NA", "nan", "None", "0", "1", "-1", "0.5", " 0.5", "0.5 ", "1e-3", "+0.25", ".5"),
    *("1.0000001", "2", "inf", "-inf", "1e400", "9007199254740993", "18446744073709551616"),
    *("True", "false", "ham", "spam ", "é", "‮", "0,5", '"', '"a"', "'", "\t", "\r", "=1+1", "0x1"),
    *("1_000", "١", "null", "<NA>", "NAN", "--", "1;2", "a\nb", '"a\nb"', '"a""b"', "x" * 300),
)
NAMES = ("bert", "gpt", "m:a", "m:b", "y", "label", "id", "weight", "group", "group_x", "model")
NAMES += ("score", "class", "", " ", "bert", "é", "group_", "Unnamed: 3", "a,b")


def make(kind: str, rng: np.random.Generator) -> bytes:
    """The bytes of a file, mostly sound."""
    if kind in ("csv", "tsv"):
        return _make_text(rng, "," if kind == "csv" else "\t")
    if kind == "parquet":
        return _make_parquet(rng)
    if kind == "jsonl":
        return _make_json_lines(rng)
    if kind == "xlsx":
        return _make_excel(rng)
    scores = _make_scores(rng)
    stream = io.BytesIO()
    if kind == "npy":
        np.save(stream, scores)
    else:
        save: Any = np.savez if rng.random() < 0.5 else np.savez_compressed
        save(stream, scores=scores, **_make_arrays(rng, len(scores)))
    return stream.getvalue()


def _make_scores(rng: np.random.Generator) -> np.ndarray:
    n, m = rng.integers(1, 8), rng.integers(1, 4)
    scores = rng.random((n, m)) if rng.random() < 0.7 else rng.dirichlet(np.ones(3), (n, m))
    if rng.random() < 0.3:
        scores[rng.integers(n)] = rng.choice([np.nan, 2.0, -1.0, np.inf])
    return scores.astype(rng.choice(["<f8", ">f8", "<f4", "<f2", "<i8", "<U5"]))


def _make_arrays(rng: np.random.Generator, n: int) -> dict[str, Any]:
    of = {
        "labels": rng.choice([0.0, 1.0, np.nan], n),
        "models": np.array([f"m{i}" for i in range(rng.integers(1, 4))]),
        "weights": rng.random(n),
        "ids": np.arange(n) + 2**53,
        "group_site": rng.choice(["a", "b", ""], n),
        "classes": np.arange(rng.integers(2, 4)),
    }
    return {name: values for name, values in of.items() if rng.random() < 0.5}


def _make_columns(rng: np.random.Generator) -> dict[str, list[Any]]:
    n = int(rng.integers(1, 9))
    columns: dict[str, list[Any]] = {}
    for name in ("bert", "gpt")[: rng.integers(1, 3)]:
        columns[name] = [None if u < 0.1 else round(float(u), 4) for u in rng.random(n)]
    columns["label"] = [None if u < 0.4 else int(u > 0.7) for u in rng.random(n)]
    if rng.random() < 0.4:
        columns["id"] = list(range(n))
    if rng.random() < 0.4:
        columns["weight"] = [round(float(u), 3) for u in rng.random(n)]
    if rng.random() < 0.5:
        columns["group_site"] = [rng.choice(["a", "b", None]) for _ in range(n)]
    if rng.random() < 0.2:
        columns["note"] = [str(rng.choice(CELLS)) for _ in range(n)]
    return columns


def _make_text(rng: np.random.Generator, delimiter: str) -> bytes:
    columns = _make_columns(rng)
    rows = [list(columns)]
    rows += [
        ["" if v is None else str(v) for v in row] for row in zip(*columns.values(), strict=True)
    ]
    for _ in range(rng.integers(0, 3)):
        row = rows[rng.integers(len(rows))]
        choice = rng.random()
        if choice < 0.6 and row:
            row[rng.integers(len(row))] = str(rng.choice(CELLS if row is not rows[0] else NAMES))
        elif choice < 0.7:
            row.append(str(rng.choice(CELLS)))
        elif choice < 0.8 and len(row) > 1:
            row.pop(rng.integers(len(row)))
        elif choice < 0.9:
            rows.insert(rng.integers(len(rows) + 1), [])
    end = str(rng.choice(["\n", "\r\n", "\r"], p=[0.7, 0.25, 0.05]))
    text = end.join(delimiter.join(row) for row in rows) + (end if rng.random() < 0.8 else "")
    mark = b"\xef\xbb\xbf" if rng.random() < 0.1 else b""
    return mark + text.encode(
        str(rng.choice(["utf-8", "utf-16", "latin1"], p=[0.94, 0.03, 0.03])), "replace"
    )


def _make_parquet(rng: np.random.Generator) -> bytes:
    import pyarrow as pa
    from pyarrow import parquet

    columns = _make_columns(rng)
    table = {name: pa.array([None if v is None else v for v in of]) for name, of in columns.items()}
    for name, column in table.items():
        choice = rng.random()
        if choice < 0.3 and not pa.types.is_null(column.type):
            table[name] = column.dictionary_encode()
        elif choice < 0.4 and pa.types.is_floating(column.type):
            table[name] = column.cast(pa.float16() if rng.random() < 0.5 else pa.float32())
        elif choice < 0.45:
            table[name] = pa.array([[v] for v in column.to_pylist()])
        elif choice < 0.5 and pa.types.is_integer(column.type):
            table[name] = pa.array([None if v is None else v + 2**60 for v in column.to_pylist()])
    stream = io.BytesIO()
    parquet.write_table(
        pa.table(table),
        stream,
        row_group_size=int(rng.integers(1, 9)),
        compression=str(rng.choice(["none", "snappy", "gzip", "zstd"])),
    )
    return stream.getvalue()


def _make_json_lines(rng: np.random.Generator) -> bytes:
    columns = _make_columns(rng)
    lines = []
    for row in zip(*columns.values(), strict=True):
        record = dict(zip(columns, row, strict=True))
        for name in [name for name in record if rng.random() < 0.03]:
            del record[name]
        if rng.random() < 0.1:
            record[str(rng.choice(NAMES))] = str(rng.choice(CELLS))
        text = json.dumps(record)
        if rng.random() < 0.03:
            text = text.replace("0.", str(rng.choice(("[0.", '{"a": 0.', "-0.", "1e999", "NaN"))))
        lines.append(text)
    return "\n".join(lines).encode()


def _make_excel(rng: np.random.Generator) -> bytes:
    import openpyxl

    columns = _make_columns(rng)
    book = openpyxl.Workbook()
    rows = [list(columns), *(list(row) for row in zip(*columns.values(), strict=True))]
    for row in rows:
        if rng.random() < 0.1:
            value = str(rng.choice(CELLS if row is not rows[0] else NAMES))
            row[rng.integers(len(row))] = "".join(c for c in value if c >= " ")
        book.active.append(row)
    if rng.random() < 0.1:
        book.create_sheet("more").append(["a"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def damage(content: bytes, kind: str, rng: np.random.Generator) -> bytes:
    """``content`` with some bytes changed, lost, repeated or put in."""
    if kind in ("npz", "xlsx") and rng.random() < 0.5:
        return _damage_members(content, rng)
    out = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        if not out:
            break
        place = int(rng.integers(len(out)))
        span = int(rng.integers(1, 12))
        choice = rng.random()
        if choice < 0.4:
            out[place] = int(rng.integers(256))
        elif choice < 0.55:
            del out[place : place + span]
        elif choice < 0.7:
            out[place:place] = rng.bytes(span)
        elif choice < 0.8:
            out[place:place] = out[place : place + span]
        elif choice < 0.9:
            out[place] ^= 1 << int(rng.integers(8))
        else:
            del out[place:]
    return bytes(out)


def _damage_members(content: bytes, rng: np.random.Generator) -> bytes:
    """An archive that is sound and whose members are not."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(stream, "w") as after:
        for name in before.namelist():
            member = before.read(name)
            after.writestr(name, damage(member, "npy", rng) if rng.random() < 0.6 else member)
    return stream.getvalue()
