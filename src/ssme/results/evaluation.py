"""What `ssme.evaluate` gives back: estimates with intervals, and every question about them.

The questions are answered by the other modules of this package. Those that draw, write or simulate
are imported when they are asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ssme.arrays import FloatArray
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.check import ResultWarning
from ssme.errors import InputError, name_argument
from ssme.methods.base import Belief, Estimate
from ssme.methods.label_draws import kish
from ssme.metrics import MetricSpec, get_metric
from ssme.metrics.base import Metric
from ssme.options import Number, Option, accept
from ssme.results import groups as grouped
from ssme.results import table as tables
from ssme.results.choose import MARGIN, Choice, choose_model, find_criterion, refuse_idle_margin
from ssme.results.comparison import Comparison, ModelRanking, compare_models, rank_models
from ssme.results.reliability import Record, find_record
from ssme.wording import quote, suggest_nearest
from ssme.writing import write_text

if TYPE_CHECKING:
    from ssme.results.gates import GateCondition, Verdict
    from ssme.results.plan import LabelPlan, LabelPlans
    from ssme.results.shift import Shift
    from ssme.results.suggest import Suggestion
    from ssme.results.thresholds import ThresholdChoice
    from ssme.results.together import SetProfile
    from ssme.show.plots import Plots
    from ssme.show.sections import Section

LEVEL = Option(
    "level", Number(0.0, 1.0, open_least=True, open_most=True), 0.95, "Coverage of the intervals."
)
Kept = TypeVar("Kept")
PAIRED_MODELS = 20
"""Models up to which JSON has every pair; the number of pairs grows with its square."""


@dataclass(frozen=True, eq=False)
class Asked:
    """The arguments that `Evaluation.ask` was given, as plain values, with the answers."""

    options: Mapping[str, Any] = field(default_factory=dict)
    thresholds: ThresholdChoice | None = None
    together: SetProfile | None = None
    gaps: grouped.GapTable | None = None
    gate: Verdict | None = None

    def list_sections(self) -> tuple[Section, ...]:
        """The answers for people to read; gaps are part of what is shown of groups."""
        return tuple(
            section
            for answer in (self.thresholds, self.together, self.gate)
            if answer is not None
            for section in answer.list_sections()
        )


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
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
    estimates, labels_only : tuple of tuples of Estimate
        One `Estimate` per group and metric, each for all classifiers: by the method, and from the
        labeled rows of the group alone.
    level : float
        Coverage that the intervals are made for.
    warnings : tuple of ResultWarning
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

    data: ScoreSet
    method: str
    belief: Belief
    metrics: tuple[Metric, ...]
    groups: tuple[grouped.Group, ...]
    estimates: tuple[tuple[Estimate, ...], ...]
    labels_only: tuple[tuple[Estimate, ...], ...]
    level: float
    warnings: tuple[ResultWarning, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    streamed: grouped.StreamPass | None = None
    asked: Asked = field(default_factory=Asked)

    @property
    def posterior(self) -> FloatArray | None:
        """P(y = k | scores) per row (n, K); None for methods that estimate metrics directly."""
        return self.belief.posterior

    @property
    def sample(self) -> ScoreSet | None:
        """The sample of rows that a streamed evaluation was fitted to; None for one in memory."""
        return self.data if self.streamed is not None else None

    @property
    def library(self) -> str:
        """The library of data frames that the scores came in, else pandas."""
        library = self.data.frame_library
        return library if library in tables.LIBRARIES else tables.LIBRARIES[0]

    @property
    def n_rows(self) -> int:
        """How many rows were evaluated; of a streamed evaluation, more than ``data`` has."""
        whole = self.groups[0]
        return whole.n_labeled + whole.n_unlabeled

    @property
    def n_random_labels(self) -> float:
        """How many labels of rows drawn at random have intervals as wide as the labels at hand.

        Kish's effective number of labels with weights, such as those of suggested rows.
        """
        data, weights = self.data, self.data.label_weights
        if data.design.weights is None or weights is None:
            return float(self.groups[0].n_labeled)
        rows = np.ones(data.n_rows) if data.weights is None else data.weights
        return float(kish(weights[data.labeled, None])[0] * data.n_rows / kish(rows[:, None])[0])

    # ---------------------------------------------------------------------------------------------
    # Estimates. Everywhere, ``level`` is the coverage of the intervals: by default that of the
    # evaluation; nothing is fitted again.

    def rows(
        self, metric: str | None = None, group: str | None = None, *, level: float | None = None
    ) -> Iterator[dict[str, Any]]:
        """The table row by row, as dictionaries with the keys of `frame`'s columns.

        Parameters
        ----------
        metric, group : str, optional
            Only the rows of this metric, of this group.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).
        """
        if metric is not None:
            self.metric_index(metric)
        if group is not None:
            self.group_index(group)
        for row in self._compute_table(level):
            if metric in (None, row["metric"]) and group in (None, row["group"]):
                yield dict(row)

    @tables.lists_columns
    def frame(self, library: str | None = None, *, level: float | None = None) -> Any:
        """The table: one row per model, group and metric.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}, optional
            Library of the frame (default: the one that the scores came in).
        level : float, optional
            Coverage of the intervals (default: that of the evaluation). Nothing is fitted again.

        Returns
        -------
        frame
            **columns

        Examples
        --------
        >>> import ssme
        >>> r = ssme.evaluate([[0.9], [0.8], [0.3]], [1, None, 0], method="ensemble")
        >>> r.frame().columns[:6].tolist()
        ['model', 'group', 'metric', 'estimate', 'low', 'high']
        >>> narrow, wide = r.frame(level=0.5), r.frame(level=0.99)
        >>> bool((narrow["high"] <= wide["high"]).all())
        True
        """
        table = self._compute_table(level)
        columns = {name: [row[name] for row in table] for name in tables.COLUMNS}
        return tables.build_frame(columns, library or self.library)

    def estimate(self, metric: str | None = None, group: str = grouped.ALL) -> Estimate:
        """Value, draws and interval of one metric on one group, for all classifiers.

        It has ``value`` (n_models,), ``draws`` (n_draws, n_models) or None, ``interval(level)``.

        Parameters
        ----------
        metric : str, optional
            May be left out where only one metric was evaluated.
        group : str
            Name of the group (default "all").

        """
        return self.estimates[self.group_index(group)][self.metric_index(metric)]

    def compare(
        self,
        metric: str | None = None,
        a: str | None = None,
        b: str | None = None,
        *,
        group: str = grouped.ALL,
        groups: tuple[str, str] | None = None,
        level: float | None = None,
    ) -> Comparison:
        """Paired differences of classifiers: ``a`` minus ``b``, with P(a better than b).

        Parameters
        ----------
        metric : str, optional
            The metric to compare by (default: each of them).
        a, b : str, optional
            Two classifiers. Without ``b``, ``a`` is compared with every other one; without both,
            every pair is compared.
        group : str
            Compare on the rows of this group (default "all").
        groups : tuple of two str, optional
            Compare each classifier (or ``a``) on the first group with itself on the second.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).
        """
        return compare_models(
            self, metric, a, b, group=group, groups=groups, level=self._check_level(level)
        )

    def ranking(
        self, metric: str | None = None, group: str = grouped.ALL, *, level: float | None = None
    ) -> ModelRanking:
        """All classifiers by one metric, best first, with P(best) and the interval of the rank.

        Parameters
        ----------
        metric : str, optional
            May be left out where only one metric was evaluated.
        group : str
            Rank on the rows of this group (default "all").
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).
        """
        level, chosen = self._check_level(level), self.find_metric(metric)
        return self._keep(
            ("ranking", chosen.name, group, level),
            lambda: rank_models(
                self.data.models,
                chosen,
                self.estimate(chosen.name, group),
                where=group,
                level=level,
                record=self.find_record(chosen, group),
                library=self.library,
            ),
        )

    def gaps(
        self,
        metric: str | None = None,
        *,
        by: str | None = None,
        kinds: Sequence[str] = ("difference", "ratio"),
        level: float | None = None,
    ) -> grouped.GapTable:
        """Gaps between groups, with intervals that are valid for all pairs of groups at once.

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
            outcome minus score). The last three are estimated whether or not their metrics were
            asked for.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).
        """
        level, kinds = self._check_level(level), (kinds,) if isinstance(kinds, str) else kinds
        return self._keep(
            ("gaps", metric, by, tuple(kinds), level),
            lambda: grouped.compute_gaps(self, metric, by, kinds, level),
        )

    def worst_groups(
        self,
        metric: str | None = None,
        *,
        by: str | None = None,
        model: str | None = None,
        level: float | None = None,
    ) -> grouped.GroupRanking:
        """List the groups of a grouping, worst first, with their differences from all rows.

        Parameters
        ----------
        metric : str, optional
            May be left out where only one metric was evaluated.
        by : str, optional
            The grouping; may be left out where only one was evaluated.
        model : str, optional
            The classifier (default: the one with the best estimate on all rows).
        level : float, optional
            Coverage of the intervals (default: that of the evaluation); those of the differences
            are valid for all groups at once.
        """
        return grouped.rank_groups(self, metric, by, model, self._check_level(level))

    # ---------------------------------------------------------------------------------------------
    # Decisions

    @cached_property
    def decision(self) -> Choice | None:
        """The one decision that every output shows, at the chosen thresholds where there are any.

        None where the first metric has no direction or no value, or no threshold meets the demand.
        """
        if self.asked.thresholds is not None:
            return self.asked.thresholds.choice
        if self.metrics[0].greater_is_better is None:
            return None
        return self.choose() if np.isfinite(self.estimates[0][0].value).any() else None

    def choose(
        self,
        metric: MetricSpec | None = None,
        *,
        margin: float = MARGIN.default,
        group: str = grouped.ALL,
        level: float | None = None,
    ) -> Choice:
        """Choose a model by one metric, and say what the choice may cost.

        The pick is the model with the best estimate. With it come the probability that it is the
        best, the expected regret, the smallest set of models that contains the best one with 95%
        probability, and the models that are practically equal to it (`ssme.results.choose`).

        Parameters
        ----------
        metric : str, mapping or Metric, optional
            The metric that decides (default: the first). One that was not evaluated is estimated
            now, such as ``ssme.metrics.expected_cost([[0, 1], [10, 0]])``.
        margin : float
            Differences up to this size make no difference in use (default 0.01).
        group : str
            Choose on the rows of this group (default "all").
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Examples
        --------
        >>> import ssme
        >>> scores = {"bad": [0.4, 0.6, 0.7, 0.5], "good": [0.9, 0.8, 0.3, 0.2]}
        >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
        >>> r.choose("accuracy").pick
        'good'
        """
        chosen, estimate = find_criterion(self, metric, group)
        return choose_model(
            self.data.models,
            chosen,
            estimate,
            where=group,
            margin=margin,
            level=self._check_level(level),
            record=self.find_record(chosen, group),
        )

    def choose_thresholds(
        self,
        goal: MetricSpec,
        *,
        group: str = grouped.ALL,
        confidence: float = 0.5,
        level: float | None = None,
    ) -> ThresholdChoice:
        """Choose for each model the threshold from which it should say "positive".

        Each has an interval and the metrics at it, without the optimism of having chosen it
        (`ssme.results.thresholds`); with them comes the model to take at its threshold.

        Parameters
        ----------
        goal : str, mapping or Metric
            ``"precision>=0.9"``, ``"recall>=0.95"`` or ``"specificity>=0.9"``, or a metric of
            decisions to make best, such as ``"f1"`` or ``ssme.metrics.expected_cost(matrix)``.
        group : str
            Choose for the rows of this group (default "all").
        confidence : float
            Probability with which a demand has to be met at the threshold (default 0.5, which
            looks at the estimate). With 0.95 the threshold is a safer one.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        """
        from ssme.results.thresholds import choose_thresholds

        return choose_thresholds(
            self, goal, group=group, confidence=confidence, level=self._check_level(level)
        )

    def set_profile(self, group: str = grouped.ALL, *, level: float | None = None) -> SetProfile:
        """Estimate how the classifiers err together, as one set (`ssme.results.together`).

        Parameters
        ----------
        group : str
            The rows of this group (default "all").
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).
        """
        from ssme.results.together import profile_set

        level = self._check_level(level)
        return self._keep(("set", group, level), lambda: profile_set(self, group, level))

    def shift(self) -> Shift:
        """Test whether labeled and unlabeled rows come from different distributions.

        The answer says what may explain a shift, and which corrections (`ssme.correct_shift`) are
        not refuted.
        """
        from ssme.results.shift import find_shift

        return find_shift(self.data)

    def gate(
        self, *conditions: str, within: float | None = None, fail_on: str = "serious"
    ) -> Verdict:
        """Check the conditions that must be met before a model is shipped.

        Parameters
        ----------
        *conditions : str
            Demands such as ``"accuracy.low>=0.9"`` of every model, ``"forest:ece<=0.05"`` of one,
            or ``"new-old:accuracy.low>=0"`` of the difference of two (`ssme.results.gates`).
        within : float, optional
            Demand that the pick by the first metric is behind the best model by no more than this,
            with the probability of the evaluation's level.
        fail_on : {"serious", "warning", "never"}
            Warnings from which the gate fails whatever the numbers are (default "serious").
        """
        from ssme.results.gates import judge

        return judge(self, conditions, within=within, fail_on=fail_on)

    def ask(
        self,
        *,
        threshold_for: MetricSpec | None = None,
        confidence: float = 0.5,
        together: bool = False,
        gaps: Sequence[str] = (),
        fail_under: Sequence[str | GateCondition] = (),
        within: float | None = None,
        fail_on: str | None = None,
    ) -> Evaluation:
        """Ask further questions, so that every output of the evaluation has the answers.

        JSON, reports and notebooks show them with the table. With ``threshold_for`` the decision is
        the one at the chosen thresholds, everywhere. Asking again replaces what was asked before;
        the evaluation itself stays as it is.

        Parameters
        ----------
        threshold_for : str, mapping or Metric, optional
            Goal for which each model's threshold is chosen, as `choose_thresholds` takes it.
        confidence : float
            Probability with which a demand of ``threshold_for`` has to be met (default 0.5).
        together : bool
            Whether to report how the models err together (`set_profile`).
        gaps : sequence of str
            Gaps between groups to report in addition to differences (`gaps`).
        fail_under : sequence of str
            Conditions of a gate, as `gate` takes them.
        within : float, optional
            Demand that the pick is behind the best model by no more than this.
        fail_on : {"serious", "warning", "never"}, optional
            Warnings from which the gate fails (default: "serious" where there is a gate).

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> r.ask(threshold_for="recall>=0.9").decision.goal
        'recall>=0.9'
        """
        from ssme.results.gates import judge
        from ssme.results.thresholds import CONFIDENCE, choose_thresholds, read_goal

        thresholds = verdict = gap_table = None
        if threshold_for is not None:
            if within is not None:
                refuse_idle_margin("within", within, read_goal(threshold_for, "threshold_for").best)
            with name_argument("threshold_for"):
                thresholds = choose_thresholds(
                    self,
                    threshold_for,
                    confidence=confidence,
                    level=self.level,
                    margin=MARGIN.default if within is None else within,
                )
        if fail_under or within is not None or fail_on is not None:
            verdict = judge(
                self, fail_under, within=within, fail_on=fail_on or "serious", thresholds=thresholds
            )
        if gaps:
            if len(self.groups) < 2:
                hint = "name the groups with `groups=COLUMN`"
                raise InputError("no groups are reported on", option="gaps", hint=hint)
            with name_argument("gaps"):
                gap_table = self.gaps(kinds=["difference", *gaps])
        goal = threshold_for
        if goal is not None and not isinstance(goal, (str, Mapping)):
            goal = get_metric(goal).name
        given = {
            "threshold_for": goal,
            "confidence": None if confidence == CONFIDENCE.default else confidence,
            "together": together or None,
            "gaps": list(gaps) or None,
            "fail_under": [getattr(each, "text", each) for each in fail_under] or None,
            "within": within,
            "fail_on": fail_on,
        }
        options = {name: value for name, value in given.items() if value is not None}
        profile = self.set_profile() if together else None
        return replace(self, asked=Asked(options, thresholds, profile, gap_table, verdict))

    # ---------------------------------------------------------------------------------------------
    # Labels

    def suggest(
        self,
        n: int | None = None,
        goal: str = "best",
        *,
        draw: str = "goal",
        uniform: float = 0.2,
        random_state: int | None = 0,
    ) -> Suggestion:
        """Draw rows to label next, with higher probabilities for rows that help a goal more.

        Give labels back with their probabilities (`Suggestion.fill_in`, or a file of labels with a
        column ``probability``): estimates and intervals then allow for how the rows were chosen.

        Parameters
        ----------
        n : int or None
            Number of rows to suggest. By default batches grow with the labels, 1, 1, 2, 3, 5, 8
            to 25, where rows are for the goal ``"best"``; else it is 25.
        goal : str
            ``"best"`` or ``"best:METRIC"`` to find the best model, ``"metric:METRIC"`` to know a
            metric of every model, ``"group:COLUMN"`` to know it in every group (default "best").
        draw : str
            How rows are drawn: ``"goal"`` (the default) for the goal, ``"random"`` uniformly,
            ``"by_score"`` equally many from each part of the scores, ``"by_class"`` equally many of
            each class as far as the belief can tell, ``"active_testing"`` and ``"vma"`` as these
            methods do. ``"coda"``, ``"selector"`` and ``"uncertainty"`` take the rows that these
            methods value most (`ssme.results.active_selection`): no probability is known then, and
            the labels are ``design="by_score"`` afterwards.
        uniform : float
            Share of every probability that is the same for all rows (default 0.2).
        random_state : int or None
            Seed of the draw (default 0). With None, a fresh one is taken.
        """
        from ssme.results.suggest import suggest_rows

        return suggest_rows(self, n, goal, draw=draw, uniform=uniform, random_state=random_state)

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
            cost at most this much; ``"P(regret<=0.01)>=0.9"``: it costs at most this much with this
            probability, a rule for stopping that keeps its promise however often it is looked at.
            The last three are about the first metric; ``"P(best:METRIC)"``, ``"regret(METRIC)"``
            and ``"P(regret:METRIC<=0.01)>=0.9"`` name another.
        simulations : int, optional
            Number of simulated truths that the method is fitted to, each at a few numbers of
            labels (default: 8, or 100 where the method reads labels alone, as ``labeled`` does).
        random_state : int or None
            Seed of the simulations (default 0). With None, a fresh one is taken.
        """
        several = self.plan_several([target], simulations=simulations, random_state=random_state)
        return several.plans[0]

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
        simulations, random_state : int, optional
            As `plan` takes them.
        """
        from ssme.results.plan import plan_several

        return plan_several(self, targets, simulations=simulations, random_state=random_state)

    # ---------------------------------------------------------------------------------------------
    # Outputs

    @property
    def plot(self) -> Plots:
        """Pictures by name, such as ``r.plot.estimates()``; `ssme.show.plots.Plots` lists them."""
        from ssme.show.plots import Plots

        return Plots(self)

    def report(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        target: str | None = None,
        memory: str | Path | None = None,
        data: str = "default",
        card: str | None = None,
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
            A project's memory; the report then shows how estimates tightened and what changed
            since the last evaluation of these models.
        data : str
            Name of the data in the memory (default "default").
        card : str, optional
            A model: the file (.md) is then a block for its model card, with metadata for hubs.
        """
        from ssme.show.report import make_history_section, make_plan_section, write_report

        further = [] if target is None else [make_plan_section(self.plan(target))]
        if memory is not None:
            further.append(make_history_section(self, memory, data))
        return write_report(self, path, title=title, further=further, card=card)

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
        from ssme.show.report import log_evaluation

        log_evaluation(self, tracker=tracker, report=report)

    def to_wandb(self, *, run: Any = None, report: str = "report.html") -> None:
        """Log metrics with their bounds, settings and the report to a run of W&B.

        Parameters
        ----------
        run : wandb.Run, optional
            The run (default: the active one, or a new one).
        report : str
            Name of the report among the run's files.
        """
        from ssme.show.report import WandbRun, log_evaluation

        log_evaluation(self, tracker=WandbRun(run), report=report)

    def to_dict(self) -> dict[str, Any]:
        """Everything but rows and draws, decision and answers included, as JSON can hold it.

        ``differences`` has every pair of up to 20 models; of more, the best against each other one.
        """
        directed = [metric for metric in self.metrics if metric.greater_is_better is not None]
        asked = {name: getattr(self.asked, name) for name in ("thresholds", "together", "gate")}
        values: dict[str, Any] = {
            "settings": dict(self.settings),
            "notes": self.belief.facts.describe(),
            "warnings": [vars(warning) for warning in self.warnings],
            "estimates": list(self.rows()),
            "ranking": [
                {"metric": metric.name, **rank.to_dict()}
                for metric in directed
                for rank in self.ranking(metric.name).rows
            ],
            "differences": [row for metric in self.metrics for row in self._list_pairs(metric)],
            "decision": self.decision,
            "calibrated": {
                metric.name: {
                    "p_best": self.find_record(metric).knows("best"),
                    "p_better": self.find_record(metric).knows("better"),
                    "p_worst": grouped.find_worst_record(self, metric).knows("worst"),
                }
                for metric in directed
            },
            **{name: answer for name, answer in asked.items() if answer is not None},
        }
        if len(self.groups) > 1:
            values["gaps"] = (self.asked.gaps or self.gaps(kinds=["difference"])).rows
        if self.asked.options:
            values["asked"] = dict(self.asked.options)
        return tables.to_plain_values(values)

    def _list_pairs(self, metric: Metric) -> tuple[Any, ...]:
        """The differences of pairs of models that JSON has."""
        if self.data.n_models <= PAIRED_MODELS:
            return self.compare(metric.name).rows
        if not np.isfinite(self.estimate(metric.name).value).any():
            return ()
        best = self.data.models[grouped.order_by_estimate(self, metric.name)[0]]
        return self.compare(metric.name, best).rows

    def to_json(self, path: str | Path | None = None) -> str:
        """`to_dict` as JSON text.

        Parameters
        ----------
        path : str or Path, optional
            A file to write it to as well.
        """
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        if path is not None:
            write_text(path, text + "\n")
        return text

    def __repr__(self) -> str:
        from ssme.show.document import build_document
        from ssme.show.terminal import LIMIT, render_text

        return render_text(build_document(self, limit=LIMIT, report=False))

    def _repr_html_(self) -> str:
        from ssme.show.document import build_document
        from ssme.show.text import NOTEBOOK_ROWS, render_notebook

        return render_notebook(build_document(self, limit=NOTEBOOK_ROWS, report=False))

    # ---------------------------------------------------------------------------------------------
    # Names

    def find_metric(self, name: str | None) -> Metric:
        """The evaluated metric with a name.

        Parameters
        ----------
        name : str or None
            None where only one was evaluated.
        """
        return self.metrics[self.metric_index(name)]

    def metric_index(self, metric: str | None) -> int:
        """Position of a metric in ``metrics``.

        Parameters
        ----------
        metric : str or None
            Name of the metric; None where only one was evaluated.
        """
        names = [m.name for m in self.metrics]
        if metric is None and len(names) > 1:
            problem = "no metric was named, and several were evaluated"
            raise InputError(problem, hint=f"name one of {quote(names)} with `metric`")
        name = names[0] if metric is None else metric
        return _find_position(name, names, "metric {!r} was not evaluated")

    def group_index(self, group: str) -> int:
        """Position of a group in ``groups``.

        Parameters
        ----------
        group : str
            Name of the group.
        """
        return _find_position(group, [g.name for g in self.groups], "group {!r} was not evaluated")

    def model_index(self, model: str) -> int:
        """Position of a model in ``data.models``.

        Parameters
        ----------
        model : str
            Name of the model.
        """
        return _find_position(model, self.data.models, "there is no model {!r}")

    def class_index(self, name: Any = None) -> int:
        """Position of a class in ``data.classes``.

        Parameters
        ----------
        name : object, optional
            The class (default: the positive one of two, the last one of more).
        """
        classes = self.data.classes
        if name is None and len(classes) == 2 and not self.data.ordered:
            problem = f"it is unknown which of the classes {quote(classes)} is positive"
            raise InputError(problem, hint="name the class with `class_name`")
        name = classes[-1] if name is None else name
        return _find_position(str(name), list(map(str, classes)), "there is no class {!r}")

    def find_record(self, metric: Metric, group: str = grouped.ALL) -> Record:
        """What benchmarks measured of the probabilities that the method gives for ``metric``.

        Parameters
        ----------
        metric : Metric
            The metric that models are compared by.
        group : str
            The group that they are compared on; nothing was measured on groups, nor for judges.
        """
        if group != grouped.ALL:
            return Record(self.method, f"{metric.name} on a group of rows")
        if self.data.judges:
            return Record(self.method, f"{metric.name} of answers and ratings")
        n_labeled = self.groups[0].n_labeled
        return find_record(self.method, metric, self.data.n_classes, n_labeled)

    def _check_level(self, level: float | None) -> float:
        return self.level if level is None else float(accept(LEVEL, level))

    def _compute_table(self, level: float | None = None) -> tuple[dict[str, Any], ...]:
        level = self._check_level(level)
        return self._keep(("table", level), lambda: tuple(tables.tabulate(self, level)))

    @cached_property
    def _kept(self) -> dict[Any, Any]:
        """Answers that were computed already: several outputs show the same."""
        return {}

    def _keep(self, key: Any, compute: Callable[[], Kept]) -> Kept:
        if key not in self._kept:
            self._kept[key] = compute()
        found: Kept = self._kept[key]
        return found


def _find_position(name: str, names: Sequence[str], problem: str) -> int:
    if name not in names:
        problem = problem.format(name)
        raise InputError(problem, hint=f"{suggest_nearest(name, names)}use one of {quote(names)}")
    return names.index(name)
