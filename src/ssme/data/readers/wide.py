"""The wide layout: one row per example, one column per model, or per model and class.

One column per model holds P(positive). Columns per model and class are told by a mapping
``{model: {class: column}}``, a pattern such as ``"{model}:{class}"``, or found out when their
names form a complete grid of models and classes, or are the classes of one model, and every row
sums to one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ssme.data.labels import RawLabels, convert_as_labels, observe, order_classes
from ssme.data.layout import list_reasons
from ssme.data.readers.answer_columns import advise, find_answers
from ssme.data.readers.columns import (
    Columns,
    explain_no_model,
    is_index,
    refuse_without_labels,
)
from ssme.data.readers.grid import PATTERNS, Grid, find_grids, list_blocks
from ssme.data.readers.join import (
    find_own_label_column,
    join_labels,
    joins_by_id,
    refuse_other_index,
)
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.raw import RawTable
from ssme.data.readers.tables import Table
from ssme.data.simplex import RANGE_TOLERANCE, SUM_TOLERANCE, find_class_columns
from ssme.data.values import FloatArray, make_plain, refuse_duplicates
from ssme.errors import InputError, argument
from ssme.wording import quote, suggest_nearest

__all__ = ["find_scores", "observe_labels", "read"]

MAPPING = "{model: {class: column}}"


def observe_labels(
    table: Table, roles: Columns, options: ReadOptions, labels: object | None
) -> RawLabels:
    """The label of each row, from its column or from where else the caller keeps them."""
    if labels is None:
        found: object | None = None if roles.label is None else table.read_values(roles.label)
    elif joins_by_id(labels):
        ids = None if roles.id is None else table.read_ids(roles.id)
        column = find_own_label_column(table, options)
        own = None if column is None else table.read_values(column)
        found = join_labels(labels, ids, options, roles.id, own)
    else:
        refuse_other_index(table, labels)
        found = labels
    return observe(found, table.n_rows, options.unlabeled)


def find_scores(
    table: Table, roles: Columns, options: ReadOptions, raw: RawLabels, *, given: bool
) -> Columns:
    """``roles`` with the score columns; ``given``: labels were given apart from the table."""
    grid, skipped = _find_grid(table, roles, options, raw, given=given)
    if grid.classes is not None:
        grid = Grid(grid.columns, order_classes(grid.classes, options.classes, options.positive))
    _refuse_two_parts(grid, roles)
    used = grid.used | roles.roles
    return replace(
        roles,
        kind="wide" if grid.classes is None else "wide by class",
        scores=grid.list_by_model(),
        classes=grid.classes,
        ignored=tuple(name for name in table.columns if name not in used),
        skipped={name: reason for name, reason in skipped.items() if name not in used},
    )


def read(table: Table, columns: Columns, options: ReadOptions, raw: RawLabels) -> RawTable:
    """Scores, labels and the rest of a wide table."""
    classes = options.classes
    if columns.classes is not None:
        classes = classes or convert_as_labels(columns.classes, raw.values)
    return RawTable(
        scores=_read_scores(table, columns),
        labels=raw,
        models=columns.models,
        classes=classes,
        weights=None if columns.weight is None else table.read_floats(columns.weight),
        groups={name: table.read_values(column) for name, column in columns.groups.items()},
        ids=None if columns.id is None else table.read_ids(columns.id),
        design=None if columns.design is None else table.read_floats(columns.design),
    )


def _read_scores(table: Table, columns: Columns) -> FloatArray:
    """(n, M), or (n, M, K) where there is a column per class."""
    if columns.classes is None:
        return np.stack([table.read_floats(name) for (name,) in columns.scores.values()], axis=1)
    out: FloatArray = np.empty((table.n_rows, len(columns.scores), len(columns.classes)))
    for m, of in enumerate(columns.scores.values()):
        for k, name in enumerate(of):
            out[:, m, k] = table.read_floats(name)
    return out


def _find_grid(
    table: Table, roles: Columns, options: ReadOptions, raw: RawLabels, *, given: bool
) -> tuple[Grid, dict[str, str]]:
    """The columns of each model, and those that are not taken for a model, with the reason."""
    if isinstance(options.models, Mapping):
        if options.pattern is not None:
            raise InputError(
                f"{argument('pattern', repr(options.pattern))} was given together with "
                f"{argument('models')} as a mapping",
                allowed="one of them",
                fix="the mapping already says which column is which",
            )
        return _from_mapping(table, options.models, options.classes), {}
    taken = roles.roles | roles.set_aside
    free = [name for name in table.columns if name not in taken]
    if options.models is not None:
        names = list(options.models)
        refuse_duplicates(names, "model", "each model once")
        there = set(table.columns)
        if options.pattern is None and all(name in there for name in names):
            return _take_one_column_each(names), {}
        return _find_by_name(table, free, names, options, raw), {}
    if options.pattern is not None:
        return _find_by_pattern(free, options.pattern, options, raw, table), {}
    free = [name for name in free if not is_index(table, name)]
    if roles.label is None and not given:
        refuse_without_labels(table)
    kinds = {name: table.find_kind(name) for name in free}
    texts = [name for name in free if kinds[name] == "other"]
    for name in texts:
        table.refuse_percent(name)
    alike = find_answers(table, texts, raw)
    judged = (*alike.answers, *alike.ratings)
    for name in texts:
        if name not in judged:
            table.refuse_numbers_as_text(name)
    numbers = [name for name in free if kinds[name] != "other"]
    if not numbers and judged:
        _refuse_answers(table, free, raw)
    reasons = {name: explain_no_model(table, name, raw) for name in numbers}
    skipped = {name: reason for name, reason in reasons.items() if reason}
    return _detect_grid(table, numbers, options, raw, judged, skipped), skipped


def _refuse_answers(table: Table, free: list[str], raw: RawLabels) -> None:
    raise InputError(
        f"{table.what} has no column of probabilities, and columns of classes or grades",
        allowed=f"columns of probabilities, or columns that {argument('answers')} or "
        f"{argument('ratings')} names",
        fix=advise(find_answers(table, free, raw)),
    )


def _refuse_two_parts(grid: Grid, roles: Columns) -> None:
    both = sorted(grid.used & roles.roles)
    if both:
        raise InputError(
            f"column {both[0]!r} is named both for scores and as label, id, weight or group",
            allowed="one part per column",
            fix=f"leave it out of one of them: name other columns with {argument('models')} or "
            f"{argument('pattern')}, or another one for the other part",
        )


def _take_one_column_each(names: Sequence[str]) -> Grid:
    return Grid({name: {"": name} for name in names}, None)


def _from_mapping(
    table: Table, mapping: Mapping[str, Any], classes: Sequence[Hashable] | None
) -> Grid:
    """``{model: column}``, ``{model: [columns]}`` or ``{model: {class: column}}``."""
    columns: dict[str, dict[Hashable, str]] = {}
    for model, value in mapping.items():
        if isinstance(value, str):
            of: dict[Hashable, str] = {"": value}
        elif isinstance(value, Mapping):
            of = dict(value)
        else:
            names = range(len(value)) if classes is None else classes
            if len(names) != len(value):
                raise InputError(
                    f"model {model!r} has {len(value)} columns for {len(names)} classes "
                    f"{quote(names)}",
                    allowed="one column per class, in the order of classes",
                    fix="list as many columns as classes",
                )
            of = dict(zip(names, value, strict=True))
        columns[str(model)] = {
            name: table.require(column, f"scores of model {model!r}", "models")
            for name, column in of.items()
        }
    first = next(iter(columns))
    for model, of in columns.items():
        if set(of) != set(columns[first]):
            raise InputError(
                f"model {model!r} has classes {quote(of)}, model {first!r} {quote(columns[first])}",
                allowed="the same classes for every model",
                fix="map the columns of every class",
            )
    names = tuple(columns[first])
    return Grid(columns, None if names == ("",) else names)


def _find_by_name(
    table: Table, free: list[str], models: list[str], options: ReadOptions, raw: RawLabels
) -> Grid:
    """Models named by the caller whose class columns are found by the first pattern that fits."""
    patterns = PATTERNS if options.pattern is None else (options.pattern,)
    for pattern in patterns:
        grids = _prefer_fitting(
            find_grids(free, pattern, models=models, classes=options.classes), raw
        )
        if len(grids) == 1:
            return grids[0]
    missing = next((name for name in models if name not in table.columns), models[0])
    raise InputError(
        f"{table.what} has no column {missing!r}, nor one column per class for model {missing!r}",
        allowed=f"the columns {quote(free, limit=20)}",
        fix=f"{suggest_nearest(missing, free)}name columns that are there with "
        f"{argument('models')}, or give {argument('models', MAPPING)}",
    )


def _find_by_pattern(
    free: list[str], pattern: str, options: ReadOptions, raw: RawLabels, table: Table
) -> Grid:
    grids = _prefer_fitting(find_grids(free, pattern, classes=options.classes), raw)
    if len(grids) == 1:
        return grids[0]
    if grids:
        raise _tell_ambiguous(table, grids, binary=None)
    raise InputError(
        f"{argument('pattern', repr(pattern))} does not give every model the same two or "
        f"more classes in the columns {quote(free, limit=20)}",
        allowed="a complete grid of models and classes",
        fix=f"correct the pattern, list {argument('classes', '[...]')}, or give "
        f"{argument('models', MAPPING)}",
    )


def _prefer_fitting(grids: list[Grid], raw: RawLabels) -> list[Grid]:
    """Those that fit the labels, if any does."""
    return [grid for grid in grids if grid.fits(raw)] or grids


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
        raise InputError(
            f"{table.what} has no column of numbers left for scores; its columns are "
            f"{quote(table.columns, limit=20)}",
            allowed="one column of probabilities per model",
            fix=f"name the score columns with {argument('models', '[...]')}",
        )
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
            fitting = _prefer_fitting(sound, raw)
    one_column = len(raw.values) <= 2 and len(options.classes or (0, 1)) == 2
    if not fitting and not unsure:
        fitting = _find_classes_alone(table, (free, models), raw)
    if len(fitting) == 1 and not (one_column and unsure):
        return fitting[0]
    if fitting:
        raise _tell_ambiguous(table, fitting, binary=models if one_column else None)
    if not models:
        _refuse_without_models(table, skipped, raw, judged)
    if not options.logits:
        _refuse_no_probabilities(table, models, raw, judged)
    if not unsure:
        _refuse_wrong_sums(table, unsummed, raw)
        _refuse_class_columns(table, models)
    return _take_one_column_each(models)


def _refuse_without_models(
    table: Table, skipped: Mapping[str, str], raw: RawLabels, judged: Sequence[str]
) -> None:
    """Refuse a table in which every column of numbers could be a model only if it were named."""
    advice = advise(find_answers(table, [*judged, *skipped], raw))
    raise InputError(
        f"no column of {table.what} is taken for a model: {list_reasons(skipped)}",
        allowed="columns of probabilities; those with two values, constants and copies of the "
        "label only where they are named",
        fix=f"list the models with {argument('models', '[...]')}"
        + (f"; {advice}" if advice else ""),
    )


def _find_classes_alone(table: Table, readings: Sequence[list[str]], raw: RawLabels) -> list[Grid]:
    """One model whose columns have the names of the classes, among them all labels; or none.

    The first of ``readings`` in which the columns sum to one counts, unless each has one value.
    """
    for names in readings:
        grid = Grid({"model": {name: name for name in names}}, tuple(names))
        named = len(names) > 1 and bool(raw.values) and grid.fits(raw)
        if named and grid.sums_to_one(table):
            varied = any(np.unique(table.read_floats(name)).size > 1 for name in names)
            return [grid] if varied else []
    return []


def _refuse_class_columns(table: Table, free: list[str]) -> None:
    """Refuse the classes of one model, which would be read as several models."""
    place = {name: number for number, name in enumerate(free)}
    blocks = [[place[name] for name in block] for block in list_blocks(free)]
    found = find_class_columns(np.stack([table.read_floats(name) for name in free], axis=1), blocks)
    if found is not None:
        names = sorted(free[number] for number in found)
        raise InputError(
            f"columns {quote(names)} sum to 1 on every row: they look like the {len(names)} "
            "classes of one model",
            allowed="one column per model, or one per model and class and no others",
            fix=f"if so, say how names hold both with "
            f"{argument('pattern', repr('{model}_{class}'))}, leave other columns out with "
            f"{argument('ignore', '[...]')}, or give {argument('models', MAPPING)}; list the "
            f"columns with {argument('models', '[...]')} if each is a model by itself",
        )


def _refuse_no_probabilities(
    table: Table, free: list[str], raw: RawLabels, judged: Sequence[str]
) -> None:
    for name in free:
        values = table.read_floats(name)
        least, most = values.min(initial=0.0), values.max(initial=0.0)  # NaN where one is
        if least >= -RANGE_TOLERANCE and most <= 1.0 + RANGE_TOLERANCE:
            continue
        outside = (values < -RANGE_TOLERANCE) | (values > 1.0 + RANGE_TOLERANCE)
        if not outside.any():
            continue
        row = int(np.argmax(outside))
        alike = find_answers(table, [*judged, *free], raw)
        advice = advise(alike) if name in {*alike.answers, *alike.ratings} else ""
        raise InputError(
            f"column {name!r} holds {make_plain(values[row])!r} at row {row}, which is not a "
            "probability",
            allowed="columns of probabilities between 0 and 1 beside those that "
            f"{argument('label')}, {argument('id')}, {argument('weight')} and "
            f"{argument('groups')} name",
            fix=_name_part(table, name, free) + (f"; {advice}" if advice else ""),
        )


def _refuse_wrong_sums(table: Table, grids: Sequence[tuple[str, Grid]], raw: RawLabels) -> None:
    """Refuse columns named by model and class that would be read as so many binary models."""
    for pattern, grid in grids:
        wrong = grid.find_wrong_sum(table)
        if wrong is not None and grid.is_meant(table, raw):
            model, row, total = wrong
            raise InputError(
                f"columns are named by the models {quote(grid.models)} and the classes "
                f"{quote(grid.classes or ())}, and those of {model!r} sum to {total:.6g} at row "
                f"{row}",
                allowed=f"class probabilities that sum to 1 (within {SUM_TOLERANCE:g} or rounding)",
                fix=f"say {argument('normalize', True)} and {argument('pattern', repr(pattern))} "
                f"to rescale them, or {argument('logits', True)} if they are logits; list the "
                f"columns with {argument('models', '[...]')} if each is a binary model by itself",
            )


def _name_part(table: Table, name: str, free: Sequence[str]) -> str:
    """What to say of a column of numbers that are no probabilities, the likeliest first."""
    values = table.read_floats(name)
    known = values[~np.isnan(values)]
    whole = np.isfinite(known).all() and (known % 1 == 0).all()
    row_id = f"if it names the rows say {argument('id', repr(name))}"
    group = f"if it is a group say {argument('groups', f'[{name!r}]')}"
    ignore = f"if it is neither say {argument('ignore', f'[{name!r}]')}"
    scores = f"or list the score columns with {argument('models', '[...]')}"
    logits = f"for logits say {argument('logits', True)}"
    if whole:
        parts = [row_id, group] if np.unique(known).size == table.n_rows else [group, row_id]
        return "; ".join([*parts, ignore, scores])
    percent = "for percent divide by 100; " if _look_like_percent(table, free) else ""
    return f"{percent}{logits}; {ignore.replace('neither', 'no score')}; {scores}"


def _look_like_percent(table: Table, names: Sequence[str]) -> bool:
    """Whether most columns of numbers go beyond 1, all within 0 and 100."""
    columns = [table.read_floats(name) for name in names if table.find_kind(name) == "number"]
    known = [column[~np.isnan(column)] for column in columns]
    within = all(((values >= 0.0) & (values <= 100.0)).all() for values in known)
    return within and sum(bool((values > 1.0).any()) for values in known) > 0.5 * len(known)


def _tell_ambiguous(
    table: Table, grids: Sequence[Grid], binary: Sequence[str] | None
) -> InputError:
    readings = [
        f"models {quote(grid.models)} with classes {quote(grid.classes or ())}" for grid in grids
    ]
    if binary is not None:
        readings.append(f"binary models {quote(binary)}")
    return InputError(
        f"the columns of {table.what} can be read in {len(readings)} ways: "
        + "; or ".join(readings),
        allowed="one reading",
        fix=f"give {argument('pattern', repr('{model}:{class}'))} with "
        f"{argument('classes', '[...]')}, or list the score columns with "
        f"{argument('models', '[...]')}",
    )
