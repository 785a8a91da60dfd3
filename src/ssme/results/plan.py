"""How many more labels a target takes, by simulation from the joint draws.

    width(accuracy) <= 0.05          the interval of every model is at most this wide
    width(forest:accuracy) <= 0.05   that of one model
    P(best) >= 0.95                  the pick is the best with this probability
    regret <= 0.005                  taking the pick is expected to cost at most this much
    P(regret <= 0.01) >= 0.9         it costs at most this much with this probability

The last three are about the first metric; ``P(best:roc_auc)``, ``regret(roc_auc)`` and
``P(regret:roc_auc<=0.01)`` name another.

The last one is a rule for stopping: it goes by the draws as they are, with their wide tails, and by
no correction. Under the belief the probability is one given all labels so far, however many looks
came before, so that stopping at the first look that meets it keeps the promise (the posterior of a
stopped experiment is that of a fixed one; Savage, 1962); `benchmarks.decide.picking` measures what
the promise is worth on sets that the rule was not chosen on. It is not met with fewer than twenty
labels: the draws were not compared with the truth there, and the wrong stops that were seen were.

The number that is planned is the one of a power analysis: with so many labels, half of the runs
meet the target. A run takes one joint draw for the truth, labels rows at random and fits the
method; the range says with how many labels 10% and 90% of the runs meet it. What a single run
needs is a matter of luck too, which no plan can predict.

The effective number of labels says what the unlabeled rows are worth: labels alone give an interval
whose width falls with the square root of their number, so n labels with an interval of width w
where labels alone give one of width w_0 are worth n (w_0 / w)^2 labels. Labels with weights, such
as those of suggested rows, have a wider w_0 than n labels of rows drawn at random: for them n is
the number of such labels that has this width, Kish's (sum w)^2 / sum w^2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr

from ssme import options, progress, schema, spec
from ssme.arrays import FloatArray, IntArray
from ssme.data import design, scoreset
from ssme.errors import InputError
from ssme.methods import base, beliefs, clusters
from ssme.methods.votes import average_scores
from ssme.metrics.base import Metric
from ssme.metrics.influence import measure_influence
from ssme.results import choose, comparison, reliability, table
from ssme.results.suggest import SuggestConstants, believe
from ssme.wording import quote, suggest_nearest

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation

TARGET = re.compile(
    r"\s*(?P<what>width|regret|P)\s*(?:\(\s*(?P<inside>[^()]*?)\s*\))?"
    r"\s*(?P<sign><=|>=)\s*(?P<bound>\S+)\s*"
)


@dataclass(frozen=True)
class TiltConstants:
    """Constants of `tilt_belief`, which finds labels that agree with a draw."""

    steps: int = 8  # steps of Gauss-Newton; each reaches further into what the influences leave out
    # added to the diagonal of the covariance, as a share of its mean: classifiers may be alike
    ridge: float = 1e-3
    strongest: float = 12.0  # largest change of a log-odds of one row
    near: float = 1e-4  # distance to the wanted values at which the steps end


@dataclass(frozen=True)
class PlanConstants:
    """Constants of `plan_several`."""

    # worlds that a method with a posterior is fitted to, unless the user says how many
    simulations: int = 8
    # the same of a method without a posterior, such as labels alone, whose fits take no time
    simulations_quick: int = 100
    # draws, at most, of each fit: all pairs of worlds, or a median over many, need no more
    draws_simulated: int = 250
    # worlds from which on each is read by itself; fewer are read in all pairs
    each_by_itself: int = 30
    # unlabeled rows, at most, that a simulation takes from; a random part of all there are
    rows_simulated: int = 2000
    ratio: float = 4.0  # factor between two numbers of labels that are tried first
    # labels up to which methods are fitted in simulations, or twice as many as there are: a fit
    # takes time in proportion to its labels
    labels_fitted: int = 500
    beyond: float = 4.0  # how many times these numbers the last line between logarithms is drawn on
    widest_step: float = 1.5  # factor between two of them that is left without a look at the middle
    least_labels: int = 10  # labels more, at the least, that are tried first
    # shares of the runs that meet the target with the least and the largest number of labels of
    # the range that is reported
    spread: tuple[float, float] = (0.1, 0.9)
    # how the belief of the rows is made, and which influences are measured
    suggest: SuggestConstants = field(default_factory=SuggestConstants)
    # how labels are found that agree with a draw
    tilt: TiltConstants = field(default_factory=TiltConstants)


@dataclass(frozen=True)
class PlannedStep(table.Row):
    """With ``labels`` in all: the median of what the target bounds, and the share that meets it."""

    labels: int
    value: float
    met: float


@dataclass(frozen=True, eq=False)
class LabelPlan(table.Answer):
    """How many labels a target takes.

    Attributes
    ----------
    target : str
        What is to be reached.
    now : float
        What the target bounds, with the labels there are.
    n_labeled : int
        Number of labels there are.
    more, more_low, more_high : float
        Number of additional labels with which the target is met in half of the runs, in 10% and
        in 90%; infinite where all rows are too few, or it is too far off to be estimated.
    curve : tuple of PlannedStep
        What was seen at growing numbers of labels.
    effective_labels : float
        How many random labels alone would have intervals as narrow as these.
    most : int
        Largest total number of labels that can be planned.
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
    effective_labels: float
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
            Whether to say how many labels alone would have such intervals.
        """
        named = "" if self.metric in self.target else f" ({self.metric})"
        worth, effective = "", self.effective_labels
        if with_worth and np.isfinite(effective) and round(effective) != self.n_labeled > 0:
            about = f" for {self.metric}" if self.metric else ""
            worth = (
                f" With the unlabeled rows, intervals{about} are as narrow as "
                f"{effective:,.0f} random labels alone would give."
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
            f"({self.more_low:,.0f} to {high} in 80% of the runs; now {self.now:.3g}).{worth}"
        )

    def _list_rows(self) -> Sequence[Mapping[str, Any]]:
        return [vars(step) for step in self.curve]


@dataclass(frozen=True, eq=False)
class LabelPlans(table.Answer):
    """Plans for several targets, from the same simulations.

    Attributes
    ----------
    plans : tuple of LabelPlan
        One per target.
    """

    derived: ClassVar[tuple[str, ...]] = ("more",)
    plans: tuple[LabelPlan, ...]

    @property
    def more(self) -> float:
        """Number of additional labels with which each target is met in half of the runs or more."""
        return max(plan.more for plan in self.plans)

    def sentence(self) -> str:
        """Describe the plans in words, and how many labels they take together."""
        last = {plan.metric: plan for plan in self.plans}
        each = [plan.sentence(with_worth=last[plan.metric] is plan) for plan in self.plans]
        longest = max(self.plans, key=lambda plan: plan.more)
        if len(each) == 1 or longest.is_met:
            return "\n".join(each)
        number = "Both" if len(each) == 2 else f"All {len(each)}"
        most = longest.most - longest.n_labeled
        much = f"about {self.more:,.0f}" if np.isfinite(self.more) else f"more than {most:,}"
        together = f"{number} targets together need {much} more labels"
        if sum(plan.more == self.more for plan in self.plans) == 1:
            together += f": {longest.target} takes the most"
        return "\n".join([*each, f"{together}."])


def plan_several(
    evaluation: Evaluation,
    targets: Sequence[str],
    *,
    simulations: int | None = schema.PLAN["simulations"].default,
    random_state: int | None = 0,
    constants: PlanConstants | None = None,
) -> LabelPlans:
    """Count the labels that each of several targets takes; see `ssme.Evaluation.plan_several`."""
    settings = constants or PlanConstants()
    if isinstance(targets, str) or not targets:
        raise InputError(option="targets", value=targets, must="be a list of one target or more")
    simulations = options.accept(schema.PLAN["simulations"], simulations)
    if simulations is None:  # fits without a posterior take next to no time
        few, many = settings.simulations, settings.simulations_quick
        simulations = many if evaluation.posterior is None else few
    wanted = [read_target(evaluation, target) for target in targets]
    now = [_measure_now(evaluation, target) for target in wanted]
    unmet: dict[int, list[int]] = {}  # targets about the same metric share their simulations
    for t, target in enumerate(wanted):
        if not target.is_met(now[t]):
            unmet.setdefault(evaluation.metrics.index(target.metric), []).append(t)
    sights: dict[int, tuple[Sight, ...]] = {}
    for places in unmet.values():
        rng = np.random.default_rng(random_state)
        about = [wanted[t] for t in places]
        seen = simulate_labeling(evaluation, about, simulations, settings, rng)
        sights |= dict(zip(places, seen, strict=True))
    plans = [
        _plan(evaluation, target, now[t], sights.get(t, ()), settings)
        for t, target in enumerate(wanted)
    ]
    return LabelPlans(tuple(plans))


def _measure_now(evaluation: Evaluation, target: Target) -> float:
    estimate = evaluation.estimate(target.metric.name)
    now = target.measure(evaluation.data.models, estimate, evaluation.level)
    if np.isnan(now):
        raise InputError(
            f"{evaluation.method!r} gives no number for {target.what} of {target.metric.name}",
            hint="use a method that gives intervals and joint draws (`ssme methods`)",
        )
    return now


def _plan(
    evaluation: Evaluation,
    target: Target,
    now: float,
    sights: tuple[Sight, ...],
    settings: PlanConstants,
) -> LabelPlan:
    """The plan for one target, from what was seen at growing numbers of labels."""
    n_labeled = evaluation.data.n_labeled
    most = n_labeled + min(evaluation.data.n_unlabeled, settings.rows_simulated)
    if sights:
        most = min(most, int(sights[-1].labels * settings.beyond))
    curve = [PlannedStep(n_labeled, now, float(target.is_met(now)))]
    for sight in sights:
        curve.append(PlannedStep(sight.labels, sight.median, sight.compute_share_met(target)))
    found = [
        find_crossing(target, now, n_labeled, sights, at, settings.beyond) if sights else n_labeled
        for at in (settings.spread[0], 0.5, settings.spread[1])
    ]
    if target.what == "P(regret)":
        found = [max(n, min(choose.LEAST_LABELS, most)) for n in found]
    low, middle, high = (max(n - n_labeled, 0.0) if n <= most else np.inf for n in found)
    return LabelPlan(
        target=target.text,
        now=now,
        n_labeled=n_labeled,
        more=middle,
        more_low=min(low, middle),
        more_high=max(high, middle),
        curve=tuple(curve),
        effective_labels=table.count_effective_labels(evaluation, target.metric.name),
        most=most,
        metric=target.metric.name,
    )


# -------------------------------------------------------------------------------------------------
# Targets, as users write them.


@dataclass(frozen=True)
class Target:
    """``what`` ("width", "P(best)", "regret" or "P(regret)") of ``metric`` is to reach ``bound``.

    ``model`` is set for the width of one model; ``record`` corrects P(best); ``margin`` is the
    regret that P(regret) is about.
    """

    text: str
    what: str
    metric: Metric
    model: int | None
    bound: float
    record: reliability.Record
    margin: float = 0.0

    @property
    def rises(self) -> bool:
        """Whether it is a probability, which grows with the labels."""
        return self.what.startswith("P(")

    def measure(self, models: Sequence[str], estimate: base.Estimate, level: float) -> float:
        """The quantity of an estimate that the target bounds."""
        if self.what == "width":
            low, high = estimate.interval(level)
            width = high - low if self.model is None else (high - low)[[self.model]]
            return float(np.max(width)) if np.isfinite(width).all() else float("nan")
        if self.what == "P(regret)":
            choice = choose.choose_model(
                models, self.metric, estimate, margin=self.margin, level=level
            )
            return choice.p_within_raw
        choice = choose.choose_model(models, self.metric, estimate, level=level, record=self.record)
        return choice.p_best if self.what == "P(best)" else choice.regret

    def measure_draws(self, estimate: base.Estimate) -> float:
        """What `measure` is, but the width, where every model has a value and draws."""
        upwards = self.metric.greater_is_better is not False
        sign = 1.0 if upwards else -1.0
        pick = int(np.argmax(sign * estimate.value))
        if self.what == "P(best)":
            raw = comparison.compute_probability_best(estimate, upwards)
            return float(self.record.correct_shares("best", raw)[pick])
        assert estimate.draws is not None
        drawn = sign * (estimate.draws if self.rises else comparison.draw_towards(estimate))
        behind = drawn.max(axis=1) - drawn[:, pick]
        return float((behind <= self.margin + 1e-12).mean() if self.rises else behind.mean())

    def is_met(self, value: float) -> bool:
        """Whether ``value`` reaches the bound."""
        return value >= self.bound if self.rises else value <= self.bound


def parse_target(text: str) -> re.Match[str]:
    """The parts of a target, or an error where it can be read for no evaluation at all."""
    found = TARGET.fullmatch(str(text))
    if found is None:
        raise _refuse(text)
    return found


def read_target(evaluation: Evaluation, text: str) -> Target:
    """The target that ``text`` writes, for the models and metrics of ``evaluation``."""
    found = parse_target(text)
    what, inside, sign = found["what"], found["inside"] or "", found["sign"]
    name, model, margin = inside, None, ""
    if what == "P":
        first, below, margin = (part.strip() for part in inside.partition("<="))
        first, _, name = (part.strip() for part in first.partition(":"))
        if (first, below, sign) not in (("best", "", ">="), ("regret", "<=", ">=")):
            raise _refuse(text, "write P(best)>=0.95, P(best:METRIC)>=0.95 or P(regret<=0.01)>=0.9")
        what = f"P({first})"
    elif sign != "<=":
        raise _refuse(text, f"write {what} with <=")
    elif what == "width":
        first, colon, name = (part.strip() for part in inside.rpartition(":"))
        model = evaluation.model_index(first) if colon else None
        if not name:
            raise _refuse(text, "name the metric, as in width(accuracy)<=0.05")
    known = {metric.name: metric for metric in evaluation.metrics}
    at_threshold = [each for each in known if each.partition("@")[0] == name]
    if name not in known and len(at_threshold) == 1:
        name = at_threshold[0]
    if name and name not in known:
        raise InputError(
            f"{name!r} was not evaluated",
            option="target",
            hint=f"{suggest_nearest(name, known)}name one of {quote(known)}, or evaluate it with "
            "`metrics`",
        )
    metric = known[name] if name else evaluation.metrics[0]
    if what != "width" and metric.greater_is_better is None:
        raise _refuse(text, f"{metric.name} does not say whether greater is better; name another")
    span = metric.high - metric.low
    least = _read_number(text, margin, span, "after regret<=") if margin else 0.0
    most = 1.0 if what.startswith("P(") else span
    bound = _read_number(text, found["bound"], most, "in place of the last part")
    return Target(text, what, metric, model, bound, evaluation.find_record(metric), least)


def _read_number(text: str, written: str, most: float, where: str) -> float:
    """A number of a target, above 0 and below ``most``."""
    try:
        number = float(options.parse_number(written))
    except ValueError:
        number = np.nan
    if not 0.0 < number < most:
        raise _refuse(text, f"write a number above 0 and below {most:g} {where}")
    return number


def _refuse(text: str, hint: str | None = None) -> InputError:
    must = (
        "be 'width(METRIC)<=NUMBER', 'P(best)>=NUMBER', 'regret<=NUMBER' or "
        "'P(regret<=NUMBER)>=NUMBER'"
    )
    return InputError(option="target", value=text, must=must, hint=hint)


# -------------------------------------------------------------------------------------------------
# Runs of labeling that joint draws say are possible, and where they meet a target.
#
# In each of S possible worlds a joint draw is the truth, a class is drawn for every row that agrees
# with it, and rows are labeled at random, to 4, 16, ... times as many as there are. The method is
# fitted to each: mu_w(n), the estimates, and x_w(n), the draws about them.
#
# - The width of an interval is read off each fit.
# - The probability of the best and the regret depend on where the estimates have moved from mu,
#   where they are now, and on how far the draws spread about them. They are read off all pairs of
#   worlds and both directions, mu + (mu_v(n) - mu) + x_w(n) and mu - (mu_v(n) - mu) + x_w(n): few
#   fits then tell much. How far draws spread hardly depends on the world, and a belief that expects
#   its estimates to move one way rather than the other would have moved them. Thirty worlds or more
#   tell enough by themselves, and each is read off its fit alone.
#
# At each n that gives a sample of what the target bounds. A quantile of it as a function of n, made
# monotone, on lines between logarithms of which the last is drawn on, crosses the bound at the
# number of labels with which that share of the runs meets the target. (A model in which all
# differences shrink at one rate, mu moving with them, gave half of the labels that regret takes:
# differences between good models shrink least.)
#
# Possible truths: among all labelings that give the values of a draw, the one nearest to the belief
# W tilts it along the influences psi of the labels,
#
#     W_d(k | i)  ~  W(k | i) exp( sum_j l_j psi_ij(k) ),     l such that m(W_d) = draw d
#
# (least Kullback-Leibler distance to first order). Labels drawn from W_d are a world in which the
# classifiers are as good as the draw says, and row by row as the belief thinks likely.


def tilt_belief(
    metric: Metric,
    scores: FloatArray,
    belief: FloatArray,
    weights: FloatArray | None,
    influence: FloatArray,
    wanted: FloatArray,
    constants: TiltConstants | None = None,
) -> FloatArray:
    """W_d (n, K): ``belief`` (n, K) tilted until the metric is as ``wanted`` (M,).

    ``influence`` (n, K, M) is psi at ``belief``; a NaN in ``wanted`` asks for nothing.
    """
    settings = constants or TiltConstants()
    plan = metric.plan(scores)
    known = np.isfinite(wanted)
    psi = influence[:, :, known]
    steps = np.zeros(int(known.sum()))
    tilted = belief
    for _ in range(settings.steps):
        mass = tilted if weights is None else tilted * weights[:, None]
        missing = wanted[known] - plan(mass[None])[0][known]
        if not np.isfinite(missing).all() or np.abs(missing).max(initial=0.0) < settings.near:
            break
        mean = np.einsum("nk,nkm->nm", tilted, psi)
        flat = psi.reshape(-1, psi.shape[2])
        covariance = (flat * tilted.reshape(-1, 1)).T @ flat - mean.T @ mean
        covariance += np.eye(len(covariance)) * settings.ridge * max(np.trace(covariance), 1e-12)
        steps = steps + np.linalg.solve(covariance, missing)
        push = np.clip(psi @ steps, -settings.strongest, settings.strongest)
        tilted = belief * np.exp(push - push.max(axis=1, keepdims=True))
        tilted = tilted / tilted.sum(axis=1, keepdims=True)
    return tilted


@dataclass(frozen=True, eq=False)
class Sight:
    """What a target bounds, with ``labels`` labels in all: ``values``, one per run."""

    labels: int
    values: FloatArray

    @property
    def median(self) -> float:
        """The median over runs."""
        return float(np.median(self.values))

    def compute_share_met(self, target: Target) -> float:
        """Share of the runs that meet ``target``."""
        return float(np.mean([target.is_met(value) for value in self.values]))


def simulate_labeling(
    evaluation: Evaluation,
    targets: Sequence[Target],
    simulations: int,
    settings: PlanConstants,
    rng: np.random.Generator,
) -> tuple[tuple[Sight, ...], ...]:
    """What each of ``targets``, all about one metric, bounds at growing numbers of labels.

    Labels grow until nine runs of ten meet every target or they are as many as are fitted. Then the
    number in the middle of the step in which half of the runs came to meet a target is looked at.
    """
    worlds = imagine_worlds(evaluation, targets[0], simulations, settings, rng)
    method, metric = _make_method(evaluation, settings), targets[0].metric
    now = evaluation.estimates[0][evaluation.metrics.index(metric)]
    n_labeled = evaluation.data.n_labeled
    most = n_labeled + min(evaluation.data.n_unlabeled, settings.rows_simulated)
    sights: list[list[Sight]] = [[] for _ in targets]
    pairs = list(zip(targets, sights, strict=True))

    def look(total: int) -> None:
        fits: list[base.Estimate] = []
        for number, world in enumerate(progress.track(worlds, f"fits to {total} labels")):
            fitted = method.fit(world.give_labels(total), np.random.default_rng(number))
            fits.append(fitted.estimate([metric], [None])[0][0])
        for target, seen in pairs:
            seen.append(Sight(total, _read(target, evaluation, now, fits, settings)))

    for total in count_totals(n_labeled, most, settings):
        look(total)
        if all(seen[-1].compute_share_met(target) >= settings.spread[1] for target, seen in pairs):
            break
    for total in sorted({_find_middle(t, seen, n_labeled, settings) for t, seen in pairs} - {0}):
        look(total)
    return tuple(tuple(sorted(seen, key=lambda sight: sight.labels)) for seen in sights)


def _find_middle(
    target: Target, sights: Sequence[Sight], n_labeled: int, settings: PlanConstants
) -> int:
    """The middle of the step in which half of the runs came to meet the target; 0: none."""
    before = max(n_labeled, 1)
    for sight in sights:
        if sight.compute_share_met(target) >= 0.5:
            wide = sight.labels > before * settings.widest_step
            return round(float(np.sqrt(before * sight.labels))) if wide else 0
        before = sight.labels
    return 0


@dataclass(frozen=True, eq=False)
class World:
    """A possible world: the class of every row, and the order in which rows get their labels."""

    data: scoreset.ScoreSet
    classes: IntArray
    order: IntArray

    def give_labels(self, total: int) -> scoreset.ScoreSet:
        """The data with ``total`` labels; those drawn here are at random, and weights follow."""
        data, new = self.data, self.order[: total - self.data.n_labeled]
        labels = data.labels.copy()
        labels[new] = self.classes[new]
        if data.design.weights is None:
            return data.replace(labels=labels)
        rounds = design.find_rounds(data.design, data.labels)
        number, chance = rounds.number.copy(), rounds.probability.copy()
        number[new], chance[new] = rounds.next_number, np.nan
        return data.replace(
            labels=labels, design=design.make_design(design.LabelRounds(chance, number), labels)
        )


def imagine_worlds(
    evaluation: Evaluation,
    target: Target,
    number: int,
    settings: PlanConstants,
    rng: np.random.Generator,
) -> list[World]:
    """Worlds in which the metric of the target is as joint draws of it say."""
    labeled = evaluation.data.labeled
    free = np.flatnonzero(~labeled)
    if free.size > settings.rows_simulated:
        free = rng.choice(free, settings.rows_simulated, replace=False)
    part = np.sort(np.concatenate([np.flatnonzero(labeled), free]))
    data, belief = evaluation.data.take(part), believe(evaluation, settings.suggest.hedge)[part]
    metric, scores, least = target.metric, data.scores, settings.suggest.least_share
    estimate = evaluation.estimates[0][evaluation.metrics.index(metric)]
    everywhere = np.ones(data.n_rows, dtype=bool)
    psi = measure_influence(metric, scores, belief, data.weights, everywhere, least)
    worlds = []
    for wanted in _spread_draws(estimate, number, rng):
        tilted = tilt_belief(metric, scores, belief, data.weights, psi, wanted, settings.tilt)
        truth = np.where(data.labeled, data.labels, _draw_classes(data, tilted, rng))
        worlds.append(World(data, truth, rng.permutation(np.flatnonzero(~data.labeled))))
    return worlds


def _draw_classes(
    data: scoreset.ScoreSet, belief: FloatArray, rng: np.random.Generator
) -> IntArray:
    """The class (n,) of each row; rows of a cluster differ together from what is believed.

    They are as correlated as differences of labels from mean scores are.
    """
    known = data.labeled
    if data.clusters is None or not known.any():
        return beliefs.draw_labels(belief, 1, rng)[0]
    off = np.eye(belief.shape[1])[data.labels[known]] - average_scores(data.scores[known])
    found = clusters.find_correlation(off, data.clusters[known])
    share = np.sin(0.5 * np.pi * found)  # of normal variables of whose signs this is the one
    common = rng.normal(size=int(data.clusters.max()) + 1)[data.clusters]
    mixed = np.sqrt(share) * common + np.sqrt(1.0 - share) * rng.normal(size=data.n_rows)
    return beliefs.find_labels_at(np.asarray(ndtr(mixed))[None], belief)[0]


def _spread_draws(
    estimate: base.Estimate, number: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Joint draws (M,) spread over the mean of the models; without any, the estimate itself."""
    if estimate.draws is None:
        for _ in range(number):
            yield estimate.value
        return
    order = np.argsort(np.nanmean(estimate.draws, axis=1), kind="stable")
    parts = np.array_split(order, number) if order.size >= number else [order] * number
    for part in parts:
        yield estimate.draws[rng.choice(part)]


