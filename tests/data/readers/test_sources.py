"""Where files are: paths, addresses, and what is no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssme.data import ScoreSet
from ssme.data.readers.sources import find_local_path


def test_the_address_of_a_local_file_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "my scores.csv"
    path.write_text("bert,label\n0.5,1\n")
    for address in (path.as_uri(), f"file:{path}", f"file://localhost{path}", str(path)):
        assert find_local_path(address) == path
        assert ScoreSet.read(address).models == ("bert",)


def test_a_path_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run:").mkdir()
    Path("run:/s.csv").write_text("bert,label\n0.5,1\n")
    assert ScoreSet.read("run:/s.csv").n_rows == 1
