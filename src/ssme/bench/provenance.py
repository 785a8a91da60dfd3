"""Where a number comes from: the data, versions, state of the source and machine behind it.

Every cell of a benchmark carries this from the process that computed it. ``source`` tells two
states of the code apart that bear the same version: it is a checksum over the package's files. The
checksum of the data tells two files of one name apart.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import zlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import ssme
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError

__all__ = [
    "DECISIVE",
    "compute_code_checksum",
    "compute_content_checksum",
    "compute_source_checksum",
    "describe_process",
    "name_function",
]

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


def compute_source_checksum(folder: Path | None = None) -> str:
    """Eight hexadecimal digits over the Python files of ``folder``, by default this package."""
    folder = folder or Path(ssme.__file__).parent
    total = 0
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.as_posix()):
        name = path.relative_to(folder).as_posix()
        total = zlib.crc32(name.encode() + path.read_bytes().replace(b"\r\n", b"\n"), total)
    return f"{total:08x}"


@lru_cache(maxsize=64)
def compute_code_checksum(function: Any) -> str:
    """The checksum of the Python files in the folder that ``function`` is written in."""
    code = getattr(function, "__code__", None)
    file = Path(code.co_filename if code is not None else "")
    if not file.is_file():
        raise InputError(
            f"{function!r} is in no file, and a change of it would not be noticed",
            allowed="a function at the top of a module",
            fix="put it into a module, which worker processes can import too",
        )
    return compute_source_checksum(file.parent)


def name_function(function: Any) -> str:
    """Module and name of a function; a module that runs as a program has its own name, not
    ``__main__``, which it has in one process and not in its workers."""
    spec = getattr(sys.modules.get(function.__module__), "__spec__", None)
    return f"{function.__module__ if spec is None else spec.name}.{function.__name__}"


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
