"""Values as people hold them: the codes of distinct ones."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from ssme.data import values
from ssme.errors import InputError

OBJECTS = [None, np.nan, pd.NA, pd.NaT, Decimal("nan"), "", "a", 1, 1.0, True, 0, "a", b"x"]


@pytest.mark.parametrize("few", [0, 100])
def test_missing_values_have_no_code_and_equal_ones_the_same(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(values, "FEW", few)  # more of them are left to pandas
    codes, distinct = values.factorize(np.array(OBJECTS, dtype=object))
    assert codes.tolist() == [-1, -1, -1, -1, -1, 0, 1, 2, 2, 2, 3, 1, 4]
    assert distinct == ["", "a", 1, 0, b"x"]
    codes, distinct = values.factorize(np.array([2.0, np.nan, 1.0, 2.0]))
    assert codes.tolist() == [0, -1, 1, 0]
    assert distinct == [2.0, 1.0]
    with pytest.raises(InputError, match="is a list"):
        values.factorize(values.to_objects(["a", [1]]))
