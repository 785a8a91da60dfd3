import numpy as np
import pytest
from benchmarks.theory import bound_with_one_more, least_useful_separation

from ssme.errors import InputError


@pytest.mark.parametrize("d", [2, 4, 9])
@pytest.mark.parametrize("norm", [0.7, 1.5, 4.0])
def test_the_condition_by_epsilon_is_where_the_first_term_turns(d, norm) -> None:
    least = least_useful_separation(d, norm)
    first_term = d / norm**2

    def with_one_more(delta):
        return (d + 1) / (norm**2 + delta**2)

    assert with_one_more(1.01 * least) < first_term < with_one_more(0.99 * least)


def test_the_printed_condition_is_the_papers_formula_and_disagrees() -> None:
    assert least_useful_separation(4, 1.0, condition="printed") == pytest.approx(2.0)
    assert least_useful_separation(4, 1.0) == pytest.approx(0.5)
    assert least_useful_separation(4, 5.0, condition="printed") == 0.0
    assert least_useful_separation(4, 5.0) == pytest.approx(2.5)
    at_agreement = [least_useful_separation(4, 2.0, condition=c) for c in ("printed", "epsilon")]
    np.testing.assert_allclose(at_agreement, 1.0)


def test_a_classifier_the_printed_condition_lets_in_can_loosen_the_bound() -> None:
    d, norm, delta = 4, 5.0, 0.5
    assert delta > least_useful_separation(d, norm, condition="printed")
    before, after = bound_with_one_more(1000, 20, d, norm, delta)
    assert after > before


def test_a_classifier_the_printed_condition_refuses_can_tighten_the_bound() -> None:
    d, norm, delta = 4, 1.0, 1.0
    assert delta < least_useful_separation(d, norm, condition="printed")
    before, after = bound_with_one_more(5000, 50, d, norm, delta)
    assert after < before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1.0), "d must be at least 1"),
        ((2, 0.0), "norm must be above 0"),
        ((2, float("inf")), "got inf"),
    ],
)
def test_bad_arguments_are_refused(arguments, message) -> None:
    with pytest.raises(InputError, match=message):
        least_useful_separation(*arguments)


def test_unknown_conditions_and_separations_are_refused() -> None:
    with pytest.raises(InputError, match="unknown condition 'both'"):
        least_useful_separation(2, 1.0, condition="both")
    with pytest.raises(InputError, match="separation must be at least 0, got -1"):
        bound_with_one_more(100, 10, 2, 1.0, -1.0)
