"""How many more labels a target takes, by simulation from the joint draws.

The number that is planned is the one of a power analysis: with so many labels, half of the runs
meet the target. A run takes one joint draw for the truth, labels rows at random and fits the method
(`simulation`); the range says with how many labels 10 % and 90 % of the runs meet it. What a single
run needs is a matter of luck too, which no plan can foretell.

The effective number of labels says what the unlabeled rows are worth: labels alone give an interval
whose width falls with the square root of their number, so n labels with an interval of width w
beside one of width w_0 from labels alone are worth n (w_0 / w)^2 labels. Labels with weights, such
as those of suggested rows, have a wider w_0 than n labels of rows drawn at random: for them n is
the number of such labels that has this width, Kish's (sum w)^2 / sum w^2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssme.errors import InputError
from ssme.options import Nothing, OneOf, Option, Whole, accept
from ssme.results.evaluation import BaseEvaluation
from ssme.results.frames import build_frame
from ssme.results.notebook import ToldInWords
from ssme.suggest.constants import PlanConstants
from ssme.suggest.simulation import Sight, find_crossing, simulate_labeling
from ssme.suggest.targets import Target, read_target

__all__ = [
    "SIMULATIONS",
    "LabelPlan",
    "LabelPlans",
    "PlannedStep",
    "count_effective_labels",
    "plan_labels",
    "plan_several",
]

SIMULATIONS = Option(
    "simulations",
    OneOf(Nothing("few where fits take time, many where they do not"), Whole(2, 1000)),
    None,
    "Number of simulated truths that the method is fitted to.",
)


@dataclass(frozen=True)
class PlannedStep:
    """What was seen at one total number of labels.

    Attributes
    ----------
    labels : int
        Total number of labels.
    value : float
        Median over runs of what the target bounds.
    met : float
        Share of the runs in which so many labels meet the target.
    """

    labels: int
    value: float
    met: float


@dataclass(frozen=True, eq=False)
class LabelPlan(ToldInWords):
    """How many labels a target takes.

    Attributes
    ----------
    target : str
        What is to be reached.
    now : float
        What the target bounds, as it is with the labels there are.
    n_labeled : int
        Number of labels there are.
    more, more_low, more_high : float
        Number of additional labels with which the target is met in half of the runs, in 10 % and
        in 90 %; infinite where all rows are too few, or it is too far off to be told.
    curve : tuple of PlannedStep
        The way there.
    effective : float
        How many labels alone would do as well as the ones there are do with the unlabeled rows.
    most : int
        Largest total number of labels that can be told.
    metric : str
        The metric that the target is about.
    """

    target: str
    now: float
    n_labeled: int
    more: float
    more_low: float
    more_high: float
    curve: tuple[PlannedStep, ...]
    effective: float
    most: int
    metric: str = ""

    @property
    def is_met(self) -> bool:
        """Whether the target is met already."""
        return self.more == 0.0

    def sentence(self, with_worth: bool = True) -> str:
        """Describe the plan in words.

        Parameters
        ----------
        with_worth : bool
            Whether to say how much the labels there are tell.

        Returns
        -------
        str
            The sentences.
        """
        named = "" if self.metric in self.target else f" ({self.metric})"
        known = np.isfinite(self.effective) and round(self.effective) != self.n_labeled > 0
        worth = ""
        if with_worth and known:
            about = f" about {self.metric}" if self.metric else ""
            worth += (
                f" With the unlabeled rows, the {self.n_labeled:,} labels tell as much{about} as "
                f"{self.effective:,.0f} labels alone would."
            )
        if self.is_met:
            return f"{self.target}{named} is met already ({self.now:.3g}).{worth}"
        most = self.most - self.n_labeled
        if not np.isfinite(self.more):
            return (
                f"{self.target}{named} needs more than {most:,} more labels "
                f"(now {self.now:.3g}).{worth}"
            )
        high = f"{self.more_high:,.0f}" if np.isfinite(self.more_high) else f"over {most:,}"
        return (
            f"{self.target}{named} needs about {self.more:,.0f} more labels "
            f"({self.more_low:,.0f} to {high} in 80 % of the runs; now {self.now:.3g}).{worth}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values.

        Returns
        -------
        dict
            Values that JSON can hold; infinite numbers become None.
        """
        values = {
            "target": self.target,
            "metric": self.metric,
            "now": self.now,
            "n_labeled": self.n_labeled,
            "more": self.more,
            "more_low": self.more_low,
            "more_high": self.more_high,
            "most": self.most,
            "effective_labels": self.effective,
        }
        plain = {
            key: None if isinstance(value, float) and not np.isfinite(value) else value
            for key, value in values.items()
        }
        steps = [{"labels": s.labels, "value": s.value, "met": s.met} for s in self.curve]
        return {**plain, "curve": steps}

    def frame(self, library: str = "pandas") -> Any:
        """Return the planned steps as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Library of the frame.

        Returns
        -------
        data frame
            Number of labels, value of what the target bounds, share of runs that meet it.
        """
        names = ("labels", "value", "met")
        return build_frame({n: [getattr(s, n) for s in self.curve] for n in names}, library)


