"""How a `ScoreSet` is made: of arrays, answers, frames, files and data sets of Hugging Face.

What stands in arrays is checked here (`ssme.data.arrays`, `ssme.data.judged`); whatever has columns
is read by a reader that `ssme.data.registry` looks up, so that a set knows no file format.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from ssme.data.arrays import check_arrays
from ssme.data.judged import make_judged_arrays
from ssme.data.options import AnswerOptions, ArrayOptions
from ssme.data.registry import find_reader
from ssme.errors import InputError

__all__ = ["MadeOfScores"]


class MadeOfScores:
    """The ways to make a set of scores, each of which checks what it is given."""

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
        design: object | None = None,
        unlabeled: object | None = None,
        logits: bool = False,
        normalize: bool = False,
    ) -> Self:
        """Make a set of scores and labels held in arrays.

        Parameters
        ----------
        scores : array of shape (n, M) or (n, M, K), or dict
            The probability of the positive class under each of M binary models, or the
            probabilities of K classes; or a dict from model to an array (n,) or (n, K). NaN where
            a model has no score for a row.
        labels : array of shape (n,), optional
            The class of each row; NaN, None, NA or empty text where it is unknown.
        models : list of str, optional
            Names of the M models.
        classes : list, optional
            The K classes in the order of the class axis; ``[negative, positive]`` for scores of
            shape (n, M). Needed for text labels; whole numbers and booleans are in ascending
            order by themselves.
        positive : optional
            The class whose probability scores of shape (n, M) are; instead of ``classes``.
        weights : array of shape (n,), optional
            Nonnegative weights of the rows.
        groups : dict, optional
            From the name of a group column to its values (n,), None where a row has none.
        ids : array of shape (n,), optional
            Unique names of the rows.
        design : str or array of shape (n,), optional
            How rows were chosen for labeling, as in `with_design`.
        unlabeled : optional
            A code, or a list of codes, that mean "no label", such as -1.
        logits : bool, default False
            Whether scores are logits; they pass through the sigmoid or the softmax.
        normalize : bool, default False
            Whether to rescale class scores that do not sum to one.

        Returns
        -------
        ScoreSet

        Examples
        --------
        >>> import ssme
        >>> scores = [[0.9, 0.6], [0.2, 0.4], [0.7, 0.1]]
        >>> ssme.ScoreSet.from_arrays(scores, [1, 0, None], models=["bert", "gpt"])
        ScoreSet(rows: 3, labeled: 2 (0: 1, 1: 1), 2 models: bert, gpt)
        """
        options = ArrayOptions(
            models=models,
            classes=classes,
            positive=positive,
            unlabeled=unlabeled,
            logits=logits,
            normalize=normalize,
            design=design,
        )
        fields = check_arrays(scores, labels, options, weights=weights, groups=groups, ids=ids)
        return cls(**fields)

    @classmethod
    def from_answers(
        cls,
        answers: Any,
        /,
        labels: object | None = None,
        *,
        ratings: Mapping[str, object] | Sequence[str] | None = None,
        scores: Mapping[str, object] | None = None,
        models: Sequence[str] | None = None,
        classes: Sequence[Hashable] | None = None,
        positive: Hashable | None = None,
        unsure: object | None = None,
        grades: Sequence[Hashable] | None = None,
        cut: Hashable | None = None,
        weights: object | None = None,
        groups: Mapping[str, object] | None = None,
        ids: object | None = None,
        design: object | None = None,
        unlabeled: object | None = None,
        **columns: Any,
    ) -> Self:
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
        classes : list, optional
            The classes; of two the positive one comes last. Without it, those that occur among
            labels and answers.
        positive : optional
            The positive one of two classes; instead of ``classes``.
        unsure : optional
            Code, or codes, by which a judge says that it is unsure, beside "unsure" and "abstain".
        grades : list, optional
            The grades of ratings from the lowest to the highest. Without it, numbers are in
            ascending order, and of single letters A is the highest.
        cut : optional
            The lowest grade that counts as the positive class; without it, the first grade above
            the middle of the scale. It does not matter where the truth is a grade too.
        weights, groups, ids, design, unlabeled
            As in `from_arrays`.
        **columns
            For a frame, further options of `from_frame`, such as ``id`` and ``model`` (the column
            of judges), and the columns of answers with ``answers=[...]``.

        Returns
        -------
        ScoreSet

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
        told: dict[str, Any] = {
            "classes": classes,
            "positive": positive,
            "unsure": unsure,
            "grades": grades,
            "cut": cut,
            "unlabeled": unlabeled,
            "design": design,
        }
        if hasattr(type(answers), "columns"):
            apart = {"scores": scores, "ids": ids, "weights": weights}
            if isinstance(ratings, Mapping) or any(value is not None for value in apart.values()):
                raise InputError(
                    "arrays were given beside a data frame of answers",
                    allowed="everything in the frame, its columns named",
                    fix="name the columns: id='...', weight='...', answers=[...], ratings=[...], "
                    "models=[...]",
                )
            data: Self = find_reader("answers")(
                answers, labels, models=models, groups=groups, ratings=ratings, **told, **columns
            )
            return data
        if columns:
            raise InputError(
                f"from_answers has no option {next(iter(columns))!r} for arrays",
                allowed="names of columns for a data frame only",
                fix="leave it out",
            )
        return cls(
            **make_judged_arrays(
                answers,
                ratings,
                scores,
                labels,
                AnswerOptions(**told),
                models=models,
                weights=weights,
                groups=groups,
                ids=ids,
            )
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
        design: object | None = None,
        groups: Sequence[str] | None = None,
        ignore: Sequence[str] | None = None,
        model: str | None = None,
        class_: str | None = None,
        score: str | None = None,
        answers: Sequence[str] | None = None,
        ratings: Sequence[str] | None = None,
        unsure: object | None = None,
        grades: Sequence[Hashable] | None = None,
        cut: Hashable | None = None,
        classes: Sequence[Hashable] | None = None,
        positive: Hashable | None = None,
        unlabeled: object | None = None,
        logits: bool = False,
        normalize: bool = False,
    ) -> Self:
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
        label : str, optional
            Name of the label column; in ``labels``, if that is a frame or a file.
        models : list of str or dict, optional
            Columns with the probability of the positive class, or names of models whose class
            columns follow ``pattern``; or a dict from model to a column, to a list of columns or
            to a dict from class to column.
        pattern : str, optional
            How the names of wide columns hold model and class, such as ``"{model}:{class}"``.
        layout : {"wide", "long"}, optional
            Found out when only one of the two fits.
        id, weight : str, optional
            Columns with the names and the weights of the rows.
        design : str, optional
            How rows were chosen for labeling, ``"random"``, ``"by_class"`` or ``"by_score"``; or
            the column that says how many rows each label stands for (`with_design`). A column
            named ``label_weight`` is recognized.
        groups : list of str, optional
            Columns with groups.
        ignore : list of str, optional
            Columns to leave out.
        model, class_, score : str, optional
            Columns of the long layout; without a column of classes, scores are probabilities of
            the positive class.
        answers, ratings : list of str, optional
            Columns in which judges say a class, or give a grade (`from_answers`); ``models`` then
            names columns of scores beside them. In the long layout, the one column with the
            answers of all judges.
        unsure, grades, cut
            As in `from_answers`.
        classes, positive, unlabeled, logits, normalize
            As in `from_arrays`.

        Returns
        -------
        ScoreSet

        Examples
        --------
        >>> import pandas as pd
        >>> import ssme
        >>> frame = pd.DataFrame({"bert": [0.9, 0.2], "gpt": [0.6, 0.4], "toxic": [1, None]})
        >>> ssme.ScoreSet.from_frame(frame, "toxic")
        ScoreSet(rows: 2, labeled: 1 (0: 0, 1: 1), 2 models: bert, gpt)
        """
        data: Self = find_reader("frame")(
            frame,
            labels,
            label=label,
            models=models,
            pattern=pattern,
            layout=layout,
            id=id,
            weight=weight,
            design=design,
            groups=groups,
            ignore=ignore,
            model=model,
            class_=class_,
            score=score,
            answers=answers,
            ratings=ratings,
            unsure=unsure,
            grades=grades,
            cut=cut,
            classes=classes,
            positive=positive,
            unlabeled=unlabeled,
            logits=logits,
            normalize=normalize,
        )
        return data

    @classmethod
    def read(
        cls,
        path: str | Path,
        labels: object | None = None,
        *,
        delimiter: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        **options: Any,
    ) -> Self:
        """Make a set of scores held in a file, told by its suffix.

        CSV, TSV, Parquet, Excel (.xlsx, .xlsm), JSON Lines (.jsonl, .ndjson), npz and npy are read.

        Parameters
        ----------
        path : str or pathlib.Path
            The file; a ``file:///`` address is a path too.
        labels : optional
            The name of the label column (or, in an npz, of the array of labels); a
            ``pathlib.Path`` of another file, joined by id; values (n,); or False if no row has a
            label.
        delimiter : str, optional
            The character between the cells of a CSV file.
        decimal, thousands : str, optional
            The characters before the decimals and between the thousands of numbers in a CSV file:
            ``decimal=","`` for 0,5.
        encoding : str, optional
            The text encoding of a CSV file, such as ``"cp1252"``; UTF-8 by default.
        sheet : str, optional
            The sheet of an Excel file; needed if several hold something.
        **options
            Those of `from_frame`. In an npz, ``label``, ``id``, ``weight`` and ``groups`` name
            arrays, and ``models`` chooses among its models. For npz and npy files also
            ``weights``, ``groups`` and ``ids`` as values, as in `from_arrays`.

        Returns
        -------
        ScoreSet

        Examples
        --------
        >>> import ssme
        >>> from ssme.sample import sample_path
        >>> data = ssme.ScoreSet.read(sample_path(), "label", id="id")
        >>> data.layout.label
        'label'
        """
        written = {
            "delimiter": delimiter,
            "decimal": decimal,
            "thousands": thousands,
            "encoding": encoding,
            "sheet": sheet,
        }
        data: Self = find_reader("file")(path, labels, **written, **options)
        return data

    @classmethod
    def from_huggingface(
        cls,
        dataset: Any,
        labels: object | None = None,
        *,
        label: str | None = None,
        models: Sequence[str] | None = None,
        **options: Any,
    ) -> Self:
        """Make a set of scores held in a ``datasets.Dataset`` of Hugging Face.

        Parameters
        ----------
        dataset : datasets.Dataset
            One split. A column of scores holds one number per row (the probability of the
            positive class) or a list of class scores per row.
        labels : optional
            As in `from_frame`.
        label : str, optional
            Column with the labels; a ``ClassLabel`` feature also names the classes.
        models : list of str, optional
            Columns with scores.
        **options
            Those of `from_frame`.

        Returns
        -------
        ScoreSet
        """
        read = find_reader("huggingface")
        data: Self = read(dataset, labels, label=label, models=models, **options)
        return data
