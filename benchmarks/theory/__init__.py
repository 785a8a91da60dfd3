"""The paper's theory as functions: theorem 1, the estimator it is about, its corollary.

`theorem_1` gives the bound and its conditions, `bound_for` the same for a `ScoreSet` of your own
with the assumptions checked, `ul_plus` is the estimator the theorem speaks of, and
`least_useful_separation` says when one more classifier tightens the bound.
"""

from benchmarks.theory.bounds import (
    Condition,
    TheoremOne,
    accuracy_bound,
    auc_bound,
    performance_band,
    separation_error,
    theorem_1,
)
from benchmarks.theory.more_classifiers import bound_with_one_more, least_useful_separation
from benchmarks.theory.own_data import Assumption, OwnBound, bound_for
from benchmarks.theory.performance import (
    accuracy_of_separation,
    auc_of_separation,
    separation_of_accuracy,
    separation_of_auc,
)
from benchmarks.theory.ul_plus import UlPlusFit, ul_plus

__all__ = [
    "Assumption",
    "Condition",
    "OwnBound",
    "TheoremOne",
    "UlPlusFit",
    "accuracy_bound",
    "accuracy_of_separation",
    "auc_bound",
    "auc_of_separation",
    "bound_for",
    "bound_with_one_more",
    "least_useful_separation",
    "performance_band",
    "separation_error",
    "separation_of_accuracy",
    "separation_of_auc",
    "theorem_1",
    "ul_plus",
]
