"""What `ssme.evaluate` gives back: the numbers, and the doors to pictures, reports and MLflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ssme.decide.evaluation import DecidingEvaluation
from ssme.decide.written import describe_decision
from ssme.results.gaps import GapTable, compute_gaps
from ssme.results.group_ranks import GroupRanking, rank_groups

if TYPE_CHECKING:
    from ssme.plots import Plots
    from ssme.suggest import LabelPlan, LabelPlans, Suggestion

__all__ = ["Evaluation"]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(DecidingEvaluation):
    """Estimates of every classifier's metrics, with what they rest on.

    Made by `ssme.evaluate`, in memory or streamed; not meant to be made by hand.

    Attributes
    ----------
    data : ScoreSet
        The rows evaluated; of a streamed evaluation, the sample that the method was fitted to.
    method : str
        Name of the method.
    belief : Belief
        What the method believes about the labels; ``belief.facts`` are the facts of its fit.
    metrics, groups : tuple
        The axes of ``estimates``. The first group is "all".
    estimates : tuple of tuples of Estimate
        One `Estimate` per group and metric, each for all classifiers.
    labels_only : tuple of tuples of Estimate
        The same from the labeled rows of the group alone.
    level : float
        Coverage that the intervals are made for.
    doubts : tuple of Doubt
        Reasons to trust the result less, the most serious first.
    settings : mapping
        Everything that is needed to run it again, as plain values.
    streamed : StreamPass or None
        What a pass over files larger than memory counted; None for an evaluation in memory.
    asked : Asked
        What `ask` was asked, with the answers.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
    >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
    >>> r.frame()["model"].tolist()
    ['a', 'b']
    >>> r.ranking().rows[0].model
    'a'
    """

    def gaps(
        self,
        metric: str | None = None,
        *,
        by: str | None = None,
        kinds: Sequence[str] = ("difference", "ratio"),
        level: float | None = None,
    ) -> GapTable:
        """Say how far groups are apart, with intervals that hold for all pairs of groups at once.

        Parameters
        ----------
        metric : str, optional
            The metric of the kinds "difference" and "ratio" (default: each of them).
        by : str, optional
            The grouping, such as ``"sex"`` (default: each of them).
        kinds : sequence of str
            Any of "difference" (largest minus smallest), "ratio" (smallest over largest),
            "equal_opportunity" (difference in recall), "equalized_odds" (the larger of the
            differences in recall and specificity) and "calibration" (difference in the mean of
            outcome minus score); see `ssme.results.gaps`. The last three are estimated
            whether or not their metrics were asked for.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        GapTable
            ``rows`` holds one `Gap` per grouping, kind, metric and classifier; ``frame()`` gives
            them as a table.

        Examples
        --------
        >>> import ssme
        >>> scores = {"a": [0.9, 0.8, 0.3, 0.2], "b": [0.4, 0.6, 0.7, 0.5]}
        >>> asked = {"metrics": "accuracy", "groups": {"site": ["x", "x", "y", "y"]}}
        >>> r = ssme.evaluate(scores, [1, None, 0, None], **asked)
        >>> [(gap.model, gap.n_groups) for gap in r.gaps(kinds=["difference"]).rows]
        [('a', 2), ('b', 2)]
        """
        return compute_gaps(self, metric, by=by, kinds=kinds, level=self._check_level(level))

    def worst_groups(
        self,
        metric: str | None = None,
        *,
        by: str | None = None,
        model: str | None = None,
        level: float | None = None,
    ) -> GroupRanking:
        """List the groups of a grouping, worst first, each beside all rows.

        Parameters
        ----------
        metric : str, optional
            May be left out where only one metric was evaluated.
        by : str, optional
            The grouping; may be left out where only one was evaluated.
        model : str, optional
            The classifier (default: the one with the best estimate on all rows).
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        GroupRanking
            ``rows`` holds one `GroupRank` per group; the intervals of their differences from all
            rows hold for all groups at once.

        Examples
        --------
        >>> import ssme
        >>> scores = {"a": [0.9, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.7, 0.5]}
        >>> asked = {"metrics": "accuracy", "groups": {"site": ["x", "x", "y", "y"]}}
        >>> r = ssme.evaluate(scores, [1, None, 0, None], **asked)
        >>> [rank.group for rank in r.worst_groups().rows]
        ['site=y', 'site=x']
        """
        return rank_groups(self, metric, by=by, model=model, level=self._check_level(level))

    def to_dict(self) -> dict[str, Any]:
        """Everything but rows and draws as plain values, with ranking, differences and decision.

        Where groups were evaluated, their gaps are in it too, and so is what `ask` asked.

        Returns
        -------
        dict
            Values that JSON can hold; NaN becomes None.
        """
        return {**super().to_dict(), **describe_decision(self, self.decision)}

    def suggest(
        self,
        n: int = 25,
        goal: str = "best",
        *,
        design: str = "goal",
        uniform: float = 0.2,
        random_state: int | None = 0,
    ) -> Suggestion:
        """Draw rows whose labels tell most about a goal.

        Rows are drawn with known probabilities, which are higher for rows whose labels would move
        what the goal asks about further (`ssme.suggest.rows`). Give labels back with their
        probabilities (`Suggestion.fill_in`, or a file of labels with a column ``probability``):
        estimates and intervals then allow for how the rows were chosen.

        Parameters
        ----------
        n : int
            Number of rows to suggest (default 25).
        goal : str
            ``"best"`` or ``"best:METRIC"`` to find the best model, ``"metric:METRIC"`` to know a
            metric of every model, ``"group:COLUMN"`` to know it in every group (default "best").
        design : {"goal", "random", "by_score", "by_class"}
            How rows are chosen: for the goal (the default), all alike, equally many from each part
            of the scores, or equally many of each class as far as the belief tells.
        uniform : float
            Share of every probability that is the same for all rows (default 0.2).
        random_state : int or None
            Seed of the draw (default 0). With None, a fresh one is taken.

        Returns
        -------
        Suggestion

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> next_rows = r.suggest(5)
        >>> len(next_rows.ids), bool((next_rows.probability > 0).all())
        (5, True)
        """
        from ssme.suggest import suggest_rows

        return suggest_rows(
            self, n, goal, design=design, uniform=uniform, random_state=random_state
        )

    def plan(
        self, target: str, *, simulations: int | None = None, random_state: int | None = 0
    ) -> LabelPlan:
        """Count the labels that a target takes, by simulation from the joint draws.

        The number is the one of a power analysis: with so many labels, half of the simulated runs
        meet the target.

        Parameters
        ----------
        target : str
            ``"width(METRIC)<=0.05"``: the interval of every model is at most this wide
            (``"width(MODEL:METRIC)<=0.05"``: that of one model); ``"P(best)>=0.95"``: the pick is
            the best with this probability; ``"regret<=0.005"``: taking the pick is expected to
            cost at most this much. The last two are about the first metric; ``"P(best:METRIC)"``
            and ``"regret(METRIC)"`` name another.
        simulations : int, optional
            Number of simulated truths that the method is fitted to, each at a few numbers of
            labels (default: 8, or 100 where the method reads labels alone, as ``labeled`` does).
        random_state : int or None
            Seed of the simulations (default 0). With None, a fresh one is taken.

        Returns
        -------
        LabelPlan
            ``more`` is the number of additional labels; ``more_low`` and ``more_high`` are those
            with which 10 % and 90 % of the runs meet the target; ``sentence()`` says it in words.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy", method="labeled")
        >>> plan = r.plan("width(forest:accuracy)<=0.1", simulations=3)
        >>> plan.more > 0
        True
        """
        from ssme.suggest import plan_labels

        return plan_labels(self, target, simulations=simulations, random_state=random_state)

    def plan_several(
        self,
        targets: Sequence[str],
        *,
        simulations: int | None = None,
        random_state: int | None = 0,
    ) -> LabelPlans:
        """Count the labels that several targets take, each and together.

        Targets about the same metric share their simulations.

        Parameters
        ----------
        targets : sequence of str
            Targets as `plan` takes them.
        simulations : int, optional
            Number of simulated truths that the method is fitted to, as in `plan`.
        random_state : int or None
            Seed of the simulations (default 0). With None, a fresh one is taken.

        Returns
        -------
        LabelPlans
            ``plans`` are the plans in the order of the targets; ``more`` is what they take
            together.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy", method="labeled")
        >>> both = r.plan_several(["width(accuracy)<=0.2", "regret<=0.02"], simulations=3)
        >>> both.more == max(plan.more for plan in both.plans)
        True
        """
        from ssme.suggest import plan_several

        return plan_several(self, targets, simulations=simulations, random_state=random_state)

    @property
    def plot(self) -> Plots:
        """Pictures by name, such as ``r.plot.estimates()``; `ssme.plots.Plots` lists them."""
        from ssme.plots import Plots

        return Plots(self)

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        target: str | None = None,
        memory: str | Path | None = None,
        data: str = "default",
    ) -> Path:
        """Write a report.

        Parameters
        ----------
        path : str or Path
            The file: .html (one file that needs nothing else), .md or .json.
        title : str, optional
            Heading of the report.
        target : str, optional
            A target to count labels for, as `plan` takes it; the report then has its curve.
        memory : str or Path, optional
            A project's memory; the report then says how estimates tightened and what changed since
            the last evaluation of these models.
        data : str
            Name of the data in the memory (default "default").

        Returns
        -------
        Path
            The file written.

        Examples
        --------
        >>> import ssme, tempfile, pathlib
        >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = r.report(pathlib.Path(folder) / "report.md")
        ...     path.read_text().splitlines()[0]
        '# How good are these classifiers?'
        """
        from ssme.report import write_report
        from ssme.report.sections import make_history_section, make_plan_section

        sections = []
        if target is not None:
            sections.append(make_plan_section(self.plan(target)))
        if memory is not None:
            sections.append(make_history_section(self, memory, data))
        return write_report(self, path, title=title, sections=sections)

    def to_mlflow(self, *, tracker: Any = None, report: str = "report.html") -> None:
        """Log metrics with their bounds, settings and the report to MLflow's active run.

        Parameters
        ----------
        tracker : object, optional
            Anything with MLflow's ``log_metrics``, ``log_params``, ``log_text`` and ``log_dict``
            (default: the module ``mlflow``).
        report : str
            Name of the report among the run's artifacts.
        """
        from ssme.report.mlflow import log_evaluation

        log_evaluation(self, tracker=tracker, report=report)
