"""Messages of readers: what is found in a table and may mean two things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from tests.data.test_reads import BARE, JUDGED, TALL, Q
from tests.messages.data import answers, arrays, frame

CASES: dict[str, Callable[..., Any]] = {
    "a pattern that fits no column": answers(JUDGED, "y", answers=["k_*"]),
    "two weights of an id": frame(TALL.assign(weight=[2.0, 2.0, 2.0, 5.0, 3.0, 3.0])),
    "a long table whose label may be a column": frame(BARE.assign(gold="pos")),
    "sums that rounding does not explain": arrays(Q * 1.0011),
    "percentages in an unnamed column": frame(
        pd.DataFrame({"a": ["84.4 %", "7%"] * 6, "label": [1, 0] * 6})
    ),
    "a number among percentages": frame(
        pd.DataFrame({"a": ["84.4", "7%"] * 6, "label": [1, 0] * 6}), models=["a"]
    ),
}
