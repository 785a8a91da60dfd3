"""All methods by name. Classes are imported on first use, so listing names costs nothing."""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import Any, cast

from ssme.errors import InputError
from ssme.methods.base import Method

__all__ = ["get_method", "method_class", "method_names"]

_METHODS: dict[str, str] = {
    "auto": "ssme.methods.auto:Auto",
    "labeled": "ssme.methods.labeled:Labeled",
    "ensemble": "ssme.methods.ensemble:Ensemble",
    "ssme": "ssme.methods.ssme:SsmeMethod",
    "ssme_m": "ssme.methods.ssme_m:SsmeMMethod",
    "weighted_ensemble": "ssme.methods.weighted_ensemble:WeightedEnsemble",
    "majority_vote": "ssme.methods.majority_vote:MajorityVote",
    "pseudo_label": "ssme.methods.pseudo_label:PseudoLabel",
    "dawid_skene": "ssme.methods.dawid_skene:DawidSkene",
    "bayesian_calibration": "ssme.methods.bayesian_calibration:BayesianCalibration",
    "spe": "ssme.methods.spe:Spe",
    "autoeval": "ssme.methods.autoeval:AutoEval",
    "ppi": "ssme.methods.ppi:Ppi",
    "stratified_ppi": "ssme.methods.stratified_ppi:StratifiedPpi",
    "active_testing": "ssme.methods.active_testing:ActiveTesting",
    "cbpe": "ssme.methods.cbpe:Cbpe",
    "atc": "ssme.methods.atc:Atc",
    "agreement": "ssme.methods.agreement:Agreement",
}


def method_names() -> tuple[str, ...]:
    """Names of all methods, in the order of the table of ``ssme methods``."""
    return tuple(_METHODS)


def method_class(name: str) -> type[Method]:
    """The class behind ``name``."""
    if name not in _METHODS:
        raise InputError(
            f"unknown method {name!r}",
            allowed=", ".join(_METHODS),
            fix="`ssme methods` describes each",
        )
    module, attribute = _METHODS[name].split(":")
    return cast(type[Method], getattr(import_module(module), attribute))


def get_method(name: str, **options: Any) -> Method:
    """The method ``name`` with ``options``; an option it does not have is an error."""
    cls = method_class(name)
    known = {f.name for f in fields(cast(Any, cls)) if f.init}
    for option in options:
        if option not in known:
            raise InputError(
                f"method {name!r} has no option {option!r}",
                allowed=", ".join(sorted(known)) or "no options",
            )
    return cls(**options)
