"""Which metric leads where none was asked for: accuracy, unless a class is rare.

A class is rare where its share of the rows is below 0.4 / K among K classes (20 % of two, 4 % of
ten). Whoever never predicts it is right nearly always, so that accuracy hardly tells classifiers
apart. Then leads

    two classes, class 1 rare    average precision, which is about the rows of class 1
    two classes, class 0 rare    ROC AUC, which does not depend on how frequent the classes are
    two classes in no order      ROC AUC
    more than two classes        balanced accuracy, in which every class counts the same
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssme.metrics.base import FloatArray


@dataclass(frozen=True)
class Lead:
    """The name of the metric that leads, and why it is not accuracy (empty where it is)."""

    metric: str
    reason: str = ""


def find_leading_metric(
    shares: FloatArray, classes: Sequence[Any], *, ordered: bool = True, rare: float = 0.4
) -> Lead:
    """The metric that leads for classes of estimated ``shares`` (K,), rare below ``rare / K``."""
    rarest = int(np.argmin(shares))
    if not np.isfinite(shares).all() or shares[rarest] * len(shares) >= rare:
        return Lead("accuracy")
    if len(shares) > 2:
        metric = "balanced_accuracy"
    else:
        metric = "average_precision" if rarest == 1 and ordered else "roc_auc"
    share = f"About {shares[rarest]:.1%} of the rows are of class {str(classes[rarest])!r}"
    if len(shares) == 2:
        other = f"always saying {str(classes[1 - rarest])!r} is right on {1 - shares[rarest]:.0%}"
    else:
        other = "never predicting it costs hardly any accuracy"
    reason = (
        f"{share} and {other}, so the models are judged by {metric} and not by accuracy. Naming a "
        "metric changes this."
    )
    return Lead(metric, reason)
