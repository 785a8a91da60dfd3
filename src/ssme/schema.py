"""Every option of reading, of a run and of its engine, declared once.

From these declarations come the arguments that `ssme.ScoreSet.read` and `ssme.evaluate` check, the
sections Parameters of their docstrings, the flags and the help of the command line, the keys of
config files and the fields of the page. To add an option, add a field here.
"""

from __future__ import annotations

import codecs
import io
import math
import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from ssme.errors import InputError
from ssme.options import (
    Anything,
    Declared,
    Enumeration,
    Flag,
    Kind,
    NamedValues,
    Nothing,
    Number,
    OneOf,
    Series,
    Text,
    Whole,
    list_declared,
    option,
    optional,
    refuse_unknown,
)

MARKS = ".,_' \u00a0\u202f\u2019"
"""Characters that people write in numbers: before decimals or between thousands."""
SUFFIXES = {
    "CSV": (".csv", ".txt"),
    "TSV": (".tsv",),
    "Parquet": (".parquet",),
    "Excel": (".xlsx", ".xlsm"),
    "JSON Lines": (".jsonl", ".ndjson"),
    "JSON": (".json",),
    "npz": (".npz",),
    "npy": (".npy",),
}
"""Format that can be read -> suffixes of its files, which `ssme.data.readers.sources` opens."""
FORMATS = {suffix: name for name, suffixes in SUFFIXES.items() for suffix in suffixes}
*_FIRST, _LAST = SUFFIXES
LISTED_FORMATS = f"{', '.join(_FIRST)} or {_LAST}"
CSV, EXCEL = (*SUFFIXES["CSV"], *SUFFIXES["TSV"]), SUFFIXES["Excel"]
ENGINES = ("memory", "stream", "dask")
SAMPLE_ROWS = 20_000
LARGEST_NUMBER_OF_GROUPS = 20_000


def _accept_class(value: Any) -> Hashable:
    if hasattr(value, "dtype"):
        import numpy as np  # the command line and config files do without

        value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        known = bool(value.strip())
    elif isinstance(value, bool | Integral):
        known = True
    else:
        known = isinstance(value, Real) and math.isfinite(value)
    if not known:
        raise ValueError
    return int(value) if isinstance(value, float) and value.is_integer() else value


CLASS_NAME = Kind(
    _accept_class,
    "a class (text, a number, true or false)",
    shape="class",
    types=("string", "number", "boolean"),
)
"""A class as labels name it. 1.0 is the class 1."""
CLASS_LIST = Kind(
    Series(CLASS_NAME, least=2).accept,
    "a list of text, numbers or booleans",
    shape="classes",
    types=("array",),
)
"""Two or more classes or grades in order."""


def _accept_name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | Integral):
        raise ValueError
    return str(value)


def _accept_names(value: Any) -> tuple[str, ...]:
    names = Series(Kind(_accept_name, "a name"), least=1)
    return names.accept([value] if isinstance(value, str) else value)


TEXTS = Kind(Series(Text()).accept, "a list of texts", "texts", ("array",))
"""Texts that may contain commas, each in a separate flag."""
NAMES = Kind(_accept_names, "a name, or a list of names", "list", ("string", "array"))
"""One or more names, kept as a tuple of texts; numbers are the names of numbered columns."""


def _accept_group_columns(value: Any) -> tuple[str, ...]:
    return Series(Text()).accept([value] if isinstance(value, str) else value)


def _accept_codes(value: Any) -> tuple[Hashable, ...]:
    """One code or several; a text is one code, not its characters."""
    try:
        return (_accept_class(value),)
    except ValueError:
        return Series(CLASS_NAME, least=1).accept(value)


CODES = Kind(
    _accept_codes,
    "a code such as -1, or a list of codes",
    "classes",
    ("string", "number", "boolean", "array"),
)


def _accept_design(value: Any) -> Any:
    if isinstance(value, str):
        return Text().accept(value)
    import numpy as np

    if np.ndim(value) == 0:
        raise ValueError
    return value


