"""The bundled sample: six classifiers tell whether a digit is five or more; 30 of 1,297 labels.

Made by ``scripts/make_sample.py`` from data that ships inside scikit-learn.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["sample_path", "truth_path"]


def sample_path() -> Path:
    """CSV with columns ``id``, ``label`` (30 filled) and P(five or more) of each model."""
    return Path(str(files(__package__) / "digits.csv"))


def truth_path() -> Path:
    """CSV with columns ``id`` and ``label``: the true labels, which only the demo reads."""
    return Path(str(files(__package__) / "digits_truth.csv"))
