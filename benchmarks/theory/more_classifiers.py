"""When does one more classifier tighten the bound of theorem 1?

A classifier with separation delta makes the distance of the class means sqrt(|c|^2 + delta^2) and
the number of dimensions d + 1. The paper (app. C.1) says that the first term of eps then falls if

    |c|^2 + delta^2 > d + 1,     that is   delta > sqrt(d + 1 - |c|^2).           "printed"

That does not follow from its own eps: the first term is sqrt(d / (|c|^2 n_u)), and

    (d + 1) / (|c|^2 + delta^2) < d / |c|^2     exactly if     delta > |c| / sqrt(d).   "epsilon"

In words: the new classifier must be better than the root mean square of those already there. The
two agree only where |c|^2 = d; the printed condition refuses good classifiers where the others are
weak (|c|^2 < d) and lets every classifier in where they are strong (|c|^2 > d + 1), even one that
is worse than all of them and makes the bound looser.
"""

from __future__ import annotations

import numpy as np

from benchmarks.theory.bounds import separation_error
from ssme.errors import InputError, make_unknown_name_error

__all__ = ["CONDITIONS", "bound_with_one_more", "least_useful_separation"]

CONDITIONS = ("printed", "epsilon")


def least_useful_separation(d: int, norm: float, *, condition: str = "epsilon") -> float:
    """The separation above which one more classifier tightens the first term of the bound.

    Parameters
    ----------
    d : int
        Number of classifiers there are, at least 1.
    norm : float
        ``|c|`` over these classifiers, above 0.
    condition : {"epsilon", "printed"}
        As it follows from the bound (the default), or as the paper prints it.

    Returns
    -------
    float
        The least separation, exclusive; 0 where every classifier would do.

    Examples
    --------
    Four classifiers of separation 1.5 each: the fifth should have more than 1.5. The printed
    condition lets every classifier in.

    >>> least_useful_separation(4, 3.0)
    1.5
    >>> least_useful_separation(4, 3.0, condition="printed")
    0.0
    """
    _check(d, norm)
    if condition not in CONDITIONS:
        raise make_unknown_name_error("condition", condition, CONDITIONS)
    if condition == "printed":
        return float(np.sqrt(max(d + 1 - norm**2, 0.0)))
    return float(norm / np.sqrt(d))


def bound_with_one_more(
    n_unlabeled: int,
    n_labeled: int,
    d: int,
    norm: float,
    separation: float,
    *,
    c0: float = 1.0,
) -> tuple[float, float]:
    """Compute the bound on epsilon (both terms, p = 1) without and with one more classifier.

    Parameters
    ----------
    n_unlabeled, n_labeled, d, norm
        As in `separation_error`.
    separation : float
        Separation of the further classifier, at least 0.
    c0 : float
        The universal constant of the theorem.

    Returns
    -------
    before, after : float
        The bound without and with the further classifier.

    Examples
    --------
    >>> before, after = bound_with_one_more(1000, 20, 3, 2.0, 1.0)
    >>> before > 0 and after > 0
    True
    """
    _check(d, norm)
    if not (np.isfinite(separation) and separation >= 0):
        raise InputError(option="separation", value=separation, must="be at least 0")
    grown = float(np.hypot(norm, separation))
    before = separation_error(n_unlabeled, n_labeled, d, norm, c0=c0)
    after = separation_error(n_unlabeled, n_labeled, d + 1, grown, c0=c0)
    return float(before), float(after)


def _check(d: int, norm: float) -> None:
    if d < 1:
        raise InputError(option="d", value=d, must="be at least 1")
    if not (np.isfinite(norm) and norm > 0):
        raise InputError(option="norm", value=norm, must="be above 0")
