"""Which rows to label next.

A label of row i, drawn with probability p_i, enters every estimate with weight 1 / p_i, so the
variance that the labels leave in the questions of a goal is, up to terms that do not depend on p,

    sum_i s_i^2 / p_i,     s_i^2 = sum_c weight_c Var_{k ~ W_i} psi_ic(k)

which is least for p_i proportional to s_i (Neyman, 1934); psi is the influence of a label on
question c, W the belief, weights and questions are those of the goal (below).

That is what a label says about its own row. A method that draws its belief learns from it about
all rows, and no choice of rows was found that teaches `auto` more about a metric than rows drawn
uniformly and spread over the scores (docs/labeling.md): for a metric they are drawn so,
unless `auto` corrects the metric by what the labels say (`ssme.methods.auto.correction`).

A share of p is uniform and the draw spreads over unlike rows (below). What is drawn has known
probabilities, so that estimates can allow for the choice (`ssme.data.design`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ssme import options, schema, writing
from ssme.arrays import FloatArray, IntArray
from ssme.data.design import LabelRounds, find_rounds, make_design
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, name_argument
from ssme.methods.base import DrawsPosterior, GroupRows, number_rows
from ssme.methods.votes import average_scores
from ssme.metrics import decisions, influence, kinds
from ssme.metrics.base import Metric
from ssme.results import active_selection, choose, comparison
from ssme.results.table import Answer
from ssme.wording import quote, suggest_nearest

if TYPE_CHECKING:
    from ssme.results.evaluation import Evaluation
    from ssme.results.groups import Group


DESIGNS = ("random", "by_score", "by_class", *active_selection.SIZED)
"""Ways to draw that look at no goal."""

ABOUT_ACCURACY = ("coda", "selector")
"""Ways to take rows that serve the goal of the most accurate model alone."""

DECIMALS = 12
"""Decimals of the belief that rows are ordered by."""
TIE = 1e-6
"""Relative difference up to which a row says equally much about two questions."""


@dataclass(frozen=True)
class SuggestConstants:
    """Constants of `suggest_rows`."""

    # rows whose influence is measured, at most, unless ``rows_per_label`` asks for more
    rows_looked_at: int = 1500
    rows_per_label: int = 20  # rows whose influence is measured for each label that is asked for
    # share of the mean score in the belief that rows are valued by, lest a belief that is too
    # sure hide the rows it is wrong about
    hedge: float = 0.1
    # probability of a class of a row below which its influence is not measured
    least_share: float = 0.005
    # least weight of a question of ``best``, as a share of the largest: draws may be too sure.
    # A model that is behind the pick in every draw has none: it costs no labels
    least_weight: float = 0.02
    # labels drawn at random that one drawn for the goal must be worth; else rows are drawn
    # uniformly, since there is nothing to gain
    least_gain: float = 1.02
    strata: int = 5  # parts of the scores of the design ``by_score``
    batch: int = schema.LARGEST_BATCH  # rows of a batch, at most, unless the user says how many


@dataclass(frozen=True, eq=False)
class Suggestion(Answer):
    """Rows to label next, with the probability that each of them was drawn with.

    Attributes
    ----------
    goal : str
        What the labels are wanted for.
    rows : array of int
        Numbers of the rows in the data.
    ids : tuple
        Their names, or their numbers where rows have no names.
    probability : array
        Probability in (0, 1] with which each row was drawn; NaN where rows were taken by a method
        that has none, whose labels are ``by_score`` afterwards.
    reasons : tuple of str
        What the label of each row tells about.
    round : int
        Number of the round of labeling, from 1 on; labels that were there before are round 0.
    gain : float
        How many labels drawn at random one of these is worth for the goal, if the belief is right;
        1 where rows were drawn at random, or without a goal.
    stop : str
        Why one may stop labeling, where rows are for the best model and one may; else empty.
    data : ScoreSet
        The data that rows were drawn from.
    """

    goal: str
    rows: IntArray
    ids: tuple[Any, ...]
    probability: FloatArray
    reasons: tuple[str, ...]
    round: int
    gain: float
    data: ScoreSet = field(repr=False)
    stop: str = ""

    @property
    def library(self) -> str:  # type: ignore[override]
        return self.data.frame_library or "pandas"

    @property
    def is_drawn(self) -> bool:
        """Whether rows were drawn with known probabilities."""
        return self.goal not in schema.TAKEN

    def sentence(self) -> str:
        """Describe in words what the labels are worth, and whether one may stop."""
        return " ".join(filter(None, (self._describe_gain(), self.stop)))

    def _describe_gain(self) -> str:
        n = len(self.rows)
        if not self.is_drawn:
            return (
                f"{self.goal} takes {'this row' if n == 1 else f'these {n:,} rows'}, with no known "
                "probability: evaluate labels with `design=by_score`. Methods that need "
                "probabilities refuse them."
            )
        if self.gain > 1.0:
            told = "the label of this row tells" if n == 1 else f"these {n:,} labels tell"
            return (
                f"If the present estimates are right, {told} as much about the "
                f"goal {self.goal} as {n * self.gain:,.0f} labels of rows drawn at random."
            )
        if self.goal in DESIGNS:
            drawn = "This row is" if n == 1 else f"These {n:,} rows are"
            return f"{drawn} drawn without regard to a goal."
        spread = "." if n == 1 else f", and these {n:,} are spread over the scores."
        return (
            f"Every row without a label was drawn with the same probability{spread} For the goal "
            f"{self.goal} no choice of rows is known that needs fewer labels."
        )

    def table(self) -> list[dict[str, Any]]:
        """One row per suggested row: id, empty label, probability if known, round and reason."""
        cells = zip(self.ids, self.probability.tolist(), self.reasons, strict=True)
        return [
            {
                "id": id,
                "label": "",
                **({"probability": chance} if self.is_drawn else {}),
                "round": self.round + self._round_before,
                "reason": reason,
            }
            for id, chance, reason in cells
        ]

    @property
    def _round_before(self) -> int:
        """1 where labels from before the rounds have weights, and are written as the first one."""
        rounds = find_rounds(self.data.design, self.data.labels)
        weighed = (rounds.number == 0) & np.isfinite(rounds.probability) & self.data.labeled
        return int(weighed.any())

    def list_earlier(self) -> list[dict[str, Any]]:
        """The rows of earlier rounds with their labels, in the layout of `table`.

        Labels with weights that were there before are among them, as the first round. Where rows
        are taken without a probability, all labels are.
        """
        rounds, data = find_rounds(self.data.design, self.data.labels), self.data
        known, more = data.labeled.copy(), 0
        if self.is_drawn:
            known = ((rounds.number > 0) | known) & np.isfinite(rounds.probability)
            more = self._round_before
        known[self.rows] = False
        order = np.flatnonzero(known)
        order = order[np.argsort(rounds.number[order], kind="stable")]
        return [
            {
                "id": int(row) if data.ids is None else data.ids[row],
                "label": data.label_values[row] if data.labeled[row] else "",
                **({"probability": float(rounds.probability[row])} if self.is_drawn else {}),
                "round": int(rounds.number[row]) + more,
                "reason": f"drawn in round {rounds.number[row] + more}"
                if self.is_drawn
                else "labeled before",
            }
            for row in order
        ]

    def _list_rows(self) -> Sequence[Mapping[str, Any]]:
        return [{k: v for k, v in row.items() if k != "label"} for row in self.table()]

    def save(self, path: str | Path) -> Path:
        """Write the table as CSV, with an empty column ``label`` to fill in.

        Rows of earlier rounds come first, with their labels, so that the newest file is complete.

        Parameters
        ----------
        path : str or Path
            The file; with its labels filled in it is a file of labels
            (``ssme evaluate --labels-file``).
        """
        writing.write_text(Path(path), writing.format_csv([*self.list_earlier(), *self.table()]))
        return Path(path)

    def fill_in(self, labels: Sequence[Any]) -> ScoreSet:
        """The data with labels for the suggested rows.

        Parameters
        ----------
        labels : sequence
            Classes in the order of ``rows``; None where a row got no label.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> r = ssme.evaluate(sample_path(), "label", id="id", metrics="accuracy")
        >>> next_rows = r.suggest(3)
        >>> data = next_rows.fill_in([1, 0, 1])
        >>> data.n_labeled - r.data.n_labeled
        3
        """
        if len(labels) != len(self.rows):
            raise InputError(
                f"{len(labels)} labels were given for {len(self.rows)} suggested rows",
                hint="give one label per row in the order of the rows, None where a row got none",
            )
        values = self.data.label_values.copy()
        values[self.rows] = list(labels)
        before = find_rounds(self.data.design, self.data.labels)
        chance, number = before.probability.copy(), before.number.copy()
        chance[self.rows], number[self.rows] = self.probability, self.round
        filled = self.data.with_labels(values)
        if not self.is_drawn:
            return filled.with_design("by_score" if filled.n_labeled else None)
        return filled.with_design(make_design(LabelRounds(chance, number), filled.labels))


def suggest_rows(
    evaluation: Evaluation,
    n: int | None,
    goal: str,
    *,
    draw: str = schema.SUGGEST["draw"].default,
    uniform: float = schema.SUGGEST["uniform"].default,
    random_state: int | None = 0,
    constants: SuggestConstants | None = None,
) -> Suggestion:
    """Draw rows to label next, with known probabilities; see `ssme.Evaluation.suggest`."""
    constants = constants or SuggestConstants()
    given = {"n": n, "uniform": uniform, "draw": draw}
    asked, uniform, draw = (
        options.accept(schema.SUGGEST[name], value) for name, value in given.items()
    )
    data = evaluation.data
    if evaluation.streamed is not None:
        raise InputError(
            "rows cannot be suggested for an evaluation that was streamed",
            hint="evaluate a random part of the rows that fits into memory",
        )
    if data.design.kind in ("by_class", "by_score") and draw not in schema.TAKEN:
        raise InputError(
            f"rows cannot be suggested next to labels with `design={data.design.kind}`: "
            "the probabilities with which they were chosen are not known",
            hint="give a column that says how many rows each label represents, as in "
            "`design=COLUMN`",
        )
    if data.n_unlabeled == 0:
        raise InputError("every row has a label", hint="add rows without a label")
    if asked is not None and asked > data.n_unlabeled:
        must = f"be at most {data.n_unlabeled:,}, the number of rows without a label"
        raise InputError(option="n", value=asked, must=must)
    looks = draw in ("goal", *ABOUT_ACCURACY)
    _refuse_idle("goal", goal, draw, used=looks)
    _refuse_idle("uniform", uniform, draw, used=draw != "random" and draw not in schema.TAKEN)
    wanted = find_goal(evaluation, goal, constants) if looks else None
    best = wanted if wanted is not None and wanted.text.startswith("best:") else None
    usual = constants.batch if best is None else schema.grow_batch(data.n_labeled, constants.batch)
    n = int(asked or min(usual, data.n_unlabeled))
    if draw in ABOUT_ACCURACY and (best is None or best.metric.kind != decisions.ACCURACY):
        must = f"be best:accuracy with draw={draw}, which looks for the most accurate model"
        asked_for = goal if best is None else best.text
        raise InputError(option="goal", value=asked_for, must=must, hint="leave out `draw`")
    rng = np.random.default_rng(random_state)
    part, share = _look_at(data, n, constants, rng)
    stop = "" if best is None else choose.find_stop(evaluation, best.metric)
    if draw in schema.TAKEN:  # the rows that the method values most, equal ones in any order
        value = active_selection.value_rows(draw, data.take(part))
        rows = part[np.lexsort((rng.random(part.size), -value))[:n]]
        reason = (schema.REASONS_TAKEN[draw],)
        return _suggest(data, draw, rows, np.full(n, np.nan), reason * n, 1.0, stop)
    belief = believe(evaluation, constants.hedge)[part]
    evenly = wanted is not None and wanted.evenly
    evenly = evenly and isinstance(evaluation.belief, DrawsPosterior)
    if draw in active_selection.SIZED:
        size = active_selection.size_rows(draw, data.take(part))
        reasons = _give_one_reason(part.size, draw)
    elif wanted is None:
        size, reasons = _spread_evenly(belief, draw, data, constants.strata)
    elif evenly:
        size, reasons = np.ones(part.size), _give_one_reason(part.size)
    else:
        size, reasons = _measure_rows(data.take(part), belief, wanted, part, constants.least_share)
    left = np.flatnonzero(~data.labeled[part])
    chance, gain = np.zeros(part.size), 1.0
    chance[left] = set_probabilities(size[left], n, 1.0 if draw == "random" or evenly else uniform)
    if wanted is not None and not evenly:
        gain = measure_gain(size[left], chance[left])
        if gain < constants.least_gain:
            chance[left], gain, reasons = n / left.size, 1.0, _give_one_reason(part.size)
    order = left[np.lexsort((belief[left, 0], belief[left].argmax(axis=1), reasons.codes[left]))]
    if draw == "random":
        order = rng.permutation(left)
    drawn = draw_spread(chance, order, rng)
    drawn = rng.permutation(drawn)  # whoever stops labeling early has left out rows at random
    why = tuple(reasons.texts[code] for code in reasons.codes[drawn])
    named = draw if wanted is None else wanted.text
    return _suggest(data, named, part[drawn], chance[drawn] * share, why, gain, stop)


def _refuse_idle(name: str, value: Any, draw: str, *, used: bool) -> None:
    """Refuse an option that was set and that rows of this ``draw`` would not depend on."""
    usual = schema.SUGGEST[name].default
    if not used and value != usual:
        must = f"be left at {usual} with draw={draw}, which does not use it"
        raise InputError(option=name, value=value, must=must)


def _suggest(
    data: ScoreSet,
    goal: str,
    rows: IntArray,
    probability: FloatArray,
    reasons: tuple[str, ...],
    gain: float,
    stop: str,
) -> Suggestion:
    ids = tuple(rows.tolist() if data.ids is None else data.ids[rows].tolist())
    number = find_rounds(data.design, data.labels).next_number
    return Suggestion(goal, rows, ids, probability, reasons, number, gain, data, stop)


# -------------------------------------------------------------------------------------------------
# What labels are wanted for, as a weighted list of questions about the classifiers.
#
# A question is a contrast a of the classifiers' metrics on one group of rows, theta = sum_j a_j
# m_j:
#
# - ``best``: the pick against each other model, a = e_pick - e_j. A difference with mean mu and
#   standard deviation sigma under the joint draws costs an expected regret of E max(0, -theta);
#   that falls by phi(mu / sigma) / (2 sigma) per unit of variance taken away: the weight of the
#   question.
# - ``metric:NAME``: the metric of every model, with equal weights.
# - ``group:COLUMN``: the metric of every model in every group of that column, likewise; a label
#   moves the metric of a small group more, so small groups get more labels. Any grouping may stand
#   for the column: ``group:age:quantiles=4``, ``group:sex+race``.


GOALS = ("best", "metric", "group")


@dataclass(frozen=True, eq=False)
class Questions:
    """Contrasts (C, M) of the classifiers' metrics on the same rows.

    ``weights`` (C,) say how much the variance of each counts, ``texts`` are the reasons to label
    rows that answer them.
    """

    rows: IntArray
    contrasts: FloatArray
    weights: FloatArray
    texts: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Goal:
    """What labels are wanted for: a metric and questions about it.

    ``evenly``: a method that draws its belief learns most from rows drawn uniformly.
    """

    text: str
    metric: Metric
    questions: tuple[Questions, ...]
    evenly: bool = False


def find_goal(evaluation: Evaluation, text: str, constants: SuggestConstants) -> Goal:
    """The goal that ``text`` names, as questions about the models of ``evaluation``."""
    kind, name = parse_goal(text)
    metric, data = evaluation.metrics[0], evaluation.data
    if kind != "group" and name:
        with name_argument("goal"):
            metric = evaluation.find_metric(name)
    if kind == "best":
        question = _ask_of_pick(evaluation, metric, constants.least_weight)
        return Goal(f"best:{metric.name}", metric, (question,))
    places: list[tuple[GroupRows, str]] = [(None, "")]
    if kind == "group":
        places = [(group.rows, f" in {group.name}") for group in _find_groups(evaluation, name)]
    each, even = np.eye(data.n_models), np.ones(data.n_models)
    questions = tuple(
        Questions(
            number_rows(rows, data.n_rows),
            each,
            even,
            tuple(f"{metric.name} of {model}{where}" for model in data.models),
        )
        for rows, where in places
    )
    # `auto` corrects the area under the curve by what labels of chosen rows say of it
    corrected = isinstance(metric.kind, kinds.Ranking) and metric.kind.statistic == "roc_auc"
    return Goal(text, metric, questions, evenly=kind == "metric" and not corrected)


def parse_goal(text: str) -> tuple[str, str]:
    """The kind of a goal and the metric or grouping that it is about."""
    kind, colon, name = (part.strip() for part in str(text).partition(":"))
    if kind in GOALS and (name or (kind == "best" and not colon)):
        return kind, name
    must = "be best, best:METRIC, metric:METRIC or group:COLUMN"
    nearest = suggest_nearest(kind, GOALS) if kind not in GOALS else None
    raise InputError(option="goal", value=text, must=must, hint=nearest)


def _find_groups(evaluation: Evaluation, grouping: str) -> list[Group]:
    """The groups of a grouping, or of one that says how the column is cut."""
    reported = [group for group in evaluation.groups if group.by and not group.pooled]
    groups = [group for group in reported if group.by == grouping]
    groups = groups or [group for group in reported if group.by.startswith(f"{grouping}:")]
    if not groups:
        known = list(dict.fromkeys(group.by for group in reported))
        raise InputError(
            f"the evaluation has {f'the groupings {quote(known)}' if known else 'no groups'}",
            option="goal",
            value=f"group:{grouping}",
            must="name groups of the evaluation",
            hint=f"{suggest_nearest(grouping, known)}evaluate by this column first",
        )
    return groups


def _ask_of_pick(evaluation: Evaluation, metric: Metric, least_weight: float) -> Questions:
    """The pick against every other model, by what knowing more would save."""
    estimate, data = evaluation.estimate(metric.name), evaluation.data
    if metric.greater_is_better is None:
        raise InputError(
            f"{metric.name} does not say whether greater is better",
            option="goal",
            hint=f"use the goal metric:{metric.name}, or another metric",
        )
    names, known = data.models, np.isfinite(estimate.value)
    if known.sum() < 2:
        raise InputError(
            f"{int(known.sum())} of {known.size} models have a value of {metric.name}, and two are "
            "needed to choose among",
            option="goal",
            hint=f"use the goal metric:{metric.name}",
        )
    pick = int(comparison.order_models(names, estimate.value, metric.greater_is_better)[0])
    others = [j for j in np.flatnonzero(known) if j != pick]
    gap = estimate.value[pick] - estimate.value[others]
    weight = np.ones(len(others))
    if estimate.draws is not None:
        sign = 1.0 if metric.greater_is_better else -1.0
        ahead = sign * (estimate.draws[:, [pick]] - estimate.draws[:, others])
        spread = np.maximum(np.nanstd(ahead, axis=0), 1e-6)
        sure = np.exp(-0.5 * (gap / spread) ** 2) / spread
        possible = ~(ahead > 0.0).all(axis=0)
        if sure.max() > 0.0:
            weight = np.maximum(sure / sure.max(), np.where(possible, least_weight, 0.0))
    each = np.eye(known.size)
    texts = tuple(f"{names[pick]} or {names[j]}" for j in others)
    return Questions(number_rows(None, data.n_rows), each[pick] - each[others], weight, texts)


# -------------------------------------------------------------------------------------------------
# How much each row says about the questions


def _look_at(
    data: ScoreSet, n: int, constants: SuggestConstants, rng: np.random.Generator
) -> tuple[IntArray, float]:
    """Rows that are looked at, in ascending order, and the share of unlabeled rows among them.

    Where there are very many, they are a random part; a row's probability is then that of being in
    the part times that of being drawn from it.
    """
    free = np.flatnonzero(~data.labeled)
    most = max(constants.rows_looked_at, constants.rows_per_label * n)
    if free.size <= most:
        return np.arange(data.n_rows), 1.0
    taken = rng.choice(free, most, replace=False)
    known = np.flatnonzero(data.labeled)
    known = rng.choice(known, min(known.size, most), replace=False)
    return np.sort(np.concatenate([taken, known])), most / free.size


def believe(evaluation: Evaluation, hedge: float) -> FloatArray:
    """P(y | s) (n, K) of every row: the belief, with ``hedge`` of the mean score mixed in.

    Rounded, because ties decide which rows are drawn and file formats differ in the last digit.
    """
    mixed, posterior = average_scores(evaluation.data.scores), evaluation.posterior
    if posterior is not None:
        mixed = (1.0 - hedge) * posterior + hedge * mixed
    labeled = evaluation.data.labeled
    mixed[labeled] = np.eye(mixed.shape[1])[evaluation.data.labels[labeled]]
    return np.round(mixed, DECIMALS)


class _Reasons(NamedTuple):
    """Why each row is worth a label: codes (n,) into texts."""

    codes: IntArray
    texts: tuple[str, ...]


def _give_one_reason(n: int, text: str = "drawn uniformly, spread over the scores") -> _Reasons:
    """The same reason for all rows."""
    return _Reasons(np.zeros(n, dtype=np.int64), (text,))


def _measure_rows(
    data: ScoreSet, belief: FloatArray, goal: Goal, part: IntArray, least_share: float
) -> tuple[FloatArray, _Reasons]:
    """s (n,) of the rows ``part`` that ``data`` and ``belief`` hold, and the question of each."""
    size, largest = np.zeros(data.n_rows), np.zeros(data.n_rows)
    codes = np.zeros(data.n_rows, dtype=np.int64)
    texts: list[str] = []
    for asked in goal.questions:
        inside = np.flatnonzero(np.isin(part, asked.rows, assume_unique=True))
        weights = None if data.weights is None else data.weights[inside]
        asked_about = ~data.labeled[inside]
        psi = influence.measure_influence(
            goal.metric, data.scores[inside], belief[inside], weights, asked_about, least_share
        )
        spread = influence.measure_spread(psi @ asked.contrasts.T, belief[inside]) * asked.weights
        spread[spread < 1e-16 * spread.max(initial=0.0)] = 0.0  # rounding decides no order
        size[inside] += spread.sum(axis=1)
        most = spread.max(axis=1, initial=0.0)
        ahead = most > largest[inside] * (1.0 + TIE)
        # the first of equal questions, also where they differ by rounding
        largest_question = (spread >= most[:, None] * (1.0 - TIE)).argmax(axis=1)
        codes[inside[ahead]] = len(texts) + largest_question[ahead]
        largest[inside] = np.maximum(largest[inside], most)
        texts += asked.texts
    return np.sqrt(size), _Reasons(codes, tuple(texts))


def _spread_evenly(
    belief: FloatArray, design: str, data: ScoreSet, strata: int
) -> tuple[FloatArray, _Reasons]:
    """Sizes and reasons of the designs that look at no goal."""
    n, n_classes = belief.shape
    if design == "random":
        return np.ones(n), _give_one_reason(n, "drawn at random")
    if design == "by_class":
        share = belief / belief.sum(axis=0)
        texts = tuple(f"for class {name}" for name in data.classes)
        return share.sum(axis=1), _Reasons(np.round(share, DECIMALS).argmax(axis=1), texts)
    score = belief[:, -1] if n_classes == 2 else belief.max(axis=1)
    edges = np.linspace(score.min(), score.max(), strata + 1)[1:-1]
    codes = np.searchsorted(np.round(edges, DECIMALS), score, side="right")
    counts = np.bincount(codes, minlength=strata)
    texts = tuple(f"part {k + 1} of {strata} of the scores" for k in range(strata))
    return 1.0 / counts[codes], _Reasons(codes, texts)


# -------------------------------------------------------------------------------------------------
# Rows drawn with known probabilities, spread over the rows rather than bunched.
#
#     p_i = u n / N + (1 - u) n s_i / sum(s),     cut at 1, the rest raised in proportion
#
# for n of N rows with sizes s_i; u is the share drawn uniformly, so that no row is out of reach
# and no label stands for more than about 1 / u times the rows it would at random. Rows are put in
# an order in which neighbors are alike, and each of the points start + 0, 1, ..., n - 1 picks the
# row under it on the cumulated p (systematic sampling, Madow, Annals of Mathematical Statistics
# 20, 1949): row i is drawn with probability p_i exactly, and rows that are alike are not drawn
# together.


def set_probabilities(size: FloatArray, n: int, uniform: float) -> FloatArray:
    """Probabilities (N,) that sum to ``n``: a share ``uniform`` equal, the rest like ``size``."""
    total = float(size.sum())
    share = size / total if total > 0.0 else np.full(size.size, 1.0 / size.size)
    rate = uniform / size.size + (1.0 - uniform) * share
    certain = np.zeros(size.size, dtype=bool)
    while True:
        left = n - int(certain.sum())
        scaled = left * rate / rate[~certain].sum() if left else np.zeros_like(rate)
        beyond = ~certain & (scaled >= 1.0)
        if not beyond.any():
            return np.where(certain, 1.0, scaled)
        certain |= beyond


def measure_gain(size: FloatArray, probability: FloatArray) -> float:
    """How many labels drawn at random one drawn with ``probability`` (N,) is worth.

    The variance that labels leave is sum_i s_i^2 (1 / p_i - 1); the gain is that of equal
    probabilities over that of ``probability``, one where neither leaves any.
    """
    square, rows = size**2, size.size
    even = float(square.sum()) * (rows / float(probability.sum()) - 1.0)
    left = float((square * (1.0 / probability - 1.0)).sum())
    return even / left if left > 0.0 and even > 0.0 else 1.0


def draw_spread(probability: FloatArray, order: IntArray, rng: np.random.Generator) -> IntArray:
    """Row numbers drawn with ``probability`` (N,), spread along ``order`` (N,)."""
    ends = np.cumsum(probability[order])
    n = int(np.rint(ends[-1]))
    points = rng.random() + np.arange(n)
    found = np.searchsorted(ends, np.minimum(points, ends[-1] * (1.0 - 1e-12)), side="right")
    return order[np.minimum(found, order.size - 1)]
