"""From estimates to a decision: which model, at which threshold, how many more labels."""

from ssme.decide.choose import Choice, Contender, choose_model
from ssme.decide.gates import Verdict, judge
from ssme.decide.shift import Shift, correct_shift, find_shift
from ssme.decide.thresholds import ThresholdChoice, ThresholdPick, choose_thresholds
from ssme.decide.together import SetProfile, profile_set

__all__ = [
    "Choice",
    "Contender",
    "SetProfile",
    "Shift",
    "ThresholdChoice",
    "ThresholdPick",
    "Verdict",
    "choose_model",
    "choose_thresholds",
    "correct_shift",
    "find_shift",
    "judge",
    "profile_set",
]
