"""The paper's bounds as functions."""

from ssme.theory.bounds import accuracy_bound, auc_bound, separation_error

__all__ = ["accuracy_bound", "auc_bound", "separation_error"]
