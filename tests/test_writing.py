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
