"""The wide layout: one row per example, one column per model, or per model and class.

One column per model contains P(positive). Columns per model and class are given by a mapping
``{model: {class: column}}`` or a pattern such as ``"{model}:{class}"``, or are found when their
names form a complete grid of models and classes, or are the classes of one model, and every row
sums to one. Columns that look like answers of judges are named in messages, never read unasked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ssme.arrays import FloatArray
from ssme.data import arrays, judges
from ssme.data.labels import RawLabels, order_classes, spell_class
from ssme.data.readers import columns as layouts
from ssme.data.readers.tables import Table, read_percentages
from ssme.data.values import factorize, make_plain, refuse_duplicates
from ssme.errors import InputError
from ssme.schema import ReadOptions
from ssme.wording import find_pattern, quote, suggest_nearest

MAPPING = "`models={model: {class: column}}`"
MARKS = " \t'\"\u00a0\u202f"
"""What may be around a number that is written as text."""

MOST_GROUPS = 20
"""Most values of a column of numbers that an error names as groups without bins."""
PATTERNS = tuple(
    f"{{model}}{mark}{{class}}" for mark in (":", "__", "|", "/", ".", "_", "-", " ", "")
)
"""Patterns tried when none is given, from the most to the least deliberate separator. Without one,
a class is a number."""


def find_scores(
    table: Table,
    roles: layouts.Columns,
    options: ReadOptions,
    raw: RawLabels,
    matched: frozenset[str],
    *,
    given: bool,
) -> layouts.Columns:
    """``roles`` with the score columns.

    ``matched`` are models that only a pattern names; ``given``: labels were given separately.
    """
    grid, skipped = _find_grid(table, roles, options, raw, matched, given=given)
    classes = grid.classes
    if classes is not None:
        classes = order_classes(classes, options.classes, options.positive)
    if classes is None and len(grid.columns) == 1 and options.models is None:
        layouts.refuse_long(table, [*roles.roles, *roles.set_aside, *grid.used], options, "model")
    both = sorted(grid.used.intersection(roles.roles))
    if both:
        problem = (
            f"column {both[0]!r} cannot contain scores and also be the label, id, weight or group"
        )
        hint = "leave it out of `models`, `pattern` or the other option"
        raise InputError(problem, hint=hint)
    by_model = grid.columns.items()
    return replace(
        roles,
        kind="wide" if classes is None else "wide by class",
        scores={model: tuple(of[name] for name in classes or of) for model, of in by_model},
        classes=classes,
        skipped={name: reason for name, reason in skipped.items() if name not in grid.used},
    ).with_ignored(table)


def read_scores(table: Table, columns: layouts.Columns) -> FloatArray:
    """(n, M), or (n, M, K) where there is a column per class."""
    names = [name for of in columns.scores.values() for name in of]
    out: FloatArray = np.empty((table.n_rows, len(names)))
    for place, name in enumerate(names):
        out[:, place] = table.read_floats(name)
    if columns.classes is None:
        return out
    return out.reshape(table.n_rows, len(columns.scores), len(columns.classes))


def _find_grid(
    table: Table,
    roles: layouts.Columns,
    options: ReadOptions,
    raw: RawLabels,
    matched: frozenset[str],
    *,
    given: bool,
) -> tuple[Grid, Mapping[str, str]]:
    """The score columns, and those that are models only by name, with the reason."""
    if isinstance(options.models, Mapping):
        if options.pattern is not None:
            problem = f"`pattern={options.pattern!r}` was given together with `models` as a mapping"
            hint = "leave one out: the mapping already says which column is which"
            raise InputError(problem, hint=hint)
        return _from_mapping(table, options.models, options.classes), {}
    taken = {*roles.roles, *roles.set_aside}
    free = [name for name in table.columns if name not in taken]
    if options.models is not None:
        names = list(options.models)
        refuse_duplicates(names, "model")
        if options.pattern is None and set(names) <= set(table.columns):
            doubted = [name for name in names if name in matched and name not in taken]
            reasons = {name: layouts.explain_no_model(table, name, raw) for name in doubted}
            skipped = {name: reason for name, reason in reasons.items() if reason}
            if len(skipped) == len(names):
                skipped = {}  # a pattern of votes
            return Grid({name: {"": name} for name in names if name not in skipped}, None), skipped
        return _find_named(table, free, names, options, raw), {}
    if options.pattern is not None:
        return _find_named(table, free, None, options, raw), {}
    free = [name for name in free if not layouts.is_index(table, name)]
    if roles.label is None and not given:
        layouts.refuse_without_labels(table)
    texts = [name for name in free if table.find_kind(name) == "other"]
    judged: tuple[str, ...] = ()
    if texts:
        alike = find_answers(table, texts, raw)
        judged = (*alike.answers, *alike.ratings)
    percent = [name for name in texts if read_percentages(table.read_values(name)) is not None]
    for name in texts:
        if name not in percent:
            _refuse_numbers_as_text(table, name, judged=name in judged)
    numbers = [name for name in free if name not in texts]
    reasons = {name: layouts.explain_no_model(table, name, raw) for name in numbers}
    skipped = {name: reason for name, reason in reasons.items() if reason}
    if percent:
        others = [name for name in numbers if name not in skipped]
        if not options.logits:
            _refuse_no_probabilities(table, others, raw, judged)
        raise _explain_percentages(table, percent, others)
    if not numbers and judged:
        problem = f"{table.what} has no column of probabilities, only columns of classes or grades"
        raise InputError(problem, hint=advise(find_answers(table, free, raw), table))
    drawn = [
        n
        for n, why in skipped.items()
        if n.lower() == "probability" and why == layouts.WITH_LABELS_ONLY
    ]
    if drawn and options.design is None:
        raise layouts.explain_suggested(table, drawn)
    return _detect_grid(table, numbers, options, raw, judged, skipped), skipped


def _from_mapping(
    table: Table, mapping: Mapping[str, Any], classes: Sequence[Hashable] | None
) -> Grid:
    """``{model: column}``, ``{model: [columns]}`` or ``{model: {class: column}}``."""
    columns: dict[str, dict[Hashable, str]] = {}
    for model, value in mapping.items():
        if isinstance(value, str):
            value = {"": value}
        elif not isinstance(value, Mapping):
            names = range(len(value)) if classes is None else classes
            if len(names) != len(value):
                problem = f"model {model!r} has {len(value)} columns for the classes {quote(names)}"
                hint = "list one column per class, in the order of `classes`"
                raise InputError(problem, hint=hint)
            value = dict(zip(names, value, strict=True))
        columns[str(model)] = {
            name: table.require(column, f"scores of model {model!r}", "models")
            for name, column in value.items()
        }
    (first, found), *others = columns.items()
    for model, of in others:
        if set(of) != set(found):
            problem = f"model {model!r} has classes {quote(of)}, model {first!r} {quote(found)}"
            raise InputError(problem, hint="map the columns of every class")
    return Grid(columns, None if tuple(found) == ("",) else tuple(found))


def _find_named(
    table: Table, free: list[str], models: list[str] | None, options: ReadOptions, raw: RawLabels
) -> Grid:
    """The class columns of ``models``, or of all that fit the pattern, by the first that fits."""
    for pattern in PATTERNS if options.pattern is None else (options.pattern,):
        found = find_grids(free, pattern, models=models, classes=options.classes)
        grids = [grid for grid in found if grid.fits(raw)] or found
        if len(grids) == 1:
            return grids[0]
        if grids and models is None:
            raise _explain_ambiguous(table, grids, binary=None)
    if models is None:
        raise InputError(
            f"`pattern={options.pattern!r}` does not give every model the same two or more classes "
            f"in the columns {quote(free, limit=20)}",
            hint=f"correct the pattern, list `classes=[...]`, or pass {MAPPING}",
        )
    missing = next((name for name in models if name not in table.columns), models[0])
    raise InputError(
        f"{table.what} has no column {missing!r}, nor one column per class for model {missing!r}; "
        f"its unused columns are {quote(free, limit=20)}",
        hint=f"{suggest_nearest(missing, free)}name columns that exist with `models`, or pass "
        f"{MAPPING}",
    )


def _detect_grid(
    table: Table,
    free: list[str],
    options: ReadOptions,
    raw: RawLabels,
    judged: Sequence[str],
    skipped: Mapping[str, str],
) -> Grid:
    """The only reading of unnamed score columns, or an error that lists the readings.

    A grid of models and classes counts if its rows sum to one, which columns of unrelated binary
    models do not; the patterns are tried from the most to the least deliberate separator. Columns
    ``judged`` are text that looks like answers; those ``skipped`` may be columns of classes, and no
    models by themselves.
    """
    if not free:
        problem = f"{table.what} has no column of numbers left, only {quote(table.columns, 20)}"
        raise InputError(problem, hint="name columns of probabilities with `models=[...]`")
    models = [name for name in free if name not in skipped]
    unsure = options.logits or options.normalize  # sums of rows say nothing then
    fitting: list[Grid] = []
    unsummed: list[tuple[str, Grid]] = []
    for pattern in PATTERNS:
        grids = find_grids(free, pattern, classes=options.classes, required=models or free)
        unsummed += [(pattern, grid) for grid in grids]
        sound = [g for g in grids if (g.fits(raw) if unsure else g.sums_to_one(table))]
        better = any(g.fits(raw) for g in sound) and not any(g.fits(raw) for g in fitting)
        if sound and (better or not fitting):
            fitting = [g for g in sound if g.fits(raw)] or sound
    one_column = len(raw.values) <= 2 and len(options.classes or (0, 1)) == 2
    if not fitting and not unsure and raw.values:
        # one model whose columns have the names of the classes, unless each has one value
        alone = [Grid({"model": {n: n for n in names}}, tuple(names)) for names in (free, models)]
        sound = [g for g in alone if len(g.used) > 1 and g.fits(raw) and g.sums_to_one(table)]
        if any(np.unique(table.read_floats(name)).size > 1 for g in sound[:1] for name in g.used):
            fitting = sound[:1]
    if len(fitting) == 1 and not (one_column and unsure):
        return fitting[0]
    if fitting:
        raise _explain_ambiguous(table, fitting, binary=models if one_column else None)
    if not models:
        advice = advise(find_answers(table, [*judged, *skipped], raw), table)
        raise InputError(
            f"no column of {table.what} looks like the scores of a model: "
            f"{arrays.list_reasons(skipped)}",
            hint="; ".join(filter(None, ("list the models with `models=[...]`", advice))),
        )
    if not options.logits:
        _refuse_no_probabilities(table, models, raw, judged)
    if not unsure:
        _refuse_classes(table, models, unsummed, raw)
    return Grid({name: {"": name} for name in models}, None)


def _explain_ambiguous(
    table: Table, grids: Sequence[Grid], binary: Sequence[str] | None
) -> InputError:
    readings = [
        f"models {quote(grid.columns)} with classes {quote(grid.classes or ())}" for grid in grids
    ]
    if binary is not None:
        readings.append(f"binary models {quote(binary)}")
    return InputError(
        f"the columns of {table.what} can be read in {len(readings)} ways: "
        + "; or ".join(readings),
        hint="pass `pattern='{model}:{class}'` with `classes=[...]`, or list the score columns "
        "with `models=[...]`",
    )


# -------------------------------------------------------------------------------------------------
# Columns that are not what they seem: each is refused with the options that decide.


def _explain_percentages(table: Table, found: Sequence[str], others: Sequence[str]) -> InputError:
    """Percentages that were not named are scores or facts of the rows; ``others`` are scores."""
    values = table.read_values(found[0])
    first = next(value for value in values if isinstance(value, str))
    scores = [name for name in table.columns if name in {*found, *others}]
    return InputError(
        f"column {found[0]!r} contains {first!r}, a percentage written as text",
        hint=f"if these are scores, list all models with `models={scores}`, and percentages are "
        f"divided by 100; otherwise leave {quote(found)} out with `ignore=[...]`",
    )


def _refuse_numbers_as_text(table: Table, name: str, *, judged: bool) -> None:
    """Refuse a text column that is meant for scores: mostly numbers or percentages (``46%``).

    So is one whose numbers have an apostrophe or a quote before them, as spreadsheets mark text.
    Whole numbers written as text, such as postal codes, are text; so are numbers in a column
    ``judged``, which looks like answers.
    """
    import pandas

    values = pandas.Series(table.read_values(name), dtype=object).dropna()
    texts = values.astype(str).str.strip(MARKS)
    bare = pandas.to_numeric(texts.str.removesuffix("%"), errors="coerce")
    percent = texts.str.endswith("%") & bare.notna()
    numbers = pandas.to_numeric(texts, errors="coerce")
    stray = numbers.isna()
    if len(values) and percent.mean() >= 0.5:
        row, what = int(percent.argmax()), "a percentage written as text"
    elif judged or not table.is_text(name) or not len(values) or stray.mean() >= 0.5:
        return
    elif stray.any():
        row, what = int(stray.argmax()), "text among numbers"
    elif (numbers % 1 == 0).all():
        return
    else:
        row, what = 0, "a number written as text"
    raise InputError(
        f"column {name!r} contains {values.iloc[row]!r} at row {values.index[row]}, {what}",
        hint="write numbers between 0 and 1, leave the column out with "
        f"`ignore={[name]}`, or list the score columns with `models=[...]`",
    )


def _refuse_classes(
    table: Table, free: list[str], grids: Sequence[tuple[str, Grid]], raw: RawLabels
) -> None:
    """Refuse columns of classes that would be read as several binary models.

    They are named by model and class, as one of the ``grids`` by pattern, or sum to one.
    """
    for pattern, grid in grids:
        wrong = grid.find_wrong_sum(table)
        if wrong is not None and grid.is_meant(table, raw):
            model, row, total = wrong
            raise InputError(
                f"columns are named by the models {quote(grid.columns)} and the classes "
                f"{quote(grid.classes or ())}, and those of {model!r} sum to {total:.6g} at row "
                f"{row}, not to 1 (within {arrays.SUM_TOLERANCE:g} or rounding)",
                hint=f"pass `normalize=True` and `pattern={pattern!r}` to rescale them, or "
                "`logits=True` if they are logits; if each is a binary model, list the columns "
                "with `models=[...]`",
            )
    place = {name: number for number, name in enumerate(free)}
    matchers = [_compile_pattern(pattern, None, None, longest=True) for pattern in PATTERNS]
    blocks = [[*block.values()] for each in matchers for block in _match(free, each).values()]
    blocks.append([name for name in free if name.isdigit()])
    scores = np.stack([table.read_floats(name) for name in free], axis=1)
    found = arrays.find_class_columns(scores, ([place[name] for name in block] for block in blocks))
    if found is not None:
        names = sorted(free[number] for number in found)
        raise InputError(
            f"columns {quote(names)} sum to 1 on every row: they look like the {len(names)} "
            "classes of one model",
            hint="if each is a model, list them with `models=[...]`; if they are classes, pass "
            f"`pattern='{{model}}_{{class}}'` or {MAPPING}, and leave other columns out with "
            "`ignore=[...]`",
        )


def _refuse_no_probabilities(
    table: Table, free: list[str], raw: RawLabels, judged: Sequence[str]
) -> None:
    outside: dict[str, str] = {}
    for name in free:
        values = table.read_floats(name)
        beyond = (values < -arrays.RANGE_TOLERANCE) | (values > 1.0 + arrays.RANGE_TOLERANCE)
        if beyond.any():
            row = int(np.argmax(beyond))
            outside[name] = f"{make_plain(values[row])!r} at row {row}"
    if not outside:
        return
    alike = find_answers(table, [*judged, *free], raw)
    advice = advise(alike, table) if {*outside} & {*alike.answers, *alike.ratings} else ""
    (name, first), *more = outside.items()
    problem = f"column {name!r} contains {first}, which is not a probability"
    if more:
        listed = ", ".join(f"{each!r} ({value})" for each, value in [*outside.items()][:10])
        listed += f" and {len(outside) - 10} more" if len(outside) > 10 else ""
        problem = f"columns contain values that are not probabilities: {listed}"
    roles = _suggest_roles(table, list(outside), free)
    raise InputError(problem, hint=roles + (f"; {advice}" if advice else ""))


def _suggest_roles(table: Table, names: Sequence[str], free: Sequence[str]) -> str:
    """Roles of numeric columns that have no probabilities, the most probable first."""
    ids, groups, real = [], [], []
    for name in names:
        values = table.read_floats(name)
        known = values[~np.isnan(values)]
        count = np.unique(known).size
        if not np.isfinite(known).all() or (known % 1 != 0).any():
            real.append(name)
            continue
        if count == table.n_rows:
            ids.append(name)
            if len(names) > 1:
                continue
        groups.append(name if count <= MOST_GROUPS or ":" in name else f"{name}:quantiles=4")
    # percent: most columns of numbers go beyond 1, all within 0 and 100
    columns = [table.read_floats(name) for name in free if table.find_kind(name) == "number"]
    within = all(np.nanmin(each) >= 0.0 and np.nanmax(each) <= 100.0 for each in columns)
    percent = within and np.mean([np.nanmax(each) > 1.0 for each in columns]) > 0.5
    one = len(names) == 1
    parts = []
    if ids:
        parts.append(f"if {'it' if one else repr(ids[0])} names the rows pass `id={ids[0]!r}`")
    if groups:
        parts.append(f"{'if it is a group' if one else 'for groups'} pass `groups={groups}`")
    if groups and one and not ids:
        parts.append(f"if it names the rows pass `id={names[0]!r}`")
    if real:
        parts += ["for percent divide by 100"] if percent else []
        parts.append("for logits pass `logits=True`")
    rest = "if it is neither" if groups and one else "if it is not a score" if one else "otherwise"
    parts.append(f"{rest} pass `ignore={list(names)}`")
    return "; ".join([*parts, "or list the score columns with `models=[...]`"])


# -------------------------------------------------------------------------------------------------
# Column names that contain a model and a class.


@dataclass(frozen=True)
class Grid:
    """model -> class -> column; without classes, one column of P(positive) per model."""

    columns: Mapping[str, Mapping[Hashable, str]]
    classes: tuple[Hashable, ...] | None

    @property
    def used(self) -> set[str]:
        return {column for of in self.columns.values() for column in of.values()}

    def fits(self, raw: RawLabels) -> bool:
        """Whether every label seen is one of the classes."""
        names = {spell_class(name) for name in self.classes or ()}
        return raw.texts <= names

    def read(self, table: Table) -> Iterator[tuple[str, FloatArray]]:
        """Each model and the scores (n, K) in its columns."""
        for model, of in self.columns.items():
            yield model, np.stack([table.read_floats(column) for column in of.values()], axis=1)

    def sums_to_one(self, table: Table) -> bool:
        """Whether the class columns of every model are probabilities on every row."""
        return self.find_wrong_sum(table) is None

    def find_wrong_sum(self, table: Table) -> tuple[str, int, float] | None:
        """Model, row and sum of the first class columns that do not sum to one."""
        for model, scores in self.read(table):
            wrong = arrays.find_wrong_sums(scores)
            if wrong.any():
                row = int(np.argmax(wrong))
                return model, row, float(scores[row].sum())
        return None

    def is_meant(
        self, table: Table, raw: RawLabels, *, near: float = 0.05, by_chance: float = 1e-6
    ) -> bool:
        """Whether columns that do not sum to one are classes all the same.

        They are if the labels name several classes that no number of a seed or version would be,
        or if the columns of some model sum to one, within ``near`` or rounding, on most rows, and
        on more rows than unrelated columns would with the probability ``by_chance``.
        """
        if not raw.values or not self.fits(raw):
            return False
        if len(raw.values) > 2 or not all(str(name).isdigit() for name in self.classes or ()):
            return True
        from scipy.special import bdtrc

        for _, scores in self.read(table):
            within = max(near, arrays.find_rounding(scores, 1))
            off = np.abs(scores.sum(axis=1) - 1.0)
            known, sound = np.sum(~np.isnan(off)), np.sum(off <= within)
            if sound > 0.5 * known and bdtrc(sound - 1, known, 2.0 * within) < by_chance:
                return True
        return False


def find_grids(
    columns: Sequence[str],
    pattern: str,
    *,
    models: Sequence[str] | None = None,
    classes: Sequence[Hashable] | None = None,
    required: Collection[str] = (),
) -> list[Grid]:
    """The complete grids of two or more classes that ``columns`` form, mostly one or none.

    There are two where the separator also occurs inside names. ``models`` and ``classes`` are
    those that are known. A grid that leaves a ``required`` column over does not count; names with
    none of these columns, and with other classes than the rest, are not models of it.
    """
    grids: list[Grid] = []
    for longest in (True, False):
        found = _match(columns, _compile_pattern(pattern, models, classes, longest))
        grid = _complete(found, models)
        if grid is None and required:
            needed = {m: set(of) for m, of in found.items() if {*required} & {*of.values()}}
            alike = {m: of for m, of in found.items() if m in needed or set(of) in needed.values()}
            grid = _complete(alike, models)
        if grid is not None and grid.used.issuperset(required) and grid not in grids:
            grids.append(grid)
    return grids


def _compile_pattern(
    pattern: str, models: Sequence[str] | None, classes: Sequence[Hashable] | None, longest: bool
) -> re.Pattern[str]:
    """``pattern`` as a regular expression; ``longest``: the model takes all it can."""
    apart = "}{" not in pattern
    free = (".+" if longest else ".+?") if apart or classes is not None else r".*\D"
    model = free if models is None else "|".join(map(re.escape, models))
    name = ".+" if apart else r"\d+"
    if classes is not None:
        name = "|".join(re.escape(str(name)) for name in classes)
    text = re.escape(pattern)
    text = text.replace(r"\{model\}", f"(?P<model>{model})", 1)
    return re.compile(text.replace(r"\{class\}", f"(?P<name>{name})", 1))


def _match(columns: Sequence[str], matcher: re.Pattern[str]) -> dict[str, dict[Hashable, str]]:
    found: dict[str, dict[Hashable, str]] = {}
    for column in columns:
        match = matcher.fullmatch(column)
        if match:
            found.setdefault(match["model"], {})[match["name"]] = column
    return found


def _complete(found: dict[str, dict[Hashable, str]], models: Sequence[str] | None) -> Grid | None:
    """A grid if every model (wanted) has the same two or more classes."""
    wanted = list(found) if models is None else list(models)
    if not wanted or set(wanted) != set(found):
        return None
    names = tuple(found[wanted[0]])
    if len(names) < 2 or any(set(found[model]) != set(names) for model in wanted):
        return None
    return Grid({model: found[model] for model in wanted}, names)


# -------------------------------------------------------------------------------------------------
# Columns that look like answers or grades, so that a message can say what to do with them.


@dataclass(frozen=True)
class LookAlikes:
    """Columns that look like answers or grades.

    ``outside`` maps a column of answers to a value that is not a class of the labels, on how few
    rows, and its first row: a slip of the pen, or a class that no label has.
    """

    answers: tuple[str, ...] = ()
    ratings: tuple[str, ...] = ()
    outside: Mapping[str, tuple[Hashable, int, int]] = field(default_factory=dict)


def find_answers(
    table: Table,
    names: Sequence[str],
    labels: RawLabels,
    *,
    most: int = 30,
    repeats: int = 3,
    slips: float = 0.02,
) -> LookAlikes:
    """Columns among ``names`` that look like answers, and those that look like grades.

    Answers are few distinct texts or booleans, grades few distinct whole or half numbers outside 0
    and 1, or single capital letters that are not labels. They have at most ``most`` distinct
    values, and more than two only if each occurs on ``repeats`` rows on average: names of rows do
    not. A column of answers may have values other than the classes of the labels on a share of
    ``slips`` of its rows. If some columns have classes of the labels, those without are not
    answers.
    """
    classes = labels.texts
    answers, ratings, alike = [], [], set()
    outside: dict[str, tuple[Hashable, int, int]] = {}
    for name in names:
        try:
            codes, found = factorize(table.read_values(name))
        except InputError:
            continue
        values = [make_plain(value) for value in found]
        texts = {spell_class(value) for value in values} - set(judges.UNSURE)
        n_known = int((codes >= 0).sum())
        if not 1 <= len(texts) <= most or (len(texts) > 2 and n_known < repeats * len(texts)):
            continue
        letters = all(len(text) == 1 and text.isupper() for text in texts)
        # grades are whole numbers, or whole and half ones that go beyond 1
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        graded = len(numbers) == len(values) and all(2 * v % 1 == 0 for v in numbers)
        graded = graded and (all(isinstance(v, int) for v in numbers) or max(numbers) > 1)
        strange = [
            (value, int((codes == code).sum()), int(np.argmax(codes == code)))
            for code, value in enumerate(values)
            if spell_class(value) not in classes and spell_class(value).lower() not in judges.UNSURE
        ]
        slipped = len(classes) > 1 and sum(n for _, n, _ in strange) <= max(1.0, slips * n_known)
        if texts <= classes or (strange and slipped and len(texts & classes) > 1):
            answers.append(name)
        elif (graded and not texts <= {"0", "1"}) or (letters and len(texts) > 1):
            ratings.append(name)
        elif table.find_kind(name) in ("other", "boolean"):
            answers.append(name)
        if strange and slipped and name in answers:
            outside[name] = strange[0]
        if texts & classes:
            alike.add(name)
    if alike & set(answers):
        answers = [name for name in answers if name in alike]
    return LookAlikes(tuple(answers), tuple(ratings), outside)


def advise(found: LookAlikes, table: Table) -> str:
    """What to do with such columns of ``table``, in a sentence; empty without any."""
    parts = []
    for columns, what, option in (
        (found.answers, "answers", "answers"),
        (found.ratings, "grades", "ratings"),
    ):
        looks = "looks like" if len(columns) == 1 else "look like"
        if columns:
            named = find_pattern(columns, table.columns)
            parts.append(f"{quote(columns)} {looks} {what}: pass `{option}={named}`")
    for name, (value, count, row) in found.outside.items():
        rows = "1 row" if count == 1 else f"{count} rows"
        parts.append(
            f"{name!r} says {value!r} on {rows}, first at row {row}, which is not a class of the "
            f"labels: correct it, pass `unsure={value!r}` if it means that the "
            f"judge is unsure, or list all classes with `classes=[...]`"
        )
    return "; ".join(parts)
