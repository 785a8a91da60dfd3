"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import stat

import pytest

from ssme.errors import InputError
from ssme.writing import open_whole, refuse_existing, write_text


def test_a_failure_in_the_middle_leaves_the_old_file_and_no_other(tmp_path):
    target = tmp_path / "result.csv"
    target.write_text("old")

    def write_half() -> None:
        with open_whole(target) as file:
            file.write(b"half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["result.csv"]


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    target = tmp_path / "result.csv"

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device.*result\.csv"):
        write_text(target, "text")
    assert os.listdir(tmp_path) == []


def test_permissions_of_the_old_file_and_the_umask_are_kept(tmp_path):
    target = tmp_path / "result.csv"
    write_text(target, "a")
    plain = tmp_path / "plain"
    plain.write_text("a")
    assert stat.S_IMODE(target.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)
    target.chmod(0o600)
    write_text(target, "b")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_a_link_keeps_pointing_at_the_file_written(tmp_path):
    target, link = tmp_path / "result.csv", tmp_path / "latest"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_text_that_utf8_cannot_hold_is_escaped(tmp_path):
    write_text(tmp_path / "a", "x\udc80\r\n")
    assert (tmp_path / "a").read_bytes() == b"x\\udc80\r\n"


def test_existing_files_and_missing_folders_are_refused(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(InputError, match="exists"):
        refuse_existing(tmp_path / "a")
    refuse_existing(tmp_path / "a", force=True)
    with pytest.raises(InputError, match="no folder"):
        refuse_existing(tmp_path / "none" / "a")
    with pytest.raises(InputError, match="is a folder"):
        refuse_existing(tmp_path, force=True)


@pytest.mark.parametrize("name", ["none/a.json", "file/a.json", "folder", "a\0b.json", "a" * 300])
def test_a_place_that_cannot_be_written_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    for write in (lambda path: write_text(path, "new"), refuse_existing):
        with pytest.raises(InputError) as caught:
            write(str(tmp_path / name))
        told = str(caught.value)
        assert str(tmp_path) in told
        assert caught.value.hint
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]
    assert os.listdir(tmp_path / "folder") == []
    assert (tmp_path / "file").read_text() == "old"


def test_a_folder_without_permission_is_refused_and_a_full_disk_is_told(tmp_path, monkeypatch):
    def fail(number: int) -> None:
        def mkstemp(**_: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("tempfile.mkstemp", mkstemp)

    fail(errno.EACCES)
    with pytest.raises(InputError, match="Permission denied"):
        write_text(tmp_path / "a", "new")
    fail(errno.ENOSPC)
    with pytest.raises(OSError, match=r"No space left on device.*a"):
        write_text(tmp_path / "a", "new")
