"""The wide layout: one row per example, one column per model, or per model and class.

One column per model holds P(positive). Columns per model and class are told by a mapping
``{model: {class: column}}``, a pattern such as ``"{model}:{class}"``, or found out when their
names form a complete grid of models and classes and every row sums to one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ssme.data.labels import RawLabels, observe
from ssme.data.readers.class_names import in_order, typed_as_labels
from ssme.data.readers.grid import PATTERNS, Grid, grids_in
from ssme.data.readers.join import joined, joins_by_id
from ssme.data.readers.roles import FrameOptions, Reading, Roles, refuse_without_labels
from ssme.data.readers.tables import Table
from ssme.data.validation import as_names, refuse_duplicates
from ssme.errors import InputError
from ssme.wording import did_you_mean, listing

__all__ = ["read"]


def read(table: Table, roles: Roles, options: FrameOptions, labels: object | None) -> Reading:
    """Scores, labels and the rest of a wide frame."""
    ids = None if roles.id is None else table.values(roles.id)
    found = _labels(table, roles, options, labels, ids)
    raw = observe(found, table.n_rows, options.unlabeled)
    grid = _grid(table, roles, options, raw, given=labels is not None)
    classes = options.classes
    if grid.classes is not None:
        ordered = in_order(grid.classes, options.classes, options.positive)
        classes = classes or typed_as_labels(ordered, raw)
        grid = Grid(grid.columns, ordered)
    _refuse_two_parts(grid, roles)
    return Reading(
        kind="wide" if grid.classes is None else "wide by class",
        scores=grid.scores(table),
        labels=found,
        models=grid.models,
        classes=classes,
        weights=None if roles.weight is None else table.floats(roles.weight),
        groups={name: table.values(column) for name, column in roles.groups.items()},
        ids=ids,
        columns={model: tuple(of.values()) for model, of in grid.columns.items()},
        ignored=tuple(c for c in table.columns if c not in grid.used | roles.columns),
    )


def _labels(
    table: Table, roles: Roles, options: FrameOptions, labels: object | None, ids: Any
) -> object | None:
    if labels is None:
        return None if roles.label is None else table.values(roles.label)
    if joins_by_id(labels):
        return joined(labels, ids, options, roles.id)
    return labels


def _grid(
    table: Table, roles: Roles, options: FrameOptions, raw: RawLabels, *, given: bool
) -> Grid:
    if isinstance(options.models, Mapping):
        if options.pattern is not None:
            raise InputError(
                f"both pattern={options.pattern!r} and models as a mapping",
                allowed="one of them",
                fix="the mapping already says which column is which",
            )
        return _from_mapping(table, options.models, options.classes)
    free = [name for name in table.columns if name not in roles.columns | roles.set_aside]
    if options.models is not None:
        names = as_names(options.models, "models")
        refuse_duplicates(names, "model", "each model once")
        if options.pattern is None and all(name in table.columns for name in names):
            return _one_column_each(names)
        return _by_name(table, free, names, options, raw)
    if options.pattern is not None:
        return _by_pattern(free, options.pattern, options, raw, table)
    free = [name for name in free if name.strip() and not name.startswith("Unnamed: ")]
    if roles.label is None and not given:
        refuse_without_labels(table, "say label='...', or labels=False if nothing is labeled")
    for name in free:
        if table.kind(name) == "other":
            table.refuse_numbers_as_text(name)
    return _detected(table, [n for n in free if table.kind(n) != "other"], options, raw)


def _refuse_two_parts(grid: Grid, roles: Roles) -> None:
    both = sorted(grid.used & roles.columns)
    if both:
        raise InputError(
            f"column {both[0]!r} is named both for scores and as label, id, weight or group",
            allowed="one part per column",
            fix="leave it out of one of them",
        )


def _one_column_each(names: Sequence[str]) -> Grid:
    return Grid({name: {"": name} for name in names}, None)


def _from_mapping(
    table: Table, mapping: Mapping[str, Any], classes: Sequence[Hashable] | None
) -> Grid:
    """``{model: column}``, ``{model: [columns]}`` or ``{model: {class: column}}``."""
    if not mapping:
        raise InputError(
            "models is an empty mapping",
            allowed="model -> column, [columns] or {class: column}",
            fix="name at least one model",
        )
    columns: dict[str, dict[Hashable, str]] = {}
    for model, value in mapping.items():
        if isinstance(value, str):
            of: dict[Hashable, str] = {"": value}
        elif isinstance(value, Mapping):
            of = dict(value)
        else:
            value = as_names(value, f"models[{model!r}]")
            names = range(len(value)) if classes is None else classes
            if len(names) != len(value):
                raise InputError(
                    f"model {model!r} has {len(value)} columns for {len(names)} classes "
                    f"{listing(names)}",
                    allowed="one column per class, in the order of classes",
                    fix="list as many columns as classes",
                )
            of = dict(zip(names, value, strict=True))
        columns[str(model)] = {
            name: table.require(column, f"scores of model {model!r}") for name, column in of.items()
        }
    first = next(iter(columns))
    for model, of in columns.items():
        if set(of) != set(columns[first]):
            raise InputError(
                f"model {model!r} has classes {listing(of)}, model {first!r} "
                f"{listing(columns[first])}",
                allowed="the same classes for every model",
                fix="map the columns of every class",
            )
    names = tuple(columns[first])
    return Grid(columns, None if names == ("",) else names)


def _by_name(
    table: Table, free: list[str], models: list[str], options: FrameOptions, raw: RawLabels
) -> Grid:
    """Models named by the caller whose class columns are found by the first pattern that fits."""
    patterns = PATTERNS if options.pattern is None else (options.pattern,)
    for pattern in patterns:
        grids = _best(grids_in(free, pattern, models=models, classes=options.classes), raw)
        if len(grids) == 1:
            return grids[0]
    missing = next((name for name in models if name not in table.columns), models[0])
    raise InputError(
        f"{table.what} has no column {missing!r}, nor one column per class for model {missing!r}",
        allowed=f"the columns {listing(free, limit=20)}",
        fix=f"{did_you_mean(missing, free)}name columns that are there, or give "
        "models={model: {class: column}}",
    )


def _by_pattern(
    free: list[str], pattern: str, options: FrameOptions, raw: RawLabels, table: Table
) -> Grid:
    grids = _best(grids_in(free, pattern, classes=options.classes), raw)
    if len(grids) == 1:
        return grids[0]
    if grids:
        raise _ambiguous(table, grids, binary=None)
    raise InputError(
        f"pattern={pattern!r} does not give every model the same two or more classes in the "
        f"columns {listing(free, limit=20)}",
        allowed="a complete grid of models and classes",
        fix="correct the pattern, list classes=, or give models={model: {class: column}}",
    )


def _best(grids: list[Grid], raw: RawLabels) -> list[Grid]:
    """Those that fit the labels, if any does."""
    return [grid for grid in grids if grid.fits(raw)] or grids


def _detected(table: Table, free: list[str], options: FrameOptions, raw: RawLabels) -> Grid:
    """The only reading of unnamed score columns, or an error that lists the readings.

    A grid of models and classes counts if its rows sum to one, which columns of unrelated binary
    models do not; the patterns are tried from the most to the least deliberate separator.
    """
    if not free:
        raise InputError(
            f"{table.what} has no column of numbers left for scores; its columns are "
            f"{listing(table.columns, limit=20)}",
            allowed="one column of probabilities per model",
            fix="name the score columns with models=[...]",
        )
    unsure = options.logits or options.normalize
    fitting: list[Grid] = []
    for pattern in PATTERNS:
        grids = grids_in(free, pattern, classes=options.classes, all_columns=True)
        sound = [g for g in grids if (g.fits(raw) if unsure else g.sums_to_one(table))]
        better = any(g.fits(raw) for g in sound) and not any(g.fits(raw) for g in fitting)
        if sound and (better or not fitting):
            fitting = _best(sound, raw)
    one_column = len(raw.values) <= 2 and len(options.classes or (0, 1)) == 2
    if len(fitting) == 1 and not (one_column and unsure):
        return fitting[0]
    if fitting:
        raise _ambiguous(table, fitting, binary=free if one_column else None)
    _refuse_no_probabilities(table, free, options)
    return _one_column_each(free)


def _refuse_no_probabilities(table: Table, free: list[str], options: FrameOptions) -> None:
    for name in free:
        if table.kind(name) == "boolean":
            got = f"column {name!r} is boolean and may be votes, a group or a flag"
        elif not options.logits:
            values = table.floats(name)
            outside = (values < 0.0) | (values > 1.0)
            if not outside.any():
                continue
            row = int(np.argmax(outside))
            got = f"column {name!r} holds {values[row]:g} at row {row}, which is no probability"
        else:
            continue
        raise InputError(
            got,
            allowed="columns of probabilities between 0 and 1 beside the label, id, weight and "
            "group columns",
            fix="list the score columns with models=[...]; for logits say logits=True",
        )


def _ambiguous(table: Table, grids: Sequence[Grid], binary: Sequence[str] | None) -> InputError:
    readings = [
        f"models {listing(grid.models)} with classes {listing(grid.classes or ())}"
        for grid in grids
    ]
    if binary is not None:
        readings.append(f"binary models {listing(binary)}")
    return InputError(
        f"the columns of {table.what} can be read in {len(readings)} ways: "
        + "; or ".join(readings),
        allowed="one reading",
        fix="give pattern='{model}:{class}' with classes=[...], or list models=[...]",
    )
