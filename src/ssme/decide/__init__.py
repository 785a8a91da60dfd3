"""From estimates to a decision: which model, at which threshold, how many labels more."""

from ssme.decide.choose import Choice, Contender, choose_model
from ssme.decide.gates import Verdict, judge

__all__ = ["Choice", "Contender", "Verdict", "choose_model", "judge"]
