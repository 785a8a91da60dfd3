"""From estimates to a decision: which model, at which threshold, how many labels more."""

from ssme.decide.choose import Choice, Contender, choose_model
from ssme.decide.gates import Verdict, judge
from ssme.decide.thresholds import ThresholdChoice, ThresholdPick, choose_thresholds

__all__ = [
    "Choice",
    "Contender",
    "ThresholdChoice",
    "ThresholdPick",
    "Verdict",
    "choose_model",
    "choose_thresholds",
    "judge",
]
