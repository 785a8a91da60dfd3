"""An evaluation that can be asked for decisions: which model, at which threshold, and whether."""

from __future__ import annotations

from dataclasses import dataclass

from ssme.decide.choose import Choice, choose_model
from ssme.decide.gates import Verdict, judge
from ssme.decide.shift import Shift, find_shift
from ssme.decide.thresholds import ThresholdChoice, choose_thresholds
from ssme.decide.together import SetProfile, profile_set
from ssme.errors import InputError, argument
from ssme.methods.base import Estimate, check_supported
from ssme.methods.registry import find_method_class
from ssme.metrics import MetricSpec, expand_metrics, get_metric
from ssme.metrics.base import Metric
from ssme.results.evaluation import ALL, BaseEvaluation
from ssme.results.gaps import estimate_further
from ssme.wording import quote

__all__ = ["DecidingEvaluation"]


@dataclass(frozen=True, eq=False, repr=False)
class DecidingEvaluation(BaseEvaluation):
    """The numbers of an evaluation, and what to do about them."""

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
