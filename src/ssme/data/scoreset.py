"""What was observed: scores of M classifiers on n rows over K classes, labels with holes.

The set knows no reader; the ways to make one are in `ssme.data.making`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.answers import Judge
from ssme.data.description import describe_set, render_set
from ssme.data.design import NOT_SAID, LabelDesign, as_design
from ssme.data.labels import encode, observe
from ssme.data.layout import Layout
from ssme.data.making import MadeOfScores
from ssme.data.options import ArrayOptions
from ssme.data.validation import refuse_duplicates
from ssme.data.writing import save, to_frame
from ssme.errors import InputError
from ssme.wording import quote, suggest_nearest

__all__ = ["UNLABELED", "ScoreSet"]

UNLABELED = -1
"""Code of a missing label inside ``ScoreSet.labels``; users never see it."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreSet(MadeOfScores):
    """Scores of M classifiers on n rows over K classes, and labels for some of the rows.

    Everything is checked once, when a set is made by `from_arrays`, `from_frame`, `read` or
    `from_huggingface`, and cannot be changed from then on. The constructor itself takes arrays
    that are already valid.

    Attributes
    ----------
    scores : array of shape (n, M, K)
        Probabilities. Those of one row and model sum to one up to rounding, or are all NaN where
        the model has no score for the row.
    labels : array of shape (n,)
        Position of the class, `UNLABELED` (-1) where it is unknown.
    models : tuple of str
        Names of the models, in the order of the second axis of ``scores``.
    classes : tuple
        The classes, in the order of the third axis; the positive one of two comes last, if it is
        known (``ordered``).
    weights : array of shape (n,) or None
        Weights of the rows.
    groups : dict
        From the name of a group column to its values (n,), None where a row belongs to no group.
    ids : array of shape (n,) or None
        Names of the rows.
    frame_library : str
        The data frame library that results go out in: the one the data came in.
    layout : Layout or None
        What was understood of the input.
    design : LabelDesign
        How rows were chosen for labeling, as far as it was said (`with_design`).
    judges : dict
        From the name of a model that gives answers or ratings instead of probabilities to the
        `Judge` that says what its scores are; empty where every model gives probabilities.

    Examples
    --------
    >>> import ssme
    >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2, 0.6], "b": [0.8, 0.3, 0.4]}, [1, 0, None])
    >>> data.n_rows, data.n_models, data.n_labeled
    (3, 2, 2)
    >>> data.select(["b"]).models
    ('b',)
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
    design: LabelDesign = NOT_SAID
    judges: Mapping[str, Judge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = self.scores.shape[0]
        expected = (n, len(self.models), len(self.classes))
        if self.scores.shape != expected or self.labels.shape != (n,):
            raise InputError(
                f"scores have the shape {self.scores.shape} and labels {self.labels.shape}, for "
                f"{len(self.models)} models and {len(self.classes)} classes",
                allowed="scores (n, models, classes) and labels (n,)",
                fix="use ScoreSet.from_arrays, which says what is wrong",
            )
        for name in ("scores", "labels", "weights", "ids"):
            object.__setattr__(self, name, _freeze(getattr(self, name)))
        frozen = {name: _freeze(values) for name, values in self.groups.items()}
        object.__setattr__(self, "groups", frozen)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.scores.shape[0])

    @property
    def n_models(self) -> int:
        """Number of models."""
        return int(self.scores.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.scores.shape[2])

    @property
    def labeled(self) -> NDArray[np.bool_]:
        """Mask (n,) of rows with a label."""
        mask: NDArray[np.bool_] = self.labels != UNLABELED
        return mask

    @property
    def n_labeled(self) -> int:
        """Number of rows with a label."""
        return int(self.labeled.sum())

    @property
    def n_unlabeled(self) -> int:
        """Number of rows without a label."""
        return self.n_rows - self.n_labeled

    @property
    def label_values(self) -> NDArray[np.object_]:
        """(n,) labels as the user knows them, None where unlabeled."""
        table = np.empty(self.n_classes + 1, dtype=object)
        table[:-1] = self.classes
        values: NDArray[np.object_] = table[self.labels]
        return values

    @property
    def label_weights(self) -> NDArray[np.float64] | None:
        """(n,) how much a label counts for all rows: the row's weight times its design's.

        None where all count the same.
        """
        if self.design.weights is None:
            return self.weights
        return self.design.weights * (1.0 if self.weights is None else self.weights)

    @property
    def ordered(self) -> bool:
        """Whether the order of ``classes`` means something: it was listed or goes without saying.

        Where it is False, ``classes`` are sorted, and metrics that need a positive class or an
        ordered scale are refused.
        """
        return self.layout is None or self.layout.order != "unknown"

    @property
    def positive(self) -> Hashable | None:
        """The positive one of two classes; None where nothing says it, or with more classes."""
        return self.classes[1] if self.n_classes == 2 and self.ordered else None

    def take(self, rows: NDArray[np.bool_] | NDArray[np.integer[Any]] | Sequence[int]) -> ScoreSet:
        """Take some of the rows.

        Parameters
        ----------
        rows : array
            A boolean mask (n,), or positions of rows, which are taken in this order.

        Returns
        -------
        ScoreSet

        Examples
        --------
        >>> import ssme
        >>> data = ssme.ScoreSet.from_arrays([[0.9], [0.2], [0.7]], [1, None, 0])
        >>> data.take(data.labeled).n_rows
        2
        """
        chosen = np.asarray(rows)
        if chosen.dtype.kind not in "biu" or chosen.ndim != 1:
            raise InputError(
                f"rows have the type {chosen.dtype} and the shape {chosen.shape}",
                allowed="a boolean mask (n,) or a list of row positions",
                fix="select rows with a mask such as data.labeled",
            )
        if chosen.dtype.kind == "b" and chosen.shape != (self.n_rows,):
            raise InputError(
                f"the mask has the length {chosen.size} and there are {self.n_rows} rows",
                allowed=f"a mask of length {self.n_rows}",
                fix="make the mask from this very set",
            )
        if chosen.dtype.kind != "b" and chosen.size:
            outside = (chosen < -self.n_rows) | (chosen >= self.n_rows)
            if outside.any():
                raise InputError(
                    f"there is no row {chosen[outside][0]} among {self.n_rows} rows",
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
            design=self.design.take(chosen),
        )

    def select(self, models: str | Sequence[str]) -> ScoreSet:
        """Take some of the models.

        Parameters
        ----------
        models : str or list of str
            Names of models, which are taken in this order.

        Returns
        -------
        ScoreSet

        Examples
        --------
        >>> import ssme
        >>> data = ssme.ScoreSet.from_arrays({"bert": [0.9, 0.2], "gpt": [0.6, 0.4]})
        >>> data.select("gpt").models
        ('gpt',)
        """
        names = (models,) if isinstance(models, str) else tuple(models)
        for name in names:
            if name not in self.models:
                raise InputError(
                    f"there is no model {name!r}",
                    allowed=f"the models {quote(self.models)}",
                    fix=f"{suggest_nearest(name, self.models)}name models as in the data",
                )
        refuse_duplicates(names, "model", "each model once")
        if not names:
            raise InputError(
                "no model was selected",
                allowed=f"one or more of {quote(self.models)}",
                fix="name at least one model",
            )
        places = [self.models.index(name) for name in names]
        judges = {name: judge for name, judge in self.judges.items() if name in names}
        return dataclasses.replace(self, scores=self.scores[:, places], models=names, judges=judges)

    def with_labels(self, labels: object | None, *, unlabeled: object | None = None) -> ScoreSet:
        """Put other labels beside the same scores.

        Parameters
        ----------
        labels : array of shape (n,)
            Classes as they are named in ``classes``; NaN, None or empty where unknown.
        unlabeled : optional
            A code, or a list of codes, that mean "no label".

        Returns
        -------
        ScoreSet
            The design is not kept: it was that of the other labels.

        Examples
        --------
        >>> import ssme
        >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2, 0.6]}, [1, None, None])
        >>> data.with_labels([1, 0, None]).n_labeled
        2
        """
        codes = ArrayOptions(unlabeled=unlabeled).unlabeled
        raw = observe(labels, self.n_rows, codes)
        return dataclasses.replace(self, labels=encode(raw, self.classes), design=NOT_SAID)

    def with_design(self, design: object | None) -> ScoreSet:
        """The same data with what is known of how rows were chosen for labeling.

        Parameters
        ----------
        design : str, array or None
            ``"random"``: every row had the same chance. ``"by_class"``: rows were chosen by their
            class, such as as many cases as controls. ``"by_score"``: rows were chosen by their
            scores, such as those on which classifiers are unsure. An array (n,): how many rows each
            label stands for, one over its chance to be chosen. None: it is not known.

        Returns
        -------
        ScoreSet
            A copy; methods that can use the design do.

        Examples
        --------
        >>> from ssme import ScoreSet
        >>> data = ScoreSet.from_arrays([[0.9], [0.2], [0.6]], [1, 0, None])
        >>> data.with_design("by_class").design.kind
        'by_class'
        """
        return dataclasses.replace(self, design=as_design(design, self.labels))

    def replace(self, **changes: Any) -> ScoreSet:
        """Copy the set with some attributes changed; the new values are not checked.

        Parameters
        ----------
        **changes
            New values by the name of the attribute.

        Returns
        -------
        ScoreSet
            The changed copy.
        """
        return dataclasses.replace(self, **changes)

    def to_frame(self, layout: str = "wide") -> Any:
        """Give the set as a data frame that reads back as the same set.

        An order of text classes that was listed has to be listed again.

        Parameters
        ----------
        layout : {"wide", "long"}
            One column per model (or per model and class), or one row per score.

        Returns
        -------
        data frame
            Of the library the data came in.

        Examples
        --------
        >>> import ssme
        >>> data = ssme.ScoreSet.from_arrays({"a": [0.9, 0.2], "b": [0.8, 0.3]}, [1, None])
        >>> list(data.to_frame().columns)
        ['a', 'b', 'label']
        """
        return to_frame(self, layout)

    def save(self, path: str | Path) -> None:
        """Write the set to a file that `read` reads back as the same set.

        An order of text classes that was listed has to be listed again, unless the file is an npz.

        Parameters
        ----------
        path : str or pathlib.Path
            A name that ends in .csv, .tsv, .parquet or .npz.
        """
        save(self, path)

    def __repr__(self) -> str:
        facts = ", ".join(f"{title}: {text}" for title, text in describe_set(self).items())
        return f"ScoreSet({facts})"

    def _repr_html_(self) -> str:
        return render_set(self)


def _freeze(values: NDArray[Any] | None) -> NDArray[Any] | None:
    if values is None:
        return None
    view = values.view()
    view.flags.writeable = False
    return view
