"""Which columns of a table hold what: those that the caller names, else those with usual names.

find_roles       label, id, weight, design and groups
find_layout      wide (one row per example) or long (one row per score or answer)
ssme.data.readers.wide   the score columns of each model
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ssme.arrays import BoolArray, FloatArray
from ssme.data import grouping, judges
from ssme.data.arrays import GROUP_PREFIX, list_reasons
from ssme.data.design import DESIGNS
from ssme.data.labels import RawLabels, spell_class
from ssme.data.readers.csv_files import number_columns
from ssme.data.readers.tables import Table
from ssme.data.values import factorize, is_missing, make_plain, refuse_duplicates
from ssme.errors import InputError, warn
from ssme.schema import ReadOptions
from ssme.wording import quote

USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "label": ("label", "labels", "y", "y_true", "target", "truth"),
    "id": ("id", "ids", "row_id", "example_id"),
    "weight": ("weight", "weights", "sample_weight"),
    "cluster": ("cluster", "cluster_id"),
    "design": ("label_weight",),
    "probability": ("probability",),
    "round": ("round",),
    "reason": ("reason",),
    "model": ("model", "model_name", "classifier"),
    "class_": ("class", "class_name"),
    "score": ("score", "probability", "prob"),
}
JUDGES = ("judge", "judges", "annotator", "rater", "worker", "labeler", *USUAL_NAMES["model"])
ANSWERS = ("answer", "answers", "vote", "choice", "annotation", "response", "verdict")
RATINGS = ("rating", "ratings", "grade", "stars")
JUDGED_ROWS = (*USUAL_NAMES["id"], "row", "item", "item_id", "question_id")
"""Usual names of the columns of a long table of answers."""
PROPOSALS = ("proposal", "prediction", "prelabel", "pre_label", "pre-label")
"""Columns of classes to be confirmed, which are labels only where they are named."""

WIDE_ANSWERS, LONG_ANSWERS = "wide, answers", "long, one row per answer"
"""Layouts of judges."""

LIKELY_LABELS = ("human", "gold", "gold_label", "ground_truth", "outcome", "diagnosis", "actual")
"""Names of columns that an error names as likely labels, and that are never taken for them."""
MOST_MODELS = 200
"""Most values of a column of models that has another name."""
LIKELY_CLASSES = 20
"""Most classes of a column that an error names as likely labels."""


@dataclass(frozen=True)
class Columns:
    """Which columns of a table hold what.

    ``set_aside`` are label columns that labels given separately replace. ``kind`` is "wide", "wide
    by class", "long" or a layout of judges. Wide: ``scores`` maps a model to its columns, one, or
    one per class in the order of ``classes``, as the names write them. Long: ``model``, ``class_``
    and ``score`` (or answer) columns. ``answers`` and ``ratings`` are the columns of judges.
    ``skipped`` maps a column of ``ignored`` that could be a model if it were named to the reason.
    ``repeating`` are columns of ``ignored`` that are read to see whether they look like clusters.
    """

    label: str | None = None
    id: str | None = None
    weight: str | None = None
    design: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    set_aside: frozenset[str] = frozenset()
    kind: str = ""
    scores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    classes: tuple[Hashable, ...] | None = None
    model: str = ""
    class_: str = ""
    score: str = ""
    answers: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    cluster: str | None = None
    repeating: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        return bool(self.model)

    @property
    def roles(self) -> list[str]:
        """Columns that hold a label, id, weight, design, group or cluster, which may be a group."""
        named = (self.id, self.label, self.weight, self.design, *self.groups.values())
        cluster = None if self.cluster in self.groups.values() else self.cluster
        return [name for name in (*named, cluster) if name is not None]

    @property
    def names(self) -> list[str]:
        """All columns that have to be read, each once; scores come first."""
        wide = [name for columns in self.scores.values() for name in columns]
        long = [name for name in (self.model, self.class_, self.score) if name]
        said = (*self.answers, *self.ratings)
        return list(dict.fromkeys([*wide, *said, *long, *self.roles, *self.repeating]))

    def with_ignored(self, table: Table) -> Columns:
        """With all columns of ``table`` that are not read as ``ignored``."""
        used = set(self.names)
        return replace(self, ignored=tuple(n for n in table.columns if n not in used))


def find_roles(table: Table, options: ReadOptions, labels: object | None) -> Columns:
    """Label, id, weight, design and group columns; no label column if ``labels`` are given."""
    label = None
    if labels is None:
        label = table.find(options.label, USUAL_NAMES["label"], "label")
    found = Columns(
        label=label,
        groups=_find_groups(table, options),
        id=table.find(options.id, USUAL_NAMES["id"], "id", taken=options.cluster),
        weight=table.find(options.weight, USUAL_NAMES["weight"], "weight"),
        design=find_design(table, options) if labels is None else None,
        cluster=table.find(options.cluster, USUAL_NAMES["cluster"], "cluster"),
    )
    marks = [name for name in table.columns if name.lower() in ("round", "reason")]
    designed = (found.design or options.design) is not None
    if label is not None and not designed and len({name.lower() for name in marks}) == 2:
        raise explain_suggested(table, marks)
    roles = "`label`, `id`, `weight`, `design`, `groups` and `cluster`"
    refuse_duplicates(found.roles, "column", f"{roles} must be different columns")
    if labels is None:
        return found
    usual = USUAL_NAMES["label"]
    replaced = [n for n in table.columns if n.lower() in usual or n == options.label]
    return replace(found, set_aside=frozenset(replaced))


def explain_suggested(table: Table, marks: list[str]) -> InputError:
    """The error of columns of `ssme suggest` next to the scores."""
    return InputError(
        f"{table.what} has {quote(marks)}, as `ssme suggest` writes: its labels would count as "
        "a random sample",
        hint="keep the file of `ssme suggest` separate and give it as `labels_file`; if the "
        f"rows were drawn at random, pass `design=random` or `ignore={marks}`",
    )


def find_design(table: Table, options: ReadOptions) -> str | None:
    """The column with the weights of labels: the one named, else the one with the usual name."""
    named = find_design_column(options)
    column = table.find(named, USUAL_NAMES["design"], "design")
    if named is None and column is not None:
        refuse_two_designs(options, column, table.what)
    return column


def find_design_column(options: ReadOptions) -> str | None:
    """The column of the weights of labels, where the caller named one."""
    is_column = isinstance(options.design, str) and options.design not in DESIGNS
    return options.design if is_column else None


def refuse_two_designs(options: ReadOptions, column: str, what: str) -> None:
    """Refuse a ``design`` option together with a ``column`` that says how rows were chosen."""
    if options.design is not None:
        given = f"={options.design}" if isinstance(options.design, str) else ""
        problem = (
            f"`design{given}` was given, but column {column!r} of {what} already says how "
            "rows were chosen"
        )
        raise InputError(problem, hint="leave `design` out or rename the column")


def _find_groups(table: Table, options: ReadOptions) -> dict[str, str]:
    if options.groups is not None:
        named = grouping.list_named_columns(options.groups, table.columns)
        for name in named:
            table.require(name, "group column", "groups")
            if is_missing(table.read_values(name)).all():
                problem = f"group column {name!r} of {table.what} is empty on all rows"
                raise InputError(problem, hint="name another one with `groups`, or check the file")
        return {name: name for name in named}
    found = list_usual_groups(table.columns)
    groups = {name.removeprefix(GROUP_PREFIX): name for name in found}
    if len(groups) < len(found):
        problem = f"{table.what} has two columns for one group: {quote(found)}"
        raise InputError(problem, hint="name the columns to report on with `groups`, or rename one")
    return groups


def list_usual_groups(names: Iterable[str]) -> list[str]:
    """Those of ``names`` that are groups where the caller named none."""
    return [
        name
        for name in names
        if name == "group" or (name.startswith(GROUP_PREFIX) and name != GROUP_PREFIX)
    ]


def find_own_label_column(table: Table, options: ReadOptions) -> str | None:
    """The label column of the scores if labels are given separately; None without one."""
    if options.label is not None and options.label in table.columns:
        return options.label
    found = [name for name in table.columns if name.lower() in USUAL_NAMES["label"]]
    return found[0] if len(found) == 1 else None


def refuse_without_labels(table: Table) -> None:
    """No label column: refused as long as some column might have been meant."""
    # columns with few classes on some rows, and where no column has a name, on all rows
    likely: list[str] = []
    full: list[str] = []
    nameless = list(table.columns) == number_columns(len(table.columns))
    for name in table.columns:
        if table.is_nested(name):
            continue
        values = table.read_values(name)
        missing = is_missing(values)
        known = values[~missing]
        whole = known.dtype.kind != "f" or bool((known == np.floor(known)).all())
        if whole and 2 <= len(set(map(str, known))) <= LIKELY_CLASSES:
            (likely if missing.any() else full).append(name)
    likely = likely or (full if nameless and len(full) == 1 else [])
    telling = [name for name in likely or table.columns if name.lower() in LIKELY_LABELS]
    likely = telling if len(telling) == 1 else likely
    named = "pass `label='...'`"
    if len(likely) == 1:
        named = f"{likely[0]!r} looks like labels: pass `label={likely[0]!r}`"
    elif likely:
        named = f"{quote(likely)} look like labels: {named}"
    hint = f"{named}, give `labels` separately, or pass `labels=False` if nothing is labeled"
    raise table.explain_no_column("label column", hint)


# -------------------------------------------------------------------------------------------------
# The layout.


def find_layout(table: Table, roles: Columns, options: ReadOptions) -> str:
    """``"long"`` if there are a column of models and a score column, else ``"wide"``."""
    only_long = [name for name in ("model", "class_", "score") if getattr(options, name)]
    only_wide = ["pattern"] if options.pattern else []
    only_wide += ["models"] if isinstance(options.models, Mapping) else []
    layout = options.layout
    if layout is None and (only_long or only_wide):
        layout = "long" if only_long else "wide"
    if layout is None:
        model = table.find(None, USUAL_NAMES["model"], "model")
        score = table.find(None, USUAL_NAMES["score"], "score")
        layout = "long" if model and score else "wide"
    if options.layout is None and layout == "long" and not (only_long or only_wide):
        classes = {name for name in table.columns if name.lower() in USUAL_NAMES["class_"]}
        taken = {*roles.roles, *roles.set_aside, model, score, *classes}
        others = [c for c in table.columns if c not in taken and table.find_kind(c) == "number"]
        others += [str(model)] if table.find_kind(str(model)) != "other" else []
        if others:
            raise InputError(
                f"{table.what} may be long (model column {model!r}, score column {score!r}) or "
                f"wide (one column per model: {quote([score, *others])})",
                hint="pass `layout='long'` or `layout='wide'`, and for wide list the score columns "
                "with `models=[...]`",
            )
    foreign = only_wide if layout == "long" else only_long
    if foreign:
        problem = f"{' and '.join(f'`{name}`' for name in foreign)} is not for the {layout} layout"
        hint = "wide has one column per model, long one row per score: choose with `layout`"
        raise InputError(problem, hint=hint)
    return layout


def find_long_columns(table: Table, roles: Columns, options: ReadOptions) -> Columns:
    """``roles`` with the columns of models, classes and scores."""
    asked = "of the long layout, needed with `layout='long'`, `model`, `class_` or `score`"

    def find(part: str, named: str | None) -> str:
        column = table.find(named, USUAL_NAMES[part], part)
        return column or table.require(part, f"{part} column {asked}", part)

    model = find("model", options.model)
    class_ = table.find(options.class_, USUAL_NAMES["class_"], "class_") or ""
    score = table.find(options.score, USUAL_NAMES["score"], "score")
    if score is None:
        taken = (*roles.roles, *roles.set_aside, model, class_)
        numbers = [n for n in table.columns if n not in taken and table.find_kind(n) == "number"]
        if len(numbers) != 1:
            table.require("score", f"score column {asked}", "score")
        hint = f"{numbers[0]!r} is the only column of numbers: pass `score={numbers[0]!r}`"
        raise table.explain_no_column("score column", hint)
    if roles.id is None and not class_:
        raise _explain_no_id(table, [*roles.roles, score], model)
    id = find("id", roles.id)
    return replace(roles, kind="long", id=id, model=model, class_=class_, score=score)


def find_judge_columns(table: Table, roles: Columns, options: ReadOptions) -> Columns:
    """``roles`` with the columns of answers and ratings that the caller named."""
    if options.class_ is not None or options.score is not None:
        problem = "`class_` and `score` do not apply to columns of answers"
        raise InputError(problem, hint="leave them out")
    answers, ratings = options.answers or (), options.ratings or ()
    for name in (*answers, *ratings):
        option = "answers" if name in answers else "ratings"
        table.require(name, "answers", option)
        if name in roles.roles:
            problem = (
                f"column {name!r} cannot contain answers and also be the label, id, weight or group"
            )
            raise InputError(problem, hint=f"leave it out of `{option}`, or of the other option")
    judge = find_judge_column(table, options)
    if judge is None:
        if len(answers) + len(ratings) == 1 and options.models is None:
            refuse_long(table, [*roles.roles, *answers, *ratings], options, "judge")
        return replace(roles, kind=WIDE_ANSWERS, answers=answers, ratings=ratings)
    if len(answers) + len(ratings) != 1 or options.models is not None:
        problem = f"with a column of judges ({judge!r}) there is one column of answers"
        hint = "name one column of answers and no `models`, or pass `layout='wide'`"
        raise InputError(problem, hint=hint)
    id = roles.id or table.find(None, JUDGED_ROWS, "id")
    (answer,) = (*answers, *ratings)
    if id is None:
        raise _explain_no_id(table, [*roles.roles, answer], judge)
    return replace(roles, kind=LONG_ANSWERS, id=id, model=judge, score=answer, ratings=ratings)


def refuse_long(table: Table, taken: Sequence[str], options: ReadOptions, what: str) -> None:
    """Refuse to read a table wide, with one column of scores or answers, if it looks long.

    Of another column with few texts, the models, and one that repeats, the ids, nearly every pair
    occurs, and none twice.
    """
    if options.layout is not None:
        return
    texts = [
        name for name in table.columns if name not in taken and table.find_kind(name) == "other"
    ]
    counts = {name: len(set(map(str, table.read_values(name)))) for name in texts}
    for model, count in sorted(counts.items(), key=lambda found: found[1]):
        for id in _find_repeated_ids(table, taken, model) if 1 < count <= MOST_MODELS else ():
            n_ids = len(set(map(str, table.read_values(id))))
            if 2 * table.n_rows > n_ids * count and 2 * table.n_rows >= 3 * n_ids:
                raise InputError(
                    f"{table.what} looks long: each {id!r} has a row for every {model!r}",
                    hint=f"if {model!r} names the {what} pass `model={model!r}`; if every row is "
                    "a separate example pass `layout='wide'`",
                )


def _find_repeated_ids(table: Table, taken: Sequence[str], model: str) -> list[str]:
    """Columns that occur once per model, and for several models, as ids of a long table do."""
    models = list(map(str, table.read_values(model)))
    likely = []
    for name in table.columns:
        rows = [] if name in (*taken, model) else list(map(str, table.read_values(name)))
        if len(set(rows)) < len(rows) == len(set(zip(rows, models, strict=True))):
            likely.append(name)
    return likely


def _explain_no_id(table: Table, taken: Sequence[str], model: str) -> InputError:
    likely = _find_repeated_ids(table, taken, model)
    if len(likely) != 1:
        table.require("id", "id column of the long layout", "id")
    hint = f"{likely[0]!r} occurs once per {model!r}, as ids do: pass `id={likely[0]!r}`"
    return table.explain_no_column("id column", hint)


def find_judge_column(table: Table, options: ReadOptions) -> str | None:
    """The column of judges of a long table; None for a wide one."""
    if options.layout == "wide":
        return None
    if options.model is not None or options.layout == "long":
        found = table.find(options.model, JUDGES, "model")
        return found or table.require("judge", "column of judges", "model")
    named = [*(options.answers or ()), *(options.ratings or ())]
    usual = [name for name in table.columns if name.lower() in JUDGES and name not in named]
    return usual[0] if len(usual) == 1 and len(named) <= 1 and options.models is None else None


def name_answers(
    table: Table, roles: Columns, options: ReadOptions, read_labels: Callable[[], RawLabels]
) -> ReadOptions:
    """``options`` with the columns of answers, where the caller named none."""
    judge = find_judge_column(table, options)
    if judge is not None:
        answers = table.find(None, ANSWERS, "answers")
        ratings = None if answers else table.find(None, RATINGS, "ratings")
        if answers or ratings:
            return replace(
                options,
                answers=(answers,) if answers else None,
                ratings=(ratings,) if ratings else None,
            )
        hint = f"{judge!r} is the column of judges: pass `answers=[...]`"
        raise table.explain_no_column("column of answers", hint)
    taken = {*roles.roles, *roles.set_aside, *(options.models or ())}
    kept = [name for name in table.columns if name not in taken]
    if not kept:
        problem = f"{table.what} has no column left for answers"
        raise InputError(problem, hint="name the columns with `answers=[...]`")
    # columns that were not named have to say what labels or two other columns say
    raw, said = read_labels(), dict[str, set[str]]()
    for name in kept:
        texts = {spell_class(value) for value in factorize(table.read_values(name))[1]}
        said[name] = {text for text in texts if text.lower() not in judges.UNSURE}
    counts = Counter(text for texts in said.values() for text in texts)
    known = raw.texts | {text for text, count in counts.items() if count > 1 and not raw.values}
    answering = [name for name in kept if said[name] & known]
    other = next((name for name in kept if said[name] and name not in answering), None)
    if other is not None and answering:
        raise InputError(
            f"column {other!r} contains {quote(sorted(said[other]), limit=3)} and nothing that "
            f"{'a label says' if raw.values else 'other judges say'}, and was not named",
            hint=f"name the columns of answers: `answers={answering}`; or pass "
            f"`groups={[other]}`, `ignore={[other]}`, or `model={other!r}` if it names the judges "
            "of a table with one row per answer",
        )
    return replace(options, answers=tuple(kept))


# -------------------------------------------------------------------------------------------------
# Columns of numbers that are models only if they are named.


WITH_LABELS_ONLY = "empty wherever there is no label"


def explain_no_model(
    table: Table, name: str, labels: RawLabels | None = None, *, least_rows: int = 10
) -> str:
    """Why a column of numbers or booleans is not taken for a model unless it is named, else "".

    It is empty or constant, has two values (a group, a flag, a vote), copies the labels or belongs
    to them, with no value elsewhere. Where values are not whole numbers, fewer than ``least_rows``
    rows say nothing else.
    """
    values = table.read_floats(name)
    known = ~np.isnan(values)
    head = values[:1000][known[:1000]]
    few = values.size < least_rows
    labeled = known if labels is None else labels.codes >= 0
    with_labels = labels is not None and known.any() and labeled[known].all() and not labeled.all()
    only = WITH_LABELS_ONLY if with_labels and not few else ""
    if (head != np.rint(head)).any() and (np.unique(head).size > 2 or few):
        return only
    distinct = np.unique(values[known])
    empty = "" if known.all() else " or empty"
    if distinct.size < 2:
        return f"always {make_plain(distinct[0])}{empty}" if distinct.size else "empty"
    copied = labels and _compare_with_labels(values, known, distinct, labels)
    if copied or only:
        return copied or only
    if distinct.size == 2:
        low, high = map(make_plain, distinct)
        return f"only {low} and {high}{', or empty' if empty else ''}"
    return ""


def _compare_with_labels(
    values: FloatArray, known: BoolArray, distinct: FloatArray, labels: RawLabels
) -> str:
    """Whether whole numbers are the labels, or the opposite of two, wherever there are both."""
    texts = [str(int(each) if isinstance(each, bool) else each) for each in labels.values]
    if len(texts) < 2 or not all(re.fullmatch(r"-?\d{1,15}", text) for text in texts):
        return ""
    classes = np.array([*map(float, texts), np.nan])
    both = known & (labels.codes >= 0)
    label, value = classes[labels.codes[both]], values[both]
    if np.unique(label).size < 2 or (distinct != np.rint(distinct)).any():
        return ""
    if (value == label).all():
        return "equal to the label wherever there is one"
    opposite = len(texts) == 2 and (value == classes[0] + classes[1] - label).all()
    return "the opposite of the label wherever there is one" if opposite else ""


def is_index(table: Table, name: str) -> bool:
    """Whether a column without a name is an index that was written with the table, or is empty.

    One that contains numbers like scores or votes is refused: a model would be lost. One that is 0
    on every row is the index of rows that were put together one by one.
    """
    if name.strip() and not name.startswith("Unnamed: "):
        return False
    if table.find_kind(name) != "number":
        return True
    values = table.read_floats(name)
    known = values[~np.isnan(values)]
    counted = np.array_equal(values, np.arange(values.size))
    votes = np.isin(known, (0.0, 1.0)).all() and known.any() and not counted
    if not known.size or ((known % 1 == 0).all() and not votes):
        return True
    place, value = table.columns.index(name) + 1, make_plain(known[0])
    problem = f"column {place} has no name ({name!r}) but contains numbers such as {value!r}"
    raise InputError(problem, hint=f"name the column, or leave it out with `ignore={[name]}`")


def warn_of_guesses(columns: Columns, options: ReadOptions) -> None:
    """Warn of columns that were skipped, and of weights that were found by their name."""
    if columns.skipped:
        warn(
            f"not taken for models: {list_reasons(columns.skipped)}. If some of them are models, "
            "list all models with `models=[...]`; if not, leave them out with `ignore=[...]`"
        )
    weight = columns.weight
    if weight is not None and options.weight is None:
        warn(
            f"column {weight!r} is taken for the weights of the rows, by its name. Confirm it with "
            f"`weight={weight!r}`, or leave it out with `ignore={[weight]}`"
        )
