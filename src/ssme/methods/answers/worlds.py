"""Is this a usual set of judges? Ways it can be otherwise, weighed by the labels.

    P(world | labels)  proportional to  P(world) Z S

Z is the marginal likelihood of the labels, by Laplace about the mode. The worlds differ in what
labels may change about the pool of answers:

- usual: the scales of `constants`;
- shares: classes are not as frequent as answers say: class shifts are free;
- selected: rows were chosen for labeling by class: label intercepts are free. What the judges said
  of the labeled rows bears witness then too: with W = P(y | answers) and label intercepts d,

      S = prod_i [ sum_k e^(d_k) W_k(x_i) ] / [ sum_k e^(d_k) mean W_k ]

  (Prentice and Pyke, Biometrika 66, 1979), one in the other worlds.

The likeliest world is the one that is believed; the others tell how far to doubt it. Judges who err
together more than they disagree need no world of their own: the usual one learns it from labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ssme.data.scoreset import ScoreSet
from ssme.methods.answers.agreement import softmax
from ssme.methods.answers.constants import AnswerConstants
from ssme.methods.answers.design import AnswersDesign
from ssme.methods.answers.regression import CoefficientBlock, Regression
from ssme.methods.auto.regimes.selected import compute_design_bonus
from ssme.metrics.base import FloatArray

__all__ = ["MEANINGS", "Fitted", "fit_worlds"]

MEANINGS: Mapping[str, str] = {
    "shares": "the classes are not as frequent as the answers say",
    "selected": "rows were chosen for labeling by their class",
}
"""What is so in each world beside the usual one."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A world fitted to the labels: regression, mode, scale (K,) of the label intercepts."""

    name: str
    regression: Regression
    mode: FloatArray
    spread: FloatArray
    widened: tuple[float, float, float]
    log_evidence: float


def fit_worlds(
    data: ScoreSet, design: AnswersDesign, labeled: np.ndarray, of: AnswerConstants
) -> tuple[Fitted, dict[str, float]]:
    """The likeliest world, and the probability of each."""
    by_chance = _find_chance_spread(data, design)
    plain = np.ones(3)
    chosen = data.design.kind == "by_class"
    spread = np.maximum(by_chance, of.chosen) if chosen else by_chance
    settings = {"usual": (plain, spread)}
    if labeled.size:
        settings["shares"] = (np.array([1.0, 1.0, of.odd_shares]), spread)
        if data.design.kind is None:
            settings["selected"] = (plain, np.maximum(by_chance, of.chosen))
    fitted = []
    for name, (widened, own) in settings.items():
        one = _fit(name, data, design, labeled, own, widened, of)
        chance = of.odd_worlds if name != "usual" else 1.0 - of.odd_worlds * len(MEANINGS)
        total = one.log_evidence + float(np.log(chance))
        if name == "selected":
            total += _log_density_of_labeled_answers(data, design, labeled, one)
            counts = np.bincount(data.labels[labeled], minlength=data.n_classes)
            total += compute_design_bonus(counts)
        fitted.append(replace(one, log_evidence=total))
    logs = np.array([each.log_evidence for each in fitted])
    chance = np.exp(logs - logs.max())
    chance /= chance.sum()
    probability = {each.name: float(p) for each, p in zip(fitted, chance, strict=True)}
    return fitted[int(np.argmax(chance))], probability


def _find_chance_spread(data: ScoreSet, design: AnswersDesign) -> FloatArray:
    """Scale (K,) of label intercepts by chance: one label more than expected of each class."""
    if data.n_labeled == 0:
        return np.ones(data.n_classes)
    out: FloatArray = np.log1p(1.0 / (data.n_labeled * design.agreement.shares))
    return out


def _fit(
    name: str,
    data: ScoreSet,
    design: AnswersDesign,
    labeled: np.ndarray,
    spread: FloatArray,
    widened: FloatArray,
    of: AnswerConstants,
) -> Fitted:
    """The labeled rows, with the label intercepts as the last block, and the mode."""
    offset, columns = design.make_features(data.scores[labeled])
    own = np.broadcast_to(np.diag(spread), (labeled.size, spread.size, spread.size))
    size = columns.shape[2]
    weights = np.ones(labeled.size)
    if data.design.weights is not None and labeled.size:
        weights = data.design.weights[labeled]
        weights = weights / weights.mean()
    factors = (float(widened[0]), float(widened[1]), float(widened[2]))
    regression = Regression(
        offset=offset,
        features=np.concatenate([columns, own], axis=2),
        labels=data.labels[labeled],
        weights=weights,
        blocks=(*design.blocks, CoefficientBlock(slice(size, size + spread.size), "d")),
        sd=np.concatenate([design.make_scales(factors), np.ones(spread.size)]),
        constants=of,
    )
    mode = regression.find_mode()
    return Fitted(name, regression, mode, spread, factors, regression.log_evidence(mode))


def _log_density_of_labeled_answers(
    data: ScoreSet, design: AnswersDesign, labeled: np.ndarray, fitted: Fitted
) -> float:
    """log S of a world in which rows were chosen by class."""
    size = fitted.mode.size - fitted.spread.size
    theta, shift = fitted.mode[:size], fitted.mode[size:] * fitted.spread
    n = data.n_rows
    used = np.unique(np.linspace(0, n - 1, min(n, design.constants.agreement_rows)).astype(int))
    everywhere = design.compute_posterior(data.scores[used], theta).mean(axis=0)
    offset, columns = design.make_features(data.scores[labeled])
    lift = np.exp(shift - shift.max())
    return float(np.log(softmax(offset + columns @ theta) @ lift / (everywhere @ lift)).sum())
