"""What was observed: scores of M classifiers on n rows over K classes, labels with holes.

Arrays are checked by `ssme.data.arrays` and `ssme.data.judges`; whatever has columns is read by
`ssme.data.readers`, which is imported when it is used.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import Layout, check_arrays
from ssme.data.design import NOT_SAID, LabelDesign, as_design
from ssme.data.judges import Judge, make_judged_arrays
from ssme.data.labels import encode, observe
from ssme.data.values import refuse_duplicates
from ssme.data.writing import save, to_frame
from ssme.errors import InputError, make_unknown_name_error
from ssme.options import accept_all, takes
from ssme.schema import FILE_OPTIONS, AnswerOptions, ArrayOptions, ReadOptions
from ssme.wording import quote, shorten

UNLABELED = -1
"""Code of a missing label inside ``ScoreSet.labels``; users never see it."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreSet:
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
    clusters : array of shape (n,) or None
        Number of the cluster that each row belongs to. Rows of one cluster, such as those of one
        patient, resemble each other; None where every row was drawn by itself.
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
    clusters: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        n = self.scores.shape[0]
        expected = (n, len(self.models), len(self.classes))
        if self.scores.shape != expected or self.labels.shape != (n,):
            raise InputError(
                f"scores have the shape {self.scores.shape} and labels {self.labels.shape}, for "
                f"{len(self.models)} models and {len(self.classes)} classes",
                hint="use ScoreSet.from_arrays, which says what is wrong",
            )
        arrays = ("scores", "labels", "weights", "ids", "clusters")
        given = {name: getattr(self, name) for name in arrays}
        views = {name: None if values is None else values.view() for name, values in given.items()}
        groups = {name: values.view() for name, values in self.groups.items()}
        for view in (*views.values(), *groups.values()):
            if view is not None:
                view.flags.writeable = False
        for name, value in {**views, "groups": groups}.items():
            object.__setattr__(self, name, value)

    @classmethod
    @takes(ArrayOptions)
    def from_arrays(
        cls,
        scores: object,
        labels: object | None = None,
        *,
        weights: object | None = None,
        groups: Mapping[str, object] | None = None,
        ids: object | None = None,
        clusters: object | None = None,
        **options: Any,
    ) -> ScoreSet:
        """Make a set of scores and labels held in arrays.

        Parameters
        ----------
        scores : array of shape (n, M) or (n, M, K), or dict
            The probability of the positive class under each of M binary models, or the
            probabilities of K classes; or a dict from model to an array (n,) or (n, K). NaN where
            a model has no score for a row.
        labels : array of shape (n,), optional
            The class of each row; NaN, None, NA or empty text where it is unknown. Text needs
            ``classes``, ``[negative, positive]`` for scores of shape (n, M), or ``positive``.
        weights : array of shape (n,), optional
            Nonnegative weights of the rows.
        groups : dict, optional
            From the name of a group column to its values (n,), None where a row has none.
        ids : array of shape (n,), optional
            Unique names of the rows.
        clusters : array of shape (n,), optional
            What each row belongs to, such as a patient or a session: rows of one cluster are
            correlated, and intervals allow for it.
        **options

        Examples
        --------
        >>> import ssme
        >>> scores = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.1]]
        >>> ssme.ScoreSet.from_arrays(scores, [1, 0, None], models=["bert", "gpt"])
        ScoreSet(rows: 3, labeled: 2 (0: 1, 1: 1), 2 models: bert, gpt)
        """
        given = ArrayOptions(**accept_all(ArrayOptions, options, "from_arrays"))
        rows: dict[str, Any] = {"weights": weights, "groups": groups, "ids": ids}
        return cls(**check_arrays(scores, labels, given, **rows, clusters=clusters))

    @classmethod
    @takes(AnswerOptions, without=("models", "logits", "normalize"))
    def from_answers(
        cls,
        answers: Any,
        /,
        labels: object | None = None,
        *,
        ratings: Mapping[str, object] | Sequence[str] | None = None,
        scores: Mapping[str, object] | None = None,
        models: Sequence[str] | None = None,
        weights: object | None = None,
        groups: Any = None,
        ids: object | None = None,
        clusters: object | None = None,
        **options: Any,
    ) -> ScoreSet:
        """Make a set of judges' answers and ratings: classes and grades, not probabilities.

        Judges are people, language models, or classifiers of which only the predicted class is
        kept. Each may answer some of the rows only.

        Parameters
        ----------
        answers : array of shape (n, M), dict, data frame or None
            The class that each of M judges said, as text, number or boolean; or a dict from judge
            to an array (n,). NaN, None, NA or empty text where a judge gave no answer. A frame has
            one column per judge, or one row per answer with a column of row ids, one of judges
            and one of answers. None where there are ratings only.
        labels : array of shape (n,), optional
            As in `from_arrays`; for a frame as in `from_frame`.
        ratings : dict or list of str, optional
            From judge to the grades (n,) it gave on an ordered scale; for a frame, the columns of
            grades.
        scores : dict, optional
            From further models to their probabilities, as in `from_arrays`.
        models : list of str, optional
            Names of the M judges of an array, or those of a dict that are taken.
        weights, groups, ids, clusters
            As in `from_arrays`.
        **options
            For a frame also those of `from_frame`, such as ``id``, ``model`` (the column of
            judges) and ``answers`` (the columns of answers).

        Examples
        --------
        >>> import ssme
        >>> said = {"ann": ["spam", "ham", "spam"], "bob": ["spam", "unsure", None]}
        >>> ssme.ScoreSet.from_answers(said, ["spam", None, None], positive="spam")
        ScoreSet(rows: 3, labeled: 1 (ham: 0, spam: 1), 2 models: ann, bob, missing scores: 2, \
judges: ann, bob)
        >>> grades = {"carl": [5, 1, 4]}
        >>> ssme.ScoreSet.from_answers(None, [1, 0, None], ratings=grades).judges["carl"].cut
        4
        """
        if hasattr(type(answers), "columns"):
            arrays = isinstance(ratings, Mapping)
            if arrays or any(each is not None for each in (scores, ids, weights, clusters)):
                problem = "arrays were given with a data frame of answers"
                hint = "name its columns: `id='...'`, `answers=[...]`, `ratings=[...]`"
                raise InputError(problem, hint=hint)
            from ssme.data.readers.reading import from_answers

            options |= {"models": models, "groups": groups, "ratings": ratings}
            return from_answers(answers, labels, options)
        given = AnswerOptions(**accept_all(AnswerOptions, options, "from_answers for arrays"))
        rows = {"weights": weights, "groups": groups, "ids": ids, "clusters": clusters}
        return cls(
            **make_judged_arrays(answers, ratings, scores, labels, given, models=models, **rows)
        )

    @classmethod
    @takes(ReadOptions, without=FILE_OPTIONS)
    def from_frame(cls, frame: Any, labels: object | None = None, **options: Any) -> ScoreSet:
        """Make a set of scores held in a pandas, polars or pyarrow frame.

        Columns that are not named are recognized by their usual names only: ``label`` or ``y``;
        ``id``; ``weight``; ``group`` and ``group_*``; ``model``, ``class``, ``score``. What was
        understood is in the ``layout`` of the set.

        Parameters
        ----------
        frame : data frame
            Wide (one column per model, or per model and class) or long (one row per score).
        labels : optional
            The name of the label column; labels kept elsewhere: values (n,), or a frame or a file
            (a ``pathlib.Path``) that is joined by id; or False if no row has a label.
        **options

        Examples
        --------
        >>> import pandas as pd
        >>> import ssme
        >>> frame = pd.DataFrame({"bert": [0.9, 0.2], "gpt": [0.6, 0.4], "toxic": [1, None]})
        >>> ssme.ScoreSet.from_frame(frame, "toxic")
        ScoreSet(rows: 2, labeled: 1 (0: 0, 1: 1), 2 models: bert, gpt)
        """
        from ssme.data.readers.reading import from_frame

        return from_frame(frame, labels, options)

    @classmethod
    @takes(ReadOptions)
    def read(cls, path: str | Path, labels: object | None = None, **options: Any) -> ScoreSet:
        """Make a set of scores from a file, whose suffix gives the format.

        CSV (.csv, .txt), TSV, Parquet, Excel (.xlsx, .xlsm), JSON Lines (.jsonl, .ndjson), JSON (a
        list of objects), npz and npy are read.

        Parameters
        ----------
        path : str or pathlib.Path
            The file; a ``file:///`` address is a path too.
        labels : optional
            The name of the label column (or, in an npz, of the array of labels); a
            ``pathlib.Path`` of another file, joined by id; values (n,); or False if no row has a
            label.
        **options
            In an npz, ``label``, ``id``, ``weight`` and ``groups`` name arrays, and ``models``
            chooses among its models. For npz and npy files also ``weights``, ``groups`` and
            ``ids`` as values, as in `from_arrays`.

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> data = ssme.ScoreSet.read(sample_path(), "label", id="id")
        >>> data.layout.label
        'label'
        """
        from ssme.data.readers.reading import read

        return read(path, labels, options)

    @classmethod
    @takes(ReadOptions, without=FILE_OPTIONS)
    def from_huggingface(
        cls, dataset: Any, labels: object | None = None, **options: Any
    ) -> ScoreSet:
        """Make a set of scores held in a ``datasets.Dataset`` of Hugging Face.

        Parameters
        ----------
        dataset : datasets.Dataset
            One split. A column of scores has one number per row (the probability of the
            positive class) or a list of class scores per row; a ``ClassLabel`` feature also names
            the classes.
        labels : optional
            As in `from_frame`.
        **options
        """
        from ssme.data.readers.reading import from_huggingface

        return from_huggingface(dataset, labels, options)

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
    def n_clusters(self) -> int:
        """Number of clusters; of rows where each was drawn by itself."""
        return self.n_rows if self.clusters is None else int(np.unique(self.clusters).size)

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

        Examples
        --------
        >>> import ssme
        >>> data = ssme.ScoreSet.from_arrays([[0.9], [0.2], [0.7]], [1, None, 0])
        >>> data.take(data.labeled).n_rows
        2
        """
        chosen = np.asarray(rows)
        if chosen.dtype.kind not in "biu" or chosen.ndim != 1:
            problem = f"rows have the type {chosen.dtype} and the shape {chosen.shape}"
            raise InputError(problem, hint="select rows with a mask (n,) or a list of positions")
        if chosen.dtype.kind == "b" and chosen.shape != (self.n_rows,):
            problem = f"the mask must have length {self.n_rows}, got {chosen.size}"
            raise InputError(problem, hint="make the mask from this set")
        if chosen.dtype.kind != "b":
            outside = chosen[(chosen < -self.n_rows) | (chosen >= self.n_rows)]
            if outside.size:
                problem = f"there is no row {outside[0]} among {self.n_rows} rows"
                raise InputError(problem, hint="count rows from 0")
        return dataclasses.replace(
            self,
            scores=self.scores[chosen],
            labels=self.labels[chosen],
            weights=None if self.weights is None else self.weights[chosen],
            groups={name: values[chosen] for name, values in self.groups.items()},
            ids=None if self.ids is None else self.ids[chosen],
            clusters=None if self.clusters is None else self.clusters[chosen],
            design=self.design.take(chosen),
        )

    def select(self, models: str | Sequence[str]) -> ScoreSet:
        """Take some of the models.

        Parameters
        ----------
        models : str or list of str
            Names of models, which are taken in this order.

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
                raise make_unknown_name_error("model", name, self.models)
        refuse_duplicates(names, "model")
        if not names:
            raise InputError("no model was selected", hint=f"choose among {quote(self.models)}")
        places = [self.models.index(name) for name in names]
        judges = {name: judge for name, judge in self.judges.items() if name in names}
        return dataclasses.replace(self, scores=self.scores[:, places], models=names, judges=judges)

    def with_labels(self, labels: object | None, *, unlabeled: object | None = None) -> ScoreSet:
        """The same scores with other labels; the design, that of the old labels, is not kept.

        Parameters
        ----------
        labels : array of shape (n,)
            Classes as they are named in ``classes``; NaN, None or empty where unknown.
        unlabeled : optional
            A code, or a list of codes, that mean "no label".

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
            label represents, one over its chance to be chosen. None: it is not known.

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
        """
        return dataclasses.replace(self, **changes)

    def to_frame(self, layout: str = "wide") -> Any:
        """The set as a data frame of the library it came in, which reads back as the same set.

        An order of text classes that was listed has to be listed again.

        Parameters
        ----------
        layout : {"wide", "long"}
            One column per model (or per model and class), or one row per score.

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
        return f"ScoreSet({', '.join(f'{title}: {text}' for title, text in self._describe())})"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(title)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for title, text in self._describe()
        )
        return f"<table><caption>ScoreSet</caption>{rows}</table>"

    def _describe(self) -> Iterator[tuple[str, str]]:
        """Title and text of each fact worth showing."""
        counts = np.bincount(self.labels[self.labeled], minlength=self.n_classes)
        per_class = ", ".join(f"{c}: {k}" for c, k in zip(self.classes, counts, strict=True))
        yield "rows", f"{self.n_rows:,}"
        yield "labeled", f"{self.n_labeled:,} ({per_class})"
        yield f"{self.n_models} models", ", ".join(self.models)
        missing = int(np.isnan(self.scores[:, :, 0]).sum())
        if missing:
            yield "missing scores", f"{missing:,}"
        if self.judges:
            yield "judges", ", ".join(self.judges)
        if self.groups:
            yield "groups", ", ".join(self.groups)
        if self.weights is not None:
            yield "weights", "yes"
        if self.clusters is not None:
            yield "clusters", f"{self.n_clusters:,}"
        if self.design.kind is not None:
            yield "rows labeled", self.design.kind


def describe_positive(data: ScoreSet) -> str:
    """Which of two classes is positive, in brackets; empty for 0 and 1, or more classes."""
    usual = [str(name).lower() for name in data.classes] in (["0", "1"], ["false", "true"])
    if len(data.classes) != 2 or usual:
        return ""
    if data.positive is None:
        return " (positive class not known)"
    return f" ({shorten(repr(data.positive), 40)} is positive)"
