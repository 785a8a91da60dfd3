"""Labels alone: each metric on the labeled rows, with intervals that hold at 20 labels.

The point estimate ignores the unlabeled rows. Which interval a metric has is declared by its kind
(`ssme.metrics.kinds`) and computed by the belief (`ssme.methods.beliefs`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from ssme.arrays import FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.errors import InputError, UnsupportedError
from ssme.methods import base, beliefs, draws
from ssme.methods.votes import cast_votes, compute_share_correct
from ssme.metrics.base import Metric
from ssme.options import Enumeration, Flag, Nothing, Number, OneOf, Whole, option


@dataclass(frozen=True)
class Labeled(base.DeclaredMethod, example="n_draws=100"):
    """Each metric on the labeled rows alone."""

    n_draws: int = draws.declare_joint_draws(1000)
    joint_draws: bool = option(
        True,
        "Whether to make the draws of metrics whose interval does not need them; comparisons and "
        "ranks do.",
        Flag(),
    )

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="labeled",
        title="Labeled rows alone",
        source="the metric itself; intervals: Wilson 1927, Newcombe 2006, Boyd et al. 2013",
        does="It computes the metrics on the labeled rows and ignores all other rows.",
        assumes="It assumes that the labeled rows were chosen at random.",
        fails="With few labels, its intervals are wide.",
        gives_posterior=False,
        designs=("random", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.LabeledBelief:
        return beliefs.LabeledBelief(data, self.n_draws, self.joint_draws, draws.spawn_seed(rng))


# -------------------------------------------------------------------------------------------------
# Active testing: choose which rows to label, then weigh them so that the choice does no harm.
#
# Rows are drawn one at a time without replacement, from q(i) proportional to the error a
# surrogate expects of the classifier, 1 - pi(y = predicted class | x_i); the surrogate pi is the
# mean score of the other classifiers. After M labels out of N rows the error is estimated without
# bias by
#
#     R = 1/M sum_m v_m loss_m,   v_m = 1 + (N - M) / (N - m) * (1 / ((N - m + 1) q(i_m)) - 1)
#
# with q(i_m) the probability of the m-th choice among the rows still left (LURE weights). Where the
# labels are there already and say with which probability each row was chosen (`ssme.data.design`),
# nothing is asked and R is computed from them.
#
# Source: Kossen et al., "Active testing: sample-efficient model evaluation", ICML 2021;
# Farquhar, Gal and Rainforth, "On statistical bias in active learning", ICLR 2021.


Oracle = Sequence[Any] | np.typing.NDArray[Any] | Callable[[IntArray], Sequence[Any]]


class _Oracle:
    """The classes of all rows, or a function that gives them."""

    def accept(self, value: Any) -> Oracle:
        listed = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
        if not callable(value) and not listed:
            raise ValueError
        return value

    def describe(self) -> str:
        return "the classes of all rows, or a function from row numbers to their classes"


@dataclass(frozen=True)
class ActiveTesting(base.DeclaredMethod):
    """Accuracy from labels that the method asks for.

    Examples
    --------
    >>> import ssme
    >>> scores = {"a": [0.9, 0.2, 0.7, 0.4], "b": [0.8, 0.3, 0.6, 0.1]}
    >>> method = ssme.ActiveTesting(budget=2)
    >>> ssme.evaluate(scores, [1, 0, 1, 0], method=method, metrics="accuracy").method
    'active_testing'
    """

    oracle: Oracle | None = option(
        None,
        "The classes of all rows, or a function from row numbers to their classes. It is not "
        "needed where every row is labeled: the labels are then asked.",
        OneOf(Nothing("the labels"), _Oracle()),
        python_only=True,
    )
    budget: int = option(100, "Number of labels to ask for.", Whole(1, 10**9))
    share: Literal["each", "all"] = option(
        "each",
        "Whether the budget is spent on each classifier separately, as in the source, or once "
        "for all, from the mean of their acquisition distributions.",
        Enumeration("each", "all"),
    )
    uniform: float = option(
        0.5,
        "Share of every acquisition distribution that is uniform. It bounds the weights: no row "
        "counts more than about 1 / uniform times.",
        Number(least=1e-6, most=1.0),
    )

    spec: ClassVar[base.MethodSpec] = base.MethodSpec(
        name="active_testing",
        title="Active testing: chosen labels, LURE weights",
        source="Kossen et al. 2021",
        does="It chooses rows to label by how informative they are and weights their labels so "
        "that the estimate is unbiased.",
        assumes="It assumes that the labels were chosen with the probabilities that it declares.",
        fails="With few labels, it is unreliable where classifiers are confident and wrong.",
        metrics=("accuracy",),
        needs_labels=False,
        gives_intervals=False,
        gives_posterior=False,
        groups=False,
        missing_scores=False,
        designs=("random", "weights"),
    )

    def fit(self, data: ScoreSet, rng: np.random.Generator) -> beliefs.DirectBelief:
        votes = cast_votes(data.scores)
        if data.design.weights is not None and self.oracle is None:
            return _make_belief(data, *_read_labels(data, votes))
        ask = self._ask(data)
        proposal = compute_acquisition(data.scores, votes, self.uniform)
        if self.share == "all":
            proposal = np.repeat(proposal.mean(axis=1, keepdims=True), data.n_models, axis=1)
        race = rng.exponential(size=data.n_rows)
        value = np.empty(data.n_models)
        asked: set[int] = set()
        for j in range(data.n_models):
            rows, probability = acquire(proposal[:, j], self.budget, race)
            truth = np.eye(data.n_classes)[ask(rows)]
            error = 1.0 - compute_share_correct(votes[rows, j : j + 1], truth)[:, 0]
            if data.weights is not None:
                error = error * data.weights[rows] / data.weights.mean()
            value[j] = 1.0 - (compute_lure_weights(probability, data.n_rows) * error).mean()
            asked.update(rows.tolist())

        return _make_belief(data, value, np.array(sorted(asked), dtype=np.int64))

    def _ask(self, data: ScoreSet) -> Callable[[IntArray], IntArray]:
        """Class indices of the rows asked for."""
        oracle = self.oracle
        if oracle is None:
            if data.n_unlabeled:
                raise UnsupportedError(
                    "method 'active_testing' chooses which rows to label and has nobody to ask",
                    hint="pass oracle= the classes of all rows or a function from row numbers to"
                    " classes, label every row, or give labels with their probabilities",
                )
            return lambda rows: data.labels[rows]
        if not callable(oracle) and len(oracle) != data.n_rows:
            raise InputError(
                f"the oracle must give one class for each of {data.n_rows} rows, got "
                f"{len(oracle)} classes",
                hint="pass one class per row, or a function from row numbers to classes",
            )
        index = {name: k for k, name in enumerate(data.classes)}

        def ask(rows: IntArray) -> IntArray:
            answers = list(oracle(rows) if callable(oracle) else [oracle[row] for row in rows])
            if len(answers) != len(rows):
                raise InputError(f"the oracle gives {len(answers)} classes for {len(rows)} rows")
            for row, answer in zip(rows, answers, strict=True):
                if not isinstance(answer, Hashable) or answer not in index:
                    problem = f"the oracle says {answer} for row {row}"
                    raise InputError(problem, hint=f"the classes are {', '.join(map(repr, index))}")
            return np.array([index[answer] for answer in answers], dtype=np.int64)

        return ask


def _read_labels(data: ScoreSet, votes: FloatArray) -> tuple[FloatArray, IntArray]:
    """Accuracy (M,) from the labels there are, each counting as the rows that it represents.

    Only ratios of weights that the caller declared matter; those of rounds count rows.
    """
    labeled, weights = np.flatnonzero(data.labeled), data.label_weights
    assert weights is not None
    error = 1.0 - compute_share_correct(
        votes[labeled], np.eye(data.n_classes)[data.labels[labeled]]
    )
    if data.design.rounds is None:
        total = float(weights[labeled].sum())
    else:
        total = data.n_rows if data.weights is None else float(data.weights.sum())
    return 1.0 - weights[labeled] @ error / total, labeled


def _make_belief(data: ScoreSet, value: FloatArray, asked: IntArray) -> beliefs.DirectBelief:
    def answer(metric: Metric, rows: IntArray) -> base.Estimate:
        if rows.size != data.n_rows:
            problem = "method 'active_testing' chooses its labels for all rows, not for a group"
            hint = "run it on the rows of the group alone, or use another method"
            raise UnsupportedError(problem, hint=hint)
        return base.Estimate(np.clip(value, metric.low, metric.high))

    return beliefs.DirectBelief(
        data.n_rows, answer, base.Facts(values={"asked_rows": asked.tolist()})
    )


def compute_acquisition(scores: FloatArray, votes: FloatArray, uniform: float) -> FloatArray:
    """Acquisition distribution (n, M) of every classifier for its error rate."""
    n, n_models, _ = scores.shape
    total = scores.sum(axis=1)
    expected = np.empty((n, n_models))
    for j in range(n_models):
        surrogate = (total - scores[:, j]) / (n_models - 1) if n_models > 1 else scores[:, j]
        expected[:, j] = 1.0 - compute_share_correct(votes[:, j : j + 1], surrogate)[:, 0]
    expected = np.maximum(expected, 0.0)
    mass = expected.sum(axis=0)
    peaked = np.where(mass > 0, expected / np.where(mass > 0, mass, 1.0), 1.0 / n)
    return (1.0 - uniform) * peaked + uniform / n


def acquire(proposal: FloatArray, budget: int, race: FloatArray) -> tuple[IntArray, FloatArray]:
    """Rows drawn from ``proposal`` (n,) without replacement, and each draw's probability.

    Exponential clocks of rate ``proposal`` ring in the order of successive draws; ``race`` (n,) are
    the unit exponentials behind them, so that classifiers can share the same luck.
    """
    order = np.argsort(race / proposal, kind="stable")
    rows = order[: min(budget, proposal.size)]
    still_left = np.cumsum(proposal[order][::-1])[::-1]
    probability: FloatArray = proposal[rows] / still_left[: rows.size]
    return rows, probability


def compute_lure_weights(probability: FloatArray, n_rows: int) -> FloatArray:
    """v_m (M,) of draws made with ``probability`` (M,) from ``n_rows`` rows."""
    n_labels = probability.size
    if n_labels == n_rows:
        return np.ones(n_labels)
    m = np.arange(1, n_labels + 1)
    return 1.0 + (n_rows - n_labels) / (n_rows - m) * (1.0 / ((n_rows - m + 1) * probability) - 1.0)
