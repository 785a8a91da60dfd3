"""Numbers that decide how far a group may differ from the whole, and how much it borrows."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GroupConstants"]


@dataclass(frozen=True)
class GroupConstants:
    """Constants of the estimates of groups; chosen on adult (sex, race, decades of age).

    ``benchmarks/decide/groups.py`` measures them on sets that had no part in the choice.
    """

    scale: float = 0.15
    """Median, before the labels, of the standard deviation tau of a group's shift in log-odds."""

    scale_spread: float = 0.7
    """Standard deviation of log tau before the labels."""

    slope: float = 0.7
    """Standard deviation of a group's change of slope, as a multiple of tau."""

    scale_grid: tuple[float, float, int] = (0.02, 1.5, 15)
    """Least and largest tau that are weighed, and how many in between."""

    newton_steps: int = 5
    """Steps to the coefficients of the groups."""

    farthest: float = 5.0
    """Largest coefficient that a step may reach."""

    whole_rows: float = 1.0
    """Rows that the whole adds to a group: prior weight of the scores of all rows."""

    whole_sample: int = 20
    """Rows of the whole that stand for all of them in this."""

    whole_sets: int = 16
    """Sets of their weights; groups take one of them each."""

    half: float = 500.0
    """Labels of a group at which half of what they say beyond the posterior is believed."""

    least_labels: int = 20
    """Labels of a group from which this is computed."""

    leftover: float = 2.5
    """How often the variance that the correction leaves counts."""

    label_draws: int = 50
    """Label draws behind the correction of a group, and behind estimates for the rows at hand."""

    smooth_rows: int = 100
    """Rows of a group from which a metric of the rows at hand has no visible steps."""

    most_rows: int = 2000
    """Rows of a group on which draws are computed."""

    batch_cells: int = 1 << 22
    """Cells (draws x rows x classes) held at once."""

    joint_cells: int = 1 << 23
    """Draws x rows up to which a row has the same weight in every grouping."""

    worst: float = 0.5
    """Power to which shares of draws are taken for P(worst) among three groups or more, faded to
    one as the labels of groups take over; chosen on runs 5 to 7 of adult, diabetes_readmit and
    mmlupro_llm_logit with 50 labels, where 0.4 to 1 were tried."""
