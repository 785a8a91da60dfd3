"""Know how good each classifier is, from a handful of labels and a pile of unlabeled examples.

Every public name is here: ``ssme.evaluate``, ``ssme.ScoreSet``, the classes of methods, warnings
and errors, and the modules ``ssme.progress``, ``ssme.sklearn``, ``ssme.metrics`` and others. They
are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module

from ssme.methods.members import METHODS

TYPE_CHECKING = False
"""Type checkers take it for true. To import `typing` for it would take longer than all the rest."""

if TYPE_CHECKING:
    from typing import Any

    from ssme import bench as bench
    from ssme import errors as errors
    from ssme import methods as methods
    from ssme import metrics as metrics
    from ssme import progress as progress
    from ssme import sklearn as sklearn
    from ssme import stream as stream
    from ssme import testing as testing
    from ssme.data.readers.logs import read_logs as read_logs
    from ssme.data.scoreset import ScoreSet as ScoreSet
    from ssme.errors import ConvergenceWarning as ConvergenceWarning
    from ssme.errors import InputError as InputError
    from ssme.errors import MissingExtraError as MissingExtraError
    from ssme.errors import SsmeWarning as SsmeWarning
    from ssme.errors import UndefinedMetricWarning as UndefinedMetricWarning
    from ssme.errors import UnsupportedError as UnsupportedError
    from ssme.methods.members import *  # noqa: F403
    from ssme.metrics.base import Metric as Metric
    from ssme.results.evaluation import Evaluation as Evaluation
    from ssme.results.shift import correct_shift as correct_shift
    from ssme.run import evaluate as evaluate
    from ssme.run import rerun as rerun
    from ssme.sklearn import SSME as SSME
    from ssme.spec import RunSpec as RunSpec
    from ssme.stream.evaluation import evaluate_parquet as evaluate_parquet
    from ssme.systems.evaluation import evaluate_systems as evaluate_systems

__version__ = "0.5.0"

_MODULES = ("bench", "errors", "methods", "metrics", "progress", "sklearn", "stream", "testing")
_METHOD_CLASSES = {
    name: module for module, _, name in (each.partition(":") for each in METHODS.values())
}
_EXPORTS = {
    "SSME": "ssme.sklearn",
    "ConvergenceWarning": "ssme.errors",
    "Evaluation": "ssme.results.evaluation",
    "InputError": "ssme.errors",
    "Metric": "ssme.metrics.base",
    "MissingExtraError": "ssme.errors",
    "RunSpec": "ssme.spec",
    "ScoreSet": "ssme.data",
    "SsmeWarning": "ssme.errors",
    "UndefinedMetricWarning": "ssme.errors",
    "UnsupportedError": "ssme.errors",
    "correct_shift": "ssme.results.shift",
    "evaluate": "ssme.run",
    "evaluate_parquet": "ssme.stream.evaluation",
    "evaluate_systems": "ssme.systems.evaluation",
    "read_logs": "ssme.data.readers.logs",
    "rerun": "ssme.run",
} | _METHOD_CLASSES

__all__ = ["__version__", *_EXPORTS, *_MODULES]


def __getattr__(name: str) -> Any:
    """Import public names on first use: ``import ssme`` itself costs nothing."""
    if name in _MODULES:
        return import_module(f"ssme.{name}")
    if name in _EXPORTS:
        value = getattr(import_module(_EXPORTS[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'ssme' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
