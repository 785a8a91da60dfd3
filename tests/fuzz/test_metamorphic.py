"""A sample of the fuzzer of what must not matter: order, names, format and precision."""

from __future__ import annotations

import pytest
from benchmarks.fuzz import metamorphic, systems


@pytest.mark.parametrize("first", range(0, 100, 50))
def test_the_same_data_in_another_form_give_the_same_answer(first: int) -> None:
    counts, findings = metamorphic.attack(50, seed=11, first=first)
    assert findings == []
    outcomes = {
        kind: sum(n for (k, _, o), n in counts.items() if (k, o) == ("relation", kind))
        for kind in ("same", "refused")
    }
    assert outcomes["same"] > 5 * outcomes["refused"]


def test_systems_in_another_form_have_the_same_rates() -> None:
    counts, findings = systems.attack(60, seed=11)
    assert findings == []
    assert sum(n for (_, outcome), n in counts.items() if outcome == "same") > 50
