"""All methods by name. Classes are imported on first use, so listing names costs nothing."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ssme.errors import make_unknown_name_error
from ssme.options import accept_all

if TYPE_CHECKING:
    from ssme.methods.base import Method

__all__ = ["find_method_class", "get_method", "method_names"]

_METHODS: dict[str, str] = {
    "auto": "ssme.methods.auto.method:Auto",
    "answers": "ssme.methods.answers.method:Answers",
    "labeled": "ssme.methods.estimators.labeled:Labeled",
    "ensemble": "ssme.methods.estimators.ensemble:Ensemble",
    "ssme": "ssme.methods.estimators.ssme:SsmeMethod",
    "ssme_m": "ssme.methods.estimators.ssme_m:SsmeMMethod",
    "weighted_ensemble": "ssme.methods.estimators.weighted_ensemble:WeightedEnsemble",
    "majority_vote": "ssme.methods.estimators.majority_vote:MajorityVote",
    "pseudo_label": "ssme.methods.estimators.pseudo_label:PseudoLabel",
    "dawid_skene": "ssme.methods.estimators.dawid_skene:DawidSkene",
    "bayesian_calibration": "ssme.methods.estimators.bayesian_calibration:BayesianCalibration",
    "spe": "ssme.methods.estimators.spe:Spe",
    "autoeval": "ssme.methods.estimators.autoeval:AutoEval",
    "ppi": "ssme.methods.estimators.ppi:Ppi",
    "stratified_ppi": "ssme.methods.estimators.stratified_ppi:StratifiedPpi",
    "active_testing": "ssme.methods.estimators.active_testing:ActiveTesting",
    "cbpe": "ssme.methods.estimators.cbpe:Cbpe",
    "atc": "ssme.methods.estimators.atc:Atc",
    "agreement": "ssme.methods.estimators.agreement:Agreement",
}


def method_names() -> tuple[str, ...]:
    """Names of all methods, in the order of the table of ``ssme methods``."""
    return tuple(_METHODS)


def find_method_class(name: str) -> type[Method]:
    """The class behind ``name``."""
    if name not in _METHODS:
        raise make_unknown_name_error("method", name, _METHODS, "`ssme methods` describes each")
    module, attribute = _METHODS[name].split(":")
    return cast("type[Method]", getattr(import_module(module), attribute))


def get_method(name: str, **options: Any) -> Method:
    """The method ``name`` with ``options``.

    Raises `InputError` where the method has no such option, or the option takes no such value.
    """
    cls = find_method_class(name)
    return cls(**accept_all(cls, options, f"method {name!r}"))
