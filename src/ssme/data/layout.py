"""What was understood of the input, so that it can be shown and checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from ssme.data.labels import ClassOrder

GROUP_PREFIX = "group_"
"""Prefix of group columns; the rest of the column name is the name of the grouping."""


@dataclass(frozen=True)
class Layout:
    """How a table, a file or arrays were read.

    Attributes
    ----------
    kind : ``"arrays"``, ``"mapping"``, ``"wide"``, ``"wide by class"`` or ``"long"``.
    columns : model -> columns its scores came from (one, or one per class).
    label, id, weight, design, cluster : column names, None for no such column.
    groups : column names.
    ignored : columns that were left out.
    skipped : column -> why it is not taken for a model unless it is named; these are ignored too.
    encoding : class -> index on the class axis.
    order : what says the order of classes: ``"listed"``, ``"known"`` (numbers, or a pair such as no
        and yes) or ``"unknown"``; the last of two is the positive class where one of these does.
    unlabeled : codes declared to mean unlabeled, besides NaN, None, NA and empty text.
    labels_source, source : where labels and scores came from when it was a file or second table.
    judges : what judges say and how it was understood, title -> text.
    clustered : column whose values repeat and within which scores are alike -> number of its
        values; only where no clusters were declared.
    """

    kind: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    label: str | None = None
    id: str | None = None
    weight: str | None = None
    design: str | None = None
    groups: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    encoding: Mapping[Hashable, int] = field(default_factory=dict)
    unlabeled: tuple[object, ...] = ()
    labels_source: str | None = None
    source: str | None = None
    judges: Mapping[str, str] = field(default_factory=dict)
    order: ClassOrder | None = None
    skipped: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    clustered: Mapping[str, int] = field(default_factory=dict)

    def describe(self) -> dict[str, str]:
        """Title -> text, only what applies; for people."""
        codes = ", ".join(f"{name!r} = {index}" for name, index in self.encoding.items())
        if self.order == "unknown":
            codes += " (in no order)" if len(self.encoding) > 2 else " (none known to be positive)"
        elif len(self.encoding) == 2:
            codes += " (positive)"
        missing = ["NaN", "None", "NA", "empty", *(repr(code) for code in self.unlabeled)]
        facts = {
            "source": self.source,
            "layout": self.kind,
            "score columns": "; ".join(
                model if columns == (model,) else f"{model}: {', '.join(columns)}"
                for model, columns in self.columns.items()
            ),
            "labels from": self.labels_source,
            "label column": self.label,
            "classes": codes,
            "unlabeled means": ", ".join(missing),
            "id column": self.id,
            "weight column": self.weight,
            "label weight column": self.design,
            "cluster column": self.cluster,
            "group columns": ", ".join(self.groups),
            "not taken for models": list_reasons(self.skipped),
            "ignored columns": ", ".join(n for n in self.ignored if n not in self.skipped),
            **self.judges,
        }
        return {title: text for title, text in facts.items() if text}

    def __str__(self) -> str:
        return "\n".join(f"{title}: {text}" for title, text in self.describe().items())


def list_reasons(skipped: Mapping[str, str], limit: int = 20) -> str:
    """Columns with the reason of each, for people; ``limit`` of them."""
    listed = [f"{name!r} ({reason})" for name, reason in skipped.items()]
    more = len(listed) - limit
    return "; ".join(listed[:limit]) + (f"; and {more} more" if more > 0 else "")