def _accept_columns(columns: Any) -> str | tuple[str, ...] | dict[Any, str]:
    if isinstance(columns, Mapping) and columns:
        return {_accept_class(name): Text().accept(column) for name, column in columns.items()}
    return columns if isinstance(columns, str) and columns.strip() else _accept_names(columns)


def _accept_column_map(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not value:
        raise ValueError
    return {str(model): _accept_columns(columns) for model, columns in value.items()}


COLUMN_MAP = Kind(
    _accept_column_map,
    "a mapping from each model to a column, a list of columns or {class: column}",
    "list",
    ("object",),
)


def _accept_pattern(value: Any) -> str:
    text = Text().accept(value)
    if text.count("{model}") != 1 or text.count("{class}") != 1:
        raise ValueError
    return text


def _accept_delimiter(value: Any) -> str:
    """A single ASCII character other than a line break or quotation mark."""
    if not isinstance(value, str):
        raise ValueError
    value = "\t" if value in ("\\t", "tab") else value
    if len(value) != 1 or not value.isascii() or value in '\r\n"\0':
        raise ValueError
    return value


def _accept_mark(value: Any) -> str:
    if not isinstance(value, str) or value not in MARKS or len(value) != 1:
        raise ValueError
    return value


MARK = Kind(_accept_mark, "one of '.' ',' a space, a narrow space, '_' or an apostrophe")


def _accept_encoding(value: Any) -> str:
    """The name of a text encoding, spelled as Python does."""
    try:
        name = codecs.lookup(Text().accept(value)).name
        io.TextIOWrapper(io.BytesIO(), encoding=name)
    except LookupError:
        raise ValueError from None
    return name


def _accept_path(value: Any) -> Path:
    if not isinstance(value, str | os.PathLike):
        raise ValueError
    return Path(Text().accept(os.fspath(value)))


FILE_NAME = Kind(_accept_path, "the path of a file", "path")
FOLDER_NAME = Kind(_accept_path, "the path of a folder", "path")
NO_LABELS = Kind(Enumeration(False).accept, "false (no row has a label)", "", ("boolean",))


def _accept_sources(value: Any) -> str | tuple[str, ...]:
    if isinstance(value, (str, Path)):
        return Text().accept(str(value))
    listed = Series(Anything("a path"), least=1).accept(value)
    return tuple(Text().accept(str(path)) for path in listed)


SOURCES = Kind(_accept_sources, "the path of a file, or a list of paths")
"""One or more files, folders, patterns or addresses, kept as text."""
METRICS = Kind(
    lambda value: value,
    "a name, a `Metric`, a function (y_true, y_score) -> float, a dict such as "
    '{"name": "ece", "norm": "l2"}, or a list of these',
    "list",
)


@dataclass(frozen=True)
class ArrayOptions(Declared):
    """What may be said about scores held in arrays; see `ssme.ScoreSet.from_arrays`."""

    models: Any = optional("Names of the models.", NAMES, usual="they are numbered")
    classes: Sequence[Hashable] | None = optional(
        "The classes in the order of the scores; of two classes the positive one comes last.",
        CLASS_LIST,
        usual="ascending, for numbers",
        title="Classes",
    )
    positive: Hashable | None = optional(
        "The positive class of two. A model's single score is the probability of this class.",
        CLASS_NAME,
        usual="the last of the two classes",
        title="Positive class",
    )
    unlabeled: Any = optional(
        "Values that mean that a row has no label. Empty cells always do.",
        CODES,
        usual="none",
        title="Codes for a missing label",
    )
    design: Any = optional(
        "How rows were chosen for labeling: random, by_class, by_score, or the column that says "
        "how many rows each label represents.",
        Kind(
            _accept_design,
            "random, by_class, by_score, the name of a column, or one weight per row",
            values=("random", "by_class", "by_score"),
        ),
        usual="a column named label_weight; without it, the design is unknown",
        title="How labeled rows were chosen",
        part="weight of the label",
    )
    logits: bool = option(
        False,
        "The scores are logits, not probabilities.",
        Flag(),
        title="Scores are logits",
    )
    normalize: bool = option(
        False,
        "Rescale class scores so that they sum to one.",
        Flag(),
        title="Rescale class scores to sum to one",
    )

    @property
    def lists_classes(self) -> bool:
        """Whether the order of the classes was said, or which one is positive."""
        return self.classes is not None or self.positive is not None


@dataclass(frozen=True)
class AnswerOptions(ArrayOptions):
    """Further options for answers and ratings; see `ScoreSet.from_answers`."""

    unsure: Any = optional(
        "Values that mean that a judge is unsure. They count as no answer.",
        CODES,
        usual="unsure and abstain, whatever their case and punctuation",
        title="Codes for unsure",
    )
    grades: Sequence[Hashable] | None = optional(
        "The grades of ratings, from the lowest to the highest.",
        CLASS_LIST,
        usual="ascending numbers, or letters from A, the highest, to F",
        title="Grades",
    )
    cut: Hashable | None = optional(
        "Lowest grade that counts as the positive class, for ratings of two classes.",
        CLASS_NAME,
        usual="the first grade above the middle of the scale",
        title="Lowest positive grade",
    )


def _declare_column(meaning: str, usual: str, **more: Any) -> Any:
    return optional(meaning, Text(), usual=usual, **more)


@dataclass(frozen=True)
class ReadOptions(AnswerOptions):
    """What may be said about a file or frame of scores.

    Every value is checked when the object is made. What is not given is recognized by its usual
    name (`ssme.data.readers.columns.USUAL_NAMES`) or found out, where only one reading is possible.

    Examples
    --------
    >>> options = ReadOptions(label="toxic", models=["bert", "gpt"], unlabeled="-1")
    >>> options.unlabeled
    ('-1',)
    >>> ReadOptions(logits="false")
    Traceback (most recent call last):
        ...
    ssme.errors.InputError: logits must be true or false, got 'false'.
    """

    label: str | None = _declare_column(
        "Column with the labels, in the file of scores or in the file of labels.",
        "a column named label, labels, y, y_true, target or truth",
        short="-y",
        part="label",
    )
    labels_file: Path | bool | None = optional(
        "File with the labels, joined to the scores by id. If it has a column probability, as "
        "files from `ssme suggest` do, its labels are added to those in the scores file; "
        "otherwise they replace them.",
        NO_LABELS,
        FILE_NAME,
        usual="the labels are in the table",
        off=("no_labels", False, "No row has a label."),
        file_kind=OneOf(NO_LABELS, FILE_NAME),
    )
    models: Any = optional(
        "Columns with the scores (m_* matches several), or names of models that have one column "
        "per class.",
        COLUMN_MAP,
        NAMES,
        usual="all other columns of numbers",
        short="-m",
        part="scores of a model",
    )
    answers: tuple[str, ...] | None = optional(
        "Columns of answers, one per judge: a class instead of a probability. In the long layout, "
        "the one column of answers.",
        NAMES,
        usual="no model gives answers",
        part="answers of a judge",
    )
    ratings: tuple[str, ...] | None = optional(
        "Columns of grades, one per judge. In the long layout, the one column of grades.",
        NAMES,
        usual="no model gives ratings",
        part="ratings of a judge",
    )
    groups: tuple[str, ...] | None = optional(
        "Columns with groups to report on: sex, age:quantiles=4, age:edges=30/50, or several "
        "joined by + for their intersections.",
        NAMES,
        usual="columns named group or group_*",
        short="-g",
        part="group",
    )
    id: str | None = _declare_column(
        "Column that names the rows.",
        "a column named id, ids, row_id or example_id, or the one whose values all differ",
        part="id of the row",
    )
    weight: str | None = _declare_column(
        "Column with the weights of the rows.",
        "a column named weight, weights or sample_weight",
        part="weight",
    )
    cluster: str | None = _declare_column(
        "Column that says which rows belong together, such as a patient, a session or a prompt "
        "that was answered several times. Rows of one cluster are correlated: they are resampled "
        "together, and intervals allow for it.",
        "a column named cluster or cluster_id",
        part="cluster",
    )
    layout: str | None = optional(
        "Whether there is one row per example (wide) or one row per score (long).",
        Enumeration("wide", "long"),
        usual="the one that fits",
        title="Layout",
    )
    pattern: str | None = optional(
        "How the names of score columns contain model and class, such as '{model}:{class}'.",
        Kind(_accept_pattern, "text with {model} and {class} in it, such as '{model}:{class}'"),
        usual="the one that fits",
        title="Pattern of column names",
    )
    format: str | None = optional(
        "Format of a file whose suffix does not say it.",
        Enumeration(*(first[1:] for first, *_ in SUFFIXES.values())),
        usual="that of the suffix",
        title="Format",
        files=tuple(FORMATS),
    )
    delimiter: str | None = optional(
        "Character between the cells of a CSV file.",
        Kind(_accept_delimiter, "a single character, such as ',' or ';' or a tab"),
        usual="a comma; a tab in TSV files",
        title="Delimiter",
        files=CSV,
    )
    decimal: str | None = optional(
        "Character before the decimals of a number in a CSV file, such as a comma.",
        MARK,
        usual="a point; numbers with a comma are refused",
        title="Decimal separator",
        files=CSV,
    )
    thousands: str | None = optional(
        "Character between the thousands of a number in a CSV file, such as a point.",
        MARK,
        usual="none",
        title="Thousands separator",
        files=CSV,
    )
    encoding: str | None = optional(
        "Text encoding of a CSV file, such as cp1252 for one that Excel wrote on Windows.",
        Kind(_accept_encoding, "the name of a text encoding, such as cp1252 or utf-16"),
        usual="UTF-8",
        title="Text encoding",
        files=CSV,
    )
    skip_rows: int | None = optional(
        "Number of lines above the header of a CSV file, such as a title.",
        Whole(least=0),
        usual="0",
        title="Lines above the header",
        files=CSV,
    )
    no_header: bool = option(
        False,
        "The first row of a CSV or Excel file is data: columns are column_1, column_2, and so on.",
        Flag(),
        title="No header",
        files=(*CSV, *EXCEL),
    )
    sheet: str | None = optional(
        "Sheet of an Excel file.",
        Text(),
        usual="the only sheet that is not empty",
        title="Sheet",
        files=EXCEL,
    )
    ignore: tuple[str, ...] | None = optional(
        "Columns to leave out, which play no role.",
        NAMES,
        usual="none",
    )
    model: str | None = _declare_column(
        "Column with the names of models or judges, in the long layout.",
        "a column named model, model_name or classifier; for judges also judge, annotator, rater, "
        "worker or labeler",
        part="model, in one row per score",
    )
    class_: str | None = _declare_column(
        "Column with the classes, in the long layout.",
        "a column named class or class_name",
        part="class, in one row per score",
    )
    score: str | None = _declare_column(
        "Column with the scores, in the long layout.",
        "a column named score, probability or prob",
        part="score, in one row per score",
    )

    @classmethod
    def of(cls, given: Mapping[str, Any], owner: str) -> ReadOptions:
        """The options ``given`` by name; an unknown name is an error that says ``owner``."""
        refuse_unknown(cls, given, owner)
        found = cls(**given)
        found.refuse_words_of_judges()
        return found

    def refuse_words_of_judges(self) -> None:
        """Refuse what is said about answers or ratings where no column of them is named."""
        needs = {"grades": ("ratings",), "cut": ("ratings",), "unsure": ("answers", "ratings")}
        for name, columns in needs.items():
            if getattr(self, name) is None:
                continue
            if all(getattr(self, each) is None for each in columns):
                named = " or ".join(f"`{each}`" for each in columns)
                problem = f"`{name}` was given, and no column of {' or '.join(columns)} is named"
                hint = f"name the columns with {named}, or leave `{name}` out"
                raise InputError(problem, hint=hint)

    @property
    def judged(self) -> bool:
        """Whether columns of answers or ratings are named."""
        return self.answers is not None or self.ratings is not None


FILE_OPTIONS = {each.name: each.files for each in list_declared(ReadOptions) if each.files}
"""Options that say how files of one kind are written, and the suffixes of such files."""
_METRIC = OneOf(Text(), NamedValues())


@dataclass(frozen=True)
class RunOptions(Declared):
    """What is estimated, how and where; see `ssme.RunSpec`."""

    source: str | tuple[str, ...] | None = optional(
        "File with the scores.",
        SOURCES,
        usual="the caller passes the scores",
        file_kind=OneOf(Text(), Series(Text(), least=1)),
    )
    read: Mapping[str, Any] = field(default_factory=dict)
    method: Any = option(
        "auto",
        "Method of the estimates; `ssme methods` lists them.",
        Anything("a name, or a method object"),
        file_kind=Text(),
        title="Method",
    )
    options: Mapping[str, Any] = option(
        {},
        "Options of the method, as name=value (repeatable); `ssme methods NAME` lists them.",
        NamedValues(),
        short="-O",
    )
    metrics: tuple[Any, ...] | None = optional(
        "Metrics to estimate; `ssme metrics` lists them.",
        METRICS,
        usual="accuracy and, as the data allow, ece, roc_auc, average_precision, cohen_kappa",
        short="-k",
        file_kind=OneOf(_METRIC, Series(_METRIC, least=1)),
        title="Metrics",
    )
    by: tuple[str, ...] | None = optional(
        "Groups to report on in addition to all rows: sex, age:quantiles=4, age:edges=30/50, or "
        "several joined by + for their intersections.",
        Kind(
            _accept_group_columns,
            "a name, or a list of names that may be empty",
            "list",
            ("string", "array"),
        ),
        usual="all group columns",
        off=("no_groups", (), "Report on all rows only."),
    )
    min_group_rows: int = option(
        1,
        "Number of rows from which on a group is reported separately; smaller groups are pooled.",
        Whole(least=1),
    )
    max_groups: int = option(
        200,
        "Largest number of groups per grouping; the smallest groups beyond it are pooled.",
        Whole(least=1, most=LARGEST_NUMBER_OF_GROUPS),
    )
    group_target: str = option(
        "population",
        'Whether intervals of groups are about the "population" that the rows represent, or only '
        'about the "rows" in the data.',
        Enumeration("population", "rows"),
    )
    threshold: float | None = optional(
        'P(positive) from which a binary classifier says "positive".', Number(0.0, 1.0), usual="0.5"
    )
    level: float = option(
        0.95,
        "Coverage of the intervals.",
        Number(0.0, 1.0, open_least=True, open_most=True),
        title="Coverage of intervals, in %",
    )
    n_draws: int | None = optional(
        "Number of draws, for methods that draw.", Whole(least=1), usual="the method's own number"
    )
    random_state: int | None = option(
        0, "Seed of the random numbers.", OneOf(Whole(least=0), Nothing("a fresh seed"))
    )
    engine: str = option(
        "memory",
        'Where the work is done: in "memory"; as a "stream", which passes once over Parquet '
        'files of any size; or by "dask", which does the same on a cluster.',
        Enumeration(*ENGINES),
        section="engine",
    )
    workers: int | None = optional(
        "Number of threads of a stream, or of processes of a local Dask cluster.",
        Whole(least=1),
        usual="one per core",
        section="engine",
    )
    scheduler: str | None = optional(
        "Address of a running Dask scheduler, such as tcp://host:8786.",
        Text(),
        usual="a local cluster",
        section="engine",
    )
    sample_rows: int = option(
        SAMPLE_ROWS,
        "Number of unlabeled rows that the method is fitted on when rows are streamed.",
        Whole(least=1),
        section="engine",
    )
    checkpoint: str | None = optional(
        "File that keeps the progress of a stream, so that the same command can resume it.",
        Kind(lambda path: str(_accept_path(path)), "the path of a file", "path"),
        usual="none",
        section="engine",
    )


GATES, DECIDING = "Gates for pipelines", "Deciding"
GAPS = ("difference", "ratio", "equal_opportunity", "equalized_odds", "calibration")


@dataclass(frozen=True)
class AskOptions(Declared):
    """What is asked beyond the table of estimates; see `ssme.Evaluation.ask`."""

    fail_under: Sequence[str] | None = optional(
        'Exit 1 unless this is true: "accuracy>=0.9", "accuracy.low>=0.9" for the lower end of the '
        'interval, "forest:ece<=0.05" for one model, "new-old:accuracy.low>=0" for the difference '
        "of two (repeatable).",
        TEXTS,
        usual="none",
        section=GATES,
    )
    within: float | None = optional(
        "Exit 1 unless, with probability --level, the chosen model is at most this far behind the "
        "best one.",
        Number(least=0.0),
        usual="none",
        section=GATES,
    )
    fail_on: str | None = optional(
        "Exit 1 on a warning of at least this severity: serious or warning. A gate fails on "
        "serious warnings unless this is `never`.",
        Enumeration("serious", "warning", "never"),
        usual="serious with --fail-under or --within, never without",
        section=GATES,
    )
    cost: str | None = optional(
        'Rank first by cost: "0,1;10,0" has a row for each true class and a column for each '
        "predicted one.",
        Text(),
        usual="none",
        section=DECIDING,
    )
    utility: str | None = optional(
        'Rank first by utility, in the same form as --cost: "0,-1;0,5".',
        Text(),
        usual="none",
        section=DECIDING,
    )
    threshold_for: str | None = optional(
        "Choose a threshold for each model, then the best model at its threshold. Goals: "
        '"precision>=0.9", "recall>=0.95", "specificity>=0.9", the best value of a metric such as '
        '"f1", or "cost" or "utility" with the matrix of --cost or --utility.',
        Text(),
        usual="none",
        section=DECIDING,
    )
    confidence: float = option(
        0.5,
        "Probability with which the goal of --threshold-for must be met; 0.5 uses the estimate.",
        Number(0.5, 1.0, open_most=True),
        section=DECIDING,
    )
    prevalence: float | None = optional(
        "Report metrics for this share of the positive class instead of that in the data (two "
        "classes).",
        Number(0.0, 1.0, open_least=True, open_most=True),
        usual="none",
        section=DECIDING,
    )
    correct_shift: str | None = optional(
        "Weight the labels so that they represent the unlabeled rows. `label`: class proportions "
        "changed. `covariate`: the inputs changed, P(label given scores) did not.",
        Enumeration("label", "covariate"),
        usual="none",
        section=DECIDING,
    )
    together: bool = option(
        False,
        "Show how the models err together: rows that all get wrong, correlation of errors, "
        "effective number of independent models, and the effect of one more model.",
        Flag(),
        section=DECIDING,
    )
    gaps: Sequence[str] = option(
        (),
        "Gaps between groups to report in addition to differences: ratio, equal_opportunity, "
        "equalized_odds, calibration.",
        Kind(Series(Enumeration(*GAPS)).accept, f"among {', '.join(GAPS)}", "list", ("array",)),
        section=DECIDING,
    )


ASK = {each.name: each for each in list_declared(AskOptions)}


TAKEN = ("coda", "selector", "uncertainty")
"""Ways to take rows that have no known probability (`ssme.results.active_selection`)."""

REASONS_TAKEN = {draw: f"taken by {draw}" for draw in TAKEN}
"""What files say of such rows, in their column ``reason``."""


BATCH = Whole(1, 10**9)
LARGEST_BATCH = 25


def grow_batch(n_labeled: int, most: int = LARGEST_BATCH) -> int:
    """Rows of the next batch after so many labels: 1, 1, 2, 3, 5, 8, ..., at most ``most``.

    The first labels change which rows are worth one, later ones do not.
    """
    size, following, total = 1, 1, 0
    while total + size <= n_labeled and size < most:
        size, following, total = following, size + following, total + size
    return min(size, most)


@dataclass(frozen=True)
class SuggestOptions(Declared):
    """Which rows to label next; see `ssme.Evaluation.suggest`."""

    n: int | None = optional(
        "Number of rows to suggest.",
        BATCH,
        usual="25; for the goal best, batches that grow from 1 to 25",
        short="-n",
    )
    goal: str = option(
        "best",
        "What the labels are for: best (which model is best), best:METRIC, metric:METRIC (how good "
        "every model is) or group:COLUMN (how good in every group; also group:age:quantiles=4 or "
        "group:sex+race).",
        Text(),
    )
    draw: str = option(
        "goal",
        "How rows are drawn: goal, random, by_score (equally many from each part of the scores), "
        "by_class (equally many of each class, as predicted), active_testing or vma; coda, "
        "selector and uncertainty choose rows without sampling probabilities.",
        Enumeration("goal", "random", "by_score", "by_class", "active_testing", "vma", *TAKEN),
    )
    uniform: float = option(
        0.2,
        "Share of the sampling probability that is spread evenly over all rows.",
        Number(0.0, 1.0, open_least=True),
    )


SUGGEST = {each.name: each for each in list_declared(SuggestOptions)}


@dataclass(frozen=True)
class PlanOptions(Declared):
    """How many labels a target takes; see `ssme.Evaluation.plan`."""

    target: Sequence[str] | None = optional(
        'Target to reach: "width(accuracy)<=0.05", "P(best)>=0.95", "regret<=0.005" or '
        '"P(regret<=0.01)>=0.9" (repeatable).',
        TEXTS,
    )
    simulations: int | None = optional(
        "Number of simulated sets of true labels that the method is fitted to.",
        Whole(2, 1000),
        usual="8, or 100 with labels alone",
    )


PLAN = {each.name: each for each in list_declared(PlanOptions)}


@dataclass(frozen=True)
class SystemOptions(Declared):
    """How a table of systems, items and judges is read and what is estimated of it."""

    label: tuple[str, ...] | None = optional(
        "Columns with human labels, one per person (human_* matches several); a cell is empty "
        "where a person did not label the row.",
        NAMES,
        usual="a column named human, label, labels, y, y_true or truth, or those of human_*",
        short="-y",
    )
    label_error: Any = optional(
        "Rate of wrong human labels, equal for passes and fails, such as 0.05; `estimated` takes "
        "it from rows that two people labeled.",
        Enumeration("estimated"),
        Number(0.0, 0.5, open_most=True),
        usual="0",
    )
    labels_file: Path | None = optional(
        "Table with the human labels, joined by its columns of system, item and repeat.",
        FILE_NAME,
        usual="the labels are in the table",
    )
    system: str | None = _declare_column(
        "Column that names the system (model, prompt, agent) of each row.",
        "a column named system or model; without one all rows are of one system",
        short="-s",
    )
    first: str | None = _declare_column(
        "Column with the first of the two systems whose answers a row compares; verdicts are a "
        "(the first), b (the second), tie, or the name of the system.",
        "a column named system_a or model_a, if there is one; each row is one answer otherwise",
    )
    second: str | None = _declare_column(
        "Column with the second of the two systems.",
        "a column named system_b or model_b",
    )
    item: str | None = _declare_column(
        "Column that names the item (prompt, question, task) of each row. Systems are compared "
        "item by item, and rows of one item are assumed to be correlated.",
        "a column named item, item_id, prompt, prompt_id, question or question_id; without one "
        "every row is an item",
        short="-i",
    )
    judges: tuple[str, ...] | None = optional(
        "Columns with the verdicts of judges (judge_* matches several), one per judge; with "
        "`judge`, the one column of verdicts.",
        NAMES,
        usual="columns named judge_*",
        short="-j",
    )
    judge: str | None = _declare_column(
        "Column that names the judge, where each row is one verdict (the long layout). Rows of "
        "the same system, item and repeat are put together.",
        "each row has a column per judge",
    )
    length: str | None = _declare_column(
        "Column with the answers or their lengths, to estimate whether judges favor long answers.",
        "a column named output, response or answer",
    )
    prices: Mapping[str, Any] = option(
        {},
        "Price of one verdict of each judge, as judge=price (repeatable). The output says which "
        "judges are worth their price.",
        NamedValues(),
    )
    budget: float | None = optional(
        "Largest total cost of the judges' verdicts on all rows.",
        Number(0.0, open_least=True),
        usual="no limit",
    )
    record: Path | None = optional(
        "Calibration record of the judges (JSON Lines). The output says which judges changed since "
        "the last entry, and this evaluation is added to it.",
        FILE_NAME,
        usual="none",
    )
    prompts: Mapping[str, Any] = option(
        {},
        "Prompt of each judge, a file or text, as judge=prompt (repeatable), for the record.",
        NamedValues(),
    )
    repeat: str | None = _declare_column(
        "Column that numbers the repeats (epochs) of an item in the long layout.",
        "an item occurs once for each system",
    )
    groups: tuple[str, ...] | None = optional(
        "Columns with groups to report on, such as a topic or a language.",
        NAMES,
        usual="no groups",
        short="-g",
    )
    positive: Hashable | None = optional(
        "Which of two verdicts means pass.",
        CLASS_NAME,
        usual="known for pairs such as yes and no, or 1 and 0",
    )
    grades: Sequence[Hashable] | None = optional(
        "The grades from the lowest to the highest, where they are text; the lowest counts as 1.",
        CLASS_LIST,
        usual="verdicts are numbers or pass and fail",
    )
    cut: Hashable | None = optional(
        "The lowest grade or number that counts as a pass.",
        CLASS_NAME,
        usual="the mean of grades and numbers is estimated",
    )
    bounds: Sequence[float] | None = optional(
        "Lowest and highest grade that people can give, such as 0 and 100.",
        Series(Number(), length=2),
        usual="0 and 1, or the ends of the scale that occur",
    )
    pass_k: Sequence[int] = option(
        (),
        "Numbers of repeats k. For each, estimate pass_any[k] and pass_all[k]: how often any, or "
        "all, of k answers to an item pass.",
        Series(Whole(least=1)),
    )
    fail_under: Sequence[str] | None = optional(
        'Exit 1 unless this is true: "pass_rate.low>=0.8", "new:pass_rate>=0.9" for one system, '
        '"new-old:pass_rate.low>=-0.01" for the difference of two (repeatable).',
        Series(Text()),
        usual="none",
    )
    fail_on: str | None = option(
        None,
        "Exit 1 on a warning of at least this severity: serious or warning. A gate fails on "
        "serious warnings unless this is `never`.",
        OneOf(
            Nothing("serious with --fail-under, never without"),
            Enumeration("serious", "warning", "never"),
        ),
    )
    level: float = option(
        0.95, "Coverage of intervals.", Number(0.0, 1.0, open_least=True, open_most=True)
    )
    n_draws: int = option(4000, "Number of joint draws of the rates.", Whole(100, 100_000))
    random_state: int = option(0, "Seed of the draws.", Whole(least=0))


LISTENING, LIMITS = "Where it listens", "Limits"


@dataclass(frozen=True)
class ServeOptions(Declared):
    """How `ssme serve` runs; `ssme.serve.settings.ServeSettings` says what follows from it."""

    project: Path = option(
        Path("ssme-project"), "Folder that keeps labels and results.", FOLDER_NAME, short="-p"
    )
    root: Path | None = optional(
        "Folder in which files may be opened by path.",
        FOLDER_NAME,
        usual="files are uploaded to the page",
    )
    no_browser: bool = option(False, "Do not open the page in a browser.", Flag())
    read_only: bool = option(False, "Show everything and change nothing.", Flag())
    batch: int = option(10, "Number of labels between updates of the estimates.", Whole(least=1))
    host: str = option("127.0.0.1", "Address to listen at.", Text(), section=LISTENING)
    port: int = option(
        8477, "Port to listen at; 0 takes a free one.", Whole(0, 65535), section=LISTENING
    )
    address: str | None = optional(
        "Address by which others reach the page through a proxy on this machine.",
        Text(),
        usual="that of the host and port",
        section=LISTENING,
    )
    password_file: Path | None = optional(
        "File whose first line is the password; needed where others can reach --host.",
        FILE_NAME,
        usual="no password",
        section=LISTENING,
    )
    certificate: Path | None = optional(
        "File with the TLS certificate (PEM): the page is served by https.",
        FILE_NAME,
        usual="http",
        section=LISTENING,
    )
    certificate_key: Path | None = optional(
        "File with the private key of --certificate, if it is in another file.",
        FILE_NAME,
        usual="in the file of the certificate",
        section=LISTENING,
    )
    upload_mb: int = option(200, "Largest size of an upload in MB.", Whole(least=1), section=LIMITS)
    job_seconds: int = option(
        600, "Longest time of a job in seconds.", Whole(least=1), section=LIMITS
    )
    job_mb: int = option(8_000, "Largest memory of a job in MB.", Whole(least=100), section=LIMITS)
