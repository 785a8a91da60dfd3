"""The registry of methods: every method is entered here, and nowhere else.

A method has two lines here: an import, which editors and type checkers read, and an entry of
``METHODS``, which all else reads: the command line, the names of ``ssme``, the reference, the
report and the contract tests. At run time a class is imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; see ssme/__init__.py
if TYPE_CHECKING:
    from ssme.methods.answers.method import Answers as Answers
    from ssme.methods.auto.method import Auto as Auto
    from ssme.methods.estimators.annotators import DawidSkene as DawidSkene
    from ssme.methods.estimators.annotators import Spe as Spe
    from ssme.methods.estimators.bayesian_calibration import (
        BayesianCalibration as BayesianCalibration,
    )
    from ssme.methods.estimators.ensemble import Ensemble as Ensemble
    from ssme.methods.estimators.ensemble import MajorityVote as MajorityVote
    from ssme.methods.estimators.ensemble import PseudoLabel as PseudoLabel
    from ssme.methods.estimators.ensemble import WeightedEnsemble as WeightedEnsemble
    from ssme.methods.estimators.label_free import Agreement as Agreement
    from ssme.methods.estimators.label_free import Atc as Atc
    from ssme.methods.estimators.label_free import Cbpe as Cbpe
    from ssme.methods.estimators.labeled import ActiveTesting as ActiveTesting
    from ssme.methods.estimators.labeled import Labeled as Labeled
    from ssme.methods.estimators.ppi import AutoEval as AutoEval
    from ssme.methods.estimators.ppi import Ppi as Ppi
    from ssme.methods.estimators.ppi import StratifiedPpi as StratifiedPpi
    from ssme.methods.estimators.ssme import SsmeMethod as SsmeMethod
    from ssme.methods.estimators.ssme import SsmeMMethod as SsmeMMethod

METHODS: dict[str, str] = {
    "auto": "ssme.methods.auto.method:Auto",
    "answers": "ssme.methods.answers.method:Answers",
    "labeled": "ssme.methods.estimators.labeled:Labeled",
    "ensemble": "ssme.methods.estimators.ensemble:Ensemble",
    "ssme": "ssme.methods.estimators.ssme:SsmeMethod",
    "ssme_m": "ssme.methods.estimators.ssme:SsmeMMethod",
    "weighted_ensemble": "ssme.methods.estimators.ensemble:WeightedEnsemble",
    "majority_vote": "ssme.methods.estimators.ensemble:MajorityVote",
    "pseudo_label": "ssme.methods.estimators.ensemble:PseudoLabel",
    "dawid_skene": "ssme.methods.estimators.annotators:DawidSkene",
    "bayesian_calibration": "ssme.methods.estimators.bayesian_calibration:BayesianCalibration",
    "spe": "ssme.methods.estimators.annotators:Spe",
    "autoeval": "ssme.methods.estimators.ppi:AutoEval",
    "ppi": "ssme.methods.estimators.ppi:Ppi",
    "stratified_ppi": "ssme.methods.estimators.ppi:StratifiedPpi",
    "active_testing": "ssme.methods.estimators.labeled:ActiveTesting",
    "cbpe": "ssme.methods.estimators.label_free:Cbpe",
    "atc": "ssme.methods.estimators.label_free:Atc",
    "agreement": "ssme.methods.estimators.label_free:Agreement",
}
"""Name of each method -> module and class, in the order of the table of ``ssme methods``."""