@dataclass(frozen=True, eq=False)
class LabelPlans(ToldInWords):
    """Plans for several targets, from the same simulations.

    Attributes
    ----------
    plans : tuple of LabelPlan
        One per target.
    """

    plans: tuple[LabelPlan, ...]

    @property
    def more(self) -> float:
        """Number of additional labels with which each target is met in half of the runs or more."""
        return max(plan.more for plan in self.plans)

    def sentence(self) -> str:
        """Describe the plans in words, and how many labels they take together.

        Returns
        -------
        str
            The sentences.
        """
        last = {plan.metric: plan for plan in self.plans}
        each = [plan.sentence(with_worth=last[plan.metric] is plan) for plan in self.plans]
        if len(each) == 1:
            return each[0]
        longest = max(self.plans, key=lambda plan: plan.more)
        if longest.is_met:
            return "\n".join(each)
        number = "Both" if len(each) == 2 else f"All {len(each)}"
        most = longest.most - longest.n_labeled
        much = f"about {self.more:,.0f}" if np.isfinite(self.more) else f"more than {most:,}"
        together = f"{number} targets together need {much} more labels"
        if sum(plan.more == self.more for plan in self.plans) == 1:
            together += f": {longest.target} takes the most"
        together += "."
        return "\n".join([*each, together])

    def to_dict(self) -> dict[str, Any]:
        """Return the plans as plain values.

        Returns
        -------
        dict
            Values that JSON can hold; infinite numbers become None.
        """
        more = self.more if np.isfinite(self.more) else None
        return {"plans": [plan.to_dict() for plan in self.plans], "more": more}


def plan_labels(
    evaluation: BaseEvaluation,
    target: str,
    *,
    simulations: int | None = SIMULATIONS.default,
    random_state: int | None = 0,
    constants: PlanConstants | None = None,
) -> LabelPlan:
    """Count the labels that a target takes, by simulation.

    Parameters
    ----------
    evaluation : Evaluation
        What is known so far; in memory, by a named method.
    target : str
        What is to be reached: ``"width(accuracy)<=0.05"``, ``"P(best)>=0.95"`` or
        ``"regret<=0.005"``.
    simulations : int, optional
        Number of simulated truths (default: 8, or 100 with labels alone).
    random_state : int or None
        Seed of the simulation.
    constants : PlanConstants, optional
        Numbers that change a result.

    Returns
    -------
    LabelPlan

    Examples
    --------
    >>> import ssme
    >>> from ssme.sample import sample_path
    >>> r = ssme.evaluate(sample_path(), "label", method="labeled", metrics="accuracy")
    >>> plan_labels(r, "width(accuracy)<=0.9").more
    0
    """
    several = plan_several(
        evaluation,
        [target],
        simulations=simulations,
        random_state=random_state,
        constants=constants,
    )
    return several.plans[0]


