"""What a number of labels is planned for, as users write it.

    width(accuracy) <= 0.05        the interval of every model is at most this wide
    width(forest:accuracy) <= 0.05 that of one model
    P(best) >= 0.95                the pick is the best with this probability
    regret <= 0.005                taking the pick is expected to cost at most this much

The last two are about the first metric; ``P(best:roc_auc)`` and ``regret(roc_auc)`` name another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ssme.decide.choose import choose_model
from ssme.errors import InputError, argument
from ssme.methods.base import Estimate
from ssme.metrics.base import FloatArray, Metric
from ssme.options import parse_number
from ssme.results.comparison import compute_probability_best, draw_towards
from ssme.results.evaluation import BaseEvaluation
from ssme.results.reliability import Record
from ssme.wording import quote, suggest_nearest

__all__ = ["Target", "read_target", "refuse_unreadable"]

_SHAPE = re.compile(
    r"\s*(?P<what>width|regret|P)\s*(?:\(\s*(?P<inside>[^()]*?)\s*\))?"
    r"\s*(?P<sign><=|>=)\s*(?P<bound>\S+)\s*"
)
ALLOWED = "'width(METRIC)<=NUMBER', 'P(best)>=NUMBER' or 'regret<=NUMBER'"


@dataclass(frozen=True)
class Target:
    """What is to be reached.

    Attributes
    ----------
    text : str
        As it was written.
    what : str
        ``"width"``, ``"P(best)"`` or ``"regret"``.
    metric : Metric
        The metric that it is about.
    model : int or None
        The model, for ``"width"`` of one.
    bound : float
        What is to be reached.
    pair_factor, best_exponent : float
        How P(best) and regret are read off draws, as the estimate says.
    record : Record
        What was measured of the method's probabilities, which corrects P(best).
    """

    text: str
    what: str
    metric: Metric
    model: int | None
    bound: float
    pair_factor: float
    best_exponent: float
    record: Record

    def measure(self, models: Sequence[str], estimate: Estimate, level: float) -> float:
        """The quantity of an estimate that the target bounds."""
        if self.what == "width":
            low, high = estimate.interval(level)
            width = high - low if self.model is None else (high - low)[[self.model]]
            return float(np.max(width)) if np.isfinite(width).all() else float("nan")
        choice = choose_model(models, self.metric, estimate, level=level, record=self.record)
        return choice.p_best if self.what == "P(best)" else choice.regret

    def read_draws(self, value: FloatArray, draws: FloatArray) -> float:
        """P(best) of the pick, or its expected regret, of ``draws`` (D, M) about ``value`` (M,)."""
        upwards = self.metric.greater_is_better is not False
        sign = 1.0 if upwards else -1.0
        pick = int(np.argmax(sign * value))
        estimate = Estimate(
            value, draws, pair_factor=self.pair_factor, best_exponent=self.best_exponent
        )
        if self.what == "P(best)":
            raw = compute_probability_best(estimate, upwards)
            return float(self.record.correct_shares("best", raw)[pick])
        drawn = sign * draw_towards(estimate)
        return float((drawn.max(axis=1) - drawn[:, pick]).mean())

    def is_met(self, value: float) -> bool:
        """Whether ``value`` reaches the bound."""
        return value >= self.bound if self.what == "P(best)" else value <= self.bound


def refuse_unreadable(text: str) -> None:
    """Refuse a target that can be read for no evaluation at all."""
    if _SHAPE.fullmatch(str(text)) is None:
        raise _refuse(text, "write one of these")


def read_target(evaluation: BaseEvaluation, text: str) -> Target:
    """The target that ``text`` writes, for the models and metrics of ``evaluation``."""
    refuse_unreadable(text)
    found = _SHAPE.fullmatch(str(text))
    assert found is not None
    what, inside, sign = found["what"], found["inside"], found["sign"]
    if what == "P":
        first, _, name = (part.strip() for part in (inside or "").partition(":"))
        if first != "best" or sign != ">=":
            raise _refuse(text, "write P(best)>=0.95, or P(best:METRIC)>=0.95")
        model, what = None, "P(best)"
    elif sign != "<=":
        raise _refuse(text, f"write {what} with <=")
    elif what == "width":
        first, colon, rest = (part.strip() for part in (inside or "").rpartition(":"))
        name, model = rest, evaluation.model_index(first) if colon else None
        if not name:
            raise _refuse(text, "name the metric, as in width(accuracy)<=0.05")
    else:
        name, model = inside or "", None
    metric = _find_metric(evaluation, name)
    if what != "width" and metric.greater_is_better is None:
        raise _refuse(text, f"{metric.name} does not say whether greater is better; name another")
    bound = _find_bound(text, found["bound"], what, metric)
    estimate = evaluation.estimate(metric.name)
    factors = estimate.pair_factor, estimate.best_exponent
    return Target(text, what, metric, model, bound, *factors, evaluation.find_record(metric))


def _find_metric(evaluation: BaseEvaluation, name: str) -> Metric:
    """The metric that a target names, or the first one."""
    known = {metric.name: metric for metric in evaluation.metrics}
    if not name:
        return evaluation.metrics[0]
    if name not in known:
        raise InputError(
            f"{argument('target')} asks for {name!r}, which was not evaluated",
            allowed=quote(known),
            fix=f"{suggest_nearest(name, known)}name one of these, or evaluate it as well: "
            f"{argument('metrics')} and {argument('threshold')} say which are",
        )
    return known[name]


def _find_bound(text: str, written: str, what: str, metric: Metric) -> float:
    try:
        bound = parse_number(written)
    except ValueError:
        raise _refuse(text, f"write a number where {written!r} is") from None
    most = 1.0 if what == "P(best)" else metric.high - metric.low
    if not 0.0 < bound < most:
        raise _refuse(text, f"write a number above 0 and below {most:g}")
    return bound


def _refuse(text: str, fix: str) -> InputError:
    return InputError(argument("target", text), allowed=ALLOWED, fix=fix)
