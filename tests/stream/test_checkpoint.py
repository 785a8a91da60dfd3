"""Checkpoints: read back to the bit; what is not one, or another run's, is refused."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from benchmarks.fuzz.checkpoint import MARK, is_same, make_progress
from tests.stream.worlds import binary_table, written

from ssme.errors import InputError, SsmeWarning
from ssme.stream import counting, evaluate_parquet
from ssme.stream.counting import RunMark, load, save

ASKED: dict[str, Any] = {"method": "ensemble", "n_draws": 5, "executor": "serial"}


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    save(tmp_path / "pass", make_progress(0), MARK)
    assert is_same(make_progress(0), load(tmp_path / "pass", MARK))
    assert load(tmp_path / "nothing", MARK).n_parts == 0


def test_every_shortened_or_altered_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pass"
    save(path, make_progress(0), MARK)
    content = path.read_bytes()
    for end in [0, 1, 5, *range(10, len(content), 37)]:
        path.write_bytes(content[:end])
        with pytest.raises(InputError, match=r"pass is not .*Name another file, or delete"):
            load(path, MARK)
    for at in range(0, len(content), 23):
        altered = bytearray(content)
        altered[at] ^= 0x40
        path.write_bytes(bytes(altered))
        with pytest.raises(InputError, match="pass is not"):
            load(path, MARK)


def test_another_run_and_changed_files_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "pass"
    save(path, make_progress(0), MARK)
    with pytest.raises(InputError, match="another run"):
        load(path, RunMark(MARK.files, "0e"))
    with pytest.raises(InputError, match="another run"):
        load(path, RunMark((*MARK.files, ("b.parquet", 1, 1, "")), MARK.fit))
    with pytest.raises(InputError, match=r"a.parquet changed since the checkpoint"):
        load(path, RunMark((("a.parquet", 10, 21, "ff"),), MARK.fit))


def interrupted(place: str, kept: Path, monkeypatch: Any, **asked: Any) -> None:
    """A pass that is cut off after four parts."""
    count, done = counting.Counting.count, []

    def stops(self: Any, part: Any) -> Any:
        done.append(part)
        if len(done) > 4:
            raise KeyboardInterrupt
        return count(self, part)

    with monkeypatch.context() as patched:
        patched.setattr(counting.Counting, "count", stops)
        with pytest.raises(KeyboardInterrupt), pytest.warns(SsmeWarning, match="4 of 12 parts"):
            evaluate_parquet(place, checkpoint=kept, **asked)


def test_a_pass_goes_on_where_it_was_cut_off_unless_a_file_changed(
    tmp_path: Path, monkeypatch: Any
) -> None:
    place, kept = written(binary_table(1200, 40), tmp_path, row_group=100), tmp_path / "kept"
    asked = {**ASKED, "sample_rows": 300}
    whole = evaluate_parquet(place, **asked)
    interrupted(place, kept, monkeypatch, **asked)
    changed = kept.with_name("changed")
    changed.write_bytes(kept.read_bytes())
    assert {path.name for path in tmp_path.iterdir() if not path.suffix} == {"kept", "changed"}
    with pytest.raises(InputError, match="checkpoint of another run"):
        evaluate_parquet(place, checkpoint=kept, **asked, metrics=["accuracy"])
    counted, count = [], counting.Counting.count
    with monkeypatch.context() as patched:
        patched.setattr(
            counting.Counting, "count", lambda *part: counted.append(part) or count(*part)
        )
        resumed = evaluate_parquet(place, checkpoint=kept, **asked)
    assert len(counted) == 12 - 4
    assert not kept.exists()
    assert [row["estimate"] for row in resumed.rows()] == [r["estimate"] for r in whole.rows()]
    assert [group.n_unlabeled for group in resumed.groups] == [g.n_unlabeled for g in whole.groups]
    os.utime(tmp_path / "part1.parquet", ns=(1, 1))
    with pytest.raises(InputError, match=r"part1.parquet changed since the checkpoint"):
        evaluate_parquet(place, checkpoint=changed, **asked)


def test_a_checkpoint_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    place = written(binary_table(300, 40), tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        evaluate_parquet(place, checkpoint=tmp_path / "none" / "pass", **ASKED)


def test_a_checkpoint_that_cannot_be_a_file_is_refused_before_the_fit(tmp_path: Path) -> None:
    place = written(binary_table(300, 40), tmp_path)
    with pytest.raises(InputError, match="is a folder"):
        evaluate_parquet(place, checkpoint=tmp_path, method="ssme")
    with pytest.raises(InputError, match="checkpoint must be the path of a file"):
        evaluate_parquet(place, checkpoint=["a", "b"], **ASKED)
