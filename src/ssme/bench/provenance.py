"""Where a number comes from: the data, versions, state of the source and machine behind it.

Every cell of a benchmark carries this from the process that computed it. ``source`` tells two
states of the code apart that bear the same version: it is a checksum over the package's files. The
checksum of the data tells two files of one name apart.
"""

from __future__ import annotations

import hashlib
import os
import platform
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import ssme
from ssme.data.scoreset import ScoreSet

__all__ = ["DECISIVE", "compute_content_checksum", "compute_source_checksum", "describe_process"]

DECISIVE = ("ssme", "numpy")
"""What must agree before cells share a table: numbers may differ where one of these does."""


@lru_cache(maxsize=1)
def describe_process() -> dict[str, Any]:
    """Versions and machine of this process."""
    return {
        "ssme": ssme.__version__,
        "source": compute_source_checksum(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def compute_source_checksum() -> str:
    """Eight hexadecimal digits over the Python files of this package."""
    package = Path(ssme.__file__).parent
    total = 0
    for path in sorted(package.rglob("*.py"), key=lambda path: path.as_posix()):
        name = path.relative_to(package).as_posix()
        total = zlib.crc32(name.encode() + path.read_bytes().replace(b"\r\n", b"\n"), total)
    return f"{total:08x}"


def compute_content_checksum(data: ScoreSet) -> str:
    """Sixteen hexadecimal digits over all that ``data`` holds, names and order included.

    Two files of the same scores, labels, weights, groups and names have the same checksum, however
    they are written.
    """
    names = [list(data.models), [[type(c).__name__, str(c)] for c in data.classes]]
    columns = [[name, list(map(repr, values))] for name, values in data.groups.items()]
    digest = hashlib.sha256(repr([names, columns, data.scores.shape]).encode())
    for array in (data.scores, data.labels, data.weights):
        digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]
