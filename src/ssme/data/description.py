"""A set of scores in words, for the prompt and for notebooks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from html import escape
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ssme.data.answers import Judge
from ssme.data.design import LabelDesign
from ssme.wording import shorten

__all__ = ["Described", "describe_set", "render_set", "tell_positive"]


class Described(Protocol):
    """What of a `ScoreSet` is told."""

    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def labels(self) -> NDArray[np.int64]: ...
    @property
    def labeled(self) -> NDArray[np.bool_]: ...
    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def classes(self) -> tuple[Hashable, ...]: ...
    @property
    def positive(self) -> Hashable | None: ...
    @property
    def weights(self) -> NDArray[np.float64] | None: ...
    @property
    def groups(self) -> Mapping[str, Any]: ...
    @property
    def design(self) -> LabelDesign: ...
    @property
    def judges(self) -> Mapping[str, Judge]: ...


def describe_set(data: Described) -> dict[str, str]:
    """Title and text of each fact worth telling."""
    counts = np.bincount(data.labels[data.labeled], minlength=len(data.classes))
    per_class = ", ".join(f"{c}: {k}" for c, k in zip(data.classes, counts, strict=True))
    facts = {
        "rows": f"{len(data.labels):,}",
        "labeled": f"{int(data.labeled.sum()):,} ({per_class})",
        f"{len(data.models)} models": ", ".join(data.models),
    }
    unscored = int(np.isnan(data.scores[:, :, 0]).sum())
    if unscored:
        facts["missing scores"] = f"{unscored:,}"
    if data.judges:
        facts["judges"] = ", ".join(data.judges)
    if data.groups:
        facts["groups"] = ", ".join(data.groups)
    if data.weights is not None:
        facts["weights"] = "yes"
    if data.design.kind is not None:
        facts["rows labeled"] = data.design.kind
    return facts


def tell_positive(data: Described) -> str:
    """Which of two classes is the positive one, in brackets; empty where it goes without saying."""
    usual = [str(name).lower() for name in data.classes] in (["0", "1"], ["false", "true"])
    if len(data.classes) != 2 or usual:
        return ""
    if data.positive is None:
        return " (positive class not known)"
    return f" ({shorten(repr(data.positive), 40)} is positive)"


def render_set(data: Described) -> str:
    """The same as a small HTML table."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(title)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for title, text in describe_set(data).items()
    )
    return f"<table><caption>ScoreSet</caption>{rows}</table>"
