"""The numbers by which checks decide, in one frozen record with their origin."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """Limits of all checks; `check_all` takes another one to try other values."""

    family_level: float = 0.01
    """Chance of a doubt with no cause, over all classifiers or metrics that a test covers."""

    level: float = 0.95
    """Coverage of the intervals whose width is looked at."""

    most_rows: int = 2_000
    """Labeled rows looked at, and as many unlabeled ones: checks then cost the same at any size."""

    least_labels: int = 5
    """Fewer labels cannot contradict anyone at the level of the tests."""

    few_labels: int = 5
    """Cochran's rule of five (Biometrics 10, 1954): smaller counts are too small to approximate."""

    least_efficiency: float = 0.5
    """Kish's effective share of rows; below one half the weights more than double the variance."""

    many_missing: float = 0.2
    """Share of missing scores up to which methods are tested here."""

    compared_labeled: int = 200
    compared_unlabeled: int = 400
    """Rows compared by the energy test: 600 x 600 distances."""

    compared_classes: int = 2000
    """Unlabeled rows, at most, whose mean scores are compared with those of labeled rows."""

    least_compared: int = 10
    """With fewer rows on either side the energy test could hardly find anything."""

    permutations: int = 399
    """Smallest attainable p-value 0.0025, a quarter of `family_level`: room for two tests."""

    shift_level: float = 0.02
    """Chance of a doubt with no cause of each of the two tests of shift: 4 % together, and 5 %
    with the energy test."""

    exact_rows: int = 300
    """Rows up to which the number of right answers has its exact distribution."""

    same: float = 0.998
    """Correlation of scores above that of any two separately trained classifiers we have seen: in
    12 real sets of 2 to 9 classifiers the closest pair reached 0.9955."""

    least_common: int = 10
    least_common_answers: int = 50
    """Rows that two must share, where scores are missing or both are judges, before they are called
    copies: two judges who are right on nine rows in ten agree on 50 rows with probability 5e-5."""

    judges_claim: float = 0.1
    """Agreement of judges beyond chance as a share of that of judges who are never wrong: that of
    two who are right on two rows in three, of two classes."""

    views: int = 3
    """Hidden labels can be recovered from independent views of them when there are three (Allman,
    Matias and Rhodes, Annals of Statistics 37, 2009); two can only agree or disagree."""

    odd: float = 0.6
    """Probability of another world than the usual one from which it is a doubt."""

    conflict: float = 0.7
    """|log| of the sharpness that agreement implies over that which confidence implies: over the
    development sets its standard deviation is 0.26 and it stays below 0.7; with all scores raised
    to the power 0.4 its mean is 0.7."""

    similar: float = 0.88
    """Mean correlation of scores above which agreement says nothing about confidence: on the real
    sets in which scores raised to the power 0.4 are found it is at most 0.85."""

    vague: float = 0.1
    """Share of right answers beyond those promised that makes scores vague, not just careful."""

    most: float = 0.5
    """Share of the classifiers whose scores must be vague, or look like ratings: one such
    classifier among others is ordinary (nearest neighbors, a forest of few trees)."""

    pulled: float = 0.02
    """Chance that the classifier which is best on the labels is so by luck, over all of them."""

    ratings: tuple[int, int] = (3, 10)
    """Distinct scores, at equal distances, of a classifier whose scores may be ratings."""

    within_noise: float = 2.0
    """Root mean square, over classifiers, of differences in standard errors of one label draw:
    twice what two draws from the same probabilities would show."""
