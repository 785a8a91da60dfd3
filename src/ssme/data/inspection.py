"""What is in a ScoreSet, and what looks wrong with it before anything is estimated.

Facts about the input only: scores that cannot inform (constant, duplicated, missing), scores that
may be for the other class, saturated scores, labels that are too few or one-sided. Doubts about an
*estimate* live in `ssme.diagnostics`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssme.data.scoreset import ScoreSet

__all__ = ["Finding", "Inspection", "inspect"]

FEW_LABELS = 10
"""Fewer labels of a class than this tell little about it."""
SATURATED = 0.5
"""Share of scores at exactly 0 or 1 that is worth a word."""
AGAINST = -0.2
"""Correlation with the other models' mean below which a model's scores may be reversed."""


@dataclass(frozen=True)
class Finding:
    """Something that looks wrong: what, and what to do."""

    what: str
    advice: str


@dataclass(frozen=True)
class Inspection:
    """Counts and findings of a ScoreSet."""

    n_rows: int
    n_labeled: int
    labels: dict[str, int]
    missing: dict[str, int]
    findings: tuple[Finding, ...]


def inspect(data: ScoreSet) -> Inspection:
    """Look at ``data`` without estimating anything."""
    counts = np.bincount(data.labels[data.labeled], minlength=data.n_classes)
    missing = np.isnan(data.scores[:, :, 0]).sum(axis=0)
    labels = {str(c): int(n) for c, n in zip(data.classes, counts, strict=True)}
    findings = [*_of_labels(data, labels), *_of_scores(data), *_of_pairs(data)]
    return Inspection(
        data.n_rows,
        data.n_labeled,
        labels,
        {m: int(n) for m, n in zip(data.models, missing, strict=True) if n},
        tuple(findings),
    )


def _of_labels(data: ScoreSet, labels: dict[str, int]) -> list[Finding]:
    if data.n_labeled == 0:
        return [
            Finding(
                "no row has a label",
                "name the label column or file; without labels only label-free methods work",
            )
        ]
    found = []
    none = [name for name, count in labels.items() if count == 0]
    few = [f"{name}: {count}" for name, count in labels.items() if 0 < count < FEW_LABELS]
    if none:
        found.append(
            Finding(
                f"no label of class {_some(none)}",
                "label rows of that class: nothing else ties the class to its name",
            )
        )
    if few:
        found.append(
            Finding(
                f"fewer than {FEW_LABELS} labels of class {_some(few)}",
                "expect wide intervals; a few more labels of these classes help most",
            )
        )
    if data.n_unlabeled == 0:
        found.append(
            Finding("every row has a label", "plain metrics are exact here; nothing to estimate")
        )
    return found


def _of_scores(data: ScoreSet) -> list[Finding]:
    found = []
    spread = np.array(
        [np.nanmax(s) - np.nanmin(s) if np.isfinite(s).any() else 0.0 for s in _last(data)]
    )
    constant = [m for m, s in zip(data.models, spread, strict=True) if s == 0.0]
    if constant:
        found.append(
            Finding(f"the same score on every row from {_some(constant)}", "leave such models out")
        )
    present = np.isfinite(data.scores)
    edge = (data.scores == 0.0) | (data.scores == 1.0)
    share = edge.sum(axis=(0, 2)) / np.maximum(present.sum(axis=(0, 2)), 1)
    saturated = [m for m, s in zip(data.models, share, strict=True) if s > SATURATED]
    if saturated and data.n_classes == 2:
        found.append(
            Finding(
                f"more than half of the scores are exactly 0 or 1 from {_some(saturated)}",
                "give probabilities rather than decisions where the model has them",
            )
        )
    return found


def _of_pairs(data: ScoreSet) -> list[Finding]:
    found = []
    seen: dict[bytes, str] = {}
    for j, model in enumerate(data.models):
        key = np.ascontiguousarray(data.scores[:, j]).tobytes()
        if key in seen:
            found.append(
                Finding(
                    f"{_quoted(model)} and {_quoted(seen[key])} have identical scores",
                    "keep one: a copy counts as a second opinion that it is not",
                )
            )
        seen.setdefault(key, model)
    if data.n_classes == 2 and data.n_models > 2:
        found += _reversed(data)
    return found


def _reversed(data: ScoreSet) -> list[Finding]:
    """Models whose scores fall where the mean of the others rises."""
    scores = data.scores[:, :, 1]
    present = np.isfinite(scores)
    filled = np.where(present, scores, 0.0)
    against = []
    for j, model in enumerate(data.models):
        others = np.delete(np.arange(data.n_models), j)
        count = present[:, others].sum(axis=1)
        rows = present[:, j] & (count > 0)
        mean = filled[:, others].sum(axis=1)[rows] / count[rows]
        mine = scores[rows, j]
        if (
            rows.sum() > 2
            and mean.std() > 0
            and mine.std() > 0
            and np.corrcoef(mean, mine)[0, 1] < AGAINST
        ):
            against.append(model)
    if not against:
        return []
    return [
        Finding(
            f"scores that fall where the other models' rise, from {_some(against)}",
            f"check that they are probabilities of {data.classes[-1]!r}",
        )
    ]


def _last(data: ScoreSet) -> list[np.ndarray]:
    return [data.scores[:, j, -1] for j in range(data.n_models)]


def _some(names: list[str], limit: int = 5) -> str:
    shown = ", ".join(_quoted(name) for name in names[:limit])
    return shown + (f" and {len(names) - limit} more" if len(names) > limit else "")


def _quoted(name: str, width: int = 40) -> str:
    return repr(name if len(name) <= width else name[: width - 1] + "…")
