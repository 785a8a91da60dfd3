"""Assertions on estimates, for pytest."""

from __future__ import annotations

from typing import Any

__all__ = ["assert_gate"]


def assert_gate(
    result: Any, *conditions: str, within: float | None = None, fail_on: str = "serious"
) -> None:
    """Raise an AssertionError unless the conditions are met.

    Parameters
    ----------
    result : Evaluation or SystemsEvaluation
        What `ssme.evaluate` or `ssme.evaluate_systems` returned.
    *conditions : str
        Demands as `ssme.Evaluation.gate` takes them: ``"accuracy.low>=0.9"`` of every model,
        ``"forest:ece<=0.05"`` of one, ``"new-old:accuracy.low>=0"`` of a difference.
    within : float, optional
        Demand that the pick of `ssme.evaluate` is behind the best model by no more than this.
    fail_on : {"serious", "warning", "never"}
        Warnings on which the assertion fails whatever the numbers are.

    Raises
    ------
    AssertionError
        With the conditions that are not met, and the estimates.

    Examples
    --------
    >>> import ssme
    >>> from ssme.testing import assert_gate
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4] * 10, "b": [0.6, 0.7, 0.4, 0.2] * 10}
    >>> result = ssme.evaluate(scores, [1, 0, 1, 0] * 10, metrics="accuracy")
    >>> assert_gate(result, "a:accuracy>=0.9", fail_on="never")
    """
    own: dict[str, Any] = {} if within is None else {"within": within}  # not an option of systems
    own |= {} if fail_on == "serious" else {"fail_on": fail_on}
    verdict = result.gate(*conditions, **own)
    if not verdict.passed:
        raise AssertionError("\n".join([*verdict.failures, "", str(result)]))
