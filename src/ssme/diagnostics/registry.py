"""All checks, and the one call that asks them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

from ssme.data.scoreset import ScoreSet
from ssme.diagnostics.classifier_checks import CLASSIFIER_CHECKS
from ssme.diagnostics.doubt import SEVERITIES, Case, Check, Doubt, Limits, Outcome
from ssme.diagnostics.fit_checks import FIT_CHECKS
from ssme.diagnostics.label_checks import LABEL_CHECKS, weigh_labels
from ssme.errors import InputError
from ssme.methods.base import Belief, Estimate, Facts
from ssme.metrics.base import Metric
from ssme.wording import suggest_nearest

# -------------------------------------------------------------------------------------------------
# What each doubt means: the sections of docs/doubts.md, which travel with the package.
#
# A section begins with the anchor of its code and ends where the next one, or a heading of higher
# rank, begins. It has a picture, then paragraphs that explain the doubt, and in the last one what
# to do, which is the advice of the check. The terminal (``ssme doubts``), the report, the page of
# ``ssme serve`` and the site all show this one text.


PAGE = "doubts.md"
PICTURES = "pictures"
DOCS = Path(__file__).parents[3] / "docs"
"""Where page and pictures are in a checkout; an installed package has its own copies."""
WHAT_TO_DO = "**What to do.**"
"""How the paragraph of a section begins that repeats the advice of the check."""
SECTION = re.compile(
    r'^<a id="(d\d+)"></a>\n### [^\n]*\n(.*?)(?=^<a id=|^## |\Z)', re.MULTILINE | re.DOTALL
)


def explain(code: str) -> str:
    """What the doubt with a code means, how it is found and what it is not.

    Parameters
    ----------
    code : str
        Code of a doubt, such as ``"D104"``.

    Returns
    -------
    str
        A few paragraphs of Markdown.

    Examples
    --------
    >>> from ssme.diagnostics import explain
    >>> explain("D101").splitlines()[0][:31]
    '**Serious.** No row has a label'
    """
    known = read_explanations()
    if code.upper() not in known:
        raise InputError(
            f"there is no doubt {code!r}",
            hint=f"{suggest_nearest(code.upper(), known)}choose one of {', '.join(known)}",
        )
    return known[code.upper()]


@cache
def read_explanations() -> dict[str, str]:
    """Every explanation by its code, without picture and advice."""
    packaged = files("ssme.diagnostics") / PAGE
    page = (packaged if packaged.is_file() else DOCS / PAGE).read_text(encoding="utf-8")
    return {code.upper(): _take_text(text) for code, text in SECTION.findall(page)}


def explain_plainly(code: str) -> list[str]:
    """The paragraphs of an explanation without Markdown's marks; none for an unknown code."""
    found = read_explanations().get(code.upper(), "")
    told = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", found).replace("**", "")
    return [" ".join(paragraph.split()) for paragraph in told.split("\n\n") if paragraph]


@cache
def read_picture(code: str) -> str:
    """The picture of a doubt as the text of an SVG element, empty where there is none."""
    packaged = files("ssme.diagnostics") / PICTURES
    folder = packaged if packaged.is_dir() else DOCS / "images" / "doubts"
    file = folder / f"{code.lower()}.svg"
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""


def _take_text(section: str) -> str:
    paragraphs = re.sub(r"\s?<!--.*?-->", "", section).strip().split("\n\n")
    return "\n\n".join(p for p in paragraphs if not p.startswith(("![", WHAT_TO_DO)))


CHECKS: tuple[Check, ...] = (*LABEL_CHECKS, *CLASSIFIER_CHECKS, *FIT_CHECKS)


def ask_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
    limits: Limits | None = None,
    groups: Mapping[str, int] | None = None,
) -> tuple[Outcome, ...]:
    """Ask every check about an evaluation.

    Parameters
    ----------
    data : ScoreSet
        Scores and labels.
    belief : Belief, optional
        What the fitted method believes (default: no method was fitted).
    metrics : sequence of Metric
        The metrics that were estimated.
    estimates, labels_only : sequence of Estimate
        Estimates on all rows, one per metric, by the method and from labels alone.
    limits : Limits, optional
        Levels of the tests and numbers of rows that are looked at.
    groups : mapping of str to int, optional
        Number of labels of every group that is estimated.

    Returns
    -------
    tuple of Outcome
        The answer of every check, in the order of their codes.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.7, 0.4]})
    >>> ask_all(data)[0].answer.outcome
    'doubt'
    """
    posterior, facts = (None, Facts()) if belief is None else (belief.posterior, belief.facts)
    limits = limits or Limits()
    case = Case(data, posterior, facts, metrics, estimates, labels_only, limits, groups)
    return weigh_labels([Outcome(check, check.ask(case)) for check in CHECKS], data)


def check_all(
    data: ScoreSet,
    belief: Belief | None = None,
    metrics: Sequence[Metric] = (),
    estimates: Sequence[Estimate] = (),
    labels_only: Sequence[Estimate] = (),
    limits: Limits | None = None,
    groups: Mapping[str, int] | None = None,
) -> tuple[Doubt, ...]:
    """Ask every check about an evaluation and return the doubts.

    Parameters
    ----------
    data, belief, metrics, estimates, labels_only, limits, groups
        As in `ask_all`.

    Returns
    -------
    tuple of Doubt
        The most serious ones first; those of equal severity by their code.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.7, 0.4]})
    >>> check_all(data)[0].title
    'No labels'
    """
    outcomes = ask_all(data, belief, metrics, estimates, labels_only, limits, groups)
    doubts = [outcome.doubt for outcome in outcomes if outcome.doubt is not None]
    return tuple(sorted(doubts, key=lambda d: (SEVERITIES.index(d.severity), d.code)))
