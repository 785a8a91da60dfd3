"""Know how good each classifier is, from a handful of labels and a pile of unlabeled examples."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet
    from ssme.errors import InputError, MissingExtraError, UnsupportedError
    from ssme.estimator import SSME
    from ssme.evaluation import Evaluation
    from ssme.metrics.base import Metric
    from ssme.run import evaluate

__version__ = "0.2.0"

_EXPORTS = {
    "SSME": "ssme.estimator",
    "Evaluation": "ssme.evaluation",
    "InputError": "ssme.errors",
    "Metric": "ssme.metrics.base",
    "MissingExtraError": "ssme.errors",
    "ScoreSet": "ssme.data.scoreset",
    "UnsupportedError": "ssme.errors",
    "evaluate": "ssme.run",
}

__all__ = [
    "SSME",
    "Evaluation",
    "InputError",
    "Metric",
    "MissingExtraError",
    "ScoreSet",
    "UnsupportedError",
    "__version__",
    "evaluate",
]


def __getattr__(name: str) -> Any:
    """Import public names on first use: ``import ssme`` itself costs nothing."""
    if name in _EXPORTS:
        value = getattr(import_module(_EXPORTS[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ssme' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
