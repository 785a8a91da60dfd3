"""The bundled sample: six classifiers tell whether a digit is five or more; 30 of 1,297 labels.

Made by ``scripts/make_sample.py`` from data that ships inside scikit-learn.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

__all__ = ["sample_path", "truth_path"]


def sample_path() -> Path:
    """Return the path of the bundled sample.

    Returns
    -------
    pathlib.Path
        A CSV file with the columns ``id``, ``label`` (filled in for 30 of 1,297 rows) and the
        probability of six models that a handwritten digit is five or more.

    Examples
    --------
    >>> import ssme
    >>> ssme.ScoreSet.read(sample_path(), "label").n_labeled
    30
    """
    return Path(str(files("ssme") / "sample_data" / "digits.csv"))


def truth_path() -> Path:
    """Return the path of the true labels of the bundled sample, which only the demo reads.

    Returns
    -------
    pathlib.Path
        A CSV file with the columns ``id`` and ``label``.

    Examples
    --------
    >>> truth_path().name
    'digits_truth.csv'
    """
    return Path(str(files("ssme") / "sample_data" / "digits_truth.csv"))