def plan_several(
    evaluation: BaseEvaluation,
    targets: Sequence[str],
    *,
    simulations: int | None = SIMULATIONS.default,
    random_state: int | None = 0,
    constants: PlanConstants | None = None,
) -> LabelPlans:
    """Count the labels that each of several targets takes.

    Targets about the same metric share their simulations.

    Parameters
    ----------
    evaluation : Evaluation
        What is known so far; in memory, by a named method.
    targets : sequence of str
        What is to be reached; see `plan_labels`.
    simulations : int, optional
        Number of simulated truths (default: 8, or 100 with labels alone).
    random_state : int or None
        Seed of the simulation.
    constants : PlanConstants, optional
        Numbers that change a result.

    Returns
    -------
    LabelPlans

    Examples
    --------
    >>> import ssme
    >>> from ssme.sample import sample_path
    >>> r = ssme.evaluate(sample_path(), "label", method="labeled", metrics="accuracy")
    >>> plan_several(r, ["width(accuracy)<=0.9"]).more
    0
    """
    of = constants or PlanConstants()
    simulations = accept(SIMULATIONS, simulations) or _choose_simulations(evaluation, of)
    if isinstance(targets, str) or not targets:
        raise InputError(
            f"targets is {targets!r}", allowed="a list of one target or more", fix="give a list"
        )
    wanted = [read_target(evaluation, target) for target in targets]
    now = [_measure_now(evaluation, target) for target in wanted]
    numbers = [evaluation.metrics.index(target.metric) for target in wanted]
    plans: dict[int, LabelPlan] = {}
    for number in dict.fromkeys(numbers):
        places = [t for t, m in enumerate(numbers) if m == number]
        open_ones = [t for t in places if not wanted[t].is_met(now[t])]
        sights: tuple[tuple[Sight, ...], ...] = ()
        if open_ones:
            rng = np.random.default_rng(random_state)
            asked = [wanted[t] for t in open_ones]
            sights = simulate_labeling(evaluation, asked, simulations, of, rng)
        for t in places:
            seen = sights[open_ones.index(t)] if t in open_ones else ()
            plans[t] = _plan(evaluation, wanted[t], now[t], seen, of)
    return LabelPlans(tuple(plans[t] for t in range(len(wanted))))


def _choose_simulations(evaluation: BaseEvaluation, of: PlanConstants) -> int:
    """Few for a method that fits a posterior, many for one that reads labels alone."""
    return of.simulations_quick if evaluation.posterior is None else of.simulations


def _measure_now(evaluation: BaseEvaluation, target: Target) -> float:
    estimate = evaluation.estimates[0][evaluation.metrics.index(target.metric)]
    now = target.measure(evaluation.data.models, estimate, evaluation.level)
    if np.isnan(now):
        raise InputError(
            f"{evaluation.method!r} gives no number for {target.what} of {target.metric.name}",
            allowed="methods that give intervals and joint draws",
            fix="use another method (`ssme methods`)",
        )
    return now


def _plan(
    evaluation: BaseEvaluation,
    target: Target,
    now: float,
    sights: tuple[Sight, ...],
    of: PlanConstants,
) -> LabelPlan:
    """The plan for one target, from what was seen at growing numbers of labels."""
    n_labeled = evaluation.data.n_labeled
    most = n_labeled + min(evaluation.data.n_unlabeled, of.rows_simulated)
    if sights:
        most = min(most, int(sights[-1].labels * of.beyond))
    curve = [PlannedStep(n_labeled, now, float(target.is_met(now)))]
    for sight in sights:
        curve.append(PlannedStep(sight.labels, sight.median, sight.compute_share_met(target)))
    found = [
        find_crossing(target, now, n_labeled, sights, at, of.beyond) if sights else n_labeled
        for at in (of.spread[0], 0.5, of.spread[1])
    ]
    low, middle, high = (max(n - n_labeled, 0.0) if n <= most else np.inf for n in found)
    return LabelPlan(
        target=target.text,
        now=now,
        n_labeled=n_labeled,
        more=middle,
        more_low=min(low, middle),
        more_high=max(high, middle),
        curve=tuple(curve),
        effective=count_effective_labels(evaluation, target.metric.name),
        most=most,
        metric=target.metric.name,
    )


def count_effective_labels(evaluation: BaseEvaluation, metric: str | None = None) -> float:
    """Count the labels that labels alone would need for intervals as narrow as the estimates'.

    This is n (w_0 / w)^2, where w is the width of an interval on all rows and w_0 the width of the
    interval from labels alone; the median over models. Labels are those of rows drawn at random: n
    is the number of labels, or Kish's effective number of those with weights.

    Parameters
    ----------
    evaluation : Evaluation
        What was estimated.
    metric : str, optional
        The metric (default: the first one).

    Returns
    -------
    float
        The number of labels; NaN where an interval is missing.

    Examples
    --------
    >>> import ssme
    >>> from ssme.sample import sample_path
    >>> r = ssme.evaluate(sample_path(), "label", method="labeled", metrics="accuracy")
    >>> round(count_effective_labels(r))
    30
    """
    name = evaluation.metrics[0].name if metric is None else metric
    ours, alone = (
        evaluation.estimate(name),
        evaluation.labels_only[0][evaluation.metric_index(name)],
    )
    (low, high), (low_0, high_0) = (e.interval(evaluation.level) for e in (ours, alone))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (high_0 - low_0) / (high - low)
    ratio = ratio[np.isfinite(ratio)]
    n = evaluation.n_random_labels
    return float(n * np.median(ratio) ** 2) if ratio.size and n else float("nan")
