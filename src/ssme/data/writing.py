"""A `ScoreSet` as a frame or a file that reads back as the same set.

A table does not say the order of classes as text: list them with ``classes`` when it is read again,
unless they are a well-known pair. An npz does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ssme.data.arrays import GROUP_PREFIX
from ssme.data.values import EXACT_INTEGER, make_plain, refuse_duplicates, to_objects
from ssme.errors import InputError, MissingExtraError
from ssme.writing import open_whole, protect_formula

if TYPE_CHECKING:
    from ssme.data.scoreset import ScoreSet

EAGER_LIBRARIES = ("pandas", "polars", "pyarrow")


def make_frame(columns: Mapping[str, Any], library: str = "pandas") -> Any:
    """A native frame of name -> values, None where missing; pandas where ``library`` is lazy."""
    import narwhals

    backend: Any = library if library in EAGER_LIBRARIES else "pandas"
    plain = dict(columns)
    for name, values in columns.items():
        if not isinstance(values, np.ndarray) or values.dtype != object:
            continue
        # pandas would round large whole numbers among missing ones; they stay objects
        large = any(isinstance(value, int) and abs(value) > EXACT_INTEGER for value in values)
        if backend != "pandas" or not large:
            plain[name] = values.tolist()
    return narwhals.from_dict(plain, backend=backend).to_native()


def to_frame(data: ScoreSet, layout: str = "wide") -> Any:
    """Columns ``id``, scores, ``label``, ``weight``, ``label_weight`` and ``group_*``.

    Wide scores are P(positive) for classes 0 and 1, else one column ``model:class`` per class. A
    judge's column contains its answers; ``answers`` and ``ratings`` name it when it is read again.
    """
    if layout == "wide":
        columns = _lay_out_wide(data)
    elif layout == "long":
        columns = _lay_out_long(data)
    else:
        raise InputError(option="layout", value=layout, must="be 'wide' or 'long'")
    refuse_duplicates([name for name, _ in columns], "column")
    return make_frame(dict(columns), data.frame_library)


def _lay_out_wide(data: ScoreSet) -> list[tuple[str, NDArray[Any]]]:
    columns: list[tuple[str, NDArray[Any]]] = [] if data.ids is None else [("id", data.ids)]
    one_column = data.classes in ((0, 1), (False, True))
    for m, model in enumerate(data.models):
        if model in data.judges:
            columns.append((model, data.judges[model].decode(data.scores[:, m])))
        elif one_column:
            columns.append((model, data.scores[:, m, 1]))
        else:
            columns += [
                (f"{model}:{name}", data.scores[:, m, k]) for k, name in enumerate(data.classes)
            ]
    return columns + _list_row_columns(data)


def _lay_out_long(data: ScoreSet) -> list[tuple[str, NDArray[Any]]]:
    n, n_models, n_classes = data.scores.shape
    ids = np.arange(n).astype(object) if data.ids is None else data.ids
    rows = np.repeat(np.arange(n), n_models * n_classes)
    scores = data.scores.reshape(-1)
    present = ~np.isnan(scores)
    rows = rows[present]
    models = np.tile(np.repeat(np.array(data.models, dtype=object), n_classes), n)
    classes = np.tile(to_objects(data.classes), n * n_models)
    columns = [
        ("id", ids[rows]),
        ("model", models[present]),
        ("class", classes[present]),
        ("score", scores[present]),
    ]
    return columns + [(name, values[rows]) for name, values in _list_row_columns(data)]


def _list_row_columns(data: ScoreSet) -> list[tuple[str, NDArray[Any]]]:
    columns: list[tuple[str, NDArray[Any]]] = [("label", data.label_values)]
    if data.weights is not None:
        columns.append(("weight", data.weights))
    if data.design.weights is not None:
        columns.append(("label_weight", data.design.weights))
    if data.clusters is not None:
        columns.append(("cluster", data.clusters))
    return columns + [(name_group_column(name), values) for name, values in data.groups.items()]


def name_group_column(name: str) -> str:
    """A column name under which the group is recognized."""
    named = name == "group" or name.startswith(GROUP_PREFIX)
    return name if named else GROUP_PREFIX + name


def save(data: ScoreSet, path: str | Path) -> None:
    """Write to the format of the suffix."""
    file = Path(path)
    suffix = file.suffix.lower()
    writers = {".csv": _save_csv, ".tsv": _save_csv, ".parquet": _save_parquet, ".npz": _save_npz}
    if suffix not in writers:
        problem = f"{file} has the suffix {file.suffix!r}"
        raise InputError(problem, hint=f"choose one of: {', '.join(writers)}")
    writers[suffix](data, file)


def _save_csv(data: ScoreSet, file: Path) -> None:
    delimiter = "\t" if file.suffix.lower() == ".tsv" else ","
    frame = to_frame(data.replace(frame_library="pandas"))
    for name in frame.columns:
        if any(isinstance(cell, str) and cell.startswith("'") for cell in frame[name]):
            frame[name] = [_keep_apostrophe(cell) for cell in frame[name]]
    frame = frame.rename(columns=_keep_apostrophe)
    with open_whole(file) as whole:
        frame.to_csv(whole, index=False, sep=delimiter, encoding="utf-8")


def _keep_apostrophe(cell: Any) -> Any:
    """A cell of which the reader takes nothing that belongs to it."""
    return protect_formula(cell) if isinstance(cell, str) and cell.startswith("'") else cell


def _save_parquet(data: ScoreSet, file: Path) -> None:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("writing Parquet", "parquet") from None
    table = to_frame(data.replace(frame_library="pyarrow"))
    with open_whole(file) as whole:
        parquet.write_table(table, whole)


def _save_npz(data: ScoreSet, file: Path) -> None:
    arrays: dict[str, Any] = {
        "scores": data.scores,
        "labels": _make_plain(data.label_values, "labels"),
        "models": np.array(data.models),
        "classes": _make_plain(to_objects(data.classes), "classes"),
    }
    if not data.ordered:
        arrays["ordered"] = np.array(False)
    if data.weights is not None:
        arrays["weights"] = data.weights
    if data.design.weights is not None:
        arrays["label_weight"] = data.design.weights
    if data.clusters is not None:
        arrays["clusters"] = data.clusters
    if data.ids is not None:
        arrays["ids"] = _make_plain(data.ids, "ids")
    for name, values in data.groups.items():
        arrays[name_group_column(name)] = _make_plain(values, f"group {name!r}")
    if data.judges:  # what each model gives (M,), "" for probabilities, and the raters' scale
        kinds = [data.judges[m].kind if m in data.judges else "" for m in data.models]
        arrays["judges"] = np.array(kinds)
    for judge in data.judges.values():
        if judge.kind == "ratings":
            arrays["grades"] = _make_plain(to_objects(judge.values), "grades")
            if judge.cut is not None:
                arrays["cut"] = np.array(judge.values.index(judge.cut))
    with open_whole(file) as whole:
        np.savez_compressed(whole, **arrays)


def _make_plain(values: NDArray[np.object_], what: str) -> NDArray[Any]:
    """Numbers (NaN where None), booleans or text ("" where None) as a plain array."""
    present = np.array([value is not None for value in values], dtype=bool)
    known = values[present].tolist()
    if all(isinstance(value, str) for value in known):
        return np.array(["" if value is None else value for value in values], dtype=np.str_)
    if not all(isinstance(value, int | float) for value in known):
        problem = f"{what} mix text and numbers or contain other objects, which an npz cannot store"
        raise InputError(problem, hint="convert them to text first")
    array = np.array([np.nan if value is None else value for value in values])
    kept = array.dtype.kind in "biuf" and [make_plain(value) for value in array[present]] == known
    booleans = any(isinstance(value, bool) for value in known)
    if not kept or (booleans and array.dtype.kind != "b" and what != "labels"):
        problem = f"an npz cannot store {what}: booleans with holes, or numbers beyond 2**53"
        raise InputError(problem, hint="convert them to text first, or save to CSV or Parquet")
    return array
