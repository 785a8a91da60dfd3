"""Which columns of a frame play which part, from what the caller names or from usual names."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ssme.data.labels import as_classes
from ssme.data.readers.tables import Table
from ssme.data.validation import as_names, refuse_duplicates
from ssme.data.values import FloatArray
from ssme.errors import InputError
from ssme.wording import listing

__all__ = ["GROUP_PREFIX", "USUAL_NAMES", "FrameOptions", "Reading", "Roles", "find_roles"]

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "labels", "y", "y_true", "target", "truth"),
    "id": ("id", "ids", "row_id", "example_id"),
    "weight": ("weight", "weights", "sample_weight"),
    "model": ("model", "model_name", "classifier"),
    "class_": ("class", "class_name"),
    "score": ("score", "probability", "prob"),
}
GROUP_PREFIX = "group_"


@dataclass(frozen=True)
class FrameOptions:
    """What the caller said about a frame; see `ScoreSet.from_frame`."""

    label: str | None = None
    models: Sequence[str] | Mapping[str, Any] | None = None
    pattern: str | None = None
    layout: str | None = None
    id: str | None = None
    weight: str | None = None
    groups: Sequence[str] | None = None
    model: str | None = None
    class_: str | None = None
    score: str | None = None
    classes: Sequence[Hashable] | None = None
    positive: Hashable | None = None
    unlabeled: object | None = None
    logits: bool = False
    normalize: bool = False
    delimiter: str | None = None  # of a CSV with the labels

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", as_classes(self.classes))


@dataclass(frozen=True)
class Roles:
    """Columns that are not scores; ``groups`` maps a group's name to its column.

    ``set_aside`` are label columns that labels given apart replace.
    """

    label: str | None
    id: str | None
    weight: str | None
    groups: Mapping[str, str]
    set_aside: frozenset[str] = frozenset()

    @property
    def columns(self) -> set[str]:
        named = {self.label, self.id, self.weight, *self.groups.values()}
        return {name for name in named if name is not None}


@dataclass(frozen=True, eq=False)
class Reading:
    """What a layout gives back, one value or vector per row of the `ScoreSet` to be."""

    kind: str
    scores: FloatArray
    labels: object | None
    models: Sequence[str]
    classes: Sequence[Hashable] | None
    weights: FloatArray | None
    groups: Mapping[str, NDArray[Any]]
    ids: NDArray[Any] | None
    columns: Mapping[str, tuple[str, ...]]
    ignored: tuple[str, ...]


def find_roles(table: Table, options: FrameOptions, labels: object | None) -> Roles:
    """Label, id, weight and group columns; labels given apart leave no part for a label column."""
    label = None
    if labels is None:
        label = table.find(options.label, USUAL_NAMES["label"], "label column")
    if options.groups is not None:
        named = as_names(options.groups, "groups")
        groups = {name: table.require(name, "group column") for name in named}
    else:
        groups = {
            name.removeprefix(GROUP_PREFIX): name
            for name in table.columns
            if name == "group" or (name.startswith(GROUP_PREFIX) and name != GROUP_PREFIX)
        }
    roles = Roles(
        label=label,
        id=table.find(options.id, USUAL_NAMES["id"], "id column"),
        weight=table.find(options.weight, USUAL_NAMES["weight"], "weight column"),
        groups=groups,
        set_aside=frozenset(
            name
            for name in table.columns
            if labels is not None and name.lower() in USUAL_NAMES["label"]
        ),
    )
    parts = [roles.label, roles.id, roles.weight, *groups.values()]
    named_parts = [name for name in parts if name is not None]
    refuse_duplicates(named_parts, "column", "one part (label, id, weight, group) per column")
    return roles


def refuse_without_labels(table: Table, fix: str) -> None:
    """No label column: refused as long as some column might have been meant."""
    raise InputError(
        f"{table.what} has no label column with a usual name; its columns are "
        f"{listing(table.columns, limit=20)}",
        allowed="a label column named by label=, or labels= given apart",
        fix=fix,
    )
