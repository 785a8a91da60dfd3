"""All checks, and the one call that asks them."""

from __future__ import annotations

import numpy as np

from ssme.diagnostics import classifier_checks, label_checks
from ssme.diagnostics.check import Answer, Case, Check, ResultWarning, not_applicable
from ssme.diagnostics.label_checks import UNLIKE_ROWS
from ssme.diagnostics.page import SEVERITIES

CHECKS: tuple[Check, ...] = tuple(
    sorted(
        each
        for module in (label_checks, classifier_checks)
        for each in vars(module).values()
        if isinstance(each, Check)
    )
)
"""Every check, by code."""

NOT_RANDOM = (
    f"The labels are not a random sample of the rows (see {UNLIKE_ROWS}), so this warning "
    "may come from how they were chosen: find out how, then label a random sample or give weights "
    "that undo the choice."
)
ONE_CLASS = (
    "All labels are of one class, which is not enough evidence for this warning: label rows at "
    "random until another class occurs."
)


def check_all(case: Case) -> tuple[ResultWarning, ...]:
    """Ask every check about an evaluation and return the warnings, the most serious first.

    Parameters
    ----------
    case : Case
        The data, what was fitted and the estimates.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.7, 0.4]})
    >>> check_all(Case(data))[0].title
    'No labels'
    """
    warnings = [warning for answer in ask_all(case) if (warning := answer.warning) is not None]
    return tuple(sorted(warnings, key=lambda each: (SEVERITIES.index(each.severity), each.code)))


def ask_all(case: Case) -> tuple[Answer, ...]:
    """List the answer of every check, in the order of their codes.

    Checks that compare something with the labels presume that these are a random sample: labels
    chosen by class, or only on easy rows, contradict sound classifiers and sound estimates. Where
    the design says how rows were chosen, such checks do not apply; labels from before the rounds of
    a design count as a random sample, and checks that can look only at these do apply. The check of
    the rows (D104) needs no label's value. Where it raises a warning, or where all labels are of
    one class, contradictions are advised on as an error in the labels.

    Parameters
    ----------
    case : Case
        The data, what was fitted and the estimates.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.7, 0.4]})
    >>> ask_all(Case(data))[0].outcome
    'warning'
    """
    answers = [check.ask(case) for check in CHECKS]
    data, design = case.data, case.data.design
    if design.kind not in (None, "random"):
        chosen = not_applicable(f"rows were chosen for labeling by design ({design.kind})")
        for i, check in enumerate(CHECKS):
            presumes = check.by_labels or check.code == UNLIKE_ROWS
            if presumes and (design.rounds is None or not check.before_rounds):
                answers[i] = chosen._replace(check=check)
    warns = {each.check.code: each.check for each in answers if each.outcome == "warning"}
    faults = [NOT_RANDOM] if UNLIKE_ROWS in warns else []
    if np.unique(data.labels[data.labeled]).size == 1:
        faults.append(ONE_CLASS)
    if faults and any(check.by_labels for check in warns.values()):
        for i, check in enumerate(CHECKS):
            if check.code in warns and check.by_labels:
                answers[i] = answers[i]._replace(advice=" ".join(faults))
            elif check.code in warns and check.code == UNLIKE_ROWS:
                answers[i] = answers[i]._replace(severity="serious")
    return tuple(answers)
