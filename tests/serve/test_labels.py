"""Which label counts, and how far people agree."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.memory import LabelEvent
from ssme.serve.labels import (
    ADJUDICATED,
    TAKEN_BACK,
    UNSURE,
    measure_agreement,
    resolve_labels,
)


def test_the_newest_word_of_each_person_stands() -> None:
    events = [LabelEvent("a", 0, "ada"), LabelEvent("a", 1, "ada"), LabelEvent("a", 1, "bob")]
    assert resolve_labels(events)["a"].label == 1


def test_a_label_taken_back_is_gone_and_an_unsure_one_stays_without_a_class() -> None:
    events = [
        LabelEvent("a", 1, "ada"),
        LabelEvent("a", None, "ada", reason=TAKEN_BACK),
        LabelEvent("b", None, "ada", reason=UNSURE),
    ]
    rows = resolve_labels(events)
    assert rows["a"].given == {}
    assert rows["b"].given == {"ada": None}
    assert rows["a"].label is rows["b"].label is None


def test_rows_in_conflict_count_for_nothing_until_adjudicated() -> None:
    events = [LabelEvent("a", 0, "ada"), LabelEvent("a", 1, "bob")]
    assert resolve_labels(events)["a"].label is None
    events.append(LabelEvent("a", 0, "eve", reason=ADJUDICATED))
    assert resolve_labels(events)["a"].label == 0
    assert not resolve_labels(events)["a"].in_conflict
    assert "eve" not in resolve_labels(events)["a"].given


def test_class_zero_and_false_are_labels() -> None:
    assert resolve_labels([LabelEvent("a", 0, "ada")])["a"].label == 0
    assert resolve_labels([LabelEvent("a", False, "ada")])["a"].label is False


def test_kappa_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 60).tolist()
    second = [a if rng.random() < 0.7 else int(rng.integers(0, 3)) for a in first]
    events = [LabelEvent(i, a, "ada") for i, a in enumerate(first)]
    events += [LabelEvent(i, b, "bob") for i, b in enumerate(second)]
    found = measure_agreement(resolve_labels(events).values())[0]
    assert found.rows == 60
    assert found.kappa == pytest.approx(cohen_kappa_score(first, second))


def test_kappa_is_undefined_where_chance_always_agrees() -> None:
    events = [LabelEvent(i, 1, who) for i in range(5) for who in ("ada", "bob")]
    found = measure_agreement(resolve_labels(events).values())[0]
    assert (found.share, found.kappa) == (1.0, None)
