"""Bad files are refused with what was found and where, what is allowed, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.bad_input import check
from tests.data.readers.bad_files import CASES, BadFile

from ssme.data import ScoreSet
from ssme.errors import InputError


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kind)
def test_bad_files_are_told_in_three_parts(case: BadFile, tmp_path: Path) -> None:
    path = case.make(tmp_path)
    with pytest.raises(InputError) as caught:
        ScoreSet.read(path, **case.options)
    check(caught.value, case)
