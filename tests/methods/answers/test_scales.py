"""What raters' scales state by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.evidence import estimate_stated_share, measure_curve

OF = AnswerConstants()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8])
def test_calibrated_scores_cut_at_fixed_places_state_their_share(share: float) -> None:
    scores = np.random.default_rng(0).beta(2.0 * share, 2.0 * (1.0 - share), (1000, 4))
    counts = [np.bincount((5 * column).astype(int), minlength=5) for column in scores.T]
    stated = estimate_stated_share([each.astype(float) for each in counts], OF)
    assert stated == pytest.approx(share, abs=0.06)


def test_a_rater_who_never_leaves_the_lowest_grade_follows_the_others() -> None:
    seldom = np.array([1000.0, 0, 0, 0, 0])
    usual = np.array([800.0, 80, 50, 40, 30])
    alone, among = (
        estimate_stated_share([seldom], OF),
        estimate_stated_share([seldom, usual, usual], OF),
    )
    assert 0.001 < alone < 0.15
    assert alone < among < 0.2


def test_grades_given_equally_often_are_a_curve() -> None:
    assert measure_curve(np.full(5, 200.0), OF.curve_width) == 1.0
    assert measure_curve(np.array([800.0, 80, 50, 40, 30]), OF.curve_width) < 0.01
