"""npz and npy: what an array says of itself is checked before memory is taken for it."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ssme.data import ScoreSet
from ssme.data.readers import arrays as array_files
from ssme.data.readers.arrays import open_arrays
from ssme.errors import InputError

SCORES = np.linspace(0.1, 0.9, 600).reshape(300, 2)


def npy(shape: tuple[int, ...], kind: str = "<f8", content: bytes = b"\0" * 64) -> bytes:
    """The bytes of an npy file whose header says what it likes."""
    header = f"{{'descr': {kind!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + content


def zipped(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def saved(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
@pytest.mark.parametrize(
    ("shape", "kind", "content"),
    [
        ((10**12, 2), "<f8", b"\0" * 64),
        ((2**40,), "<U0", b""),
        ((9, 1), "<f8", b"\0" * 64),
        ((7, 1), "<f8", b"\0" * 64),
    ],
    ids=["giant", "items of no size", "too long", "too short"],
)
def test_an_array_that_lies_about_its_size_takes_no_memory(
    tmp_path: Path, suffix: str, shape: tuple[int, ...], kind: str, content: bytes
) -> None:
    path = tmp_path / f"s{suffix}"
    if suffix == ".npz":
        zipped(path, {"scores": npy(shape, kind, content)})
    else:
        path.write_bytes(npy(shape, kind, content))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"declares .* values of shape .* and has"):
        ScoreSet.read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


def test_arrays_that_unpack_to_far_more_than_the_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(
        tmp_path / "s.npz", {"scores": saved(np.full((200_000, 1), 0.5))}, zipfile.ZIP_DEFLATED
    )
    assert ScoreSet.read(path).n_rows == 200_000
    monkeypatch.setattr(array_files, "UNPACKED_BYTES", 1_000_000)
    with pytest.raises(InputError, match=r"unpacks to 1,600,128 bytes.*from_arrays"):
        ScoreSet.read(path)


def damaged(change: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scores.npy", saved(SCORES))
    content = bytearray(stream.getvalue())
    central = content.rindex(b"PK\x01\x02")
    if change == "bad deflate stream":
        content[60:70] = b"\xff" * 10
    elif change == "unknown compression":
        content[8] = content[central + 10] = 99
    elif change == "encrypted":
        content[6] |= 1
        content[central + 8] |= 1
    elif change == "wrong checksum":
        content[central + 16] ^= 0xFF
    elif change == "cut off":
        del content[central - 40 :]
    elif change == "offset outside the file":
        content[central + 42 : central + 46] = b"\xff\xff\xff\x7f"
    return bytes(content)


@pytest.mark.parametrize(
    "change",
    [
        "bad deflate stream",
        "unknown compression",
        "encrypted",
        "wrong checksum",
        "cut off",
        "offset outside the file",
    ],
)
def test_a_damaged_npz_is_refused_by_name(tmp_path: Path, change: str) -> None:
    path = tmp_path / "s.npz"
    path.write_bytes(damaged(change))
    with pytest.raises(InputError, match=r"reading .*s\.npz.* failed: .*numpy\.savez"):
        ScoreSet.read(path)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff\xff{", b"nothing"])
def test_a_damaged_npy_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.npy"
    path.write_bytes(content)
    with pytest.raises(InputError):
        ScoreSet.read(path)


def test_two_arrays_of_one_name_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "s.npz", "w") as archive:
        archive.writestr("scores.npy", saved(SCORES))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("scores.npy", saved(1 - SCORES))
    with pytest.raises(InputError, match="several arrays under one name"):
        ScoreSet.read(tmp_path / "s.npz")


def test_only_the_arrays_that_are_needed_are_read(tmp_path: Path) -> None:
    objects = np.array([{"a": 1}], dtype=object)
    np.savez(tmp_path / "s.npz", scores=SCORES, notes=objects)
    assert ScoreSet.read(tmp_path / "s.npz").n_rows == 300
    arrays = open_arrays(tmp_path / "s.npz")
    assert list(arrays) == ["scores", "notes"]
    with pytest.raises(InputError, match="key 'notes', contains pickled Python objects"):
        arrays["notes"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<f2"])
def test_every_order_of_numbers_and_bytes_reads_the_same(
    tmp_path: Path, kind: str, order: str
) -> None:
    scores = np.array([[0.25, 0.5], [0.75, 0.125], [1.0, 0.0]]).astype(kind, order=order)
    np.savez_compressed(tmp_path / "s.npz", scores=scores)
    np.save(tmp_path / "s.npy", scores)
    for name in ("s.npz", "s.npy"):
        assert_array_equal(ScoreSet.read(tmp_path / name).scores[:, :, 1], scores)
