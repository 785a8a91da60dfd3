"""Precision, recall and F1 of one class, for any number of classes.

    precision[k] = TP_k / (rows predicted k)      recall[k] = TP_k / (rows of class k)
    f1[k] = 2 TP_k / (rows of class k + rows predicted k)

``precision``, ``recall`` and ``f1`` of two classes are those of class 1. In text a class stands in
brackets, ``recall[spam]``; ``recall[*]`` is the recall of every class, and ``per_class`` all three
metrics of every class. Which class a name stands for is known with the data, so `expand_metrics`
looks it up there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssme.errors import InputError, UnsupportedError
from ssme.metrics.base import FloatArray
from ssme.metrics.confusion import compute_ratio
from ssme.metrics.kinds import DEFAULT_THRESHOLD, Rows, Tables
from ssme.wording import quote, suggest_nearest

EVERY = "*"
"""In the place of a class: every class."""
ALL_THREE = "per_class"
"""Precision, recall and F1 of every class."""
FORM = re.compile(r"(?P<name>[^\[\]@]+)\[(?P<inner>.*)\](?P<rest>@.*)?", re.DOTALL)


def compute_share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """`ratio` of a part to its whole, which rounding must not bring above one."""
    return np.minimum(compute_ratio(part, whole), 1.0)


def compute_class_terms(of: str, tables: Tables) -> FloatArray:
    """Precision, recall or F1 of each class (D, M, K); NaN where a class gives none."""
    if of == "recall":
        return compute_share(tables.hits, tables.occurring)
    if of == "precision":
        return compute_share(tables.hits, tables.predicted)
    return compute_share(2.0 * tables.hits, tables.occurring + tables.predicted)


@dataclass(frozen=True)
class ClassTerm:
    """The statistic ``of`` (precision, recall or f1) of class number ``k``."""

    of: str
    k: int

    def __call__(self, tables: Tables) -> FloatArray:
        terms = compute_class_terms(self.of, tables)
        if self.k >= terms.shape[2]:
            raise UnsupportedError(
                f"{self.of} of class number {self.k} with {terms.shape[2]} classes",
                hint=f"choose a class number from 0 to {terms.shape[2] - 1}",
            )
        return terms[:, :, self.k]

    @property
    def share_of(self) -> Rows | None:
        """The rows that it is a share of, where it is one."""
        return {"recall": Rows(true=self.k), "precision": Rows(predicted=self.k)}.get(self.of)


CLASS_METRICS = {
    "precision": ("Precision", "share of the rows predicted as {name} that are of this class"),
    "recall": ("Recall", "share of the rows of class {name} that are predicted as it"),
    "f1": ("F1", "2 TP / (2 TP + FP + FN) of class {name}"),
}
"""Title and definition of each metric that one class has."""


def split_class(text: str) -> tuple[str, str, str] | None:
    """``recall[spam]@0.3`` as name, class and threshold with its sign; None where no class is."""
    match = FORM.fullmatch(text)
    return None if match is None else (match["name"], match["inner"], match["rest"] or "")


def expand_metrics(
    specs: Iterable[Any], classes: Sequence[Any], threshold: float | None = None
) -> list[Any]:
    """Metrics with their classes looked up: text that names a class becomes data with its number.

    Parameters
    ----------
    specs : iterable
        What a caller may give for metrics; all but text with a class is returned as it is.
    classes : sequence
        Names of the classes, in the order of the scores.
    threshold : float, optional
        Threshold of those that name none (default 0.5).

    Examples
    --------
    >>> from ssme.metrics.per_class import expand_metrics
    >>> [each["as"] for each in expand_metrics(["recall[*]"], ["ham", "spam"])]
    ['recall[ham]', 'recall[spam]']
    """
    names = [str(name) for name in classes]
    usual = threshold in (None, DEFAULT_THRESHOLD)
    at = "" if usual else f"@{np.format_float_positional(threshold or 0.0, trim='-')}"
    out: list[Any] = []
    for spec in specs:
        if spec == ALL_THREE:
            out += [
                _describe_metric(name, k, names, at)
                for k in range(len(names))
                for name in CLASS_METRICS
            ]
            continue
        parts = split_class(spec) if isinstance(spec, str) else None
        if parts is None:
            out.append(spec)
            continue
        name, inner, own = parts
        rest = own or at
        if name not in CLASS_METRICS:
            raise InputError(
                f"metric `{spec}`: `{name}` is not a metric of one class",
                hint=f"write `{name}` without the brackets, or one of "
                + ", ".join(f"{each}[CLASS]" for each in CLASS_METRICS),
            )
        if inner == EVERY and EVERY not in names:
            out += [_describe_metric(name, k, names, rest) for k in range(len(names))]
        elif inner in names:
            out.append(_describe_metric(name, names.index(inner), names, rest))
        else:
            raise InputError(
                f"metric `{spec}`: there is no class {inner!r}",
                hint=f"{suggest_nearest(inner, names)}choose among {quote(names)}, or {EVERY} for "
                "every class",
            )
    return out


def _describe_metric(name: str, k: int, names: Sequence[str], rest: str) -> dict[str, Any]:
    title = CLASS_METRICS[name][0]
    return {
        "name": f"{name}[{k}]{rest}",
        "as": f"{name}[{names[k]}]{rest}",
        "title": f"{title} of {names[k]}" + (f" at {rest[1:]}" if rest else ""),
    }
