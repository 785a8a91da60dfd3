"""An evaluation that can be asked for decisions: which model, at which threshold, and whether."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from ssme.decide.choose import MARGIN, Choice, choose_model, refuse_idle_margin
from ssme.decide.gates import GateCondition, Verdict, judge
from ssme.decide.shift import Shift, find_shift
from ssme.decide.threshold_goals import read_goal
from ssme.decide.thresholds import CONFIDENCE, ThresholdChoice, choose_thresholds
from ssme.decide.together import SetProfile, profile_set
from ssme.decide.written import choose_by_lead
from ssme.errors import InputError, argument, name_argument
from ssme.methods.base import Estimate, check_supported
from ssme.methods.registry import find_method_class
from ssme.metrics import MetricSpec, expand_metrics, get_metric
from ssme.metrics.base import Metric
from ssme.results.evaluation import ALL, BaseEvaluation
from ssme.results.gaps import GapTable, compute_gaps, describe_gaps, estimate_further
from ssme.results.sections import Section
from ssme.wording import quote

__all__ = ["Asked", "DecidingEvaluation"]


@dataclass(frozen=True, eq=False)
class Asked:
    """What was asked of an evaluation beyond its table; every output of the evaluation has it.

    Attributes
    ----------
    options : mapping
        The arguments of `ssme.Evaluation.ask` that were given, as plain values.
    thresholds, together, gaps, gate : optional
        The answers; None where nothing was asked.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    thresholds: ThresholdChoice | None = None
    together: SetProfile | None = None
    gaps: GapTable | None = None
    gate: Verdict | None = None

    def list_sections(self) -> tuple[Section, ...]:
        """The answers as people read them; gaps are part of what is said of groups."""
        found = [] if self.thresholds is None else [self.thresholds.make_section()]
        found += [] if self.together is None else self.together.list_sections()
        found += [] if self.gate is None else [self.gate.make_section()]
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The answers as plain values, by name."""
        named = {"thresholds": self.thresholds, "together": self.together, "gate": self.gate}
        return {name: each.to_dict() for name, each in named.items() if each is not None}


@dataclass(frozen=True, eq=False, repr=False)
class DecidingEvaluation(BaseEvaluation):
    """The numbers of an evaluation, and what to do about them."""

    asked: Asked = field(default_factory=Asked)

    def ask(
        self,
        *,
        threshold_for: MetricSpec | None = None,
        confidence: float = CONFIDENCE.default,
        together: bool = False,
        gaps: Sequence[str] = (),
        fail_under: Sequence[str | GateCondition] = (),
        within: float | None = None,
        fail_on: str | None = None,
    ) -> Self:
        """Ask further questions, so that every output of the evaluation has the answers.

        JSON, reports and notebooks show them with the table. With ``threshold_for`` the decision is
        the one at the chosen thresholds, everywhere. Asking again replaces what was asked before.

        Parameters
        ----------
        threshold_for : str, mapping or Metric, optional
            Goal for which each model's threshold is chosen, as `choose_thresholds` takes it.
        confidence : float
            Probability with which a demand of ``threshold_for`` has to hold (default 0.5).
        together : bool
            Whether to report how the models err together (`set_profile`).
        gaps : sequence of str
            Gaps between groups to report in addition to differences (`gaps`).
        fail_under : sequence of str
            Conditions of a gate, as `gate` takes them.
        within : float, optional
            Demand that the pick is behind the best model by no more than this.
        fail_on : {"serious", "warning", "never"}, optional
            Doubts from which the gate fails (default: "serious" where there is a gate).

        Returns
        -------
        Evaluation
            The same one with ``asked``.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> r.ask(threshold_for="recall>=0.9").decision.goal
        'recall>=0.9'
        """
        thresholds = verdict = gap_table = None
        if threshold_for is not None:
            margin = MARGIN.default if within is None else within
            if within is not None:
                refuse_idle_margin("within", within, read_goal(threshold_for).best)
            with name_argument("threshold_for"):
                thresholds = choose_thresholds(
                    self, threshold_for, confidence=confidence, margin=margin
                )
        if fail_under or within is not None or fail_on is not None:
            verdict = judge(
                self,
                fail_under,
                within=within,
                fail_on=fail_on or "serious",
                thresholds=thresholds,
            )
        if gaps:
            if len(self.groups) < 2:
                raise InputError(
                    f"{argument('gaps', gaps[0])} was asked for, and no groups are reported on",
                    allowed="gaps between groups",
                    fix=f"name the groups with {argument('groups', 'COLUMN')}",
                )
            with name_argument("gaps"):
                gap_table = compute_gaps(self, kinds=["difference", *gaps])
        goal = threshold_for
        if goal is not None and not isinstance(goal, (str, Mapping)):
            goal = get_metric(goal).name
        conditions = [each if isinstance(each, str) else each.text for each in fail_under]
        given = {
            "threshold_for": goal,
            "confidence": None if confidence == CONFIDENCE.default else confidence,
            "together": together or None,
            "gaps": list(gaps) or None,
            "fail_under": conditions or None,
            "within": within,
            "fail_on": fail_on,
        }
        options = {name: value for name, value in given.items() if value is not None}
        profile = self.set_profile() if together else None
        return replace(self, asked=Asked(options, thresholds, profile, gap_table, verdict))

    @cached_property
    def decision(self) -> Choice | None:
        """The one decision that every output shows, at the chosen thresholds where there are any.

        None where the first metric has no direction or no value, or no threshold meets the demand.
        """
        thresholds = self.asked.thresholds
        return choose_by_lead(self) if thresholds is None else thresholds.choice

    def to_dict(self) -> dict[str, Any]:
        """Everything but rows and draws as plain values, with what was asked beyond the table.

        Returns
        -------
        dict
            Values that JSON can hold; NaN becomes None.
        """
        options = {"asked": dict(self.asked.options)} if self.asked.options else {}
        gaps = describe_gaps(self, self.asked.gaps)
        return {**super().to_dict(), **gaps, **options, **self.asked.to_dict()}

    def __repr__(self) -> str:
        return "\n\n".join([super().__repr__(), *map(str, self._list_answers())])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + "".join(each._repr_html_() for each in self._list_answers())

    def _list_answers(self) -> list[Section | GapTable]:
        """What was asked beyond the table, and the decision where thresholds were chosen."""
        found: list[Section | GapTable] = [*self.asked.list_sections()]
        thresholds, gaps = self.asked.thresholds, self.asked.gaps
        found += [] if gaps is None else [gaps]
        if thresholds is not None:
            found.append(Section("decision", "Decision", (thresholds.sentence(),)))
        return found

    def choose(
        self,
        metric: MetricSpec | None = None,
        *,
        margin: float = 0.01,
        group: str = ALL,
        level: float | None = None,
    ) -> Choice:
        """Choose a model by one metric, and say what the choice may cost.

        The pick is the model with the best estimate. With it come the probability that it is the
        best, the expected regret, the smallest set of models that holds the best one with 95 %
        probability, and the models that are practically equal to it (`ssme.decide.choose`).

        Parameters
        ----------
        metric : str, mapping or Metric, optional
            The metric that decides (default: the first, which leads). One that was not
            evaluated is estimated now, such as ``ssme.metrics.expected_cost([[0, 1], [10, 0]])``
            or ``expected_utility``: the model with the least expected cost.
        margin : float
            Differences up to this size make no difference in use (default 0.01).
        group : str
            Choose on the rows of this group (default "all").
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        Choice

        Examples
        --------
        >>> import ssme
        >>> scores = {"bad": [0.4, 0.6, 0.7, 0.5], "good": [0.9, 0.8, 0.3, 0.2]}
        >>> r = ssme.evaluate(scores, [1, None, 0, None], method="ensemble", metrics="accuracy")
        >>> r.choose("accuracy").pick
        'good'
        """
        chosen, estimate = self._find_criterion(metric, group)
        return choose_model(
            self.data.models,
            chosen,
            estimate,
            where=group,
            margin=margin,
            level=self._check_level(level),
            record=self.find_record(chosen, group),
        )

    def _find_criterion(self, metric: MetricSpec | None, group: str) -> tuple[Metric, Estimate]:
        """A metric and its estimate: one of the table, or another one that is estimated now."""
        names = [each.name for each in self.metrics]
        metric = names[0] if metric is None else metric
        if isinstance(metric, str) and metric in names:
            chosen = self.metrics[self.metric_index(metric)]
            return chosen, self.estimate(chosen.name, group)
        (spec,) = expand_metrics([metric], self.data.classes)
        chosen = get_metric(spec, threshold=self.settings.get("threshold"))
        if chosen.name in names and self.metrics[names.index(chosen.name)] == chosen:
            return chosen, self.estimate(chosen.name, group)
        if self.streamed is not None:
            raise InputError(
                f"metric {chosen.name!r} was not counted when the rows were passed over",
                allowed=quote(names),
                fix=f"name it in {argument('metrics')} and evaluate again",
            )
        check_supported(find_method_class(self.method).spec, self.data, [chosen])
        place = self.group_index(group)
        if place == 0:
            return chosen, self.belief.estimate([chosen], [None])[0][0]
        by = self.groups[place].by
        places = [g for g, each in enumerate(self.groups) if g and each.by == by]
        return chosen, estimate_further(self, [chosen], places)[0][places.index(place)]

    def choose_thresholds(
        self,
        goal: MetricSpec,
        *,
        group: str = ALL,
        confidence: float = 0.5,
        level: float | None = None,
    ) -> ThresholdChoice:
        """Choose for each model the threshold from which it should say "positive".

        Parameters
        ----------
        goal : str, mapping or Metric
            ``"precision>=0.9"``, ``"recall>=0.95"`` or ``"specificity>=0.9"``, or a metric of
            decisions to make best, such as ``"f1"`` or ``ssme.metrics.expected_cost(matrix)``.
        group : str
            Choose for the rows of this group (default "all").
        confidence : float
            Probability with which a demand has to hold at the threshold (default 0.5, which asks
            the estimate). With 0.95 the threshold is a safer one.
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        ThresholdChoice
            A threshold with its interval for each model, the metrics at it without the optimism of
            having chosen it (`ssme.decide.thresholds`), and the model to take at its threshold.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> found = r.choose_thresholds("recall>=0.9")
        >>> [at.metric for at in found.picks[0].metrics]
        ['precision', 'recall']
        """
        return choose_thresholds(
            self, goal, group=group, confidence=confidence, level=self._check_level(level)
        )

    def set_profile(self, group: str = ALL, *, level: float | None = None) -> SetProfile:
        """Estimate how the classifiers err together, as one set.

        Parameters
        ----------
        group : str
            The rows of this group (default "all").
        level : float, optional
            Coverage of the intervals (default: that of the evaluation).

        Returns
        -------
        SetProfile
            Share of rows that all get wrong, joint errors and error correlations of pairs, the
            effective number of independent classifiers, and what one more would give
            (`ssme.decide.together`), each beside what labels alone say.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> profile = r.set_profile()
        >>> profile.all_wrong.estimate < profile.pairs[0].both_wrong.estimate
        True
        """
        return profile_set(self, group, level=self._check_level(level))

    def shift(self) -> Shift:
        """Find out whether labeled and unlabeled rows have shifted, and what may be done.

        Returns
        -------
        Shift
            Tests, what may explain a shift, and which corrections (`ssme.decide.correct_shift`)
            are not refuted; ``sentence()`` says it in words.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> r.shift().found
        False
        """
        return find_shift(self.data)

    def gate(
        self,
        *conditions: str,
        within: float | None = None,
        fail_on: str = "serious",
    ) -> Verdict:
        """Ask whether what must hold before a model is shipped does hold.

        Parameters
        ----------
        *conditions : str
            Demands such as ``"accuracy.low>=0.9"`` of every model, ``"forest:ece<=0.05"`` of one,
            or ``"new-old:accuracy.low>=0"`` of the difference of two (`ssme.decide.gates`).
        within : float, optional
            Demand that the pick by the leading metric is behind the best model by no more than
            this, with the probability of the evaluation's level.
        fail_on : {"serious", "warning", "never"}
            Doubts from which the gate fails whatever the numbers say (default "serious").

        Returns
        -------
        Verdict
            ``passed``, and ``failures``: a sentence for each demand that does not hold.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> r.gate("accuracy>=0.99").passed
        False
        """
        return judge(self, conditions, within=within, fail_on=fail_on)
