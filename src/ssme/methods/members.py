"""The registry of methods: every method is entered here, and nowhere else.

A method has two lines here: an import, which editors and type checkers read, and an entry of
``METHODS``, which all else reads: the command line, the names of ``ssme``, the reference, the
report and the contract tests. At run time a class is imported when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; see ssme/__init__.py
if TYPE_CHECKING:
    from ssme.methods.annotators import DawidSkene as DawidSkene
    from ssme.methods.annotators import Spe as Spe
    from ssme.methods.answers.method import Answers as Answers
    from ssme.methods.auto.method import Auto as Auto
    from ssme.methods.bayesian_calibration import (
        BayesianCalibration as BayesianCalibration,
    )
    from ssme.methods.ensemble import Ensemble as Ensemble
    from ssme.methods.ensemble import MajorityVote as MajorityVote
    from ssme.methods.ensemble import PseudoLabel as PseudoLabel
    from ssme.methods.ensemble import WeightedEnsemble as WeightedEnsemble
    from ssme.methods.label_free import Agreement as Agreement
    from ssme.methods.label_free import Atc as Atc
    from ssme.methods.label_free import Cbpe as Cbpe
    from ssme.methods.labeled import ActiveTesting as ActiveTesting
    from ssme.methods.labeled import Labeled as Labeled
    from ssme.methods.ppi import AutoEval as AutoEval
    from ssme.methods.ppi import Ppi as Ppi
    from ssme.methods.ppi import StratifiedPpi as StratifiedPpi
    from ssme.methods.ssme import SsmeMethod as SsmeMethod
    from ssme.methods.ssme import SsmeMMethod as SsmeMMethod

METHODS: dict[str, str] = {
    "auto": "ssme.methods.auto.method:Auto",
    "answers": "ssme.methods.answers.method:Answers",
    "labeled": "ssme.methods.labeled:Labeled",
    "ensemble": "ssme.methods.ensemble:Ensemble",
    "ssme": "ssme.methods.ssme:SsmeMethod",
    "ssme_m": "ssme.methods.ssme:SsmeMMethod",
    "weighted_ensemble": "ssme.methods.ensemble:WeightedEnsemble",
    "majority_vote": "ssme.methods.ensemble:MajorityVote",
    "pseudo_label": "ssme.methods.ensemble:PseudoLabel",
    "dawid_skene": "ssme.methods.annotators:DawidSkene",
    "bayesian_calibration": "ssme.methods.bayesian_calibration:BayesianCalibration",
    "spe": "ssme.methods.annotators:Spe",
    "autoeval": "ssme.methods.ppi:AutoEval",
    "ppi": "ssme.methods.ppi:Ppi",
    "stratified_ppi": "ssme.methods.ppi:StratifiedPpi",
    "active_testing": "ssme.methods.labeled:ActiveTesting",
    "cbpe": "ssme.methods.label_free:Cbpe",
    "atc": "ssme.methods.label_free:Atc",
    "agreement": "ssme.methods.label_free:Agreement",
}
"""Name of each method -> module and class, in the order of the table of ``ssme methods``."""
