"""Nothing declared changes unseen: defaults, what options allow, what metrics say of themselves.

A change that is meant renews the file with ``python -m tests.reference.make_kept_numbers``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.reference.make_kept_numbers import FIXTURE, defaults, metrics_declared, ranges

KEPT = json.loads(FIXTURE.read_text())
RENEW = "if this change is meant, run: python -m tests.reference.make_kept_numbers"


@pytest.mark.parametrize(
    ("what", "now"), [("defaults", defaults), ("ranges", ranges), ("metrics", metrics_declared)]
)
def test_declared(what: str, now: Callable[[], dict[str, Any]]) -> None:
    found, kept = now(), KEPT[what]
    assert sorted(found) == sorted(kept), RENEW
    for name, values in found.items():
        shown, expected = (json.dumps(even(each), sort_keys=True) for each in (values, kept[name]))
        assert shown == expected, f"{name}: {RENEW}"


def even(value: Any) -> Any:
    """Numbers to twelve digits: the last ones of a power differ between processors."""
    if isinstance(value, dict):
        return {name: even(of) for name, of in value.items()}
    if isinstance(value, list | tuple):
        return [even(of) for of in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value
