"""From a file to a `ScoreSet`: the one door of reading.

An npz holds ``scores`` (n, M) or (n, M, K) and, as there are any, ``labels`` or ``y``, ``models``
or ``model_names``, ``classes``, ``weights``, ``ids`` and ``group_*``. ``ordered`` is False where
the order of the classes says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssme.data.arrays import as_models, check_arrays
from ssme.data.grouping import list_named_columns
from ssme.data.judges import Judge
from ssme.data.labels import order_classes
from ssme.data.layout import GROUP_PREFIX, Layout
from ssme.data.readers.array_files import open_arrays
from ssme.data.readers.class_lists import as_table, spread_lists
from ssme.data.readers.columns import USUAL_NAMES, find_design_column, refuse_two_designs
from ssme.data.readers.frames import read_table
from ssme.data.readers.join import join_design, join_labels, joins_by_id
from ssme.data.readers.options import ReadOptions
from ssme.data.readers.sources import (
    find_local_path,
    find_reader,
    open_table,
    refuse_file_options,
)
from ssme.data.readers.tables import Table
from ssme.data.scoreset import ScoreSet
from ssme.data.values import make_plain
from ssme.errors import InputError, argument, name_argument, translate_foreign_errors
from ssme.wording import quote, suggest_nearest

__all__ = ["read"]

ONLY_TABLES = ("layout", "pattern", "model", "class_", "score", "ignore")
"""Options that say nothing about arrays."""

Arrays = Mapping[str, Any]


def read(path: str | Path, labels: object | None = None, **options: Any) -> ScoreSet:
    """A `ScoreSet` from a file; see `ScoreSet.read`."""
    file = find_local_path(path)
    with translate_foreign_errors(f"reading {file}"):
        reader = find_reader(file)
        if reader.kind == "arrays":
            return _read_arrays(file, labels, options)
        told = ReadOptions.of(options, f"the reader of {file}")
        table = Table(open_table(file, told), str(file))
        if reader.lists:
            columns = {name: table.read_values(name) for name in table.columns}
            told = spread_lists(columns, told)
            table = as_table(columns, str(file))
        return read_table(table, labels, told, source=str(file))


def _read_arrays(file: Path, labels: object | None, options: dict[str, Any]) -> ScoreSet:
    """The set in an npz or npy; ``weights``, ``groups`` and ``ids`` may be given as values."""
    values: dict[str, Any] = {
        name: options.pop(name) for name in ("weights", "ids") if name in options
    }
    if isinstance(options.get("groups"), Mapping):
        values["groups"] = options.pop("groups")
    told = ReadOptions.of(options, f"the reader of {file}")
    refuse_file_options(told, None, f"{file}, which holds arrays")
    for name in ONLY_TABLES:
        if getattr(told, name) is not None:
            raise InputError(
                f"{argument(name, repr(getattr(told, name)))} was given and {file} holds arrays",
                allowed=f"{argument(name)} for tables only",
                fix="leave it out",
            )
    arrays = open_arrays(file)
    if "scores" not in arrays:
        raise InputError(
            f"{file} has no array 'scores', only {quote(arrays)}",
            allowed="an array 'scores' of shape (n, M) or (n, M, K)",
            fix="save it with numpy.savez(path, scores=..., labels=..., models=...)",
        )
    apart = told.labels if labels is None else labels
    ids = values.get("ids", _find_array(file, arrays, told.id, "ids", "id"))
    weights = values.get("weights", _find_array(file, arrays, told.weight, "weights", "weight"))
    names, chosen = _find_models(file, arrays, told)
    scores: Any = arrays["scores"]
    classes: Any = told.classes
    stored = _find_array(file, arrays, None, "classes")
    if classes is None and stored is not None:
        classes = stored.tolist()
        if told.positive is not None and scores.shape[2:] == (2,):
            named = order_classes(classes, positive=told.positive)
            scores, classes = scores[:, :, [classes.index(name) for name in named]], named
    unordered = "ordered" in arrays and not arrays["ordered"].any() and not told.lists_classes
    fields = check_arrays(
        scores,
        _find_labels(file, arrays, labels, told, ids),
        replace(told, models=names, classes=classes),
        weights=weights,
        groups=values.get("groups", _find_groups(file, arrays, told)),
        ids=ids,
        design=join_design(apart, ids, told, told.id)
        if joins_by_id(apart) and not _is_npy(apart)
        else _find_design(file, arrays, told),
        layout=Layout(
            "arrays",
            label=_find_label_name(labels, told),
            source=str(file),
            order="unknown" if unordered else None,
        ),
    )
    data = ScoreSet(**fields, judges=_find_judges(file, arrays, fields))
    return data if chosen is None else data.select(chosen)


def _find_judges(file: Path, arrays: Arrays, fields: Mapping[str, Any]) -> dict[str, Judge]:
    """The models that give answers or ratings, as `ScoreSet.save` wrote them."""
    if "judges" not in arrays:
        return {}
    kinds, models = [str(kind) for kind in arrays["judges"].ravel()], fields["models"]
    known = len(kinds) == len(models) and set(kinds) <= {"", "answers", "ratings"}
    if not known or ("ratings" in kinds and "grades" not in arrays):
        raise InputError(
            f"{file} has an array 'judges' {quote(kinds)}",
            allowed="'answers', 'ratings' or empty text for each model, and the grades of ratings",
            fix="save the set with ScoreSet.save",
        )
    grades = (
        tuple(make_plain(grade) for grade in arrays["grades"].tolist())
        if "grades" in arrays
        else ()
    )
    cut = grades[int(arrays["cut"])] if "cut" in arrays else None
    each = {
        "answers": Judge("answers", tuple(fields["classes"])),
        "ratings": Judge("ratings", grades, cut),
    }
    return {name: each[kind] for name, kind in zip(models, kinds, strict=True) if kind}


def _find_models(
    file: Path, arrays: Arrays, options: ReadOptions
) -> tuple[list[str] | None, tuple[str, ...] | None]:
    """Names of all models, and those that were chosen among them.

    Where the file has no names, models are called model_1, model_2, ...; other names that are
    given name them.
    """
    stored = _find_array(file, arrays, None, "models", "model_names")
    wanted = options.models
    if isinstance(wanted, Mapping):
        raise InputError(
            f"{argument('models')} is a mapping and {file} holds arrays",
            allowed="a list of names",
            fix="list the models to evaluate",
        )
    if stored is not None or wanted is None:
        return None if stored is None else [str(name) for name in stored.ravel()], wanted
    scores = arrays["scores"]
    numbered = as_models(None, scores.shape[1] if scores.ndim > 1 else 0)
    return (None, wanted) if set(wanted) <= set(numbered) else (list(wanted), None)


def _find_label_name(labels: object | None, options: ReadOptions) -> str | None:
    return labels if isinstance(labels, str) else options.label


def _find_labels(
    file: Path, arrays: Arrays, labels: object | None, options: ReadOptions, ids: Any
) -> object | None:
    """The labels in the file, in another file or as given."""
    if labels is None:
        labels = options.labels
    if labels is None or isinstance(labels, str):
        found: object | None = _find_array(
            file, arrays, _find_label_name(labels, options), "labels", "y"
        )
        return found
    if isinstance(labels, Path) and _is_npy(labels):
        with name_argument("labels"):
            find_reader(labels)
            return open_arrays(labels)["scores"]
    if joins_by_id(labels):
        named = options.label if options.label in arrays else None
        own = _find_array(file, arrays, named, "labels", "y")
        return join_labels(labels, ids, options, options.id, own)
    return labels


def _is_npy(labels: object) -> bool:
    return isinstance(labels, Path) and labels.suffix.lower() == ".npy"


def _find_groups(file: Path, arrays: Arrays, options: ReadOptions) -> dict[str, Any]:
    """Groups named by the caller, as ``site`` or ``group_site``; else all there are."""
    stored = {
        name.removeprefix(GROUP_PREFIX): name for name in arrays if name.startswith(GROUP_PREFIX)
    }
    if options.groups is None:
        return {name: arrays[array] for name, array in stored.items()}
    named = list_named_columns(options.groups, [*stored, *arrays])
    return {name: _find_array(file, arrays, stored.get(name, name)) for name in named}


def _find_design(file: Path, arrays: Arrays, options: ReadOptions) -> Any:
    """Weights of the labels, in the array that was named or has the usual name; None without."""
    named, usual = find_design_column(options), USUAL_NAMES["design"]
    found = _find_array(file, arrays, named, *usual)
    if named is None and found is not None:
        refuse_two_designs(options, usual[0], str(file))
    return found


def _find_array(file: Path, arrays: Arrays, named: str | None, *usual: str) -> Any:
    """The array ``named``, which must be there, or the one with a usual name; None without."""
    if named is not None:
        if named not in arrays:
            raise InputError(
                f"{file} has no array {named!r}",
                allowed=f"the arrays {quote(arrays, limit=20)}",
                fix=f"{suggest_nearest(named, arrays)}name an array that is there",
            )
        return arrays[named]
    found = [name for name in usual if name in arrays]
    if len(found) > 1:
        raise InputError(
            f"{file} holds both {' and '.join(map(repr, found))}",
            allowed="one of them",
            fix="save only one",
        )
    return arrays[found[0]] if found else None
