"""What judges say, as evidence: the formulas of the page by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ssme import ScoreSet
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import (
    EvidenceEncoder,
    EvidenceEncoders,
    _encode_ratings,
    estimate_stated_share,
)

OF = AnswerConstants()
NO_SCORE = [np.nan, np.nan, np.nan]


def test_an_answer_speaks_for_its_class_and_silence_for_none() -> None:
    said = np.array([[0.0, 1.0, 0.0], NO_SCORE])
    assert EvidenceEncoder("answers").encode(said, OF.clip).tolist() == [
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0],
    ]


def test_a_grade_speaks_half_for_its_neighbors() -> None:
    said = np.eye(5)[[0, 3]]
    expected = [[1.0, 0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0, 0.5]]
    assert EvidenceEncoder("grades").encode(said, OF.clip).tolist() == expected


def test_probabilities_speak_by_their_logarithms() -> None:
    q = np.array([[0.7, 0.2, 0.1], NO_SCORE, [1.0, 0.0, 0.0]])
    evidence = EvidenceEncoder("probabilities", scale=2.0).encode(q, clip=0.01)
    first = (np.log([0.7, 0.2, 0.1]) - np.log([0.7, 0.2, 0.1]).mean()) / 2.0
    last = (np.log([1.0, 0.01, 0.01]) - np.log([1.0, 0.01, 0.01]).mean()) / 2.0
    np.testing.assert_allclose(evidence, [first, [0.0] * 3, last], rtol=1e-12)


def test_scores_of_zero_and_one_are_answers() -> None:
    hard = np.array([[1.0, 0.0], [0.0, 1.0], [np.nan, np.nan]])
    soft = np.array([[0.9, 0.1], [0.0, 1.0], [1.0, 0.0]])
    data = ScoreSet.from_arrays(np.stack([hard, soft], axis=1), classes=[0, 1])
    assert [encoder.kind for encoder in EvidenceEncoders.fit(data, OF).each] == [
        "answers",
        "probabilities",
    ]


def test_a_grade_means_what_the_others_say_of_its_rows() -> None:
    """Two grades: others say "positive" on 1 of 4 rows with the low one, 3 of 4 with the high."""
    positive = np.array([0.2] * 4 + [0.8] * 4 + [np.nan])
    others = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    encoder = _encode_ratings(positive, others, 0.5, OF)
    # with 4 rows of the mean share added, the rates are 3/8 and 5/8: symmetric, one apart
    assert encoder.steps is not None
    assert encoder.evidence is not None
    np.testing.assert_allclose(encoder.steps, [0.2, 0.8])
    np.testing.assert_allclose(encoder.evidence, [-0.5, 0.5], rtol=1e-12)
    evidence = encoder.encode(np.array([[0.8, 0.2], [0.2, 0.8], [np.nan, np.nan]]), OF.clip)
    np.testing.assert_allclose(evidence, [[0.25, -0.25], [-0.25, 0.25], [0.0, 0.0]], rtol=1e-12)


def test_grades_are_made_monotone_before_they_speak() -> None:
    """The middle grade's rate is below the lowest one's, and is taken for the same."""
    positive = np.repeat([0.1, 0.5, 0.9], 4)
    others = np.array([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], dtype=float)
    encoder = _encode_ratings(positive, others, 0.7, OF)
    assert encoder.evidence is not None
    low, middle, high = encoder.evidence
    assert low == middle
    assert high - low == pytest.approx(1.0)
    # rates (2 + 2) / 8 and (4 + 2) / 8: the loudness is logit 3/4 - logit 1/2 = log 3
    rates = np.array([0.5, 0.5, 0.75])
    logits = np.log(rates / (1 - rates))
    middle_of = (logits[2] + logits[0]) / 2
    np.testing.assert_allclose(encoder.evidence, (logits - middle_of) / np.log(3.0), rtol=1e-12)


def test_a_rater_alone_is_taken_by_the_rank_of_its_grades() -> None:
    positive = np.array([0.1, 0.1, 0.5, 0.9])
    encoder = _encode_ratings(positive, np.full(4, np.nan), 0.4, OF)
    rates = np.array([1.0, 2.5, 3.5]) / 4
    logits = np.log(rates / (1 - rates))
    above = (logits[1] + logits[2]) / 2
    expected = (logits - (above + logits[0]) / 2) / (above - logits[0])
    assert encoder.evidence is not None
    np.testing.assert_allclose(encoder.evidence, expected, rtol=1e-12)


def test_labels_tell_the_shares_only_where_grades_are_a_curve() -> None:
    """A curve is every grade equally often; a design by class tells nothing of shares."""
    even = [1, 2, 3, 4, 5] * 20
    known: list[int | None] = [1] * 30 + [0] * 10 + [None] * 60
    bare = [None] * 100
    said = {"a": even, "b": even}
    free = EvidenceEncoders.fit(ScoreSet.from_answers(None, bare, ratings=said, classes=[0, 1]), OF)
    told = EvidenceEncoders.fit(ScoreSet.from_answers(None, known, ratings=said), OF)
    assert free.shares is not None
    assert told.shares is not None
    assert free.curve == pytest.approx(1.0)
    assert free.rated == 1.0
    expected = (np.array([10.0, 30.0]) + OF.curve_rows * free.shares) / (40 + OF.curve_rows)
    np.testing.assert_allclose(told.shares, expected, rtol=1e-9)
    chosen = ScoreSet.from_answers(None, known, ratings=said, design="by_class")
    np.testing.assert_allclose(EvidenceEncoders.fit(chosen, OF).shares, free.shares, rtol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_calibrated_scores_cut_at_fixed_places_state_their_share(share: float) -> None:
    scores = np.random.default_rng(0).beta(2.0 * share, 2.0 * (1.0 - share), (1000, 4))
    counts = [np.bincount((5 * column).astype(int), minlength=5) for column in scores.T]
    stated = estimate_stated_share([each.astype(float) for each in counts], OF)
    assert stated == pytest.approx(share, abs=0.06)
