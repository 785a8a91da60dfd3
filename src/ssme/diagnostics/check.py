"""What a warning is, and what a check may answer: a warning, fine, or not applicable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ssme.arrays import BoolArray, FloatArray, IntArray
from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.page import Severity, read_sections
from ssme.methods import base, clusters, votes
from ssme.metrics.base import Metric

# -------------------------------------------------------------------------------------------------
# The numbers by which checks decide, in one frozen record with their origin.


@dataclass(frozen=True)
class Limits:
    """Limits of all checks, with their origin; a `Case` takes another one to try other values."""

    # chance of a warning with no cause, over all classifiers or metrics that a test covers
    family_level: float = 0.01
    level: float = 0.95  # coverage of the intervals whose width is looked at
    # labeled rows looked at, and as many unlabeled ones: checks then cost the same at any size
    most_rows: int = 2_000
    least_labels: int = 5  # fewer labels cannot contradict anyone at the level of the tests
    # Cochran's rule of five (Biometrics 10, 1954): smaller counts are too small to approximate
    few_labels: int = 5
    # Kish's effective share of rows; below one half the weights more than double the variance
    least_efficiency: float = 0.5
    many_missing: float = 0.2  # share of missing scores up to which methods are tested here
    # labeled and unlabeled rows compared by the energy test: 600 x 600 distances
    compared_labeled: int = 200
    compared_unlabeled: int = 400
    # unlabeled rows, at most, whose mean scores are compared with those of labeled rows
    compared_classes: int = 2000
    least_compared: int = 10  # with fewer rows on either side the energy test finds hardly anything
    # smallest attainable p-value 0.0025, a quarter of `family_level`: room for two tests
    permutations: int = 399
    # chance of a warning with no cause of each of the two tests of shift: 4% together, and 5%
    # with the energy test
    shift_level: float = 0.02
    exact_rows: int = 300  # rows up to which the number of right answers has its exact distribution
    # correlation of scores above that of any two separately trained classifiers we have seen: in
    # 12 real sets of 2 to 9 classifiers the closest pair reached 0.9955
    same: float = 0.998
    # rows that two must share, where scores are missing or both are judges, before they are called
    # copies: two judges who are right on nine rows in ten agree on 50 rows with probability 5e-5
    least_common: int = 10
    least_common_answers: int = 50
    # agreement of judges beyond chance as a share of that of judges who are never wrong: that of
    # two who are right on two rows in three, of two classes
    judges_claim: float = 0.1
    # hidden labels can be recovered from independent views of them when there are three (Allman,
    # Matias and Rhodes, Annals of Statistics 37, 2009); two can only agree or disagree
    views: int = 3
    odd: float = 0.6  # probability of another world than the usual one from which it is a warning
    # |log| of the sharpness that agreement implies over that which confidence implies: over the
    # development sets its standard deviation is 0.26 and it stays below 0.7; with all scores raised
    # to the power 0.4 its mean is 0.7
    conflict: float = 0.7
    # and so many times the scale of its prior: over panels of the corpus, whose classifiers are of
    # uneven quality, its standard deviation is as large as that
    conflict_scales: float = 3.0
    # correlations within classes beyond those of nearly all sets of classifiers we have seen;
    # independent classifiers have 0.00, and ones whose noise has a correlation of 0.9 have 0.8
    usual_correlations: tuple[float, float] = (0.02, 0.76)
    # classifiers that check each other: panels of 36 have 31 at most, a hundred simulated ones 68
    most_views: float = 45.0
    # judges and rows with answers of all of them that show shared errors if there are any: judges
    # of 600 rows, made of real classifiers, have p-values below 0.001
    judges_compared: int = 5
    rows_compared: int = 600
    # mean correlation of scores above which agreement says nothing about confidence: on the real
    # sets in which scores raised to the power 0.4 are found it is at most 0.85
    similar: float = 0.88
    # share of right answers beyond those promised that makes scores vague, not just careful
    vague: float = 0.1
    # share of the classifiers whose scores must be vague, or look like ratings: one such
    # classifier among others is ordinary (nearest neighbors, a forest of few trees)
    most: float = 0.5
    # chance that the classifier which is best on the labels is so by luck, over all of them
    pulled: float = 0.02
    # distinct scores, at equal distances, of a classifier whose scores may be ratings
    ratings: tuple[int, int] = (3, 10)
    # root mean square, over classifiers, of differences in standard errors of one label draw:
    # twice what two draws from the same probabilities would show
    within_noise: float = 2.0


# -------------------------------------------------------------------------------------------------
# What checks look at: the data, the belief, the estimates, and a bounded sample of the rows.


@dataclass(frozen=True, eq=False)
class Case:
    """What checks look at: the data, what a method believes of them, and what it estimates.

    Parameters
    ----------
    data : ScoreSet
        Scores and labels.
    belief : Belief, optional
        What the fitted method believes (default: no method was fitted).
    metrics : sequence of Metric
        The metrics that were estimated.
    estimates, labels_only : sequence of Estimate
        Estimates on all rows, one per metric, by the method and from labels alone.
    limits : Limits
        Levels of the tests and numbers of rows that are looked at.
    groups : mapping of str to int, optional
        Number of labels of every group that is estimated (default: of the values of the group
        columns).
    """

    data: ScoreSet
    belief: base.Belief | None = None
    metrics: Sequence[Metric] = ()
    estimates: Sequence[base.Estimate] = ()
    labels_only: Sequence[base.Estimate] = ()
    limits: Limits = field(default_factory=Limits)
    groups: Mapping[str, int] | None = None

    @property
    def facts(self) -> base.Facts:
        return base.Facts() if self.belief is None else self.belief.facts

    @cached_property
    def cells(self) -> list[tuple[Metric, base.Estimate, base.Estimate]]:
        """Each metric with its estimates by the method and from labels alone."""
        return list(zip(self.metrics, self.estimates, self.labels_only, strict=True))

    @cached_property
    def labeled_rows(self) -> np.typing.NDArray[np.intp]:
        return self._take_some(np.flatnonzero(self.data.labeled))

    @cached_property
    def unlabeled_rows(self) -> np.typing.NDArray[np.intp]:
        return self._take_some(np.flatnonzero(~self.data.labeled))

    @cached_property
    def presumed_random(self) -> BoolArray:
        """Rows (n,) with a label whose choice is not declared: not those of rounds."""
        labeled, rounds = self.data.labeled, self.data.design.rounds
        return labeled if rounds is None else labeled & np.isnan(rounds.probability)

    @cached_property
    def judging_rows(self) -> np.typing.NDArray[np.intp]:
        """Those of `labeled_rows` that are `presumed_random`, one of each cluster."""
        rows = self.labeled_rows[self.presumed_random[self.labeled_rows]]
        return clusters.take_one_of_each(self.data.clusters, rows, np.random.default_rng(4))

    @cached_property
    def rows(self) -> np.typing.NDArray[np.intp]:
        """The labeled and unlabeled rows looked at, less those without any score."""
        rows = np.concatenate([self.labeled_rows, self.unlabeled_rows])
        scored = np.isfinite(self.data.scores[rows, :, 0]).any(axis=1)
        return rows[scored]

    @cached_property
    def scores(self) -> FloatArray:
        """Scores (n, M, K) of `rows`, missing ones filled by the row's other classifiers."""
        return votes.fill_missing(self.data.scores[self.rows])

    @cached_property
    def pool(self) -> FloatArray:
        """Mean score (n, K) of `rows`."""
        return votes.average_scores(self.data.scores[self.rows])

    @cached_property
    def pooled_labels(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Pool (n, K), scores (n, M, K) and labels (n,) of the `judging_rows` among `rows`."""
        labeled = np.isin(self.rows, self.judging_rows)
        return self.pool[labeled], self.scores[labeled], self.data.labels[self.rows[labeled]]

    def _take_some(self, rows: np.typing.NDArray[np.intp]) -> np.typing.NDArray[np.intp]:
        most = self.limits.most_rows
        if rows.size <= most:
            return rows
        return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))


@dataclass(frozen=True)
class ResultWarning:
    """A reason to trust the result less.

    Attributes
    ----------
    code, title : str
        Code of the warning, such as ``"D104"``, and its title.
    severity : {"serious", "warning", "note"}
        How serious it is.
    reason, advice : str
        The numbers behind it, and what to do.
    anchor : str
        Page and place that explain it.
    """

    code: str
    title: str
    severity: Severity
    reason: str
    advice: str
    anchor: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.code} {self.title}. {self.reason} {self.advice}"


class Answer(NamedTuple):
    """The answer of a check: "warning", "fine" or "not applicable", with the numbers behind it.

    ``severity`` and ``advice`` are those of a warning, where they are not the usual ones.
    """

    outcome: Literal["warning", "fine", "not applicable"]
    reason: str
    severity: Severity | None = None
    advice: str | None = None
    check: Check = None  # type: ignore[assignment]  # `Check.ask` sets it

    @property
    def warning(self) -> ResultWarning | None:
        """The warning, where there is one."""
        if self.outcome != "warning":
            return None
        code = self.check.code
        usual = read_sections()[code]
        anchor = f"docs/{usual.page}#{code.lower()}"
        severity, advice = self.severity or usual.severity, self.advice or usual.advice
        return ResultWarning(code, usual.title, severity, self.reason, advice, anchor)


def warn(reason: str, severity: Severity | None = None) -> Answer:
    return Answer("warning", reason, severity)


def fine(reason: str) -> Answer:
    return Answer("fine", reason)


def not_applicable(reason: str) -> Answer:
    return Answer("not applicable", reason)


def warn_unless(is_fine: bool, text: str, rest: str = ".") -> Answer:
    """``text`` as the answer if all is fine, else a warning: a sentence that ends in ``rest``."""
    return fine(text) if is_fine else warn(f"{text[0].upper()}{text[1:]}{rest}")


def warn_if_any(problems: Sequence[str], otherwise: str, shown: int = 4) -> Answer:
    """A warning that lists the first ``problems``; without any, fine with ``otherwise``."""
    if not problems:
        return fine(otherwise)
    return warn(f"{list_first(problems, shown, '; ')}.")


def list_first(items: Sequence[str], shown: int, separator: str = ", ", noun: str = "") -> str:
    """The first ``items``, and how many there are beyond them: "a, b and 3 classes more"."""
    listed, more = separator.join(items[:shown]), len(items) - shown
    semicolon = ";" if separator.startswith(";") else ""
    return f"{listed}{semicolon} and {more} {noun}more" if more > 0 else listed


class Need(NamedTuple):
    """What a check needs of a case; ``reason`` is the answer without it, "{limits}" filled in."""

    is_met: Callable[[Case], bool]
    reason: str


LABELS = Need(lambda case: case.data.n_labeled > 0, "no labels")
SEVERAL = Need(lambda case: case.data.n_models > 1, "one classifier")
NO_JUDGES = Need(lambda case: not case.data.judges, "answers of judges promise nothing")
ENOUGH_LABELS = Need(
    lambda case: case.judging_rows.size >= case.limits.least_labels,
    "fewer than {limits.least_labels} labels",
)


class Check(NamedTuple):
    """One question about data, fit or estimates; docs/warnings-*.md have its words, by its code.

    ``judge`` answers for a case that meets the ``needs``. The warning of a check ``by_labels``
    applies only if the labels are a random sample of the rows; one of ``before_rounds`` looks only
    at labels from before `ssme suggest` chose rows.
    """

    code: str
    judge: Callable[[Case], Answer]
    needs: tuple[Need, ...] = ()
    by_labels: bool = False
    before_rounds: bool = False

    def ask(self, case: Case) -> Answer:
        """The answer for one case."""
        for need in self.needs:
            if not need.is_met(case):
                return not_applicable(need.reason.format(limits=case.limits))._replace(check=self)
        return self.judge(case)._replace(check=self)


def check(
    code: str, *needs: Need, by_labels: bool = False, before_rounds: bool = False
) -> Callable[[Callable[[Case], Answer]], Check]:
    """Make a function of a `Case` the `Check` with ``code``."""
    return lambda judge: Check(code, judge, needs, by_labels, before_rounds)
