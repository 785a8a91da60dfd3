"""What the server knows of readers without importing them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ssme.data.readers.sources import READERS
from ssme.serve.settings import SUFFIXES

pytestmark = pytest.mark.web


def test_the_server_knows_the_suffixes_of_all_readers() -> None:
    assert tuple(READERS) == SUFFIXES


def test_the_server_starts_without_numbers() -> None:
    """What reads and computes is imported by the forge, while the first page is shown."""
    heavy = "{'numpy', 'pandas', 'scipy', 'sklearn'}"
    code = f"import sys, ssme.serve.app; sys.exit(', '.join({heavy} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
