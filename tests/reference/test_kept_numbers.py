"""No number changes unseen: what every method says on fixed sets.

A change that is meant renews the file with ``python -m tests.reference.make_kept_numbers``.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.reference.make_kept_numbers import FIXTURE, VARIANTS, numbers_of, sets_of

from ssme.methods.registry import method_names

KEPT = json.loads(FIXTURE.read_text())
RENEW = "if this change is meant, run: python -m tests.reference.make_kept_numbers"


@pytest.mark.parametrize(
    ("method", "kind"),
    [(name, kind) for name in (*method_names(), *VARIANTS) for kind in sets_of(name)],
)
def test_numbers(method: str, kind: str) -> None:
    if kind not in KEPT["numbers"].get(method, {}):
        pytest.fail(f"{method} on the set {kind!r} is new: {RENEW}")
    kept = KEPT["numbers"][method][kind]
    found = numbers_of(method, kind)
    assert list(found) == list(kept) or sorted(found) == sorted(kept), RENEW
    for name, values in kept.items():
        np.testing.assert_allclose(
            np.array(found[name], dtype=float),
            np.array(values, dtype=float),
            rtol=1e-5,
            atol=1e-7,
            err_msg=f"{method}, {name}: {RENEW}",
        )
