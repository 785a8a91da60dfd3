"""Numbers that decide which rows are suggested and how labels are planned."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["PlanConstants", "SuggestConstants", "TiltConstants"]


@dataclass(frozen=True)
class SuggestConstants:
    """Constants of `suggest_rows`."""

    rows_looked_at: int = 1500
    """Rows whose influence is measured, at most, unless ``rows_per_label`` asks for more."""

    rows_per_label: int = 20
    """Rows whose influence is measured for each label that is asked for."""

    doubt: float = 0.1
    """Share of the mean score in the belief that rows are valued by, lest a belief that is too
    sure hide the rows it is wrong about."""

    least_share: float = 0.005
    """Probability of a class of a row below which its influence is not measured."""

    least_weight: float = 0.02
    """Least weight of a question of ``best``, as a share of the largest: draws may be too sure."""

    least_gain: float = 1.02
    """Labels drawn at random that one drawn for the goal must be worth; else rows are drawn alike,
    since there is nothing to gain."""

    strata: int = 5
    """Parts of the scores of the design ``by_score``."""


@dataclass(frozen=True)
class TiltConstants:
    """Constants of `tilt_belief`, which finds labels that agree with a draw."""

    steps: int = 8
    """Steps of Gauss-Newton; each reaches further into what the influences leave out."""

    ridge: float = 1e-3
    """Added to the diagonal of the covariance, as a share of its mean: classifiers may be alike."""

    strongest: float = 12.0
    """Largest change of a log-odds of one row."""

    near: float = 1e-4
    """Distance to the wanted values at which the steps end."""


@dataclass(frozen=True)
class PlanConstants:
    """Constants of `plan_several`."""

    simulations: int = 8
    """Worlds that a method with a posterior is fitted to, unless the user says how many."""

    simulations_quick: int = 100
    """The same of a method without a posterior, such as labels alone, whose fits take no time."""

    draws_quick: int = 250
    """Draws, at most, of each of their fits: the median over many worlds needs no more."""

    each_by_itself: int = 30
    """Worlds from which on each is read by itself; fewer are read in all pairs."""

    rows_simulated: int = 2000
    """Unlabeled rows, at most, that a simulation takes from; a random part of all there are."""

    ratio: float = 4.0
    """Factor between two numbers of labels that are tried first."""

    labels_fitted: int = 500
    """Labels up to which methods are fitted in simulations, or twice as many as there are: a fit
    takes time in proportion to its labels."""

    beyond: float = 4.0
    """How many times these numbers the last line between logarithms is drawn on."""

    widest_step: float = 1.5
    """Factor between two of them that is left without a look at the middle."""

    least_labels: int = 10
    """Labels more, at the least, that are tried first."""

    spread: tuple[float, float] = (0.1, 0.9)
    """Shares of the runs that meet the target with the least and the largest number of labels of
    the range that is reported."""

    suggest: SuggestConstants = field(default_factory=SuggestConstants)
    """How the belief of the rows is made, and which influences are measured."""

    tilt: TiltConstants = field(default_factory=TiltConstants)
    """How labels are found that agree with a draw."""
