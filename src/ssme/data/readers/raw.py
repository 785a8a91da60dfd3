"""The rows of a source as arrays, before anything is checked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ssme.data.labels import RawLabels
from ssme.data.values import FloatArray

__all__ = ["RawTable"]


@dataclass(frozen=True, eq=False)
class RawTable:
    """What a layout gives back: one value or vector per row of the `ScoreSet` to be."""

    scores: FloatArray
    labels: RawLabels
    models: Sequence[str]
    classes: Sequence[Hashable] | None
    weights: NDArray[Any] | None
    groups: Mapping[str, NDArray[Any]]
    ids: NDArray[Any] | None
    design: NDArray[Any] | None = None
