"""From estimates to a decision: which model, at which threshold, how many labels more."""

from ssme.decide.choose import Choice, Contender, choose_model

__all__ = ["Choice", "Contender", "choose_model"]
