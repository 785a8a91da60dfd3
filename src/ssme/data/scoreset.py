"""What was observed: scores of M classifiers on n rows over K classes, labels with holes."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.layout import Layout
from ssme.errors import InputError

__all__ = ["UNLABELED", "ScoreSet"]

UNLABELED = -1
"""Code of a missing label inside ``ScoreSet.labels``; users never see it."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreSet:
    """Validated once, at the door; frozen from then on.

    Come in by `from_arrays`, `from_frame` or `read`; the constructor itself takes arrays that are
    already valid.

    Attributes
    ----------
    scores : (n, M, K) probabilities; each (row, model) sums to 1, or is all NaN where the model
        has no score for that row.
    labels : (n,) class index, `UNLABELED` where unknown.
    models, classes : names in the order of the axes; the positive class of two is the last.
    weights : (n,) or None.
    groups : column name -> (n,) values, None where a row belongs to no group.
    ids : (n,) or None.
    frame_library : the data frame library results should go out in (``"pandas"``, ``"polars"``,
        ``"pyarrow"``): the one the data came in.
    layout : what was understood of the input.
    """

    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    models: tuple[str, ...]
    classes: tuple[Hashable, ...]
    weights: NDArray[np.float64] | None = None
    groups: Mapping[str, NDArray[np.object_]] = field(default_factory=dict)
    ids: NDArray[np.object_] | None = None
    frame_library: str = "pandas"
    layout: Layout | None = None

    def __post_init__(self) -> None:
        n = self.scores.shape[0]
        expected = (n, len(self.models), len(self.classes))
        if self.scores.shape != expected or self.labels.shape != (n,):
            raise InputError(
                f"scores of shape {self.scores.shape} and labels of shape {self.labels.shape} with "
                f"{len(self.models)} models and {len(self.classes)} classes",
                allowed="scores (n, models, classes) and labels (n,)",
                fix="use ScoreSet.from_arrays, which says what is wrong",
            )
        for name in ("scores", "labels", "weights", "ids"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        frozen = {name: _frozen(values) for name, values in self.groups.items()}
        object.__setattr__(self, "groups", frozen)

    @classmethod
    def from_arrays(
        cls,
        scores: object,
        labels: object | None = None,
        *,
        models: Sequence[str] | None = None,
        classes: Sequence[Hashable] | None = None,
        positive: Hashable | None = None,
        weights: object | None = None,
        groups: Mapping[str, object] | None = None,
        ids: object | None = None,
        unlabeled: object | None = None,
        logits: bool = False,
        normalize: bool = False,
    ) -> ScoreSet:
        """Scores and labels held in arrays.

        Parameters
        ----------
        scores : (n, M) P(positive) of each binary model, (n, M, K), or a mapping from model to
            (n,) or (n, K); NaN where a model has no score for a row.
        labels : (n,) classes, NaN / None / NA / "" where unknown; None if nothing is labeled.
        models : names of the M models.
        classes : the K classes in the order of the class axis, ``[negative, positive]`` for
            (n, M). Needed for text labels; integers and booleans are ascending by themselves.
        positive : the class whose probability (n, M) scores are; instead of ``classes``.
        weights : (n,) nonnegative weights of rows.
        groups : mapping from column name to (n,) values.
        ids : (n,) unique names of rows.
        unlabeled : a code, or several, that mean "no label" (such as -1).
        logits : scores are logits; they pass through the sigmoid or the softmax.
        normalize : rescale class scores that do not sum to 1.
        """
        from ssme.data.arrays import build

        return build(
            scores,
            labels,
            models=models,
            classes=classes,
            positive=positive,
            weights=weights,
            groups=groups,
            ids=ids,
            unlabeled=unlabeled,
            logits=logits,
            normalize=normalize,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        labels: object | None = None,
        *,
        label: str | None = None,
        models: Sequence[str] | Mapping[str, Any] | None = None,
        pattern: str | None = None,
        layout: str | None = None,
        id: str | None = None,
        weight: str | None = None,
        groups: Sequence[str] | None = None,
        model: str | None = None,
        class_: str | None = None,
        score: str | None = None,
        classes: Sequence[Hashable] | None = None,
        positive: Hashable | None = None,
        unlabeled: object | None = None,
        logits: bool = False,
        normalize: bool = False,
    ) -> ScoreSet:
        """Scores held in a pandas, polars or pyarrow frame.

        Parameters
        ----------
        frame : wide (a column per model, or per model and class) or long (a row per score).
        labels : labels kept elsewhere: (n,) values, or a frame or file joined by id; False if
            nothing is labeled.
        label : name of the label column, in ``labels`` if that is a table.
        models : columns of P(positive), or names of models whose class columns follow
            ``pattern``; or a mapping model -> column, -> [columns] or -> {class: column}.
        pattern : how wide column names hold model and class, such as ``"{model}:{class}"``.
        layout : ``"wide"`` or ``"long"``; found out when only one fits.
        id, weight, groups : columns with row names, row weights and groups.
        model, class_, score : columns of the long layout; without a class column the scores are
            P(positive).
        classes, positive, unlabeled, logits, normalize : as in `from_arrays`.

        Columns that are not named are recognized by their usual names only: ``label`` or ``y``;
        ``id``; ``weight``; ``group`` and ``group_*``; ``model``, ``class``, ``score``. What was
        understood is in ``layout``.
        """
        from ssme.data.readers.frames import FrameOptions, read_frame

        options = FrameOptions(
            label=label,
            models=models,
            pattern=pattern,
            layout=layout,
            id=id,
            weight=weight,
            groups=groups,
            model=model,
            class_=class_,
            score=score,
            classes=classes,
            positive=positive,
            unlabeled=unlabeled,
            logits=logits,
            normalize=normalize,
        )
        return read_frame(frame, labels, options)

    @classmethod
    def read(
        cls,
        path: str | Path,
        labels: object | None = None,
        *,
        delimiter: str | None = None,
        **options: Any,
    ) -> ScoreSet:
        """Scores held in a file: CSV, TSV, Parquet, npz or npy, told by its suffix.

        ``options`` are those of `from_frame` for tables and of `from_arrays` for npz and npy.
        ``labels`` may be another file, joined by id, or False if nothing is to be labeled;
        ``delimiter`` is for CSV.
        """
        from ssme.data.readers.files import read

        return read(path, labels, delimiter=delimiter, **options)

    @classmethod
    def from_huggingface(
        cls,
        dataset: Any,
        *,
        label: str | None = None,
        models: Sequence[str] | None = None,
        **options: Any,
    ) -> ScoreSet:
        """Scores held in a ``datasets.Dataset``: a number or a list of class scores per cell.

        ``options`` are those of `from_frame`; a ``ClassLabel`` feature names the classes.
        """
        from ssme.data.readers.huggingface import from_huggingface

        return from_huggingface(dataset, label=label, models=models, **options)

    @property
    def n_rows(self) -> int:
        return int(self.scores.shape[0])

    @property
    def n_models(self) -> int:
        return int(self.scores.shape[1])

    @property
    def n_classes(self) -> int:
        return int(self.scores.shape[2])

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Mask (n,) of rows with a label."""
        mask: NDArray[np.bool_] = self.labels != UNLABELED
        return mask

    @property
    def n_labeled(self) -> int:
        return int(self.labeled.sum())

    @property
    def n_unlabeled(self) -> int:
        return self.n_rows - self.n_labeled

    @property
    def label_values(self) -> NDArray[np.object_]:
        """(n,) labels as the user knows them, None where unlabeled."""
        table = np.empty(self.n_classes + 1, dtype=object)
        table[:-1] = self.classes
        values: NDArray[np.object_] = table[self.labels]
        return values

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]) -> ScoreSet:
        """The rows of a mask or of positions, in that order."""
        chosen = np.asarray(rows)
        if chosen.dtype.kind not in "biu" or chosen.ndim != 1:
            raise InputError(
                f"rows of type {chosen.dtype} and shape {chosen.shape}",
                allowed="a boolean mask (n,) or a list of row positions",
                fix="select rows with a mask such as data.labeled",
            )
        if chosen.dtype.kind == "b" and chosen.shape != (self.n_rows,):
            raise InputError(
                f"a mask of length {chosen.size} for {self.n_rows} rows",
                allowed=f"a mask of length {self.n_rows}",
                fix="make the mask from this very set",
            )
        if chosen.dtype.kind != "b" and chosen.size:
            outside = (chosen < -self.n_rows) | (chosen >= self.n_rows)
            if outside.any():
                raise InputError(
                    f"row {chosen[outside][0]} of {self.n_rows}",
                    allowed=f"positions 0..{self.n_rows - 1}",
                    fix="count rows from 0",
                )
        return dataclasses.replace(
            self,
            scores=self.scores[chosen],
            labels=self.labels[chosen],
            weights=None if self.weights is None else self.weights[chosen],
            groups={name: values[chosen] for name, values in self.groups.items()},
            ids=None if self.ids is None else self.ids[chosen],
        )

    def select(self, models: str | Sequence[str]) -> ScoreSet:
        """Only these models, in this order."""
        from ssme.data.validation import refuse_duplicates
        from ssme.wording import did_you_mean, listing

        names = (models,) if isinstance(models, str) else tuple(models)
        for name in names:
            if name not in self.models:
                raise InputError(
                    f"no model {name!r}",
                    allowed=f"the models {listing(self.models)}",
                    fix=f"{did_you_mean(name, self.models)}name models as in the data",
                )
        refuse_duplicates(names, "model", "each model once")
        if not names:
            raise InputError(
                "no model selected",
                allowed=f"one or more of {listing(self.models)}",
                fix="name at least one model",
            )
        places = [self.models.index(name) for name in names]
        return dataclasses.replace(self, scores=self.scores[:, places], models=names)

    def with_labels(self, labels: object | None, *, unlabeled: object | None = None) -> ScoreSet:
        """The same scores with other labels, written as the user knows the classes."""
        from ssme.data.labels import encode, observe

        raw = observe(labels, self.n_rows, unlabeled)
        return dataclasses.replace(self, labels=encode(raw, self.classes))

    def replace(self, **changes: Any) -> ScoreSet:
        """A copy with some attributes changed; the new values are taken as valid."""
        return dataclasses.replace(self, **changes)

    def to_frame(self, layout: str = "wide") -> Any:
        """A frame of the library the data came in, ``"wide"`` or ``"long"``; reads back as is."""
        from ssme.data.writing import to_frame

        return to_frame(self, layout)

    def save(self, path: str | Path) -> None:
        """Write to CSV, TSV, Parquet or npz, told by the suffix; `read` reads it back."""
        from ssme.data.writing import save

        save(self, path)

    def __repr__(self) -> str:
        facts = ", ".join(f"{title}: {text}" for title, text in self._facts().items())
        return f"ScoreSet({facts})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(title)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for title, text in self._facts().items()
        )
        return f"<table><caption>ScoreSet</caption>{rows}</table>"

    def _facts(self) -> dict[str, str]:
        counts = np.bincount(self.labels[self.labeled], minlength=self.n_classes)
        per_class = ", ".join(f"{c}: {k}" for c, k in zip(self.classes, counts, strict=True))
        facts = {
            "rows": f"{self.n_rows:,}",
            "labeled": f"{self.n_labeled:,} ({per_class})",
            f"{self.n_models} models": ", ".join(self.models),
        }
        unscored = int(np.isnan(self.scores[:, :, 0]).sum())
        if unscored:
            facts["missing scores"] = f"{unscored:,}"
        if self.groups:
            facts["groups"] = ", ".join(self.groups)
        if self.weights is not None:
            facts["weights"] = "yes"
        return facts


def _frozen(values: NDArray[Any] | None) -> NDArray[Any] | None:
    if values is None:
        return None
    view = values.view()
    view.flags.writeable = False
    return view
