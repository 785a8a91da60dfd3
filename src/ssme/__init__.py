"""Know how good each classifier is, from a handful of labels and a pile of unlabeled examples.

Every public name is here: ``ssme.evaluate``, ``ssme.ScoreSet``, the classes of methods, warnings
and errors, and the modules ``ssme.progress``, ``ssme.sklearn``, ``ssme.metrics`` and others. They
are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ssme import bench, datasets, errors, methods, metrics, progress, sklearn, stream, theory
    from ssme.data.scoreset import ScoreSet
    from ssme.errors import (
        ConvergenceWarning,
        InputError,
        MissingExtraError,
        SsmeWarning,
        UndefinedMetricWarning,
        UnsupportedError,
    )
    from ssme.estimator import SSME
    from ssme.evaluation import Evaluation
    from ssme.methods.answers.method import Answers
    from ssme.methods.auto.method import Auto
    from ssme.methods.estimators.active_testing import ActiveTesting
    from ssme.methods.estimators.agreement import Agreement
    from ssme.methods.estimators.atc import Atc
    from ssme.methods.estimators.autoeval import AutoEval
    from ssme.methods.estimators.bayesian_calibration import BayesianCalibration
    from ssme.methods.estimators.cbpe import Cbpe
    from ssme.methods.estimators.dawid_skene import DawidSkene
    from ssme.methods.estimators.ensemble import Ensemble
    from ssme.methods.estimators.labeled import Labeled
    from ssme.methods.estimators.majority_vote import MajorityVote
    from ssme.methods.estimators.ppi import Ppi
    from ssme.methods.estimators.pseudo_label import PseudoLabel
    from ssme.methods.estimators.spe import Spe
    from ssme.methods.estimators.ssme import SsmeMethod
    from ssme.methods.estimators.ssme_m import SsmeMMethod
    from ssme.methods.estimators.stratified_ppi import StratifiedPpi
    from ssme.methods.estimators.weighted_ensemble import WeightedEnsemble
    from ssme.metrics.base import Metric
    from ssme.run import evaluate, rerun
    from ssme.spec import RunSpec
    from ssme.stream.evaluation import evaluate_parquet

__version__ = "0.4.0"

_MODULES = (
    "bench",
    "datasets",
    "errors",
    "methods",
    "metrics",
    "progress",
    "sklearn",
    "stream",
    "theory",
)
_EXPORTS = {
    "SSME": "ssme.estimator",
    "ActiveTesting": "ssme.methods.estimators.active_testing",
    "Agreement": "ssme.methods.estimators.agreement",
    "Answers": "ssme.methods.answers.method",
    "Atc": "ssme.methods.estimators.atc",
    "Auto": "ssme.methods.auto.method",
    "AutoEval": "ssme.methods.estimators.autoeval",
    "BayesianCalibration": "ssme.methods.estimators.bayesian_calibration",
    "Cbpe": "ssme.methods.estimators.cbpe",
    "ConvergenceWarning": "ssme.errors",
    "DawidSkene": "ssme.methods.estimators.dawid_skene",
    "Ensemble": "ssme.methods.estimators.ensemble",
    "Evaluation": "ssme.evaluation",
    "InputError": "ssme.errors",
    "Labeled": "ssme.methods.estimators.labeled",
    "MajorityVote": "ssme.methods.estimators.majority_vote",
    "Metric": "ssme.metrics.base",
    "MissingExtraError": "ssme.errors",
    "Ppi": "ssme.methods.estimators.ppi",
    "PseudoLabel": "ssme.methods.estimators.pseudo_label",
    "RunSpec": "ssme.spec",
    "ScoreSet": "ssme.data",
    "Spe": "ssme.methods.estimators.spe",
    "SsmeMMethod": "ssme.methods.estimators.ssme_m",
    "SsmeMethod": "ssme.methods.estimators.ssme",
    "SsmeWarning": "ssme.errors",
    "StratifiedPpi": "ssme.methods.estimators.stratified_ppi",
    "UndefinedMetricWarning": "ssme.errors",
    "UnsupportedError": "ssme.errors",
    "WeightedEnsemble": "ssme.methods.estimators.weighted_ensemble",
    "evaluate": "ssme.run",
    "evaluate_parquet": "ssme.stream.evaluation",
    "rerun": "ssme.run",
}

__all__ = [
    "SSME",
    "ActiveTesting",
    "Agreement",
    "Answers",
    "Atc",
    "Auto",
    "AutoEval",
    "BayesianCalibration",
    "Cbpe",
    "ConvergenceWarning",
    "DawidSkene",
    "Ensemble",
    "Evaluation",
    "InputError",
    "Labeled",
    "MajorityVote",
    "Metric",
    "MissingExtraError",
    "Ppi",
    "PseudoLabel",
    "RunSpec",
    "ScoreSet",
    "Spe",
    "SsmeMMethod",
    "SsmeMethod",
    "SsmeWarning",
    "StratifiedPpi",
    "UndefinedMetricWarning",
    "UnsupportedError",
    "WeightedEnsemble",
    "__version__",
    "bench",
    "datasets",
    "errors",
    "evaluate",
    "evaluate_parquet",
    "methods",
    "metrics",
    "progress",
    "rerun",
    "sklearn",
    "stream",
    "theory",
]


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
