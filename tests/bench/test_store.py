"""Finished cells on disk: what a kill may leave is dropped, what is altered is refused by name."""

import json
import re

import pytest

from ssme.bench.store import CellStore, describe_process
from ssme.errors import InputError


def cell(number):
    return {
        "key": f"one|{number}",
        "settings": '{"seed":0}',
        "provenance": describe_process(),
        "rows": [{"model": "a", "estimate": 0.25 * number, "low": None}],
        "seconds": 0.5,
    }


@pytest.fixture
def path(tmp_path):
    """A file of three cells."""
    file = tmp_path / "cells.jsonl"
    store = CellStore(file)
    for number in range(3):
        store.keep(cell(number))
    return file


def test_what_is_kept_is_read_back(path):
    read = CellStore(path)
    assert [read[f"one|{n}", '{"seed":0}'] for n in range(3)] == [cell(n) for n in range(3)]
    assert all(json.loads(line)["cell"] for line in path.read_text().splitlines())


def test_every_torn_last_line_is_dropped_and_the_rest_is_there(path):
    content = path.read_bytes()
    last = content.rindex(b"\n", 0, -1) + 1
    for end in range(last, len(content)):
        path.write_bytes(content[:end])
        assert len(CellStore(path).done) == 2
        assert path.read_bytes() == content[:last]


def test_every_altered_digit_is_refused_with_its_line(path):
    content = path.read_bytes()
    first = content.index(b"\n") + 1
    digits = [m.start() for m in re.finditer(rb"[0-9]", content) if m.start() >= first]
    assert len(digits) > 100
    for at in digits:
        changed = b"7" if content[at : at + 1] != b"7" else b"3"
        path.write_bytes(content[:at] + changed + content[at + 1 :])
        with pytest.raises(InputError, match=r"cells.jsonl, line [23] is not as it was written"):
            CellStore(path)


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe\x00",
        b"",
        b"{}",
        b"[]",
        b'{"key": "one|0", "settings": "{}", "rows": []}',
        b'{"checksum": "0", "cell": ',
    ],
)
def test_a_line_that_is_no_cell_is_refused_with_its_number(path, line):
    content = path.read_bytes()
    path.write_bytes(line + b"\n" + content)
    with pytest.raises(InputError, match=r"cells.jsonl, line 1 is no.* Name another folder"):
        CellStore(path)
    assert path.read_bytes() == line + b"\n" + content


def test_a_cell_without_its_rows_is_refused(path):
    CellStore(path).keep({name: value for name, value in cell(3).items() if name != "rows"})
    with pytest.raises(InputError, match="line 4 has no 'rows'"):
        CellStore(path)


@pytest.mark.parametrize("content", [b"my notes", b"a,b\n1,2", b"\x00\x00"])
def test_a_file_that_is_no_store_is_left_as_it_is(tmp_path, content):
    file = tmp_path / "cells.jsonl"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is not a finished cell"):
        CellStore(file)
    assert file.read_bytes() == content


def test_an_empty_file_has_no_cells(tmp_path):
    (tmp_path / "cells.jsonl").touch()
    assert not CellStore(tmp_path / "cells.jsonl").done


def test_a_write_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    before = path.read_bytes()
    store = CellStore(path)
    real = type(path).open

    def fails_half_way(self, *arguments, **named):
        file = real(self, *arguments, **named)
        write = file.raw.write

        class Full:
            def __getattr__(self, name):
                return getattr(file, name)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                file.close()

            def write(self, content):
                write(content[: len(content) // 2])
                raise OSError(28, "No space left on device")

        return Full()

    monkeypatch.setattr(type(path), "open", fails_half_way)
    with pytest.raises(OSError, match="No space"):
        store.keep(cell(3))
    assert path.read_bytes() == before