def _read(
    target: Target,
    evaluation: Evaluation,
    now: base.Estimate,
    fits: list[base.Estimate],
    settings: PlanConstants,
) -> FloatArray:
    """What the target bounds in every run that the fits tell of; ``now`` is before them."""
    models, level = evaluation.data.models, evaluation.level
    many = len(fits) >= settings.each_by_itself
    if many or target.what == "width" or any(fit.draws is None for fit in fits):
        return np.array([target.measure(models, fit, level) for fit in fits])
    values = []
    known = np.isfinite([now.value, *(fit.value for fit in fits)]).all(axis=0)
    moves = [sign * (fit.value - now.value)[known] for fit in fits for sign in (1.0, -1.0)]
    for fit in fits:
        assert fit.draws is not None
        about = fit.draws[:, known] - fit.value[known]
        for center in (now.value[known] + move for move in moves):
            moved = replace(now, value=center, draws=center + about)
            values.append(target.measure_draws(moved))
    return np.array(values)


def find_crossing(
    target: Target,
    now: float,
    n_labeled: int,
    sights: Sequence[Sight],
    share: float,
    beyond: float = 1.0,
) -> float:
    """Labels in all with which ``share`` of the runs meet the target.

    The last line is drawn further, up to ``beyond`` times the labels that were looked at; infinite
    where the target is not met there.
    """
    rises = target.rises
    shown = [np.quantile(sight.values, 1.0 - share if rises else share) for sight in sights]
    values, bound = np.array([now, *shown]), target.bound
    if rises:
        values, bound = 1.0 - values, 1.0 - bound
    logs, wanted = reliability.make_falling(np.log(np.maximum(values, 1e-3 * bound))), np.log(bound)
    labels = np.log([max(n_labeled, 1), *(sight.labels for sight in sights)])
    met = np.flatnonzero(logs[1:] <= wanted)
    k = int(met[0]) if met.size else len(sights) - 1
    drop = logs[k] - logs[k + 1]
    part = max((logs[k] - wanted) / drop, 0.0) if drop > 0.0 else np.inf
    crossed = labels[k] + (min(part, 1.0) if met.size else part) * (labels[k + 1] - labels[k])
    return float(np.exp(crossed)) if crossed <= labels[-1] + np.log(beyond) + 1e-9 else np.inf


def count_totals(n_labeled: int, most: int, settings: PlanConstants) -> list[int]:
    """Numbers of labels that are tried: 4, 16, ... times as many, while fits are quick."""
    total = max(int(n_labeled * settings.ratio), n_labeled + settings.least_labels)
    totals = []
    while total <= max(settings.labels_fitted, 2 * n_labeled):
        totals.append(min(total, most))
        if total >= most:
            break
        total = int(total * settings.ratio)
    return totals or [min(2 * n_labeled, most)]


def _make_method(evaluation: Evaluation, settings: PlanConstants) -> base.Method:
    config = evaluation.settings.get("config")
    if not config or evaluation.streamed is not None:
        raise InputError(
            "labels cannot be planned for an evaluation that cannot be run again"
            + (f": {evaluation.settings.get('no_config')}" if not config else ", as it streamed"),
            hint="evaluate a part of the rows in memory",
        )
    method: Any = spec.RunSpec.from_dict(config).made_method
    declared = {option.name for option in options.list_declared(method)}
    if "n_draws" in declared:
        method = replace(method, n_draws=min(method.n_draws, settings.draws_simulated))
    return method
