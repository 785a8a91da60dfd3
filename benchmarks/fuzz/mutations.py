"""Files that are not as they were written: one random change to the bytes of a sound one."""

from __future__ import annotations

import numpy as np


def mutate(content: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """The name of a random change, and ``content`` after it."""
    name = str(rng.choice(list(CHANGES)))
    return name, CHANGES[name](content, rng)


def _draw_place(content: bytes, rng: np.random.Generator) -> int:
    return int(rng.integers(0, len(content)))


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: _draw_place(content, rng)]


def _flip_bits(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        changed[_draw_place(content, rng)] ^= 1 << int(rng.integers(0, 8))
    return bytes(changed)


def _change_digit(content: bytes, rng: np.random.Generator) -> bytes:
    """Another digit in place of one, which leaves text well formed."""
    places = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
    if not places:
        return _flip_bits(content, rng)
    at = int(rng.choice(places))
    digit = (content[at] - 48 + int(rng.integers(1, 10))) % 10 + 48
    return content[:at] + bytes([digit]) + content[at + 1 :]


def _insert(content: bytes, rng: np.random.Generator) -> bytes:
    at = _draw_place(content, rng)
    return content[:at] + rng.bytes(int(rng.integers(1, 40))) + content[at:]


def _remove(content: bytes, rng: np.random.Generator) -> bytes:
    at = _draw_place(content, rng)
    return content[:at] + content[at + int(rng.integers(1, 200)) :]


def _zero(content: bytes, rng: np.random.Generator) -> bytes:
    at, length = _draw_place(content, rng), int(rng.integers(1, 500))
    return (content[:at] + bytes(length) + content[at + length :])[: len(content)]


def _repeat(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted((_draw_place(content, rng), _draw_place(content, rng)))
    return content[:last] + content[first:]


def _make_noise(content: bytes, rng: np.random.Generator) -> bytes:
    return rng.bytes(int(rng.integers(0, 300)))


def _shuffle_lines(content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[i] for i in rng.integers(0, len(lines), len(lines)))


def _append(content: bytes, rng: np.random.Generator) -> bytes:
    return content + rng.bytes(int(rng.integers(1, 40)))


CHANGES = {
    "cut off": _cut,
    "bits flipped": _flip_bits,
    "digit changed": _change_digit,
    "bytes inserted": _insert,
    "bytes removed": _remove,
    "bytes zeroed": _zero,
    "part repeated": _repeat,
    "noise instead": _make_noise,
    "lines shuffled": _shuffle_lines,
    "bytes appended": _append,
}
