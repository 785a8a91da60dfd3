"""`ssme doctor` reads files as people have them, and the command that it prints runs."""

from __future__ import annotations

import gzip
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import Result

Run = Callable[..., Result]
N, LABELED = 120, 40


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Three models, labels on the first rows, and ids."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, N)
    logits = {"lr": 1.0, "rf": 1.5, "gb": 2.0}
    scores = {
        name: np.round(1.0 / (1.0 + np.exp(-skill * (2 * y - 1) - rng.normal(0.0, 1.5, N))), 4)
        for name, skill in logits.items()
    }
    labels = [str(value) if row < LABELED else "" for row, value in enumerate(y)]
    return pd.DataFrame({"id": [f"r{row}" for row in range(N)], **scores, "label": labels})


def save_arrays(table: pd.DataFrame, path: Path) -> None:
    with path.open("wb") as file:
        np.savez(file, scores=table[["lr", "rf"]], labels=[0, 1] * (N // 2))


def trail(table: pd.DataFrame) -> str:
    """Every row but the header ends with a comma."""
    head, *rows = table.to_csv(index=False).splitlines()
    return "\n".join([head, *(f"{row}," for row in rows)]) + "\n"


Write = Callable[[pd.DataFrame, Path], object]
NESTED = {"a": 1, "b": [1, 2]}
READ: dict[str, tuple[Write, str]] = {
    "plain.csv": (lambda t, p: t.to_csv(p, index=False), ""),
    "latin.csv": (
        lambda t, p: t.assign(name="é").to_csv(p, index=False, encoding="latin-1"),
        "--encoding cp1252",
    ),
    "wide.csv": (lambda t, p: t.to_csv(p, index=False, encoding="utf-16"), "--encoding utf-16"),
    "wide.dat": (
        lambda t, p: t.to_csv(p, index=False, encoding="utf-16", sep="\t"),
        "--format tsv --encoding utf-16",
    ),
    "mark.csv": (lambda t, p: t.to_csv(p, index=False, encoding="utf-8-sig"), ""),
    "tabs.txt": (lambda t, p: t.to_csv(p, index=False, sep="\t"), r"--delimiter '\t'"),
    "pipes.csv": (lambda t, p: t.to_csv(p, index=False, sep="|"), "--delimiter '|'"),
    "spaces.dat": (
        lambda t, p: t.to_csv(p, index=False, sep=" "),
        "--format csv --delimiter ' '",
    ),
    "commas.csv": (
        lambda t, p: t.to_csv(p, index=False, sep=";", decimal=","),
        "--delimiter ';' --decimal ','",
    ),
    "comma.dat": (lambda t, p: t.to_csv(p, index=False), "--format csv"),
    "semicolon.dat": (
        lambda t, p: t.to_csv(p, index=False, sep=";", decimal=","),
        "--format csv --delimiter ';' --decimal ','",
    ),
    "suffixless": (lambda t, p: t.to_csv(p, index=False, sep="\t"), "--format tsv"),
    "run.log": (lambda t, p: t.to_json(p, orient="records", lines=True), "--format jsonl"),
    "lines.txt": (lambda t, p: t.to_json(p, orient="records", lines=True), "--format jsonl"),
    "list.json": (lambda t, p: t.to_json(p, orient="records"), ""),
    "list.dat": (lambda t, p: t.to_json(p, orient="records"), "--format json"),
    "empty columns.csv": (lambda t, p: t.assign(a=None, b=None).to_csv(p, index=False), ""),
    "trailing.csv": (lambda t, p: p.write_text(trail(t)), ""),
    "quoted.csv": (lambda t, p: t.assign(text='a\nb, "c"').to_csv(p, index=False), ""),
    "one column.csv": (lambda t, p: t[["lr"]].to_csv(p, index=False), "--no-labels"),
    "one row.csv": (lambda t, p: t.head(1).to_csv(p, index=False), ""),
    "book.xlsx": (lambda t, p: t.to_excel(p, index=False), ""),
    "headless.xlsx": (
        lambda t, p: t.to_excel(p, index=False, header=False),
        "--label column_5 --id column_1 --no-header",
    ),
    "nested.parquet": (lambda t, p: t.assign(meta=[NESTED] * N).to_parquet(p), ""),
    "table.bin": (lambda t, p: t.to_parquet(p), "--format parquet"),
    "arrays.dat": (save_arrays, "--format npz"),
    "packed.csv.gz": (lambda t, p: t.to_csv(p, index=False), ""),
    "packed.csv": (lambda t, p: t.to_csv(p, index=False, compression="gzip"), ""),
    "packed.jsonl.gz": (lambda t, p: t.to_json(p, orient="records", lines=True), ""),
    "packed.gz": (
        lambda t, p: t.to_csv(p, index=False, sep=";", decimal=","),
        "--format csv --delimiter ';' --decimal ','",
    ),
    "headless.csv": (
        lambda t, p: t.to_csv(p, index=False, header=False),
        "--label column_5 --id column_1 --no-header",
    ),
    "numbers.dat": (
        lambda t, p: t.drop(columns="id").to_csv(p, index=False, header=False, sep=" "),
        "--label column_4 --format csv --delimiter ' ' --no-header",
    ),
    "labeled numbers.csv": (
        lambda t, p: np.savetxt(p, np.c_[[0, 1] * (N // 2), t[["lr", "rf"]]], delimiter=","),
        "--label column_1 --no-header",
    ),
    "counted.csv": (
        lambda t, p: t[["lr", "rf"]].set_axis([0, 1], axis=1).to_csv(p, index=False),
        "--no-labels",
    ),
}
"""File -> how it is written, and options of the command that reads it."""


@pytest.mark.parametrize("name", READ)
def test_a_readable_file_is_read_and_its_command_runs(
    name: str, table: pd.DataFrame, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openpyxl" if name.endswith("xlsx") else "pyarrow")
    monkeypatch.chdir(tmp_path)
    write, options = READ[name]
    write(table, Path(name))
    found = run("doctor", name)
    assert found.exit_code == 0, found.output
    command = found.stdout.rpartition("To run\n")[2].strip()
    assert set(shlex.split(options)) <= set(shlex.split(command))
    if not options:
        assert "Problems" not in found.stdout
    labeled = "--no-labels" not in command
    method = "labeled" if labeled else "majority_vote"
    done = run(*shlex.split(command)[1:], "--method", method, "--json", "-", "-q")
    assert done.exit_code == 0, done.output


REFUSED: dict[str, tuple[Write, str]] = {
    "duplicate.csv": (
        lambda t, p: t.rename(columns={"rf": "lr"}).to_csv(p, index=False),
        "has 2 columns named 'lr'. Rename or remove",
    ),
    "header.csv": (lambda t, p: t.head(0).to_csv(p, index=False), "is empty: 0 rows"),
    "empty.dat": (lambda t, p: p.write_text(""), "is empty"),
    "book.xlsx.gz": (
        lambda t, p: p.write_bytes(gzip.compress(b"PK\3\4")),
        "is compressed with gzip. Decompress it first",
    ),
    "cut.csv.gz": (
        lambda t, p: p.write_bytes(gzip.compress(t.to_csv(index=False).encode())[:300]),
        "Compressed file ended before the end-of-stream marker",
    ),
    "noise.dat": (lambda t, p: p.write_bytes(bytes(range(256))), "has the suffix '.dat'. Save it"),
    "prose.txt": (lambda t, p: p.write_text("Dear all,\nhere it is.\n"), "line 2 has 1"),
}
"""What cannot be read as it is, and what a person must do about it."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(
    name: str, table: pd.DataFrame, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write, told = REFUSED[name]
    write(table, Path(name))
    found = run("doctor", name)
    assert found.exit_code == 2
    assert told in " ".join(found.stdout.split())


def test_doctor_names_the_format_and_how_the_file_is_written(
    table: pd.DataFrame, run: Run, tmp_path: Path
) -> None:
    path = tmp_path / "scores.dat"
    table.to_csv(path, index=False, header=False, sep=";", decimal=",")
    said = " ".join(run("doctor", path).stdout.split())
    assert "format CSV, delimiter ';', decimal separator ',', no header" in said
