"""The command refuses files that the reader refuses, with exit code 2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

BAD: dict[str, tuple[str, bytes]] = {
    "empty": ("s.csv", b""),
    "header alone": ("s.csv", b"a,b,label\n"),
    "ragged": ("s.csv", b"a,b,label\n0.1,0.2,1\n0.3,0.4\n"),
    "duplicated column": ("s.csv", b"a,a,label\n0.1,0.2,1\n"),
    "outside 0 and 1": ("s.csv", b"a,b,label\n0.1,7,1\n0.3,0.4,0\n"),
    "other encoding": ("s.csv", b"a,b,l\xe4bel\n0.1,0.2,1\n"),
    "unknown suffix": ("s.ini", b"a,b,label\n0.1,0.2,1\n"),
    "no Parquet": ("s.parquet", b"PAR1 cut off"),
    "no archive": ("s.npz", b"PK\x03\x04 cut off"),
    "pickle": ("s.npy", b"\x80\x04K\x01."),
    "no JSON": ("s.jsonl", b'{"a": 0.1\n'),
    "no workbook": ("s.xlsx", b"PK\x03\x04"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_refused_file_exits_with_2(kind: str, run: Callable[..., Result], tmp_path: Path) -> None:
    name, content = BAD[kind]
    (tmp_path / name).write_bytes(content)
    result = run("evaluate", tmp_path / name, "--method", "ensemble")
    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr
